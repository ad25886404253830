/* SPDX-License-Identifier: MIT */
/* problem.c - build a small problem, run it in a stated way, hand back the answer as dense arrays.
 *
 * Every run checks what no run may do: write outside the elements of its output (canary), touch
 * memory outside the tensors (guard pages, exact allocations).
 */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zeros(int64_t n, int32_t dtype)
{
    void *const p = calloc((size_t)(n > 0 ? n : 1), type_size(dtype));
    assert_non_null(p);
    return p;
}

int64_t prob_nq(const prob *p)
{
    return p->b * p->hq * p->sq * p->d;
}

int64_t prob_nk(const prob *p)
{
    return p->b * p->hkv * p->sk * p->d;
}

int64_t prob_nv(const prob *p)
{
    return p->b * p->hkv * p->sk * p->dv;
}

int64_t prob_nout(const prob *p)
{
    return p->b * p->hq * p->sq * p->dv;
}

int64_t prob_nlse(const prob *p)
{
    return p->b * p->hq * p->sq;
}

double prob_work(const prob *p)
{
    return (double)(p->b * p->hq) * (double)p->sq * (double)p->sk * (double)(p->d + p->dv);
}

prob prob_new(int32_t dtype, int64_t b, int64_t hq, int64_t hkv, int64_t sq, int64_t sk, int64_t d,
              int64_t dv)
{
    prob p = {dtype, b, hq, hkv, sq, sk, d, dv, 0, 0, 0, NULL, NULL, NULL};
    p.q = zeros(prob_nq(&p), dtype);
    p.k = zeros(prob_nk(&p), dtype);
    p.v = zeros(prob_nv(&p), dtype);
    return p;
}

void prob_gen(prob *p, uint32_t seed_q, uint32_t seed_k, uint32_t seed_v)
{
    fill_gen(p->q, p->dtype, prob_nq(p), seed_q);
    fill_gen(p->k, p->dtype, prob_nk(p), seed_k);
    fill_gen(p->v, p->dtype, prob_nv(p), seed_v);
}

void prob_normal(prob *p, rng *r)
{
    fill_normal(p->q, p->dtype, prob_nq(p), r);
    fill_normal(p->k, p->dtype, prob_nk(p), r);
    fill_normal(p->v, p->dtype, prob_nv(p), r);
}

void prob_causal(prob *p, int64_t q_offset)
{
    p->use |= QKV_USE_CAUSAL;
    p->q_offset = q_offset;
}

void prob_scale(prob *p, double scale)
{
    p->use |= QKV_USE_SCALE;
    p->scale = scale;
}

static void take_options(prob *to, const prob *from)
{
    to->use = from->use;
    to->scale = from->scale;
    to->q_offset = from->q_offset;
}

prob prob_copy(const prob *p)
{
    prob c = prob_new(p->dtype, p->b, p->hq, p->hkv, p->sq, p->sk, p->d, p->dv);
    take_options(&c, p);
    memcpy(c.q, p->q, (size_t)prob_nq(p) * type_size(p->dtype));
    memcpy(c.k, p->k, (size_t)prob_nk(p) * type_size(p->dtype));
    memcpy(c.v, p->v, (size_t)prob_nv(p) * type_size(p->dtype));
    return c;
}

prob prob_as(const prob *p, int32_t dtype)
{
    prob c = prob_new(dtype, p->b, p->hq, p->hkv, p->sq, p->sk, p->d, p->dv);
    take_options(&c, p);
    for (int64_t i = 0; i < prob_nq(p); i++) put_at(c.q, dtype, i, get_at(p->q, p->dtype, i));
    for (int64_t i = 0; i < prob_nk(p); i++) put_at(c.k, dtype, i, get_at(p->k, p->dtype, i));
    for (int64_t i = 0; i < prob_nv(p); i++) put_at(c.v, dtype, i, get_at(p->v, p->dtype, i));
    return c;
}

prob prob_rows(const prob *p, int64_t from, int64_t n)
{
    const size_t row = (size_t)p->d * type_size(p->dtype);
    prob c = prob_new(p->dtype, p->b, p->hq, p->hkv, n, p->sk, p->d, p->dv);
    take_options(&c, p);
    c.q_offset += from;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        memcpy((char *)c.q + (size_t)(bh * n) * row,
               (const char *)p->q + (size_t)(bh * p->sq + from) * row, (size_t)n * row);
    }
    memcpy(c.k, p->k, (size_t)prob_nk(p) * type_size(p->dtype));
    memcpy(c.v, p->v, (size_t)prob_nv(p) * type_size(p->dtype));
    return c;
}

prob prob_batch(const prob *p, int64_t batch)
{
    prob c = prob_new(p->dtype, 1, p->hq, p->hkv, p->sq, p->sk, p->d, p->dv);
    const size_t n = type_size(p->dtype);
    take_options(&c, p);
    memcpy(c.q, (const char *)p->q + (size_t)(batch * prob_nq(&c)) * n, (size_t)prob_nq(&c) * n);
    memcpy(c.k, (const char *)p->k + (size_t)(batch * prob_nk(&c)) * n, (size_t)prob_nk(&c) * n);
    memcpy(c.v, (const char *)p->v + (size_t)(batch * prob_nv(&c)) * n, (size_t)prob_nv(&c) * n);
    return c;
}

void prob_free(prob *p)
{
    free(p->q);
    free(p->k);
    free(p->v);
    p->q = p->k = p->v = NULL;
}

qkv_params prob_params(const prob *p, how h)
{
    qkv_params x = qkv_params_init();
    x.isa = h.isa;
    x.use = p->use;
    x.q = qkv_shape_dense(p->dtype, p->b, p->hq, p->sq, p->d);
    x.k = qkv_shape_dense(p->dtype, p->b, p->hkv, p->sk, p->d);
    x.v = qkv_shape_dense(p->dtype, p->b, p->hkv, p->sk, p->dv);
    x.out = qkv_shape_dense(p->dtype, p->b, p->hq, p->sq, p->dv);
    x.scale = p->scale;
    x.q_offset = p->q_offset;
    x.max_threads = h.threads;
    return x;
}

void *workspace_new(const qkv_plan *plan)
{
    const size_t n = qkv_plan_workspace(plan);
    assert_int_equal(n % 64, 0);
    if (n == 0) return NULL;
    void *const p = aligned_alloc(64, n);
    assert_non_null(p);
    memset(p, 0xFF, n); /* the library may not expect zeros */
    return p;
}

void describe_line(const qkv_plan *plan, const char *name, char *value, size_t value_size)
{
    char text[2048];
    qkv_plan_describe(plan, text, sizeof text);
    const size_t n = strlen(name);
    value[0] = '\0';
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, name, n) == 0 && line[n] == ':') {
            snprintf(value, value_size, "%.*s", (int)strcspn(line + n + 2, "\n"), line + n + 2);
            return;
        }
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
}

typedef struct blocks {
    block q, k, v, out;
} blocks;

static uint64_t other_layout(uint64_t layout, uint64_t n)
{
    return layout >= LAYOUT_RANDOM ? layout + n * 1000003 : layout;
}

static void run_blocks(const prob *p, how h, blocks *m, answer *a)
{
    qkv_params x = prob_params(p, h);
    x.q = m->q.shape;
    x.k = m->k.shape;
    x.v = m->v.shape;
    x.out = m->out.shape;
    qkv_plan *plan = NULL;
    a->status = qkv_plan_create(&plan, &x, NULL, &a->err);
    if (a->status != QKV_OK) {
        assert_null(plan);
        return;
    }
    describe_line(plan, "kernel", a->kernel, sizeof a->kernel);
    a->workspace_bytes = qkv_plan_workspace(plan);
    executor e;
    executor_init(&e, h.exec, h.threads > 0 ? h.threads : 1);
    qkv_run_args r = qkv_run_args_init();
    r.q = m->q.base;
    r.k = m->k.base;
    r.v = m->v.base;
    r.out = m->out.base;
    r.lse = a->lse;
    r.workspace = workspace_new(plan);
    r.workspace_size = a->workspace_bytes;
    r.threads = executor_threads(&e);
    a->status = qkv_run(plan, &r, &a->err);
    a->tasks = e.most_tasks;
    executor_done(&e);
    free(r.workspace);
    qkv_plan_destroy(plan);
}

answer prob_try(const prob *p, how h)
{
    const int64_t dq[4] = {p->b, p->hq, p->sq, p->d}, dk[4] = {p->b, p->hkv, p->sk, p->d};
    const int64_t dv[4] = {p->b, p->hkv, p->sk, p->dv}, dout[4] = {p->b, p->hq, p->sq, p->dv};
    answer a = {0};
    a.err = qkv_error_init();
    a.out_bytes = (size_t)prob_nout(p) * type_size(p->dtype);
    a.lse_bytes = (size_t)prob_nlse(p) * type_size(p->dtype);
    a.out = malloc(a.out_bytes + 1);
    a.lse = malloc(a.lse_bytes + 1);
    assert_non_null(a.out);
    assert_non_null(a.lse);
    memset(a.lse, 0xA5, a.lse_bytes + 1);
    blocks m = {block_make(p->dtype, dq, p->q, other_layout(h.layout, 0), h.byte_shift),
                block_make(p->dtype, dk, p->k, other_layout(h.layout, 1), h.byte_shift),
                block_make(p->dtype, dv, p->v, other_layout(h.layout, 2), h.byte_shift),
                block_make(p->dtype, dout, NULL, other_layout(h.layout, 3), h.byte_shift)};
    run_blocks(p, h, &m, &a);
    block_read(&m.out, a.out);
    if (!block_gaps_intact(&m.out)) fail_msg("the run wrote outside the elements of out");
    if (((unsigned char *)a.lse)[a.lse_bytes] != 0xA5) fail_msg("the run wrote beyond lse");
    block_free(&m.q);
    block_free(&m.k);
    block_free(&m.v);
    block_free(&m.out);
    return a;
}

answer prob_run(const prob *p, how h)
{
    answer a = prob_try(p, h);
    if (a.status != QKV_OK) {
        fail_msg("isa %d, threads %d, [%lld,%lld/%lld,%lld x %lld,%lld/%lld]: %s", (int)h.isa,
                 (int)h.threads, (long long)p->b, (long long)p->hq, (long long)p->hkv,
                 (long long)p->sq, (long long)p->sk, (long long)p->d, (long long)p->dv, a.err.text);
    }
    return a;
}

void answer_free(answer *a)
{
    free(a->out);
    free(a->lse);
    a->out = a->lse = NULL;
}
