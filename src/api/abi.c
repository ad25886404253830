/* SPDX-License-Identifier: MIT */
/* abi.c - see abi.h. Reads no further than the size that the caller states. */
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

qkv_status qkvi_widen(void *to, size_t size, const void *from, size_t first, const char *name,
                      qkv_error *err)
{
    uint32_t given;
    __builtin_memcpy(&given, from, sizeof given);
    if (given < first || given > MAX_STRUCT)
        return qkvi_fail(err, QKV_EABI, name, given, (int64_t)size,
                         QKVI_SAY(QKVI_S(name), QKVI_S(".size is "), QKVI_I(given),
                                  QKVI_S("; it must be at least "), QKVI_I((int64_t)first),
                                  QKVI_S(" (start from "), QKVI_S(name), QKVI_S("_init())")));
    const unsigned char *const bytes = from;
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return qkvi_fail(err, QKV_EABI, name, (int64_t)i, (int64_t)size,
                             QKVI_SAY(QKVI_S(name), QKVI_S(" sets a member at byte "),
                                      QKVI_I((int64_t)i),
                                      QKVI_S(" that this libqkv does not know (it knows "),
                                      QKVI_I((int64_t)size), QKVI_S(" bytes)")));
    __builtin_memset(to, 0, size);
    __builtin_memcpy(to, from, given < size ? given : size);
    return QKV_OK;
}
