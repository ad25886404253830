/* SPDX-License-Identifier: MIT */
/* ref_math.c - e^x and ln x for the reference, as docs/numerics.md writes them.
 *
 * Plain float64 operations in a fixed order; the caller sets the environment of rule 0.
 */
#include "base/contract.h"
#include "ref/ref.h"

typedef union word {
    double x;
    uint64_t bits;
} word;

/* 2^n for -1022 <= n <= 1023 */
static double power2(int n)
{
    const word w = {.bits = (uint64_t)(n + 1023) << 52};
    return w.x;
}

/* not inlined: its arithmetic must stay between the caller's entering and leaving of rule 0 */
__attribute__((noinline)) double qkvi_ref_exp(double x)
{
    static const double inverse_factorial[14] = {1.0,
                                                 1.0,
                                                 1.0 / 2,
                                                 1.0 / 6,
                                                 1.0 / 24,
                                                 1.0 / 120,
                                                 1.0 / 720,
                                                 1.0 / 5040,
                                                 1.0 / 40320,
                                                 1.0 / 362880,
                                                 1.0 / 3628800,
                                                 1.0 / 39916800,
                                                 1.0 / 479001600,
                                                 1.0 / 6227020800.0};
    if (x != x) return x;
    if (x > 709.8) return __builtin_inf();
    if (x < -745.2) return 0;
    const double t = x * QKVI_LOG2E;
    const double n = (t + QKVI_ROUNDER_F64) - QKVI_ROUNDER_F64; /* nearest integer, ties to even */
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double y = inverse_factorial[13];
    for (int k = 12; k >= 0; k--) y = y * r + inverse_factorial[k];
    /* in two steps: 2^n itself may be beyond the normal numbers where y * 2^n is not */
    const int whole = (int)n, half = whole / 2;
    return y * power2(half) * power2(whole - half);
}

double qkvi_ref_log(double x)
{
    return qkvi_log2(x) * QKVI_LN2;
}
