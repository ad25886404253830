/* SPDX-License-Identifier: MIT */
/* everything.c - see everything.h.
 *
 * Bounds: a score of size s carries an error of a few units in its last place, so a weight is off by
 * about s of them; what a row may be off grows with the size of its scores, and by half a unit of the
 * output's own type.
 */
#include "everything.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random cases ---------------------------------------------------------------------------- */

static bool one_in(rng *r, int64_t n)
{
    return rng_range(r, 1, n) == 1;
}

static void random_sizes(rng *r, golden_case *g, int64_t most_work)
{
    static const int64_t channels[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 33, 64, 65, 128, 130};
    g->kv_heads = rng_range(r, 1, 3);
    g->heads = g->kv_heads * rng_range(r, 1, 4);
    g->batch = rng_range(r, 1, 3);
    g->d = channels[rng_range(r, 0, 15)];
    g->d_v = one_in(r, 3) ? channels[rng_range(r, 0, 15)] : g->d;
    g->rows = one_in(r, 4) ? 1 : rng_range(r, 1, one_in(r, 3) ? 150 : 20);
    g->keys = rng_range(r, 1, one_in(r, 5) ? 700 : one_in(r, 2) ? 280 : 40);
    if (one_in(r, 40)) g->keys = rng_range(r, 4000, 9000);
    if (one_in(r, 60)) g->keys = 0;
    while (g->batch * g->heads * g->rows * g->keys * (g->d + g->d_v) > most_work) {
        if (g->rows > 1)
            g->rows = (g->rows + 1) / 2;
        else if (g->heads > g->kv_heads)
            g->heads = g->kv_heads;
        else if (g->batch > 1)
            g->batch = 1;
        else
            g->keys = g->keys / 2;
    }
}

static void random_packs(rng *r, feature_case *c)
{
    golden_case *const g = &c->base;
    g->batch = 1;
    c->sequences = rng_range(r, 1, FEATURE_MAX_BATCH);
    for (int64_t n = 1; n < c->sequences; n++) {
        c->cu_q[n] = rng_range(r, c->cu_q[n - 1], g->rows);
        c->cu_k[n] = rng_range(r, c->cu_k[n - 1], g->keys);
    }
    c->cu_q[c->sequences] = g->rows;
    c->cu_k[c->sequences] = g->keys;
}

static void random_lengths(rng *r, feature_case *c)
{
    const int packed = (c->with & FEATURE_PACKED) != 0;
    const int64_t n = packed ? c->sequences : c->base.batch;
    for (int64_t b = 0; b < n; b++) {
        const int64_t keys = packed ? c->cu_k[b + 1] - c->cu_k[b] : c->base.keys;
        const int64_t rows = packed ? c->cu_q[b + 1] - c->cu_q[b] : c->base.rows;
        c->kv_len[b] = one_in(r, 3) ? keys : rng_range(r, 0, keys);
        c->kv_start[b] = rng_range(r, 0, c->with & FEATURE_KV_LEN ? c->kv_len[b] : keys);
        if (one_in(r, 2)) c->kv_start[b] /= 4;
        c->q_len[b] = one_in(r, 2) ? rows : rng_range(r, 0, rows);
        c->offsets[b] = rng_range(r, -rows, keys);
    }
}

static void random_pairs(rng *r, feature_case *c)
{
    static const int32_t types[4] = {GOLDEN_F32, GOLDEN_F16, GOLDEN_BF16, GOLDEN_F64};
    c->bool_by = (int32_t)rng_range(r, 0, 7);
    c->bool_looks = (int32_t)rng_range(r, LOOKS_RANDOM, LOOKS_NONE);
    c->bool_keys = one_in(r, 4) ? rng_range(r, 0, c->base.keys) : 0;
    c->bias_by = one_in(r, 3) ? BY_ALL : (int32_t)rng_range(r, 0, 7);
    c->bias_looks = (int32_t)rng_range(r, LOOKS_RANDOM, LOOKS_NONE);
    c->bias_type = types[rng_range(r, 0, 3)];
    if (c->bias_by == BY_ALL) c->bias_values = BIAS_POISON;
    c->bias_keys = one_in(r, 4) ? rng_range(r, 0, c->base.keys) : 0;
}

static void random_types(rng *r, feature_case *c)
{
    static const int32_t narrow[3] = {GOLDEN_F32, GOLDEN_F16, GOLDEN_BF16};
    static const int32_t all[4] = {GOLDEN_F32, GOLDEN_F16, GOLDEN_BF16, GOLDEN_F64};
    if (!one_in(r, 3)) return;
    const int wide = c->base.bits == 64;
    c->q_type = wide ? GOLDEN_F64 : narrow[rng_range(r, 0, 2)];
    c->k_type = wide ? all[rng_range(r, 0, 3)] : narrow[rng_range(r, 0, 2)];
    c->v_type = wide ? all[rng_range(r, 0, 3)] : narrow[rng_range(r, 0, 2)];
    c->out_type = all[rng_range(r, 0, 3)];
}

feature_case random_case(rng *r, int64_t most_work)
{
    static const uint32_t features[] = {
        FEATURE_CAUSAL, FEATURE_OFFSETS,  FEATURE_PREFIX,      FEATURE_WINDOW, FEATURE_KV_LEN,
        FEATURE_Q_LEN,  FEATURE_KV_START, FEATURE_PACKED,      FEATURE_BOOL,   FEATURE_BIAS,
        FEATURE_ALIBI,  FEATURE_SOFTCAP,  FEATURE_SINK,        FEATURE_RULE,   FEATURE_DROPOUT,
        FEATURE_DROPS,  FEATURE_BITS,     FEATURE_ALIBI_BATCH, FEATURE_SCALE};
    static const int32_t kinds[8] = {GOLDEN_GAUSS, GOLDEN_GAUSS, GOLDEN_GAUSS, GOLDEN_GAUSS,
                                     GOLDEN_GRID,  GOLDEN_EQUAL, GOLDEN_SHARP, GOLDEN_NANLIVE};
    feature_case c;
    memset(&c, 0, sizeof c);
    golden_case *const g = &c.base;
    g->name = "random";
    g->bits = one_in(r, 4) ? 64 : 32;
    random_sizes(r, g, most_work);
    g->kind = kinds[rng_range(r, 0, 7)];
    g->seed = rng_next(r) % 1000000;
    g->scale = rng_unit(r) * 2 / sqrt((double)g->d);
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (one_in(r, features[i] == FEATURE_RULE || features[i] == FEATURE_PACKED ? 8 : 4))
            c.with |= features[i];
    c.with &= feature_done() | FEATURE_POISON;
    c.with |= FEATURE_POISON;
    if (c.with & FEATURE_PACKED && (g->rows == 0 || g->keys == 0)) c.with &= ~FEATURE_PACKED;
    if (c.with & FEATURE_PACKED) random_packs(r, &c);
    random_lengths(r, &c);
    random_pairs(r, &c);
    random_types(r, &c);
    c.offset = one_in(r, 3) ? 0 : rng_range(r, -g->rows, g->keys);
    c.left = one_in(r, 4) ? -1 : rng_range(r, 0, one_in(r, 2) ? 20 : g->keys);
    c.right = one_in(r, 4) ? -1 : rng_range(r, 0, one_in(r, 2) ? 3 : g->keys);
    c.prefix = rng_range(r, 0, g->keys);
    c.max_bias = one_in(r, 3) ? 1 + rng_unit(r) * 7 : 0;
    c.softcap = one_in(r, 2) ? 30 : 0.5 + rng_unit(r) * 10;
    c.sink_scale = rng_unit(r) * 4;
    c.drop = one_in(r, 8) ? (double)rng_range(r, 0, 1) : rng_unit(r);
    c.drop_seed = rng_next(r);
    c.first_head = one_in(r, 2) ? 0 : rng_range(r, 0, 100);
    c.first_batch = one_in(r, 2) ? 0 : rng_range(r, 0, INT64_C(0x1ffffffff));
    c.align = c.with & FEATURE_OFFSETS || !one_in(r, 3) ? AT_OFFSET
              : one_in(r, 3)                            ? TOP_LEFT
                                                        : BOTTOM_RIGHT;
    if (c.align) c.offset = 0; /* a name and a number are refused */
    return c;
}

int64_t case_work(const feature_case *c)
{
    const golden_case *const g = &c->base;
    return g->batch * g->heads * g->rows * g->keys * (g->d + g->d_v);
}

static void add_numbers(char *text, size_t size, const char *name, const int64_t *x, int64_t n)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, " %s", name);
    for (int64_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, " %lld", (long long)x[i]);
}

const char *case_text(const feature_case *c)
{
    static char text[600];
    const int packed = (c->with & FEATURE_PACKED) != 0;
    const int64_t n = packed ? c->sequences : c->base.batch;
    const golden_case *const g = &c->base;
    snprintf(text, sizeof text,
             "f%d %lldx%lld(%lld) rows %lld keys %lld d %lld dv %lld with 0x%x kind %d types "
             "%d%d%d%d seed %llu offset %lld align %d",
             (int)g->bits, (long long)g->batch, (long long)g->heads, (long long)g->kv_heads,
             (long long)g->rows, (long long)g->keys, (long long)g->d, (long long)g->d_v,
             (unsigned)c->with, (int)g->kind, (int)c->q_type, (int)c->k_type, (int)c->v_type,
             (int)c->out_type, (unsigned long long)g->seed, (long long)c->offset, (int)c->align);
    if (packed) add_numbers(text, sizeof text, "cu_q", c->cu_q, n + 1);
    if (packed) add_numbers(text, sizeof text, "cu_k", c->cu_k, n + 1);
    if (c->with & FEATURE_KV_LEN) add_numbers(text, sizeof text, "kv_len", c->kv_len, n);
    if (c->with & FEATURE_Q_LEN) add_numbers(text, sizeof text, "q_len", c->q_len, n);
    if (c->with & FEATURE_KV_START) add_numbers(text, sizeof text, "kv_start", c->kv_start, n);
    if (c->with & FEATURE_OFFSETS) add_numbers(text, sizeof text, "offsets", c->offsets, n);
    return text;
}

void feature_mix_count(feature_mix *m, const feature_case *c)
{
    m->cases++;
    for (int i = 0; i < 24; i++) m->of[i] += c->with >> i & 1;
    m->wild += c->base.kind == GOLDEN_NANLIVE;
    m->poisoned += (c->with & FEATURE_POISON) != 0;
    m->beyond_block += c->base.keys > 128;
    m->grouped += c->base.heads != c->base.kv_heads;
    m->named += c->align != AT_OFFSET;
    m->half += c->k_type == GOLDEN_F16 || c->k_type == GOLDEN_BF16;
}

/* ---- the judge -------------------------------------------------------------------------------- */

static double element(const void *x, int32_t type, int64_t i)
{
    const uint64_t bits = feature_element_bits(x, i, 8 * feature_bytes(type));
    if (type == GOLDEN_F64) return golden_from_bits(bits);
    if (type != GOLDEN_F16) {
        const uint32_t word = (uint32_t)(type == GOLDEN_F32 ? bits : bits << 16);
        float f;
        memcpy(&f, &word, sizeof f);
        return (double)f;
    }
    const int exponent = (int)(bits >> 10 & 31);
    const double digits = (double)(bits & 1023);
    double size = exponent ? ldexp(1024 + digits, exponent - 25) : ldexp(digits, -24);
    if (exponent == 31) size = digits > 0 ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -size : size;
}

/* What rule 13's generator says, from the published description of Philox. */
static uint32_t philox(const uint32_t counter[4], uint64_t key, int which)
{
    uint32_t c[4], k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    memcpy(c, counter, sizeof c);
    for (int n = 0; n < 10; n++) {
        const uint64_t a = (uint64_t)c[0] * 0xD2511F53U, b = (uint64_t)c[2] * 0xCD9E8D57U;
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
    }
    return c[which];
}

/* A row's place, worked out from the case. */
typedef struct spot {
    int64_t b, h, i, sequence, first_key, position;
} spot;

int64_t case_offset(const feature_case *c, int64_t n)
{
    const int packed = (c->with & FEATURE_PACKED) != 0;
    int64_t keys = packed ? c->cu_k[n + 1] - c->cu_k[n] : c->base.keys;
    int64_t rows = packed ? c->cu_q[n + 1] - c->cu_q[n] : c->base.rows;
    if (c->with & FEATURE_OFFSETS) return c->offsets[n];
    if (c->align != BOTTOM_RIGHT) return c->align == TOP_LEFT ? 0 : c->offset;
    if (c->with & FEATURE_KV_LEN) keys = c->kv_len[n];
    if (c->with & FEATURE_Q_LEN) rows = c->q_len[n];
    return keys - rows;
}

static spot spot_of(const feature_case *c, int64_t b, int64_t h, int64_t i)
{
    spot s = {b, h, i, b, 0, i};
    if (c->with & FEATURE_PACKED) {
        s.sequence = 0;
        while (i >= c->cu_q[s.sequence + 1]) s.sequence++;
        s.first_key = c->cu_k[s.sequence];
        s.position = i - c->cu_q[s.sequence];
    }
    if (c->with & FEATURE_KV_START) {
        s.first_key += c->kv_start[s.sequence];
        s.position -= c->kv_start[s.sequence];
    }
    s.position += case_offset(c, s.sequence);
    return s;
}

static double slope_by_rule(double max_bias, int64_t h, int64_t heads)
{
    const int64_t n = INT64_C(1) << (int)log2((double)heads);
    return exp2(-max_bias *
                (h < n ? (double)(h + 1) / (double)n : ((double)(h - n) + 0.5) / (double)n));
}

static double judged_score(const feature_case *c, const feature_tensors *t, const spot *s,
                           int64_t j, double *size)
{
    const golden_case *const g = &c->base;
    const int64_t row = (s->b * g->heads + s->h) * g->rows + s->i;
    const int64_t key = (s->b * g->kv_heads + s->h / (g->heads / g->kv_heads)) * g->keys + j;
    const int32_t q_type = feature_tensor_type(c, GOLDEN_Q),
                  k_type = feature_tensor_type(c, GOLDEN_K);
    const double scale = c->with & FEATURE_SCALE ? g->scale : 1 / sqrt((double)g->d);
    double x = 0, absolute = 0;
    for (int64_t n = 0; n < g->d; n++) {
        const double y =
            element(t->q, q_type, row * g->d + n) * element(t->k, k_type, key * g->d + n);
        x += y;
        absolute += fabs(y);
    }
    x *= scale;
    absolute *= fabs(scale);
    const int64_t number = j - s->first_key;
    if (c->with & FEATURE_SOFTCAP) {
        x = c->softcap * tanh(x / c->softcap);
        absolute += c->softcap;
    }
    if (c->with & FEATURE_RULE) x = x / 2 - feature_rule_less(s->h, number);
    if (c->with & FEATURE_ALIBI) {
        const double away = fabs((double)(s->position - number));
        const double slope = c->max_bias > 0 ? slope_by_rule(c->max_bias, s->h, g->heads)
                                             : feature_slope(c, s->sequence, s->h);
        x -= slope * away;
        absolute += fabs(slope) * away;
    }
    if (c->with & FEATURE_BIAS) {
        const int32_t type = feature_type(c, c->bias_type);
        unsigned char stored[8];
        feature_store(stored, 0, type, feature_bias(c, s->b, s->h, s->i, j));
        x += element(stored, type, 0);
        absolute += fabs(element(stored, type, 0));
    }
    *size = absolute > *size ? absolute : *size;
    return x;
}

typedef struct judged {
    double lse, size; /* size: the largest score, before anything in it cancels */
    double spread;    /* the largest sum of |w v| over a channel: out, before it cancels */
    bool wild;        /* out and lse are NaN */
} judged;

static judged judge_row(const feature_case *c, const feature_tensors *t, const spot *s, double *e,
                        double *out)
{
    const golden_case *const g = &c->base;
    judged r = {-(double)INFINITY, 1, 0, false};
    const double sink = c->with & FEATURE_SINK ? feature_sink(c, s->h) : -(double)INFINITY;
    double top = sink, sum = 0;
    bool any = false;
    for (int64_t n = 0; n < g->d_v; n++) out[n] = 0;
    for (int64_t j = 0; j < g->keys; j++) {
        e[j] = -(double)INFINITY;
        if (!feature_sees(c, s->b, s->h, s->i, j)) continue;
        any = true;
        e[j] = judged_score(c, t, s, j, &r.size);
        r.wild |= isnan(e[j]);
        if (e[j] > top) top = e[j];
    }
    r.lse = any ? r.lse : sink;
    if (!any || r.wild) return r;
    for (int64_t j = 0; j < g->keys; j++) sum += e[j] = exp(e[j] - top);
    sum += exp(sink - top);
    r.lse = top + log(sum);
    const double factor = c->drop < 1 ? 1 / (1 - c->drop) : 0;
    const int64_t plane = (s->b * g->kv_heads + s->h / (g->heads / g->kv_heads)) * g->keys;
    double *const absolute = out + g->d_v;
    for (int64_t n = 0; n < g->d_v; n++) absolute[n] = 0;
    for (int64_t j = 0; j < g->keys; j++) {
        if (!feature_sees(c, s->b, s->h, s->i, j)) continue;
        double w = e[j] / sum;
        if (c->with & FEATURE_DROPOUT) {
            const int64_t key = j - s->first_key;
            const uint32_t counter[4] = {(uint32_t)(key / 4), (uint32_t)s->position,
                                         (uint32_t)(c->first_head + s->h),
                                         (uint32_t)(c->first_batch + s->sequence)};
            const bool kept =
                (double)philox(counter, c->drop_seed, (int)(key % 4)) >= floor(c->drop * 0x1p32);
            w = kept ? w * factor : 0;
            if (!kept) continue;
        }
        for (int64_t n = 0; n < g->d_v; n++) {
            const double x =
                w * element(t->v, feature_tensor_type(c, GOLDEN_V), (plane + j) * g->d_v + n);
            out[n] += x;
            absolute[n] += fabs(x);
        }
    }
    for (int64_t n = 0; n < g->d_v; n++) r.spread = fmax(r.spread, absolute[n]);
    return r;
}

/* Half a unit in the last place of the output's type, beside what the run may be off. */
static double output_slack(const feature_case *c, double x)
{
    switch (feature_type(c, c->out_type)) {
    case GOLDEN_F16:
        return fabs(x) * 0x1.01p-11 + 0x1p-25;
    case GOLDEN_BF16:
        return fabs(x) * 0x1.01p-8 + 0x1p-134;
    case GOLDEN_F32:
        return fabs(x) * 0x1.01p-24 + 0x1p-150;
    default:
        return 0;
    }
}

static void judge_numbers(const feature_case *c, const spot *s, const judged *want,
                          const double *wanted, const void *out, double lse, const char *who)
{
    const golden_case *const g = &c->base;
    const int64_t row = (s->b * g->heads + s->h) * g->rows + s->i;
    const double unit = (g->bits == 32 ? 0x1p-24 : 0x1p-53) * (40 + 6 * want->size);
    const double vanishing = g->bits == 32 ? 0x1p-115 : 0x1p-1000; /* rule 9's factors end there */
    const char *const at = case_text(c);
    const bool lse_right =
        want->wild ? (bool)isnan(lse)
                   : lse == want->lse || fabs(lse - want->lse) <= unit * (1 + fabs(want->lse));
    if (!lse_right)
        fail_msg("%s: %s: lse[%lld] is %.17g, wanted %.17g", who, at, (long long)row, lse,
                 want->wild ? (double)NAN : want->lse);
    for (int64_t n = 0; n < g->d_v; n++) {
        const double x = element(out, feature_type(c, c->out_type), row * g->d_v + n);
        const double bound = unit * want->spread + output_slack(c, wanted[n]) + vanishing;
        if (feature_type(c, c->out_type) == GOLDEN_F16 && fabs(wanted[n]) > 65500) continue;
        if (want->wild ? (bool)isnan(x) : fabs(x - wanted[n]) <= bound) continue;
        fail_msg("%s: %s: out[%lld][%lld] is %.17g, wanted %.17g within %.3g", who, at,
                 (long long)row, (long long)n, x, want->wild ? (double)NAN : wanted[n], bound);
    }
}

void judge_case(const feature_case *c, const feature_tensors *t, const void *out, const void *lse,
                const char *who)
{
    const golden_case *const g = &c->base;
    double *const e = malloc((size_t)(g->keys + 2 * g->d_v + 1) * sizeof *e);
    assert_non_null(e);
    for (int64_t row = 0; row < feature_rows(c); row++) {
        const spot s =
            spot_of(c, row / g->rows / g->heads, row / g->rows % g->heads, row % g->rows);
        const judged want = judge_row(c, t, &s, e, e + g->keys);
        const double l = element(lse, g->bits == 32 ? GOLDEN_F32 : GOLDEN_F64, row);
        judge_numbers(c, &s, &want, e + g->keys, out, l, who);
    }
    free(e);
}
