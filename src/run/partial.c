/* SPDX-License-Identifier: MIT */
/* partial.c - partial results back to one: the nodes of all parts, in key order, go up the same
 * tree as the spans of a whole run, and finish to the same bits.
 */
#include "base/contract.h"
#include "base/shape.h"
#include "run/run.h"
#include "run/tree.h"

/* Walks the nodes of spans [s0, s1) as a run over that range leaves them: the largest whose spans
 * all lie inside, spans beyond the last not counting. Returns 0 when there is none left; *s0 moves
 * on. */
static int next_node(const qkv_plan *plan, int64_t *s0, int64_t s1, int32_t *level, int64_t *index)
{
    if (*s0 >= s1) return 0;
    int32_t l = 0;
    /* twice as large as long as it still begins here, and ends inside or beyond the last key */
    while (l < plan->levels) {
        const int64_t size = (int64_t)2 << l;
        const int64_t end = *s0 + size;
        if (*s0 % size != 0 || (end > s1 && s1 != plan->spans)) break;
        if (*s0 + (size >> 1) >= plan->spans) break; /* the same keys: the lower level names it */
        l++;
    }
    *level = l;
    *index = *s0 >> l;
    *s0 += (int64_t)1 << l;
    return 1;
}

int64_t qkvi_plan_nodes(const qkv_plan *plan, int64_t s0, int64_t s1)
{
    int64_t n = 0, index;
    int32_t level;
    while (next_node(plan, &s0, s1, &level, &index)) n++;
    return n;
}

int qkvi_plan_range(const qkv_plan *plan, int64_t key_begin, int64_t key_end)
{
    return key_begin >= 0 && key_begin < key_end && key_end <= plan->keys &&
           key_begin % QKVI_SPAN == 0 && (key_end % QKVI_SPAN == 0 || key_end == plan->keys);
}

int64_t qkvi_part_from(const qkv_partial *parts, int64_t nparts, int64_t key)
{
    int64_t found = -1;
    for (int64_t i = 0; i < nparts; i++) {
        const qkv_partial *const p = qkvi_part_at(parts, i);
        if (p->key_begin == key && p->key_end > key) found = found == -1 ? i : -2;
    }
    return found;
}

static void no_sink(void *ctx, const qkv_plan *plan, const qkvi_tile *tile, void *node)
{
    (void)ctx, (void)plan, (void)tile, (void)node; /* all spans are here: every sibling is too */
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
        qkvi_tile t = {.rows = (int32_t)(left < p->tile_rows ? left : p->tile_rows),
                       .work = mem + p->qt_bytes};
        t.vectors = (t.rows + p->lanes - 1) / p->lanes;
        for (int32_t l = 0; l < p->levels; l++)
            t.node[l] = mem + p->qt_bytes + (l + 1) * p->node_bytes;
        const int64_t width = (int64_t)t.vectors * p->lanes;
        for (int64_t key = 0; key < p->keys;) {
            const qkv_partial *const part =
                qkvi_part_at(job->parts, qkvi_part_from(job->parts, job->nparts, key));
            key = part->key_end;
            const int64_t s1 = (part->key_end + QKVI_SPAN - 1) / QKVI_SPAN;
            int64_t s0 = part->key_begin / QKVI_SPAN, index;
            const int64_t nodes = qkvi_plan_nodes(p, s0, s1);
            const char *from = (const char *)part->data + (first + row) * nodes * bytes;
            for (int32_t level; next_node(p, &s0, s1, &level, &index); from += bytes) {
                if (qkvi_cancelled(job)) return QKVI_CANCELLED;
                p->ops->load_node(t.work, qkvi_node_m(p, t.work), qkvi_node_l(p, t.work), from,
                                  nodes * bytes, t.rows, p->dv, width);
                qkvi_tree_push(p, &t, level, index, 0, no_sink, NULL);
            }
        }
        if (!qkvi_tree_close(p, &t)) qkvi_node_clear(p, t.work, width);
        p->ops->finish(t.work, qkvi_node_m(p, t.work), qkvi_node_l(p, t.work),
                       qkvi_at_out(job->out, qkvi_shape_at(&p->out, p->real_bytes, at.batch,
                                                           at.head, at.row + row)),
                       p->out.stride[2], p->out.stride[3],
                       job->lse ? qkvi_at_out(job->lse, (first + row) * p->real_bytes) : NULL,
                       t.rows, p->dv, width);
    }
    return 0;
}
