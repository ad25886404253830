/* SPDX-License-Identifier: MIT */
/* checked.h - sums and products of sizes that report overflow instead of wrapping.
 * Each returns 1 and leaves *r unspecified when the exact result does not fit.
 */
#ifndef QKVI_CHECKED_H
#define QKVI_CHECKED_H

#include <stddef.h>
#include <stdint.h>

static inline int qkvi_mul(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_mul_overflow(a, b, r);
}

static inline int qkvi_add(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_add_overflow(a, b, r);
}

/* n rounded up to a multiple of 64; n <= INT64_MAX - 63 */
static inline int64_t qkvi_round64(int64_t n)
{
    return (n + 63) / 64 * 64;
}

#endif
