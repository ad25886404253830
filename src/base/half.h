/* SPDX-License-Identifier: MIT */
/* half.h - the 16-bit types by integer operations (rule 14): widening is exact, narrowing is IEEE, to
 * nearest with ties to even, gradual underflow, overflow to infinity. No instruction set is asked
 * for, and no rounding mode matters.
 *
 * NaNs: widening keeps sign and payload (a signalling f16 NaN becomes quiet), narrowing gives the quiet one without either (rule 11).
 */
#ifndef QKVI_HALF_H
#define QKVI_HALF_H

#include <stdint.h>

typedef union qkvi_word32 {
    float x;
    uint32_t bits;
} qkvi_word32;

typedef union qkvi_word64 {
    double x;
    uint64_t bits;
} qkvi_word64;

static inline float qkvi_bf16_widen(uint16_t h)
{
    const qkvi_word32 w = {.bits = (uint32_t)h << 16};
    return w.x;
}

static inline float qkvi_f16_widen(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, size = h & 0x7fff;
    qkvi_word32 w = {.bits =
                         sign | ((size << 13) + UINT32_C(0x38000000))}; /* 112 exponents apart */
    if (size >= 0x7c00) {
        w.bits = sign | (size << 13) | UINT32_C(0x7f800000);
        if (size > 0x7c00) w.bits |= UINT32_C(0x400000); /* quiet, as processors make it */
    } else if (size < 0x400) { /* subnormal: size units of 2^-24, which float32 holds exactly */
        w.x = (float)size * 0x1p-24f;
        w.bits |= sign;
    }
    return w.x;
}

/* The number at any byte address; bf16: which of the two types. Copied, not read: gcc 14 for aarch64
 * fails on a call with a number of an under-aligned type. */
static inline float qkvi_half_at(const void *p, int bf16)
{
    uint16_t h;
    __builtin_memcpy(&h, p, sizeof h);
    return bf16 ? qkvi_bf16_widen(h) : qkvi_f16_widen(h);
}

/* A positive number's bits in a type with `digits` after the point, from bits that have `more` digits
 * beyond those; the exponent is biased as in the narrow type and may be 0 or less (subnormal). What
 * carries out of the digits moves the exponent; what the caller finds too large is infinity. */
static inline uint64_t qkvi_half_round(uint64_t fraction, int64_t exponent, int32_t digits,
                                       int32_t more)
{
    if (exponent <= 0) {
        const int64_t shift = 1 - exponent;
        if (shift > digits + 2) return 0; /* less than half of the smallest */
        fraction |= UINT64_C(1) << (digits + more);
        more += (int32_t)shift;
        exponent = 0;
    }
    const uint64_t whole = ((uint64_t)exponent << digits) + (fraction >> more);
    const uint64_t rest = fraction & ((UINT64_C(1) << more) - 1), half = UINT64_C(1) << (more - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

static inline uint16_t qkvi_f16_narrow(double x)
{
    const qkvi_word64 w = {.x = x};
    const uint32_t sign = (uint32_t)(w.bits >> 48) & 0x8000;
    const int64_t exponent = (int64_t)(w.bits >> 52 & 0x7ff) - 1023 + 15;
    if (x != x) return 0x7e00;
    if (exponent >= 31) return (uint16_t)(sign | 0x7c00);
    const uint64_t fraction = w.bits & UINT64_C(0xfffffffffffff);
    return (uint16_t)(sign | (uint32_t)qkvi_half_round(fraction, exponent, 10, 42));
}

static inline uint16_t qkvi_bf16_narrow(double x)
{
    const qkvi_word64 w = {.x = x};
    const uint32_t sign = (uint32_t)(w.bits >> 48) & 0x8000;
    const int64_t exponent = (int64_t)(w.bits >> 52 & 0x7ff) - 1023 + 127;
    if (x != x) return 0x7fc0;
    if (exponent >= 255) return (uint16_t)(sign | 0x7f80);
    const uint64_t fraction = w.bits & UINT64_C(0xfffffffffffff);
    return (uint16_t)(sign | (uint32_t)qkvi_half_round(fraction, exponent, 7, 45));
}

#endif
