/* SPDX-License-Identifier: MIT */
/* abi.c - see abi.h. Reads no further than the size that the caller states, and knows the structs
 * only as bytes: the first four are their size, a member that is missing is 0, a member that we do
 * not know must be 0.
 */
#include "api/abi.h"
#include "base/error.h"

enum { MAX_STRUCT = 4096 };

qkv_status qkvi_need(const void *p, const char *arg, qkv_error *err)
{
    if (qkvi_error_check(err)) return QKV_EABI;
    if (p) return QKV_OK;
    return qkvi_fail(err, QKV_EARG, arg, 0, 1,
                     QKVI_SAY(QKVI_S(arg), QKVI_S(" is NULL (0); it must point at an object")));
}

qkv_status qkvi_widen(void *to, size_t size, const void *from, size_t first, const char *arg,
                      qkv_error *err)
{
    uint32_t given;
    __builtin_memcpy(&given, from, sizeof given);
    if (given < first || given > MAX_STRUCT)
        return qkvi_fail(err, QKV_EABI, arg, given, (int64_t)size,
                         QKVI_SAY(QKVI_S(arg), QKVI_S(" is "), QKVI_I(given),
                                  QKVI_S("; it must be between "), QKVI_I((int64_t)first),
                                  QKVI_S(" and "), QKVI_I(MAX_STRUCT),
                                  QKVI_S(" (start from the struct's _init function)")));
    const unsigned char *const bytes = from;
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return qkvi_fail(err, QKV_EABI, arg, (int64_t)i, (int64_t)size,
                             QKVI_SAY(QKVI_S(arg), QKVI_S(" is "), QKVI_I(given),
                                      QKVI_S(" and byte "), QKVI_I((int64_t)i),
                                      QKVI_S(" is set; this libqkv knows only "),
                                      QKVI_I((int64_t)size), QKVI_S(" bytes")));
    __builtin_memset(to, 0, size);
    __builtin_memcpy(to, from, given < size ? given : size);
    return QKV_OK;
}

qkv_status qkvi_take_threads(const qkv_threads *given, qkv_threads *t, qkv_error *err)
{
    enum { FIRST_THREADS = sizeof(qkv_threads) };
    qkv_status s;
    *t = qkv_threads_init();
    t->nthreads = 1;
    if (given == NULL) return QKV_OK;
    if ((s = qkvi_widen(t, sizeof *t, given, FIRST_THREADS, "args.threads.size", err))) return s;
    if (t->nthreads < 1)
        return qkvi_fail(err, QKV_EARG, "args.threads.nthreads", t->nthreads, 1,
                         QKVI_SAY(QKVI_S("args.threads.nthreads is "), QKVI_I(t->nthreads),
                                  QKVI_S("; it must be at least 1")));
    return t->nthreads > 1 && t->parallel_for == NULL
               ? qkvi_need(NULL, "args.threads.parallel_for", err)
               : QKV_OK;
}

qkv_status qkvi_take_allocator(const qkv_allocator *given, qkv_allocator *a, qkv_error *err)
{
    enum { FIRST_ALLOCATOR = sizeof(qkv_allocator) };
    qkv_status s;
    *a = qkv_allocator_init();
    if (given == NULL) return QKV_OK;
    if ((s = qkvi_widen(a, sizeof *a, given, FIRST_ALLOCATOR, "alloc.size", err))) return s;
    if (a->reserved)
        return qkvi_fail(
            err, QKV_EARG, "alloc.reserved", a->reserved, 0,
            QKVI_SAY(QKVI_S("alloc.reserved is "), QKVI_I(a->reserved), QKVI_S("; it must be 0")));
    if (a->alloc == NULL) return qkvi_need(NULL, "alloc.alloc", err);
    return a->release ? QKV_OK : qkvi_need(NULL, "alloc.release", err);
}
