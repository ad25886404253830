/* SPDX-License-Identifier: MIT */
/* finish.inc.c - the sink (rule 10), out = o / l + 0 and lse (rule 11), and the rows of a partial's nodes in and out of
 * the tile form. Writes the caller's memory at any byte address; NaN leaves in one form only.
 */

static void NAME(sink)(void *o_, void *m_, void *l_, double t_, int64_t dv, int64_t width)
{
    real *const o = o_, *const m = m_, *const l = l_;
    const real t = (real)t_;
    const real ms = t > -INTEGERS_FROM && t < INTEGERS_FROM ? vrint(NAME(all)(t))[0] + 0 : t;
    const real ls = NAME(weight_any)(t, ms);
    for (int64_t r = 0; r < width; r++) {
        if (NAME(is_dead)(m[r])) continue;
        const real top = ms > m[r] ? ms : m[r];
        const real alpha = NAME(power2_one)(m[r] - top), beta = NAME(power2_one)(ms - top);
        m[r] = top;
        l[r] = sfma(ls, beta, l[r] * alpha);
        for (int64_t c = 0; alpha < 1 && c < dv; c++) o[c * width + r] *= alpha;
    }
}

#if !defined(PORTABLE)
/* a / l as division rounds it, for y = the nearest number to 1 / l, where nothing leaves the normal range:
 * the first q is off by less than 1.5 units in the last place, the second by less than 1, and with such
 * a q and such a y the last step rounds as division does (Markstein, Computation of elementary
 * functions on the IBM RISC System/6000 processor, 1990). */
INLINE vec NAME(quotient)(vec a, vec l, vec y)
{
    vec q = a * y;
    q = vfma(vfma(-q, l, a), y, q);
    return vfma(vfma(-q, l, a), y, q);
}

/* LANES rows from r on, LANES channels from c on, whose sums are l and their reciprocals y; near: every l
 * is of a size that a quotient allows. A sum of values that is zero, tiny, huge, or no number is
 * divided. */
INLINE void NAME(finish_square)(const real *o, vec l, vec y, int near, real factor, real_u *out,
                                int64_t row_stride, int64_t rows, int64_t width)
{
    vec x[LANES];
    uvec far = {0};
    UNROLL_ALL for (int i = 0; i < LANES; i++)
    {
        x[i] = NAME(load)(o + i * width);
        far |= (uvec)(((uvec)x[i] & ~SIGN_BIT) - QUOTIENT_FROM > QUOTIENT_RANGE);
    }
    if (near && !vany((ivec)far)) {
        UNROLL_ALL for (int i = 0; i < LANES; i++) x[i] = NAME(quotient)(x[i], l, y) * factor;
    } else {
        for (int i = 0; i < LANES; i++) {
            const vec q = x[i] / l * factor + (vec){0};
            x[i] = NAME(select)(q == q, q, (vec)((ivec){0} + QUIET_NAN));
        }
    }
    vturn(x);
    for (int i = 0; i < LANES && i < rows; i++) *(NAME(vec_u) *)(out + i * row_stride) = x[i];
}

/* All of a tile whose channels are adjacent, LANES of them or more; the last square overlaps. */
NOINLINE void NAME(finish_squares)(const real *o, const real *m, const real *l, real factor,
                                   real_u *out, int64_t row_stride, int64_t rows, int64_t dv,
                                   int64_t width)
{
    for (int64_t r = 0; r < rows; r += LANES) {
        const vec one = (vec){0} + 1, dead = NAME(all)(-(real)__builtin_inff());
        const vec sum = NAME(select)(NAME(load)(m + r) == dead, one, NAME(load)(l + r));
        const int near = !vany((ivec)((uvec)sum - QUOTIENT_L_FROM > QUOTIENT_L_RANGE));
        const vec y = one / sum;
        for (int64_t c = 0; c < dv; c += LANES) {
            if (c + LANES > dv) c = dv - LANES; /* some again */
            NAME(finish_square)
            (o + c * width + r, sum, y, near, factor, out + r * row_stride + c, row_stride,
             rows - r, width);
        }
    }
}
#endif

static void NAME(finish)(const void *o_, const void *m_, const void *l_, double factor_, void *out_,
                         int64_t row_stride, int64_t channel_stride, void *lse_, int64_t rows,
                         int64_t dv, int64_t width)
{
    const real factor = (real)factor_;
    typedef ireal iquad __attribute__((vector_size(4 * sizeof(real)), may_alias));
    const real *const o = o_, *const m = m_, *const l = l_;
    real_u *const out = out_, *const lse = lse_;
    const int64_t rows4 = channel_stride == 1 ? rows / 4 * 4 : 0, dv4 = dv / 4 * 4;
    int64_t done = 0; /* channels */
#if !defined(PORTABLE)
    if (channel_stride == 1 && dv >= LANES) {
        NAME(finish_squares)(o, m, l, factor, out, row_stride, rows, dv, width);
        done = dv;
    }
#endif
    for (int64_t r = 0; r < rows; r += r < rows4 ? 4 : 1) {
        const int n = r < rows4 ? 4 : 1;
        real sum[4];
        for (int i = 0; i < n; i++) {
            const int empty = NAME(is_dead)(m[r + i]);
            sum[i] = empty ? 1 : l[r + i]; /* o of an empty row is 0 */
            if (lse)
                lse[r + i] =
                    empty ? m[r + i]
                          : NAME(canonical)((real)qkvi_lse((double)m[r + i], (double)sum[i]));
        }
        for (int64_t c = done; n == 4 && c < dv4; c += 4) {
            const NAME(quad) l4 = {sum[0], sum[1], sum[2], sum[3]};
            NAME(quad) a[4];
            for (int i = 0; i < 4; i++) {
                a[i] = *(const NAME(quad_u) *)(o + (c + i) * width + r) / l4 * factor +
                       (NAME(quad)){0};
                const iquad number = a[i] == a[i], nan = (iquad){0} + QUIET_NAN;
                a[i] = (NAME(quad))((number & (iquad)a[i]) | (~number & nan));
            }
            NAME(transpose4)(a);
            for (int i = 0; i < 4; i++) *(NAME(quad_u) *)(out + (r + i) * row_stride + c) = a[i];
        }
        for (int64_t c = done ? done : n == 4 ? dv4 : 0; c < dv; c++)
            for (int i = 0; i < n; i++)
                out[(r + i) * row_stride + c * channel_stride] =
                    NAME(canonical)(o[c * width + r + i] / sum[i] * factor + 0);
    }
}

static void NAME(store_node)(const void *o_, const void *m_, const void *l_, void *node,
                             int64_t row_bytes, int64_t rows, int64_t dv, int64_t width)
{
    const real *const o = o_, *const m = m_, *const l = l_;
    for (int64_t r = 0; r < rows; r++) {
        real_u *const to = (real_u *)((char *)node + r * row_bytes);
        to[0] = l[r] == l[r] ? m[r] + 0 : NAME(from_bits)(QUIET_NAN);
        to[1] = NAME(canonical)(l[r] + 0);
        for (int64_t c = 0; c < dv; c++)
            to[2 + c] = l[r] == l[r] ? NAME(canonical)(o[c * width + r] + 0) : to[1];
    }
}

static void NAME(load_node)(void *o_, void *m_, void *l_, const void *node, int64_t row_bytes,
                            int64_t rows, int64_t dv, int64_t width)
{
    real *const o = o_, *const m = m_, *const l = l_;
    for (int64_t r = 0; r < rows; r++) {
        const real_u *const from = (const real_u *)((const char *)node + r * row_bytes);
        m[r] = from[0] == from[0] ? from[0] : 0;
        l[r] = from[1];
        for (int64_t c = 0; c < dv; c++) o[c * width + r] = from[2 + c];
    }
    for (int64_t r = rows; r < width; r++) { /* no such row: dead */
        m[r] = -(real)__builtin_inff();
        l[r] = 0;
        for (int64_t c = 0; c < dv; c++) o[c * width + r] = 0;
    }
}
