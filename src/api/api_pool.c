/* SPDX-License-Identifier: MIT */
/* api_pool.c - the pool's door. */
#include "api/abi.h"
#include "base/error.h"
#include "run/workers.h"

enum { FIRST_ALLOCATOR = sizeof(qkv_allocator) };

int32_t qkv_pool_cpus(void)
{
    return qkvi_pool_cpus();
}

qkv_status qkv_pool_create(qkv_pool **pool, int32_t nthreads, const qkv_allocator *alloc,
                           qkv_error *err)
{
    qkv_status s;
    qkv_allocator a = QKV_ZERO;
    if ((s = qkvi_need(pool, "pool", err))) return s;
    *pool = NULL;
    if (nthreads < 0 || nthreads > QKVI_POOL_MAX)
        return qkvi_fail(err, QKV_EARG, "nthreads", nthreads, QKVI_POOL_MAX,
                         QKVI_SAY(QKVI_S("nthreads is "), QKVI_I(nthreads),
                                  QKVI_S("; it must be between 0 (all) and "),
                                  QKVI_I(QKVI_POOL_MAX)));
    if (alloc) {
        if ((s = qkvi_widen(&a, sizeof a, alloc, FIRST_ALLOCATOR, "alloc.size", err))) return s;
        if (a.alloc == NULL) return qkvi_need(NULL, "alloc.alloc", err);
        if (a.release == NULL) return qkvi_need(NULL, "alloc.release", err);
    }
    *pool = qkvi_pool_create(nthreads ? nthreads : qkvi_pool_cpus(), alloc ? &a : NULL);
    if (*pool == NULL)
        return qkvi_fail(err, QKV_ENOMEM, "pool", nthreads, 0,
                         QKVI_SAY(QKVI_S("pool: no memory for a pool of "), QKVI_I(nthreads),
                                  QKVI_S(" threads")));
    return QKV_OK;
}

void qkv_pool_destroy(qkv_pool *pool)
{
    if (pool) qkvi_pool_destroy(pool);
}

const qkv_threads *qkv_pool_threads(const qkv_pool *pool)
{
    return pool ? qkvi_pool_threads(pool) : NULL;
}
