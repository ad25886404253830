/* SPDX-License-Identifier: MIT */
/* mask.h - which keys a row may see. Each kind narrows a row's range of keys; a row sees the
 * intersection. Kernels never learn a kind: they get "none", "all", or each row's range in the
 * block.
 *
 * Rows and keys count from the first of their own batch or sequence (rule 1): a mask knows neither
 * padding nor the place in a tensor.
 */
#ifndef QKVI_MASK_H
#define QKVI_MASK_H

#include <stdint.h>

typedef struct qkvi_mask {
    uint64_t use; /* QKV_USE_... bits; those that are masks */
    int64_t keys; /* of the batch or sequence */
    int64_t rows; /* those that are there; any beyond sees nothing */
    /* row i stands at position i + shift; |i + shift| < 2^63 for every row of a tensor */
    int64_t shift;
    int64_t window_left, window_right; /* -1: open */
    int64_t prefix;
} qkvi_mask;

/* Keys [lo, hi) of one row; lo == hi: none. 0 <= lo <= hi <= keys. */
typedef struct qkvi_range {
    int64_t lo, hi;
} qkvi_range;

/* One function a kind (mask_<kind>.c, a line of masks.inc): narrows r for row i. */
#define QKVI_MASK_KIND(bit, name)                                                                  \
    void qkvi_mask_##name(const qkvi_mask *m, int64_t i, qkvi_range *r);
#include "mask/masks.inc"
#undef QKVI_MASK_KIND

qkvi_range qkvi_mask_row(const qkvi_mask *m, int64_t i);

/* r without the keys before lo (from hi on): what a kind does to a range */
static inline void qkvi_range_from(qkvi_range *r, int64_t lo)
{
    if (lo > r->lo) r->lo = lo < r->hi ? lo : r->hi;
}
static inline void qkvi_range_to(qkvi_range *r, int64_t hi)
{
    if (hi < r->hi) r->hi = hi > r->lo ? hi : r->lo;
}

/* What any of some rows sees lies in [any.lo, any.hi); what all of them see is [all.lo, all.hi). */
typedef struct qkvi_extent {
    qkvi_range any, all;
} qkvi_extent;
qkvi_extent qkvi_mask_extent(const qkvi_range *rows, int64_t n);

typedef enum qkvi_tile_kind { QKVI_TILE_NONE, QKVI_TILE_SOME, QKVI_TILE_ALL } qkvi_tile_kind;

/* What rows[0 ... n), of that extent, see of the keys [key, key + keys): none of them, all of them,
 * or some: then lo and hi (n entries, relative to key) say which. */
qkvi_tile_kind qkvi_mask_tile(const qkvi_range *rows, int64_t n, const qkvi_extent *extent,
                              int64_t key, int32_t keys, int32_t *lo, int32_t *hi);

#endif
