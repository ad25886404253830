/* SPDX-License-Identifier: MIT */
/* simd_portable.h - the vocabulary in plain C for any number of lanes (VBYTES, VBYTES64 set by the
 * includer). Where the processor has fused multiply-add at the baseline it is used; elsewhere it is
 * computed exactly in software: slow, with the same bits.
 */
#include "kernel/simd/vocabulary.h"

#if defined(__FMA__) || defined(__aarch64__) || defined(__s390x__) || defined(__powerpc64__)
#define sfma32(a, b, c) __builtin_fmaf((a), (b), (c))
#define sfma64(a, b, c) __builtin_fma((a), (b), (c))
#else
#include "kernel/simd/fma_exact.h"
static __attribute__((noinline)) float sfma32(float a, float b, float c)
{
    return fma_exact_f32(a, b, c);
}
static __attribute__((noinline)) double sfma64(double a, double b, double c)
{
    return fma_exact_f64(a, b, c);
}
#endif
#define PORTABLE

#if VBYTES > 16 /* a wide vector is a loop here, and there are many places */
#define CALLED static __attribute__((noinline))
#else
#define CALLED INLINE
#endif

enum { PORTABLE_LANES32 = VBYTES / 4, PORTABLE_LANES64 = VBYTES64 / 8 };

CALLED f32v vfma32(f32v a, f32v b, f32v c)
{
    for (int i = 0; i < PORTABLE_LANES32; i++) c[i] = sfma32(a[i], b[i], c[i]);
    return c;
}
CALLED f64v vfma64(f64v a, f64v b, f64v c)
{
    for (int i = 0; i < PORTABLE_LANES64; i++) c[i] = sfma64(a[i], b[i], c[i]);
    return c;
}
CALLED f32v vmax32(f32v a, f32v b)
{
    const i32v m = a > b;
    return (f32v)((m & (i32v)a) | (~m & (i32v)b));
}
CALLED f64v vmax64(f64v a, f64v b)
{
    const i64v m = a > b;
    return (f64v)((m & (i64v)a) | (~m & (i64v)b));
}
/* adding and taking away 1.5 * 2^23 rounds; from 2^22 on (and NaN) a number is an integer already
 * or is left to the caller, who only rounds a block's maximum this way */
INLINE float srint32(float x)
{
    const float r = (x + 0x1.8p+23f) - 0x1.8p+23f;
    return x >= -0x1p+22f && x <= 0x1p+22f ? r
           : x >= -0x1p+23f && x <= 0x1p+23f
               ? (x < 0 ? -((-x + 0x1p+23f) - 0x1p+23f) : (x + 0x1p+23f) - 0x1p+23f)
               : x;
}
INLINE double srint64(double x)
{
    const double r = (x + 0x1.8p+52) - 0x1.8p+52;
    return x >= -0x1p+51 && x <= 0x1p+51 ? r
           : x >= -0x1p+52 && x <= 0x1p+52
               ? (x < 0 ? -((-x + 0x1p+52) - 0x1p+52) : (x + 0x1p+52) - 0x1p+52)
               : x;
}
CALLED f32v vrint32(f32v a)
{
    for (int i = 0; i < PORTABLE_LANES32; i++) a[i] = srint32(a[i]);
    return a;
}
CALLED f64v vrint64(f64v a)
{
    for (int i = 0; i < PORTABLE_LANES64; i++) a[i] = srint64(a[i]);
    return a;
}
CALLED int vany32(i32v m)
{
    int32_t any = 0;
    for (int i = 0; i < PORTABLE_LANES32; i++) any |= m[i];
    return any != 0;
}
CALLED int vany64(i64v m)
{
    int64_t any = 0;
    for (int i = 0; i < PORTABLE_LANES64; i++) any |= m[i];
    return any != 0;
}
INLINE void vturn32(f32v *x)
{
    for (int i = 1; i < PORTABLE_LANES32; i++)
        for (int j = 0; j < i; j++) {
            const float y = x[i][j];
            x[i][j] = x[j][i];
            x[j][i] = y;
        }
}
INLINE void vturn64(f64v *x)
{
    for (int i = 1; i < PORTABLE_LANES64; i++)
        for (int j = 0; j < i; j++) {
            const double y = x[i][j];
            x[i][j] = x[j][i];
            x[j][i] = y;
        }
}
#include "kernel/simd/half_lanes.h"
#define vkeep32(x) __asm__ volatile("" : "+m"(x))
#define vkeep64(x) __asm__ volatile("" : "+m"(x))
#define vkeep_bits(x) __asm__ volatile("" : "+m"(x))
