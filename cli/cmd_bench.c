/* SPDX-License-Identifier: MIT */
/* cmd_bench.c - `qkv bench`: attention's speed as a share of what this machine can do at all,
 * both measured in the same run.
 *
 * Rows are measured in interleaved rounds, so that a slow minute of the machine falls on all of
 * them. Each measurement stands between two looks at the peak; if those differ by more than 3 %, or
 * other work took the CPUs, the machine moved: it is repeated, three times at most. A row that moved
 * in more than half of its rounds gets no verdict.
 */
#include "cli/bench_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct bench {
    bench_machine machine;
    bench_row rows[BENCH_MAX_ROWS];
    qkv_plan *plan[BENCH_MAX_ROWS];
    int nrows, dropped;
    int rounds;
    double seconds; /* no round begins later than this */
    int32_t isa;
    bench_data data;
    void *workspace;
    size_t workspace_bytes;
} bench;

static const cli_option opt_quick = {
    .name = "quick",
    .kind = CLI_FLAG,
    .help = "Fewer rows and rounds: about 10 seconds in place of a minute",
};
static const cli_option opt_format = {
    .name = "format",
    .kind = CLI_CHOICE,
    .choices = "text|json",
    .fallback = "text",
    .help = "A table, or JSON with the same numbers unrounded",
};

/* ---- what is measured ------------------------------------------------------------------------ */

/* Leaves out what the library does not have, and what takes too long here. */
static int make_plans(bench *b)
{
    qkv_error err = qkv_error_init();
    int kept = 0;
    for (int i = 0; i < b->nrows; i++) {
        bench_row r = b->rows[i];
        const qkv_params p = bench_row_params(&r, b->isa, b->machine.limits.threads);
        const double peak =
            bench_row_is_wide(&r) ? b->machine.limits.peak_f64[0] : b->machine.limits.peak_f32[0];
        if (r.flops > 5e9 * peak) { /* more than about 5 s a run */
            b->dropped++;
            continue;
        }
        const qkv_status status = qkv_plan_create(&b->plan[kept], &p, NULL, &err);
        if (status == QKV_EUNSUPPORTED) continue;
        if (status) return cli_library_error(&err);
        r.workspace = (double)qkv_plan_workspace(b->plan[kept]);
        b->rows[kept++] = r;
        if ((size_t)r.workspace > b->workspace_bytes) b->workspace_bytes = (size_t)r.workspace;
    }
    b->nrows = kept;
    b->workspace = bench_alloc(b->workspace_bytes + 64);
    return b->workspace ? CLI_DONE : cli_failed("no memory for %zu bytes", b->workspace_bytes);
}

/* ---- measuring --------------------------------------------------------------------------------*/

/* Seconds of one call. */
static int run_once(bench *b, int i, double *seconds)
{
    const bench_row *const r = &b->rows[i];
    void *const *const data = b->data.tensor[r->dtype];
    qkv_run_args args = qkv_run_args_init();
    args.q = data[0];
    args.k = data[1];
    args.v = data[2];
    args.out = data[3];
    args.workspace = b->workspace;
    args.workspace_size = qkv_plan_workspace(b->plan[i]);
    args.threads = b->machine.threads[r->all];
    if (r->mask == BENCH_BOOL || r->mask == BENCH_BOOL_HEADS) args.mask = b->data.look;
    if (r->mask == BENCH_BIAS || r->mask == BENCH_BIAS_HEADS) args.bias = b->data.bias;
    qkv_error err = qkv_error_init();
    const double start = bench_now();
    for (int64_t n = 0; n < r->calls; n++)
        if (qkv_run(b->plan[i], &args, &err)) return cli_library_error(&err);
    *seconds = (bench_now() - start) / (double)r->calls;
    return CLI_DONE;
}

/* How often this process lost a CPU to others. */
static long preemptions(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* Plain reads of what a row reads from memory, in between. */
static void look_at_reads(bench *b, bench_row *r)
{
    for (int t = 1; t <= 2 && r->bytes > 0; t++) {
        const double x = bench_read_now(&b->machine, b->data.tensor[r->dtype][t],
                                        (size_t)(r->bytes / 2), r->all);
        if (x > r->read) r->read = x;
    }
}

/* Runs for about 30 ms; keeps the speeds. *moved says whether the peak was not the same before
 * and after, or other work took the CPUs meanwhile (once, and 20 times a second, is normal). */
static int measure(bench *b, int i, double *speed, int *n, bool *moved)
{
    enum { MOST = 16 };
    bench_row *const r = &b->rows[i];
    const bool wide = bench_row_is_wide(r);
    look_at_reads(b, r);
    const double before = bench_peak_now(&b->machine, wide, r->all);
    const long lost = preemptions();
    double total = 0;
    for (*n = 0; *n < MOST && total < 0.03; ++*n) {
        double t;
        const int code = run_once(b, i, &t);
        if (code) return code;
        speed[*n] = t > 0 ? 1e-9 * r->flops / t : 0;
        total += t * (double)r->calls;
    }
    const bool busy = (double)(preemptions() - lost) > 1 + 20 * total;
    const double after = bench_peak_now(&b->machine, wide, r->all);
    const double low = before < after ? before : after;
    const double high = before < after ? after : before;
    *moved = busy || low < 0.97 * high;
    return CLI_DONE;
}

static int measure_round(bench *b, int i)
{
    bench_row *const r = &b->rows[i];
    double speed[16];
    int n = 0;
    bool moved = true;
    for (int attempt = 0; attempt < 4 && moved; attempt++) {
        const int code = measure(b, i, speed, &n, &moved);
        if (code) return code;
        if (bench_now() > b->seconds) break;
    }
    /* samples of a quiet round drive out those of a moving machine, never the other way round */
    if (!moved && r->clean == 0) r->nsamples = 0;
    if (!moved || r->clean == 0)
        for (int k = 0; k < n && r->nsamples < BENCH_MAX_SAMPLES; k++)
            r->sample[r->nsamples++] = speed[k];
    r->clean += !moved;
    r->rounds++;
    return CLI_DONE;
}

static int measure_all(bench *b)
{
    for (int i = 0; i < b->nrows; i++) {
        double t;
        cli_progress(0.2, "measuring attention");
        if (b->rows[i].s > 512) continue;
        const int code = run_once(b, i, &t); /* code and pages in, for the short ones */
        if (code) return code;
    }
    for (int round = 0; round < b->rounds; round++) {
        if (round && bench_now() > b->seconds) break;
        for (int i = 0; i < b->nrows; i++) {
            const int code = measure_round(b, i);
            if (code) return code;
            cli_progress(0.2 + 0.8 * (round + (i + 1.0) / b->nrows) / b->rounds,
                         "measuring attention");
        }
    }
    return CLI_DONE;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at a part of the way through sorted x, between neighbours linearly. */
static double quantile(const double *x, int n, double part)
{
    const double at = part * (n - 1);
    const int low = (int)at;
    const int high = low + 1 < n ? low + 1 : low;
    return x[low] + (x[high] - x[low]) * (at - low);
}

static void summarise(bench_row *r)
{
    qsort(r->sample, (size_t)r->nsamples, sizeof r->sample[0], by_value);
    r->gflops = r->sample[r->nsamples - 1];
    r->median = quantile(r->sample, r->nsamples, 0.5);
    const double low = quantile(r->sample, r->nsamples, 0.25);
    const double high = quantile(r->sample, r->nsamples, 0.75);
    r->spread = (high - low) / r->median;
    r->noisy = 2 * r->clean < r->rounds;
}

/* Fills the shares. One above 1 is a fault: the peak was not found. On a busy machine another
 * search may find it. */
static int compare(bench *b)
{
    const bench_limits *const limits = &b->machine.limits;
    for (int attempt = 0;; attempt++) {
        const bench_row *above = NULL;
        for (int i = 0; i < b->nrows; i++) {
            bench_row *const r = &b->rows[i];
            r->share = r->gflops / bench_row_limit(r, limits);
            if (r->share > 1 && r->bytes > 0) { /* what a row read can be read */
                r->read = 1e-9 * r->bytes / bench_row_seconds(r);
                r->share = r->gflops / bench_row_limit(r, limits);
                if (r->share > 1 && r->share < 1 + 1e-9) r->share = 1; /* rounding */
            }
            if (r->share > 1) above = r;
        }
        if (!above) return CLI_DONE;
        if (attempt == 10)
            return cli_failed("%s, S = %" PRId64 ", d = %" PRId64 ": more than 100 %% of the peak, "
                              "which was not found",
                              above->what, above->s, above->d);
        bench_find_peaks(&b->machine);
    }
}

static int measure_and_print(bench *b, const cli_args *args)
{
    const bool quick = cli_given(args, &opt_quick);
    const double start = bench_now();
    b->rounds = quick ? 3 : 7;
    b->seconds = start + (quick ? 10 : 75);
    int code = bench_find_limits(&b->machine, (size_t)(quick ? 256 : 1024) << 20);
    if (code) return code;
    b->nrows = bench_list(b->rows, quick, b->machine.limits.threads);
    code = make_plans(b);
    if (!code) code = bench_data_make(&b->data, b->rows, b->nrows);
    if (!code) code = measure_all(b);
    for (int i = 0; i < b->nrows && !code; i++) summarise(&b->rows[i]);
    if (!code) code = compare(b);
    if (code) return code;
    cli_progress_done();
    if (cli_choice(args, &opt_format, 0) == 1)
        bench_print_json(&b->machine.limits, b->rows, b->nrows, b->isa);
    else
        bench_print_text(&b->machine.limits, b->rows, b->nrows, b->isa);
    if (b->dropped)
        cli_note("%d row%s left out: more than 5 seconds a run here", b->dropped,
                 cli_s(b->dropped));
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    bench *const b = (bench *)calloc(1, sizeof *b);
    if (!b) return cli_failed("no memory");
    qkv_error err = qkv_error_init();
    qkv_pool *pool = NULL;
    int code = cli_isa(args, &b->isa);
    for (int32_t i = 0; i < qkv_isa_count() && b->isa == QKV_ISA_BEST; i++) {
        const int32_t id = qkv_isa_id(qkv_isa_count() - 1 - i);
        if (qkv_isa_usable(id)) b->isa = id;
    }
    b->machine.limits.threads = cli_threads(args);
    if (!code && b->machine.limits.threads > 1) {
        if (qkv_pool_create(&pool, b->machine.limits.threads, NULL, &err))
            code = cli_library_error(&err);
        else
            b->machine.threads[1] = qkv_pool_threads(pool);
    }
    if (!code) code = measure_and_print(b, args);

    for (int i = 0; i < b->nrows; i++) qkv_plan_destroy(b->plan[i]);
    bench_data_free(&b->data);
    bench_free(b->workspace, b->workspace_bytes + 64);
    qkv_pool_destroy(pool);
    free(b);
    return code;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .summary = "speed on this machine, as a share of its own peak",
    .about =
        "Measures what the machine can do at all (fused multiply-adds in registers, plain reads of "
        "memory), then attention on N(0,1) data: whole sequences, masks, 16-bit types, one query "
        "row "
        "on long K and V, one tiny call. It prints GF/s (GB/s where memory limits), the share of "
        "the peak of the same run, and for AVX2 and AVX-512 which targets that reaches; 'close' "
        "misses by 3 points or 3 % at most. FLOPs are 2 x live pairs x (d + d_v). 'Strided' rows "
        "have all heads of a position side by side in memory.\n\n"
        "Rounds are interleaved. A measurement during which the machine's own peak moved by more "
        "than 3 %, or other programs took the CPUs, is repeated up to 3 times; a row that stays "
        "unquiet is marked noisy and gets no verdict.",
    .options = (const cli_option *const[]){&opt_quick, &cli_opt_threads, &cli_opt_kernels,
                                           &opt_format, &cli_opt_json, NULL},
    .examples =
        (const char *const[]){"qkv bench --quick", "a first look, in about 10 seconds",
                              "qkv bench --json > bench.json", "all rows, for a program", NULL},
    .run = run,
};
