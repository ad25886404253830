/* SPDX-License-Identifier: MIT */
/* kernels.h - the kernel table: everything that is compiled once per instruction set, its block
 * sizes, and what it needs of the CPU. A kernel sees one tile of query rows and one block of keys;
 * it knows nothing of batches, heads, mask kinds, threads or memory.
 *
 * A *tile* is `vectors` (1 to 3) vectors of `lanes` query rows, one row in each lane; width =
 * vectors * lanes. Everything of a tile is stored with the row innermost:
 *
 *     qt [d][width]      the queries, scaled                 s [128][width]   scores, then weights
 *     o  [dv][width]     value sums       m, l [width]       the row's maximum and sum so far
 *
 * so that maximum, sum and rescale are vertical and nothing is ever added across lanes.
 * `real` is float in the f32 functions and double in the f64 ones; pointers to real data of the
 * caller may have any byte alignment, those of the workspace are 64-aligned.
 */
#ifndef QKVI_KERNELS_H
#define QKVI_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { QKVI_TILE_VECTORS = 3 };

/* One tile meets one key block. */
typedef struct qkvi_step {
    const void *qt;
    const void *k, *v;          /* key 0 of the block; channels adjacent */
    int64_t k_stride, v_stride; /* elements from one key to the next */
    int64_t d, dv;
    int32_t keys;    /* 1 ... 128 */
    int32_t vectors; /* 1 ... 3 */
    /* live keys of each row, [lo, hi) within the block, width entries; NULL: all keys, all rows.
     * hi <= keys; lo >= hi means none */
    const int32_t *lo, *hi;
    void *s;
    void *o, *m, *l;
    void *mb, *lb;    /* width: this block's maximum and sum */
    int32_t fresh;    /* in, out: 1 while o, m, l hold nothing */
    int32_t v_finite; /* in, out: 1 every value of the block is finite, 0 not, -1 not looked yet */
    int32_t slow;     /* out of weigh, into blend: some row needs the row-by-row form */
    const void *ahead_k, *ahead_v; /* rows to prefetch, NULL: none */
    int32_t ahead_keys;            /* how many of each */
} qkvi_step;

typedef struct qkvi_ops {
    int32_t lanes;
    /* qt[c][r] = q[r][c] * f for rows r < rows, 0 above; strides in elements */
    void (*pack)(void *qt, const void *q, int64_t row_stride, int64_t channel_stride, int64_t rows,
                 int64_t d, int64_t width, double f);
    /* s = q . k for the keys some row of a vector may see (rule 2), mb = its maximum when all are */
    void (*score)(qkvi_step *t);
    /* s: scores to weights; mb, lb (rules 4, 6, 7, 8) */
    void (*weigh)(qkvi_step *t);
    /* value sums of the block, folded with mb, lb into o, m, l (rules 8, 9) */
    void (*blend)(qkvi_step *t);
    /* node b (later keys) folded into node a (rule 9) */
    void (*fold)(void *oa, void *ma, void *la, const void *ob, const void *mb, const void *lb,
                 int64_t dv, int64_t width);
    /* out[r][c] = o / l + 0, lse; an empty row: 0 and -inf (rule 11). lse NULL: not kept */
    void (*finish)(const void *o, const void *m, const void *l, void *out, int64_t row_stride,
                   int64_t channel_stride, void *lse, int64_t rows, int64_t dv, int64_t width);
    /* rows of a partial's node, m l o[0..dv) each, `row_bytes` apart, from and to a tile */
    void (*store_node)(const void *o, const void *m, const void *l, void *node, int64_t row_bytes,
                       int64_t rows, int64_t dv, int64_t width);
    void (*load_node)(void *o, void *m, void *l, const void *node, int64_t row_bytes, int64_t rows,
                      int64_t dv, int64_t width);
    /* x[j] for one row r of a tile: what a tap shows of the block in s, mb (rule 12).
     * scaled: s holds scores. weight: s holds weights; m, l are the row's final ones */
    void (*show_scaled)(const void *s, void *x, int64_t keys, int64_t r, int64_t width);
    void (*show_weight)(const void *s, const void *mb, const void *m, const void *l, void *x,
                        int64_t lo, int64_t hi, int64_t keys, int64_t r, int64_t width);
    /* to[j][c] = from[j * row_stride + c * channel_stride], dense */
    void (*gather)(void *to, const void *from, int64_t row_stride, int64_t channel_stride,
                   int64_t rows, int64_t channels);
} qkvi_ops;

typedef struct qkvi_kernels {
    const char *name;
    int32_t id;     /* a qkv_isa */
    uint32_t needs; /* QKVI_CPU_...: constant data, read by baseline code only */
    qkvi_ops f32, f64;
    /* the floating-point environment of this thread: the contract's, and back (rule 0) */
    uint64_t (*env_enter)(void);
    void (*env_leave)(uint64_t before);
    /* measuring loops (body/probe.inc.c): work done, 0 when there is no such variant */
    double (*probe_fma32)(int64_t repeat, int32_t variant);
    double (*probe_fma64)(int64_t repeat, int32_t variant);
    double (*probe_read)(const void *mem, int64_t bytes, int64_t repeat, int32_t variant);
} qkvi_kernels;

int32_t qkvi_kernels_count(void);
const qkvi_kernels *qkvi_kernels_at(int32_t i);     /* slowest first */
const qkvi_kernels *qkvi_kernels_by_id(int32_t id); /* NULL: not compiled in */
/* the fastest whose needs are met; wide16 is never the best, scalar always is possible */
const qkvi_kernels *qkvi_kernels_best(uint32_t cpu);

#endif
