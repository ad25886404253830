/* SPDX-License-Identifier: MIT */
/* test_accuracy.c - the error bounds of docs/numerics.md, judged by a long double attention that
 * shares no code with the library: f32 1.5e-6 a row and 5e-7 rms, f64 3e-15, the reference 1e-14,
 * V = ones within 16 ulp.
 */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double row_bound(int32_t isa, int32_t dtype)
{
    if (dtype == QKV_F32) return 1.5e-6;
    return isa == QKV_ISA_REFERENCE ? 1e-14 : 3e-15;
}

/* Two thousand and forty-eight keys, as many rows as the judge has time for. */
static void judge_2048(int32_t isa, int32_t dtype, int64_t d, int64_t rows, bool causal)
{
    if (sanitized() && d > 256) return; /* the arithmetic is the same; here memory is looked at */
    rng r = rng_from(301 + (uint64_t)d);
    prob p = prob_new(dtype, 1, 1, 1, rows, 2048, d, d);
    prob_normal(&p, &r);
    if (causal) prob_causal(&p, 2048 - rows);
    answer a = prob_run(&p, (how){.isa = isa});
    const row_error e = judge(&p, &a, rows, false);
    print_message("# %s, type %d, d %d%s: row %.3g, rms %.3g, lse %.3g\n", a.kernel, (int)dtype,
                  (int)d, causal ? ", causal" : "", e.max, e.rms, e.lse);
    if (!(e.max <= row_bound(isa, dtype))) fail_msg("row error %.3g", e.max);
    if (dtype == QKV_F32) assert_true(e.rms <= 5e-7);
    assert_true(e.lse <= (dtype == QKV_F32 ? 2e-6 : 8e-15));
    answer_free(&a);
    prob_free(&p);
}

static void f32_at_2048_keys(void **state)
{
    (void)state;
    static const int64_t d[4] = {64, 128, 256, 1024};
    for (int i = 0; i < 4; i++)
        judge_2048(QKV_ISA_BEST, QKV_F32, d[i],
                   effort(d[i] > 500   ? 12
                          : d[i] > 200 ? 24
                                       : 64),
                   false);
    judge_2048(QKV_ISA_BEST, QKV_F32, 64, effort(64), true);
}

static void f64_at_2048_keys(void **state)
{
    (void)state;
    static const int64_t d[4] = {64, 128, 256, 1024};
    for (int i = 0; i < 4; i++) {
        judge_2048(QKV_ISA_BEST, QKV_F64, d[i],
                   effort(d[i] > 500   ? 6
                          : d[i] > 200 ? 12
                                       : 32),
                   false);
        judge_2048(QKV_ISA_REFERENCE, QKV_F64, d[i],
                   effort(d[i] > 500   ? 6
                          : d[i] > 200 ? 12
                                       : 32),
                   false);
    }
    judge_2048(QKV_ISA_BEST, QKV_F64, 64, effort(48), true);
}

/* Any shape. A row of few channels may cancel in all of them, and a scale other than the usual one
 * makes scores large: its own rounding, |score| ulp, is then part of any float32 result. */
static void random_shapes(void **state)
{
    (void)state;
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    rng r = rng_from(302);
    mix m = {0};
    for (int i = 0; i < effort(220); i++) {
        prob p = random_prob(&r, 3e5);
        p.use &= ~(uint64_t)QKV_USE_SCALE;
        mix_count(&m, &p);
        int32_t id = isa[i % n];
        if (prob_work(&p) > work_limit(id, p.dtype)) id = QKV_ISA_BEST;
        answer a = prob_run(&p, (how){.isa = id});
        const row_error e = judge(&p, &a, 12, true);
        if (!(e.max <= row_bound(id, p.dtype))) {
            fail_msg("row error %.3g, isa %d, case %d: %s", e.max, (int)id, i, prob_text(&p));
        }
        if (!(e.lse <= (p.dtype == QKV_F32 ? 4e-6 : 2e-14))) {
            fail_msg("lse error %.3g, isa %d, case %d: %s", e.lse, (int)id, i, prob_text(&p));
        }
        answer_free(&a);
        prob_free(&p);
    }
    mix_check(&m);
}

/* Large scores: the reference is exact to 1e-14 of them, the kernels to their type. */
static void large_scores(void **state)
{
    (void)state;
    rng r = rng_from(303);
    static const double scales[] = {10, 100, 1e4, 1e6};
    for (int i = 0; i < effort(48); i++) {
        prob p = prob_new(i % 2 ? QKV_F64 : QKV_F32, 1, 2, 1, 9, rng_range(&r, 1, 300), 8, 20);
        prob_normal(&p, &r);
        prob_scale(&p, scales[i / 2 % 4]);
        const int32_t isa = i % 3 ? QKV_ISA_BEST : QKV_ISA_REFERENCE;
        answer a = prob_run(&p, (how){.isa = isa});
        const row_error e = judge(&p, &a, 100, true);
        /* a score of s in units of u = 2^-24 or 2^-53 is s u off, and the weight as much */
        const double u = p.dtype == QKV_F32 && isa != QKV_ISA_REFERENCE ? 0x1p-24 : 0x1p-53;
        const double scores = p.scale * 40;
        const double own = p.dtype == QKV_F32 ? 1e-6 : 1e-14; /* rounding of the result itself */
        if (!(e.max <= 4 * scores * u + own)) fail_msg("%.3g at scale %g", e.max, p.scale);
        answer_free(&a);
        prob_free(&p);
    }
}

static void values_of_one_give_one(void **state)
{
    (void)state;
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    rng r = rng_from(304);
    for (int i = 0; i < effort(120); i++) {
        prob p = random_prob(&r, 4e5);
        for (int64_t j = 0; j < prob_nv(&p); j++) put_at(p.v, p.dtype, j, 1);
        int32_t id = isa[i % n];
        if (prob_work(&p) > work_limit(id, p.dtype)) id = QKV_ISA_BEST;
        answer a = prob_run(&p, (how){.isa = id});
        const double ulp = p.dtype == QKV_F64 ? 0x1p-52 : 0x1p-23;
        /* the reference sums weights that add to 1 only after rounding: 1e-14 is its bound */
        const double bound =
            id == QKV_ISA_REFERENCE ? (p.dtype == QKV_F64 ? 1e-14 : ulp) : 16 * ulp;
        for (int64_t j = 0; j < prob_nout(&p); j++) {
            const double lse = get_at(a.lse, p.dtype, j / p.dv), got = get_at(a.out, p.dtype, j);
            if (isinf(lse)) {
                assert_true(is_plus_zero(a.out, p.dtype, j));
            } else if (!(fabs(got - 1) <= bound)) {
                fail_msg("%.17g, isa %d, case %d: %s", got, (int)id, i, prob_text(&p));
            }
        }
        answer_free(&a);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_at_2048_keys),       cmocka_unit_test(f64_at_2048_keys),
        cmocka_unit_test(random_shapes),          cmocka_unit_test(large_scores),
        cmocka_unit_test(values_of_one_give_one),
    };
    return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
