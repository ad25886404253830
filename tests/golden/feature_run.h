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
} feature_tensors;

typedef struct feature_run {
    const feature_case *c;
    qkv_plan *plan;
    qkv_run_args args;
    void *out, *lse;
} feature_run;

/* Does the library have all that the case asks for? */
static inline int feature_ready(const feature_case *c)
{
    const uint32_t done = FEATURE_CAUSAL | FEATURE_SCALE | FEATURE_OFFSETS | FEATURE_PREFIX |
                          FEATURE_WINDOW | FEATURE_KV_LEN | FEATURE_Q_LEN | FEATURE_KV_START |
                          FEATURE_PACKED | FEATURE_POISON;
    return (c->with & ~done) == 0;
}

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

static inline void *feature_grab(int64_t bytes)
{
    void *const p = malloc((size_t)bytes + 1);
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

static inline void feature_make(const feature_case *c, feature_tensors *t)
{
    void **const made[3] = {&t->q, &t->k, &t->v};
    for (int32_t i = GOLDEN_Q; i <= GOLDEN_V; i++) {
        *made[i] =
            feature_grab(golden_count(&c->base, i) * feature_bytes(feature_tensor_type(c, i)));
        feature_fill(c, i, *made[i]);
    }
}

static inline void feature_free(feature_tensors *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
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
                {FEATURE_PACKED, QKV_USE_PACKED}};
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
    params.window_left = c->left;
    params.window_right = c->right;
    params.prefix = c->prefix;
    params.sequences = c->sequences;
    params.max_threads = max_threads;
    return params;
}

/* Makes plan and arguments; out and lse hold rubbish, the workspace NaNs. On failure nothing is
 * left to close. */
static inline qkv_status feature_open(feature_run *f, const feature_case *c, int32_t isa,
                                      int32_t max_threads, const feature_tensors *t, qkv_error *err)
{
    const qkv_params params = feature_params(c, isa, max_threads);
    const int64_t out_bytes =
        feature_rows(c) * c->base.d_v * feature_bytes(feature_type(c, c->out_type));
    const int64_t lse_bytes = feature_rows(c) * c->base.bits / 8;
    *f = (feature_run){.c = c, .args = qkv_run_args_init()};
    const qkv_status status = qkv_plan_create(&f->plan, &params, NULL, err);
    if (status != QKV_OK) return status;
    f->out = feature_grab(out_bytes);
    f->lse = feature_grab(lse_bytes);
    memset(f->out, 0xa5, (size_t)out_bytes);
    memset(f->lse, 0xa5, (size_t)lse_bytes);
    f->args.q = t->q;
    f->args.k = t->k;
    f->args.v = t->v;
    f->args.out = f->out;
    f->args.lse = f->lse;
    f->args.kv_len = c->kv_len;
    f->args.q_len = c->q_len;
    f->args.kv_start = c->kv_start;
    f->args.q_offset = c->offsets;
    f->args.cu_q = c->cu_q;
    f->args.cu_k = c->cu_k;
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
}

#endif /* QKV_TESTS_GOLDEN_FEATURE_RUN_H */
