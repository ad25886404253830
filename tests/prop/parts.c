/* SPDX-License-Identifier: MIT */
/* parts.c - see parts.h. A part keeps the strides of the whole and moves base pointers, lengths,
 * offsets and the numbers of dropout, as a caller would who has the whole in memory.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

part part_whole(const feature_case *c)
{
    return (part){.batches = c->base.batch, .rows = c->base.rows, .sequence = -1};
}

/* The elements of the whole at which a part of a mask or bias begins, and its dimensions. */
static int64_t pairs_from(const feature_case *c, const part *p, int32_t by, int64_t keys,
                          qkv_shape *x)
{
    const int64_t first_key = p->sequence < 0 ? 0 : c->cu_k[p->sequence];
    const int64_t last_key = p->sequence < 0 ? c->base.keys : c->cu_k[p->sequence + 1];
    const int64_t first_row = p->sequence < 0 ? p->row : c->cu_q[p->sequence] + p->row;
    if (by & BY_BATCH) x->dim[0] = p->batches;
    if (by & BY_QUERY) x->dim[2] = p->rows;
    x->dim[3] = keys < last_key ? keys : last_key;
    x->dim[3] = x->dim[3] > first_key ? x->dim[3] - first_key : 0;
    return (by & BY_BATCH ? p->batch * x->stride[0] : 0) +
           (by & BY_QUERY ? first_row * x->stride[2] : 0) + first_key;
}

int part_possible(const feature_case *c, const part *p)
{
    const qkv_params params = feature_params(c, QKV_ISA_BEST, 1);
    qkv_shape mask = params.mask;
    if (!(c->with & FEATURE_BITS) || !(c->with & FEATURE_BOOL)) return 1;
    return pairs_from(c, p, c->bool_by, feature_bool_keys(c), &mask) % 8 == 0;
}

static const void *moved(const void *x, int64_t bytes)
{
    return x ? (const char *)x + bytes : NULL;
}

/* Some rows only: a name speaks of all, so they get the number that it stands for. */
static void take_align(const feature_case *c, const part *p, qkv_params *params, qkv_run_args *a,
                       int64_t moving[FEATURE_MAX_BATCH])
{
    if (c->align == AT_OFFSET || p->sequence >= 0 || p->rows == c->base.rows) return;
    params->align = QKV_ALIGN_OFFSET;
    params->use |= QKV_USE_Q_OFFSETS;
    params->q_offset = 0;
    a->q_offset = moving;
    for (int64_t b = 0; b < p->batches; b++)
        moving[b] = feature_offset(c, p->batch + b, c->base.rows, c->base.keys) + p->row;
}

static void take_part(const feature_case *c, const part *p, qkv_params *params, qkv_run_args *a,
                      int64_t moving[2][FEATURE_MAX_BATCH])
{
    const int64_t real = c->base.bits / 8, sequence = p->sequence < 0 ? p->batch : p->sequence;
    const int64_t row = p->sequence < 0 ? p->row : c->cu_q[p->sequence] + p->row;
    qkv_shape *const q = &params->q, *const k = &params->k, *const v = &params->v;
    const int64_t q_bytes = feature_bytes(q->dtype), k_bytes = feature_bytes(k->dtype);
    const int64_t v_bytes = feature_bytes(v->dtype);
    a->q = moved(a->q, (p->batch * q->stride[0] + row * q->stride[2]) * q_bytes);
    a->k = moved(a->k, p->batch * k->stride[0] * k_bytes);
    a->v = moved(a->v, p->batch * v->stride[0] * v_bytes);
    if (p->sequence >= 0) {
        params->use &= ~QKV_USE_PACKED;
        a->k = moved(a->k, c->cu_k[p->sequence] * k->stride[2] * k_bytes);
        a->v = moved(a->v, c->cu_k[p->sequence] * v->stride[2] * v_bytes);
        k->dim[2] = v->dim[2] = c->cu_k[p->sequence + 1] - c->cu_k[p->sequence];
    }
    q->dim[0] = k->dim[0] = v->dim[0] = p->batches;
    q->dim[2] = p->rows;
    params->out = qkv_shape_dense(params->out.dtype, p->batches, q->dim[1], p->rows, v->dim[3]);
    a->mask = moved(a->mask, pairs_from(c, p, c->bool_by, feature_bool_keys(c), &params->mask) /
                                 (c->with & FEATURE_BITS ? 8 : 1));
    a->bias = moved(a->bias, pairs_from(c, p, c->bias_by, feature_bias_keys(c), &params->bias) *
                                 feature_bytes(params->bias.dtype));
    if (c->with & FEATURE_ALIBI_BATCH)
        a->slopes = moved(a->slopes, sequence * c->base.heads * real);
    a->kv_len += sequence;
    a->kv_start += sequence;
    a->q_offset += sequence;
    a->first_batch += sequence;
    a->q_len += sequence;
    params->q_offset += p->row;
    if (c->with & FEATURE_PACKED) return;
    for (int64_t b = 0; b < p->batches; b++) { /* perhaps some rows only */
        const int64_t left = c->q_len[sequence + b] - p->row;
        moving[0][b] = left < 0 ? 0 : left > p->rows ? p->rows : left;
        moving[1][b] = c->offsets[sequence + b] + p->row;
        a->q_len = moving[0];
        a->q_offset = moving[1];
    }
    take_align(c, p, params, a, moving[1]);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* A tensor with the same elements (or room for them), its dimensions in a random order, with gaps and
 * signs; *mem is to be freed. */
static void *spread(const void *dense, qkv_shape *x, uint64_t *seed, void **mem)
{
    const int64_t bytes = feature_bytes(x->dtype);
    const qkv_shape from = *x;
    int order[4] = {3, 2, 1, 0};
    for (int i = 3; i > 0; i--) {
        const int j = (int)(*seed >> 33) % (i + 1), kept = order[i];
        *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        order[i] = order[j];
        order[j] = kept;
    }
    int64_t step = 1, low = 0, high = 0;
    for (int i = 0; i < 4; i++) {
        const int n = order[i];
        *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        step += (int64_t)(*seed >> 40) % 3;
        x->stride[n] = *seed >> 62 ? step : -step;
        const int64_t reach = x->dim[n] > 0 ? (x->dim[n] - 1) * x->stride[n] : 0;
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
        step *= x->dim[n] > 0 ? x->dim[n] : 1;
    }
    *mem = feature_output((high - low + 1) * bytes, 0xff);
    char *const base = (char *)*mem - low * bytes;
    for (int64_t n = 0; dense && n < x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3]; n++) {
        const int64_t d = x->dim[3], c = n % d, i = n / d % x->dim[2];
        const int64_t h = n / d / x->dim[2] % x->dim[1], b = n / d / x->dim[2] / x->dim[1];
        const int64_t at =
            b * x->stride[0] + h * x->stride[1] + i * x->stride[2] + c * x->stride[3];
        const int64_t was = b * from.stride[0] + h * from.stride[1] + i * from.stride[2] + c;
        memcpy(base + at * bytes, (const char *)dense + was * bytes, (size_t)bytes);
    }
    return base;
}

static void gather(void *dense, const void *base, const qkv_shape *x)
{
    const int64_t bytes = feature_bytes(x->dtype);
    for (int64_t n = 0; n < x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3]; n++) {
        const int64_t d = x->dim[3], i = n / d % x->dim[2], h = n / d / x->dim[2] % x->dim[1];
        const int64_t at = n / d / x->dim[2] / x->dim[1] * x->stride[0] + h * x->stride[1] +
                           i * x->stride[2] + n % d * x->stride[3];
        memcpy((char *)dense + n * bytes, (const char *)base + at * bytes, (size_t)bytes);
    }
}

void part_run(const feature_case *c, const feature_tensors *t, const part *p, int32_t isa,
              const qkv_threads *threads, void *out, void *lse)
{
    qkv_params params = feature_params(c, isa, threads ? threads->nthreads : 1);
    feature_run f = {.c = c, .args = qkv_run_args_init()};
    int64_t moving[2][FEATURE_MAX_BATCH];
    void *mem[4] = {NULL, NULL, NULL, NULL};
    uint64_t seed = p->layout;
    qkv_error err = qkv_error_init();
    feature_inputs(&f, t);
    take_part(c, p, &params, &f.args, moving);
    const int64_t **const numbers[6] = {&f.args.kv_len,   &f.args.q_len, &f.args.kv_start,
                                        &f.args.q_offset, &f.args.cu_q,  &f.args.cu_k};
    for (int i = 0; i < 6; i++)
        if (p->numbers[i]) *numbers[i] = p->numbers[i];
    feature_only_used(&f.args, &params);
    f.args.out = out;
    f.args.lse = lse;
    f.args.threads = threads;
    f.args.show = p->show;
    f.args.row_max = p->row_max;
    f.args.key_sums = p->key_sums;
    if (p->key_sums) params.use |= QKV_USE_KEY_SUMS;
    if (p->layout) {
        f.args.q = spread(f.args.q, &params.q, &seed, &mem[0]);
        f.args.k = spread(f.args.k, &params.k, &seed, &mem[1]);
        f.args.v = spread(f.args.v, &params.v, &seed, &mem[2]);
        f.args.out = spread(NULL, &params.out, &seed, &mem[3]);
    }
    if (qkv_plan_create(&f.plan, &params, NULL, &err) != QKV_OK)
        fail_msg("%s: %s", case_text(c), err.text);
    f.args.workspace_size = qkv_plan_workspace(f.plan);
    f.args.workspace = workspace_new(f.plan);
    if (qkv_run(f.plan, &f.args, &err) != QKV_OK) fail_msg("%s: %s", case_text(c), err.text);
    if (p->layout) gather(out, f.args.out, &params.out);
    qkv_plan_destroy(f.plan);
    free(f.args.workspace);
    for (int i = 0; i < 4; i++) free(mem[i]);
}

void part_same(const feature_case *c, const part *p, const void *whole_out, const void *whole_lse,
               const void *out, const void *lse, const char *what)
{
    const golden_case *const g = &c->base;
    const int64_t row_bytes = g->d_v * feature_bytes(feature_type(c, c->out_type));
    const int64_t real = g->bits / 8, planes = p->batches * g->heads;
    const int64_t first = p->sequence < 0 ? p->row : c->cu_q[p->sequence] + p->row;
    for (int64_t n = 0; n < planes * p->rows; n++) {
        const int64_t plane = p->batch * g->heads + n / p->rows;
        const int64_t at = plane * g->rows + first + n % p->rows;
        const int same = memcmp((const char *)whole_out + at * row_bytes,
                                (const char *)out + n * row_bytes, (size_t)row_bytes) == 0 &&
                         memcmp((const char *)whole_lse + at * real, (const char *)lse + n * real,
                                (size_t)real) == 0;
        if (!same)
            fail_msg("%s: row %lld of the whole differs: %s", what, (long long)at, case_text(c));
    }
}
