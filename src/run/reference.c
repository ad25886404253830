/* SPDX-License-Identifier: MIT */
/* reference.c - one row through src/ref, its result into the caller's tensors, its stages to the
 * tap.
 *
 * An item is one row; the slot holds four rows of key length (score, scaled, masked, weight), the
 * row's output, and which keys it sees.
 */
#include "base/half.h"
#include "base/shape.h"
#include "ref/ref.h"
#include "run/look.h"
#include "run/run.h"
#include "run/taps.h"

/* to[index] = x, rounded to the type; every NaN the same one, every zero +0 (x may round to -0) */
static void put(void *to, int64_t index, int32_t dtype, double x)
{
    typedef float any_float __attribute__((aligned(1), may_alias));
    typedef double any_double __attribute__((aligned(1), may_alias));
    typedef uint16_t any_half __attribute__((aligned(1), may_alias));
    const double y = x == x ? x : __builtin_nan("");
    if (dtype == QKV_F64) {
        ((any_double *)to)[index] = y;
    } else if (dtype == QKV_F32) {
        ((any_float *)to)[index] = (float)y + 0;
    } else {
        const uint16_t h = dtype == QKV_F16 ? qkvi_f16_narrow(y) : qkvi_bf16_narrow(y);
        ((any_half *)to)[index] = h == 0x8000 ? 0 : h;
    }
}

static int show(const qkvi_job *job, const qkvi_place *at, const qkvi_ref_row *r)
{
    const int64_t key = at->first_key;
    return qkvi_tap_show(job, QKV_STAGE_SCORE, at, at->row, key, r->score, r->keys) ||
           qkvi_tap_show(job, QKV_STAGE_SCALED, at, at->row, key, r->scaled, r->keys) ||
           qkvi_tap_show(job, QKV_STAGE_MASKED, at, at->row, key, r->masked, r->keys) ||
           qkvi_tap_show(job, QKV_STAGE_WEIGHT, at, at->row, key, r->weight, r->keys) ||
           qkvi_tap_show(job, QKV_STAGE_OUT, at, at->row, 0, r->out, r->dv);
}

int qkvi_item_reference(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    const qkvi_place at = qkvi_item_place(job, number);
    const int64_t kv_head = at.head / (p->heads / p->kv_heads);
    const qkvi_range range = qkvi_mask_row(&at.mask, at.own_row);
    const int64_t padding = at.key - at.first_key;
    double *const rows = (double *)(void *)((char *)slot + p->at_s);
    qkvi_ref_row r = {
        .q_dtype = p->q.dtype,
        .k_dtype = p->k.dtype,
        .v_dtype = p->v.dtype,
        .q = qkvi_at(job->q, qkvi_shape_at(&p->q, p->q_bytes, at.batch, at.head, at.row)),
        .k = qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, at.batch, kv_head, at.first_key)),
        .v = qkvi_at(job->v, qkvi_shape_at(&p->v, p->v_bytes, at.batch, kv_head, at.first_key)),
        .q_channel = p->q.stride[3],
        .k_key = p->k.stride[2],
        .k_channel = p->k.stride[3],
        .v_key = p->v.stride[2],
        .v_channel = p->v.stride[3],
        .keys = at.all_keys,
        .d = p->d,
        .dv = p->dv,
        .lo = padding + range.lo,
        .hi = padding + range.hi,
        .scale = p->scale,
        .score = rows,
        .scaled = rows + p->keys,
        .masked = rows + 2 * p->keys,
        .weight = rows + 3 * p->keys,
        .out = (double *)(void *)((char *)slot + p->at_nodes),
    };
    if (qkvi_cancelled(job)) return QKVI_CANCELLED;
    if (p->use & QKV_USE_MASK) {
        unsigned char *const seen = (unsigned char *)slot + p->at_live;
        qkvi_look_row(job, &at, &range, seen);
        r.seen = seen;
    }
    qkvi_ref_attend(&r);
    void *const out =
        qkvi_at_out(job->out, qkvi_shape_at(&p->out, p->out_bytes, at.batch, at.head, at.row));
    for (int64_t c = 0; c < p->dv; c++) put(out, c * p->out.stride[3], p->out.dtype, r.out[c]);
    if (job->lse) put(job->lse, (at.batch * p->heads + at.head) * p->rows + at.row, p->real, r.lse);
    return job->tap && show(job, &at, &r) ? QKVI_TAPPED : 0;
}
