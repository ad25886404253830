/* SPDX-License-Identifier: MIT */
/* sums.c - what all rows together give each key (rule 12), in a second run over the rows: an item owns
 * keys, and adds row after row, so that the order never depends on who does it. m and l of every row
 * come from the first run.
 */
#include "base/contract.h"
#include "base/shape.h"
#include "run/look.h"
#include "run/show.h"

static void *sum_at(const qkvi_job *job, const qkvi_place *at, int64_t key)
{
    const qkv_plan *const p = job->plan;
    const int64_t flat = (at->batch * p->heads + at->head) * p->keys + key;
    return qkvi_at_out(job->key_sums, flat * p->real_bytes);
}

/* Rows [t->row, t->row + t->rows) give to keys [begin, end). */
static int sum_tile(const qkvi_job *job, char *slot, const qkvi_place *at, const qkvi_tile *t,
                    const qkvi_range *ranges, int64_t begin, int64_t end, qkvi_change *change)
{
    const qkv_plan *const p = job->plan;
    const int64_t e = p->real_bytes;
    const int64_t flat = (at->batch * p->heads + at->head) * p->rows + at->row + t->row;
    void *const m = slot + p->at_show, *const l = (char *)m + QKVI_BLOCK / 2 * e;
    for (int64_t r = 0; r < t->rows; r++) {
        const char *const from = qkvi_final(job, flat + r);
        __builtin_memcpy((char *)m + r * e, from, (size_t)e);
        __builtin_memcpy((char *)l + r * e, from + e, (size_t)e);
    }
    for (int64_t key = begin; key < end; key += QKVI_BLOCK) {
        const int64_t left = at->mask.keys - key;
        qkvi_step s = qkvi_again_step(job, slot, t, left < QKVI_BLOCK ? left : QKVI_BLOCK);
        if (qkvi_cancelled(job)) return QKVI_CANCELLED;
        if (qkvi_look(job, slot, at, t, ranges, key, &s, change) == QKVI_TILE_NONE) continue;
        qkvi_again_keys(job, slot, at, at->key + key, &s);
        p->ops->score(&s);
        p->ops->weigh(&s);
        p->ops->sum_weights(&s, m, l, sum_at(job, at, at->key + key), t->rows);
    }
    return 0;
}

static int sum_reference(const qkvi_job *job, char *slot, const qkvi_place *at)
{
    const qkv_plan *const p = job->plan;
    for (int64_t i = 0; i < at->rows; i++) {
        qkvi_place one = *at;
        qkvi_ref_row r;
        if (qkvi_cancelled(job)) return QKVI_CANCELLED;
        one.row += i;
        one.own_row = i;
        qkvi_reference_row(job, slot, &one, i, &r);
        for (int64_t j = 0; j < at->all_keys; j++) {
            void *const sum = sum_at(job, at, at->first_key + j);
            qkvi_put(sum, 0, p->real, qkvi_number(p, sum, 0) + r.weight[j]);
        }
    }
    return 0;
}

int qkvi_item_sums(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    int64_t begin, end;
    const qkvi_place at = qkvi_sums_place(job, number, &begin, &end);
    for (int64_t j = begin; j < end; j++) { /* never -0 */
        void *const sum = sum_at(job, &at, at.key + j);
        qkvi_put(sum, 0, p->real, qkvi_number(p, sum, 0));
    }
    if (p->ops == NULL) return sum_reference(job, slot, &at);
    qkvi_range *const ranges = (qkvi_range *)(void *)((char *)slot + p->at_ranges);
    qkvi_change change;
    qkvi_look_begin(job, &at, &change);
    for (int64_t row = 0; row < at.rows; row += p->tile_rows) {
        const int64_t left = at.rows - row;
        qkvi_tile t = {.qt = (char *)slot + p->at_nodes,
                       .row = row,
                       .rows = (int32_t)(left < p->tile_rows ? left : p->tile_rows)};
        t.vectors = (t.rows + p->lanes - 1) / p->lanes;
        for (int32_t r = 0; r < t.rows; r++) ranges[r] = qkvi_mask_row(&at.mask, row + r);
        t.sees = qkvi_mask_extent(ranges, t.rows);
        if (t.sees.any.hi <= begin || t.sees.any.lo >= end) continue;
        qkvi_pack_rows(
            job, slot, &t,
            qkvi_at(job->q, qkvi_shape_at(&p->q, p->q_bytes, at.batch, at.head, at.row + row)));
        if (sum_tile(job, slot, &at, &t, ranges, begin, end, &change)) return QKVI_CANCELLED;
    }
    return 0;
}
