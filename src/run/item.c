/* SPDX-License-Identifier: MIT */
/* item.c - one item: some query rows of one head meet all their keys, block by block in ascending
 * order. The key loop is outside and the tiles inside, so that a block of K and V is fetched once
 * for up to 768 rows.
 *
 *   pack q ─► for each block: score ─► weigh ─► blend ─► [span ends: tree] ─► finish ─► out, lse
 */
#include "run/item.h"
#include "base/contract.h"
#include "base/shape.h"
#include "run/ends.h"
#include "run/kinds.h"
#include "run/look.h"
#include "run/show.h"
#include "run/taps.h"

static void set_ranges(qkvi_item *it)
{
    it->key_begin = it->place.mask.keys;
    it->key_end = 0;
    for (int64_t r = 0; r < it->place.rows; r++) {
        const qkvi_range x = qkvi_mask_row(&it->place.mask, it->place.own_row + r);
        it->ranges[r] = x;
        if (x.lo >= x.hi) continue;
        if (x.lo < it->key_begin) it->key_begin = x.lo;
        if (x.hi > it->key_end) it->key_end = x.hi;
    }
    if (it->job->partial) { /* nodes are due even where no row sees a key, or the batch has none */
        it->key_begin = it->job->span_begin * QKVI_SPAN;
        it->key_end = qkvi_min64(it->job->span_end * QKVI_SPAN, it->plan->keys);
    }
}

void qkvi_pack_rows(const qkvi_job *job, char *slot, const qkvi_tile *t, const void *q)
{
    const qkv_plan *const p = job->plan;
    int64_t row_stride = p->q.stride[job->heads > 1 ? 1 : 2], channel_stride = p->q.stride[3];
    if (p->q.dtype != p->real) {
        void *const wide = slot + p->at_wide;
        p->ops->widen(wide, q, p->q.dtype, row_stride, channel_stride, t->rows, p->d);
        q = wide;
        row_stride = p->d;
        channel_stride = 1;
    }
    p->ops->pack(t->qt, q, row_stride, channel_stride, t->rows, p->d,
                 (int64_t)t->vectors * p->lanes, p->factor);
}

static void set_tiles(qkvi_item *it)
{
    const qkv_plan *const p = it->plan;
    const char *const q = qkvi_at(it->job->q, qkvi_shape_at(&p->q, p->q_bytes, it->place.batch,
                                                            it->place.head, it->place.row));
    const int64_t tile_bytes = p->qt_bytes + (p->levels + 1) * p->node_bytes;
    it->ntiles = 0;
    for (int64_t row = 0; row < it->place.rows; row += it->tiles[it->ntiles - 1].rows) {
        qkvi_tile *const t = it->tiles + it->ntiles;
        const int32_t most = qkvi_plan_tile_rows(p, it->ntiles);
        char *mem = it->slot + p->at_nodes + it->ntiles * tile_bytes;
        it->ntiles++;
        t->row = row;
        t->rows = (int32_t)qkvi_min64(most, it->place.rows - row);
        t->vectors = (t->rows + p->lanes - 1) / p->lanes;
        t->sees = qkvi_mask_extent(it->ranges + row, t->rows);
        t->fresh = 1;
        t->root = 0;
        t->waiting = 0;
        t->kinds = qkvi_kinds_of(it->job, &it->place, it->ntiles - 1);
        t->qt = mem;
        t->top = mem + p->at_top;
        if (it->job->row_max) qkvi_top_clear(p, t);
        t->work = mem + p->qt_bytes;
        for (int32_t l = 0; l < p->levels; l++)
            t->node[l] = mem + p->qt_bytes + (l + 1) * p->node_bytes;
        qkvi_pack_rows(it->job, it->slot, t, q + row * p->q.stride[2] * p->q_bytes);
    }
}

void qkvi_block_keys(const qkv_plan *p, void *to, const void *k, int64_t keys)
{
    if (p->k.dtype != p->real)
        p->ops->widen(to, k, p->k.dtype, p->k.stride[2], p->k.stride[3], keys, p->d);
    else
        p->ops->gather(to, k, p->k.stride[2], p->k.stride[3], keys, p->d);
}

/* Where the block's keys and values are read: in place, or from the slot (keys gathered, values in
 * strips). */
static void set_block(qkvi_item *it, int64_t key, int32_t keys)
{
    const qkv_plan *const p = it->plan;
    qkvi_step *const s = &it->step;
    it->at_block = 1;
    s->v_finite = -1;
    s->k = qkvi_at(it->k, key * p->k.stride[2] * p->k_bytes);
    s->v = qkvi_at(it->v, key * p->v.stride[2] * p->v_bytes);
    s->k_stride = p->k.stride[2];
    s->v_stride = p->v.stride[2];
    if (p->gather_k) {
        qkvi_block_keys(p, it->slot + p->at_k, s->k, keys);
        s->k = it->slot + p->at_k;
        s->k_stride = p->d;
    }
    s->v_strips = p->strips_v;
    if (p->strips_v) {
        int64_t row_stride = p->v.stride[2], channel_stride = p->v.stride[3];
        if (p->v.dtype != p->real) {
            void *const wide = it->slot + p->at_wide;
            p->ops->widen(wide, s->v, p->v.dtype, row_stride, channel_stride, keys, p->dv);
            s->v = wide;
            row_stride = p->dv;
            channel_stride = 1;
        }
        p->ops->strips(it->slot + p->at_v, s->v, row_stride, channel_stride, keys, p->dv);
        s->v = it->slot + p->at_v;
    }
}

static void step_tile(qkvi_item *it, int32_t tile, int64_t key)
{
    qkvi_tile *const t = it->tiles + tile;
    const qkv_plan *const p = it->plan;
    qkvi_step *const s = &it->step;
    s->vectors = t->vectors;
    if (qkvi_look(it->job, it->slot, &it->place, t, it->ranges + t->row, key, s, &it->change) ==
        QKVI_TILE_NONE)
        return;
    if (!it->at_block) set_block(it, key, s->keys); /* the first tile that needs it */
    s->qt = t->qt;
    s->top = it->job->row_max ? t->top : NULL;
    s->o = t->work;
    s->m = qkvi_node_m(p, t->work);
    s->l = qkvi_node_l(p, t->work);
    s->fresh = t->fresh;
    qkvi_ahead_tile(it, tile, key);
    p->ops->score(s);
    p->ops->weigh(s);
    if (p->drop_from) {
        qkvi_look_drop(it->job, it->slot, &it->place, t, key, s);
        p->ops->drop(s);
    }
    p->ops->blend(s);
    t->fresh = s->fresh;
}

static int visit_blocks(qkvi_item *it, qkvi_outlet *outlets)
{
    int64_t key = it->key_begin / QKVI_BLOCK * QKVI_BLOCK;
    const int64_t keys = it->place.mask.keys;
    for (; key < it->key_end; key += QKVI_BLOCK) {
        it->at_block = 0;
        it->block_ahead = 0;
        it->step.keys =
            (int32_t)qkvi_min64(QKVI_BLOCK, keys - key); /* < 1: beyond the batch's own */
        for (int32_t i = 0; i < it->ntiles; i++) {
            if (qkvi_cancelled(it->job)) return QKVI_CANCELLED;
            if (key >= keys) break;
            step_tile(it, i, key);
        }
        if ((key + QKVI_BLOCK) % QKVI_SPAN == 0 || key + QKVI_BLOCK >= it->key_end)
            for (int32_t i = 0; i < it->ntiles; i++)
                qkvi_span_end(it->job, it->tiles + i, outlets + i, key / QKVI_SPAN);
    }
    return 0;
}

int qkvi_item_kernels(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    qkvi_outlet outlets[QKVI_ITEM_TILES];
    qkvi_item it = {.job = job, .plan = p, .slot = slot, .place = qkvi_item_place(job, number)};
    const int64_t kv_head = it.place.head / (p->heads / p->kv_heads);
    it.ranges = (qkvi_range *)(void *)(it.slot + p->at_ranges);
    it.tiles = (qkvi_tile *)(void *)(it.slot + p->at_tiles);
    it.k = qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, it.place.batch, kv_head, it.place.key));
    it.v = qkvi_at(job->v, qkvi_shape_at(&p->v, p->v_bytes, it.place.batch, kv_head, it.place.key));
    it.step.d = p->d;
    it.step.dv = p->dv;
    it.step.s = it.slot + p->at_s;
    it.step.mb = it.slot + p->at_mb;
    it.step.lb = it.slot + p->at_lb;
    if (qkvi_cancelled(job)) return QKVI_CANCELLED; /* also where there is no key to visit */
    qkvi_ahead_item(&it, number);
    qkvi_look_begin(job, &it.place, &it.change);
    set_ranges(&it);
    set_tiles(&it);
    for (int32_t i = 0; i < it.ntiles; i++)
        outlets[i] = qkvi_outlet_of(job, &it.place, it.tiles + i);
    if (visit_blocks(&it, outlets)) return QKVI_CANCELLED;
    for (int32_t i = 0; i < it.ntiles; i++) {
        qkvi_tile *const t = it.tiles + i;
        qkvi_tile_end(job, &it.place, t, slot, outlets + i, it.key_end);
        if (job->show) qkvi_show_tile(job, slot, &it.place, t, it.ranges + t->row);
        if (job->tap && qkvi_tap_tile(job, slot, &it.place, t, it.ranges + t->row))
            return QKVI_TAPPED;
    }
    return 0;
}
