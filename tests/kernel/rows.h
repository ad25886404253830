/* SPDX-License-Identifier: MIT */
/* rows.h - a tile's worth of work as plain rows, so that tables of different width can be compared:
 * the same rows go through a table in tiles of its own, and every intermediate comes back row by row.
 */
#ifndef QKV_TESTS_ROWS_H
#define QKV_TESTS_ROWS_H

#include "kernel/kernels.h"

enum {
    ROWS_MAX = 48, /* rows of the widest tile */
    ROWS_KEYS = 128,
    ROWS_D = 200,
    ROWS_BYTES = 8,
    ROWS_SLACK = 64
};

typedef struct rows_case {
    int bytes; /* of a number: 4 or 8 */
    int ranged, offset;
    int strips; /* values go in strips */
    int32_t keys;
    int64_t rows, d, dv;
    double factor;
    int32_t lo[ROWS_MAX], hi[ROWS_MAX];
    int scattered; /* bit j % 64 of seen[row][j / 64]: the row sees that key of its range */
    uint64_t seen[ROWS_MAX][ROWS_KEYS / 64];
    /* what is done to the scores; biases [row][key] of any type, b_extra numbers from row to row */
    int changed, cap, alibi;
    double softcap, slope;
    int64_t position, key;
    int32_t b_dtype; /* 0: none */
    int64_t b_key_stride;
    char b[ROWS_MAX * ROWS_KEYS * ROWS_BYTES * 2 + ROWS_SLACK];
    char q[ROWS_MAX * ROWS_D * ROWS_BYTES + ROWS_SLACK];
    char k[ROWS_KEYS * ROWS_D * ROWS_BYTES + ROWS_SLACK];
    char v[ROWS_KEYS * ROWS_D * ROWS_BYTES + ROWS_SLACK];
} rows_case;

/* Numbers of the case's type: [row][channel], [row][ROWS_KEYS], [row]. */
typedef struct rows_result {
    char packed[ROWS_MAX * ROWS_D * ROWS_BYTES], gathered[ROWS_KEYS * ROWS_D * ROWS_BYTES];
    char strips[ROWS_KEYS * ROWS_D * ROWS_BYTES]; /* as [key][channel] again */
    /* the keys read as numbers of the other types, twice; the queries written as such, twice */
    char widened[2][ROWS_KEYS * ROWS_D * ROWS_BYTES], narrowed[2][ROWS_MAX * ROWS_D * ROWS_BYTES];
    char wide[ROWS_MAX * ROWS_D * ROWS_BYTES]; /* what was narrowed */
    char score[ROWS_MAX * ROWS_KEYS * ROWS_BYTES], weight[ROWS_MAX * ROWS_KEYS * ROWS_BYTES];
    char scaled[ROWS_MAX * ROWS_KEYS * ROWS_BYTES], shown[ROWS_MAX * ROWS_KEYS * ROWS_BYTES];
    char changed[ROWS_MAX * ROWS_KEYS * ROWS_BYTES], biases[ROWS_MAX * ROWS_KEYS * ROWS_BYTES];
    uint64_t bias_seen[ROWS_MAX][2];
    char dropped[ROWS_MAX * ROWS_KEYS * ROWS_BYTES], sums[ROWS_KEYS * ROWS_BYTES];
    char top[ROWS_MAX * ROWS_BYTES], sunk[ROWS_MAX * ROWS_D * ROWS_BYTES];
    char sunk_l[ROWS_MAX * ROWS_BYTES], sunk_m[ROWS_MAX * ROWS_BYTES];
    char mb[ROWS_MAX * ROWS_BYTES], lb[ROWS_MAX * ROWS_BYTES];
    char o[ROWS_MAX * ROWS_D * ROWS_BYTES], m[ROWS_MAX * ROWS_BYTES], l[ROWS_MAX * ROWS_BYTES];
    char folded[ROWS_MAX * ROWS_D * ROWS_BYTES], out[ROWS_MAX * ROWS_D * ROWS_BYTES];
    char lse[ROWS_MAX * ROWS_BYTES], node[ROWS_MAX * (ROWS_D + 2) * ROWS_BYTES];
    char node_again[ROWS_MAX * (ROWS_D + 2) * ROWS_BYTES];
    /* the same by the functions for few rows */
    char few_score[ROWS_MAX * ROWS_KEYS * ROWS_BYTES],
        few_weight[ROWS_MAX * ROWS_KEYS * ROWS_BYTES];
    char few_mb[ROWS_MAX * ROWS_BYTES], few_lb[ROWS_MAX * ROWS_BYTES];
    char few_m[ROWS_MAX * ROWS_BYTES], few_l[ROWS_MAX * ROWS_BYTES];
    char few_o[ROWS_MAX * ROWS_D * ROWS_BYTES];
    /* float: m, l, o of each row when the bytes of keys and values are 16-bit numbers, read in place and
     * widened before */
    char few_halves[ROWS_MAX * (ROWS_D + 2) * 4], few_widened[ROWS_MAX * (ROWS_D + 2) * 4];
} rows_result;

static inline const void *rows_at(const void *x, int64_t i, int bytes)
{
    return (const char *)x + i * bytes;
}
double rows_number(const void *x, int bytes);

/* q, k, v with numbers of about unit size; ties: multiples of 1/2, so that halves are exact */
void rows_fill(rows_case *c, uint64_t *seed, int ties);
/* a few NaN and infinities of every form among n numbers */
void rows_poison(rows_case *c, uint64_t *seed, char *x, int64_t n);
/* some rows whose every score is -inf */
void rows_make_dead(rows_case *c, uint64_t *seed);

/* All rows through the table's functions: pack, score, weigh, blend two blocks, fold, finish, ... */
void rows_run(const qkvi_ops *ops, const rows_case *c, rows_result *r);

#endif
