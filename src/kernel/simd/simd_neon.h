/* SPDX-License-Identifier: MIT */
/* simd_neon.h - the vocabulary in NEON as every aarch64 processor has it: 4 floats, 2 doubles, 32
 * registers, fused multiply-add, rounding to the nearest integer, f16 widened.
 *
 * The instructions that give a maximum keep a NaN, or drop it, on both sides alike; the words want the
 * second operand then, so max is a comparison and a selection.
 */
#include <arm_neon.h>
#define VBYTES 16
#define VREGISTERS 32
#define VBYTES64 16
#include "kernel/simd/vocabulary.h"

#define sfma32(a, b, c) __builtin_fmaf((a), (b), (c)) /* one instruction */
#define sfma64(a, b, c) __builtin_fma((a), (b), (c))

INLINE f32v vfma32(f32v a, f32v b, f32v c)
{
    return (f32v)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
INLINE f64v vfma64(f64v a, f64v b, f64v c)
{
    return (f64v)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
INLINE f32v vmax32(f32v a, f32v b)
{
    return (f32v)vbslq_f32(vcgtq_f32((float32x4_t)a, (float32x4_t)b), (float32x4_t)a,
                           (float32x4_t)b);
}
INLINE f64v vmax64(f64v a, f64v b)
{
    return (f64v)vbslq_f64(vcgtq_f64((float64x2_t)a, (float64x2_t)b), (float64x2_t)a,
                           (float64x2_t)b);
}
INLINE f32v vrint32(f32v a)
{
    return (f32v)vrndnq_f32((float32x4_t)a);
}
INLINE f64v vrint64(f64v a)
{
    return (f64v)vrndnq_f64((float64x2_t)a);
}
INLINE int vany32(i32v m)
{
    return vmaxvq_u32((uint32x4_t)m) != 0;
}
INLINE int vany64(i64v m)
{
    return vmaxvq_u32((uint32x4_t)m) != 0;
}
INLINE void vturn32(f32v *x)
{
    float64x2_t a[4];
    for (int i = 0; i < 4; i += 2) { /* pairs of rows, then of pairs */
        a[i] = (float64x2_t)vtrn1q_f32((float32x4_t)x[i], (float32x4_t)x[i + 1]);
        a[i + 1] = (float64x2_t)vtrn2q_f32((float32x4_t)x[i], (float32x4_t)x[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        x[i] = (f32v)vtrn1q_f64(a[i], a[i + 2]);
        x[i + 2] = (f32v)vtrn2q_f64(a[i], a[i + 2]);
    }
}
INLINE void vturn64(f64v *x)
{
    const float64x2_t a = (float64x2_t)x[0], b = (float64x2_t)x[1];
    x[0] = (f64v)vtrn1q_f64(a, b);
    x[1] = (f64v)vtrn2q_f64(a, b);
}
INLINE f32v vbfloats32(const void *p)
{
    return (f32v)vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16);
}
INLINE f32v vhalves32(const void *p)
{
    return (f32v)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
}
INLINE void vturn_f16(f32v *x)
{
    vturn32(x);
}
INLINE void vpair_f16(const void *at, f32v *first, f32v *second)
{
    const uint32x4_t pair = *(const uint32x4_t *)at;
    *first = (f32v)vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32(pair)));
    *second = (f32v)vcvt_f32_f16(vreinterpret_f16_u16(vshrn_n_u32(pair, 16)));
}
#define vkeep32(x) __asm__ volatile("" : "+w"(x))
#define vkeep64(x) __asm__ volatile("" : "+w"(x))
#define vkeep_bits(x) __asm__ volatile("" : "+w"(x))
