/* SPDX-License-Identifier: MIT */
/* half.inc.c - rows of another type into `real`, and `real` into rows of another type (rule 14), with
 * integer operations that every instruction set has: eight numbers at a time where channels are
 * adjacent, one by one elsewhere. base/half.h says the same for single numbers.
 *
 * The caller's memory may lie at any byte address; nothing beyond a row's last channel is touched.
 */
#if REAL_BITS == 32

typedef uint16_t half_u __attribute__((aligned(1), may_alias));
typedef float f32v_u __attribute__((vector_size(VBYTES), aligned(1), may_alias));
typedef uint16_t half8 __attribute__((vector_size(16), may_alias));
typedef uint16_t half8_u __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t word8 __attribute__((vector_size(32), may_alias));
typedef float float8 __attribute__((vector_size(32), may_alias));
typedef float float8_u __attribute__((vector_size(32), aligned(1), may_alias));

#define CHOOSE8(mask, a, b) (((word8)(mask) & (a)) | (~(word8)(mask) & (b)))

INLINE void narrow8(half_u *to, const float *from, const int32_t dtype)
{
    const float8 x = *(const float8_u *)from;
    const word8 bits = (word8)x, size = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    word8 h;
    if (dtype == QKV_BF16) {
        h = (size + 0x7fff + (size >> 16 & 1)) >> 16;
    } else {
        const word8 usual = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
        const word8 tiny = (word8)((float8)size + 0.5f) - 0x3f000000; /* in units of 2^-24 */
        h = CHOOSE8(size < 0x38800000, tiny, usual);
        h = CHOOSE8(size >= 0x47800000, h * 0 + 0x7c00, h); /* 2^16 and beyond */
    }
    h |= (word8)(h != 0) & sign; /* a zero is +0 */
    h = CHOOSE8(x == x, h, h * 0 + (dtype == QKV_BF16 ? 0x7fc0 : 0x7e00));
    *(half8_u *)to = __builtin_convertvector(h, half8);
}

INLINE float half_at(const void *p, const int32_t dtype)
{
    return qkvi_half_at(p, dtype == QKV_BF16);
}

INLINE void widen_row(float *to, const half_u *from, int64_t step, int64_t n, const int32_t dtype)
{
    int64_t c = 0;
    if (step == 1)
        for (; c + LANES <= n; c += LANES)
            *(f32v_u *)(to + c) = dtype == QKV_BF16 ? vbfloats32(from + c) : vhalves32(from + c);
    for (; c < n; c++) to[c] = half_at(from + c * step, dtype);
}

INLINE void narrow_row(half_u *to, const float *from, int64_t step, int64_t n, const int32_t dtype)
{
    int64_t c = 0;
    if (step == 1)
        for (; c + 8 <= n; c += 8) narrow8(to + c, from + c, dtype);
    for (; c < n; c++) {
        const double x = (double)from[c];
        const uint16_t h = dtype == QKV_BF16 ? qkvi_bf16_narrow(x) : qkvi_f16_narrow(x);
        to[c * step] = h == 0x8000 ? 0 : h;
    }
}

static void widen_f32(void *to, const void *from, int32_t dtype, int64_t row_stride,
                      int64_t channel_stride, int64_t rows, int64_t channels)
{
    float *x = to;
    const half_u *p = from;
    for (int64_t r = 0; r < rows; r++, x += channels, p += row_stride)
        if (dtype == QKV_BF16)
            widen_row(x, p, channel_stride, channels, QKV_BF16);
        else
            widen_row(x, p, channel_stride, channels, QKV_F16);
}

static void narrow_f32(void *to, const void *from, int32_t dtype, int64_t row_stride,
                       int64_t channel_stride, int64_t rows, int64_t channels)
{
    half_u *p = to;
    f64u *wide = to;
    const float *x = from;
    for (int64_t r = 0; r < rows; r++, x += channels, p += row_stride, wide += row_stride)
        if (dtype == QKV_F64)
            for (int64_t c = 0; c < channels; c++) wide[c * channel_stride] = (double)x[c];
        else if (dtype == QKV_BF16)
            narrow_row(p, x, channel_stride, channels, QKV_BF16);
        else
            narrow_row(p, x, channel_stride, channels, QKV_F16);
}

#else

static void widen_f64(void *to, const void *from, int32_t dtype, int64_t row_stride,
                      int64_t channel_stride, int64_t rows, int64_t channels)
{
    double *x = to;
    const f32u *single = from;
    const half_u *half = from;
    for (int64_t r = 0; r < rows; r++, x += channels)
        for (int64_t c = 0; c < channels; c++) {
            const int64_t i = r * row_stride + c * channel_stride;
            x[c] = (double)(dtype == QKV_F32 ? single[i] : half_at(half + i, dtype));
        }
}

static void narrow_f64(void *to, const void *from, int32_t dtype, int64_t row_stride,
                       int64_t channel_stride, int64_t rows, int64_t channels)
{
    f32u *const single = to;
    half_u *const half = to;
    const double *x = from;
    for (int64_t r = 0; r < rows; r++, x += channels)
        for (int64_t c = 0; c < channels; c++) {
            const int64_t i = r * row_stride + c * channel_stride;
            if (dtype == QKV_F32) {
                const float y = (float)x[c];
                const qkvi_word32 nan = {.bits = UINT32_C(0x7fc00000)};
                single[i] = y == y ? y + 0 : nan.x;
            } else {
                const uint16_t h =
                    dtype == QKV_BF16 ? qkvi_bf16_narrow(x[c]) : qkvi_f16_narrow(x[c]);
                half[i] = h == 0x8000 ? 0 : h;
            }
        }
}

#endif
