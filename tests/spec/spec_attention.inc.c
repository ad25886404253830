/* SPDX-License-Identifier: MIT */
/* spec_attention.inc.c - docs/numerics.md said in C, rule by rule, one row at a time, for one type.
 * Included once a type, with T the type, UINT its bit pattern, NAME(x) the name of x for the type,
 * and the type's constants. No speed, no vectors, nothing shared with src/: this is the judge.
 *
 * Invariant: every addition, product and fma stands in the order that the page gives; fma() and
 * fmaf() of the C library are exact, whatever the machine.
 */

typedef struct NAME(node) {
    int32_t dead; /* contributes nothing; m, l and o are not read */
    T m, l, o[MAX_CHANNELS];
} NAME(node);

/* One row's view: its scores and where its live keys end. */
typedef struct NAME(row) {
    const T *t, *v; /* t[key], v[key][channel] */
    int64_t live, keys, d_v;
} NAME(row);

static UINT NAME(to_bits)(T x)
{
    UINT bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static T NAME(from_bits)(UINT bits)
{
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rule 2. */
static T NAME(query_factor)(const golden_case *c)
{
    const double scale = c->use & GOLDEN_SCALE ? c->scale : 1.0 / sqrt((double)c->d);
    return (T)(scale * 0x1.71547652b82fep+0);
}

static T NAME(score)(const T *q, const T *k, int64_t d)
{
    T t = 0;
    for (int64_t group = 0; group < d; group += 128) {
        T x = 0;
        for (int64_t c = group; c < d && c < group + 128; c++) x = FMA(k[c], q[c], x);
        t = group == 0 ? x : t + x;
    }
    return t;
}

/* Rule 7. `exact` and `rest` are t - m without error: exact is the rounded difference, rest what
 * rounding lost (Knuth's two-sum). */
static T NAME(weight)(T t, T m)
{
    if (t == -(T)INFINITY) return 0;
    const T exact = t - m;
    const T back = exact - t;
    const T rest = (t - (exact - back)) + (-m - back);
    if (exact < -DEAD || (exact == -DEAD && rest <= 0)) return 0;

    T e = RINT(exact); /* ties to even, where the exact difference is a tie */
    if (exact - e == (T)0.5 && rest > 0) e += 1;
    if (exact - e == (T)-0.5 && rest < 0) e -= 1;
    const T g = t - (m + e);
    T y = NAME(exp2_c)[EXP2_N];
    for (int32_t i = EXP2_N - 1; i >= 1; i--) y = FMA(y, g, NAME(exp2_c)[i]);
    y = FMA(y, g, (T)1);
    const UINT shift = (UINT)(SINT)e << MANTISSA;
    return NAME(from_bits)(NAME(to_bits)(y) + shift);
}

/* Rules 5 and 6. NaN: p of every live key is NaN. */
static T NAME(block_maximum)(const T *t, int64_t begin, int64_t end, int32_t *dead)
{
    T largest = -(T)INFINITY;
    *dead = 1;
    for (int64_t j = begin; j < end; j++) {
        if (isnan(t[j]) || t[j] == (T)INFINITY) {
            *dead = 0;
            return (T)NAN;
        }
        if (t[j] > largest) largest = t[j];
        if (t[j] != -(T)INFINITY) *dead = 0;
    }
    return RINT(largest) + 0; /* already an integer where |largest| is that large */
}

static T NAME(block_weight)(T t, T m)
{
    return isnan(m) ? m : NAME(weight)(t, m);
}

/* Rules 5 and 8. Blocks begin at multiples of 128. */
static void NAME(block)(NAME(node) * b, const NAME(row) * r, int64_t begin)
{
    const int64_t end = begin + 128 < r->live ? begin + 128 : r->live;
    b->m = NAME(block_maximum)(r->t, begin, end, &b->dead);
    if (b->dead) return;
    T lane[16] = {0};
    for (int64_t c = 0; c < r->d_v; c++) b->o[c] = 0;
    for (int64_t j = begin; j < end; j++) {
        const T p = NAME(block_weight)(r->t[j], b->m);
        lane[j % 16] = lane[j % 16] + p;
        for (int64_t c = 0; c < r->d_v; c++) b->o[c] = FMA(r->v[j * r->d_v + c], p, b->o[c]);
    }
    for (int32_t h = 8; h >= 1; h /= 2)
        for (int32_t i = 0; i < h; i++) lane[i] = lane[i] + lane[i + h];
    b->l = lane[0];
}

/* Rule 9: x is an integer and at most 0. The factor of a NaN meets a NaN, whatever it is. */
static T NAME(power_of_two)(T x)
{
    if (!(x >= -DEAD + 1)) return 0;
    return NAME(from_bits)((UINT)((SINT)x + (SINT)DEAD) << MANTISSA);
}

static void NAME(fold)(NAME(node) * a, const NAME(node) * b, int64_t d_v)
{
    if (b->dead) return;
    if (a->dead) {
        *a = *b;
        return;
    }
    const T m = a->m > b->m ? a->m : b->m;
    const T alpha = NAME(power_of_two)(a->m - m), beta = NAME(power_of_two)(b->m - m);
    a->l = FMA(b->l, beta, a->l * alpha);
    for (int64_t c = 0; c < d_v; c++) a->o[c] = FMA(b->o[c], beta, a->o[c] * alpha);
    a->m = m;
}

/* Rule 9's tree: node (k, i) covers the spans i 2^k ... (i + 1) 2^k - 1. */
static void NAME(tree)(NAME(node) * a, const NAME(row) * r, int32_t level, int64_t index)
{
    NAME(node) b;
    const int64_t begin = (index << level) * SPAN_KEYS;
    a->dead = 1;
    if (level > 0) {
        NAME(tree)(a, r, level - 1, 2 * index);
        if (begin + (SPAN_KEYS << (level - 1)) >= r->keys) return;
        NAME(tree)(&b, r, level - 1, 2 * index + 1);
        NAME(fold)(a, &b, r->d_v);
        return;
    }
    for (int64_t j = begin; j < begin + SPAN_KEYS && j < r->keys; j += 128) {
        NAME(block)(&b, r, j);
        NAME(fold)(a, &b, r->d_v);
    }
}

static void NAME(put)(hashes *h, int32_t which, T x)
{
    put_bits(h, which, isnan(x) ? QUIET_NAN : NAME(to_bits)(x), TYPE_BITS);
}

/* Rules 11 and 12, for one row; weights and scaled scores of every key, live or not. */
static void NAME(finish)(hashes *h, const NAME(row) * r, const NAME(node) * n)
{
    for (int64_t c = 0; c < r->d_v; c++) NAME(put)(h, OUT, n->dead ? 0 : n->o[c] / n->l + 0);
    if (n->dead)
        NAME(put)(h, LSE, -(T)INFINITY);
    else if (isnan(n->l))
        NAME(put)(h, LSE, n->l);
    else {
        const double log2_sum = (double)n->m + spec_log2((double)n->l);
        NAME(put)(h, LSE, (T)(log2_sum * 0x1.62e42fefa39efp-1));
    }
    for (int64_t begin = 0; begin < r->keys; begin += 128) {
        const int64_t end = begin + 128 < r->keys ? begin + 128 : r->keys;
        int32_t dead;
        const T m = NAME(block_maximum)(r->t, begin, end < r->live ? end : r->live, &dead);
        for (int64_t j = begin; j < end; j++) {
            T w = 0;
            if (j < r->live && !dead)
                w = (NAME(block_weight)(r->t[j], m) * NAME(power_of_two)(m - n->m)) / n->l;
            NAME(put)(h, WEIGHT, w);
            NAME(put)(h, SCALED, r->t[j] * (T)0x1.62e42fefa39efp-1);
        }
    }
}

/* "Partials": the largest nodes that lie in the keys begin ... end - 1, each at its lowest level. */
static void NAME(partial)(hashes *h, const NAME(row) * r, int64_t begin, int64_t end)
{
    const int64_t spans = spans_of(r->keys), stop = spans_of(end);
    int64_t at = begin / SPAN_KEYS;
    while (at < stop) {
        const int32_t level = largest_level(at, stop, spans);
        NAME(node) n;
        NAME(tree)(&n, r, level, at >> level);
        NAME(put)(h, PARTIAL, n.dead ? -(T)INFINITY : isnan(n.l) ? n.l : n.m);
        NAME(put)(h, PARTIAL, n.dead ? 0 : n.l);
        for (int64_t c = 0; c < r->d_v; c++) NAME(put)(h, PARTIAL, n.dead ? 0 : n.o[c] + 0);
        at += (int64_t)1 << level;
    }
}

/* All rows of a case. Partials are hashed part by part; within a part, row by row. */
static void NAME(run)(const golden_case *c, hashes *h)
{
    T *const q = grab(golden_count(c, GOLDEN_Q), sizeof(T));
    T *const k = grab(golden_count(c, GOLDEN_K), sizeof(T));
    T *const v = grab(golden_count(c, GOLDEN_V), sizeof(T));
    T *const t = grab(c->keys, sizeof(T));
    golden_fill(c, GOLDEN_Q, q);
    golden_fill(c, GOLDEN_K, k);
    golden_fill(c, GOLDEN_V, v);
    for (int64_t i = 0; h->dump && i < golden_count(c, GOLDEN_Q); i++) NAME(put)(h, IN_Q, q[i]);
    for (int64_t i = 0; h->dump && i < golden_count(c, GOLDEN_K); i++) NAME(put)(h, IN_K, k[i]);
    for (int64_t i = 0; h->dump && i < golden_count(c, GOLDEN_V); i++) NAME(put)(h, IN_V, v[i]);
    const T f = NAME(query_factor)(c);
    const int64_t group = c->heads / c->kv_heads, spans = spans_of(c->keys);
    int64_t cut[GOLDEN_MAX_PARTS + 1];
    const int32_t nparts = golden_parts(c->keys, cut);

    for (int32_t part = -1; part < nparts; part++)
        for (int64_t n = 0; n < c->batch * c->heads * c->rows; n++) {
            const int64_t i = n % c->rows, head = n / c->rows % c->heads;
            const int64_t batch = n / c->rows / c->heads;
            const int64_t plane = (batch * c->kv_heads + head / group) * c->keys;
            T scaled_q[MAX_CHANNELS];
            for (int64_t x = 0; x < c->d; x++) scaled_q[x] = q[n * c->d + x] * f;
            for (int64_t j = 0; j < c->keys; j++)
                t[j] = NAME(score)(scaled_q, k + (plane + j) * c->d, c->d);
            const NAME(row) r = {t, v + plane * c->d_v, live_keys(c, i), c->keys, c->d_v};
            if (part >= 0) {
                NAME(partial)(h, &r, cut[part], cut[part + 1]);
                continue;
            }
            NAME(node) whole = {.dead = 1};
            if (spans > 0) NAME(tree)(&whole, &r, largest_level(0, spans, spans), 0);
            NAME(finish)(h, &r, &whole);
        }
    free(q);
    free(k);
    free(v);
    free(t);
}
