/* SPDX-License-Identifier: MIT */
/* executors.c - callers' threads, good and bad: serial, backwards, a fresh thread each, the pool,
 * one that forgets an index, one that runs indices twice.
 *
 * The library must give the same bits under the first kinds and say QKV_ESTOPPED under a forgetful
 * one; it may not crash, hang or report success with rows missing under any.
 */
#include "helpers.h"

#include <pthread.h>
#include <string.h>

enum { MOST_THREADS = 64 };

typedef struct one {
    void (*task)(void *arg, int32_t i);
    void *arg;
    int32_t i;
} one;

static void *run_one(void *arg)
{
    const one *const o = arg;
    o->task(o->arg, o->i);
    return NULL;
}

static void all_fresh(int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    pthread_t thread[MOST_THREADS];
    bool started[MOST_THREADS];
    one each[MOST_THREADS];
    for (int32_t i = 0; i < ntasks; i++) {
        one *const o = &each[i % MOST_THREADS];
        *o = (one){task, arg, i};
        started[i % MOST_THREADS] =
            ntasks <= MOST_THREADS && pthread_create(&thread[i], NULL, run_one, o) == 0;
        if (!started[i % MOST_THREADS]) task(arg, i);
    }
    for (int32_t i = 0; i < ntasks && ntasks <= MOST_THREADS; i++) {
        if (started[i]) pthread_join(thread[i], NULL);
    }
}

static void parallel_for(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    executor *const e = ctx;
    e->calls++;
    if (ntasks > e->most_tasks) e->most_tasks = ntasks;
    switch (e->kind) {
    case EXEC_POOL: {
        const qkv_threads *const t = qkv_pool_threads(e->pool);
        t->parallel_for(t->ctx, ntasks, task, arg);
        break;
    }
    case EXEC_FRESH:
        all_fresh(ntasks, task, arg);
        break;
    case EXEC_BACKWARDS:
        for (int32_t i = ntasks - 1; i >= 0; i--) task(arg, i);
        break;
    case EXEC_SKIP_LAST:
        for (int32_t i = 0; i < ntasks - 1; i++) task(arg, i);
        break;
    case EXEC_SKIP_ALL:
        break;
    case EXEC_TWICE:
        for (int32_t i = 0; i < 2 * ntasks; i++) task(arg, i / 2);
        break;
    case EXEC_NULL:
    case EXEC_SERIAL:
    default:
        for (int32_t i = 0; i < ntasks; i++) task(arg, i);
        break;
    }
}

void executor_init(executor *e, exec_kind kind, int32_t nthreads)
{
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->threads = qkv_threads_init();
    e->threads.nthreads = nthreads;
    e->threads.parallel_for = parallel_for;
    e->threads.ctx = e;
    if (kind == EXEC_POOL) {
        qkv_error err = qkv_error_init();
        if (qkv_pool_create(&e->pool, nthreads, NULL, &err) != QKV_OK) fail_msg("%s", err.text);
    }
}

const qkv_threads *executor_threads(executor *e)
{
    return e->kind == EXEC_NULL ? NULL : &e->threads;
}

void executor_done(executor *e)
{
    qkv_pool_destroy(e->pool);
    e->pool = NULL;
}
