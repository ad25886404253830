/* SPDX-License-Identifier: MIT */
/* partial.c - partial results back to one: the nodes of all parts, in key order, go up the same
 * tree as the spans of a whole run, and finish to the same bits.
 */
#include "base/contract.h"
#include "base/shape.h"
#include "plan/nodes.h"
#include "run/ends.h"

int64_t qkvi_part_from(const qkv_partial *parts, int64_t nparts, int64_t key)
{
    int64_t found = -1;
    for (int64_t i = 0; i < nparts; i++) {
        const qkv_partial *const p = qkvi_part_at(parts, i);
        if (p->key_begin == key && p->key_end > key) found = found == -1 ? i : -2;
    }
    return found;
}

int qkvi_item_finish(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    const qkvi_place at = qkvi_item_place(job, number);
    const int64_t bytes = (p->dv + 2) * p->real_bytes;
    const int64_t first = (at.batch * p->heads + at.head) * p->rows + at.row;
    char *const mem = (char *)slot + p->at_nodes;
    if (qkvi_cancelled(job)) return QKVI_CANCELLED;
    for (int64_t row = 0; row < at.rows; row += p->tile_rows) {
        const int64_t left = at.rows - row;
        qkvi_tile t = {.row = row,
                       .rows = (int32_t)(left < p->tile_rows ? left : p->tile_rows),
                       .work = mem + p->qt_bytes};
        t.vectors = (t.rows + p->lanes - 1) / p->lanes;
        for (int32_t l = 0; l < p->levels; l++)
            t.node[l] = mem + p->qt_bytes + (l + 1) * p->node_bytes;
        const int64_t width = (int64_t)t.vectors * p->lanes;
        for (int64_t key = 0; key < p->keys;) {
            const qkv_partial *const part =
                qkvi_part_at(job->parts, qkvi_part_from(job->parts, job->nparts, key));
            key = part->key_end;
            const int64_t s1 = qkvi_span_after(part->key_end);
            int64_t s0 = part->key_begin / QKVI_SPAN, index;
            const int64_t nodes = qkvi_plan_nodes(p, s0, s1);
            const char *from = (const char *)part->data + (first + row) * nodes * bytes;
            for (int32_t level; qkvi_next_node(p, &s0, s1, &level, &index); from += bytes) {
                if (qkvi_cancelled(job)) return QKVI_CANCELLED;
                p->ops->load_node(t.work, qkvi_node_m(p, t.work), qkvi_node_l(p, t.work), from,
                                  nodes * bytes, t.rows, p->dv, width);
                qkvi_tree_push(p, &t, level, index, 0, NULL, NULL);
            }
        }
        qkvi_tile_finish(job, &at, &t, slot);
    }
    return 0;
}
