/* SPDX-License-Identifier: MIT */
/* word.inc.c - the smallest pieces: loads, bits of a number, exact powers of two, the selection
 * that exclusion is made of.
 */
#define R_(x) ((real)(x))

typedef real NAME(vec_u) __attribute__((vector_size(LANES * sizeof(real)), aligned(1), may_alias));

INLINE vec NAME(load_any)(const void *p) /* any address */
{
    return *(const NAME(vec_u) *)p;
}
INLINE vec NAME(load)(const real *p) /* aligned: workspace only */
{
    return *(const vec *)(const void *)p;
}
INLINE void NAME(store)(real *p, vec x)
{
    *(vec *)(void *)p = x;
}
INLINE vec NAME(all)(real x)
{
    return x - (vec){0}; /* x + 0 would turn -0 into +0 */
}
INLINE vec NAME(select)(ivec mask, vec a, vec b)
{
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
}
INLINE ireal NAME(bits)(real x)
{
    union {
        real x;
        ireal bits;
    } u = {x};
    return u.bits;
}
INLINE real NAME(from_bits)(ireal bits)
{
    union {
        ireal bits;
        real x;
    } u = {bits};
    return u.x;
}
/* every NaN that leaves the library is this one (rule 11) */
INLINE real NAME(canonical)(real x)
{
    return x == x ? x : NAME(from_bits)(QUIET_NAN);
}
INLINE int NAME(is_dead)(real m)
{
    return m == -R_(__builtin_inff());
}
/* 2^x for an integer x <= 0; +0 below the normal range, for -inf and for NaN (two dead sides) */
INLINE vec NAME(power2)(vec x)
{
    x = vmax(x, NAME(all)(R_(-BIAS)));
    const vec r = x + ROUNDER;
    return (vec)(((uvec)r - (ROUNDER_BITS - BIAS)) << MANTISSA);
}
INLINE real NAME(power2_one)(real x)
{
    if (!(x >= R_(1 - BIAS))) return R_(0);
    return NAME(from_bits)((ireal)((ireal)x + BIAS) << MANTISSA);
}
#undef R_
