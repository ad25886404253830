/* SPDX-License-Identifier: MIT */
/* engine.c - see engine.h. A tap shows the weights; of them the chosen range of keys is kept.
 */
#include "lesson/engine.h"

static void *take(const lesson_memory *memory, int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size) return NULL;
    return memory->take(memory->ctx, (size_t)count * size);
}

typedef struct collector {
    const lesson_input *in;
    lesson_stages *s;
} collector;

static double value_at(const void *x, int64_t i, int f32)
{
    return f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* Keeps the weights of the chosen keys. */
static int on_row(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                  const void *x, int64_t n)
{
    const collector *const c = (const collector *)ctx;
    const lesson_input *const in = c->in;
    (void)stage;
    (void)batch;
    (void)head;
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = key + i;
        if (j < in->key_begin || j >= in->key_end) continue;
        const int64_t at = row * c->s->keys + j - in->key_begin;
        if (in->engine_dtype == QKV_F32)
            ((float *)c->s->engine_weight)[at] = ((const float *)x)[i];
        else
            ((double *)c->s->engine_weight)[at] = ((const double *)x)[i];
    }
    return 0;
}

typedef struct operands {
    const void *q, *k, *v; /* of engine_dtype; q at row_begin */
} operands;

/* Padding is left out of the softmax. */
static qkv_status run_once(collector *c, const operands *o, const lesson_memory *memory,
                           qkv_error *err)
{
    const lesson_input *const in = c->in;
    const int64_t keys = in->keys - in->padding;
    qkv_params p = qkv_params_init();
    p.q = qkv_shape_dense(in->engine_dtype, 1, 1, c->s->rows, in->d_k);
    p.k = qkv_shape_dense(in->engine_dtype, 1, 1, keys, in->d_k);
    p.v = qkv_shape_dense(in->engine_dtype, 1, 1, keys, in->d_v);
    p.out = qkv_shape_dense(in->engine_dtype, 1, 1, c->s->rows, in->d_v);
    if (in->scale_kind != LESSON_SCALE_SQRT || in->temperature != 1) {
        p.use |= QKV_USE_SCALE;
        p.scale = c->s->scale;
    }
    if (in->causal) {
        p.use |= QKV_USE_CAUSAL;
        p.q_offset = in->q_offset + in->row_begin;
    }
    const size_t plan_bytes = qkv_plan_size();
    void *const place = memory->take(memory->ctx, plan_bytes);
    if (place == NULL) return QKV_ENOMEM;
    qkv_plan *plan = NULL;
    const qkv_status made = qkv_plan_place(&plan, place, plan_bytes, &p, err);
    if (made != QKV_OK) return made;

    qkv_tap tap = qkv_tap_init();
    tap.stages = 1u << QKV_STAGE_WEIGHT;
    tap.row = on_row;
    tap.ctx = c;
    qkv_run_args a = qkv_run_args_init();
    a.q = o->q;
    a.k = o->k;
    a.v = o->v;
    a.out = c->s->engine_out;
    a.tap = &tap;
    a.workspace_size = qkv_plan_workspace(plan);
    if (a.workspace_size > 0) {
        a.workspace = memory->take(memory->ctx, a.workspace_size);
        if (a.workspace == NULL) return QKV_ENOMEM;
    }
    return qkv_run(plan, &a, err);
}

static const float *as_f32(const double *x, int64_t n, const lesson_memory *memory)
{
    float *const y = (float *)take(memory, n, sizeof(float));
    for (int64_t i = 0; y != NULL && i < n; i++) y[i] = (float)x[i];
    return y;
}

/* The larger of both, and NaN once there is one. */
static double larger(double a, double b)
{
    return b > a || b != b ? b : a;
}

static double difference(const double *x, const void *engine, int64_t n, int f32)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double y = value_at(engine, i, f32);
        if (x[i] == y || (x[i] != x[i] && y != y)) continue; /* equal, infinities and NaNs too */
        const double by = x[i] > y ? x[i] - y : y - x[i];
        most = larger(most, by);
    }
    return most;
}

qkv_status engine_run(lesson_stages *s, const lesson_input *in, const lesson_memory *memory,
                      qkv_error *err)
{
    const int f32 = in->engine_dtype == QKV_F32;
    const size_t size = f32 ? sizeof(float) : sizeof(double);
    const int64_t outs = s->rows * in->d_v;
    s->engine_weight = take(memory, s->rows * s->keys, size);
    s->engine_out = take(memory, outs, size);
    if (s->engine_weight == NULL || s->engine_out == NULL) return QKV_ENOMEM;
    for (size_t i = 0; i < (size_t)(s->rows * s->keys) * size; i++)
        ((unsigned char *)s->engine_weight)[i] = 0;
    collector c = {in, s};
    const double *const q = in->q + in->row_begin * in->d_k;
    operands o = {q, in->k, in->v};
    if (f32) {
        o.q = as_f32(q, s->rows * in->d_k, memory);
        o.k = as_f32(in->k, in->keys * in->d_k, memory);
        o.v = as_f32(in->v, in->keys * in->d_v, memory);
        if (o.q == NULL || o.k == NULL || o.v == NULL) return QKV_ENOMEM;
    }
    const qkv_status status = run_once(&c, &o, memory, err);
    if (status != QKV_OK) return status;
    s->difference = difference(s->weight, s->engine_weight, s->rows * s->keys, f32);
    if (in->stage > 3)
        s->difference = larger(s->difference, difference(s->out, s->engine_out, outs, f32));
    return QKV_OK;
}
