/* SPDX-License-Identifier: MIT */
/* ref_math.c - e^x, ln x, tanh x and ALiBi's slopes for the reference, as docs/numerics.md writes them.
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

double qkvi_ref_tanh(double x)
{
    /* of x, x^3, x^5 ... */
    static const double taylor[9] = {1.0,
                                     -1.0 / 3,
                                     2.0 / 15,
                                     -17.0 / 315,
                                     62.0 / 2835,
                                     -1382.0 / 155925,
                                     21844.0 / 6081075,
                                     -929569.0 / 638512875,
                                     6404582.0 / 10854718875.0};
    const double size = x < 0 ? -x : x;
    if (size < 0.125) {
        const double w = x * x;
        double y = taylor[8];
        for (int i = 7; i >= 0; i--) y = y * w + taylor[i];
        return y * x;
    }
    const double e = qkvi_ref_exp(-2 * size);
    const double y = (1 - e) / (1 + e);
    return x < 0 ? -y : y;
}

/* not inlined, as qkvi_ref_exp */
__attribute__((noinline)) double qkvi_ref_slope(int64_t h, int64_t heads, double max_bias)
{
    int64_t n = 1;
    while (2 * n <= heads) n *= 2;
    const double part =
        h < n ? (double)(h + 1) / (double)n : (double)(2 * (h - n) + 1) / (double)(2 * n);
    const double x = -max_bias * part;
    if (x < -1000) return 0;
    const double whole = (x + QKVI_ROUNDER_F64) - QKVI_ROUNDER_F64;
    return qkvi_ref_exp((x - whole) * QKVI_LN2) * power2((int)whole);
}
