/* SPDX-License-Identifier: MIT */
/* problem.c - build a small problem, run it in a stated way, hand back the answer as dense arrays.
 *
 * Every run checks what no run may do: write outside the elements of its output (canary), touch
 * memory outside the tensors (guard pages, exact allocations).
 */
#include "helpers.h"

#include <math.h>
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
    prob p = {.dtype = dtype, .b = b, .hq = hq, .hkv = hkv, .sq = sq, .sk = sk, .d = d, .dv = dv};
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

/* Options for the rows [i0, i0 + n) and keys [j0, j0 + m) of batch b (-1: of all). */
static void take_part(prob *to, const prob *from, int64_t b, int64_t i0, int64_t n, int64_t j0,
                      int64_t m)
{
    to->use = from->use;
    to->scale = from->scale;
    to->q_offset = from->q_offset;
    to->mask = from->mask;
    prob_round_numbers(to);
    if (from->mask.bools.x) to->mask.bools = pair_part(&from->mask.bools, b, i0, n, j0, m);
    if (from->mask.bias.x) to->mask.bias = pair_part(&from->mask.bias, b, i0, n, j0, m);
}

/* the slopes of batch (sequence) s come first */
static void take_slopes(prob *to, const prob *from, int64_t s)
{
    for (int64_t h = 0; h < from->hq && from->mask.slopes_by_batch; h++)
        to->mask.slope[h] = from->mask.slope[s * from->hq + h];
    prob_round_numbers(to);
}

static void copy_pairs(pair_tensor *to, const pair_tensor *from)
{
    const int64_t *const d = from->dim;
    if (from->x == NULL) return;
    const size_t bytes = (size_t)(d[0] * d[1] * d[2] * d[3] + 1) * sizeof(double);
    to->x = malloc(bytes);
    assert_non_null(to->x);
    memcpy(to->x, from->x, bytes - sizeof(double));
}

static void take_options(prob *to, const prob *from)
{
    to->use = from->use;
    to->scale = from->scale;
    to->q_offset = from->q_offset;
    to->mask = from->mask;
    prob_round_numbers(to);
    copy_pairs(&to->mask.bools, &from->mask.bools);
    copy_pairs(&to->mask.bias, &from->mask.bias);
}

/* Which sequence row i (key j) lies in; batch b where nothing is packed. */
static int64_t sequence_of(const prob *p, const int64_t *cu, int64_t b, int64_t at)
{
    if (!(p->use & QKV_USE_PACKED)) return b;
    for (int64_t s = 0; s < p->mask.sequences; s++)
        if (at >= cu[s] && at < cu[s + 1]) return s;
    return -1;
}

int64_t prob_offset(const prob *p, int64_t b)
{
    const prob_mask *const m = &p->mask;
    const bool packed = p->use & QKV_USE_PACKED;
    const int64_t rows = packed ? m->cu_q[b + 1] - m->cu_q[b] : p->sq;
    const int64_t keys = packed ? m->cu_k[b + 1] - m->cu_k[b] : p->sk;
    if (p->use & QKV_USE_Q_OFFSETS) return m->q_offset[b];
    if (m->align == QKV_ALIGN_TOP_LEFT) return 0;
    if (m->align == QKV_ALIGN_OFFSET) return p->q_offset;
    return (p->use & QKV_USE_KV_LEN ? m->kv_len[b] : keys) -
           (p->use & QKV_USE_Q_LEN ? m->q_len[b] : rows);
}

bool prob_sees(const prob *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const prob_mask *const m = &p->mask;
    const int64_t s = sequence_of(p, m->cu_q, b, i);
    if (sequence_of(p, m->cu_k, b, j) != s) return false;
    if (p->use & QKV_USE_PACKED) {
        i -= m->cu_q[s];
        j -= m->cu_k[s];
    }
    if (p->use & QKV_USE_Q_LEN && i >= m->q_len[s]) return false;
    if (p->use & QKV_USE_KV_LEN && j >= m->kv_len[s]) return false;
    const int64_t start = p->use & QKV_USE_KV_START ? m->kv_start[s] : 0;
    if (j < start) return false;
    const pair_tensor *const t = &m->bools, *const add = &m->bias;
    /* read at the tensors' numbers */
    const int64_t ti = i + (p->use & QKV_USE_PACKED ? m->cu_q[s] : 0);
    const int64_t tj = j + (p->use & QKV_USE_PACKED ? m->cu_k[s] : 0);
    if (p->use & QKV_USE_MASK &&
        (tj >= t->dim[3] || (pair_at(t, b, h, ti, tj) != 0) == (m->mask_drops != 0)))
        return false;
    if (p->use & QKV_USE_BIAS &&
        (tj >= add->dim[3] || pair_at(add, b, h, ti, tj) == -(double)INFINITY))
        return false;
    const int64_t at = i + prob_offset(p, s); /* beside key j of the tensor: padding cancels out */
    if (p->use & QKV_USE_WINDOW) {
        if (m->window_left >= 0 && at - j > m->window_left) return false;
        if (m->window_right >= 0 && j - at > m->window_right) return false;
    }
    if (p->use & QKV_USE_PREFIX) return j <= at || j - start < m->prefix;
    return !(p->use & QKV_USE_CAUSAL) || j <= at;
}

/* how far the row stands from the key */
static int64_t away(const prob *p, int64_t b, int64_t i, int64_t j)
{
    const prob_mask *const m = &p->mask;
    const int64_t s = sequence_of(p, m->cu_q, b, i);
    if (p->use & QKV_USE_PACKED) {
        i -= m->cu_q[s];
        j -= m->cu_k[s];
    }
    const int64_t d = i + prob_offset(p, s) - j; /* padding cancels out */
    return d < 0 ? -d : d;
}

long double prob_changed(const prob *p, int64_t b, int64_t h, int64_t i, int64_t j, long double s)
{
    const prob_mask *const m = &p->mask;
    const int64_t row = (m->slopes_by_batch ? sequence_of(p, m->cu_q, b, i) : 0) * p->hq;
    if (p->use & QKV_USE_SOFTCAP) s = (long double)m->softcap * tanhl(s / (long double)m->softcap);
    if (p->use & QKV_USE_ALIBI) {
        const int64_t n = p->hq >= 4 ? 4 : p->hq >= 2 ? 2 : 1; /* heads: up to 6 */
        const long double exponent =
            h < n ? (long double)(h + 1) / (long double)n : (2 * (h - n) + 1) / (2.0L * n);
        const long double slope = m->max_bias > 0
                                      ? powl(2, -(long double)m->max_bias * exponent)
                                      : (long double)get_at(m->slope_numbers, p->dtype, row + h);
        s -= slope * (long double)away(p, b, i, j);
    }
    if (p->use & QKV_USE_BIAS) s += (long double)pair_at(&m->bias, b, h, i, j);
    return s;
}

void prob_round_numbers(prob *p)
{
    for (int64_t i = 0; i < PROB_BATCHES * PROB_HEADS; i++)
        put_at(p->mask.slope_numbers, p->dtype, i, p->mask.slope[i]);
    for (int64_t i = 0; i < PROB_HEADS; i++)
        put_at(p->mask.sink_numbers, p->dtype, i, p->mask.sink[i]);
}

pair_memories prob_tensors(const prob *p, qkv_run_args *args)
{
    pair_memories m = {NULL, NULL};
    prob_args(p, args);
    if (p->use & QKV_USE_MASK) m.bools = pair_memory(&p->mask.bools, p, &args->mask);
    if (p->use & QKV_USE_BIAS) m.bias = pair_memory(&p->mask.bias, p, &args->bias);
    return m;
}

void pair_memories_free(pair_memories *m)
{
    free(m->bools);
    free(m->bias);
}

void prob_args(const prob *p, qkv_run_args *args)
{
    const prob_mask *const m = &p->mask;
    if (p->use & QKV_USE_KV_LEN) args->kv_len = m->kv_len;
    if (p->use & QKV_USE_Q_LEN) args->q_len = m->q_len;
    if (p->use & QKV_USE_KV_START) args->kv_start = m->kv_start;
    if (p->use & QKV_USE_Q_OFFSETS) args->q_offset = m->q_offset;
    if (p->use & QKV_USE_ALIBI && !(m->max_bias > 0)) args->slopes = m->slope_numbers;
    if (p->use & QKV_USE_SINK) args->sinks = m->sink_numbers;
    if (p->use & QKV_USE_PACKED) {
        args->cu_q = m->cu_q;
        args->cu_k = m->cu_k;
    }
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
    take_part(&c, p, -1, from, n, 0, p->sk);
    assert_false(p->use & QKV_USE_PACKED);
    c.q_offset += from;
    for (int64_t i = 0; i < p->b && i < PROB_BATCHES; i++) {
        if (p->mask.align != QKV_ALIGN_OFFSET || p->use & QKV_USE_Q_OFFSETS) {
            c.mask.q_offset[i] = prob_offset(p, i) + from;
        }
        const int64_t left = p->mask.q_len[i] - from;
        c.mask.q_len[i] = left < 0 ? 0 : left > n ? n : left;
    }
    if (p->mask.align != QKV_ALIGN_OFFSET) {
        c.mask.align = QKV_ALIGN_OFFSET;
        c.q_offset = 0;
        c.use |= QKV_USE_Q_OFFSETS;
    }
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
    take_part(&c, p, batch, 0, p->sq, 0, p->sk);
    c.mask.kv_len[0] = p->mask.kv_len[batch % PROB_BATCHES];
    c.mask.q_len[0] = p->mask.q_len[batch % PROB_BATCHES];
    c.mask.kv_start[0] = p->mask.kv_start[batch % PROB_BATCHES];
    c.mask.q_offset[0] = p->mask.q_offset[batch % PROB_BATCHES];
    take_slopes(&c, p, batch);
    memcpy(c.q, (const char *)p->q + (size_t)(batch * prob_nq(&c)) * n, (size_t)prob_nq(&c) * n);
    memcpy(c.k, (const char *)p->k + (size_t)(batch * prob_nk(&c)) * n, (size_t)prob_nk(&c) * n);
    memcpy(c.v, (const char *)p->v + (size_t)(batch * prob_nv(&c)) * n, (size_t)prob_nv(&c) * n);
    return c;
}

/* rows [from, from + n) of every head of x, [heads][all][channels] */
static void take_rows(void *to, const void *x, int64_t heads, int64_t all, int64_t from, int64_t n,
                      size_t row)
{
    for (int64_t h = 0; h < heads; h++) {
        memcpy((char *)to + (size_t)(h * n) * row, (const char *)x + (size_t)(h * all + from) * row,
               (size_t)n * row);
    }
}

prob prob_sequence(const prob *p, int64_t s)
{
    const prob_mask *const m = &p->mask;
    const int64_t i = m->cu_q[s], j = m->cu_k[s];
    const size_t e = type_size(p->dtype);
    prob c =
        prob_new(p->dtype, 1, p->hq, p->hkv, m->cu_q[s + 1] - i, m->cu_k[s + 1] - j, p->d, p->dv);
    take_part(&c, p, 0, i, c.sq, j, c.sk);
    c.use &= ~QKV_USE_PACKED;
    c.mask.kv_len[0] = m->kv_len[s];
    c.mask.q_len[0] = m->q_len[s];
    c.mask.kv_start[0] = m->kv_start[s];
    c.mask.q_offset[0] = m->q_offset[s];
    take_slopes(&c, p, s);
    take_rows(c.q, p->q, p->hq, p->sq, i, c.sq, (size_t)p->d * e);
    take_rows(c.k, p->k, p->hkv, p->sk, j, c.sk, (size_t)p->d * e);
    take_rows(c.v, p->v, p->hkv, p->sk, j, c.sk, (size_t)p->dv * e);
    return c;
}

void prob_free(prob *p)
{
    free(p->q);
    free(p->k);
    free(p->v);
    free(p->mask.bools.x);
    free(p->mask.bias.x);
    p->mask.bools.x = p->mask.bias.x = NULL;
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
    x.window_left = p->mask.window_left;
    x.window_right = p->mask.window_right;
    x.prefix = p->mask.prefix;
    x.sequences = p->mask.sequences;
    x.align = p->mask.align;
    x.mask_drops = p->mask.mask_drops;
    if (p->use & QKV_USE_MASK) x.mask = pair_shape(&p->mask.bools, p);
    if (p->use & QKV_USE_BIAS) x.bias = pair_shape(&p->mask.bias, p);
    x.softcap = p->mask.softcap;
    x.dropout = p->mask.dropout;
    x.alibi_max_bias = p->mask.max_bias;
    x.slopes_by_batch = p->mask.slopes_by_batch;
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
    pair_memories pairs = prob_tensors(p, &r);
    r.workspace = workspace_new(plan);
    r.workspace_size = a->workspace_bytes;
    r.threads = executor_threads(&e);
    a->status = qkv_run(plan, &r, &a->err);
    a->tasks = e.most_tasks;
    executor_done(&e);
    pair_memories_free(&pairs);
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
