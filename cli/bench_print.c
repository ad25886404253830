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

static void put_head(const char *mask, const char *speed)
{
    printf("%-20s%5s%4s %-5s%7s%8s%8s%8s%8s\n", "", "S", "d", mask, "threads", speed, "median",
           "spread", "share");
}

/* Speeds in `unit` times 10^9 operations a second. */
static void put_row(const bench_row *r, const char *mask, double unit, int32_t threads)
{
    const char *const type = bench_dtype_name(r->dtype);
    const int early = strlen(type) > 3; /* S may have 5 digits: bf16 begins a column before */
    printf("%-*s %-*s%5lld%4lld %-6s%6d", 15 - early, r->what, 4 + early, type, (long long)r->s,
           (long long)r->d, mask, r->all ? threads : 1);
    put_fixed(r->gflops * unit, 1, 8);
    put_fixed(r->median * unit, 1, 8);
    if (r->nsamples > 1)
        put_percent(r->spread, 6);
    else
        printf("%8s", "-");
    put_percent(r->share, 6);
    printf("%s\n", r->noisy ? " noisy" : "");
}

static bool put_rows(const bench_limits *limits, const bench_row *rows, int nrows, bool reading)
{
    bool any = false;
    for (int i = 0; i < nrows; i++) {
        const bench_row *const r = &rows[i];
        if ((r->bytes > 0) != reading) continue;
        if (!any && reading) {
            printf("\nOne query row, H heads on kv heads of keys: GB/s of K and V\n\n");
            put_head("H/kv", "GB/s");
        }
        any = true;
        char heads[24];
        snprintf(heads, sizeof heads, "%lld/%lld", (long long)r->heads, (long long)r->kv_heads);
        if (reading)
            put_row(r, heads, r->bytes / r->flops, limits->threads);
        else
            put_row(r, bench_mask_name(r->mask), 1, limits->threads);
    }
    return any;
}

static void put_amount(const char *unit, double x, int width)
{
    if (!strcmp(unit, "share")) {
        put_percent(x, width - 2);
    } else if (!strcmp(unit, "points")) {
        put_fixed(100 * x, 1, width - 3);
        printf(" pt");
    } else {
        const bool bare = !strcmp(unit, "ratio");
        put_fixed(x, 2, bare ? width : width - 3);
        if (!bare) printf(" %s", unit);
    }
}

static void put_targets(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa)
{
    bench_target targets[BENCH_MAX_TARGETS];
    const int n = bench_judge(targets, limits, rows, nrows, isa);
    if (n == 0) return;
    printf("\n%-48s%10s%12s  %s\n", "Targets for these kernels, 1 thread", "target", "reached",
           "verdict");
    for (int i = 0; i < n; i++) {
        const bench_target *const t = &targets[i];
        printf("%-45s %s", t->what, t->most ? "<=" : ">=");
        put_amount(t->unit, t->target, 10);
        put_amount(t->unit, t->reached, 12);
        printf("  %s\n", t->verdict);
    }
}

static void put_notes(const bench_row *rows, int nrows, bool reading)
{
    bool noisy = false, few = false, tiny = false, each = false;
    for (int i = 0; i < nrows; i++) {
        noisy |= rows[i].noisy;
        few |= rows[i].heads == 2;
        tiny |= rows[i].heads == 1;
        each |= rows[i].mask == BENCH_BOOL_HEADS || rows[i].mask == BENCH_BIAS_HEADS;
    }
    printf("\nGF/s: the best run; share: its part of the FMA peak of that type and thread\n"
           "count; spread: between the quartiles, of the median (- after a single run).\n"
           "Only live pairs are counted.%s%s\n",
           few ? " S = 8192 has 2 heads." : "", tiny ? " Tiny: 1 head, a plan used again." : "");
    printf("Fed: the peak of multiply-adds that read the first-level cache, as kernels do.\n");
    if (each) printf("bool, bias: half of the 128 x 128 tiles are dead; -h: one for each head.\n");
    if (reading)
        printf("One query row: share of the lower limit, reads of its K and V or the peak.\n");
    if (noisy)
        printf("noisy: the machine's own peak moved by more than 3 %% meanwhile, or other\n"
               "programs took its CPUs; such a row is a figure, no verdict.\n");
}

void bench_print_text(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa)
{
    const int levels = limits->threads > 1 ? 2 : 1;
    for (int all = 0; all < levels; all++)
        put_limit(all ? "" : "FMA peak", all ? limits->threads : 1, limits->peak_f32[all],
                  limits->peak_f64[all]);
    for (int all = 0; all < levels; all++)
        put_limit(all ? "" : "fed", all ? limits->threads : 1, limits->fed_f32[all],
                  limits->fed_f64[all]);
    for (int all = 0; all < levels; all++)
        put_limit(all ? "" : "Read", all ? limits->threads : 1, limits->read[all], 0);

    printf("\nAttention, kernels %s, %d heads, batch 1\n\n", qkv_isa_name(isa), BENCH_HEADS);
    put_head("mask", "GF/s");
    put_rows(limits, rows, nrows, false);
    const bool reading = put_rows(limits, rows, nrows, true);
    put_targets(limits, rows, nrows, isa);
    put_notes(rows, nrows, reading);
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

static void put_json_row(const bench_row *r, const bench_limits *limits, bool first)
{
    const double peak = (bench_row_is_wide(r) ? limits->peak_f64 : limits->peak_f32)[r->all];
    const bool reads = bench_row_limit(r, limits) < peak;
    printf("%s\n    {\"what\": \"%s\", \"dtype\": \"%s\", \"s\": %lld, \"d\": %lld, \"h\": %lld, "
           "\"mask\": \"%s\", \"threads\": %d,\n     ",
           first ? "" : ",", r->what, bench_dtype_name(r->dtype), (long long)r->s, (long long)r->d,
           (long long)r->heads, bench_mask_name(r->mask), r->all ? limits->threads : 1);
    put_json_number("gflops", r->gflops);
    printf(", ");
    put_json_number("median", r->median);
    printf(", ");
    put_json_number("spread", r->spread);
    printf(", ");
    put_json_number("share", r->share);
    printf(", \"noisy\": %s,\n     \"rows\": %lld, \"h_kv\": %lld, \"limit\": \"%s\", ",
           r->noisy ? "true" : "false", (long long)r->rows, (long long)r->kv_heads,
           reads ? "read" : "fma");
    put_json_number("limit_gflops", bench_row_limit(r, limits));
    printf(", ");
    put_json_number("seconds", bench_row_seconds(r));
    printf("}");
}

void bench_print_json(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa)
{
    printf("{\n  \"isa\": \"%s\",\n  \"threads\": %d,\n", qkv_isa_name(isa), limits->threads);
    put_json_pair("peak_gflops", limits->peak_f32, limits->threads);
    put_json_pair("peak_gflops_f64", limits->peak_f64, limits->threads);
    put_json_pair("fed_gflops", limits->fed_f32, limits->threads);
    put_json_pair("fed_gflops_f64", limits->fed_f64, limits->threads);
    put_json_pair("read_gbs", limits->read, limits->threads);
    printf("  \"rows\": [");
    for (int i = 0; i < nrows; i++) put_json_row(&rows[i], limits, i == 0);
    printf("\n  ],\n  \"targets\": [");
    bench_target targets[BENCH_MAX_TARGETS];
    const int n = bench_judge(targets, limits, rows, nrows, isa);
    for (int i = 0; i < n; i++) {
        const bench_target *const t = &targets[i];
        printf("%s\n    {\"what\": \"%s\", \"unit\": \"%s\", \"bound\": \"%s\", ", i ? "," : "",
               t->what, t->unit, t->most ? "most" : "least");
        put_json_number("target", t->target);
        printf(", ");
        put_json_number("reached", t->reached);
        printf(", \"verdict\": \"%s\"}", t->verdict);
    }
    printf("\n  ]\n}\n");
}
