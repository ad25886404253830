/* SPDX-License-Identifier: MIT */
/* half_lanes.h - f16 widened (rule 14) by integer operations on whole vectors, for instruction sets that
 * have no such conversion; base/half.h says the same for one number.
 */
/* the low halves of the lanes */
INLINE f32v vhalf32(u32v x)
{
    const u32v size = x & 0x7fff;
    const f32v tiny = __builtin_convertvector(size, f32v) * 0x1p-24f; /* subnormal: exact */
    const u32v is_tiny = (u32v)(size < 0x400), nan = (u32v)(size > 0x7c00) & 0x400000;
    const u32v usual = (size << 13) + 0x38000000; /* exponents are 112 apart */
    const u32v special = (u32v)(size >= 0x7c00) & 0x7f800000;
    return (f32v)((is_tiny & (u32v)tiny) | (~is_tiny & usual) | special | nan | (x & 0x8000) << 16);
}
INLINE f32v vbfloats32(const void *p)
{
    return (f32v)(__builtin_convertvector(*(const u16v_u *)p, u32v) << 16);
}
INLINE f32v vhalves32(const void *p)
{
    return vhalf32(__builtin_convertvector(*(const u16v_u *)p, u32v));
}
INLINE void vturn_f16(f32v *x)
{
    vturn32(x);
}
INLINE void vpair_f16(const void *at, f32v *first, f32v *second)
{
    const f32v x = *(const f32v *)at;
    *first = vhalf32(FIRST_HALF_LOW ? (u32v)x : (u32v)x >> 16);
    *second = vhalf32(FIRST_HALF_LOW ? (u32v)x >> 16 : (u32v)x);
}
