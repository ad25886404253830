/* SPDX-License-Identifier: MIT */
/* mask.c - the intersection of all kinds in use, and what it means for a tile. */
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

qkvi_tile_kind qkvi_mask_tile(const qkvi_range *rows, int64_t n, int64_t key, int32_t keys,
                              int32_t *lo, int32_t *hi)
{
    int any = 0, all = 1;
    for (int64_t r = 0; r < n; r++) {
        lo[r] = clamp(rows[r].lo - key, keys);
        hi[r] = clamp(rows[r].hi - key, keys);
        any |= lo[r] < hi[r];
        all &= lo[r] == 0 && hi[r] == keys;
    }
    return !any ? QKVI_TILE_NONE : all ? QKVI_TILE_ALL : QKVI_TILE_SOME;
}
