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

static void NAME(finish)(const void *o_, const void *m_, const void *l_, double factor_, void *out_,
                         int64_t row_stride, int64_t channel_stride, void *lse_, int64_t rows,
                         int64_t dv, int64_t width)
{
    const real factor = (real)factor_;
    typedef ireal iquad __attribute__((vector_size(4 * sizeof(real)), may_alias));
    const real *const o = o_, *const m = m_, *const l = l_;
    real_u *const out = out_, *const lse = lse_;
    const int64_t rows4 = channel_stride == 1 ? rows / 4 * 4 : 0, dv4 = dv / 4 * 4;
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
        for (int64_t c = 0; n == 4 && c < dv4; c += 4) {
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
        for (int64_t c = n == 4 ? dv4 : 0; c < dv; c++)
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
