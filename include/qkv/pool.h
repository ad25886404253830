/* SPDX-License-Identifier: MIT */
/* pool.h - a small thread pool for callers who have none. It is the caller's object, like any
 * other executor: the library never makes one by itself.
 *
 * Workers sleep between runs (they never spin) with all signals blocked. One run at a time: a
 * second caller's run goes serially on its own thread instead of waiting. After fork() the child
 * makes new workers at first use. Workers run on the CPUs that the thread which made them may use, but
 * for the CPU of the thread that starts a run, where there are as many CPUs as threads.
 */
#ifndef QKV_POOL_H
#define QKV_POOL_H

#include <qkv/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qkv_pool qkv_pool;

/* CPUs this process may use: the smaller of its affinity mask and its cgroup's quota; >= 1. */
QKV_API int32_t qkv_pool_cpus(void);

/* nthreads counts the calling thread; 0 means qkv_pool_cpus(); at most 1024. The workers start
 * here; if the system gives fewer, the pool is smaller and still right. */
QKV_API qkv_status qkv_pool_create(qkv_pool **pool, int32_t nthreads, const qkv_allocator *alloc,
                                   qkv_error *err);
QKV_API void qkv_pool_destroy(qkv_pool *pool); /* NULL is fine; not while a run uses it */

/* What qkv_run_args.threads takes; valid until the pool is destroyed. */
QKV_API const qkv_threads *qkv_pool_threads(const qkv_pool *pool);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QKV_POOL_H */
