/* SPDX-License-Identifier: MIT */
/* test_cases.c - small inputs from public bug reports about attention, each with the right numbers:
 * alignment of causal masks, scales, empty rows, zero sizes, borders of blocks, precision.
 *
 * Every case runs on every usable table and on the reference, in float32 and float64. The C numbers
 * are names of cases; expected values are of exact mathematics, printed to ten digits.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A case sees one way to run. */
static int32_t g_isa, g_dtype;

static how here(void)
{
    return (how){.isa = g_isa};
}

static void everywhere(void (*one)(void))
{
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    for (int i = 0; i < 2 * n; i++) {
        g_isa = isa[i / 2];
        g_dtype = i % 2 ? QKV_F64 : QKV_F32;
        one();
    }
}

#define assert_close(got, want) close_at(__LINE__, got, want, 1.0)
/* probes add up elements; slack counts them */
#define assert_close_sum(got, want, slack) close_at(__LINE__, got, want, slack)

static void close_at(int line, double got, double want, double slack)
{
    const double f32 = 2e-6 * slack + 2e-5 * fabs(want);
    const double f64 = 1e-9 * slack * 0.1 + 6e-10 * fabs(want); /* ten digits are printed */
    const double bound = g_dtype == QKV_F64 ? f64 : f32;
    if (got == want || fabs(got - want) <= bound) return;
    fail_msg("line %d, isa %d, type %d: %.12g, wanted %.12g within %.2g", line, (int)g_isa,
             (int)g_dtype, got, want, bound);
}

static double out_at(const answer *a, int64_t i)
{
    return get_at(a->out, g_dtype, i);
}

static double lse_at(const answer *a, int64_t i)
{
    return get_at(a->lse, g_dtype, i);
}

static void fill(void *x, int64_t n, double value)
{
    for (int64_t i = 0; i < n; i++) put_at(x, g_dtype, i, value);
}

static void set(void *x, int64_t n, const double *value)
{
    for (int64_t i = 0; i < n; i++) put_at(x, g_dtype, i, value[i]);
}

/* ---- precision ------------------------------------------------------------------------------ */

static void c15(void)
{
    prob p = prob_new(g_dtype, 1, 1, 1, 1, 3, 64, 2);
    fill(p.q, 64, 5e8);
    for (int i = 0; i < 192; i++) put_at(p.k, g_dtype, i, i < 64 ? 5e8 : i < 128 ? -5e8 : 4.999e8);
    set(p.v, 6, (const double[]){1, 2, 3, 4, 5, 6});
    answer a = prob_run(&p, here());
    assert_true(out_at(&a, 0) == 1 && out_at(&a, 1) == 2); /* exactly */
    assert_close(lse_at(&a, 0), 2e18);
    answer_free(&a);
    prob_free(&p);
}

static void c18(void)
{
    prob p = prob_new(g_dtype, 1, 1, 1, 1, 2, 1, 1);
    fill(p.q, 1, 4096);
    set(p.k, 2, (const double[]){1 + 0x1p-12, 1});
    set(p.v, 2, (const double[]){1, 0});
    prob_scale(&p, 1);
    answer a = prob_run(&p, here());
    /* in float32 one rounding of log2 e moves 4096 by 4096 * 2^-25 */
    if (g_dtype == QKV_F64) assert_close(out_at(&a, 0), 0.7310585786);
    if (fabs(out_at(&a, 0) - 0.7310585786) > 1e-4) fail_msg("C18: %.9g", out_at(&a, 0));
    assert_close(lse_at(&a, 0), 4097.3132616875);
    answer_free(&a);
    prob_free(&p);
}

static void c19(void)
{
    static const double step[4] = {0.5, -0.5, 7.9, 8.1};
    for (int i = 0; i < 4; i++) {
        prob p = prob_new(g_dtype, 1, 1, 1, 1, 1024, 1, 1);
        fill(p.q, 1, 1);
        prob_scale(&p, 1);
        for (int j = 0; j < 1024; j++) {
            put_at(p.k, g_dtype, j, step[i] > 0 ? step[i] * j : -step[i] * (1023 - j));
            put_at(p.v, g_dtype, j, j);
        }
        answer a = prob_run(&p, here());
        long double out, lse, absolute;
        oracle_row(&p, 0, 0, 0, &out, &lse, &absolute);
        assert_close(out_at(&a, 0), (double)out);
        if (g_dtype == QKV_F64) assert_true(fabs(out_at(&a, 0) / (double)out - 1) < 2e-13);
        if (step[i] == 0.5) assert_close((double)out, 1021.4585059175);
        if (step[i] == -0.5) assert_close((double)out, 1.5414940825);
        if (fabs(step[i]) == 0.5) assert_close(lse_at(&a, 0), 512.4327521296);
        answer_free(&a);
        prob_free(&p);
    }
}

/* A scale of ln 2 makes a score of n weigh 2^n: exact for integers however large, on both sides of
 * where the rounding by addition ends (2^21, 2^50). */
static void large_integers(void)
{
    static const double f32[] = {0, 100, 2097148, 2097153, 4194301, 8388600, 16777208};
    static const double f64[] = {0,          3e7,        0x1p50 - 5, 0x1p50 + 1,
                                 0x1p51 - 3, 0x1p52 - 9, 0x1p53 - 8};
    if (g_isa == QKV_ISA_REFERENCE) return; /* e^x of such a number is no test of it */
    for (int i = 0; i < 14; i++) {
        const double base = (i % 2 ? -1 : 1) * (g_dtype == QKV_F64 ? f64 : f32)[i / 2];
        prob p = prob_new(g_dtype, 1, 1, 1, 1, 131, 1, 1);
        prob_scale(&p, 0.6931471805599453);
        put_at(p.q, g_dtype, 0, 1);
        for (int j = 0; j < 131;
             j++) { /* four weigh 1/2, 1/4, 1/8, 1/16 of 2^base; the others nothing */
            put_at(p.k, g_dtype, j,
                   base - (j % 43 == 0 ? 1 + j / 43 : 300 + 3000 * (g_dtype == QKV_F64)));
            put_at(p.v, g_dtype, j, j % 43 == 0 ? j / 43 : 1e4);
        }
        answer a = prob_run(&p, here());
        const double want = (0.25 + 2 * 0.125 + 3 * 0.0625) / 0.9375, got = out_at(&a, 0);
        if (fabs(got / want - 1) > (g_dtype == QKV_F64 ? 3e-16 : 1.3e-7)) {
            fail_msg("around %.17g: %.9g, wanted %.9g", base, got, want);
        }
        answer_free(&a);
        prob_free(&p);
    }
}

static void assert_one_ulp(double got, double want)
{
    const double ulp = g_dtype == QKV_F64 ? 0x1p-52 : 0x1p-23;
    if (fabs(got - want) > ulp * fabs(want)) fail_msg("C20: %.17g, wanted %.17g", got, want);
}

static void c20(void)
{
    for (int i = 0; i < 2; i++) {
        /* one key; and 65 keys of which row 0 sees the first */
        prob p = prob_new(g_dtype, 1, 1, 1, 1, i ? 65 : 1, 3, 3);
        set(p.q, 3, (const double[]){-2.705, 2.4375, 4.84375});
        fill_gen(p.k, g_dtype, prob_nk(&p), 2);
        fill_gen(p.v, g_dtype, prob_nv(&p), 3);
        if (i) prob_causal(&p, 0);
        answer a = prob_run(&p, here());
        for (int c = 0; c < 3; c++) assert_one_ulp(out_at(&a, c), get_at(p.v, g_dtype, c));
        answer_free(&a);
        prob_free(&p);
    }
}

/* A zero is written as +0: from values of -0, and from one below 0 that rounds to zero. */
static void zeros(void)
{
    for (int i = 0; i < 2; i++) {
        prob p = prob_new(g_dtype, 1, 2, 1, 5, 140, 4, 7); /* q = 0: every key weighs 1/140 */
        fill_gen(p.k, g_dtype, prob_nk(&p), 2);
        fill(p.v, prob_nv(&p), -0.0);
        for (int c = 0; i == 1 && c < 7; c++) {
            put_at(p.v, g_dtype, 3 * 7 + c, g_dtype == QKV_F64 ? -0x1p-1074 : -0x1p-149);
        }
        answer a = prob_run(&p, here());
        for (int64_t j = 0; j < prob_nout(&p); j++) assert_true(is_plus_zero(a.out, g_dtype, j));
        answer_free(&a);
        prob_free(&p);
    }
}

static void c22(void)
{
    prob p = prob_new(g_dtype, 1, 1, 1, 1, 1, 4, 1);
    fill_gen(p.q, g_dtype, 4, 1);
    fill_gen(p.k, g_dtype, 4, 2);
    const double tiny = g_dtype == QKV_F64 ? 1e-310 : 1e-40;
    put_at(p.v, g_dtype, 0, tiny);
    answer a = prob_run(&p, here());
    assert_memory_equal(a.out, p.v, type_size(g_dtype)); /* subnormals are kept */
    volatile double x = 1e-310;
    assert_true(x * 0.5 != 0);
    answer_free(&a);
    prob_free(&p);
}

/* ---- causal alignment ----------------------------------------------------------------------- */

static void c24(void)
{
    static const double tl_out[4] = {-0.15625, 0, -0.0251462005, -0.2476405102};
    static const double tl_lse[2] = {-0.1154785156, 0.6120094642};
    static const double br_out[4] = {0.2408980611, -0.1849332314, 0.2440485154, -0.1190152236};
    static const double br_lse[2] = {1.4827394663, 1.7160339763};
    prob p = prob_new(g_dtype, 1, 1, 1, 2, 5, 4, 2);
    prob_gen(&p, 11, 12, 13);
    for (int br = 0; br < 2; br++) {
        prob_causal(&p, br ? 3 : 0);
        answer a = prob_run(&p, here());
        for (int i = 0; i < 4; i++) assert_close(out_at(&a, i), br ? br_out[i] : tl_out[i]);
        for (int i = 0; i < 2; i++) assert_close(lse_at(&a, i), br ? br_lse[i] : tl_lse[i]);
        answer_free(&a);
    }
    /* C25: the first query alone, top-left and as the last position */
    prob one = prob_rows(&p, 0, 1);
    one.q_offset = 0;
    answer a = prob_run(&one, here());
    assert_close(out_at(&a, 0), -0.15625);
    assert_close(out_at(&a, 1), 0);
    answer_free(&a);
    one.q_offset = 4;
    a = prob_run(&one, here());
    assert_close(out_at(&a, 0), 0.1980474755);
    assert_close(out_at(&a, 1), -0.1938356157);
    one.use = 0;
    answer b = prob_run(&one, here());
    assert_same_answer(&a, &b, "C25: the last position sees what no mask shows");
    answer_free(&a);
    answer_free(&b);
    prob_free(&one);
    prob_free(&p);
}

static void c26(void)
{
    prob p = prob_new(g_dtype, 1, 1, 1, 5, 2, 4, 2);
    prob_gen(&p, 11, 12, 13);
    prob_causal(&p, -3); /* bottom-right */
    answer a = prob_run(&p, here());
    for (int i = 0; i < 3; i++) {
        assert_true(is_plus_zero(a.out, g_dtype, 2 * i) && is_plus_zero(a.out, g_dtype, 2 * i + 1));
        assert_true(lse_at(&a, i) == -(double)INFINITY);
    }
    assert_close(out_at(&a, 6), -0.15625);
    assert_close(out_at(&a, 7), 0);
    assert_close(out_at(&a, 8), -0.0387170490);
    assert_close(out_at(&a, 9), -0.2220066852);
    answer_free(&a);
    p.q_offset = 0;
    a = prob_run(&p, here());
    assert_close(out_at(&a, 4), 0.0159294929);
    assert_close(out_at(&a, 5), -0.3252279310);
    answer_free(&a);
    /* far offsets: nothing seen, all seen */
    p.q_offset = -(INT64_C(1) << 62);
    a = prob_run(&p, here());
    for (int i = 0; i < 10; i++) assert_true(is_plus_zero(a.out, g_dtype, i));
    answer_free(&a);
    p.q_offset = INT64_C(1) << 62;
    a = prob_run(&p, here());
    p.use = 0;
    answer b = prob_run(&p, here());
    assert_same_answer(&a, &b, "an offset beyond the keys");
    answer_free(&a);
    answer_free(&b);
    prob_free(&p);
}

/* ---- logarithm, heads, scale ---------------------------------------------------------------- */

static void c54(void)
{
    prob p = prob_new(g_dtype, 1, 2, 1, 1, 2, 4, 4);
    fill_gen(p.k, g_dtype, 8, 2); /* q stays zero */
    answer a = prob_run(&p, here());
    for (int h = 0; h < 2; h++) assert_close(lse_at(&a, h), 0.69314718055994531);
    answer_free(&a);
    prob_free(&p);
}

static void c58(void)
{
    prob p = prob_new(g_dtype, 1, 4, 2, 1, 3, 4, 1);
    for (int i = 0; i < 6; i++) put_at(p.v, g_dtype, i, i < 3 ? 1 : 2);
    answer a = prob_run(&p, here());
    for (int h = 0; h < 4; h++) assert_one_ulp(out_at(&a, h), h < 2 ? 1 : 2);
    answer_free(&a);
    prob_free(&p);
}

static void c64(void)
{
    prob p = prob_new(g_dtype, 1, 1, 1, 1, 4, 80, 1);
    prob_gen(&p, 81, 82, 83);
    answer a = prob_run(&p, here());
    assert_close(out_at(&a, 0), 0.2067673528);
    answer_free(&a);
    prob_free(&p);
}

static void c91(void)
{
    prob p = prob_new(g_dtype, 1, 2, 2, 3, 5, 64, 64);
    prob_gen(&p, 81, 82, 83);
    answer usual = prob_run(&p, here());
    prob_scale(&p, 0.125); /* 1 / sqrt(64) */
    answer same = prob_run(&p, here());
    assert_same_answer(&usual, &same, "C91: the usual scale, said aloud");
    p.scale = 0.25;
    answer other = prob_run(&p, here());
    assert_memory_not_equal(usual.out, other.out, other.out_bytes);
    /* a scale of 0 is not "unset": every key weighs the same */
    p.scale = 0;
    answer flat = prob_run(&p, here());
    for (int c = 0; c < 64; c++) {
        double mean = 0;
        for (int j = 0; j < 5; j++) mean += get_at(p.v, g_dtype, j * 64 + c) / 5;
        assert_close(out_at(&flat, c), mean);
    }
    assert_close(lse_at(&flat, 0), log(5));
    /* a negative scale is the same as a negative query */
    p.scale = -0.125;
    answer negative = prob_run(&p, here());
    p.scale = 0.125;
    for (int64_t i = 0; i < prob_nq(&p); i++) put_at(p.q, g_dtype, i, -get_at(p.q, g_dtype, i));
    answer turned = prob_run(&p, here());
    assert_same_answer(&negative, &turned, "C91: negative scale");
    answer_free(&usual);
    answer_free(&same);
    answer_free(&other);
    answer_free(&flat);
    answer_free(&negative);
    answer_free(&turned);
    prob_free(&p);
}

/* ---- sweeps over sizes ----------------------------------------------------------------------- */

static void c63(void)
{
    static const struct {
        int d;
        double out, lse;
    } want[] = {{1, -0.3209465463, -3.301550617},    {3, -0.7372114671, -3.188827782},
                {7, 0.8825327703, -3.155815497},     {8, -0.5765666832, -3.25711851},
                {9, 2.082886708, -3.307548073},      {15, -2.336743835, -3.274244272},
                {16, 1.795125229, -3.466489675},     {17, -1.355479688, -3.323653542},
                {33, 3.389054675, -3.078767844},     {63, 0.02600677469, -3.022683952},
                {64, 4.70923069, -3.265361553},      {65, -1.490213986, -3.005879287},
                {80, -1.412472108, -3.162765016},    {88, 5.210218604, -3.476300205},
                {96, -1.239978914, -3.361281647},    {128, 4.380001115, -3.320037123},
                {129, 0.001625326224, -3.282275496}, {192, -0.4817056799, -3.497639663},
                {256, 8.409232726, -3.17186258},     {512, 4.652971676, -2.949166064},
                {576, 2.205617382, -3.46028201},     {1088, 9.259270806, -3.028511056}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        prob p = prob_new(g_dtype, 1, 2, 2, 3, 5, want[i].d, want[i].d);
        prob_gen(&p, 81, 82, 83);
        answer a = prob_run(&p, here());
        assert_close_sum(probe(a.out, g_dtype, prob_nout(&p)), want[i].out, 8);
        assert_close_sum(probe(a.lse, g_dtype, prob_nlse(&p)), want[i].lse, 8);
        answer_free(&a);
        prob_free(&p);
    }
}

static void c68(void)
{
    static const struct {
        int s;
        double out, lse;
    } want[] = {{1, -0.4934082031, -0.186174431},  {2, -1.025796106, -0.2164062239},
                {7, -1.012578463, -1.578635273},   {9, -0.2913935861, -1.37377542},
                {31, -0.6998424422, -2.087891463}, {33, -0.9039632566, -4.317881706},
                {63, -1.252297263, -13.97050626},  {65, -1.275345988, -11.47302205},
                {127, -1.193953314, 23.14271115},  {129, -1.142956949, 19.68079214},
                {255, -1.202381087, -17.42603453}, {257, -1.228910354, -24.9901925}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        prob p = prob_new(g_dtype, 1, 1, 1, want[i].s, want[i].s, 8, 8);
        prob_gen(&p, 141, 142, 143);
        prob_causal(&p, 0);
        answer a = prob_run(&p, here());
        assert_close_sum(probe(a.out, g_dtype, prob_nout(&p)), want[i].out, 8);
        assert_close_sum(probe(a.lse, g_dtype, prob_nlse(&p)), want[i].lse, 16);
        answer_free(&a);
        prob_free(&p);
    }
}

/* C66: each size 0 in turn, with NULL for what has no elements. */
static void c66(void)
{
    for (int z = 0; z < 5; z++) {
        prob p = prob_new(g_dtype, z == 0 ? 0 : 2, z == 1 ? 0 : 2, z == 1 ? 0 : 2, z == 2 ? 0 : 2,
                          z == 3 ? 0 : 2, 2, z == 4 ? 0 : 2);
        prob_gen(&p, 1, 2, 3);
        for (int causal = 0; causal < 2; causal++) {
            if (causal) prob_causal(&p, 0);
            answer a = prob_run(&p, here()); /* a block without elements has base NULL */
            for (int64_t i = 0; i < prob_nout(&p); i++) {
                if (z == 3) assert_true(is_plus_zero(a.out, g_dtype, i));
            }
            for (int64_t i = 0; i < prob_nlse(&p); i++) {
                if (z == 3) assert_true(lse_at(&a, i) == -(double)INFINITY);
                if (z == 4) assert_true(isfinite(lse_at(&a, i))); /* lse is still wanted */
            }
            answer_free(&a);
        }
        prob_free(&p);
    }
    /* many queries upon no keys, more than a tile of them */
    prob p = prob_new(g_dtype, 1, 1, 1, 200, 0, 8, 24);
    prob_gen(&p, 1, 2, 3);
    answer a = prob_run(&p, here());
    for (int64_t i = 0; i < prob_nout(&p); i++) assert_true(is_plus_zero(a.out, g_dtype, i));
    answer_free(&a);
    prob_free(&p);
    /* nothing to do, though there are keys for several threads: a workspace of no byte is NULL */
    for (int z = 0; z < 4; z++) {
        p = prob_new(g_dtype, z != 0, z == 1 ? 0 : 2, z == 1 ? 0 : 2, z == 2 ? 0 : 1, 9000, 2,
                     z == 3 ? 0 : 2);
        prob_gen(&p, 1, 2, 3);
        how h = here();
        h.threads = 3;
        h.exec = EXEC_BACKWARDS;
        a = prob_run(&p, h);
        answer_free(&a);
        prob_free(&p);
    }
}

/* ---- one call and another -------------------------------------------------------------------- */

static void c76(void)
{
    prob p = prob_new(g_dtype, 1, 2, 2, 3, 5, 64, 64), q = prob_copy(&p);
    prob_gen(&p, 81, 82, 83);
    prob_gen(&q, 84, 85, 86);
    answer a = prob_run(&p, here());
    const uint64_t before = bytes_hash(a.out, a.out_bytes);
    answer b = prob_run(&q, here());
    assert_true(bytes_hash(a.out, a.out_bytes) == before);
    answer c = prob_run(&p, here());
    assert_same_answer(&a, &c, "C76: the same call again");
    answer_free(&a);
    answer_free(&b);
    answer_free(&c);
    prob_free(&p);
    prob_free(&q);
}

static void batch_of_seven(int64_t sk)
{
    prob one = prob_new(g_dtype, 1, 2, 2, 3, sk, 64, 64);
    prob_gen(&one, 81, 82, 83);
    answer alone = prob_run(&one, here());
    const size_t n = type_size(g_dtype);
    prob all = prob_new(g_dtype, 7, 2, 2, 3, sk, 64, 64);
    prob_gen(&all, 91, 92, 93);
    for (int at = 0; at < 7; at += 3) {
        memcpy((char *)all.q + (size_t)(at * prob_nq(&one)) * n, one.q, (size_t)prob_nq(&one) * n);
        memcpy((char *)all.k + (size_t)(at * prob_nk(&one)) * n, one.k, (size_t)prob_nk(&one) * n);
        memcpy((char *)all.v + (size_t)(at * prob_nv(&one)) * n, one.v, (size_t)prob_nv(&one) * n);
    }
    for (int length = 0; length <= (sk < 100 ? 20 : 1); length++) {
        /* 0: the neighbours are as long; else this long */
        if (length > 0) all.use |= QKV_USE_KV_LEN;
        for (int at = 0; at < 7; at++) all.mask.kv_len[at] = at % 3 == 0 ? sk : length;
        answer batch = prob_run(&all, (how){.isa = g_isa, .threads = 2, .exec = EXEC_BACKWARDS});
        for (int at = 0; at < 7; at += 3) {
            assert_memory_equal((char *)batch.out + (size_t)at * alone.out_bytes, alone.out,
                                alone.out_bytes);
            assert_memory_equal((char *)batch.lse + (size_t)at * alone.lse_bytes, alone.lse,
                                alone.lse_bytes);
        }
        answer_free(&batch);
    }
    answer_free(&alone);
    prob_free(&one);
    prob_free(&all);
}

static void c77(void)
{
    batch_of_seven(20);
    if (!isa_is_slow(g_isa, g_dtype) && g_isa != QKV_ISA_REFERENCE) {
        batch_of_seven(sanitized() ? 4200 : 19802);
    }
}

static void c79(void)
{
    static const int chunks[5][3] = {{1, 1, 1}, {2, 2, 2}, {7, 7, 7}, {64, 1, 1}, {65, 65, 65}};
    prob p = prob_new(g_dtype, 1, 2, 2, 65, 65, 16, 16);
    prob_gen(&p, 131, 132, 133);
    prob_causal(&p, 0);
    answer whole = prob_run(&p, here());
    assert_close_sum(probe(whole.out, g_dtype, prob_nout(&p)), -1.2717465660, 20);
    assert_close_sum(probe(whole.lse, g_dtype, prob_nlse(&p)), 1.6275885924, 20);
    const size_t n = type_size(g_dtype);
    for (int c = 0; c < 5; c++) {
        answer sum = prob_run(&p, here());
        memset(sum.out, 0, sum.out_bytes);
        memset(sum.lse, 0, sum.lse_bytes);
        for (int64_t at = 0, step; at < 65; at += step) {
            step = at == 0 ? chunks[c][0] : chunks[c][1];
            if (at + step > 65) step = 65 - at;
            prob part = prob_rows(&p, at, step);
            answer a = prob_run(&part, here());
            for (int64_t h = 0; h < 2; h++) {
                memcpy((char *)sum.out + (size_t)((h * 65 + at) * 16) * n,
                       (char *)a.out + (size_t)(h * step * 16) * n, (size_t)(step * 16) * n);
                memcpy((char *)sum.lse + (size_t)(h * 65 + at) * n,
                       (char *)a.lse + (size_t)(h * step) * n, (size_t)step * n);
            }
            answer_free(&a);
            prob_free(&part);
        }
        assert_same_answer(&whole, &sum, "C79, chunks of %d", chunks[c][1]);
        answer_free(&sum);
    }
    answer_free(&whole);
    prob_free(&p);
}

typedef struct named {
    const char *name;
    void (*one)(void);
} named;

static named all[] = {
    {"C15 enormous finite values", c15},
    {"C18 no reduced precision", c18},
    {"C19 scores that grow along the row", c19},
    {"large integer scores", large_integers},
    {"C20 one key", c20},
    {"zeros have no sign", zeros},
    {"C22 subnormals are kept", c22},
    {"C24 C25 causal alignment", c24},
    {"C26 more queries than keys", c26},
    {"C54 natural logarithm", c54},
    {"C58 grouped heads", c58},
    {"C63 head dimensions", c63},
    {"C64 scale of the true dimension", c64},
    {"C66 zero sizes", c66},
    {"C68 lengths around borders", c68},
    {"C76 earlier results stay", c76},
    {"C77 batch invariance", c77},
    {"C79 chunked prefill", c79},
    {"C91 the scale is heeded", c91},
};
enum { COUNT = sizeof all / sizeof all[0] };

static void run_named(void **state)
{
    everywhere(((const named *)*state)->one);
}

int main(void)
{
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++) {
        tests[i] = (struct CMUnitTest){all[i].name, run_named, NULL, NULL, &all[i]};
    }
    return cmocka_run_group_tests_name("cases", tests, NULL, NULL);
}
