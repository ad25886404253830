/* SPDX-License-Identifier: MIT */
/* score.inc.c - s[j][row] = sum over c of k[j][c] * q'[row][c] (rule 2).
 *
 * The query sits in the vector lane and the key is broadcast, so a score is one chain of fused
 * multiply-adds down the channels in every kernel, whatever its width. 3 vectors x 4 or 8 keys keep
 * 12 or 24 chains in registers, enough to hide the latency of one.
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

/* What is fetched ahead: `each` rows a step, of one list of rows after the other. */
typedef struct NAME(walk) {
    const qkvi_ahead *x, *end;
    int64_t row, each;
} NAME(walk);

static NAME(walk) NAME(walk_from)(const qkvi_ahead *x, int64_t steps)
{
    int64_t rows = 0;
    for (int i = 0; i < QKVI_AHEAD; i++) rows += x[i].rows;
    return (NAME(walk)){x, x + QKVI_AHEAD, 0, steps > 0 ? (rows + steps - 1) / steps : 0};
}

NOINLINE void NAME(fetch_rows)(NAME(walk) * w)
{
    for (int64_t n = w->each; n > 0 && w->x != w->end;) {
        if (w->row == w->x->rows) {
            w->x++;
            w->row = 0;
            continue;
        }
        const char *const at = (const char *)w->x->at + w->row++ * w->x->stride;
        for (int64_t i = 0; i < w->x->bytes; i += 64) __builtin_prefetch(at + i, 0, 2);
        n--;
    }
}

/* A stretch of keys j0 <= j < j1 for one group of d channels. mx[v] takes in the largest score. */
typedef struct NAME(stretch) {
    const real *qt;
    const real_u *k;
    real *s;
    vec *mx;
    NAME(walk) * ahead;
    int64_t k_stride, d, j0, j1, width;
    int again; /* not the first group of channels: its sum is added to what s holds */
} NAME(stretch);

/* NV vectors, NR keys at a time. */
HOT void NAME(score_keys)(const NAME(stretch) * x, const int NV, const int NR)
{
    const int64_t width = x->width, stride = x->k_stride, d = x->d;
    const real *const end = x->qt + d * width;
    const real_u *k = x->k + x->j0 * stride;
    real *s = x->s + x->j0 * width;
    vec *const mx = x->mx;
    for (int64_t j = x->j0; j + NR <= x->j1; j += NR, s += NR * width, k += NR * stride) {
        NAME(fetch_rows)(x->ahead);
        vec a[8][QKVI_TILE_VECTORS];
        UNROLL_ALL for (int r = 0; r < NR; r++)
        {
            UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] = (vec){0};
        }
        const real_u *kc = k;
        UNROLL_STEPS
        for (const real *q = x->qt; q != end; q += width, kc++) {
            vec b[QKVI_TILE_VECTORS];
            UNROLL_ALL for (int v = 0; v < NV; v++) b[v] = NAME(load)(q + v * LANES);
            UNROLL_ALL for (int r = 0; r < NR; r++)
            {
                const vec y = NAME(all)(kc[r * stride]);
                UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] = vfma(y, b[v], a[r][v]);
            }
        }
        if (x->again) {
            UNROLL_ALL for (int r = 0; r < NR; r++)
            {
                UNROLL_ALL for (int v = 0; v < NV; v++) a[r][v] =
                    NAME(load)(s + r * width + v * LANES) + a[r][v];
            }
        }
        /* the largest of this step first: one trip through memory a vector, not NR in a row. (A NaN
         * may hide another score here; weigh notices it and takes the slow form.) */
        vec top[QKVI_TILE_VECTORS];
        UNROLL_ALL for (int r = 0; r < NR; r++)
        {
            UNROLL_ALL for (int v = 0; v < NV; v++)
            {
                real *const p = s + r * width + v * LANES;
                NAME(store)(p, a[r][v]);
                top[v] = r ? vmax(a[r][v], top[v]) : a[r][v];
            }
        }
        UNROLL_ALL for (int v = 0; v < NV; v++) mx[v] = vmax(top[v], mx[v]);
    }
}

/* One instance for each shape: small functions whose sizes are literals, or arrays spill. Each leaves
 * fewer keys than its step. */
typedef void NAME(score_fn)(const NAME(stretch) * x);
NOINLINE void NAME(score1)(const NAME(stretch) * x)
{
    NAME(score_keys)(x, 1, 8);
}
NOINLINE void NAME(score2)(const NAME(stretch) * x)
{
    NAME(score_keys)(x, 2, BROADCASTS);
}
NOINLINE void NAME(score3)(const NAME(stretch) * x)
{
    NAME(score_keys)(x, 3, BROADCASTS);
}

/* What is left of a stretch, key by key. */
NOINLINE void NAME(score_rest)(const NAME(stretch) * x, int nv)
{
    if (nv == 1)
        NAME(score_keys)(x, 1, 1);
    else if (nv == 2)
        NAME(score_keys)(x, 2, 1);
    else
        NAME(score_keys)(x, 3, 1);
}

/* Keys [j0, j1) for the vectors v0 ... v0 + nv - 1, all channel groups, left to right. */
static void NAME(score_range)(const qkvi_step *t, int64_t j0, int64_t j1, int v0, int nv, vec *mx,
                              NAME(walk) * ahead)
{
    static NAME(score_fn) *const fns[4] = {0, NAME(score1), NAME(score2), NAME(score3)};
    if (j0 >= j1) return;
    const int64_t step = nv == 1 ? 8 : BROADCASTS;
    vec unfinished[QKVI_TILE_VECTORS]; /* a partial sum's maximum means nothing */
    for (int v = 0; v < QKVI_TILE_VECTORS; v++) unfinished[v] = (vec){0};
    for (int64_t c = 0; c < t->d; c += QKVI_CHANNEL_GROUP) {
        const int64_t n = t->d - c < QKVI_CHANNEL_GROUP ? t->d - c : QKVI_CHANNEL_GROUP;
        NAME(stretch)
        x = {
            .k = (const real_u *)t->k + c,
            .s = (real *)t->s + v0 * LANES,
            .mx = c + n == t->d ? mx + v0 : unfinished,
            .k_stride = t->k_stride,
            .d = n,
            .j0 = j0,
            .j1 = j1,
            .width = (int64_t)t->vectors * LANES,
            .again = c > 0,
            .ahead = ahead,
        };
        x.qt = (const real *)t->qt + c * x.width + v0 * LANES;
        fns[nv](&x);
        x.j0 = j0 + (j1 - j0) / step * step;
        if (x.j0 < j1) NAME(score_rest)(&x, nv);
    }
}

static void NAME(change)(qkvi_step *t); /* change.inc.c */

static void NAME(score)(qkvi_step *t)
{
    vec mx[QKVI_TILE_VECTORS];
    real *const mb = t->mb;
    NAME(walk)
    ahead = NAME(walk_from)(t->ahead[0], (t->keys + BROADCASTS - 1) / BROADCASTS);
    for (int v = 0; v < QKVI_TILE_VECTORS; v++) mx[v] = NAME(all)(-(real)__builtin_inff());
    if (t->lo == NULL || (t->change && t->change->rule)) {
        NAME(score_range)(t, 0, t->keys, 0, t->vectors, mx, &ahead);
    } else {
        NAME(edges) e = NAME(find_edges)(t);
        /* whole steps of 8 keys; what a row does not see is put right by weigh */
        for (int v = 0; v < t->vectors; v++) {
            e.lo[v] = e.lo[v] / 8 * 8;
            e.hi[v] = (e.hi[v] + 7) / 8 * 8 < t->keys ? (e.hi[v] + 7) / 8 * 8 : t->keys;
        }
        /* rising edges (a diagonal): each stretch of keys only for the vectors that see it */
        const int n = t->vectors;
        int rising = 1;
        for (int v = 1; v < n; v++) rising &= e.lo[v] >= e.lo[v - 1] && e.hi[v] >= e.hi[v - 1];
        rising &= e.lo[n - 1] <= e.hi[0];
        if (rising) {
            for (int v = 0; v + 1 < n; v++)
                NAME(score_range)(t, e.lo[v], e.lo[v + 1], 0, v + 1, mx, &ahead);
            NAME(score_range)(t, e.lo[n - 1], e.hi[0], 0, n, mx, &ahead);
            for (int v = 1; v < n; v++)
                NAME(score_range)(t, e.hi[v - 1], e.hi[v], v, n - v, mx, &ahead);
        } else {
            for (int v = 0; v < n; v++) NAME(score_range)(t, e.lo[v], e.hi[v], v, 1, mx, &ahead);
        }
    }
    for (int v = 0; v < t->vectors; v++) NAME(store)(mb + v * LANES, mx[v]);
    if (t->change) NAME(change)(t);
}
