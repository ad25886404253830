/* SPDX-License-Identifier: MIT */
/* few_score.inc.c - few rows meet a span of keys. With one row to a lane most lanes of a tile would be
 * empty. Here the lanes are keys, of which as many as there are lanes are turned in registers; a chain
 * runs down the channels, as in a tile.
 */

/* The last channels of LANES keys, `left` from k on, fewer than a turn takes: [channel][key], in `to`.
 * whole: as many as a turn takes lie before k, and some are turned again. */
NOINLINE const real *NAME(last_channels)(real *to, const char *k, int64_t stride, int64_t left,
                                         int whole, const int32_t dtype)
{
    const int64_t size = dtype == DTYPE ? (int64_t)sizeof(real) : 2,
                  pair = (int64_t)sizeof(real) / size, again = pair * LANES - left;
    if (whole) {
        vec x[LANES];
        for (int m = 0; m < LANES; m++) x[m] = NAME(load_any)(k - again * size + m * stride);
        NAME(turn_pairs)(x, dtype);
        for (int m = 0; m < LANES; m++) {
            real *const at = to + pair * m * LANES;
            vec first, second;
            NAME(store)(at, x[m]);
            NAME(unpair)(at, &first, &second, dtype);
            NAME(store)(at, first);
            if (dtype != DTYPE) NAME(store)(at + LANES, second);
        }
        return to + again * LANES;
    }
    for (int64_t j = 0; j < LANES; j++, k += stride)
        for (int64_t c = 0; c < left; c++) to[c * LANES + j] = NAME(number_at)(k + c * size, dtype);
    return to;
}

/* vectors of keys in work together: f16, which is widened from memory, leaves room for more chains */
INLINE int NAME(key_vectors)(const int32_t dtype)
{
    return dtype == QKV_F16 ? 2 : 1;
}

/* the rows' numbers q of one channel, times the keys x of NG vectors */
INLINE void NAME(few_add)(vec (*a)[2], const vec *x, const real *q, const int NR, const int NG)
{
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        const vec y = NAME(all)(q[i]);
        UNROLL_ALL for (int g = 0; g < NG; g++) a[i][g] = vfma(x[g], y, a[i][g]);
    }
}

/* As many channels of NG x LANES keys as a turn takes. NG 1: turned keys stay in registers; 2: there they
 * would leave none for the sums. */
HOT const real *NAME(few_turn)(vec (*a)[2], const char *k, int64_t stride, const real *q,
                               int64_t width, qkvi_lines *f, const int NR, const int NG,
                               const int32_t dtype)
{
    /* a line for every 64 bytes of keys */
    enum { BYTES = LANES * sizeof(real), EVERY = BYTES < 64 ? 64 / BYTES : 1 };
    _Alignas(64) real turned[2 * LANES * LANES];
    vec x[LANES], first[2], second[2];
    for (int g = 0;;) {
        UNROLL_ALL for (int m = 0; m < LANES; m++) x[m] =
            NAME(load_any)(k + (g * LANES + m) * stride);
        NAME(turn_pairs)(x, dtype);
        if (NG == 1) break;
        UNROLL_ALL for (int m = 0; m < LANES; m++) NAME(store)(turned + (2 * m + g) * LANES, x[m]);
        OPAQUE_MEMORY(turned);
        if (++g == NG) break;
    }
    UNROLL_ALL for (int m = 0; m < LANES; m++)
    {
        UNROLL_ALL for (int g = 0; g < NG; g++)
        {
            if (NG == 1)
                NAME(widen_pair)(x[m], first + g, second + g, dtype);
            else
                NAME(unpair)(turned + (2 * m + g) * LANES, first + g, second + g, dtype);
        }
        NAME(few_add)(a, first, q, NR, NG);
        q += width;
        if (m % EVERY == 0 && !f->done) {
            NAME(fetch)(f);
            if (NG == 2) NAME(fetch)(f);
        }
        if (dtype == DTYPE) continue;
        NAME(few_add)(a, second, q, NR, NG);
        q += width;
    }
    return q;
}

/* The keys [j, j + NG x LANES) meet NR rows from r on: s += their sums over `channels` channels from c0
 * on, which k points at; lines are fetched meanwhile. Rows from t->rows on are computed and left. */
HOT void NAME(few_keys)(const qkvi_few *t, const char *k, int64_t stride, int64_t c0,
                        int64_t channels, int32_t j, int32_t r, qkvi_lines *lines, const int NR,
                        const int NG, const int32_t dtype)
{
    /* of half as wide numbers a vector holds pairs of channels */
    const int64_t step = (dtype == DTYPE ? 1 : 2) * (int64_t)LANES, width = t->width;
    const real *q = (const real *)t->qt + c0 * width + r;
    qkvi_lines f = *lines;
    vec a[QKVI_FEW_ROWS][2];
    UNROLL_ALL for (int i = 0; i < NR; i++) a[i][0] = a[i][1] = (vec){0};
    const int whole = channels >= step;
    for (; channels >= step; channels -= step, k += LANES * sizeof(real))
        q = NAME(few_turn)(a, k, stride, q, width, &f, NR, NG, dtype);
    UNROLL_ALL for (int g = 0; g < NG; g++)
    {
        _Alignas(64) real last[2 * LANES * LANES];
        if (channels <= 0) continue;
        const real *x =
            NAME(last_channels)(last, k + g * LANES * stride, stride, channels, whole, dtype);
        for (int64_t c = 0; c < channels; c++, x += LANES)
            UNROLL_ALL for (int i = 0; i < NR; i++) a[i][g] =
                vfma(NAME(load)(x), NAME(all)(q[c * width + i]), a[i][g]);
    }
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        UNROLL_ALL for (int g = 0; g < NG; g++)
        {
            real *const s = (real *)t->s + (int64_t)(r + i) * QKVI_SPAN + j + g * LANES;
            const vec none = {0};
            if (r + i < t->rows) NAME(store)(s, (c0 ? NAME(load)(s) : none) + a[i][g]);
        }
    }
    *lines = f;
}

/* the same for all rows */
HOT void NAME(few_meet)(const qkvi_few *t, const char *k, int64_t stride, int64_t c0,
                        int64_t channels, int32_t j, qkvi_lines *f, const int32_t dtype)
{
    const int groups = NAME(key_vectors)(dtype);
    for (int32_t r = 0, done; r < t->rows; r += done) {
        const int64_t left = t->rows - r, room = t->width - r;
#if VREGISTERS >= 32
        if (left > 4 && room >= 8)
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 8, groups, dtype), done = 8;
        else
#endif
            if (left > 1 && room >= 4)
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 4, groups, dtype), done = 4;
        else
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 1, groups, dtype), done = 1;
        f->done = 1;
    }
}

FEW_TYPES(few_meet,
          (const qkvi_few *t, const char *k, int64_t stride, int64_t c0, int64_t channels,
           int32_t j, qkvi_lines *f),
          t, k, stride, c0, channels, j, f)

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
    NAME(few_meet_fn) *const meet = NAME(few_meet_of)(t->k_dtype);
    const int64_t size = t->k_dtype == DTYPE ? (int64_t)sizeof(real) : 2;
    const int32_t step = NAME(key_vectors)(t->k_dtype) * LANES;
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    for (int32_t j = from / step * step; j < to; j += step)
        for (int64_t c0 = 0; c0 < t->d; c0 += QKVI_CHANNEL_GROUP) {
            const int64_t left = t->d - c0, n = t->keys - j,
                          channels = left < QKVI_CHANNEL_GROUP ? left : QKVI_CHANNEL_GROUP;
            int64_t stride = t->k_stride * size, row = channels * size;
            const char *k = (const char *)t->k + j * stride + c0 * size;
            qkvi_lines f = NAME(lines_after)(k, row, stride);
            real last[2 * LANES * QKVI_CHANNEL_GROUP];
            if (n < step) { /* never past the last key */
                __builtin_memset(last, 0, sizeof last);
                for (int64_t i = 0; i < n; i++)
                    __builtin_memcpy((char *)last + i * row, k + i * stride, (size_t)row);
                k = (const char *)last;
                stride = row;
            }
            meet(t, k, stride, c0, channels, j, &f);
        }
}
