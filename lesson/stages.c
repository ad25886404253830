/* SPDX-License-Identifier: MIT */
/* stages.c - all the arithmetic of the calculator: one run of the library's float64 reference with
 * a tap on every stage, and one of the kernels for the values that the library itself gives.
 *
 * Only the chosen range of rows is run; every key takes part, the chosen range of keys is kept, and
 * the token's own row is kept whole, because the worked lines need all of it.
 */
#include "lesson/lesson.h"

/* The page's core is built without kernels: all that it shows is the reference's. */
#ifdef LESSON_WITHOUT_KERNELS
enum { KERNELS = 0 };
#else
enum { KERNELS = 1 };
#endif

double lesson_scale(const lesson_input *in)
{
    const double d = (double)in->d_k;
    double scale = in->scale_value;
    if (in->scale_kind == LESSON_SCALE_NONE) scale = 1;
    if (in->scale_kind == LESSON_SCALE_DK) scale = 1 / d;
    if (in->scale_kind == LESSON_SCALE_SQRT) scale = 1 / __builtin_sqrt(d); /* one instruction */
    return in->temperature == 1 ? scale : scale / in->temperature;
}

int lesson_sees(const lesson_input *in, int64_t row, int64_t key)
{
    return key < lesson_seen(in, row);
}

int64_t lesson_seen(const lesson_input *in, int64_t row)
{
    const int64_t real = in->keys - in->padding;
    const int64_t seen = row + in->q_offset + 1; /* |q_offset| <= 2^62 */
    if (!in->causal || seen > real) return real;
    return seen > 0 ? seen : 0;
}

int64_t lesson_strongest(const lesson_input *in, const lesson_stages *s)
{
    int64_t best = -1;
    for (int64_t j = 0; j < in->keys; j++) {
        if (!lesson_sees(in, in->token, j)) continue;
        if (best < 0 || s->row_weight[j] > s->row_weight[best]) best = j;
    }
    return best;
}

static void *take(const lesson_memory *memory, int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size) return NULL;
    return memory->take(memory->ctx, (size_t)count * size);
}

/* ---- one run --------------------------------------------------------------------------------- */

typedef struct collector {
    const lesson_input *in;
    lesson_stages *s;
    int engine; /* x holds engine_dtype, only the weights are kept */
} collector;

static double value_at(const void *x, int64_t i, int f32)
{
    return f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void keep_engine(const collector *c, int64_t row, int64_t key, const void *x)
{
    const int64_t at = row * c->s->keys + key;
    if (c->in->engine_dtype == QKV_F32)
        ((float *)c->s->engine_weight)[at] = *(const float *)x;
    else
        ((double *)c->s->engine_weight)[at] = *(const double *)x;
}

static int on_row(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                  const void *x, int64_t n)
{
    const collector *const c = (const collector *)ctx;
    const lesson_input *const in = c->in;
    lesson_stages *const s = c->s;
    (void)batch;
    (void)head;
    double *const kept = stage == QKV_STAGE_SCORE    ? s->score
                         : stage == QKV_STAGE_SCALED ? s->scaled
                                                     : s->weight;
    double *const whole = stage == QKV_STAGE_SCORE    ? s->row_score
                          : stage == QKV_STAGE_SCALED ? s->row_scaled
                                                      : s->row_weight;
    const int f32 = c->engine && in->engine_dtype == QKV_F32;
    for (int64_t i = 0; i < n; i++) {
        const int64_t j = key + i;
        const int inside = j >= in->key_begin && j < in->key_end;
        if (c->engine) {
            if (!inside) continue;
            keep_engine(c, row, j - in->key_begin,
                        f32 ? (const void *)((const float *)x + i)
                            : (const void *)((const double *)x + i));
            continue;
        }
        const double y = ((const double *)x)[i];
        if (inside) kept[row * s->keys + j - in->key_begin] = y;
        if (row + in->row_begin == in->token) whole[j] = y;
        if (s->full != NULL && stage == QKV_STAGE_WEIGHT) s->full[row * in->keys + j] = y;
    }
    return 0;
}

typedef struct operands {
    int32_t isa, dtype;
    const void *q, *k, *v; /* q at row_begin */
    void *out, *lse;
} operands;

/* Over the first `keys` keys. */
static qkv_status run_once(collector *c, const operands *o, int64_t keys, uint32_t stages,
                           const lesson_memory *memory, qkv_error *err)
{
    const lesson_input *const in = c->in;
    qkv_params p = qkv_params_init();
    p.isa = o->isa;
    p.q = qkv_shape_dense(o->dtype, 1, 1, c->s->rows, in->d_k);
    p.k = qkv_shape_dense(o->dtype, 1, 1, keys, in->d_k);
    p.v = qkv_shape_dense(o->dtype, 1, 1, keys, in->d_v);
    p.out = qkv_shape_dense(o->dtype, 1, 1, c->s->rows, in->d_v);
    if (in->scale_kind != LESSON_SCALE_SQRT || in->temperature != 1) {
        p.use |= QKV_USE_SCALE;
        p.scale = c->s->scale;
    }
    if (in->causal && !in->wrong_way) {
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
    tap.stages = stages;
    tap.row = on_row;
    tap.ctx = c;
    qkv_run_args a = qkv_run_args_init();
    a.q = o->q;
    a.k = o->k;
    a.v = o->v;
    a.out = o->out;
    a.lse = o->lse;
    a.tap = &tap;
    a.workspace_size = qkv_plan_workspace(plan);
    if (a.workspace_size > 0) {
        a.workspace = memory->take(memory->ctx, a.workspace_size);
        if (a.workspace == NULL) return QKV_ENOMEM;
    }
    return qkv_run(plan, &a, err);
}

/* How many keys the softmax runs over: padding is left out of it, unless the wrong way is shown. */
static int64_t softmax_keys(const lesson_input *in)
{
    return in->wrong_way ? in->keys : in->keys - in->padding;
}

/* The wrong way: weights that the mask hides become 0 after the softmax, and the blend is made of
 * what is left, in the order of the keys. */
static void zero_after_softmax(lesson_stages *s, const lesson_input *in)
{
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t seen = lesson_seen(in, i + in->row_begin);
        double *const out = s->out + i * in->d_v;
        for (int64_t c = 0; c < in->d_v; c++) out[c] = 0;
        for (int64_t j = 0; j < in->keys; j++) {
            const double w = j < seen ? s->full[i * in->keys + j] : 0;
            if (i + in->row_begin == in->token) s->row_weight[j] = w;
            if (j >= in->key_begin && j < in->key_end)
                s->weight[i * s->keys + j - in->key_begin] = w;
            for (int64_t c = 0; c < in->d_v && j < seen; c++) out[c] += w * in->v[j * in->d_v + c];
        }
    }
}

static qkv_status run_reference(lesson_stages *s, const lesson_input *in,
                                const lesson_memory *memory, qkv_error *err)
{
    const uint32_t scores = 1u << QKV_STAGE_SCORE | 1u << QKV_STAGE_SCALED;
    const uint32_t weights = 1u << QKV_STAGE_WEIGHT;
    const int64_t keys = softmax_keys(in);
    collector c = {in, s, 0};
    const operands o = {
        QKV_ISA_REFERENCE, QKV_F64, in->q + in->row_begin * in->d_k, in->k, in->v, s->out, s->lse};
    if (keys == in->keys) return run_once(&c, &o, keys, scores | weights, memory, err);
    /* padded keys have scores, but no part in the softmax */
    const qkv_status status = run_once(&c, &o, in->keys, scores, memory, err);
    if (status != QKV_OK) return status;
    return run_once(&c, &o, keys, weights, memory, err);
}

/* ---- the kernels ----------------------------------------------------------------------------- */

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

static qkv_status run_engine(lesson_stages *s, const lesson_input *in, const lesson_memory *memory,
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
    collector c = {in, s, 1};
    const double *const q = in->q + in->row_begin * in->d_k;
    operands o = {QKV_ISA_BEST, in->engine_dtype, q, in->k, in->v, s->engine_out, NULL};
    if (f32) {
        o.q = as_f32(q, s->rows * in->d_k, memory);
        o.k = as_f32(in->k, in->keys * in->d_k, memory);
        o.v = as_f32(in->v, in->keys * in->d_v, memory);
        if (o.q == NULL || o.k == NULL || o.v == NULL) return QKV_ENOMEM;
    }
    const qkv_status status =
        run_once(&c, &o, softmax_keys(in), 1u << QKV_STAGE_WEIGHT, memory, err);
    if (status != QKV_OK) return status;
    s->difference = difference(s->weight, s->engine_weight, s->rows * s->keys, f32);
    if (in->stage > 3)
        s->difference = larger(s->difference, difference(s->out, s->engine_out, outs, f32));
    return QKV_OK;
}

qkv_status lesson_run(lesson_stages *s, const lesson_input *in, int engine,
                      const lesson_memory *memory, qkv_error *err)
{
    static const lesson_stages empty = {0};
    *s = empty;
    s->scale = lesson_scale(in);
    s->rows = in->row_end - in->row_begin;
    s->keys = in->key_end - in->key_begin;
    const int64_t cells = s->rows * s->keys;
    double **const want[] = {&s->score, &s->scaled,    &s->weight,     &s->lse,
                             &s->out,   &s->row_score, &s->row_scaled, &s->row_weight};
    const int64_t count[] = {cells,    cells,    cells,   s->rows, s->rows * in->d_v,
                             in->keys, in->keys, in->keys};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        *want[i] = (double *)take(memory, count[i], sizeof(double));
        if (*want[i] == NULL) return QKV_ENOMEM;
        for (int64_t k = 0; k < count[i]; k++) (*want[i])[k] = 0;
    }
    if (in->wrong_way) {
        s->full = (double *)take(memory, s->rows * in->keys, sizeof(double));
        if (s->full == NULL) return QKV_ENOMEM;
    }
    s->row_out = s->out + (in->token - in->row_begin) * in->d_v;
    const qkv_status status = run_reference(s, in, memory, err);
    if (status == QKV_OK && in->wrong_way) zero_after_softmax(s, in);
    if (status != QKV_OK || !engine || !KERNELS || in->wrong_way) return status;
    return run_engine(s, in, memory, err);
}
