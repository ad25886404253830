/* SPDX-License-Identifier: MIT */
/* few.inc.c - few rows meet a span of keys: the same arithmetic as score, weigh and blend, laid out so
 * that keys and values are read once, in the order of memory.
 *
 * With one row to a lane most lanes of a tile would be empty. Here the lanes of a score are keys (the keys
 * of as many rows as there are lanes are turned in registers) and those of a value sum are channels. A
 * chain still runs down the channels, and down the keys: the bits are those of a tile.
 */

typedef real NAME(vec_u) __attribute__((vector_size(LANES * sizeof(real)), aligned(1), may_alias));

INLINE vec NAME(load_any)(const real_u *p)
{
    return *(const NAME(vec_u) *)(const void *)p;
}

/* How far ahead of the reading a row is fetched, in keys: hardware fetches along a page at best, and
 * drops requests that come faster than memory answers, so there is one request for each line read. */
enum { NAME(FEW_AHEAD) = 16 };

/* walks the lines of rows, in order */
typedef struct NAME(lines) {
    const char *at;
    int64_t left, row, skip; /* bytes: to the row's end, of a row, from there to the next */
} NAME(lines);

INLINE NAME(lines) NAME(lines_from)(const real_u *p, int64_t stride, int64_t channels)
{
    const int64_t row = (channels * (int64_t)sizeof(real) + 63) / 64 * 64;
    return (NAME(lines)){(const char *)(p + NAME(FEW_AHEAD) * stride), row, row,
                         stride * (int64_t)sizeof(real) - row};
}

INLINE void NAME(fetch_line)(NAME(lines) * x)
{
    __builtin_prefetch(x->at, 0, 2);
    x->at += 64;
    x->left -= 64;
    if (x->left > 0) return;
    x->at += x->skip;
    x->left = x->row;
}

/* ---- scores ---------------------------------------------------------------------------------- */

/* LANES keys (n of them are there) for NR rows from r on; s: the first score of row r. */
HOT void NAME(few_keys)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                        NAME(lines) * ahead, const int NR)
{
    const real *const qt = (const real *)t->qt + r;
    const int64_t width = t->width, stride = t->k_stride, d = t->d;
    NAME(lines) walk = ahead ? *ahead : (NAME(lines)){0}; /* in registers */
    vec sum[QKVI_FEW_ROWS];
    UNROLL_ALL for (int i = 0; i < NR; i++) sum[i] = (vec){0};
    for (int64_t c0 = 0; c0 < d; c0 += QKVI_CHANNEL_GROUP) {
        const int64_t end = c0 + QKVI_CHANNEL_GROUP < d ? c0 + QKVI_CHANNEL_GROUP : d;
        vec a[QKVI_FEW_ROWS];
        UNROLL_ALL for (int i = 0; i < NR; i++) a[i] = (vec){0};
        int64_t c = c0;
        for (; c + LANES <= end; c += LANES) {
            vec x[LANES];
            const real_u *p = k + c;
            UNROLL_ALL for (int j = 0; j < LANES; j++)
            {
                x[j] = NAME(load_any)(p);
                p += j + 1 < n ? stride : 0; /* never past the last key */
            }
            vturn(x);
            UNROLL_ALL for (int j = 0; j < LANES; j++)
            {
                if (ahead && j % (64 / (LANES * (int)sizeof(real))) == 0) NAME(fetch_line)(&walk);
                UNROLL_ALL for (int i = 0; i < NR; i++) a[i] =
                    vfma(x[j], NAME(all)(qt[(c + j) * width + i]), a[i]);
            }
        }
        for (; c < end; c++) {
            vec x = {0};
            for (int j = 0; j < LANES; j++) x[j] = k[(j < n ? j : n - 1) * stride + c];
            UNROLL_ALL for (int i = 0; i < NR; i++) a[i] =
                vfma(x, NAME(all)(qt[c * width + i]), a[i]);
        }
        UNROLL_ALL for (int i = 0; i < NR; i++) sum[i] = sum[i] + a[i];
    }
    UNROLL_ALL for (int i = 0; i < NR; i++) NAME(store)(s + i * QKVI_SPAN, sum[i]);
    if (ahead) *ahead = walk;
}

typedef void NAME(few_keys_fn)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                               NAME(lines) * ahead);
NOINLINE void NAME(few_keys1)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                              NAME(lines) * ahead)
{
    NAME(few_keys)(t, k, n, r, s, ahead, 1);
}
NOINLINE void NAME(few_keys2)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                              NAME(lines) * ahead)
{
    NAME(few_keys)(t, k, n, r, s, ahead, 2);
}
NOINLINE void NAME(few_keys4)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                              NAME(lines) * ahead)
{
    NAME(few_keys)(t, k, n, r, s, ahead, 4);
}
#if VREGISTERS >= 32
NOINLINE void NAME(few_keys8)(const qkvi_few *t, const real_u *k, int64_t n, int64_t r, real *s,
                              NAME(lines) * ahead)
{
    NAME(few_keys)(t, k, n, r, s, ahead, 8);
}
#endif

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
    from = from / LANES * LANES;
    const real_u *k = (const real_u *)t->k + from * t->k_stride;
    NAME(lines) ahead = NAME(lines_from)(k, t->k_stride, t->d);
    for (int32_t j = from; j < to; j += LANES, k += LANES * t->k_stride) {
        const int64_t n = t->keys - j < LANES ? t->keys - j : LANES;
        for (int32_t r = 0, rows; r < t->rows; r += rows) {
            const int32_t left = t->rows - r;
            NAME(few_keys_fn) *fn = NAME(few_keys1);
            rows = 1;
            if (left >= 2) fn = NAME(few_keys2), rows = 2;
            if (left >= 4) fn = NAME(few_keys4), rows = 4;
#if VREGISTERS >= 32
            if (left >= 8) fn = NAME(few_keys8), rows = 8;
#endif
            fn(t, k, n, r, (real *)t->s + r * QKVI_SPAN + j, r ? NULL : &ahead);
        }
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
    for (int32_t i = lo; i < hi; i++) {
        const real_u *const k = (const real_u *)t->k + (j + i) * t->k_stride;
        real sum = 0;
        for (int64_t c = 0; c < t->d;) {
            const int64_t end = c + QKVI_CHANNEL_GROUP < t->d ? c + QKVI_CHANNEL_GROUP : t->d;
            const int64_t first = c;
            real x = 0;
            for (; c < end; c++) x = sfma(k[c], qt[c * t->width], x);
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
HOT void NAME(few_values)(const qkvi_few *t, int64_t r, const real_u *v, int64_t j,
                          NAME(lines) * ahead, const int NR, const int N)
{
    const int64_t dv = t->dv, stride = t->v_stride, step = t->sums_bytes / (int64_t)sizeof(real);
    real *const o = (real *)t->sums + r * step;
    const real *const p = (const real *)t->s + r * QKVI_SPAN + j;
    NAME(lines) walk = ahead ? *ahead : (NAME(lines)){0};
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
            if (ahead && n % (64 / (LANES * (int)sizeof(real))) == 0) NAME(fetch_line)(&walk);
            const vec y = NAME(load_any)(v + n * stride + c);
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
    if (ahead) *ahead = walk;
}
NOINLINE void NAME(few_values1x1)(const qkvi_few *t, int64_t r, const real_u *v, int64_t j)
{
    NAME(few_values)(t, r, v, j, NULL, 1, 1);
}
NOINLINE void NAME(few_values1x8)(const qkvi_few *t, int64_t r, const real_u *v, int64_t j,
                                  NAME(lines) * ahead)
{
    NAME(few_values)(t, r, v, j, ahead, 1, 8);
}
NOINLINE void NAME(few_values2x4)(const qkvi_few *t, int64_t r, const real_u *v, int64_t j,
                                  NAME(lines) * ahead)
{
    NAME(few_values)(t, r, v, j, ahead, 2, 4);
}
#if VREGISTERS >= 32
NOINLINE void NAME(few_values4x4)(const qkvi_few *t, int64_t r, const real_u *v, int64_t j,
                                  NAME(lines) * ahead)
{
    NAME(few_values)(t, r, v, j, ahead, 4, 4);
}
#endif

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

/* Keys [j, j + 8) of a block for the rows r ... r + n - 1, which see them all. */
static void NAME(few_eight)(const qkvi_few *t, int32_t r, int32_t n, int32_t j, NAME(lines) * ahead)
{
    const real_u *const v = (const real_u *)t->v + j * t->v_stride;
    const int64_t four = 4 * t->v_stride;
    for (int32_t done; n > 0; n -= done, r += done) {
#if VREGISTERS >= 32
        if (n >= 4) {
            NAME(few_values4x4)(t, r, v, j, ahead);
            NAME(few_values4x4)(t, r, v + four, j + 4, ahead);
            done = 4;
        } else
#endif
            if (n >= 2) {
            NAME(few_values2x4)(t, r, v, j, ahead);
            NAME(few_values2x4)(t, r, v + four, j + 4, ahead);
            done = 2;
        } else {
            NAME(few_values1x8)(t, r, v, j, ahead);
            done = 1;
        }
        ahead = NULL; /* the other rows find it near */
    }
}

/* 1: the row sees keys [j, j + 8) of that block, 0: it sees none, -1: some. */
static int NAME(few_sees)(const qkvi_few *t, int32_t r, int32_t j, int64_t block)
{
    if (NAME(is_dead)(((const real *)t->mb)[r * QKVI_SPAN_BLOCKS + block])) return 0;
    const int32_t lo = NAME(clip)(t->lo[r] - j, 8), hi = NAME(clip)(t->hi[r] - j, 8);
    return lo >= hi ? 0 : hi - lo == 8 ? 1 : -1;
}

/* Keys [j, j + 8) of a block, for the rows that see them. */
static void NAME(few_step)(const qkvi_few *t, int64_t block, int32_t j, NAME(lines) * ahead)
{
    for (int32_t r = 0, n; r < t->rows; r += n) {
        const int sees = NAME(few_sees)(t, r, j, block);
        n = 1;
        if (sees == 1) {
            while (r + n < t->rows && NAME(few_sees)(t, r + n, j, block) == 1) n++;
            NAME(few_eight)(t, r, n, j, ahead);
            ahead = NULL;
        } else if (sees) {
            const int32_t lo = NAME(clip)(t->lo[r] - j, 8), hi = NAME(clip)(t->hi[r] - j, 8);
            for (int32_t i = j + lo; i < j + hi; i++)
                NAME(few_values1x1)(t, r, (const real_u *)t->v + i * t->v_stride, i);
        }
    }
}

static void NAME(few_blend)(qkvi_few *t)
{
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    from = from / 8 * 8;
    NAME(lines)
    ahead = NAME(lines_from)((const real_u *)t->v + from * t->v_stride, t->v_stride, t->dv);
    for (int32_t base = from / QKVI_BLOCK * QKVI_BLOCK; base < to; base += QKVI_BLOCK) {
        const int32_t end = base + QKVI_BLOCK < to ? base + QKVI_BLOCK : to;
        __builtin_memset(t->sums, 0, (size_t)(t->rows * t->sums_bytes));
        for (int32_t j = base > from ? base : from; j < end; j += 8)
            NAME(few_step)(t, base / QKVI_BLOCK, j, &ahead);
        for (int32_t r = 0; r < t->rows; r++) {
            const int64_t at = r * QKVI_SPAN_BLOCKS + base / QKVI_BLOCK;
            const real mb = ((const real *)t->mb)[at];
            if (NAME(is_dead)(mb)) continue;
            NAME(few_fold)
            ((real *)(void *)((char *)t->state + r * t->state_bytes),
             (const real *)(const void *)((const char *)t->sums + r * t->sums_bytes), mb,
             ((const real *)t->lb)[at], t->dv);
        }
    }
}
