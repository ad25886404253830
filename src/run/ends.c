/* SPDX-License-Identifier: MIT */
/* ends.c - see ends.h. Rows of several heads in one tile are the one row of each: they lie one after
 * the other wherever rows do.
 */
#include "run/ends.h"
#include "base/contract.h"
#include "base/shape.h"
#include "run/look.h"

static void store_node(void *ctx, const qkv_plan *p, const qkvi_tile *t, void *node)
{
    qkvi_outlet *const to = ctx;
    const int64_t bytes = (p->dv + 2) * p->real_bytes;
    p->ops->store_node(node, qkvi_node_m(p, node), qkvi_node_l(p, node), to->at, to->nodes * bytes,
                       t->rows, p->dv, (int64_t)t->vectors * p->lanes);
    to->at += bytes;
}

qkvi_outlet qkvi_outlet_of(const qkvi_job *job, const qkvi_place *place, const qkvi_tile *t)
{
    const qkv_plan *const p = job->plan;
    const int64_t row = (place->batch * p->heads + place->head) * p->rows + place->row + t->row;
    return (qkvi_outlet){
        qkvi_at_out(job->partial, row * job->partial_nodes * (p->dv + 2) * p->real_bytes),
        job->partial_nodes};
}

void qkvi_span_end(const qkvi_job *job, qkvi_tile *t, qkvi_outlet *outlet, int64_t span)
{
    const qkv_plan *const p = job->plan;
    if (t->fresh && !job->partial) {
        qkvi_tree_skip(p, t, span);
        return;
    }
    if (t->fresh) qkvi_node_clear(p, t->work, (int64_t)t->vectors * p->lanes);
    t->fresh = 1;
    qkvi_tree_push(p, t, 0, span, job->span_begin, store_node, outlet);
}

/* m and l of the tile's rows, for the second pass */
static void keep_finals(const qkvi_job *job, int64_t flat, const void *m, const void *l,
                        int64_t rows)
{
    const int64_t e = job->plan->real_bytes;
    for (int64_t r = 0; r < rows; r++) {
        char *const to = qkvi_final(job, flat + r);
        __builtin_memcpy(to, (const char *)m + r * e, (size_t)e);
        __builtin_memcpy(to + e, (const char *)l + r * e, (size_t)e);
    }
}

/* What is left of a row without a key is its sink. */
static void sink_alone(const qkv_plan *p, void *lse, int64_t rows, double logit)
{
    typedef float any_float __attribute__((aligned(1), may_alias));
    typedef double any_double __attribute__((aligned(1), may_alias));
    for (int64_t r = 0; r < rows; r++) {
        if (qkvi_number(p, lse, r) != -(double)__builtin_inff()) continue;
        if (p->real_bytes == 4)
            ((any_float *)lse)[r] = (float)logit;
        else
            ((any_double *)lse)[r] = logit;
    }
}

void qkvi_tile_finish(const qkvi_job *job, const qkvi_place *place, qkvi_tile *t, void *slot)
{
    const qkv_plan *const p = job->plan;
    const int64_t width = (int64_t)t->vectors * p->lanes, row = place->row + t->row;
    const int64_t flat = (place->batch * p->heads + place->head) * p->rows + row;
    void *const out =
        qkvi_at_out(job->out, qkvi_shape_at(&p->out, p->out_bytes, place->batch, place->head, row));
    const int other = p->out.dtype != p->real;
    const int64_t row_stride = p->out.stride[job->heads > 1 ? 1 : 2];
    void *const wide = (char *)slot + p->at_wide;
    void *const lse = job->lse ? qkvi_at_out(job->lse, flat * p->real_bytes) : NULL;
    if (!qkvi_tree_close(p, t)) qkvi_node_clear(p, t->work, width); /* no row saw a key */
    void *const m = qkvi_node_m(p, t->work), *const l = qkvi_node_l(p, t->work);
    const double logit = qkvi_sink(job, place);
    if (logit > -(double)__builtin_inff())
        p->ops->sink(t->work, m, l, qkvi_log2_units(p, logit), p->dv, width);
    if (job->key_sums) keep_finals(job, flat, m, l, t->rows);
    p->ops->finish(t->work, m, l, p->keep_factor, other ? wide : out, other ? p->dv : row_stride,
                   other ? 1 : p->out.stride[3], lse, t->rows, p->dv, width);
    if (lse && logit > -(double)__builtin_inff()) sink_alone(p, lse, t->rows, logit);
    if (other)
        p->ops->narrow(out, wide, p->out.dtype, row_stride, p->out.stride[3], t->rows, p->dv);
}

void qkvi_tile_end(const qkvi_job *job, const qkvi_place *place, qkvi_tile *t, void *slot,
                   qkvi_outlet *outlet, int64_t key_end)
{
    const qkv_plan *const p = job->plan;
    const int64_t flat = (place->batch * p->heads + place->head) * p->rows + place->row + t->row;
    if (job->row_max)
        p->ops->show_top(t->top, qkvi_at_out(job->row_max, flat * p->real_bytes), t->rows);
    if (!job->partial) {
        qkvi_tile_finish(job, place, t, slot);
    } else if (key_end == p->keys) {
        if (qkvi_tree_close(p, t)) store_node(outlet, p, t, t->work);
    } else {
        qkvi_tree_flush(p, t, store_node, outlet);
    }
}
