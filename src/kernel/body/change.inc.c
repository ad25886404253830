/* SPDX-License-Identifier: MIT */
/* change.inc.c - what is done to a block's scores before they are weights (rule 3): softcap, the
 * caller's own function, ALiBi, bias, in this order, elementwise. All are vertical: rows lie in lanes.
 *
 * Scores outside the rows' keys may be anything, and stay so.
 */

/* C tanh(t ln2 / cap), k = 2 / cap: 2^y - 1 over 2^y + 1 for y = |t| k (2^y: rule 7's polynomial) */
INLINE vec NAME(softcap)(vec t, real k, real c)
{
    static const real poly[EXP2_TERMS] = {EXP2};
    const ivec sign = (ivec)t & (ivec)NAME(all)(-(real)0);
    const vec top = NAME(all)(SOFTCAP_TOP), one = NAME(all)(1), two = NAME(all)(2);
    vec y = (vec)((ivec)t ^ sign) * k;
    y = -vmax(-top, -y); /* NaN stays */
    const vec n = vrint(y), g = y - n;
    vec r = NAME(all)(poly[0]);
    UNROLL_ALL for (int i = 1; i < EXP2_TERMS - 1; i++) r = vfma(r, g, NAME(all)(poly[i]));
    r = r * g;
    const vec s = (vec)(((uvec)(n + ROUNDER) - (ROUNDER_BITS - BIAS)) << MANTISSA);
    const vec h = vfma(r, s, s - one);
    const vec x = NAME(all)(c) * (h / (h + two));
    return (vec)((ivec)x | sign);
}

/* -|position of row - key| for the LANES rows from `position` on */
INLINE vec NAME(distance)(int64_t position, int64_t key)
{
    vec x = {0};
    const int64_t far = (int64_t)1 << (REAL_BITS == 32 ? 23 : 52);
    if (position < far && position > -far && key < far) {
        const ivec first = (ivec){0} + (ireal)(position - key);
        ivec lane = {0};
        for (int r = 0; r < LANES; r++) lane[r] = (ireal)r;
        const ivec d = first + lane, ahead = d >> (REAL_BITS - 1); /* -1 where the key is */
        return __builtin_convertvector(ahead - (d ^ ahead), vec);
    }
    for (int r = 0; r < LANES; r++) { /* as far as 2^63 + 2^60: one rounding, from 64 bits */
        const int64_t p = position + r;
        const uint64_t d = p > key ? (uint64_t)p - (uint64_t)key : (uint64_t)key - (uint64_t)p;
        x[r] = d ? -(real)d : 0;
    }
    return x;
}

static void NAME(call_rule)(const qkvi_step *t)
{
    const qkvi_change *const c = t->change;
    const int64_t width = (int64_t)t->vectors * LANES;
    real *const s = t->s;
    for (int64_t i = 0; i < t->keys * width; i++) s[i] = s[i] * LN2;
    c->rule(c->rule_ctx, c->batch, c->head, c->position, c->key, c->rows, t->keys, s, width);
    for (int64_t i = 0; i < t->keys * width; i++) s[i] = s[i] * LOG2E;
}

/* softcap alone: the caller's function comes between it and the rest */
static void NAME(cap)(const qkvi_step *t)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    const real k = (real)t->change->cap_in, c = (real)t->change->cap_out;
    real *const s = t->s;
    for (int64_t i = 0; i < t->keys * width; i += LANES)
        NAME(store)(s + i, NAME(softcap)(NAME(load)(s + i), k, c));
}

static void NAME(change)(qkvi_step *t)
{
    const qkvi_change *const c = t->change;
    const int64_t width = (int64_t)t->vectors * LANES;
    const real slope = (real)c->slope;
    const NAME(edges) e = NAME(find_edges)(t);
    real *const mb = t->mb;
    if (c->cap) NAME(cap)(t);
    if (c->rule) NAME(call_rule)(t);
    if (c->only_cap) return;
    for (int v = 0; v < t->vectors; v++) {
        real *const s = (real *)t->s + v * LANES;
        const real *const bias = c->bias ? (const real *)c->bias + v * LANES : NULL;
        vec top = NAME(all)(-(real)__builtin_inff());
        for (int64_t j = e.lo[v]; j < e.hi[v]; j++) {
            vec x = NAME(load)(s + j * width);
            if (c->alibi) {
                const vec d = NAME(distance)(c->position + v * LANES, c->key + j);
                x = vfma(NAME(all)(slope), d, x);
            }
            if (bias) {
                const ivec exponent = (ivec){0} + EXPONENT_MASK;
                const vec y = x + NAME(load)(bias + j * width);
                x = NAME(select)(((ivec)x & exponent) == exponent, y, NAME(saturate)(y));
            }
            NAME(store)(s + j * width, x);
            top = vmax(x, top);
        }
        NAME(store)(mb + v * LANES, top);
    }
}
