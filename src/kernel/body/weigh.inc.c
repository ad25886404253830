/* SPDX-License-Identifier: MIT */
/* weigh.inc.c - one block's scores to weights: exclusion by selection, the integer maximum, 2^(t -
 * m), the sum in sixteen lanes (rules 4, 6, 7, 8).
 *
 * The fast form needs |m| <= FAST_M and finite scores. Both are noticed for one integer operation a
 * vector: |g| <= 1/2 unless t is NaN or +inf, so a set WILD_BIT among the g's calls for the slow
 * form, which scores the tile again and goes row by row.
 */

/* 2^(x - m) for U vectors `step` numbers apart; from = ROUNDER - m, floor = m + EXP2_FLOOR. Several
 * at a time, in lockstep, because each is one long dependent chain. */
HOT void NAME(exp2_group)(real *p, int64_t step, vec from, vec floor_, vec *sum, ivec *wild,
                          const int U)
{
    static const real c[EXP2_TERMS] = {EXP2};
    vec x[8], r[8], y[8];
    UNROLL_ALL for (int i = 0; i < U; i++) x[i] = vmax(floor_, NAME(load)(p + i * step));
    UNROLL_ALL for (int i = 0; i < U; i++) r[i] = x[i] + from;
    UNROLL_ALL for (int i = 0; i < U; i++) x[i] = x[i] - (r[i] - from); /* g, exact */
    UNROLL_ALL for (int i = 0; i < U; i++) *wild |= (ivec)x[i];
    UNROLL_ALL for (int i = 0; i < U; i++) y[i] = vfma(NAME(all)(c[0]), x[i], NAME(all)(c[1]));
    UNROLL_ALL for (int k = 2; k < EXP2_TERMS; k++) UNROLL_ALL for (int i = 0; i < U; i++) y[i] =
        vfma(y[i], x[i], NAME(all)(c[k]));
    UNROLL_ALL for (int i = 0; i < U; i++)
    {
        y[i] = (vec)((uvec)y[i] + ((uvec)r[i] << MANTISSA)); /* e into the exponent */
        NAME(store)(p + i * step, y[i]);
        sum[i] += y[i];
    }
}

HOT vec NAME(sum_lanes)(vec *lane)
{
    UNROLL_ALL for (int h = QKVI_SUM_LANES / 2; h; h >>= 1) UNROLL_ALL for (int i = 0; i < h; i++)
        lane[i] += lane[i + h];
    return lane[0];
}

/* all 128 keys of one vector column */
NOINLINE vec NAME(weigh_full)(real *s, vec m, int64_t width, ivec *wild)
{
    const vec from = ROUNDER - m, floor_ = m + EXP2_FLOOR;
    vec lane[QKVI_SUM_LANES];
    ivec w = *wild;
    for (int i = 0; i < QKVI_SUM_LANES; i += 4) {
        vec sum[4];
        UNROLL_ALL for (int u = 0; u < 4; u++) sum[u] = (vec){0};
        for (int j = i; j < QKVI_BLOCK; j += QKVI_SUM_LANES)
            NAME(exp2_group)(s + j * width, width, from, floor_, sum, &w, 4);
        UNROLL_ALL for (int u = 0; u < 4; u++) lane[i + u] = sum[u];
    }
    *wild = w;
    return NAME(sum_lanes)(lane);
}

/* keys lo <= j < hi of one vector column */
NOINLINE vec NAME(weigh_some)(real *s, int64_t lo, int64_t hi, vec m, int64_t width, ivec *wild)
{
    const vec from = ROUNDER - m, floor_ = m + EXP2_FLOOR;
    vec lane[QKVI_SUM_LANES];
    ivec w = *wild;
    for (int i = 0; i < QKVI_SUM_LANES; i++) lane[i] = (vec){0};
    int64_t j = lo;
    for (; j < hi && j % 4; j++)
        NAME(exp2_group)(s + j * width, width, from, floor_, lane + j % QKVI_SUM_LANES, &w, 1);
    for (; j + 4 <= hi; j += 4)
        NAME(exp2_group)(s + j * width, width, from, floor_, lane + j % QKVI_SUM_LANES, &w, 4);
    for (; j < hi; j++)
        NAME(exp2_group)(s + j * width, width, from, floor_, lane + j % QKVI_SUM_LANES, &w, 1);
    *wild = w;
    return NAME(sum_lanes)(lane);
}

/* The same with bits: any keys of [lo, hi) may be hidden from any row. */
static vec NAME(exclude_scattered)(const qkvi_step *t, int v, int32_t lo, int32_t hi)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    real *const s = (real *)t->s + v * LANES;
    const vec dead = NAME(all)(-(real)__builtin_inff());
    ivec bit = {0};
    for (int r = 0; r < LANES; r++) bit[r] = (ireal)1 << r;
    vec top = dead;
    for (int32_t j = lo; j < hi; j++) {
        const ivec rows = (ivec){0} + (ireal)(t->live[j] >> v * LANES);
        const vec x = NAME(select)((rows & bit) == bit, NAME(load)(s + j * width), dead);
        NAME(store)(s + j * width, x);
        top = vmax(x, top);
    }
    return top;
}

/* -inf where a row of vector v may not look; the maximum of the rest */
static vec NAME(exclude)(const qkvi_step *t, int v, int32_t lo, int32_t hi)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    real *const s = (real *)t->s + v * LANES;
    const vec dead = NAME(all)(-(real)__builtin_inff());
    ivec from = {0}, to = {0};
    int32_t open = lo, close = hi; /* [open, close): seen by every row of the vector */
    for (int r = 0; r < LANES; r++) {
        const int32_t a = t->lo[v * LANES + r], b = t->hi[v * LANES + r];
        from[r] = a;
        to[r] = b;
        if (a > open) open = a;
        if (b < close) close = b;
    }
    vec top = dead;
    for (int32_t j = lo; j < hi; j++) {
        vec x = NAME(load)(s + j * width);
        if (j < open || j >= close) {
            const ivec here = (ivec){0} + j;
            x = NAME(select)((from <= here) & (here < to), x, dead);
            NAME(store)(s + j * width, x);
        }
        top = vmax(x, top);
    }
    return top;
}

/* Any t, any m (rule 7 as it is written). */
INLINE real NAME(weight_any)(real t, real m)
{
    static const real c[EXP2_TERMS] = {EXP2};
    real e, g;
    if (m <= FAST_M && m >= -FAST_M) {
        const real from = ROUNDER - m;
        if (t <= m + EXP2_FLOOR) return 0;
        const real r = t + from;
        g = t - (r - from);
        e = (r - ROUNDER);
    } else {
        if (t - m <= EXP2_FLOOR) return 0;
        const vec rounded = vrint(NAME(all)(t - m));
        e = rounded[0];
        g = t - (m + e);
    }
    real y = sfma(c[0], g, c[1]);
    for (int k = 2; k < EXP2_TERMS; k++) y = sfma(y, g, c[k]);
    return NAME(from_bits)(NAME(bits)(y) + (ireal)((ireal)e * ((ireal)1 << MANTISSA)));
}

/* One row of the block, its numbers `width` apart: weights in place, +0 where excluded; *m = -inf for a
 * dead row. It sees the keys [lo, hi), of them those that have bit r in live (NULL: all). all: the row's
 * largest score so far, NULL: not kept. */
static real NAME(weigh_row)(real *s, int64_t width, int32_t keys, int32_t lo, int32_t hi,
                            const uint64_t *live, int64_t r, real *m, real *all)
{
    const real inf = (real)__builtin_inff();
    real top = -inf, lane[QKVI_SUM_LANES] = {0};
    int wild = 0;
    for (int32_t j = 0; j < keys; j++) {
        if (j < lo || j >= hi || (live && !(live[j] >> r & 1))) {
            s[j * width] = 0;
            continue;
        }
        const real x = s[j * width];
        if (x > top) top = x;
        wild |= x != x || x == inf;
    }
    *m = top > -INTEGERS_FROM && top < INTEGERS_FROM ? vrint(NAME(all)(top))[0] + 0 : top;
    if (wild) *m = 0; /* l and o are NaN: m no longer matters, but must be a number */
    if (all && wild) *all = NAME(from_bits)(QUIET_NAN);
    if (all && top > *all) *all = top;
    for (int32_t j = lo; j < hi; j++) {
        real *const p = s + j * width;
        if (live && !(live[j] >> r & 1)) continue;
        *p = wild ? NAME(from_bits)(QUIET_NAN) : NAME(is_dead)(top) ? 0 : NAME(weight_any)(*p, *m);
        lane[j % QKVI_SUM_LANES] += *p;
    }
    for (int h = QKVI_SUM_LANES / 2; h; h >>= 1)
        for (int i = 0; i < h; i++) lane[i] += lane[i + h];
    return lane[0];
}

NOINLINE void NAME(weigh_slow)(qkvi_step *t)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    real *const mb = t->mb, *const lb = t->lb;
    NAME(score)(t);
    for (int64_t r = 0; r < width; r++) {
        const int32_t lo = t->lo ? t->lo[r] : 0, hi = t->lo ? t->hi[r] : t->keys;
        lb[r] = NAME(weigh_row)((real *)t->s + r, width, t->keys, lo, hi < t->keys ? hi : t->keys,
                                t->live, r, mb + r, t->top ? (real *)t->top + r : NULL);
    }
    t->slow = 1;
}

static void NAME(weigh)(qkvi_step *t)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    real *const mb = t->mb, *const lb = t->lb, *const s = t->s;
    const vec dead = NAME(all)(-(real)__builtin_inff()), fast = NAME(all)(FAST_M);
    const NAME(edges) e = NAME(find_edges)(t);
    ivec wild = {0}, any_dead = {0};
    vec tops[QKVI_TILE_VECTORS];
    t->slow = 0;
    for (int v = 0; v < t->vectors; v++) {
        vec top = NAME(load)(mb + v * LANES);
        if (t->live)
            top = NAME(exclude_scattered)(t, v, e.lo[v], e.hi[v]);
        else if (t->lo)
            top = NAME(exclude)(t, v, e.lo[v], e.hi[v]);
        tops[v] = top;
        const ivec is_dead = top == dead;
        const vec m = NAME(select)(is_dead, (vec){0}, vrint(top) + (vec){0});
        wild |= ((m > fast) | (m < -fast)) & ((ivec){0} + WILD_BIT);
        any_dead |= is_dead;
        NAME(store)(mb + v * LANES, NAME(select)(is_dead, dead, m));
        NAME(store)(lb + v * LANES, m);
    }
    for (int v = 0; v < t->vectors && !vany(wild & WILD_BIT); v++) {
        const vec m = NAME(load)(lb + v * LANES);
        const vec l = e.lo[v] == 0 && e.hi[v] == QKVI_BLOCK
                          ? NAME(weigh_full)(s + v * LANES, m, width, &wild)
                          : NAME(weigh_some)(s + v * LANES, e.lo[v], e.hi[v], m, width, &wild);
        NAME(store)(lb + v * LANES, l);
    }
    if (vany(wild & WILD_BIT)) {
        NAME(weigh_slow)(t);
        return;
    }
    t->slow = vany(any_dead); /* a dead row's values must not be touched, whatever they hold */
    for (int v = 0; v < t->vectors && t->top; v++) {
        real *const p = (real *)t->top + v * LANES;
        NAME(store)(p, vmax(tops[v], NAME(load)(p))); /* a NaN stays */
    }
}
