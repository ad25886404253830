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
#define vkeep32(x) __asm__ volatile("" : "+v"(x))
#define vkeep64(x) __asm__ volatile("" : "+v"(x))
#define vkeep_bits(x) __asm__ volatile("" : "+v"(x))
