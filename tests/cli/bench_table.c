/* SPDX-License-Identifier: MIT */
/* bench_table.c - prints the table of `qkv bench` for rows that are made up: quiet and noisy ones, a
 * row of a single run, figures as wide as they get. demo.py reads it in place of a measurement.
 *
 *     bench_table [THREADS]       2 when not given
 */
#include "cli/bench_rows.h"

#include <stdlib.h>

static bench_row decode_row(void)
{
    bench_row r = {.what = "decode", .dtype = QKV_BF16, .heads = 64, .kv_heads = 8, .rows = 1};
    r.s = 32768;
    r.d = 128;
    r.flops = 4;
    r.bytes = 1;
    r.gflops = 400;
    r.median = 392;
    r.spread = 0.1;
    r.share = 0.75;
    r.nsamples = 9;
    return r;
}

int main(int argc, char **argv)
{
    static const bench_row kinds[] = {
        {.what = "prefill", .gflops = 80.25, .median = 80, .spread = 0.015, .nsamples = 21},
        {.what = "prefill", .gflops = 76, .median = 70.5, .noisy = true, .nsamples = 1},
        {.what = "prefill strided",
         .gflops = 12345.6,
         .median = 11111.1,
         .nsamples = 9,
         .spread = 1},
        {.what = "prefill strided",
         .gflops = 12345.6,
         .median = 11111.1,
         .nsamples = 9,
         .spread = 1,
         .noisy = true},
    };
    const int32_t threads = argc > 1 ? atoi(argv[1]) : 2;
    const bench_limits limits = {
        .threads = threads, .peak_f32 = {90, 12345.6}, .peak_f64 = {45, 6789.1}, .read = {10, 20}};
    bench_row rows[32];
    int n = 0;
    for (int d = 64; d <= 128; d += 64)
        for (int all = 0; all < 2; all++)
            for (int i = 0; i < 4; i++) {
                bench_row *const r = &rows[n++];
                *r = kinds[i];
                r->heads = r->kv_heads = BENCH_HEADS;
                r->dtype = QKV_F32;
                r->s = r->rows = 2048;
                r->d = d;
                r->all = all;
                r->mask = d == 64 ? BENCH_CAUSAL : BENCH_FULL;
                r->share = all ? 1 : r->gflops / 12345.6;
            }
    rows[n] = rows[0];
    rows[n].what = "masked";
    rows[n++].mask = BENCH_BOOL_HEADS;
    rows[n++] = decode_row();
    bench_print_text(&limits, rows, n, QKV_ISA_SCALAR);
    return 0;
}
