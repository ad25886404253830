/* SPDX-License-Identifier: MIT */
/* simd_avx512.h - the vocabulary in AVX-512 (F, VL, BW, DQ): 16 floats, 8 doubles, 32 registers.
 *
 * max and round are the instructions themselves: max gives its second operand when a NaN is in.
 */
#include <immintrin.h>
#define VBYTES 64
#define VREGISTERS 32
#define VBYTES64 64
#include "kernel/simd/vocabulary.h"

#define sfma32(a, b, c) __builtin_fmaf((a), (b), (c)) /* one instruction with -mfma */
#define sfma64(a, b, c) __builtin_fma((a), (b), (c))

INLINE f32v vfma32(f32v a, f32v b, f32v c)
{
    return (f32v)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
INLINE f64v vfma64(f64v a, f64v b, f64v c)
{
    return (f64v)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
INLINE f32v vmax32(f32v a, f32v b)
{
    return (f32v)_mm512_max_ps((__m512)a, (__m512)b);
}
INLINE f64v vmax64(f64v a, f64v b)
{
    return (f64v)_mm512_max_pd((__m512d)a, (__m512d)b);
}
INLINE f32v vrint32(f32v a)
{
    return (f32v)_mm512_roundscale_ps((__m512)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE f64v vrint64(f64v a)
{
    return (f64v)_mm512_roundscale_pd((__m512d)a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
INLINE int vany32(i32v m)
{
    return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0;
}
INLINE int vany64(i64v m)
{
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
}
/* 4 x 4 inside each 128-bit quarter, then the quarters */
INLINE void vturn32(f32v *x)
{
    __m512 a[16], b[16];
    for (int i = 0; i < 8; i++) {
        a[2 * i] = _mm512_unpacklo_ps((__m512)x[2 * i], (__m512)x[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_ps((__m512)x[2 * i], (__m512)x[2 * i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int j = 0; j < 2; j++) {
            const __m512d low = (__m512d)a[i + j], high = (__m512d)a[i + j + 2];
            b[i + 2 * j] = (__m512)_mm512_unpacklo_pd(low, high);
            b[i + 2 * j + 1] = (__m512)_mm512_unpackhi_pd(low, high);
        }
    for (int i = 0; i < 4; i++) {
        const __m512 p = _mm512_shuffle_f32x4(b[i], b[i + 4], 0x88),
                     q = _mm512_shuffle_f32x4(b[i], b[i + 4], 0xDD),
                     r = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0x88),
                     s = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0xDD);
        x[i] = (f32v)_mm512_shuffle_f32x4(p, r, 0x88);
        x[i + 4] = (f32v)_mm512_shuffle_f32x4(q, s, 0x88);
        x[i + 8] = (f32v)_mm512_shuffle_f32x4(p, r, 0xDD);
        x[i + 12] = (f32v)_mm512_shuffle_f32x4(q, s, 0xDD);
    }
}
INLINE void vturn64(f64v *x)
{
    __m512d a[8];
    for (int i = 0; i < 4; i++) {
        a[i] = _mm512_unpacklo_pd((__m512d)x[2 * i], (__m512d)x[2 * i + 1]);
        a[i + 4] = _mm512_unpackhi_pd((__m512d)x[2 * i], (__m512d)x[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        const __m512d p = _mm512_shuffle_f64x2(a[4 * i], a[4 * i + 1], 0x88),
                      q = _mm512_shuffle_f64x2(a[4 * i], a[4 * i + 1], 0xDD),
                      r = _mm512_shuffle_f64x2(a[4 * i + 2], a[4 * i + 3], 0x88),
                      s = _mm512_shuffle_f64x2(a[4 * i + 2], a[4 * i + 3], 0xDD);
        x[i] = (f64v)_mm512_shuffle_f64x2(p, r, 0x88);
        x[i + 2] = (f64v)_mm512_shuffle_f64x2(q, s, 0x88);
        x[i + 4] = (f64v)_mm512_shuffle_f64x2(p, r, 0xDD);
        x[i + 6] = (f64v)_mm512_shuffle_f64x2(q, s, 0xDD);
    }
}
INLINE f32v vbfloats32(const void *p)
{
    return (f32v)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16);
}
INLINE f32v vhalves32(const void *p)
{
    return (f32v)_mm512_cvtph_ps(_mm256_loadu_si256(p));
}
/* 8 halves x 4 rows inside each 128-bit quarter, then the quarters, by eights of bytes */
INLINE void vturn_f16(f32v *x)
{
    const __m512i first = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0),
                  last = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    __m512 b[16];
    for (int i = 0; i < 16; i += 4) {
        const __m512i p = _mm512_unpacklo_epi16((__m512i)x[i], (__m512i)x[i + 1]),
                      q = _mm512_unpackhi_epi16((__m512i)x[i], (__m512i)x[i + 1]),
                      r = _mm512_unpacklo_epi16((__m512i)x[i + 2], (__m512i)x[i + 3]),
                      s = _mm512_unpackhi_epi16((__m512i)x[i + 2], (__m512i)x[i + 3]);
        b[i] = (__m512)_mm512_unpacklo_epi32(p, r);
        b[i + 1] = (__m512)_mm512_unpackhi_epi32(p, r);
        b[i + 2] = (__m512)_mm512_unpacklo_epi32(q, s);
        b[i + 3] = (__m512)_mm512_unpackhi_epi32(q, s);
    }
    for (int i = 0; i < 4; i++) {
        const __m512i p = (__m512i)_mm512_shuffle_f32x4(b[i], b[i + 4], 0x88),
                      q = (__m512i)_mm512_shuffle_f32x4(b[i], b[i + 4], 0xDD),
                      r = (__m512i)_mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0x88),
                      s = (__m512i)_mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0xDD);
        x[i] = (f32v)_mm512_permutex2var_epi64(p, first, r);
        x[i + 4] = (f32v)_mm512_permutex2var_epi64(q, first, s);
        x[i + 8] = (f32v)_mm512_permutex2var_epi64(p, last, r);
        x[i + 12] = (f32v)_mm512_permutex2var_epi64(q, last, s);
    }
}
INLINE void vpair_f16(const void *at, f32v *first, f32v *second)
{
    /* converting what is loaded needs no shuffle, and shuffles are what this waits for */
    *first = vhalves32(at);
    *second = vhalves32((const uint16_t *)at + 16);
}
#define vkeep32(x) __asm__ volatile("" : "+v"(x))
#define vkeep64(x) __asm__ volatile("" : "+v"(x))
#define vkeep_bits(x) __asm__ volatile("" : "+v"(x))
