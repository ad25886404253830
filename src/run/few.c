/* SPDX-License-Identifier: MIT */
/* few.c - one item of few rows: a span of keys at a time, first all its keys, then all its values, each
 * read once in the order of memory. A span's sums become a node of a tile, and end as one.
 *
 *   pack q ─► for each span: few_score ─► few_weigh ─► few_blend ─► node ─► tree ─► finish ─► out, lse
 */
#include "base/contract.h"
#include "base/shape.h"
#include "run/ends.h"
#include "run/show.h"

typedef struct item {
    const qkvi_job *job;
    const qkv_plan *plan;
    char *slot;
    qkvi_place place;
    int32_t rows; /* of the place's head, or one of each of several heads */
    qkvi_range range[QKVI_FEW_ROWS];
    const void *k, *v; /* own key 0 of the head */
    qkvi_tile tile;
    qkvi_outlet outlet;
} item;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void set_tile(item *it)
{
    const qkv_plan *const p = it->plan;
    qkvi_tile *const t = &it->tile;
    char *const mem = it->slot + p->at_nodes;
    *t = (qkvi_tile){.rows = it->rows,
                     .vectors = (it->rows + p->lanes - 1) / p->lanes,
                     .fresh = 1,
                     .qt = mem,
                     .work = mem + p->qt_bytes};
    for (int32_t l = 0; l < p->levels; l++)
        t->node[l] = mem + p->qt_bytes + (l + 1) * p->node_bytes;
    qkvi_pack_rows(it->job, it->slot, t,
                   qkvi_at(it->job->q, qkvi_shape_at(&p->q, p->q_bytes, it->place.batch,
                                                     it->place.head, it->place.row)));
}

/* What each row sees of the span's keys; 0 when none sees any. */
static int set_range(const item *it, int64_t key, int32_t keys, int32_t *lo, int32_t *hi)
{
    int any = 0;
    for (int32_t r = 0; r < it->rows; r++) {
        const int64_t a = it->range[r].lo - key, b = it->range[r].hi - key;
        lo[r] = (int32_t)(a < 0 ? 0 : min64(a, keys));
        hi[r] = (int32_t)(b < lo[r] ? lo[r] : min64(b, keys));
        any |= lo[r] < hi[r];
    }
    return any;
}

/* Where the keys and values from own key `key` on are read: in place, or from the slot. */
static void set_keys(const item *it, qkvi_few *few, int64_t key)
{
    const qkv_plan *const p = it->plan;
    const void *const k = qkvi_at(it->k, key * p->k.stride[2] * p->k_bytes);
    const void *const v = qkvi_at(it->v, key * p->v.stride[2] * p->v_bytes);
    few->k = k;
    few->v = v;
    few->k_stride = p->k.stride[2];
    few->v_stride = p->v.stride[2];
    few->k_dtype = p->k.dtype;
    few->v_dtype = p->v.dtype;
    if (p->few_copies_k) {
        qkvi_block_keys(p, it->slot + p->at_k, k, few->keys);
        few->k = it->slot + p->at_k;
        few->k_stride = p->d;
        few->k_dtype = p->real;
    }
    if (!p->few_copies_v) return;
    if (p->v.dtype != p->real) {
        few->v = it->slot + p->at_wide;
        p->ops->widen(it->slot + p->at_wide, v, p->v.dtype, p->v.stride[2], p->v.stride[3],
                      few->keys, p->dv);
    } else { /* the room of the strips holds them as rows */
        few->v = it->slot + p->at_v;
        p->ops->gather(it->slot + p->at_v, v, p->v.stride[2], p->v.stride[3], few->keys, p->dv);
    }
    few->v_stride = p->dv;
    few->v_dtype = p->real;
}

/* Own keys [key, end) of one span into the rows' states: all at once where they can be read in
 * place, else block by block. 0: no row sees one. */
static int do_keys(item *it, void *states, int64_t key, int64_t end)
{
    const qkv_plan *const p = it->plan;
    const int64_t step = p->few_copies_k || p->few_copies_v ? QKVI_BLOCK : QKVI_SPAN;
    int32_t lo[QKVI_FEW_ROWS], hi[QKVI_FEW_ROWS];
    qkvi_few few = {.qt = it->tile.qt,
                    .width = (int64_t)it->tile.vectors * p->lanes,
                    .d = p->d,
                    .dv = p->dv,
                    .rows = it->rows,
                    .lo = lo,
                    .hi = hi,
                    .s = it->slot + p->at_few_s,
                    .mb = it->slot + p->at_few_mb,
                    .lb = it->slot + p->at_few_lb,
                    .sums = it->slot + p->at_few_sums,
                    .state = states,
                    .sums_bytes = p->sums_bytes,
                    .state_bytes = p->state_bytes};
    int any = 0;
    for (; key < end; key += step) {
        few.keys = (int32_t)min64(step, end - key);
        if (!set_range(it, key, few.keys, lo, hi)) continue;
        set_keys(it, &few, key);
        p->ops->few_score(&few);
        p->ops->few_weigh(&few);
        p->ops->few_blend(&few);
        any = 1;
    }
    return any;
}

static void do_span(item *it, int64_t key, int64_t end)
{
    const qkv_plan *const p = it->plan;
    const int64_t width = (int64_t)it->tile.vectors * p->lanes;
    char *const states = it->slot + p->at_few_states + 64 - 2 * p->real_bytes; /* o is aligned */
    void *const work = it->tile.work, *const m = qkvi_node_m(p, work),
                *const l = qkvi_node_l(p, work);
    qkvi_node_clear(p, work, width);
    p->ops->store_node(work, m, l, states, p->state_bytes, it->rows, p->dv, width);
    if (!do_keys(it, states, key, end)) return;
    p->ops->load_node(work, m, l, states, p->state_bytes, it->rows, p->dv, width);
    it->tile.fresh = 0;
}

int qkvi_item_few(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    item it = {.job = job, .plan = p, .slot = slot, .place = qkvi_item_place(job, number)};
    const int64_t kv_head = it.place.head / (p->heads / p->kv_heads);
    it.rows = (int32_t)(job->heads > 1 ? job->heads : it.place.rows);
    it.k = qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, it.place.batch, kv_head, it.place.key));
    it.v = qkvi_at(job->v, qkvi_shape_at(&p->v, p->v_bytes, it.place.batch, kv_head, it.place.key));
    for (int32_t r = 0; r < it.rows; r++)
        it.range[r] = qkvi_mask_row(&it.place.mask, it.place.own_row + (job->heads > 1 ? 0 : r));
    const qkvi_extent sees = qkvi_mask_extent(it.range, it.rows);
    const int64_t end = job->partial ? min64(job->span_end * QKVI_SPAN, p->keys) : sees.any.hi;
    int64_t key = job->partial ? job->span_begin * QKVI_SPAN : sees.any.lo / QKVI_SPAN * QKVI_SPAN;
    if (qkvi_cancelled(job)) return QKVI_CANCELLED; /* also where there is no key to visit */
    set_tile(&it);
    it.outlet = qkvi_outlet_of(job, &it.place, &it.tile);
    for (; key < end; key += QKVI_SPAN) {
        if (qkvi_cancelled(job)) return QKVI_CANCELLED;
        do_span(&it, key, min64(key + QKVI_SPAN, it.place.mask.keys));
        qkvi_span_end(job, &it.tile, &it.outlet, key / QKVI_SPAN);
    }
    qkvi_tile_end(job, &it.place, &it.tile, slot, &it.outlet, end);
    return 0;
}
