/* SPDX-License-Identifier: MIT */
/* api_pool.c - the pool's door: NULLs, bounds, the caller's allocator. What a pool does is in
 * run/workers.c. A pool is the caller's object; no other function of the library makes one.
 */
#include "api/abi.h"
#include "base/error.h"
#include "run/workers.h"

int32_t qkv_pool_cpus(void)
{
    return qkvi_pool_cpus();
}

qkv_status qkv_pool_create(qkv_pool **pool, int32_t nthreads, const qkv_allocator *alloc,
                           qkv_error *err)
{
    qkv_status s;
    qkv_allocator a;
    if ((s = qkvi_need(pool, "pool", err))) return s;
    *pool = NULL;
    if (nthreads < 0 || nthreads > QKVI_POOL_MAX)
        return qkvi_fail(err, QKV_EARG, "nthreads", nthreads, QKVI_POOL_MAX,
                         QKVI_SAY(QKVI_S("nthreads is "), QKVI_I(nthreads),
                                  QKVI_S("; it must be between 0 (all) and "),
                                  QKVI_I(QKVI_POOL_MAX)));
    if ((s = qkvi_take_allocator(alloc, &a, err))) return s;
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
