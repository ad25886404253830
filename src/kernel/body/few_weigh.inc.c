/* SPDX-License-Identifier: MIT */
/* few_weigh.inc.c - scores of few rows to weights, block by block: the arithmetic of weigh.inc.c with keys
 * in the lanes. What the fast form cannot do (NaN, infinities, scores far apart) is done number by number.
 */

/* Lane j mod 16 of the sum takes the weight of key j. */
static real NAME(few_sum)(const real *p)
{
    enum { VECTORS = QKVI_SUM_LANES / LANES };
    vec a[VECTORS];
    for (int i = 0; i < VECTORS; i++) a[i] = (vec){0};
    for (int j = 0; j < QKVI_BLOCK; j += QKVI_SUM_LANES)
        for (int i = 0; i < VECTORS; i++) a[i] += NAME(load)(p + j + i * LANES);
    real lane[QKVI_SUM_LANES];
    __builtin_memcpy(lane, a, sizeof lane);
    for (int h = QKVI_SUM_LANES / 2; h; h >>= 1)
        for (int i = 0; i < h; i++) lane[i] += lane[i + h];
    return lane[0];
}

/* 128 scores, those that the row may not see at -inf, to weights; 0: it takes the slow form. */
static int NAME(few_weigh_fast)(real *p, real *mb, real *lb)
{
    enum { GROUP = 4 };
    vec top = NAME(load)(p), unused[GROUP];
    for (int j = LANES; j < QKVI_BLOCK; j += LANES) top = vmax(NAME(load)(p + j), top);
    real m = top[0];
    for (int i = 1; i < LANES; i++) m = top[i] > m ? top[i] : m;
    m = vrint(NAME(all)(m))[0] + 0;
    if (!(m >= -FAST_M && m <= FAST_M)) return 0; /* dead and NaN too */
    const vec from = ROUNDER - NAME(all)(m), floor_ = NAME(all)(m) + EXP2_FLOOR;
    ivec wild = {0};
    for (int i = 0; i < GROUP; i++) unused[i] = (vec){0};
    for (int j = 0; j < QKVI_BLOCK; j += GROUP * LANES)
        NAME(exp2_group)(p + j, LANES, from, floor_, unused, &wild, GROUP);
    if (vany(wild & WILD_BIT)) return 0;
    *mb = m;
    *lb = NAME(few_sum)(p);
    return 1;
}

/* The scores of one row again, [lo, hi) of a block that begins at key j. */
static void NAME(few_score_again)(const qkvi_few *t, int32_t r, int32_t j, int32_t lo, int32_t hi,
                                  real *s)
{
    const real *const qt = (const real *)t->qt + r;
    const int64_t size = t->k_dtype == DTYPE ? (int64_t)sizeof(real) : 2;
    for (int32_t i = lo; i < hi; i++) {
        const char *const k = (const char *)t->k + (j + i) * t->k_stride * size;
        real sum = 0;
        for (int64_t c = 0; c < t->d;) {
            const int64_t end = c + QKVI_CHANNEL_GROUP < t->d ? c + QKVI_CHANNEL_GROUP : t->d;
            const int64_t first = c;
            real x = 0;
            for (; c < end; c++)
                x = sfma(NAME(number_at)(k + c * size, t->k_dtype), qt[c * t->width], x);
            sum = first ? sum + x : x;
        }
        s[i] = sum;
    }
}

static int32_t NAME(clip)(int32_t x, int32_t most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

static void NAME(few_weigh)(qkvi_few *t)
{
    for (int32_t r = 0; r < t->rows; r++) {
        real *const mb = (real *)t->mb + r * QKVI_SPAN_BLOCKS, *const lb = (real *)t->lb +
                                                                           r * QKVI_SPAN_BLOCKS;
        for (int32_t j = 0, b = 0; j < t->keys; j += QKVI_BLOCK, b++) {
            real *const s = (real *)t->s + r * QKVI_SPAN + j;
            const int32_t lo = NAME(clip)(t->lo[r] - j, QKVI_BLOCK),
                          hi = NAME(clip)(t->hi[r] - j, QKVI_BLOCK);
            mb[b] = -(real)__builtin_inff();
            lb[b] = 0;
            if (lo >= hi) continue;
            for (int32_t i = 0; i < lo; i++) s[i] = mb[b];
            for (int32_t i = hi; i < QKVI_BLOCK; i++) s[i] = mb[b];
            if (NAME(few_weigh_fast)(s, mb + b, lb + b)) continue;
            NAME(few_score_again)(t, r, j, lo, hi, s);
            lb[b] = NAME(weigh_row)(s, 1, hi, lo, hi, NULL, 0, mb + b, NULL);
        }
    }
}
