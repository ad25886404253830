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

/* One row's view of the keys of its sequence. */
typedef struct NAME(row) {
    const T *t;          /* scores after rule 3, by key number */
    const T *v;          /* v[key number][channel] */
    const uint8_t *live; /* rule 1 */
    const uint8_t *kept; /* rule 13 */
    int64_t keys, d_v;
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

static T NAME(magnitude)(T x)
{
    return NAME(from_bits)(NAME(to_bits)(x) & ~NAME(to_bits)(-(T)0));
}

/* x, +-inf counting as +-MAX */
static T NAME(saturated)(T x)
{
    if (x == (T)INFINITY) return MAX;
    if (x == -(T)INFINITY) return -MAX;
    return x;
}

/* Rule 2. */
static T NAME(query_factor)(const feature_case *c)
{
    const double scale = c->with & FEATURE_SCALE ? c->base.scale : 1.0 / sqrt((double)c->base.d);
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

/* Rule 3: softcap and the caller's own rule. */
static T NAME(capped)(const feature_case *c, const place *at, int64_t j, T t)
{
    if (c->with & FEATURE_SOFTCAP) {
        const T k = (T)(2.0 / c->softcap), cap = (T)(c->softcap * 0x1.71547652b82fep+0);
        const T limit = TYPE_BITS == 32 ? 64 : 128;
        T y = NAME(magnitude)(t) * k;
        if (y > limit) y = limit;
        const T n = RINT(y), g = y - n;
        T r = NAME(exp2_c)[EXP2_N];
        for (int32_t i = EXP2_N - 1; i >= 1; i--) r = FMA(r, g, NAME(exp2_c)[i]);
        r = r * g;
        const T s = isnan(n) ? n : (T)ldexp(1, (int)n);
        const T h = FMA(r, s, s - 1);
        const T x = cap * (h / (h + 2));
        t = NAME(from_bits)(NAME(to_bits)(x) | (NAME(to_bits)(t) & NAME(to_bits)(-(T)0)));
    }
    if (c->with & FEATURE_RULE) {
        const T s = t * (T)0x1.62e42fefa39efp-1;
        const T ruled = s * (T)0.5 - (T)feature_rule_less(at->head, j);
        t = ruled * (T)0x1.71547652b82fep+0;
    }
    return t;
}

/* Rule 3: ALiBi and bias. */
static T NAME(added)(const feature_case *c, const place *at, int64_t j, T t)
{
    if (c->with & FEATURE_ALIBI) {
        const double slope = c->max_bias > 0 ? slope_of(c->max_bias, at->head, c->base.heads)
                                             : feature_slope(c, at->sequence, at->head);
        const T a = NAME(saturated)((T)(slope * 0x1.71547652b82fep+0));
        const int64_t away = at->position > j ? at->position - j : j - at->position;
        t = FMA(a, (T)-away, t);
    }
    const int64_t index = at->begin + at->padding + j;
    if (c->with & FEATURE_BIAS && index < feature_bias_keys(c)) {
        const uint64_t stored = feature_bias(c, at->batch, at->head, at->row, index);
        const T bias = (T)widened(stored, feature_type(c, c->bias_type));
        const T b = NAME(saturated)(bias * (T)0x1.71547652b82fep+0);
        t = isfinite(t) ? NAME(saturated)(t + b) : t + b;
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

/* Rules 5 and 6: the largest live t of the keys begin ... end - 1; NaN if one is NaN or +inf. */
static T NAME(largest)(const NAME(row) * r, int64_t begin, int64_t end)
{
    T largest = -(T)INFINITY;
    for (int64_t j = begin; j < end; j++) {
        if (!r->live[j]) continue;
        if (isnan(r->t[j]) || r->t[j] == (T)INFINITY) return (T)NAN;
        if (r->t[j] > largest) largest = r->t[j];
    }
    return largest;
}

/* m of the block that begins at a key. NaN: p of every live key is NaN. */
static T NAME(block_maximum)(const NAME(row) * r, int64_t begin, int32_t *dead)
{
    const int64_t end = begin + 128 < r->keys ? begin + 128 : r->keys;
    const T largest = NAME(largest)(r, begin, end);
    *dead = largest == -(T)INFINITY;
    return RINT(largest) + 0; /* already an integer where |largest| is that large */
}

static T NAME(block_weight)(T t, T m)
{
    return isnan(m) ? m : NAME(weight)(t, m);
}

/* Rules 5, 8 and 13. Blocks begin at multiples of 128. */
static void NAME(block)(NAME(node) * b, const NAME(row) * r, int64_t begin)
{
    const int64_t end = begin + 128 < r->keys ? begin + 128 : r->keys;
    b->m = NAME(block_maximum)(r, begin, &b->dead);
    if (b->dead) return;
    T lane[16] = {0};
    for (int64_t c = 0; c < r->d_v; c++) b->o[c] = 0;
    for (int64_t j = begin; j < end; j++) {
        if (!r->live[j]) continue;
        const T p = NAME(block_weight)(r->t[j], b->m);
        lane[j % 16] = lane[j % 16] + p;
        if (!r->kept[j]) continue;
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

/* Rule 10: folds the row's sink in. */
static void NAME(add_sink)(NAME(node) * n, double sink, int64_t d_v)
{
    NAME(node) s = {.dead = 0};
    const T t = NAME(saturated)((T)(sink * 0x1.71547652b82fep+0));
    s.m = RINT(t) + 0;
    s.l = NAME(weight)(t, s.m);
    for (int64_t c = 0; c < d_v; c++) s.o[c] = 0;
    NAME(fold)(n, &s, d_v);
}

/* Rules 10, 11 and 13: out and lse; n becomes the row with its sink. */
static void NAME(finish)(hashes *h, const feature_case *c, const place *at, NAME(node) * n)
{
    const int32_t out_type = feature_type(c, c->out_type);
    const double sink = c->with & FEATURE_SINK ? feature_sink(c, at->head) : (double)-INFINITY;
    const double left = 1 - (c->with & FEATURE_DROPOUT ? c->drop : 0);
    const T factor = left == 0 ? 0 : (T)(1 / left);
    const int32_t no_key = n->dead;
    if (!isinf(sink)) NAME(add_sink)(n, sink, c->base.d_v);
    for (int64_t x = 0; x < c->base.d_v; x++) {
        const T quotient = no_key ? 0 : n->o[x] / n->l;
        put_bits(h, OUT, narrowed((double)(quotient * factor + 0), out_type),
                 8 * feature_bytes(out_type));
    }
    if (no_key)
        NAME(put)(h, LSE, (T)sink);
    else if (isnan(n->l))
        NAME(put)(h, LSE, n->l);
    else {
        const double log2_sum = (double)n->m + spec_log2((double)n->l);
        NAME(put)(h, LSE, (T)(log2_sum * 0x1.62e42fefa39efp-1));
    }
}

/* Rule 12: the weight of each key of the row's sequence; n is the row with its sink. */
static void NAME(weights)(const NAME(row) * r, const NAME(node) * n, T *w)
{
    T m = 0;
    int32_t dead = 1;
    for (int64_t j = 0; j < r->keys; j++) {
        if (j % 128 == 0) m = NAME(block_maximum)(r, j, &dead);
        w[j] = 0;
        if (r->live[j] && !dead)
            w[j] = (NAME(block_weight)(r->t[j], m) * NAME(power_of_two)(m - n->m)) / n->l;
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
        for (int64_t c = 0; c < r->d_v; c++)
            NAME(put)(h, PARTIAL, n.dead ? 0 : isnan(n.l) ? n.l : n.o[c] + 0);
        at += (int64_t)1 << level;
    }
}
