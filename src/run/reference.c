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
#include "run/show.h"
#include "run/taps.h"

/* x may round to -0 */
void qkvi_put(void *to, int64_t index, int32_t dtype, double x)
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

/* The caller's function as the reference calls it: one row, all keys of its batch, in double. */
typedef struct rule_call {
    const qkvi_job *job;
    const qkvi_place *at;
    void *numbers; /* keys, of the accumulator's type */
} rule_call;

static void call_rule(void *ctx, double *score, int64_t keys)
{
    const rule_call *const c = ctx;
    const qkv_plan *const p = c->job->plan;
    const qkvi_place *const at = c->at;
    if (keys == 0) return; /* the function is never called for nothing */
    for (int64_t j = 0; j < keys; j++)
        if (p->real_bytes == 4)
            ((float *)c->numbers)[j] = (float)score[j];
        else
            ((double *)c->numbers)[j] = score[j];
    c->job->rule->score(c->job->rule->ctx, at->sequence, at->head, at->mask.shift + at->own_row,
                        at->first_key - at->key, 1, keys, c->numbers, 1);
    for (int64_t j = 0; j < keys; j++) score[j] = qkvi_number(p, c->numbers, j);
}

/* what is done to the row's scores */
static void set_changes(const qkvi_job *job, const qkvi_place *at, int64_t own_row, qkvi_ref_row *r,
                        rule_call *call)
{
    const qkv_plan *const p = job->plan;
    if (p->use & QKV_USE_SOFTCAP) r->cap = p->softcap;
    if (p->use & QKV_USE_RULE) {
        *call = (rule_call){job, at, r->weight}; /* weights come later */
        r->rule = call_rule;
        r->rule_ctx = call;
    }
    r->slope = qkvi_slope(job, at);
    r->position = at->mask.shift + own_row + at->key - at->first_key;
    if (p->use & QKV_USE_BIAS) {
        const qkv_shape *const b = &p->bias;
        const int64_t from =
            qkvi_shape_at(b, qkvi_dtype_bytes(b->dtype), at->batch, at->head, at->row);
        r->bias =
            qkvi_at(job->bias, from + at->first_key * b->stride[3] * qkvi_dtype_bytes(b->dtype));
        r->bias_dtype = b->dtype;
        r->bias_key = b->stride[3];
        r->bias_keys = b->dim[3] - at->first_key;
    }
    r->sink = qkvi_sink(job, at);
    r->has_sink = (p->use & QKV_USE_SINK) != 0;
}

/* which keys the row sees, and keeps */
static void set_seen(const qkvi_job *job, char *slot, const qkvi_place *at, int64_t own_row,
                     qkvi_ref_row *r)
{
    const qkv_plan *const p = job->plan;
    const int64_t padding = at->key - at->first_key;
    const qkvi_range range = qkvi_mask_row(&at->mask, own_row);
    r->lo = padding + range.lo;
    r->hi = padding + range.hi;
    if (p->use & (QKV_USE_MASK | QKV_USE_BIAS)) {
        unsigned char *const seen = (unsigned char *)slot + p->at_live;
        qkvi_look_row(job, at, &range, seen);
        r->seen = seen;
    }
    if (p->use & QKV_USE_DROPOUT) {
        unsigned char *const kept = (unsigned char *)slot + p->at_drop;
        qkvi_kept_row(job, at, own_row, kept);
        r->kept = kept;
        r->keep_factor = p->dropout < 1 ? 1 / (1 - p->dropout) : 0;
    }
}

void qkvi_reference_row(const qkvi_job *job, char *slot, const qkvi_place *at, int64_t own_row,
                        qkvi_ref_row *r)
{
    const qkv_plan *const p = job->plan;
    const int64_t kv_head = at->head / (p->heads / p->kv_heads);
    double *const rows = (double *)(void *)(slot + p->at_s);
    *r = (qkvi_ref_row){
        .q_dtype = p->q.dtype,
        .k_dtype = p->k.dtype,
        .v_dtype = p->v.dtype,
        .q = qkvi_at(job->q, qkvi_shape_at(&p->q, p->q_bytes, at->batch, at->head, at->row)),
        .k = qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, at->batch, kv_head, at->first_key)),
        .v = qkvi_at(job->v, qkvi_shape_at(&p->v, p->v_bytes, at->batch, kv_head, at->first_key)),
        .q_channel = p->q.stride[3],
        .k_key = p->k.stride[2],
        .k_channel = p->k.stride[3],
        .v_key = p->v.stride[2],
        .v_channel = p->v.stride[3],
        .keys = at->all_keys,
        .d = p->d,
        .dv = p->dv,
        .scale = p->scale,
        .score = rows,
        .scaled = rows + p->keys,
        .masked = rows + 2 * p->keys,
        .weight = rows + 3 * p->keys,
        .capped = rows + 4 * p->keys,
        .out = (double *)(void *)(slot + p->at_nodes),
    };
    rule_call call;
    set_seen(job, slot, at, own_row, r);
    set_changes(job, at, own_row, r, &call);
    qkvi_ref_attend(r);
}

int qkvi_item_reference(const qkvi_job *job, void *slot, int64_t number)
{
    const qkv_plan *const p = job->plan;
    const qkvi_place at = qkvi_item_place(job, number);
    const int64_t flat = (at.batch * p->heads + at.head) * p->rows + at.row;
    qkvi_ref_row r;
    if (qkvi_cancelled(job)) return QKVI_CANCELLED;
    qkvi_reference_row(job, slot, &at, at.own_row, &r);
    void *const out =
        qkvi_at_out(job->out, qkvi_shape_at(&p->out, p->out_bytes, at.batch, at.head, at.row));
    for (int64_t c = 0; c < p->dv; c++) qkvi_put(out, c * p->out.stride[3], p->out.dtype, r.out[c]);
    if (job->lse) qkvi_put(job->lse, flat, p->real, r.lse);
    if (job->row_max) qkvi_put(job->row_max, flat, p->real, r.largest);
    if (job->show) qkvi_show_row(job, &at, &r);
    return job->tap && show(job, &at, &r) ? QKVI_TAPPED : 0;
}
