/* SPDX-License-Identifier: MIT */
/* few.inc.c - few rows meet a span of keys: the same arithmetic as score, weigh and blend, laid out so
 * that keys and values are read once, in the order of memory.
 *
 * With one row to a lane most lanes of a tile would be empty. Here the lanes of a score are keys (the keys
 * of as many rows as there are lanes are turned in registers) and those of a value sum are channels. A
 * chain still runs down the channels, and down the keys: the bits are those of a tile.
 */

/* ---- scores ---------------------------------------------------------------------------------- */

/* Two vectors of keys, turned, meet NR rows: s += their sums over some channels; r: the first row, s: its
 * first score; more: s holds those of the channels before. */
HOT void NAME(few_sums)(const qkvi_few *t, int64_t c0, int64_t channels, int64_t r, real *s,
                        int more, const int NR)
{
    const int64_t width = t->width;
    const real *q = (const real *)t->qt + c0 * width + r, *k = t->near;
    vec a[2][QKVI_FEW_ROWS];
    UNROLL_ALL for (int i = 0; i < NR; i++) a[0][i] = a[1][i] = (vec){0};
    for (int64_t c = 0; c < channels; c++, q += width, k += 2 * LANES) {
        const vec x = NAME(load)(k), y = NAME(load)(k + LANES);
        UNROLL_ALL for (int i = 0; i < NR; i++)
        {
            const vec one = NAME(all)(q[i]);
            a[0][i] = vfma(x, one, a[0][i]);
            a[1][i] = vfma(y, one, a[1][i]);
        }
    }
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        real *const to = s + i * QKVI_SPAN;
        const vec none = {0};
        NAME(store)(to, (more ? NAME(load)(to) : none) + a[0][i]);
        NAME(store)(to + LANES, (more ? NAME(load)(to + LANES) : none) + a[1][i]);
    }
}
#define FEW_SUMS(rows)                                                                             \
    NOINLINE void NAME(few_sums##rows)(const qkvi_few *t, int64_t c0, int64_t channels, int64_t r, \
                                       real *s, int more)                                          \
    {                                                                                              \
        NAME(few_sums)(t, c0, channels, r, s, more, rows);                                         \
    }
FEW_SUMS(1)
FEW_SUMS(2)
FEW_SUMS(4)
#if VREGISTERS >= 32
FEW_SUMS(8)
#endif
#undef FEW_SUMS

/* the same for all rows */
static void NAME(few_rows)(const qkvi_few *t, int64_t c0, int64_t channels, int32_t j)
{
    for (int32_t r = 0, done; r < t->rows; r += done) {
        const int32_t left = t->rows - r;
        real *const s = (real *)t->s + (int64_t)r * QKVI_SPAN + j;
#if VREGISTERS >= 32
        if (left >= 8)
            NAME(few_sums8)(t, c0, channels, r, s, c0 > 0), done = 8;
        else
#endif
            if (left >= 4)
            NAME(few_sums4)(t, c0, channels, r, s, c0 > 0), done = 4;
        else if (left >= 2)
            NAME(few_sums2)(t, c0, channels, r, s, c0 > 0), done = 2;
        else
            NAME(few_sums1)(t, c0, channels, r, s, c0 > 0), done = 1;
    }
}

/* the keys [*from, *to) that some row may see */
static void NAME(few_seen)(const qkvi_few *t, int32_t *from, int32_t *to)
{
    *from = t->keys;
    *to = 0;
    for (int32_t r = 0; r < t->rows; r++) {
        if (t->lo[r] >= t->hi[r]) continue;
        if (t->lo[r] < *from) *from = t->lo[r];
        if (t->hi[r] > *to) *to = t->hi[r];
    }
}

static void NAME(few_score)(qkvi_few *t)
{
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    from = from / (2 * LANES) * (2 * LANES);
    const int64_t size = t->k_dtype == DTYPE ? (int64_t)sizeof(real) : 2,
                  stride = t->k_stride * size;
    const char *k = (const char *)t->k + from * stride;
    const int64_t ahead = NAME(ahead_of)(stride, t->d * size);
    NAME(turn_fn) *const turn = NAME(turn_of)(t->k_dtype);
    for (int32_t j = from; j < to; j += 2 * LANES, k += 2 * LANES * stride)
        for (int64_t c0 = 0; c0 < t->d; c0 += QKVI_CHANNEL_GROUP) {
            const int64_t left = t->d - c0,
                          channels = left < QKVI_CHANNEL_GROUP ? left : QKVI_CHANNEL_GROUP;
            for (int64_t i = 0; i < 2 * LANES; i += LANES) {
                const char *at = k + i * stride + c0 * size;
                int64_t step = stride;
                real last[LANES * QKVI_CHANNEL_GROUP];
                const int64_t n = t->keys - j - i;
                if (n < LANES) { /* never past the last key */
                    __builtin_memset(last, 0, sizeof last);
                    for (int64_t x = 0; x < n; x++)
                        __builtin_memcpy((char *)last + x * channels * size, at + x * stride,
                                         (size_t)(channels * size));
                    at = (const char *)last;
                    step = channels * size;
                }
                turn((real *)t->near + i, at, step, channels, ahead);
            }
            NAME(few_rows)(t, c0, channels, j);
        }
}

/* ---- weights --------------------------------------------------------------------------------- */

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

/* ---- values ---------------------------------------------------------------------------------- */

/* N keys into the sums of NR rows; ahead: a line fetched for each one read. */
HOT void NAME(few_values)(const qkvi_few *t, int64_t r, const real_u *v, int64_t stride, int64_t j,
                          int64_t ahead, const int NR, const int N, const int FETCH)
{
    const int64_t dv = t->dv, step = t->sums_bytes / (int64_t)sizeof(real);
    real *const o = (real *)t->sums + r * step;
    const real *const p = (const real *)t->s + r * QKVI_SPAN + j;
    vec w[4][8];
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        UNROLL_ALL for (int n = 0; n < N; n++) w[i][n] = NAME(all)(p[i * QKVI_SPAN + n]);
    }
    int64_t c = 0;
    for (; c + LANES <= dv; c += LANES) {
        vec x[4];
        UNROLL_ALL for (int i = 0; i < NR; i++) x[i] = NAME(load)(o + i * step + c);
        UNROLL_ALL for (int n = 0; n < N; n++)
        {
            const real_u *const p_v = v + n * stride + c;
            const vec y = NAME(load_any)(p_v);
            if (FETCH) NAME(fetch)
            ((const char *)p_v, c * (int64_t)sizeof(real), LANES * (int64_t)sizeof(real), ahead);
            UNROLL_ALL for (int i = 0; i < NR; i++) x[i] = vfma(y, w[i][n], x[i]);
        }
        UNROLL_ALL for (int i = 0; i < NR; i++) NAME(store)(o + i * step + c, x[i]);
    }
    for (; c < dv; c++)
        for (int i = 0; i < NR; i++) {
            real x = o[i * step + c];
            for (int n = 0; n < N; n++) x = sfma(v[n * stride + c], p[i * QKVI_SPAN + n], x);
            o[i * step + c] = x;
        }
}
#define FEW_VALUES(rows, keys)                                                                     \
    NOINLINE void NAME(few_values##rows##x##keys)(const qkvi_few *t, int64_t r, const real_u *v,   \
                                                  int64_t stride, int64_t j, int64_t ahead)        \
    {                                                                                              \
        NAME(few_values)(t, r, v, stride, j, ahead, rows, keys, keys > 1);                         \
    }
FEW_VALUES(1, 1)
FEW_VALUES(1, 8)
FEW_VALUES(2, 4)
#if VREGISTERS >= 32
FEW_VALUES(4, 4)
#endif
#undef FEW_VALUES

/* Rule 9: the block's sums into the row's m, l, o[0 ... dv). */
static void NAME(few_fold)(real *state, const real *o, real mb, real lb, int64_t dv)
{
    const real ma = state[0], m = ma > mb ? ma : mb;
    const real alpha = NAME(power2_one)(ma - m), beta = NAME(power2_one)(mb - m);
    state[0] = m;
    state[1] = sfma(lb, beta, state[1] * alpha);
    real *const to = state + 2; /* 64-aligned */
    int64_t c = 0;
    for (; c + LANES <= dv; c += LANES)
        NAME(store)(to + c, vfma(NAME(load)(o + c), NAME(all)(beta), NAME(load)(to + c) * alpha));
    for (; c < dv; c++) to[c] = sfma(o[c], beta, to[c] * alpha);
}

/* Keys [j, j + 8), whose values begin at v, for the rows r ... r + n - 1, which see them all. */
static void NAME(few_eight)(const qkvi_few *t, int32_t r, int32_t n, int32_t j, const real_u *v,
                            int64_t stride, int64_t ahead)
{
    for (int32_t done; n > 0; n -= done, r += done) {
#if VREGISTERS >= 32
        if (n >= 4) {
            NAME(few_values4x4)(t, r, v, stride, j, ahead);
            NAME(few_values4x4)(t, r, v + 4 * stride, stride, j + 4, ahead);
            done = 4;
        } else
#endif
            if (n >= 2) {
            NAME(few_values2x4)(t, r, v, stride, j, ahead);
            NAME(few_values2x4)(t, r, v + 4 * stride, stride, j + 4, ahead);
            done = 2;
        } else {
            NAME(few_values1x8)(t, r, v, stride, j, ahead);
            done = 1;
        }
        ahead = 0; /* the other rows find it near */
    }
}

/* 1: the row sees keys [j, j + 8) of that block, 0: it sees none, -1: some. */
static int NAME(few_sees)(const qkvi_few *t, int32_t r, int32_t j, int64_t block)
{
    if (NAME(is_dead)(((const real *)t->mb)[r * QKVI_SPAN_BLOCKS + block])) return 0;
    const int32_t lo = NAME(clip)(t->lo[r] - j, 8), hi = NAME(clip)(t->hi[r] - j, 8);
    return lo >= hi ? 0 : hi - lo == 8 ? 1 : -1;
}

/* Keys [j, j + 8) of a block, whose values begin at v, for the rows that see them. */
static void NAME(few_step)(const qkvi_few *t, int64_t block, int32_t j, const real_u *v,
                           int64_t stride, int64_t ahead)
{
    for (int32_t r = 0, n; r < t->rows; r += n) {
        const int sees = NAME(few_sees)(t, r, j, block);
        n = 1;
        if (sees == 1) {
            while (r + n < t->rows && NAME(few_sees)(t, r + n, j, block) == 1) n++;
            NAME(few_eight)(t, r, n, j, v, stride, ahead);
            ahead = 0;
        } else if (sees) {
            const int32_t lo = NAME(clip)(t->lo[r] - j, 8), hi = NAME(clip)(t->hi[r] - j, 8);
            for (int32_t i = lo; i < hi; i++)
                NAME(few_values1x1)(t, r, v + i * stride, stride, j + i, 0);
        }
    }
}

/* Keys [from, end) of one block into the sums of all rows. */
static void NAME(few_block)(const qkvi_few *t, int32_t from, int32_t end, int64_t ahead)
{
    const int64_t size = t->v_dtype == DTYPE ? (int64_t)sizeof(real) : 2;
    const int64_t near_stride = t->sums_bytes / (int64_t)sizeof(real);
    NAME(bring_fn) *const bring = NAME(bring_of)(t->v_dtype);
    __builtin_memset(t->sums, 0, (size_t)(t->rows * t->sums_bytes));
    for (int32_t j = from; j < end; j += 8) {
        const char *const v = (const char *)t->v + j * t->v_stride * size;
        if (bring) {
            bring(t->near, near_stride, v, t->v_stride * size, end - j < 8 ? end - j : 8, t->dv,
                  ahead);
            NAME(few_step)(t, from / QKVI_BLOCK, j, t->near, near_stride, 0);
        } else {
            NAME(few_step)(t, from / QKVI_BLOCK, j, (const real_u *)v, t->v_stride, ahead);
        }
    }
}

static void NAME(few_blend)(qkvi_few *t)
{
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    from = from / 8 * 8;
    const int64_t size = t->v_dtype == DTYPE ? (int64_t)sizeof(real) : 2,
                  stride = t->v_stride * size;
    const int64_t ahead = NAME(ahead_of)(stride, t->dv * size);
    for (int32_t end; from < to; from = end) {
        const int32_t block = from / QKVI_BLOCK;
        end = (block + 1) * QKVI_BLOCK < to ? (block + 1) * QKVI_BLOCK : to;
        NAME(few_block)(t, from, end, ahead);
        for (int32_t r = 0; r < t->rows; r++) {
            const int64_t at = r * QKVI_SPAN_BLOCKS + block;
            const real mb = ((const real *)t->mb)[at];
            if (NAME(is_dead)(mb)) continue;
            NAME(few_fold)
            ((real *)(void *)((char *)t->state + r * t->state_bytes),
             (const real *)(const void *)((const char *)t->sums + r * t->sums_bytes), mb,
             ((const real *)t->lb)[at], t->dv);
        }
    }
}
