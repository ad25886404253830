/* SPDX-License-Identifier: MIT */
/* taps.c - see taps.h. A second pass over the keys for each row: nothing of the size of a row of
 * weights is ever kept, so taps work at any length. Slow on purpose and only when asked for.
 */
#include "run/taps.h"
#include "base/contract.h"
#include "base/shape.h"
#include "run/look.h"
#include "run/show.h"
#include "run/tree.h"

int qkvi_tap_show(const qkvi_job *job, int32_t stage, const qkvi_place *place, int64_t row,
                  int64_t key, const void *x, int64_t n)
{
    if (!(job->tap->stages >> stage & 1u) || n == 0) return 0;
    return job->tap->row(job->tap->ctx, stage, place->batch, place->head, row, key, x, n);
}

/* Scores (all keys, seen or not) or weights of row r of the tile for s->keys keys, in the slot's show
 * buffer. key: the first of them, counted from own key 0; own: they are not padding. */
static void *show_block(const qkvi_job *job, char *slot, const qkvi_place *place,
                        const qkvi_tile *t, qkvi_step *s, const qkvi_range *ranges, int64_t r,
                        int64_t key, int own, int32_t stage, qkvi_change *change)
{
    const qkv_plan *const p = job->plan;
    void *const x = slot + p->at_show;
    const int64_t width = (int64_t)t->vectors * p->lanes;
    s->lo = s->hi = NULL;
    s->live = NULL;
    s->change = NULL;
    if (stage == QKV_STAGE_SCALED) {
        p->ops->score(s);
        p->ops->show_scaled(s->s, x, s->keys, r, width);
        return x;
    }
    const qkvi_tile_kind kind =
        own ? qkvi_look(job, slot, place, t, ranges, key, s, change) : QKVI_TILE_NONE;
    if (kind != QKVI_TILE_NONE) {
        p->ops->score(s);
        p->ops->weigh(s);
    }
    const int64_t lo = s->lo ? s->lo[r] : 0;
    const int64_t hi = kind == QKVI_TILE_NONE ? lo : s->hi ? s->hi[r] : s->keys;
    p->ops->show_weight(s->s, s->mb, qkvi_node_m(p, t->work), qkvi_node_l(p, t->work), x, lo, hi,
                        s->live, s->keys, r, width);
    return x;
}

/* One stage of row r: every key of the tensor that is its batch's (sequence's), block by block: the
 * padding before own key 0, the own keys, what lies beyond the last. */
static int show_row(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *t,
                    const qkvi_range *ranges, int64_t r, int32_t stage)
{
    const int64_t begin = place->key - place->first_key, end = begin + place->mask.keys;
    qkvi_change change;
    qkvi_look_begin(job, place, &change);
    for (int64_t key = 0, n; key < place->all_keys; key += n) {
        const int64_t left = (key < begin ? begin : key < end ? end : place->all_keys) - key;
        n = left < QKVI_BLOCK ? left : QKVI_BLOCK;
        qkvi_step s = qkvi_again_step(job, slot, t, n);
        qkvi_again_keys(job, slot, place, place->first_key + key, &s);
        const int own = key >= begin && key < end;
        const void *const x =
            show_block(job, slot, place, t, &s, ranges, r, key - begin, own, stage, &change);
        if (qkvi_tap_show(job, stage, place, place->row + t->row + r, place->first_key + key, x, n))
            return 1;
    }
    return 0;
}

int qkvi_tap_tile(const qkvi_job *job, void *slot, const qkvi_place *place, const qkvi_tile *t,
                  const qkvi_range *ranges)
{
    static const int32_t stages[2] = {QKV_STAGE_SCALED, QKV_STAGE_WEIGHT};
    for (int64_t r = 0; r < t->rows; r++)
        for (int i = 0; i < 2; i++)
            if ((job->tap->stages >> stages[i] & 1u) &&
                show_row(job, slot, place, t, ranges, r, stages[i]))
                return 1;
    return 0;
}
