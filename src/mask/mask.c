/* SPDX-License-Identifier: MIT */
/* mask.c - the intersection of all kinds in use, and what it means for a tile.
 *
 * Positions are int64; relative to a block they fit int32, clamped to the block.
 */
#include "mask/mask.h"
#include <qkv/attention.h>

qkvi_range qkvi_mask_row(const qkvi_mask *m, int64_t i)
{
    qkvi_range r = {0, m->keys};
#define QKVI_MASK_KIND(bit, name)                                                                  \
    if (m->use & (bit)) qkvi_mask_##name(m, i, &r);
#include "mask/masks.inc"
#undef QKVI_MASK_KIND
    return r;
}

static int32_t clamp(int64_t x, int32_t keys)
{
    return x < 0 ? 0 : x > keys ? keys : (int32_t)x;
}

qkvi_extent qkvi_mask_extent(const qkvi_range *rows, int64_t n)
{
    qkvi_extent e = {{INT64_MAX, 0}, {0, INT64_MAX}};
    for (int64_t r = 0; r < n; r++) {
        if (rows[r].lo > e.all.lo) e.all.lo = rows[r].lo;
        if (rows[r].hi < e.all.hi) e.all.hi = rows[r].hi;
        if (rows[r].lo >= rows[r].hi) continue;
        if (rows[r].lo < e.any.lo) e.any.lo = rows[r].lo;
        if (rows[r].hi > e.any.hi) e.any.hi = rows[r].hi;
    }
    return e;
}

qkvi_tile_kind qkvi_mask_tile(const qkvi_range *rows, int64_t n, const qkvi_extent *extent,
                              int64_t key, int32_t keys, int32_t *lo, int32_t *hi)
{
    if (key >= extent->any.hi || key + keys <= extent->any.lo) return QKVI_TILE_NONE;
    if (key >= extent->all.lo && key + keys <= extent->all.hi) return QKVI_TILE_ALL;
    int any = 0;
    for (int64_t r = 0; r < n; r++) {
        lo[r] = clamp(rows[r].lo - key, keys);
        hi[r] = clamp(rows[r].hi - key, keys);
        any |= lo[r] < hi[r];
    }
    return any ? QKVI_TILE_SOME : QKVI_TILE_NONE;
}
