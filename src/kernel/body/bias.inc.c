/* SPDX-License-Identifier: MIT */
/* bias.inc.c - a block of biases from the caller's rows to the form of a tile, [key][row], in log2 units
 * (rule 3), and which of them are -inf: those exclude their pair (rule 4). Decided on the stored
 * numbers, before anything is rounded.
 */

typedef ireal NAME(iquad) __attribute__((vector_size(4 * sizeof(real)), may_alias));

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
        uint16_t h;
        __builtin_memcpy(&h, (const char *)from + 2 * i, sizeof h);
        x = dtype == QKV_F16 ? qkvi_f16_widen(h) : qkvi_bf16_widen(h);
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
    const NAME(quad) out = {-inf, -inf, -inf, -inf};
    NAME(iquad) any = {0}, every = {-1, -1, -1, -1};
    uint64_t bits = 0;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        const NAME(iquad) is = *(const NAME(quad_u) *)(x + j) == out;
        any |= is;
        every &= is;
    }
    if (any[0] | any[1] | any[2] | any[3]) {
        if (every[0] & every[1] & every[2] & every[3])
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
    const int plain = key_stride == 1 && dtype == (REAL_BITS == 32 ? QKV_F32 : QKV_F64);
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

static void NAME(bias)(void *to_, const void *from, int32_t dtype, int64_t row_stride,
                       int64_t key_stride, int64_t rows, int64_t keys, int64_t width)
{
    real *const to = to_;
    const int plain = key_stride == 1 && dtype == (REAL_BITS == 32 ? QKV_F32 : QKV_F64);
    const int64_t rows4 = plain ? rows / 4 * 4 : 0, keys4 = keys / 4 * 4;
    const NAME(quad) high = {REAL_MAX, REAL_MAX, REAL_MAX, REAL_MAX};
    for (int64_t r = 0; r < rows4; r += 4)
        for (int64_t j = 0; j < keys4; j += 4) {
            NAME(quad) a[4];
            for (int i = 0; i < 4; i++) {
                const NAME(quad) x =
                    *(const NAME(quad_u) *)((const real_u *)from + (r + i) * row_stride + j) *
                    LOG2E;
                const NAME(iquad) over = x > high, under = x < -high;
                a[i] = (NAME(quad))((over & (NAME(iquad))high) | (under & (NAME(iquad))(-high)) |
                                    (~(over | under) & (NAME(iquad))x));
            }
            NAME(transpose4)(a);
            for (int i = 0; i < 4; i++) *(NAME(quad_u) *)(to + (j + i) * width + r) = a[i];
        }
    for (int64_t j = 0; j < keys; j++) {
        int out;
        for (int64_t r = j < keys4 ? rows4 : 0; r < rows; r++)
            to[j * width + r] =
                NAME(bias_log2)(NAME(bias_at)(from, dtype, r * row_stride + j * key_stride, &out));
        for (int64_t r = rows; r < width; r++) to[j * width + r] = 0;
    }
}
