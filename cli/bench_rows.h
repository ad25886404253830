/* SPDX-License-Identifier: MIT */
/* bench_rows.h - what `qkv bench` measures and what came out, between its parts: the list of rows
 * (bench_list.c), their data (bench_data.c), the machine's limits (bench_peak.c), the measuring
 * (cmd_bench.c), the targets (bench_targets.c) and the output (bench_print.c).
 *
 * Speeds are in 10^9 per second: floating-point operations (an FMA counts 2) or bytes.
 */
#ifndef QKV_CLI_BENCH_ROWS_H
#define QKV_CLI_BENCH_ROWS_H

#include "cli/cli.h"

enum { BENCH_HEADS = 16, BENCH_MAX_ROWS = 128, BENCH_MAX_SAMPLES = 256, BENCH_MAX_TARGETS = 48 };

/* Which keys a row sees. Of a bool mask and of a bias half of the 128 x 128 tiles are dead. */
typedef enum bench_mask {
    BENCH_FULL,
    BENCH_CAUSAL,
    BENCH_WINDOW,     /* keys up to 256 to the left, none to the right */
    BENCH_BOOL,       /* one mask for all heads */
    BENCH_BOOL_HEADS, /* a mask for each head */
    BENCH_BIAS,       /* the same, added in float32: -inf in dead tiles */
    BENCH_BIAS_HEADS
} bench_mask;

enum { BENCH_WINDOW_LEFT = 256, BENCH_TILE = 128 };

typedef struct bench_row {
    const char *what; /* "prefill", "prefill strided", "decode", "tiny" */
    int32_t dtype;
    int64_t heads, kv_heads, rows, s, d; /* s: keys; as many rows, but 1 where it decodes */
    bench_mask mask;
    bool strided;
    int all; /* 0: one thread, 1: all threads */

    double flops;  /* of one call */
    double bytes;  /* of K and V that one call reads; 0 where it is not memory that limits */
    int64_t calls; /* that one sample times together */
    double sample[BENCH_MAX_SAMPLES];
    int nsamples;
    int clean, rounds; /* rounds in which the machine stood still, and all of them */
    double read;       /* GB/s of plain reads of the row's own K and V, the best; with bytes */
    double workspace;  /* bytes */

    double gflops, median, spread, share; /* best, middle, quartile range / median, best / limit */
    bool noisy;                           /* the machine moved in more than half of the rounds */
} bench_row;

/* [0]: one thread, [1]: all threads; the same when all is one. */
typedef struct bench_limits {
    int32_t threads;
    double peak_f32[2], peak_f64[2], fed_f32[2], fed_f64[2], read[2];
    size_t read_bytes; /* size of the buffer that was read */
} bench_limits;

/* The machine's loops of known size. */
typedef struct bench_machine {
    const qkv_threads *threads[2]; /* NULL for one thread */
    bench_limits limits;
    int32_t isa[2];                       /* of the fastest loop: f32, f64 */
    int32_t variant[2];                   /* ... and which */
    int32_t read_isa[2], read_variant[2]; /* of the fastest read: one thread, all */
} bench_machine;

/* What all rows read and write. Zero before bench_data_make(). */
typedef struct bench_data {
    void *tensor[7][4]; /* by qkv_dtype: q, k, v, out */
    size_t tensor_bytes[7][4];
    void *look, *bias; /* a bool mask and a bias for each head, [heads][s][s] */
    size_t look_bytes, bias_bytes;
} bench_data;

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
/* GB/s of one plain read of buffer. */
double bench_read_now(const bench_machine *m, const void *buffer, size_t bytes, int all);

/* Writes the rows of a run to rows and returns how many. */
int bench_list(bench_row *rows, bool quick, int32_t threads);
qkv_params bench_row_params(const bench_row *row, int32_t isa, int32_t threads);
bool bench_row_is_wide(const bench_row *row); /* float64 arithmetic */
/* Pairs of a row and a key that it sees, of one head. */
double bench_row_pairs(const bench_row *row);
/* "full", "causal" and so on, as JSON has it. */
const char *bench_mask_name(bench_mask mask);
const char *bench_dtype_name(int32_t dtype);
/* Seconds of the best call. */
double bench_row_seconds(const bench_row *row);
/* 10^9 operations a second at which the row would be limited by what limits it: the FMA peak, or
 * reading K and V where that is lower. */
double bench_row_limit(const bench_row *row, const bench_limits *limits);

/* Exit code. */
int bench_data_make(bench_data *data, const bench_row *rows, int nrows);
void bench_data_free(bench_data *data);

/* A figure that a target speaks of. */
typedef struct bench_target {
    char what[64];
    const char *unit;       /* "share", "points", "ratio", "us", "MB" */
    bool most;              /* reached is to be at most target, else at least */
    double target, reached; /* shares as parts of 1 */
    const char *verdict;    /* "yes", "close" (3 points or less are missing), "no", "noisy" */
} bench_target;

/* Judges measured rows; targets whose rows were not measured are left out, all for kernels that
 * have none. Returns how many were written to targets[BENCH_MAX_TARGETS]. */
int bench_judge(bench_target *targets, const bench_limits *limits, const bench_row *rows, int nrows,
                int32_t isa);

void bench_print_text(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa);
void bench_print_json(const bench_limits *limits, const bench_row *rows, int nrows, int32_t isa);

#endif /* QKV_CLI_BENCH_ROWS_H */
