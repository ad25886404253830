/* SPDX-License-Identifier: MIT */
/* bench_print.c - the result of `qkv bench` as a table of 80 columns and as JSON.
 *
 * JSON keys are stable (docs/cli.md); non-finite numbers do not occur.
 */
#include "cli/bench_rows.h"
#include "lesson/number.h"

#include <string.h>

static void put_fixed(double x, int digits, int width)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_fixed(text, x, digits, 0);
    printf("%*s", width, text);
}

static void put_percent(double part, int width)
{
    put_fixed(100 * part, 1, width);
    printf(" %%");
}

static void put_limit(const char *label, int32_t threads, double f32, double f64)
{
    printf("%-10s%3d %-8s", label, threads, threads == 1 ? "thread" : "threads");
    put_fixed(f32, 1, 8);
    if (f64 > 0) {
        printf(" GF/s f32");
        put_fixed(f64, 1, 9);
        printf(" GF/s f64\n");
    } else {
        printf(" GB/s\n");
    }
}

void bench_print_text(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa)
{
    const int levels = limits->threads > 1 ? 2 : 1;
    for (int all = 0; all < levels; all++)
        put_limit(all ? "" : "FMA peak", all ? limits->threads : 1, limits->peak_f32[all],
                  limits->peak_f64[all]);
    for (int all = 0; all < levels; all++)
        put_limit(all ? "" : "Read", all ? limits->threads : 1, limits->read[all], 0);

    printf("\nAttention, kernels %s, %d heads, batch 1\n\n", qkv_isa_name(isa), BENCH_HEADS);
    printf("%-19s%5s%4s %-6s%7s%8s%8s%8s%8s\n", "", "S", "d", "mask", "threads", "GF/s", "median",
           "spread", "share");
    bool noisy = false;
    for (int i = 0; i < nrows; i++) {
        const bench_row *const r = &rows[i];
        printf("%-15s %-3s%5lld%4lld %-6s%7d", r->what, r->dtype == QKV_F64 ? "f64" : "f32",
               (long long)r->s, (long long)r->d, r->causal ? "causal" : "full",
               r->all ? limits->threads : 1);
        put_fixed(r->gflops, 1, 8);
        put_fixed(r->median, 1, 8);
        if (r->nsamples > 1)
            put_percent(r->spread, 6);
        else
            printf("%8s", "-");
        put_percent(r->share, 6);
        printf("%s\n", r->noisy ? " noisy" : "");
        noisy |= r->noisy;
    }
    printf("\nGF/s: the best run; share: its part of the FMA peak of that type and thread\n"
           "count; spread: between the quartiles, of the median (- after a single run).\n"
           "Causal counts the live pairs only.\n");
    if (noisy)
        printf("noisy: the machine's own peak moved by more than 3 %% meanwhile, or other\n"
               "programs took its CPUs; such a row is a figure, no verdict.\n");
}

static void put_json_number(const char *key, double x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_shortest(text, x);
    printf("\"%s\": %s", key, text);
}

/* {"1": x, "2": y}, keyed by the number of threads. */
static void put_json_pair(const char *key, const double x[2], int32_t threads)
{
    char count[16];
    printf("  \"%s\": {", key);
    put_json_number("1", x[0]);
    if (threads > 1) {
        snprintf(count, sizeof count, "%d", threads);
        printf(", ");
        put_json_number(count, x[1]);
    }
    printf("},\n");
}

void bench_print_json(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa)
{
    printf("{\n  \"isa\": \"%s\",\n  \"threads\": %d,\n", qkv_isa_name(isa), limits->threads);
    put_json_pair("peak_gflops", limits->peak_f32, limits->threads);
    put_json_pair("peak_gflops_f64", limits->peak_f64, limits->threads);
    put_json_pair("read_gbs", limits->read, limits->threads);
    printf("  \"rows\": [");
    for (int i = 0; i < nrows; i++) {
        const bench_row *const r = &rows[i];
        printf("%s\n    {\"what\": \"%s\", \"dtype\": \"%s\", \"s\": %lld, \"d\": %lld, \"h\": %d, "
               "\"mask\": \"%s\", \"threads\": %d,\n     ",
               i ? "," : "", r->what, r->dtype == QKV_F64 ? "f64" : "f32", (long long)r->s,
               (long long)r->d, BENCH_HEADS, r->causal ? "causal" : "full",
               r->all ? limits->threads : 1);
        put_json_number("gflops", r->gflops);
        printf(", ");
        put_json_number("median", r->median);
        printf(", ");
        put_json_number("spread", r->spread);
        printf(", ");
        put_json_number("share", r->share);
        printf(", \"noisy\": %s}", r->noisy ? "true" : "false");
    }
    printf("\n  ]\n}\n");
}
