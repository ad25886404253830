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

/* What is done to the scores of a tile and a block (rule 3), each part if it is asked for. */
typedef struct qkvi_change {
    int32_t cap, alibi, only_cap; /* only_cap: stop after softcap and rule */
    double cap_in, cap_out;       /* k and C, rounded to the type */
    double slope;                 /* times log2 e, rounded to the type */
    int64_t position, key;        /* of the tile's first row and the block's first key */
    /* biases in log2 units, [key][width]; NULL: none */
    const void *bias;
    /* the caller's own function, in natural units; NULL: none. It gets the whole tile */
    void (*rule)(void *ctx, int64_t batch, int64_t head, int64_t position, int64_t key,
                 int64_t rows, int64_t keys, void *s, int64_t stride);
    void *rule_ctx;
    int64_t batch, head, rows;
} qkvi_change;

/* Rows of the caller's to fetch into the second-level cache meanwhile; rows 0: none. */
enum { QKVI_AHEAD = 3 };
typedef struct qkvi_ahead {
    const void *at;
    int64_t stride, bytes; /* from one row to the next; of a row */
    int64_t rows;
} qkvi_ahead;

/* One tile meets one key block. */
typedef struct qkvi_step {
    const void *qt;
    const void *k, *v;          /* key 0 of the block; channels adjacent */
    int64_t k_stride, v_stride; /* elements from one key to the next */
    int32_t v_strips;           /* v is in strips (see ops.inc); v_stride does not count */
    int64_t d, dv;
    int32_t keys;    /* 1 ... 128 */
    int32_t vectors; /* 1 ... 3 */
    /* live keys of each row, [lo, hi) within the block, width entries; NULL: all keys, all rows.
     * hi <= keys; lo >= hi means none */
    const int32_t *lo, *hi;
    /* beside lo and hi: bit r of live[j] says that row r sees key j, one of its [lo, hi). NULL: it sees
     * all of them */
    const uint64_t *live;
    const qkvi_change *change; /* NULL: the scores stay as they are */
    void *top; /* width, in and out: each row's largest live score so far, NaN where one is NaN or
                  +inf; NULL: not wanted */
    void *s;
    void *o, *m, *l;
    void *mb, *lb;    /* width: this block's maximum and sum */
    int32_t fresh;    /* in, out: 1 while o, m, l hold nothing */
    int32_t v_finite; /* in, out: 1 every value of the block is finite, 0 not, -1 not looked yet */
    int32_t slow;     /* out of weigh, into blend: some row needs the row-by-row form */
    /* while scores, while values are computed: one after the other */
    qkvi_ahead ahead[2][QKVI_AHEAD];
} qkvi_step;

/* Lines of rows that lie one after another, fetched one by one. */
typedef struct qkvi_lines {
    const char *at;
    int64_t row, left, jump; /* bytes: of a row, of this one, from its last line to the next row */
    int32_t done;            /* 1: no more */
} qkvi_lines;

/* Few rows meet up to a span of keys (body/few_score.inc.c and what follows it). Each row lies by itself:
 *
 *     s      [row][4096]  scores, then weights       mb, lb [row][32]  maximum and sum of each block
 *     sums   [row][dv]    of the block in work       state  [row]      m, l, o[0 .. dv): the span so far
 *
 * s, sums and the o of a state begin 64-aligned; in a new state m is -inf, the rest 0. */
enum { QKVI_FEW_ROWS = 8 };
typedef struct qkvi_few {
    const void *qt; /* as in a tile */
    int64_t width;
    const void *k, *v;          /* the span's first key; channels adjacent */
    int32_t k_dtype, v_dtype;   /* the table's own, or of float32 f16 and bf16 too */
    int64_t k_stride, v_stride; /* elements from one key to the next */
    int64_t d, dv;
    int32_t rows;           /* 1 ... 8, at most width */
    int32_t keys;           /* 1 ... 4096 */
    const int32_t *lo, *hi; /* live keys of each row, within [0, keys); lo >= hi: none */
    void *s, *mb, *lb, *sums, *state;
    int64_t sums_bytes, state_bytes; /* from one row to the next */
} qkvi_few;

/* The functions of one type; ops.inc lists and describes them. */
typedef struct qkvi_ops {
    int32_t lanes;
    int32_t strip;      /* channels of a strip */
    int32_t strip_step; /* numbers from one strip to the next */
#define QKVI_OP(name, parameters) void(*name) parameters;
#include "kernel/ops.inc"
#undef QKVI_OP
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
    double (*probe_fed32)(int64_t repeat, int32_t variant);
    double (*probe_fed64)(int64_t repeat, int32_t variant);
    double (*probe_read)(const void *mem, int64_t bytes, int64_t repeat, int32_t variant);
} qkvi_kernels;

int32_t qkvi_kernels_count(void);
const qkvi_kernels *qkvi_kernels_at(int32_t i);     /* slowest first */
const qkvi_kernels *qkvi_kernels_by_id(int32_t id); /* NULL: not compiled in */
/* the fastest whose needs are met; wide16 is never the best, scalar always is possible */
const qkvi_kernels *qkvi_kernels_best(uint32_t cpu);

#endif
