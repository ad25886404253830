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
            vec first = x[m], second = first;
            if (dtype != DTYPE) NAME(unpair)(first, &first, &second, dtype);
            NAME(store)(at, first);
            if (dtype != DTYPE) NAME(store)(at + LANES, second);
        }
        return to + again * LANES;
    }
    for (int64_t j = 0; j < LANES; j++, k += stride)
        for (int64_t c = 0; c < left; c++) to[c * LANES + j] = NAME(number_at)(k + c * size, dtype);
    return to;
}

/* The keys [j, j + LANES) meet NR rows from r on: s += their sums over `channels` channels from c0 on,
 * which k points at; lines are fetched meanwhile. Rows from t->rows on are computed and left. */
HOT void NAME(few_keys)(const qkvi_few *t, const char *k, int64_t stride, int64_t c0,
                        int64_t channels, int32_t j, int32_t r, qkvi_lines *lines, const int NR,
                        const int32_t dtype)
{
    /* of half as wide numbers a vector holds pairs of channels */
    enum { BYTES = LANES * sizeof(real), EVERY = BYTES < 64 ? 64 / BYTES : 1 };
    const int64_t pair = dtype == DTYPE ? 1 : 2, step = pair * LANES, width = t->width;
    const real *q = (const real *)t->qt + c0 * width + r;
    qkvi_lines f = *lines;
    vec a[QKVI_FEW_ROWS];
    UNROLL_ALL for (int i = 0; i < NR; i++) a[i] = (vec){0};
    const int whole = channels >= step;
    for (; channels >= step; channels -= step, k += BYTES) {
        vec x[LANES];
        UNROLL_ALL for (int m = 0; m < LANES; m++) x[m] = NAME(load_any)(k + m * stride);
        NAME(turn_pairs)(x, dtype);
        UNROLL_ALL for (int m = 0; m < LANES; m++)
        {
            vec first = x[m], second = first;
            if (pair == 2) NAME(unpair)(x[m], &first, &second, dtype);
            UNROLL_ALL for (int i = 0; i < NR; i++) a[i] = vfma(first, NAME(all)(q[i]), a[i]);
            q += width;
            if (m % EVERY == 0 && !f.done) NAME(fetch)(&f);
            if (pair == 1) continue;
            UNROLL_ALL for (int i = 0; i < NR; i++) a[i] = vfma(second, NAME(all)(q[i]), a[i]);
            q += width;
        }
    }
    if (channels > 0) {
        _Alignas(64) real last[2 * LANES * LANES];
        const real *x = NAME(last_channels)(last, k, stride, channels, whole, dtype);
        for (; channels > 0; channels--, q += width, x += LANES)
            UNROLL_ALL for (int i = 0; i < NR; i++) a[i] =
                vfma(NAME(load)(x), NAME(all)(q[i]), a[i]);
    }
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        real *const s = (real *)t->s + (int64_t)(r + i) * QKVI_SPAN + j;
        const vec none = {0};
        if (r + i < t->rows) NAME(store)(s, (c0 ? NAME(load)(s) : none) + a[i]);
    }
    *lines = f;
}

/* the same for all rows */
HOT void NAME(few_meet)(const qkvi_few *t, const char *k, int64_t stride, int64_t c0,
                        int64_t channels, int32_t j, qkvi_lines *f, const int32_t dtype)
{
    for (int32_t r = 0, done; r < t->rows; r += done) {
        const int64_t left = t->rows - r, room = t->width - r;
#if VREGISTERS >= 32
        if (left > 4 && room >= 8)
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 8, dtype), done = 8;
        else
#endif
            if (left > 1 && room >= 4)
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 4, dtype), done = 4;
        else
            NAME(few_keys)(t, k, stride, c0, channels, j, r, f, 1, dtype), done = 1;
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
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    for (int32_t j = from / LANES * LANES; j < to; j += LANES)
        for (int64_t c0 = 0; c0 < t->d; c0 += QKVI_CHANNEL_GROUP) {
            const int64_t left = t->d - c0, n = t->keys - j,
                          channels = left < QKVI_CHANNEL_GROUP ? left : QKVI_CHANNEL_GROUP;
            int64_t stride = t->k_stride * size, row = channels * size;
            const char *k = (const char *)t->k + j * stride + c0 * size;
            qkvi_lines f = NAME(lines_after)(k, row, stride);
            real last[LANES * QKVI_CHANNEL_GROUP];
            if (n < LANES) { /* never past the last key */
                __builtin_memset(last, 0, sizeof last);
                for (int64_t i = 0; i < n; i++)
                    __builtin_memcpy((char *)last + i * row, k + i * stride, (size_t)row);
                k = (const char *)last;
                stride = row;
            }
            meet(t, k, stride, c0, channels, j, &f);
        }
}
