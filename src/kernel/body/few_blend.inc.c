/* SPDX-License-Identifier: MIT */
/* few_blend.inc.c - value sums of few rows: the lanes are channels, so values are read as they lie, and the
 * sums of some rows and channels stay in registers while keys go by. A chain runs down the keys, as in a
 * tile.
 */

/* n keys from j on, whose values begin at v, into NV vectors of the sums of NR rows from r on, which begin
 * at o and lie `step` numbers apart. */
HOT void NAME(few_values)(const qkvi_few *t, real *o, int64_t step, const char *v, int32_t r,
                          int32_t j, int32_t n, qkvi_lines *lines, const int NR, const int NV,
                          const int32_t dtype)
{
    const int64_t size = dtype == DTYPE ? (int64_t)sizeof(real) : 2, stride = t->v_stride * size;
    const real *w = (const real *)t->s + (int64_t)r * QKVI_SPAN + j;
    vec x[QKVI_FEW_ROWS][8], y[8];
    qkvi_lines f = *lines;
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        UNROLL_ALL for (int k = 0; k < NV; k++) x[i][k] = NAME(load)(o + i * step + k * LANES);
    }
    for (; n > 0; n--, v += stride, w++) {
        UNROLL_ALL for (int k = 0; k < NV; k++)
        {
            y[k] = NAME(vector_at)(v + k * LANES * size, dtype);
            if (k * LANES * size % 64 == 0 && !f.done) NAME(fetch)(&f);
        }
        UNROLL_ALL for (int i = 0; i < NR; i++)
        {
            const vec one = NAME(all)(w[i * QKVI_SPAN]);
            UNROLL_ALL for (int k = 0; k < NV; k++) x[i][k] = vfma(y[k], one, x[i][k]);
        }
    }
    UNROLL_ALL for (int i = 0; i < NR; i++)
    {
        UNROLL_ALL for (int k = 0; k < NV; k++) NAME(store)(o + i * step + k * LANES, x[i][k]);
    }
    *lines = f;
}

/* The same for all channels. What is left after whole vectors is the end of a vector that begins earlier:
 * its first lanes come out a second time, the same. */
HOT void NAME(few_channels)(const qkvi_few *t, int32_t r, const char *v, int32_t j, int32_t n,
                            qkvi_lines *f, const int NR, const int NV, const int32_t dtype)
{
    const int64_t size = dtype == DTYPE ? (int64_t)sizeof(real) : 2, stride = t->v_stride * size;
    const int64_t step = t->sums_bytes / (int64_t)sizeof(real), last = t->dv - LANES;
    const int rest = last > 0 && t->dv % LANES != 0;
    real *const o = (real *)t->sums + r * step;
    _Alignas(64) real again[QKVI_FEW_ROWS * LANES] = {0};
    int64_t c = 0;
    for (int i = 0; i < NR && rest; i++)
        __builtin_memcpy(again + i * LANES, o + i * step + last, sizeof(vec));
    for (; c + NV * LANES <= t->dv; c += NV * LANES)
        NAME(few_values)(t, o + c, step, v + c * size, r, j, n, f, NR, NV, dtype);
    for (; c + LANES <= t->dv; c += LANES)
        NAME(few_values)(t, o + c, step, v + c * size, r, j, n, f, NR, 1, dtype);
    if (rest) {
        NAME(few_values)(t, again, LANES, v + last * size, r, j, n, f, NR, 1, dtype);
        for (int i = 0; i < NR; i++)
            __builtin_memcpy(o + i * step + last, again + i * LANES, sizeof(vec));
        return;
    }
    for (; c < t->dv; c++)
        for (int i = 0; i < NR; i++) {
            const real *const w = (const real *)t->s + (int64_t)(r + i) * QKVI_SPAN + j;
            for (int32_t k = 0; k < n; k++)
                o[i * step + c] =
                    sfma(NAME(number_at)(v + k * stride + c * size, dtype), w[k], o[i * step + c]);
        }
}

/* Keys [j, j + n) for the rows [r, end), which see them all. */
HOT void NAME(few_rows)(const qkvi_few *t, int32_t r, int32_t end, const char *v, int32_t j,
                        int32_t n, qkvi_lines *f, const int32_t dtype)
{
    for (int32_t done; r < end; r += done) {
#if VREGISTERS >= 32
        if (end - r >= 8)
            NAME(few_channels)(t, r, v, j, n, f, 8, 2, dtype), done = 8;
        else if (end - r >= 4)
            NAME(few_channels)(t, r, v, j, n, f, 4, 4, dtype), done = 4;
#else
        if (end - r >= 4) NAME(few_channels)(t, r, v, j, n, f, 4, 2, dtype), done = 4;
#endif
        else if (end - r >= 2)
            NAME(few_channels)(t, r, v, j, n, f, 2, 4, dtype), done = 2;
        else if (t->dv >= 8 * LANES)
            NAME(few_channels)(t, r, v, j, n, f, 1, 8, dtype), done = 1;
        else
            NAME(few_channels)(t, r, v, j, n, f, 1, 4, dtype), done = 1;
        f->done = 1;
    }
}

FEW_TYPES(few_rows,
          (const qkvi_few *t, int32_t r, int32_t end, const char *v, int32_t j, int32_t n,
           qkvi_lines *f),
          t, r, end, v, j, n, f)
#undef FEW_TYPES
#undef FEW_ONE

/* The keys [j + *lo, j + *hi) of [j, j + n) that a row sees; 0 and 0 where it sees none. */
static void NAME(few_sees)(const qkvi_few *t, int32_t r, int32_t j, int32_t n, int32_t *lo,
                           int32_t *hi)
{
    *lo = NAME(clip)(t->lo[r] - j, n);
    *hi = NAME(clip)(t->hi[r] - j, n);
    if (*lo < *hi && !NAME(is_dead)(((const real *)t->mb)[r * QKVI_SPAN_BLOCKS + j / QKVI_BLOCK]))
        return;
    *lo = *hi = 0;
}

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

/* Keys [from, end) of one block into the sums of all rows. */
static void NAME(few_block)(const qkvi_few *t, int32_t from, int32_t end)
{
    /* their values stay in the first-level cache for all rows and channels */
    const int32_t step = t->v_dtype == DTYPE ? 32 : 64;
    NAME(few_rows_fn) *const add = NAME(few_rows_of)(t->v_dtype);
    const int64_t size = t->v_dtype == DTYPE ? (int64_t)sizeof(real) : 2,
                  stride = t->v_stride * size;
    __builtin_memset(t->sums, 0, (size_t)(t->rows * t->sums_bytes));
    for (int32_t j = from; j < end; j += step) {
        const int32_t n = end - j < step ? end - j : step;
        const char *const v = (const char *)t->v + j * stride;
        qkvi_lines f = NAME(lines_after)(v, t->dv * size, stride);
        for (int32_t r = 0, next = 0; r < t->rows; r = next) { /* those that see the same */
            int32_t lo, hi, a, b;
            NAME(few_sees)(t, r, j, n, &lo, &hi);
            do {
                if (++next == t->rows) break;
                NAME(few_sees)(t, next, j, n, &a, &b);
            } while (a == lo && b == hi);
            if (lo < hi) add(t, r, next, v + lo * stride, j + lo, hi - lo, &f);
        }
    }
}

static void NAME(few_blend)(qkvi_few *t)
{
    int32_t from, to;
    NAME(few_seen)(t, &from, &to);
    for (int32_t end; from < to; from = end) {
        const int32_t block = from / QKVI_BLOCK;
        end = (block + 1) * QKVI_BLOCK < to ? (block + 1) * QKVI_BLOCK : to;
        NAME(few_block)(t, from, end);
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
