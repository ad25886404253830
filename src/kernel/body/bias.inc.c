/* SPDX-License-Identifier: MIT */
/* bias.inc.c - a block of biases from the caller's rows to the form of a tile, [key][row], in log2 units
 * (rule 3), and which of them are -inf: those exclude their pair (rule 4). Decided on the stored
 * numbers, before anything is rounded.
 */

/* the magnitude limited to the largest finite number; NaN stays NaN */
INLINE vec NAME(saturate)(vec x)
{
    const vec low = NAME(all)(-REAL_MAX);
    return -vmax(low, -vmax(low, x));
}

/* one number in the type of the run; *out: it is -inf where it is stored */
INLINE real NAME(bias_at)(const void *from, int32_t dtype, int64_t i, int *out)
{
    if (dtype == QKV_F64) {
        const double x = ((const f64u *)from)[i];
        *out = x == -__builtin_inf();
        return (real)x;
    }
    float x;
    if (dtype == QKV_F32) {
        x = ((const f32u *)from)[i];
    } else {
        x = half_at((const char *)from + 2 * i, dtype);
    }
    *out = x == -__builtin_inff();
    return (real)x;
}

INLINE real NAME(bias_log2)(real x)
{
    const real y = x * LOG2E;
    return y > REAL_MAX ? REAL_MAX : y < -REAL_MAX ? -REAL_MAX : y;
}

/* bit j: number j of n <= 64 neighbours is -inf */
static uint64_t NAME(minus_infinities)(const real_u *x, int64_t n)
{
    const real inf = (real)__builtin_inff();
    const vec out = NAME(all)(-inf);
    ivec any = {0}, every = ~any;
    uint64_t bits = 0;
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const ivec is = NAME(load_any)(x + j) == out;
        any |= is;
        every &= is;
    }
    if (vany(any)) {
        if (!vany(~every))
            bits = j == 64 ? ~UINT64_C(0) : (UINT64_C(1) << j) - 1;
        else
            for (int64_t i = 0; i < j; i++) bits |= (uint64_t)(x[i] == -inf) << i;
    }
    for (; j < n; j++) bits |= (uint64_t)(x[j] == -inf) << j;
    return bits;
}

static void NAME(bias_seen)(const void *from, int32_t dtype, int64_t row_stride, int64_t key_stride,
                            int64_t rows, int64_t keys, uint64_t (*live)[2])
{
    const int plain = key_stride == 1 && dtype == DTYPE;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t w = 0; w < 2 && 64 * w < keys; w++) {
            const int64_t n = keys - 64 * w < 64 ? keys - 64 * w : 64;
            const int64_t at = r * row_stride + 64 * w * key_stride;
            uint64_t bits = 0;
            if (live[r][w] == 0) continue;
            if (plain) bits = NAME(minus_infinities)((const real_u *)from + at, n);
            for (int64_t j = 0; j < n && !plain; j++) {
                int out;
                NAME(bias_at)(from, dtype, at + j * key_stride, &out);
                bits |= (uint64_t)out << j;
            }
            live[r][w] &= ~bits;
        }
}

#if !defined(PORTABLE)
/* whole vectors of rows: LANES x LANES numbers at a time, some of them twice */
NOINLINE void NAME(bias_squares)(real *to, const real_u *from, int64_t row_stride, int64_t rows,
                                 int64_t keys, int64_t width)
{
    for (int64_t r = 0; r + LANES <= rows; r += LANES, to += LANES, from += LANES * row_stride)
        for (int64_t j = 0; j < keys; j += LANES) {
            if (j + LANES > keys) j = keys - LANES;
            vec x[LANES];
            UNROLL_ALL for (int i = 0; i < LANES; i++)
            {
                x[i] = NAME(saturate)(NAME(load_any)(from + i * row_stride + j) * LOG2E);
            }
            vturn(x);
            UNROLL_ALL for (int i = 0; i < LANES; i++) NAME(store)(to + (j + i) * width, x[i]);
        }
}
#endif

static void NAME(bias)(void *to_, const void *from, int32_t dtype, int64_t row_stride,
                       int64_t key_stride, int64_t rows, int64_t keys, int64_t width)
{
    real *const to = to_;
    int64_t done_rows = 0, done_keys = 0;
#if !defined(PORTABLE)
    if (key_stride == 1 && dtype == DTYPE && keys >= LANES) {
        NAME(bias_squares)(to, from, row_stride, rows, keys, width);
        done_rows = rows / LANES * LANES;
        done_keys = keys;
    }
#endif
    for (int64_t j = 0; j < keys; j++) {
        int out;
        for (int64_t r = j < done_keys ? done_rows : 0; r < rows; r++)
            to[j * width + r] =
                NAME(bias_log2)(NAME(bias_at)(from, dtype, r * row_stride + j * key_stride, &out));
        for (int64_t r = rows; r < width; r++) to[j * width + r] = 0;
    }
}
