/* SPDX-License-Identifier: MIT */
/* workers.h - the pool behind qkv/pool.h, without the checks (api/api_pool.c makes them).
 *
 * Nothing in run/ depends on it: to the driver it is an executor like any other.
 */
#ifndef QKVI_WORKERS_H
#define QKVI_WORKERS_H

#include <qkv/pool.h>

enum { QKVI_POOL_MAX = 1024 };

int32_t qkvi_pool_cpus(void);
qkv_pool *qkvi_pool_create(int32_t nthreads, const qkv_allocator *alloc); /* NULL: no memory */
void qkvi_pool_destroy(qkv_pool *pool);
const qkv_threads *qkvi_pool_threads(const qkv_pool *pool);

#endif
