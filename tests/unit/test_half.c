/* SPDX-License-Identifier: MIT */
/* test_half.c - the 16-bit types of half.h: every one of their 65,536 numbers widened, and every gap
 * between two neighbours met where narrowing must choose: on the numbers, halfway, and one unit of
 * float64 to either side of halfway.
 *
 * What is right is worked out with ldexp() here, not with shifts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/half.h"

typedef struct kind {
    int digits, bias;
    float (*widen)(uint16_t);
    uint16_t (*narrow)(double);
    uint16_t infinity, nan;
} kind;

static const kind kinds[2] = {{10, 15, qkvi_f16_widen, qkvi_f16_narrow, 0x7c00, 0x7e00},
                              {7, 127, qkvi_bf16_widen, qkvi_bf16_narrow, 0x7f80, 0x7fc0}};

/* the number that positive bits below infinity mean */
static double meant(const kind *k, int bits)
{
    const int exponent = bits >> k->digits, rest = bits & ((1 << k->digits) - 1);
    if (exponent == 0) return ldexp(rest, 1 - k->bias - k->digits);
    return ldexp(rest + (1 << k->digits), exponent - k->bias - k->digits);
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void widening_is_exact(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++)
        for (int bits = 0; bits < 0x8000; bits++) {
            const kind *const k = &kinds[n];
            const float up = k->widen((uint16_t)bits), down = k->widen((uint16_t)(bits | 0x8000));
            assert_int_equal(bits_of(up) ^ bits_of(down), UINT32_C(0x80000000));
            if (bits < k->infinity) {
                assert_true((double)up == meant(k, bits));
            } else if (bits == k->infinity) {
                assert_true(isinf(up) && up > 0);
            } else { /* the payload stays, at the top of the mantissa; f16: quiet, as hardware does */
                const uint32_t payload = (uint32_t)(bits & ((1 << k->digits) - 1));
                assert_int_equal(bits_of(up), UINT32_C(0x7f800000) | payload << (23 - k->digits) |
                                                  (n == 0 ? UINT32_C(0x400000) : 0));
            }
        }
}

static void check(const kind *k, double x, int want)
{
    assert_int_equal(k->narrow(x), want);
    assert_int_equal(k->narrow(-x), want | 0x8000);
}

static void narrowing_is_nearest_even(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        const kind *const k = &kinds[n];
        for (int bits = 0; bits < k->infinity; bits++) {
            const double x = meant(k, bits);
            /* the number after the largest is where infinity begins to be nearer */
            const double next = bits + 1 < k->infinity ? meant(k, bits + 1) : ldexp(1, k->bias + 1);
            const double half = x + (next - x) / 2;
            check(k, x, bits);
            check(k, nextafter(half, x), bits);
            check(k, half, bits + (bits & 1));
            check(k, nextafter(half, (double)INFINITY), bits + 1);
        }
        check(k, 0x1p-1074, 0);
        check(k, 0x1p-1000, 0);
        check(k, 0x1p1023, k->infinity);
        check(k, (double)INFINITY, k->infinity);
        assert_int_equal(k->narrow((double)NAN), k->nan);
        assert_int_equal(k->narrow(-(double)NAN), k->nan);
    }
    assert_int_equal(qkvi_f16_narrow(65519.99), 0x7bff);
    assert_int_equal(qkvi_f16_narrow(65520.0), 0x7c00);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widening_is_exact),
                                       cmocka_unit_test(narrowing_is_nearest_even)};
    return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
