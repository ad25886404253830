/* SPDX-License-Identifier: MIT */
/* simd_avx2.h - the vocabulary in AVX2 with FMA and F16C: 8 floats, 4 doubles, 16 registers.
 *
 * max and round are the instructions themselves: max gives its second operand when a NaN is in.
 */
#include <immintrin.h>
#define VBYTES 32
#define VREGISTERS 16
#define VBYTES64 32
#include "kernel/simd/vocabulary.h"

#define sfma32(a, b, c) __builtin_fmaf((a), (b), (c)) /* one instruction with -mfma */
#define sfma64(a, b, c) __builtin_fma((a), (b), (c))

INLINE f32v vfma32(f32v a, f32v b, f32v c)
{
    return (f32v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
INLINE f64v vfma64(f64v a, f64v b, f64v c)
{
    return (f64v)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
INLINE f32v vmax32(f32v a, f32v b)
{
    return (f32v)_mm256_max_ps((__m256)a, (__m256)b);
}
INLINE f64v vmax64(f64v a, f64v b)
{
    return (f64v)_mm256_max_pd((__m256d)a, (__m256d)b);
}
INLINE f32v vrint32(f32v a)
{
    return (f32v)_mm256_round_ps((__m256)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE f64v vrint64(f64v a)
{
    return (f64v)_mm256_round_pd((__m256d)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE int vany32(i32v m)
{
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
}
INLINE int vany64(i64v m)
{
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
}
INLINE void vturn32(f32v *x)
{
    __m256 a[8], b[8];
    for (int i = 0; i < 4; i++) { /* pairs of rows, then of pairs, then the halves */
        a[2 * i] = _mm256_unpacklo_ps((__m256)x[2 * i], (__m256)x[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_ps((__m256)x[2 * i], (__m256)x[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            const __m256d low = (__m256d)a[i + j], high = (__m256d)a[i + j + 2];
            b[i + 2 * j] = (__m256)_mm256_unpacklo_pd(low, high);
            b[i + 2 * j + 1] = (__m256)_mm256_unpackhi_pd(low, high);
        }
    for (int i = 0; i < 4; i++) {
        x[i] = (f32v)_mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        x[i + 4] = (f32v)_mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}
INLINE void vturn64(f64v *x)
{
    __m256d a[4];
    for (int i = 0; i < 2; i++) {
        a[i] = _mm256_unpacklo_pd((__m256d)x[2 * i], (__m256d)x[2 * i + 1]);
        a[i + 2] = _mm256_unpackhi_pd((__m256d)x[2 * i], (__m256d)x[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        x[i] = (f64v)_mm256_permute2f128_pd(a[2 * i], a[2 * i + 1], 0x20);
        x[i + 2] = (f64v)_mm256_permute2f128_pd(a[2 * i], a[2 * i + 1], 0x31);
    }
}
INLINE f32v vbfloats32(const void *p)
{
    return (f32v)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16);
}
INLINE f32v vhalves32(const void *p)
{
    return (f32v)_mm256_cvtph_ps(_mm_loadu_si128(p));
}
/* 8 halves x 4 rows inside each 128-bit half, then the halves, by eights of bytes */
INLINE void vturn_f16(f32v *x)
{
    __m256i b[8];
    for (int i = 0; i < 8; i += 4) {
        const __m256i p = _mm256_unpacklo_epi16((__m256i)x[i], (__m256i)x[i + 1]),
                      q = _mm256_unpackhi_epi16((__m256i)x[i], (__m256i)x[i + 1]),
                      r = _mm256_unpacklo_epi16((__m256i)x[i + 2], (__m256i)x[i + 3]),
                      s = _mm256_unpackhi_epi16((__m256i)x[i + 2], (__m256i)x[i + 3]);
        b[i] = _mm256_unpacklo_epi32(p, r);
        b[i + 1] = _mm256_unpackhi_epi32(p, r);
        b[i + 2] = _mm256_unpacklo_epi32(q, s);
        b[i + 3] = _mm256_unpackhi_epi32(q, s);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = (f32v)_mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
        x[i + 4] = (f32v)_mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
}
INLINE void vpair_f16(const void *at, f32v *first, f32v *second)
{
    const __m256i sorted = _mm256_permute4x64_epi64(*(const __m256i *)at, 0xD8);
    *first = (f32v)_mm256_cvtph_ps(_mm256_castsi256_si128(sorted));
    *second = (f32v)_mm256_cvtph_ps(_mm256_extracti128_si256(sorted, 1));
}
#define vkeep32(x) __asm__ volatile("" : "+x"(x))
#define vkeep64(x) __asm__ volatile("" : "+x"(x))
#define vkeep_bits(x) __asm__ volatile("" : "+x"(x))
