/* SPDX-License-Identifier: MIT */
/* bench_rows.h - what `qkv bench` measures and what came out, between the part that measures
 * (cmd_bench.c), the part that knows the machine's limits (bench_peak.c) and the part that prints
 * (bench_print.c).
 *
 * Speeds are in 10^9 per second: floating-point operations (an FMA counts 2) or bytes.
 */
#ifndef QKV_CLI_BENCH_ROWS_H
#define QKV_CLI_BENCH_ROWS_H

#include "cli/cli.h"

enum { BENCH_HEADS = 16, BENCH_MAX_ROWS = 80, BENCH_MAX_SAMPLES = 256 };

typedef struct bench_row {
    const char *what; /* "prefill", "prefill strided" */
    int32_t dtype;
    int64_t s, d;
    bool causal, strided;
    int all; /* 0: one thread, 1: all threads */

    double flops; /* of one run */
    double sample[BENCH_MAX_SAMPLES];
    int nsamples;
    int clean, rounds; /* rounds in which the machine stood still, and all of them */

    double gflops, median, spread, share; /* best, middle, quartile range / median, best / peak */
    bool noisy;                           /* the machine moved in more than half of the rounds */
} bench_row;

/* [0]: one thread, [1]: all threads; the same when all is one. */
typedef struct bench_limits {
    int32_t threads;
    double peak_f32[2], peak_f64[2], read[2];
    size_t read_bytes; /* size of the buffer that was read */
} bench_limits;

/* The machine's loops of known size. */
typedef struct bench_machine {
    const qkv_threads *threads[2]; /* NULL for one thread */
    bench_limits limits;
    int32_t isa[2];     /* of the fastest loop: f32, f64 */
    int32_t variant[2]; /* ... and which */
} bench_machine;

double bench_now(void); /* seconds */
/* Page-aligned memory of whole 2 MiB pages where the system gives them, zeroed and touched; NULL
 * when there is none. bench_free() takes the same size. */
void *bench_alloc(size_t bytes);
void bench_free(void *memory, size_t bytes);

/* Finds the fastest loop of all usable kernels and fills limits. Exit code. */
int bench_find_limits(bench_machine *m, size_t read_bytes);
/* The search for the fastest loops once more; raises limits only. */
void bench_find_peaks(bench_machine *m);
/* The fastest loop again, for about 3 ms: what the machine gives now. Raises limits when it is
 * the fastest yet. `wide`: float64; `all`: all threads. */
double bench_peak_now(bench_machine *m, bool wide, int all);

void bench_print_text(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa);
void bench_print_json(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa);

#endif /* QKV_CLI_BENCH_ROWS_H */
