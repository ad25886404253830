/* SPDX-License-Identifier: MIT */
/* bench.c - score, weigh and blend of each table on one full tile, alone: as a share of the table's own
 * FMA peak, and what they leave a whole run if nothing else takes time; then the same three on few rows.
 * Best of many short runs; nothing is judged.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/kernel/bench.h"
#include "cpu/cpu.h"
#include "kernel/kernels.h"
#include <qkv/qkv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEYS = 128, MAX_D = 128, MAX_WIDTH = 48, MIB = 1 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How often: the portable tables are a hundred times slower. */
typedef struct effort {
    int rounds, repeat;
} effort;

/* seconds of one call of fn, the best of the rounds; before each call `before` runs untimed (NULL: none) */
static double best_time(void (*fn)(qkvi_step *), void (*before)(qkvi_step *), qkvi_step *s,
                        effort e)
{
    double best = 1e9;
    for (int n = 0; n < e.rounds; n++) {
        double sum = 0;
        for (int i = 0; i < e.repeat; i++) {
            if (before) before(s);
            const double start = now();
            fn(s);
            sum += now() - start;
        }
        if (sum / e.repeat < best) best = sum / e.repeat;
    }
    return best;
}

static double peak(const qkvi_kernels *k, int bytes, effort e)
{
    double best = 0;
    for (int32_t variant = 0; variant < 3 * e.rounds; variant++) {
        const double start = now();
        const double work = (bytes == 4 ? k->probe_fma32 : k->probe_fma64)(e.repeat, variant % 3);
        const double rate = work / (now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

static void bench_one(const qkvi_kernels *k, int bytes, int64_t d, char *memory)
{
    const qkvi_ops *const ops = bytes == 4 ? &k->f32 : &k->f64;
    const int64_t width = (int64_t)ops->lanes * QKVI_TILE_VECTORS;
    const effort e = k->needs ? (effort){30, 40} : (effort){2, 1};
    qkvi_step s = {.qt = memory,
                   .k = memory + MIB,
                   .v = memory + 2 * MIB,
                   .s = memory + 3 * MIB,
                   .o = memory + 4 * MIB,
                   .m = memory + 5 * MIB,
                   .l = memory + 5 * MIB + 4096,
                   .mb = memory + 5 * MIB + 8192,
                   .lb = memory + 5 * MIB + 12288,
                   .k_stride = d,
                   .v_stride = d,
                   .d = d,
                   .dv = d,
                   .keys = KEYS,
                   .vectors = QKVI_TILE_VECTORS,
                   .v_finite = 1,
                   .v_strips = 1};
    const double flops = 2.0 * KEYS * (double)(width * d), top = peak(k, bytes, e);
    const double score = best_time(ops->score, NULL, &s, e),
                 weigh = best_time(ops->weigh, ops->score, &s, e);
    const double blend = best_time(ops->blend, NULL, &s, e);
    qkvi_step near = s; /* one key again and again: every operand in the first-level cache */
    near.k_stride = 0;
    near.d = near.dv = 64;
    const double fed = best_time(ops->score, NULL, &near, e), near_flops = flops / (double)d * 64;
    const double fma = 2 * flops / top; /* the time that the multiply-adds alone would take */
    printf("%-7s f%-3d %4lld %9.1f GF/s %6.1f %% %6.1f %% %6.1f %% %6.1f %% %6.1f %%\n", k->name,
           bytes * 8, (long long)d, top * 1e-9, 100 * near_flops / fed / top,
           100 * flops / score / top, 100 * flops / blend / top, 100 * weigh / fma,
           100 * fma / (score + weigh + blend));
}

/* Rows of float32 that share keys and values of some type, which stay in the second-level cache. */
static void bench_few(const qkvi_kernels *k, int32_t dtype, int32_t rows, char *memory)
{
    enum { D = 128, SPAN = 1024, STATE = (D + 16) * 4 };
    const qkvi_ops *const ops = &k->f32;
    static const char *const name[] = {[QKV_F32] = "f32", [QKV_F16] = "f16", [QKV_BF16] = "bf16"};
    const effort e = k->needs ? (effort){60, 10} : (effort){2, 1};
    int32_t lo[QKVI_FEW_ROWS] = {0}, hi[QKVI_FEW_ROWS];
    for (int32_t r = 0; r < rows; r++) hi[r] = SPAN;
    char *const at = memory + 2 * MIB;
    qkvi_few f = {.qt = at + MIB / 2,
                  .width = (rows + ops->lanes - 1) / ops->lanes * ops->lanes,
                  .k = memory,
                  .v = memory + MIB,
                  .k_dtype = dtype,
                  .v_dtype = dtype,
                  .k_stride = D,
                  .v_stride = D,
                  .d = D,
                  .dv = D,
                  .rows = rows,
                  .keys = SPAN,
                  .lo = lo,
                  .hi = hi,
                  .s = at,
                  .mb = at + MIB,
                  .lb = at + MIB + 4096,
                  .sums = at + MIB + 8192,
                  .state = at + MIB + 65536 - 8,
                  .sums_bytes = STATE,
                  .state_bytes = STATE};
    memset(memory, 0x2C, 2 * MIB); /* a small number in every type */
    memset(at + MIB, 0, MIB);
    double best = 1e9;
    for (int n = 0; n < e.rounds; n++) {
        const double start = now();
        for (int i = 0; i < e.repeat; i++) {
            ops->few_score(&f);
            ops->few_weigh(&f);
            ops->few_blend(&f);
        }
        const double one = (now() - start) / e.repeat;
        if (one < best) best = one;
    }
    const double bytes = 2.0 * SPAN * D * (dtype == QKV_F32 ? 4 : 2), flops = 4.0 * SPAN * D * rows;
    printf("%-7s %-5s %4d %9.1f GB/s %6.1f %%\n", k->name, name[dtype], rows, bytes / best * 1e-9,
           100 * flops / best / peak(k, 4, e));
}

static void bench_all_few(const qkvi_kernels *k, char *memory)
{
    static const int32_t dtype[] = {QKV_F32, QKV_F16, QKV_BF16};
    for (int i = 0; i < 3; i++)
        for (int32_t rows = 1; rows <= QKVI_FEW_ROWS; rows = rows == 1 ? 4 : 2 * rows)
            bench_few(k, dtype[i], rows, memory);
}

int bench_tables(void)
{
    char *const memory = aligned_alloc(2 * MIB, 6 * MIB);
    if (memory == NULL) return 1;
    for (int i = 0; i < 6 * MIB / 8; i++) {
        const float x[2] = {(float)(i % 251) / 251 - 0.5f, 0.25f};
        memcpy(memory + i * 8, x, 8);
    }
    printf(
        "fed: score from the first-level cache alone, as a share of the table's own FMA peak, "
        "which\n"
        "reads nothing. score, blend: the same with a block of keys, of values. weigh: its time\n"
        "beside that of the multiply-adds. together: the share that score, weigh and blend alone\n"
        "would leave a whole run.\n\n"
        "table   type  d     FMA peak       fed    score    blend    weigh together\n");
    for (int32_t i = 0; i < qkvi_kernels_count(); i++) {
        const qkvi_kernels *const k = qkvi_kernels_at(i);
        for (int64_t d = 64; d <= MAX_D && !(k->needs & ~qkvi_cpu()); d *= 2) {
            bench_one(k, 4, d, memory);
            bench_one(k, 8, d, memory);
        }
    }
    printf("\nFew rows, d = 128, keys and values in the second-level cache: what computing alone "
           "lets\n"
           "one thread read, and the share of the FMA peak.\n\n"
           "table   type  rows\n");
    for (int32_t i = 0; i < qkvi_kernels_count(); i++)
        if (!(qkvi_kernels_at(i)->needs & ~qkvi_cpu())) bench_all_few(qkvi_kernels_at(i), memory);
    free(memory);
    return 0;
}
