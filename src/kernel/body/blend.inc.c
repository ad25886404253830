/* SPDX-License-Identifier: MIT */
/* blend.inc.c - o[c][row] = sum over the block's keys of p * v[j][c], one chain down the keys (rule
 * 8), folded into what the row has so far (rule 9).
 *
 * As in score.inc.c the row is the lane and the value is broadcast, 4 or 8 channels x 3 vectors at
 * a time. Excluded keys inside the block enter with weight +0, which changes nothing as long as
 * their values are finite; where one is not, the rows go one by one and skip them.
 */

/* Keys j0 <= j < j1 into the chains of the vectors V0 ... V1 - 1. */
HOT void NAME(blend_keys)(vec (*a)[QKVI_TILE_VECTORS], const real *s, const real_u *vc,
                          int64_t stride, int64_t j0, int64_t j1, int64_t width, const int V0,
                          const int V1, const int NR)
{
    const real *const end = s + j1 * width;
    const real_u *x = vc + j0 * stride;
    UNROLL_STEPS
    for (const real *p = s + j0 * width; p < end; p += width, x += stride) {
        vec w[QKVI_TILE_VECTORS];
        UNROLL_ALL for (int v = V0; v < V1; v++) w[v] = NAME(load)(p + v * LANES);
        UNROLL_ALL for (int r = 0; r < NR; r++)
        {
            const vec y = NAME(all)(x[r]);
            UNROLL_ALL for (int v = V0; v < V1; v++) a[r][v] = vfma(y, w[v], a[r][v]);
        }
    }
}

/* The chains of NR channels into o, by rule 9 as far as it is needed. */
HOT void NAME(join_channels)(vec (*a)[QKVI_TILE_VECTORS], real *o, const vec *alpha,
                             const vec *beta, int mode, int64_t width, const int NV, const int NR)
{
    OPAQUE(alpha); /* or the compiler keeps six factors in registers that the chains need */
    OPAQUE(beta);
    UNROLL_ALL for (int r = 0; r < NR; r++)
    {
        UNROLL_ALL for (int v = 0; v < NV; v++)
        {
            real *const p = o + r * width + v * LANES;
            if (mode == FOLD_FRESH)
                NAME(store)(p, a[r][v]);
            else if (mode == FOLD_ADD) /* every alpha is 1: the product would change nothing */
                NAME(store)(p, vfma(a[r][v], beta[v], NAME(load)(p)));
            else
                NAME(store)(p, vfma(a[r][v], beta[v], NAME(load)(p) * alpha[v]));
        }
    }
}

/* NR channels from vc on. edged: not all vectors see all keys of the block. */
INLINE void NAME(blend_channels)(const real *s, const real_u *vc, int64_t stride, real *o,
                                 const NAME(edges) * e, const vec *alpha, const vec *beta, int mode,
                                 const int64_t width, const int NV, const int NR, const int edged)
{
    vec a[8][QKVI_TILE_VECTORS];
    UNROLL_ALL for (int r = 0; r < NR; r++)
    {
        UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] = (vec){0};
    }
    if (edged) {
        UNROLL_ALL for (int v = 0; v + 1 < NV; v++)
            NAME(blend_keys)(a, s, vc, stride, e->lo[v], e->lo[v + 1], width, 0, v + 1, NR);
    }
    NAME(blend_keys)(a, s, vc, stride, e->lo[NV - 1], e->hi[0], width, 0, NV, NR);
    if (edged) {
        UNROLL_ALL for (int v = 1; v < NV; v++)
            NAME(blend_keys)(a, s, vc, stride, e->hi[v - 1], e->hi[v], width, v, NV, NR);
    }
    if (mode == FOLD_ADD)
        NAME(join_channels)(a, o, alpha, beta, FOLD_ADD, width, NV, NR);
    else if (mode == FOLD_RESCALE)
        NAME(join_channels)(a, o, alpha, beta, FOLD_RESCALE, width, NV, NR);
    else
        NAME(join_channels)(a, o, alpha, beta, FOLD_FRESH, width, NV, NR);
}

/* Where channel c of the block's values begins, in place or in strips, and the step to the next
 * key. */
INLINE const real_u *NAME(channel)(const qkvi_step *t, int64_t c, int64_t *stride)
{
    const real_u *const v = t->v;
    const int64_t whole = t->dv / BROADCASTS, strip = c / BROADCASTS;
    *stride = !t->v_strips ? t->v_stride : strip < whole ? BROADCASTS : 1;
    if (!t->v_strips) return v + c;
    return strip < whole ? v + strip * STRIP_STEP + c % BROADCASTS
                         : v + (whole + c - whole * BROADCASTS) * STRIP_STEP;
}

/* All channels, NR at a time, then one by one. */
HOT void NAME(blend_tile)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                          const vec *beta, int mode, const int NV, const int NR, const int edged)
{
    const int64_t width = NV * LANES;
    const real *const s = t->s;
    real *o = t->o;
    NAME(walk) ahead = NAME(walk_from)(t->ahead[1], t->dv / NR);
    int64_t c = 0, stride;
    for (; c + NR <= t->dv; c += NR, o += NR * width) {
        NAME(fetch_rows)(&ahead);
        const real_u *const v = NAME(channel)(t, c, &stride);
        NAME(blend_channels)(s, v, stride, o, e, alpha, beta, mode, width, NV, NR, edged);
    }
    for (; c < t->dv; c++, o += width) {
        const real_u *const v = NAME(channel)(t, c, &stride);
        NAME(blend_channels)(s, v, stride, o, e, alpha, beta, mode, width, NV, 1, edged);
    }
}

typedef void NAME(blend_fn)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                            const vec *beta, int mode);
NOINLINE void NAME(blend_full1)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                                const vec *beta, int mode)
{
    NAME(blend_tile)(t, e, alpha, beta, mode, 1, BROADCASTS, 0);
}
NOINLINE void NAME(blend_full2)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                                const vec *beta, int mode)
{
    NAME(blend_tile)(t, e, alpha, beta, mode, 2, BROADCASTS, 0);
}
NOINLINE void NAME(blend_full3)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                                const vec *beta, int mode)
{
    NAME(blend_tile)(t, e, alpha, beta, mode, 3, BROADCASTS, 0);
}
NOINLINE void NAME(blend_edged2)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                                 const vec *beta, int mode)
{
    NAME(blend_tile)(t, e, alpha, beta, mode, 2, BROADCASTS, 1);
}
NOINLINE void NAME(blend_edged3)(const qkvi_step *t, const NAME(edges) * e, const vec *alpha,
                                 const vec *beta, int mode)
{
    NAME(blend_tile)(t, e, alpha, beta, mode, 3, BROADCASTS, 1);
}

/* The factors of the fold for one vector; *rescale is set unless every alpha is 1. The dead side's
 * factor is +0, and its o and l are +0: skipping it and adding it are the same. */
INLINE void NAME(fold_factors)(vec ma, vec mb, vec *m, vec *alpha, vec *beta, ivec *rescale)
{
    *m = vmax(mb, ma);
    *alpha = NAME(power2)(ma - *m);
    *beta = NAME(power2)(mb - *m);
    *rescale |= *alpha != (vec){0} + 1;
}

static int NAME(fold_block)(qkvi_step *t, vec *alpha, vec *beta)
{
    real *const m = t->m, *const l = t->l;
    const real *const mb = t->mb, *const lb = t->lb;
    ivec rescale = {0};
    for (int v = 0; v < t->vectors; v++) {
        const vec b = NAME(load)(mb + v * LANES), sum = NAME(load)(lb + v * LANES);
        if (t->fresh) {
            alpha[v] = (vec){0};
            beta[v] = (vec){0} + 1;
            NAME(store)(m + v * LANES, b);
            NAME(store)(l + v * LANES, sum);
        } else {
            vec top;
            NAME(fold_factors)(NAME(load)(m + v * LANES), b, &top, alpha + v, beta + v, &rescale);
            NAME(store)(m + v * LANES, top);
            NAME(store)(l + v * LANES, vfma(sum, beta[v], NAME(load)(l + v * LANES) * alpha[v]));
        }
    }
    const int mode = t->fresh ? FOLD_FRESH : vany(rescale) ? FOLD_RESCALE : FOLD_ADD;
    t->fresh = 0;
    return mode;
}

/* n numbers in a row: bits that stay 0 in the sign while every one is finite */
INLINE ireal NAME(wild_bits)(const real_u *p, int64_t n)
{
    const ireal one = (ireal)1 << MANTISSA;
    ivec all = {0};
    ireal rest = 0;
    for (; n >= LANES; n -= LANES, p += LANES)
        all |= (ivec)((uvec)((ivec)NAME(load_any)(p) & EXPONENT_MASK) + one);
    for (int i = 0; i < LANES; i++) rest |= all[i];
    for (; n > 0; n--, p++)
        rest |= -(ireal)((*(const ireal_u *)(const void *)p & EXPONENT_MASK) == EXPONENT_MASK);
    return rest;
}

static int NAME(values_finite)(const qkvi_step *t)
{
    ireal wild = 0;
    const int64_t strips = t->v_strips ? t->dv / BROADCASTS : 0;
    const real_u *v = t->v;
    for (int64_t i = 0; i < strips; i++, v += STRIP_STEP)
        wild |= NAME(wild_bits)(v, (int64_t)t->keys * BROADCASTS);
    if (t->v_strips)
        for (int64_t c = strips * BROADCASTS; c < t->dv; c++, v += STRIP_STEP)
            wild |= NAME(wild_bits)(v, t->keys);
    else
        for (int32_t j = 0; j < t->keys; j++, v += t->v_stride) wild |= NAME(wild_bits)(v, t->dv);
    return wild >= 0;
}

/* Row by row, live keys only (rule 4); alpha, beta, mode as for the tile. */
NOINLINE void NAME(blend_rows)(const qkvi_step *t, const vec *alpha, const vec *beta, int mode)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    const real *const s = t->s, *const mb = t->mb;
    for (int64_t r = 0; r < width; r++) {
        const int skip = NAME(is_dead)(mb[r]);
        const int32_t lo = t->lo ? t->lo[r] : 0, hi = t->lo ? t->hi[r] : t->keys;
        const real al = alpha[r / LANES][r % LANES], be = beta[r / LANES][r % LANES];
        for (int64_t c = 0; c < t->dv; c++) {
            real *const o = (real *)t->o + c * width + r;
            int64_t stride;
            const real_u *const v = NAME(channel)(t, c, &stride);
            real x = 0;
            for (int32_t j = lo; j < hi && !skip; j++)
                if (!t->live || t->live[j] >> r & 1) x = sfma(v[j * stride], s[j * width + r], x);
            *o = mode == FOLD_FRESH ? x : sfma(x, be, *o * al);
        }
    }
}

static void NAME(blend)(qkvi_step *t)
{
    static NAME(blend_fn) *const fns[2][4] = {
        {0, NAME(blend_full1), NAME(blend_full2), NAME(blend_full3)},
        {0, NAME(blend_full1), NAME(blend_edged2), NAME(blend_edged3)}};
    vec alpha[QKVI_TILE_VECTORS], beta[QKVI_TILE_VECTORS];
    const int mode = NAME(fold_block)(t, alpha, beta);
    if (t->lo || t->slow) {
        if (t->v_finite < 0) t->v_finite = NAME(values_finite)(t);
        if (!t->v_finite) {
            NAME(blend_rows)(t, alpha, beta, mode);
            return;
        }
    }
    NAME(edges) e = NAME(find_edges)(t);
    const int n = t->vectors;
    int rising = e.lo[n - 1] <= e.hi[0];
    for (int v = 1; v < n; v++) rising &= e.lo[v] >= e.lo[v - 1] && e.hi[v] >= e.hi[v - 1];
    if (!rising) {
        /* no common stretch: every vector takes the whole block, with weight +0 outside its keys */
        const int64_t width = (int64_t)n * LANES;
        real *const s = t->s;
        for (int v = 0; v < n; v++) {
            for (int32_t j = 0; j < t->keys; j++)
                if (j < e.lo[v] || j >= e.hi[v]) NAME(store)(s + j * width + v * LANES, (vec){0});
            e.lo[v] = 0;
            e.hi[v] = t->keys;
        }
    }
    fns[t->lo != NULL][n](t, &e, alpha, beta, mode);
}

static void NAME(fold)(void *oa, void *ma, void *la, const void *ob, const void *mb, const void *lb,
                       int64_t dv, int64_t width)
{
    real *const o = oa, *const m = ma, *const l = la;
    const real *const o2 = ob, *const m2 = mb, *const l2 = lb;
    for (int64_t r = 0; r < width; r += LANES) {
        vec top, alpha, beta;
        ivec rescale = {0};
        NAME(fold_factors)(NAME(load)(m + r), NAME(load)(m2 + r), &top, &alpha, &beta, &rescale);
        NAME(store)(m + r, top);
        NAME(store)(l + r, vfma(NAME(load)(l2 + r), beta, NAME(load)(l + r) * alpha));
        for (int64_t c = 0; c < dv; c++) {
            real *const p = o + c * width + r;
            NAME(store)(p, vfma(NAME(load)(o2 + c * width + r), beta, NAME(load)(p) * alpha));
        }
    }
}
