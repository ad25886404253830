/* SPDX-License-Identifier: MIT */
/* mask_bits.h - which keys of one block each row of a tile sees, as bits: where a tensor says so, key by
 * key. Sources narrow it one after another (ranges, a bool tensor, excluding biases); in the end the
 * tile is none, all or some of its pairs.
 *
 * A row has two words: bit j % 64 of word j / 64 is key j of the block.
 */
#ifndef QKVI_MASK_BITS_H
#define QKVI_MASK_BITS_H

#include "mask/mask.h"

enum { QKVI_BITS_KEYS = 128, QKVI_BITS_ROWS = 64 };

typedef struct qkvi_bits {
    uint64_t row[QKVI_BITS_ROWS][2];
} qkvi_bits;

/* Rows that see keys [lo[r], hi[r]), or all of `keys` keys when lo is NULL. */
void qkvi_bits_ranges(qkvi_bits *b, const int32_t *lo, const int32_t *hi, int64_t rows,
                      int32_t keys);

/* Only the first n keys of the block stay. */
void qkvi_bits_first(qkvi_bits *b, int64_t rows, int64_t n);

/* A bool tensor's element for row r and key j is number at + r * row_stride + j * key_stride, counted
 * from base: bytes, or bits (the lowest of a byte first). */
typedef struct qkvi_bools {
    const void *base;
    int32_t packed; /* bits */
    int32_t drops;  /* true excludes */
    int64_t at, row_stride, key_stride;
    int64_t keys; /* that it has from here on; what lies beyond is excluded. <= 0: none */
} qkvi_bools;

/* Takes away what the tensor excludes. Reads elements of rows x min(keys, b->keys) and nothing else. */
void qkvi_bits_bools(qkvi_bits *b, const qkvi_bools *x, int64_t rows, int32_t keys);

/* What a tensor of bytes says of a whole tile, if it is quickly told: NONE, ALL (every byte 0, every
 * byte 1), or SOME: look closely. Few operations a byte: many reads are on their way at a time. */
qkvi_tile_kind qkvi_bools_kind(const qkvi_bools *x, int64_t rows, int32_t keys);

/* What is left: none, all, or some: then lo and hi of each row, and in live (QKVI_BITS_KEYS words) bit r
 * of word j for row r and key j. *scattered: 0 when lo and hi say it all. */
qkvi_tile_kind qkvi_bits_kind(const qkvi_bits *b, int64_t rows, int32_t keys, int32_t *lo,
                              int32_t *hi, uint64_t *live, int *scattered);

/* The bits alone, by key: bit r of live[j] for row r and key j. */
void qkvi_bits_by_key(const qkvi_bits *b, int64_t rows, uint64_t *live);

#endif
