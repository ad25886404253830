/* SPDX-License-Identifier: MIT */
/* feature_run.h - a case of features.inc as a plan and the arguments of a run: what a program that
 * uses the library would write. Tensors are dense; a mask keeps a dimension that it does not depend
 * on at stride 0.
 */
#ifndef QKV_TESTS_GOLDEN_FEATURE_RUN_H
#define QKV_TESTS_GOLDEN_FEATURE_RUN_H

#include <inttypes.h>
#include <qkv/qkv.h>
#include <stdio.h>
#include <stdlib.h>

#include "feature_hashes.h"

typedef struct feature_tensors {
    void *q, *k, *v;
    void *mask, *bias;    /* NULL: none */
    void *slopes, *sinks; /* NULL: none */
} feature_tensors;

typedef struct feature_run {
    const feature_case *c;
    qkv_plan *plan;
    qkv_run_args args;
    qkv_rule rule;
    void *out, *lse, *row_max, *key_sums;
} feature_run;

/* What the library can do. */
static inline uint32_t feature_done(void)
{
    return FEATURE_CAUSAL | FEATURE_SCALE | FEATURE_OFFSETS | FEATURE_PREFIX | FEATURE_WINDOW |
           FEATURE_KV_LEN | FEATURE_Q_LEN | FEATURE_KV_START | FEATURE_PACKED | FEATURE_POISON |
           FEATURE_BOOL | FEATURE_BITS | FEATURE_DROPS | FEATURE_BIAS | FEATURE_ALIBI |
           FEATURE_ALIBI_BATCH | FEATURE_SOFTCAP | FEATURE_SINK | FEATURE_RULE | FEATURE_DROPOUT;
}

/* Does it have all that the case asks for? */
static inline int feature_ready(const feature_case *c)
{
    return (c->with & ~feature_done()) == 0;
}

/* Does it write row maxima, key sums and scores on request? */
enum { FEATURE_SHOW_READY = 1 };

static inline int64_t feature_rows(const feature_case *c)
{
    return c->base.batch * c->base.heads * c->base.rows;
}

/* The tensor's key that is the first of the sequence of that row. */
static inline int64_t feature_first_key(const feature_case *c, int64_t row)
{
    int64_t n = 0;
    if (!(c->with & FEATURE_PACKED)) return 0;
    while (row >= c->cu_q[n + 1]) n++;
    return c->cu_k[n];
}

static inline int64_t feature_end_key(const feature_case *c, int64_t row)
{
    int64_t n = 0;
    if (!(c->with & FEATURE_PACKED)) return c->base.keys;
    while (row >= c->cu_q[n + 1]) n++;
    return c->cu_k[n + 1];
}

static inline void *feature_grab(int64_t bytes)
{
    void *const p = malloc(bytes > 0 ? (size_t)bytes : 1); /* exactly: sanitizers see the end */
    if (!p) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

static inline uint64_t feature_element_bits(const void *x, int64_t i, int32_t width)
{
    const unsigned char *const bytes = (const unsigned char *)x + i * (width / 8);
    uint64_t wide = 0;
    uint32_t narrow = 0;
    uint16_t half = 0;
    if (width == 64) memcpy(&wide, bytes, 8);
    if (width == 32) memcpy(&narrow, bytes, 4);
    if (width == 16) memcpy(&half, bytes, 2);
    return width == 8 ? bytes[0] : wide + narrow + half;
}

static inline uint64_t feature_hash(const void *x, int64_t n, int32_t type)
{
    const int32_t width = 8 * feature_bytes(type);
    uint64_t hash = GOLDEN_FNV_START;
    for (int64_t i = 0; i < n; i++)
        hash = golden_fnv(hash, feature_element_bits(x, i, width), width);
    return hash;
}

static inline void feature_dump(FILE *file, const char *what, const void *x, int64_t n,
                                int32_t width)
{
    for (int64_t i = 0; file && i < n; i++)
        fprintf(file, "%s %0*" PRIx64 "\n", what, width / 4, feature_element_bits(x, i, width));
}

/* The dimensions of a mask or bias that depends on `by`: 1 where it does not. */
static inline void feature_pair_dims(const feature_case *c, int32_t by, int64_t keys,
                                     int64_t dim[4])
{
    dim[0] = by & BY_BATCH ? c->base.batch : 1;
    dim[1] = by & BY_HEAD ? c->base.heads : 1;
    dim[2] = by & BY_QUERY ? c->base.rows : 1;
    dim[3] = keys;
}

static inline void *feature_make_mask(const feature_case *c)
{
    int64_t dim[4];
    feature_pair_dims(c, c->bool_by, feature_bool_keys(c), dim);
    const int64_t n = dim[0] * dim[1] * dim[2] * dim[3];
    unsigned char *const x = (unsigned char *)feature_grab(n);
    memset(x, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i / dim[3], plane = row / dim[2];
        const int32_t keep =
            feature_bool(c, plane / dim[1], plane % dim[1], row % dim[2], i % dim[3]);
        const int32_t bit = keep != ((c->with & FEATURE_DROPS) != 0);
        if (c->with & FEATURE_BITS)
            x[i / 8] |= (unsigned char)(bit << (i % 8));
        else
            x[i] = (unsigned char)(bit ? 1 + i % 255 : 0); /* any byte but 0 is true */
    }
    return x;
}

static inline void *feature_make_bias(const feature_case *c)
{
    int64_t dim[4];
    const int32_t type = feature_type(c, c->bias_type);
    feature_pair_dims(c, c->bias_by, feature_bias_keys(c), dim);
    const int64_t n = dim[0] * dim[1] * dim[2] * dim[3];
    void *const x = feature_grab(n * feature_bytes(type));
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i / dim[3], plane = row / dim[2];
        feature_store(x, i, type,
                      feature_bias(c, plane / dim[1], plane % dim[1], row % dim[2], i % dim[3]));
    }
    return x;
}

static inline void feature_make(const feature_case *c, feature_tensors *t)
{
    const int32_t own = feature_type(c, 0);
    const int64_t heads = c->base.heads;
    void **const made[3] = {&t->q, &t->k, &t->v};
    for (int32_t i = GOLDEN_Q; i <= GOLDEN_V; i++) {
        *made[i] =
            feature_grab(golden_count(&c->base, i) * feature_bytes(feature_tensor_type(c, i)));
        feature_fill(c, i, *made[i]);
    }
    t->mask = c->with & FEATURE_BOOL ? feature_make_mask(c) : NULL;
    t->bias = c->with & FEATURE_BIAS ? feature_make_bias(c) : NULL;
    const int64_t slopes = (c->with & FEATURE_PACKED ? c->sequences : c->base.batch) * heads;
    t->slopes = feature_grab(slopes * 8);
    t->sinks = feature_grab(heads * 8);
    for (int64_t i = 0; i < slopes; i++)
        feature_store(t->slopes, i, own, feature_bits(own, feature_slope(c, i / heads, i % heads)));
    for (int64_t h = 0; h < heads; h++)
        feature_store(t->sinks, h, own, feature_bits(own, feature_sink(c, h)));
}

static inline void feature_free(feature_tensors *t)
{
    void *const owned[7] = {t->q, t->k, t->v, t->mask, t->bias, t->slopes, t->sinks};
    for (int32_t i = 0; i < 7; i++) free(owned[i]);
}

static inline qkv_params feature_params(const feature_case *c, int32_t isa, int32_t max_threads)
{
    static const struct {
        uint32_t with;
        uint64_t use;
    } bits[] = {{FEATURE_CAUSAL, QKV_USE_CAUSAL},     {FEATURE_SCALE, QKV_USE_SCALE},
                {FEATURE_OFFSETS, QKV_USE_Q_OFFSETS}, {FEATURE_PREFIX, QKV_USE_PREFIX},
                {FEATURE_WINDOW, QKV_USE_WINDOW},     {FEATURE_KV_LEN, QKV_USE_KV_LEN},
                {FEATURE_Q_LEN, QKV_USE_Q_LEN},       {FEATURE_KV_START, QKV_USE_KV_START},
                {FEATURE_PACKED, QKV_USE_PACKED},     {FEATURE_BOOL, QKV_USE_MASK},
                {FEATURE_BIAS, QKV_USE_BIAS},         {FEATURE_ALIBI, QKV_USE_ALIBI},
                {FEATURE_SOFTCAP, QKV_USE_SOFTCAP},   {FEATURE_SINK, QKV_USE_SINK},
                {FEATURE_RULE, QKV_USE_RULE},         {FEATURE_DROPOUT, QKV_USE_DROPOUT}};
    const golden_case *const g = &c->base;
    qkv_params params = qkv_params_init();
    params.isa = isa;
    params.q = qkv_shape_dense(feature_tensor_type(c, GOLDEN_Q), g->batch, g->heads, g->rows, g->d);
    params.k =
        qkv_shape_dense(feature_tensor_type(c, GOLDEN_K), g->batch, g->kv_heads, g->keys, g->d);
    params.v =
        qkv_shape_dense(feature_tensor_type(c, GOLDEN_V), g->batch, g->kv_heads, g->keys, g->d_v);
    params.out = qkv_shape_dense(feature_type(c, c->out_type), g->batch, g->heads, g->rows, g->d_v);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        if (c->with & bits[i].with) params.use |= bits[i].use;
    params.scale = g->scale;
    params.q_offset = c->offset;
    params.align = c->align == TOP_LEFT       ? QKV_ALIGN_TOP_LEFT
                   : c->align == BOTTOM_RIGHT ? QKV_ALIGN_BOTTOM_RIGHT
                                              : QKV_ALIGN_OFFSET;
    params.window_left = c->left;
    params.window_right = c->right;
    params.prefix = c->prefix;
    params.sequences = c->sequences;
    params.mask_drops = (c->with & FEATURE_DROPS) != 0;
    params.slopes_by_batch = (c->with & FEATURE_ALIBI_BATCH) != 0;
    params.alibi_max_bias = c->max_bias;
    params.softcap = c->softcap;
    params.dropout = c->drop;
    int64_t dim[4];
    feature_pair_dims(c, c->bool_by, feature_bool_keys(c), dim);
    params.mask = qkv_shape_dense(c->with & FEATURE_BITS ? QKV_BITS : QKV_BOOL, dim[0], dim[1],
                                  dim[2], dim[3]);
    feature_pair_dims(c, c->bias_by, feature_bias_keys(c), dim);
    params.bias = qkv_shape_dense(feature_type(c, c->bias_type), dim[0], dim[1], dim[2], dim[3]);
    params.max_threads = max_threads;
    return params;
}

/* The case's own rule (feature_rule_less) on a tile of scores. */
static inline void feature_rule(void *ctx, int64_t batch, int64_t head, int64_t position,
                                int64_t key, int64_t rows, int64_t keys, void *s, int64_t stride)
{
    const feature_case *const c = (const feature_case *)ctx;
    (void)batch;
    (void)position;
    for (int64_t j = 0; j < keys; j++)
        for (int64_t i = 0; i < rows; i++) {
            const double less = feature_rule_less(head, key + j);
            if (c->base.bits == 64) {
                double *const x = (double *)s + j * stride + i;
                *x = *x * 0.5 - less;
            } else {
                float *const x = (float *)s + j * stride + i;
                *x = *x * 0.5F - (float)less;
            }
        }
}

static inline void *feature_output(int64_t bytes, int value)
{
    void *const x = feature_grab(bytes);
    memset(x, value, (size_t)bytes);
    return x;
}

/* The library takes no pointer to what the plan does not use. */
static inline void feature_only_used(qkv_run_args *a, const qkv_params *params)
{
    const uint64_t use = params->use;
    if (!(use & QKV_USE_KV_LEN)) a->kv_len = NULL;
    if (!(use & QKV_USE_Q_LEN)) a->q_len = NULL;
    if (!(use & QKV_USE_KV_START)) a->kv_start = NULL;
    if (!(use & QKV_USE_Q_OFFSETS)) a->q_offset = NULL;
    if (!(use & QKV_USE_PACKED)) a->cu_q = a->cu_k = NULL;
    if (!(use & QKV_USE_MASK)) a->mask = NULL;
    if (!(use & QKV_USE_BIAS)) a->bias = NULL;
    if (!(use & QKV_USE_ALIBI) || params->alibi_max_bias > 0) a->slopes = NULL;
    if (!(use & QKV_USE_SINK)) a->sinks = NULL;
    if (!(use & QKV_USE_RULE)) a->rule = NULL;
}

static inline void feature_inputs(feature_run *f, const feature_tensors *t)
{
    const feature_case *const c = f->c;
    f->args.q = t->q;
    f->args.k = t->k;
    f->args.v = t->v;
    f->args.kv_len = c->kv_len;
    f->args.q_len = c->q_len;
    f->args.kv_start = c->kv_start;
    f->args.q_offset = c->offsets;
    f->args.cu_q = c->cu_q;
    f->args.cu_k = c->cu_k;
    f->args.mask = t->mask;
    f->args.bias = t->bias;
    f->args.slopes = t->slopes;
    f->args.sinks = t->sinks;
    f->rule = (qkv_rule){.size = sizeof f->rule, .score = feature_rule};
    memcpy(&f->rule.ctx, &c, sizeof c);
    f->args.rule = &f->rule;
    f->args.seed = c->drop_seed;
    f->args.first_head = c->first_head;
    f->args.first_batch = c->first_batch;
}

/* Makes plan and arguments; outputs hold rubbish (key sums 0), the workspace NaNs. On failure nothing
 * is left to close. */
static inline qkv_status feature_open(feature_run *f, const feature_case *c, int32_t isa,
                                      int32_t max_threads, const feature_tensors *t, int key_sums,
                                      qkv_error *err)
{
    qkv_params params = feature_params(c, isa, max_threads);
    if (key_sums) params.use |= QKV_USE_KEY_SUMS;
    const int64_t rows = feature_rows(c), real = c->base.bits / 8;
    *f = (feature_run){.c = c, .args = qkv_run_args_init()};
    const qkv_status status = qkv_plan_create(&f->plan, &params, NULL, err);
    if (status != QKV_OK) return status;
    feature_inputs(f, t);
    feature_only_used(&f->args, &params);
    f->out = feature_output(rows * c->base.d_v * feature_bytes(feature_type(c, c->out_type)), 0xa5);
    f->lse = feature_output(rows * real, 0xa5);
    f->row_max = feature_output(rows * real, 0xa5);
    f->key_sums = feature_output(c->base.batch * c->base.heads * c->base.keys * real, 0);
    f->args.out = f->out;
    f->args.lse = f->lse;
    f->args.workspace_size = qkv_plan_workspace(f->plan);
    f->args.workspace = f->args.workspace_size ? aligned_alloc(64, f->args.workspace_size) : NULL;
    if (f->args.workspace) memset(f->args.workspace, 0xff, f->args.workspace_size);
    return QKV_OK;
}

static inline void feature_close(feature_run *f)
{
    qkv_plan_destroy(f->plan);
    free(f->args.workspace);
    free(f->out);
    free(f->lse);
    free(f->row_max);
    free(f->key_sums);
}

#endif /* QKV_TESTS_GOLDEN_FEATURE_RUN_H */
