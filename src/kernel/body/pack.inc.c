/* SPDX-License-Identifier: MIT */
/* pack.inc.c - queries into the tile form, scaled (rule 2: one product an element); keys whose channels
 * are not adjacent, gathered; values in strips. Reads the caller's memory at any byte address, and
 * never past a row's last channel.
 */

/* 4 x 4 numbers in 128- or 256-bit pieces, so that rows become columns without scalar moves */
typedef real NAME(quad) __attribute__((vector_size(4 * sizeof(real)), may_alias));
typedef real NAME(quad_u) __attribute__((vector_size(4 * sizeof(real)), aligned(1), may_alias));

INLINE void NAME(transpose4)(NAME(quad) * a)
{
    const NAME(quad) x = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5);
    const NAME(quad) y = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
    const NAME(quad) z = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5);
    const NAME(quad) w = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
    a[0] = __builtin_shufflevector(x, z, 0, 1, 4, 5);
    a[1] = __builtin_shufflevector(x, z, 2, 3, 6, 7);
    a[2] = __builtin_shufflevector(y, w, 0, 1, 4, 5);
    a[3] = __builtin_shufflevector(y, w, 2, 3, 6, 7);
}

#if !defined(PORTABLE)
/* whole vectors of rows: LANES x LANES numbers at a time, some of them twice */
NOINLINE void NAME(pack_squares)(real *to, const real_u *from, int64_t row_stride, int64_t rows,
                                 int64_t d, int64_t width, real f)
{
    for (int64_t r = 0; r + LANES <= rows; r += LANES, to += LANES, from += LANES * row_stride)
        for (int64_t c = 0; c < d; c += LANES) {
            if (c + LANES > d) c = d - LANES;
            vec x[LANES];
            UNROLL_ALL for (int i = 0; i < LANES; i++) x[i] =
                NAME(load_any)(from + i * row_stride + c) * f;
            vturn(x);
            UNROLL_ALL for (int i = 0; i < LANES; i++) NAME(store)(to + (c + i) * width, x[i]);
        }
}
#endif

static void NAME(pack)(void *qt, const void *q, int64_t row_stride, int64_t channel_stride,
                       int64_t rows, int64_t d, int64_t width, double factor)
{
    real *const to = qt;
    const real_u *const from = q;
    const real f = (real)factor;
    const int64_t rows4 = channel_stride == 1 ? rows / 4 * 4 : 0, d4 = d / 4 * 4;
    int64_t done = 0; /* rows */
#if !defined(PORTABLE)
    if (channel_stride == 1 && d >= LANES) {
        NAME(pack_squares)(to, from, row_stride, rows, d, width, f);
        done = rows / LANES * LANES;
    }
#endif
    for (int64_t r = done; r < rows4; r += 4) {
        const real_u *const p = from + r * row_stride;
        for (int64_t c = 0; c < d4; c += 4) {
            NAME(quad) a[4];
            for (int i = 0; i < 4; i++) a[i] = *(const NAME(quad_u) *)(p + i * row_stride + c) * f;
            NAME(transpose4)(a);
            for (int i = 0; i < 4; i++) *(NAME(quad_u) *)(to + (c + i) * width + r) = a[i];
        }
        for (int64_t c = d4; c < d; c++)
            for (int i = 0; i < 4; i++) to[c * width + r + i] = p[i * row_stride + c] * f;
    }
    for (int64_t r = rows4 > done ? rows4 : done; r < rows; r++)
        for (int64_t c = 0; c < d; c++)
            to[c * width + r] = from[r * row_stride + c * channel_stride] * f;
    for (int64_t c = 0; c < d; c++)
        for (int64_t r = rows; r < width; r++) to[c * width + r] = 0;
}

static void NAME(gather)(void *to, const void *from, int64_t row_stride, int64_t channel_stride,
                         int64_t rows, int64_t channels)
{
    real *x = to;
    const real_u *p = from;
    for (int64_t r = 0; r < rows; r++, x += channels, p += row_stride) {
        if (channel_stride == 1)
            __builtin_memcpy(x, p, (size_t)channels * sizeof(real));
        else
            for (int64_t c = 0; c < channels; c++) x[c] = p[c * channel_stride];
    }
}

static void NAME(strips)(void *to_, const void *from_, int64_t row_stride, int64_t channel_stride,
                         int64_t keys, int64_t channels)
{
    const int64_t whole = channels / BROADCASTS;
    for (int64_t j = 0; j < keys; j++) {
        const real_u *from = (const real_u *)from_ + j * row_stride;
        real *to = (real *)to_ + j * BROADCASTS;
        for (int64_t i = 0; i < whole; i++, to += STRIP_STEP, from += BROADCASTS * channel_stride) {
            if (channel_stride == 1)
                __builtin_memcpy(to, from, BROADCASTS * sizeof(real));
            else
                for (int64_t c = 0; c < BROADCASTS; c++) to[c] = from[c * channel_stride];
        }
        to = (real *)to_ + whole * STRIP_STEP + j;
        for (int64_t c = whole * BROADCASTS; c < channels;
             c++, to += STRIP_STEP, from += channel_stride)
            *to = *from;
    }
}
