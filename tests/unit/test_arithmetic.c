/* SPDX-License-Identifier: MIT */
/* test_arithmetic.c - the scalar steps that bits rest on: the exact fused multiply-add in software
 * against libm's, log2 and lse of contract.h, e^x and ln of the reference.
 *
 * Values are chosen where such code goes wrong: cancellation to the last bit, ties, results that are
 * subnormal or overflow, parts too far apart to meet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/contract.h"
#include "kernel/simd/fma_exact.h"
#include "ref/ref.h"

static uint64_t next(uint64_t *s)
{
    uint64_t z = *s += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static double bits_f64(uint64_t b)
{
    double x;
    memcpy(&x, &b, 8);
    return x;
}

static float bits_f32(uint32_t b)
{
    float x;
    memcpy(&x, &b, 4);
    return x;
}

/* A mantissa with few bits, with many, or one that ends in a run: ties come from those. */
static uint64_t mantissa(uint64_t *s, int width)
{
    const uint64_t m = next(s) >> (64 - width), all = (UINT64_C(1) << width) - 1;
    switch (next(s) % 6) {
    case 0:
        return m & all << (next(s) % (uint64_t)width);
    case 1:
        return (m | ((UINT64_C(1) << next(s) % (uint64_t)width) - 1)) & all;
    case 2:
        return UINT64_C(1) << next(s) % (uint64_t)width;
    case 3:
        return next(s) % 2 ? 0 : all;
    default:
        return m;
    }
}

static double value_f64(uint64_t *s, int near_exponent, int spread)
{
    static const uint64_t special[] = {0,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x7FF) << 52,
                                       UINT64_C(0xFFF) << 52,
                                       UINT64_C(0x7FF8) << 48,
                                       1,
                                       UINT64_C(0x000FFFFFFFFFFFFF),
                                       UINT64_C(0x0010000000000000),
                                       UINT64_C(0x7FEFFFFFFFFFFFFF)};
    if (next(s) % 40 == 0) return bits_f64(special[next(s) % 9]);
    int e = near_exponent + (int)(next(s) % (uint64_t)(2 * spread + 1)) - spread;
    if (e < 0) e = 0;
    if (e > 2046) e = 2046;
    return bits_f64((next(s) & UINT64_C(1) << 63) | (uint64_t)e << 52 | mantissa(s, 52));
}

static float value_f32(uint64_t *s, int near_exponent, int spread)
{
    static const uint32_t special[] = {0, 0x80000000u, 0x7F800000u, 0xFF800000u, 0x7FC00000u,
                                       1, 0x007FFFFFu, 0x00800000u, 0x7F7FFFFFu};
    if (next(s) % 40 == 0) return bits_f32(special[next(s) % 9]);
    int e = near_exponent + (int)(next(s) % (uint64_t)(2 * spread + 1)) - spread;
    if (e < 0) e = 0;
    if (e > 254) e = 254;
    return bits_f32((uint32_t)(next(s) & 0x80000000u) | (uint32_t)e << 23 |
                    (uint32_t)mantissa(s, 23));
}

static void check_f64(double a, double b, double c)
{
    const double want = fma(a, b, c), got = fma_exact_f64(a, b, c);
    if (memcmp(&want, &got, 8) != 0 && !(isnan(want) && isnan(got))) {
        fail_msg("fma(%a, %a, %a) = %a, not %a", a, b, c, want, got);
    }
}

static void check_f32(float a, float b, float c)
{
    const float want = fmaf(a, b, c), got = fma_exact_f32(a, b, c);
    if (memcmp(&want, &got, 4) != 0 && !(isnan(want) && isnan(got))) {
        fail_msg("fmaf(%a, %a, %a) = %a, not %a", (double)a, (double)b, (double)c, (double)want,
                 (double)got);
    }
}

static void fma_f64_is_exact(void **state)
{
    (void)state;
    uint64_t s = 11;
    for (int i = 0; i < 1500000; i++) {
        /* c within reach of the product, from far above to far below it */
        const int ea = (int)(next(&s) % 2047), eb = (int)(next(&s) % 2047);
        const double a = value_f64(&s, ea, 1), b = value_f64(&s, eb, 1);
        const int ep = ea + eb - 1023;
        check_f64(a, b, value_f64(&s, ep, i % 3 ? 110 : 3));
        /* the rounded product taken away again, and its neighbours: only the error remains */
        const double p = a * b;
        if (isfinite(p)) {
            check_f64(a, b, -p);
            check_f64(a, b, -nextafter(p, (double)INFINITY));
        }
    }
}

static void fma_f64_near_the_bottom(void **state)
{
    (void)state;
    uint64_t s = 12;
    for (int i = 0; i < 800000; i++) {
        /* products around and below the smallest numbers */
        const int ea = 1 + (int)(next(&s) % 1000);
        const double a = value_f64(&s, ea, 0);
        const double b = value_f64(&s, 1023 - ea + (int)(next(&s) % 130) - 65, 2);
        check_f64(a, b, value_f64(&s, (int)(next(&s) % 60), 2));
        check_f64(a, b, i % 2 ? 0.0 : -0.0);
        check_f64(a, b, bits_f64((uint64_t)(next(&s) % 8) | (next(&s) & UINT64_C(1) << 63)));
    }
}

static void fma_f32_is_exact(void **state)
{
    (void)state;
    uint64_t s = 13;
    for (int i = 0; i < 2500000; i++) {
        const int ea = (int)(next(&s) % 255), eb = (int)(next(&s) % 255);
        const float a = value_f32(&s, ea, 1), b = value_f32(&s, eb, 1);
        check_f32(a, b, value_f32(&s, ea + eb - 127, i % 3 ? 55 : 3));
        const float p = a * b;
        if (isfinite(p)) check_f32(a, b, -p);
        if (isfinite(p)) check_f32(a, b, -nextafterf(p, INFINITY));
    }
    for (int i = 0; i < 1000000; i++) {
        const int ea = 1 + (int)(next(&s) % 126);
        const float a = value_f32(&s, ea, 0);
        const float b = value_f32(&s, 127 - ea + (int)(next(&s) % 60) - 30, 2);
        check_f32(a, b, value_f32(&s, (int)(next(&s) % 30), 2));
        check_f32(a, b, bits_f32((uint32_t)(next(&s) % 8) | (uint32_t)(next(&s) & 0x80000000u)));
    }
}

static void log2_is_close(void **state)
{
    (void)state;
    uint64_t s = 14;
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        const double x =
            i % 2 ? value_f64(&s, 1023, 2) : value_f64(&s, 1 + (int)(next(&s) % 2045), 0);
        if (!(x > 0) || !isnormal(x)) continue;
        const long double want = log2l((long double)x);
        const double got = qkvi_log2(x);
        /* near 1 the result is small and its own error counts; far from 1 that of k + ... */
        const double error =
            want == 0 ? fabs(got) : (double)fabsl(((long double)got - want) / want);
        if (!(error <= worst)) worst = error;
    }
    if (!(worst <= 4e-16)) fail_msg("relative error %.3g", worst);
    for (int k = -1022; k <= 1023; k++) assert_true(qkvi_log2(ldexp(1, k)) == k); /* exactly */
    assert_true(qkvi_lse(0, 1) == 0);
    assert_true(fabs(qkvi_lse(3, 1.25) - (3 + log2(1.25)) * log(2)) < 1e-15);
}

static void reference_logarithm(void **state)
{
    (void)state;
    uint64_t s = 15;
    for (int i = 0; i < 100000; i++) {
        const double x = value_f64(&s, 1 + (int)(next(&s) % 2045), 0);
        if (!(x > 0) || !isnormal(x)) continue;
        assert_true(fabs(qkvi_ref_log(x) - log(x)) <= 4e-16 * fabs(log(x)) + 1e-17);
    }
    assert_true(qkvi_ref_log(1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fma_f64_is_exact),    cmocka_unit_test(fma_f64_near_the_bottom),
        cmocka_unit_test(fma_f32_is_exact),    cmocka_unit_test(log2_is_close),
        cmocka_unit_test(reference_logarithm),
    };
    return cmocka_run_group_tests_name("arithmetic", tests, NULL, NULL);
}
