/* SPDX-License-Identifier: MIT */
/* look.c - see look.h. Ranges come first: a tensor is read only where they leave something open.
 */
#include "run/look.h"
#include "mask/mask_bits.h"

/* element [batch, head, row, own key `key`] of a tensor that is read at the tensors' numbers */
static int64_t place_in(const qkv_shape *x, const qkvi_place *at, int64_t row, int64_t key)
{
    return at->batch * x->stride[0] + at->head * x->stride[1] + (at->row + row) * x->stride[2] +
           (at->key + key) * x->stride[3];
}

static void narrow_by_mask(const qkvi_job *job, const qkvi_place *place, int64_t row, int64_t rows,
                           int64_t key, int32_t keys, qkvi_bits *bits)
{
    const qkv_shape *const m = &job->plan->look;
    const qkvi_bools x = {.base = job->mask,
                          .packed = m->dtype == QKV_BITS,
                          .drops = job->plan->mask_drops,
                          .at = place_in(m, place, row, key),
                          .row_stride = m->stride[2],
                          .key_stride = m->stride[3],
                          .keys = m->dim[3] - (place->key + key)};
    qkvi_bits_bools(bits, &x, rows, keys);
}

qkvi_tile_kind qkvi_look(const qkvi_job *job, char *slot, const qkvi_place *place,
                         const qkvi_tile *t, const qkvi_range *ranges, int64_t key, qkvi_step *s)
{
    const qkv_plan *const p = job->plan;
    int32_t *const lo = (int32_t *)(void *)(slot + p->at_lo);
    int32_t *const hi = (int32_t *)(void *)(slot + p->at_hi);
    const int64_t width = (int64_t)t->vectors * p->lanes;
    s->lo = s->hi = NULL;
    s->live = NULL;
    qkvi_tile_kind kind = qkvi_mask_tile(ranges, t->rows, &t->sees, key, s->keys, lo, hi);
    if (kind == QKVI_TILE_NONE) return kind;
    if (p->use & QKV_USE_MASK) {
        qkvi_bits *const bits = (qkvi_bits *)(void *)(slot + p->at_bits);
        uint64_t *const live = (uint64_t *)(void *)(slot + p->at_live);
        int scattered;
        qkvi_bits_ranges(bits, kind == QKVI_TILE_ALL ? NULL : lo, hi, t->rows, s->keys);
        narrow_by_mask(job, place, t->row, t->rows, key, s->keys, bits);
        kind = qkvi_bits_kind(bits, t->rows, s->keys, lo, hi, live, &scattered);
        if (kind == QKVI_TILE_NONE) return kind;
        if (scattered) s->live = live;
    }
    if (kind == QKVI_TILE_ALL) return kind;
    for (int64_t r = t->rows; r < width; r++) lo[r] = hi[r] = 0;
    s->lo = lo;
    s->hi = hi;
    return kind;
}

void qkvi_look_row(const qkvi_job *job, const qkvi_place *place, const qkvi_range *range,
                   unsigned char *seen)
{
    const int64_t padding = place->key - place->first_key;
    for (int64_t j = 0; j < place->all_keys; j++)
        seen[j] = j - padding >= range->lo && j - padding < range->hi;
    if (!(job->plan->use & QKV_USE_MASK)) return;
    for (int64_t j = range->lo; j < range->hi; j++) {
        qkvi_bits one;
        qkvi_bits_ranges(&one, NULL, NULL, 1, 1);
        narrow_by_mask(job, place, 0, 1, j, 1, &one);
        if (one.row[0][0] == 0) seen[padding + j] = 0;
    }
}
