/* SPDX-License-Identifier: MIT */
/* test_ref.c - the float64 reference on small problems whose answers were worked out elsewhere:
 * biases that only look like masks, caps, slopes, sinks, dropped weights, merged results; and its
 * tanh against libm's, its exp against the page that describes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <qkv/types.h>
#include <string.h>

#include "ref/ref.h"

enum { MAX_KEYS = 8, MAX_CHANNELS = 4 };

static double rows[5][MAX_KEYS], out[MAX_CHANNELS];

static qkvi_ref_row problem(const double *q, const double *k, const double *v, int64_t keys,
                            int64_t d, int64_t dv)
{
    qkvi_ref_row r = {.q_dtype = QKV_F64,
                      .k_dtype = QKV_F64,
                      .v_dtype = QKV_F64,
                      .q = q,
                      .k = k,
                      .v = v,
                      .q_channel = 1};
    r.k_key = d;
    r.k_channel = 1;
    r.v_key = dv;
    r.v_channel = 1;
    r.keys = keys;
    r.d = d;
    r.dv = dv;
    r.hi = keys;
    r.scale = 1 / sqrt((double)d);
    r.score = rows[0];
    r.scaled = rows[1];
    r.capped = rows[2];
    r.masked = rows[3];
    r.weight = rows[4];
    r.out = out;
    memset(rows, 0xff, sizeof rows);
    return r;
}

static void close_to(double x, double want)
{
    assert_true(x == want || fabs(x - want) <= 2e-10 * (1 + fabs(want)));
}

static const double q_10[2] = {1, 0}, q_01[2] = {0, 1};
static const double k_three[6] = {1, 0, 0, 1, 1, 1}, v_three[6] = {1, 2, 3, 4, 5, 6};

static void masks_and_their_look_alikes(void **state)
{
    (void)state;
    const unsigned char first_two[3] = {1, 1, 0}, none[3] = {0, 0, 0};
    qkvi_ref_row r = problem(q_10, k_three, v_three, 3, 2, 2);
    r.seen = first_two;
    qkvi_ref_attend(&r);
    close_to(out[0], 1.6604769013);
    close_to(r.lse, 1.1079403077);
    close_to(r.largest, sqrt(0.5));
    r.seen = none;
    qkvi_ref_attend(&r);
    assert_true(out[0] == 0 && r.lse == -(double)INFINITY && r.largest == -(double)INFINITY);
    assert_true(r.weight[0] == 0 && r.weight[1] == 0 && r.weight[2] == 0);

    /* the largest negative float is a bias: a row of nothing else is not empty */
    const float m = -0x1.fffffep+127F, all[3] = {m, m, m}, mixed[3] = {0, m, m};
    const unsigned char last_two[3] = {0, 1, 1};
    r = problem(q_01, k_three, v_three, 3, 2, 2);
    r.bias = all;
    r.bias_dtype = QKV_F32;
    r.bias_key = 1;
    r.bias_keys = 3;
    qkvi_ref_attend(&r);
    close_to(out[0], 3);
    close_to(out[1], 4);
    r = problem(q_10, k_three, v_three, 3, 2, 2);
    r.bias = mixed;
    r.bias_dtype = QKV_F32;
    r.bias_key = 1;
    r.bias_keys = 3;
    r.seen = last_two;
    qkvi_ref_attend(&r);
    close_to(out[0], 4);
    close_to(out[1], 5);
}

static void half_types_keep_far_biases_apart(void **state)
{
    (void)state;
    const double q[2] = {4, 4}, k[4] = {-2.5, -2.5, -2.625, -2.5}, v[2] = {1, 2};
    const uint16_t lowest[2] = {0xfbff, 0xfbff}; /* -65504 */
    qkvi_ref_row r = problem(q, k, v, 2, 2, 1);
    r.scale = 1;
    r.bias = lowest;
    r.bias_dtype = QKV_F16;
    r.bias_key = 1;
    r.bias_keys = 2;
    qkvi_ref_attend(&r);
    close_to(out[0], 1.3775406688);
    close_to(r.lse, -65523.5259230158);
}

static void caps_come_before_masks_and_biases(void **state)
{
    (void)state;
    const double q = 1, k[2] = {1, 3}, v[2] = {1, 1000};
    const unsigned char first[2] = {1, 0};
    qkvi_ref_row r = problem(&q, k, v, 2, 1, 1);
    r.cap = 1;
    r.seen = first;
    qkvi_ref_attend(&r);
    assert_true(out[0] == 1);
    close_to(r.lse, 0.7615941560);
    r = problem(&q, k, v, 2, 1, 1);
    r.cap = 2;
    qkvi_ref_attend(&r);
    close_to(r.capped[0], 0.9242343145);
    close_to(r.capped[1], 1.8102965073);
    close_to(out[0], 708.3688025689);

    const double q4[4] = {2, 0, 0, 0}, k4[8] = {1, 0, 0, 0, 3, 0, 0, 0}, v2[2] = {1, 5};
    const double bias[2] = {0, -1};
    r = problem(q4, k4, v2, 2, 4, 1);
    r.cap = 2;
    r.bias = bias;
    r.bias_dtype = QKV_F64;
    r.bias_key = 1;
    r.bias_keys = 2;
    qkvi_ref_attend(&r);
    assert_true(r.scaled[0] == 1 && r.scaled[1] == 3);
    close_to(r.masked[0], 0.9242343145);
    close_to(r.masked[1], 0.8102965073);
    close_to(r.weight[1], 0.4715463233);
    close_to(out[0], 2.8861852930);
}

static void sinks_take_weight_and_give_nothing(void **state)
{
    (void)state;
    const double k[4] = {1, 0, 0, 1}, v[4] = {1, 2, 3, 4};
    static const double want[3][3] = {
        {1.2482550783, 2, 1.3932985200}, {0.8750030929, 1.4019619998, 1.7485730167}, {0, 0, 100}};
    for (int i = 0; i < 3; i++) {
        qkvi_ref_row r = problem(q_10, k, v, 2, 2, 2);
        r.has_sink = 1;
        r.sink = i == 2 ? 100 : i;
        qkvi_ref_attend(&r);
        close_to(out[0], want[i][0]);
        close_to(out[1], want[i][1]);
        close_to(r.lse, want[i][2]);
        close_to(r.largest, sqrt(0.5)); /* a sink is no key */
    }
    qkvi_ref_row r = problem(q_10, k, v, 2, 2, 2);
    r.has_sink = 1;
    r.sink = 0.5;
    r.hi = 0;
    qkvi_ref_attend(&r);
    assert_true(out[0] == 0 && out[1] == 0 && r.lse == 0.5);
    r = problem(q_10, k, v, 2, 2, 2);
    qkvi_ref_attend(&r);
    const double without = r.lse;
    r.has_sink = 1;
    r.sink = -(double)INFINITY;
    qkvi_ref_attend(&r);
    assert_true(r.lse == without);

    r.sink = 2000; /* beyond what e^x can hold */
    qkvi_ref_attend(&r);
    assert_true(out[0] == 0 && r.lse == 2000);

    /* two equal scores at +50 and at -50, sink 0 */
    for (int sign = 1; sign >= -1; sign -= 2) {
        const double q50[2] = {50.0 * sign, 0}, same[4] = {1, 0, 1, 0};
        r = problem(q50, same, v, 2, 2, 2);
        r.scale = 1;
        r.has_sink = 1;
        qkvi_ref_attend(&r);
        close_to(r.lse, sign > 0 ? 50.6931471806 : 0);
        assert_true(sign > 0 ? fabs(out[0] - 2) < 1e-9 : fabs(out[0] / 7.715e-22 - 1) < 1e-3);
    }
}

static void slopes_for_any_number_of_heads(void **state)
{
    (void)state;
    static const double six[6] = {.25, .0625, .015625, .00390625, .5, .125};
    static const double last[4] = {.7071067812, .3535533906, .1767766953, .0883883476};
    static const double three[3] = {.0625, .00390625, .25};
    for (int h = 0; h < 8; h++) assert_true(qkvi_ref_slope(h, 8, 8) == ldexp(1, -1 - h));
    for (int h = 0; h < 6; h++) assert_true(qkvi_ref_slope(h, 6, 8) == six[h]);
    for (int h = 0; h < 4; h++) close_to(qkvi_ref_slope(8 + h, 12, 8), last[h]);
    for (int h = 0; h < 3; h++) assert_true(qkvi_ref_slope(h, 3, 8) == three[h]);

    const double q = 0, k[4] = {0}, v[4] = {0};
    qkvi_ref_row r = problem(&q, k, v, 4, 1, 1);
    r.slope = 0.5;
    r.position = 2;
    qkvi_ref_attend(&r);
    assert_true(r.masked[0] == -1 && r.masked[1] == -0.5 && r.masked[2] == 0 &&
                r.masked[3] == -0.5);
}

static void dropped_weights(void **state)
{
    (void)state;
    const double k[4] = {1, 0, 0, 1}, v[4] = {1, 2, 3, 4};
    const unsigned char first[2] = {1, 0};
    qkvi_ref_row r = problem(q_10, k, v, 2, 2, 2);
    r.kept = first;
    r.keep_factor = 2;
    qkvi_ref_attend(&r);
    close_to(r.weight[0], 0.6697615493); /* before dropout */
    close_to(out[0], 2 * 0.6697615493);
    close_to(out[1], 4 * 0.6697615493);
    r.keep_factor = 0;
    qkvi_ref_attend(&r);
    assert_true(out[0] == 0 && out[1] == 0);
}

/* multiples of 1/64 that any program can make: element i of the array of that seed */
static double gen(uint32_t seed, uint32_t i)
{
    uint32_t h = i + UINT32_C(0x9E3779B9) * seed + 1;
    h ^= h >> 16;
    h *= UINT32_C(0x85EBCA6B);
    h ^= h >> 13;
    h *= UINT32_C(0xC2B2AE35);
    h ^= h >> 16;
    return ((int)(h >> 25) - 64) / 64.0;
}

static void c92_a_given_set_is_dropped(void **state)
{
    (void)state;
    static const unsigned char keep[2][4] = {{1, 0, 1, 1}, {0, 0, 1, 1}};
    static const double want[2][2] = {{-0.1684214011, 0.0215683056}, {0.3071342358, -0.1022269835}};
    double q[8], k[16], v[8];
    for (uint32_t i = 0; i < 8; i++) q[i] = gen(161, i);
    for (uint32_t i = 0; i < 16; i++) k[i] = gen(162, i);
    for (uint32_t i = 0; i < 8; i++) v[i] = gen(163, i);
    for (int row = 0; row < 2; row++) {
        qkvi_ref_row r = problem(q + 4 * row, k, v, 4, 4, 2);
        r.kept = keep[row];
        r.keep_factor = 2;
        qkvi_ref_attend(&r);
        double sum = 0; /* of what is left, twice as much: not 1, as intended */
        for (int j = 0; j < 4; j++) sum += keep[row][j] ? 2 * r.weight[j] : 0;
        close_to(sum, row ? 1.1344827254 : 1.6282126351);
        close_to(out[0], want[row][0]);
        close_to(out[1], want[row][1]);
    }
}

static void halve(void *ctx, double *score, int64_t keys)
{
    (void)ctx;
    for (int64_t j = 0; j < keys; j++) score[j] = score[j] / 2 + (double)j;
}

static void the_callers_rule(void **state)
{
    (void)state;
    qkvi_ref_row r = problem(q_10, k_three, v_three, 3, 2, 2);
    r.scale = 1;
    r.rule = halve;
    qkvi_ref_attend(&r);
    assert_true(r.capped[0] == 0.5 && r.capped[1] == 1 && r.capped[2] == 2.5);
}

static void merging(void **state)
{
    (void)state;
    const double inf = (double)INFINITY, lse[4] = {1, -inf, 3, 2};
    double w[4];
    close_to(qkvi_ref_merge(w, lse, 4), log(exp(1) + exp(2) + exp(3)));
    assert_true(w[1] == 0 && w[2] == 1);
    close_to(w[0], exp(-2));
    const double none[2] = {-inf, -inf}, wild[2] = {0, (double)NAN};
    assert_true(qkvi_ref_merge(w, none, 2) == -inf && w[0] == 0 && w[1] == 0);
    assert_true(isnan(qkvi_ref_merge(w, wild, 2)));
}

static void tanh_is_close(void **state)
{
    (void)state;
    for (int i = -40000; i <= 40000; i++) {
        const double x = i / 1600.0, want = tanh(x);
        assert_true(fabs(qkvi_ref_tanh(x) - want) <= 1e-15 * fabs(want));
        const double small = ldexp(x, -i % 40 * 10);
        assert_true(fabs(qkvi_ref_tanh(small) - tanh(small)) <= 1e-15 * fabs(tanh(small)));
    }
    assert_true(qkvi_ref_tanh((double)INFINITY) == 1 && qkvi_ref_tanh(-(double)INFINITY) == -1);
    assert_true(isnan(qkvi_ref_tanh((double)NAN)) && qkvi_ref_tanh(0) == 0);
}

/* docs/numerics.md, "The float64 reference", once more: the digits, not their neighbourhood */
static double exp_of_the_page(double x)
{
    double factorial = 6227020800.0, y = 1 / factorial; /* of 13 */
    const double n = nearbyint(x * 0x1.71547652b82fep+0);
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    for (int k = 12; k >= 0; k--) {
        factorial /= k + 1;
        y = y * r;
        y = y + 1 / factorial;
    }
    return ldexp(y, (int)n);
}

static void exp_has_the_digits_of_the_page(void **state)
{
    (void)state;
    for (int i = -45000; i <= 45000; i++) {
        const double x = i / 64.0 + i / 1e6;
        assert_true(x < -700 || x > 700 || qkvi_ref_exp(x) == exp_of_the_page(x));
        assert_true(qkvi_ref_exp(x / 5000) == exp_of_the_page(x / 5000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_and_their_look_alikes),
        cmocka_unit_test(half_types_keep_far_biases_apart),
        cmocka_unit_test(caps_come_before_masks_and_biases),
        cmocka_unit_test(sinks_take_weight_and_give_nothing),
        cmocka_unit_test(slopes_for_any_number_of_heads),
        cmocka_unit_test(dropped_weights),
        cmocka_unit_test(c92_a_given_set_is_dropped),
        cmocka_unit_test(the_callers_rule),
        cmocka_unit_test(merging),
        cmocka_unit_test(tanh_is_close),
        cmocka_unit_test(exp_has_the_digits_of_the_page),
    };
    return cmocka_run_group_tests_name("ref", tests, NULL, NULL);
}
