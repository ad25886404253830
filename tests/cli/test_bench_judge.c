/* SPDX-License-Identifier: MIT */
/* test_bench_judge.c - the verdicts of `qkv bench` on rows that are made up, where each is known.
 *
 * Nothing is measured. The worst of several rows counts; a noisy row, also one that is only compared
 * with, gives no verdict; rows that were not measured have no target.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/bench_rows.h"

#include <string.h>

static const bench_limits limits = {
    .threads = 2, .peak_f32 = {100, 200}, .peak_f64 = {50, 100}, .read = {10, 20}};

static bench_row row(int64_t s, bench_mask mask, int all, double share)
{
    bench_row r = {.what = "prefill", .dtype = QKV_F32, .heads = 16, .kv_heads = 16, .mask = mask};
    r.rows = r.s = s;
    r.d = 128;
    r.all = all;
    r.share = share;
    r.gflops = share * limits.peak_f32[all];
    r.flops = 4 * bench_row_pairs(&r) * 16 * 128;
    return r;
}

/* The target whose name begins so; fails when there is none, or two. */
static bench_target judged(const bench_row *rows, int n, int32_t isa, const char *what)
{
    bench_target targets[BENCH_MAX_TARGETS], found = {.unit = NULL};
    const int count = bench_judge(targets, &limits, rows, n, isa);
    for (int i = 0; i < count; i++)
        if (!strncmp(targets[i].what, what, strlen(what))) {
            assert_null(found.unit);
            found = targets[i];
        }
    assert_non_null(found.unit);
    return found;
}

static void expect(const bench_row *rows, int n, const char *what, double reached,
                   const char *verdict)
{
    const bench_target t = judged(rows, n, QKV_ISA_AVX512, what);
    assert_float_equal(t.reached, reached, 1e-9);
    assert_string_equal(t.verdict, verdict);
}

static void test_share(void **state)
{
    (void)state;
    static const char what[] = "prefill f32 full, S >= 2048, d = 128";
    bench_row rows[] = {row(2048, BENCH_FULL, 0, .96), row(8192, BENCH_FULL, 0, .951),
                        row(2048, BENCH_FULL, 1, .5), row(256, BENCH_FULL, 0, .9)};
    expect(rows, 4, what, .951, "yes");
    rows[1].share = .925;
    expect(rows, 4, what, .925, "close");
    assert_string_equal(judged(rows, 4, QKV_ISA_AVX2, what).verdict, "close");
    rows[1].share = .94;
    assert_string_equal(judged(rows, 4, QKV_ISA_AVX2, what).verdict, "yes");
    rows[1].share = .919;
    expect(rows, 4, what, .919, "no");
    rows[0].noisy = true;
    expect(rows, 4, what, .919, "noisy");
    expect(rows, 4, "prefill f32 full, S = 256", .9, "close");
    expect(rows, 4, "1 -> 2 threads, prefill, S >= 512", .5 / .96, "noisy");
}

static void test_against_full(void **state)
{
    (void)state;
    bench_row rows[] = {row(2048, BENCH_FULL, 0, .8),    row(2048, BENCH_CAUSAL, 0, .785),
                        row(2048, BENCH_BOOL, 0, .7),    row(2048, BENCH_BIAS, 0, .72),
                        row(8192, BENCH_WINDOW, 0, .64), row(8192, BENCH_FULL, 0, .8)};
    expect(rows, 6, "prefill f32 causal, S >= 2048: below full", .015, "yes");
    expect(rows, 6, "bool mask, half", .5 * .8 / .7, "close");
    expect(rows, 6, "bias, half", .5 * .8 / .72, "yes");
    expect(rows, 6, "window 256", .8 / .64, "no");
    rows[5].noisy = true; /* what is compared with counts too */
    expect(rows, 6, "window 256", .8 / .64, "noisy");
    expect(rows, 6, "bool mask, half", .5 * .8 / .7, "close");
}

static void test_types(void **state)
{
    (void)state;
    bench_row rows[] = {row(2048, BENCH_FULL, 0, .8), row(2048, BENCH_FULL, 0, .78)};
    rows[1].dtype = QKV_F16;
    expect(rows, 2, "prefill f16", .78 / .8, "yes");
    rows[1].dtype = QKV_BF16;
    rows[1].gflops = 70;
    expect(rows, 2, "prefill bf16", .875, "no");
}

/* One query row: the lower of the two limits. */
static void test_limit(void **state)
{
    (void)state;
    bench_row r = row(4096, BENCH_FULL, 0, 0);
    assert_float_equal(bench_row_limit(&r, &limits), 100, 0);
    r.flops = 4;
    r.bytes = 1;
    assert_float_equal(bench_row_limit(&r, &limits), 40, 1e-9); /* 10 GB/s, 4 FLOPs a byte */
    r.read = 12;
    assert_float_equal(bench_row_limit(&r, &limits), 48, 1e-9);
    r.flops = 40;
    assert_float_equal(bench_row_limit(&r, &limits), 100, 1e-9);
    r.what = "decode";
    r.heads = 64;
    r.kv_heads = 8;
    r.share = .76;
    r.gflops = 76;
    expect(&r, 1, "one query row, G = 8, f32", .76, "yes");
}

static void test_tiny_and_memory(void **state)
{
    (void)state;
    bench_row r = row(16, BENCH_FULL, 0, .1);
    r.what = "tiny";
    r.flops = 4 * 16 * 16 * 64;
    r.gflops = 1e-9 * r.flops / 3.05e-6;
    r.workspace = 2.1e6;
    expect(&r, 1, "S = 16", 3.05, "close");
    expect(&r, 1, "memory", 2.1, "no");
    r.all = 1;
    expect(&r, 1, "memory", 1.05, "yes");
}

static void test_nothing(void **state)
{
    (void)state;
    bench_target targets[BENCH_MAX_TARGETS];
    const bench_row r = row(2048, BENCH_FULL, 0, .8);
    assert_int_equal(bench_judge(targets, &limits, &r, 1, QKV_ISA_SCALAR), 0);
    /* the share, and the memory that every row has */
    assert_int_equal(bench_judge(targets, &limits, &r, 1, QKV_ISA_AVX2), 2);
}

/* The list is not full: a row that does not fit would be left out without a word. */
static void test_list(void **state)
{
    (void)state;
    static bench_row rows[BENCH_MAX_ROWS];
    const int n = bench_list(rows, false, 2);
    assert_in_range(n, 60, BENCH_MAX_ROWS - 1);
    assert_in_range(bench_list(rows, true, 2), 20, 39);
    const int one = bench_list(rows, false, 1);
    assert_true(one < n);
    for (int i = 0; i < one; i++) {
        assert_int_equal(rows[i].all, 0);
        assert_true(rows[i].flops > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_against_full),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_tiny_and_memory),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
