/* SPDX-License-Identifier: MIT */
/* score.inc.c - s[j][row] = sum over c of k[j][c] * q'[row][c] (rule 2).
 *
 * The query sits in the vector lane and the key is broadcast, so a score is one chain of fused
 * multiply-adds down the channels in every kernel, whatever its width. 3 vectors x 4 keys keep 12
 * chains in registers: 7 loads for 12 FMAs, and 12 chains hide the FMA's latency.
 */

/* the first and past-the-last key that some row of each vector may see */
typedef struct NAME(edges) {
    int32_t lo[QKVI_TILE_VECTORS], hi[QKVI_TILE_VECTORS];
} NAME(edges);

INLINE NAME(edges) NAME(find_edges)(const qkvi_step *t)
{
    NAME(edges) e = {{0}, {0}};
    for (int v = 0; v < t->vectors; v++) {
        e.lo[v] = t->lo ? t->keys : 0;
        e.hi[v] = t->lo ? 0 : t->keys;
        for (int r = 0; t->lo && r < LANES; r++) {
            const int32_t lo = t->lo[v * LANES + r], hi = t->hi[v * LANES + r];
            if (lo >= hi) continue;
            if (lo < e.lo[v]) e.lo[v] = lo;
            if (hi > e.hi[v]) e.hi[v] = hi;
        }
        if (e.lo[v] > e.hi[v]) e.lo[v] = e.hi[v] = 0;
    }
    return e;
}

/* Keys j0 <= j < j1 for nv vectors, NR keys at a time; one group of channels. again: the group's sum
 * is added to what s holds. mx[v] takes in the largest finished score. */
INLINE void NAME(score_group)(const real *qt, const real_u *k, int64_t stride, int64_t d, real *s,
                              int64_t j0, int64_t j1, vec *mx, int64_t width, const char **ahead,
                              int64_t ahead_step, int64_t ahead_bytes, const int again,
                              const int NV, const int NR)
{
    const real *const end = qt + d * width;
    vec top[QKVI_TILE_VECTORS];
    UNROLL_ALL for (int v = 0; v < NV; v++) top[v] = mx[v];
    int64_t j = j0;
    s += j * width;
    k += j * stride;
    for (; j + NR <= j1; j += NR, s += NR * width, k += NR * stride) {
        if (*ahead) {
            for (int64_t i = 0; i < ahead_bytes; i += 64) __builtin_prefetch(*ahead + i, 0, 2);
            *ahead += ahead_step;
        }
        vec a[8][QKVI_TILE_VECTORS];
        UNROLL_ALL for (int r = 0; r < NR; r++) UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] =
            (vec){0};
        const real_u *kc = k;
        UNROLL(2)
        for (const real *q = qt; q != end; q += width, kc++) {
            vec b[QKVI_TILE_VECTORS];
            UNROLL_ALL for (int v = 0; v < NV; v++) b[v] = NAME(load)(q + v * LANES);
            UNROLL_ALL for (int r = 0; r < NR; r++)
            {
                const vec x = NAME(all)(kc[r * stride]);
                UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] = vfma(x, b[v], a[r][v]);
            }
        }
        UNROLL_ALL for (int r = 0; r < NR; r++) UNROLL_ALL for (int v = 0; v < NV; v++)
        {
            real *const p = s + r * width + v * LANES;
            if (again) a[r][v] = NAME(load)(p) + a[r][v];
            NAME(store)(p, a[r][v]);
            top[v] = vmax(a[r][v], top[v]);
        }
    }
    for (; j < j1; j++, s += width, k += stride) {
        vec a[QKVI_TILE_VECTORS];
        UNROLL_ALL for (int v = 0; v < NV; v++) a[v] = (vec){0};
        const real_u *kc = k;
        for (const real *q = qt; q != end; q += width, kc++) {
            const vec x = NAME(all)(*kc);
            UNROLL_ALL for (int v = 0; v < NV; v++) a[v] = vfma(x, NAME(load)(q + v * LANES), a[v]);
        }
        UNROLL_ALL for (int v = 0; v < NV; v++)
        {
            if (again) a[v] = NAME(load)(s + v * LANES) + a[v];
            NAME(store)(s + v * LANES, a[v]);
            top[v] = vmax(a[v], top[v]);
        }
    }
    UNROLL_ALL for (int v = 0; v < NV; v++) mx[v] = top[v];
}

/* One instance for each shape: small functions whose sizes are literals, or arrays spill. */
typedef void NAME(score_fn)(const real *qt, const real_u *k, int64_t stride, int64_t d, real *s,
                            int64_t j0, int64_t j1, vec *mx, int64_t width, const char **ahead,
                            int64_t ahead_step, int64_t ahead_bytes);
#define SCORE_INSTANCE(name, again, NV, NR)                                                        \
    NOINLINE void NAME(name)(const real *qt, const real_u *k, int64_t stride, int64_t d, real *s,  \
                             int64_t j0, int64_t j1, vec *mx, int64_t width, const char **ahead,   \
                             int64_t ahead_step, int64_t ahead_bytes)                              \
    {                                                                                              \
        NAME(score_group)                                                                          \
        (qt, k, stride, d, s, j0, j1, mx, width, ahead, ahead_step, ahead_bytes, again, NV, NR);   \
    }
SCORE_INSTANCE(score_first1, 0, 1, 8)
SCORE_INSTANCE(score_first2, 0, 2, 4)
SCORE_INSTANCE(score_first3, 0, 3, 4)
SCORE_INSTANCE(score_more1, 1, 1, 8)
SCORE_INSTANCE(score_more2, 1, 2, 4)
SCORE_INSTANCE(score_more3, 1, 3, 4)
#undef SCORE_INSTANCE

/* Keys [j0, j1) for the vectors v0 ... v0 + nv - 1, all channel groups, left to right. */
static void NAME(score_range)(const qkvi_step *t, int64_t j0, int64_t j1, int v0, int nv, vec *mx)
{
    static NAME(score_fn) *const first[4] = {0, NAME(score_first1), NAME(score_first2),
                                             NAME(score_first3)};
    static NAME(score_fn) *const more[4] = {0, NAME(score_more1), NAME(score_more2),
                                            NAME(score_more3)};
    if (j0 >= j1) return;
    const int64_t width = (int64_t)t->vectors * LANES;
    const real *const qt = (const real *)t->qt + v0 * LANES;
    real *const s = (real *)t->s + v0 * LANES;
    vec unfinished[QKVI_TILE_VECTORS]; /* a partial sum's maximum means nothing */
    for (int v = 0; v < QKVI_TILE_VECTORS; v++) unfinished[v] = (vec){0};
    for (int64_t c = 0; c < t->d; c += QKVI_CHANNEL_GROUP) {
        const int64_t n = t->d - c < QKVI_CHANNEL_GROUP ? t->d - c : QKVI_CHANNEL_GROUP;
        const int last = c + n == t->d;
        /* the rows of the next block that this tile fetches, one for each step of the key loop */
        const char *ahead = nv == QKVI_TILE_VECTORS && t->ahead_k
                                ? (const char *)((const real_u *)t->ahead_k + c)
                                : NULL;
        (c ? more : first)[nv](qt + c * width, (const real_u *)t->k + c, t->k_stride, n, s, j0, j1,
                               last ? mx + v0 : unfinished, width, &ahead,
                               t->k_stride * (int64_t)sizeof(real), n * (int64_t)sizeof(real));
    }
}

static void NAME(score)(qkvi_step *t)
{
    vec mx[QKVI_TILE_VECTORS];
    real *const mb = t->mb;
    for (int v = 0; v < QKVI_TILE_VECTORS; v++) mx[v] = NAME(all)(-(real)__builtin_inff());
    if (t->lo == NULL) {
        NAME(score_range)(t, 0, t->keys, 0, t->vectors, mx);
    } else {
        const NAME(edges) e = NAME(find_edges)(t);
        /* rising edges (a diagonal): each stretch of keys only for the vectors that see it */
        const int n = t->vectors;
        int rising = 1;
        for (int v = 1; v < n; v++) rising &= e.lo[v] >= e.lo[v - 1] && e.hi[v] >= e.hi[v - 1];
        rising &= e.lo[n - 1] <= e.hi[0];
        if (rising) {
            for (int v = 0; v + 1 < n; v++)
                NAME(score_range)(t, e.lo[v], e.lo[v + 1], 0, v + 1, mx);
            NAME(score_range)(t, e.lo[n - 1], e.hi[0], 0, n, mx);
            for (int v = 1; v < n; v++) NAME(score_range)(t, e.hi[v - 1], e.hi[v], v, n - v, mx);
        } else {
            for (int v = 0; v < n; v++) NAME(score_range)(t, e.lo[v], e.hi[v], v, 1, mx);
        }
    }
    for (int v = 0; v < t->vectors; v++) NAME(store)(mb + v * LANES, mx[v]);
}
