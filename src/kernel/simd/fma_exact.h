/* SPDX-License-Identifier: MIT */
/* fma_exact.h - a * b + c with one rounding (nearest, ties to even), for processors that have no
 * fused multiply-add, without the C library. Slow and right: subnormals, signed zeros, overflow,
 * NaN.
 *
 * float: the product of two floats is exact in double; the sum is rounded to odd there, which keeps
 * the second rounding right (Boldo and Melquiond 2008). double: in 192-bit integers.
 */
#ifndef QKVI_FMA_EXACT_H
#define QKVI_FMA_EXACT_H

#include <stdint.h>

static inline float fma_exact_f32(float a, float b, float c)
{
    const double p = (double)a * (double)b; /* exact: 24 + 24 bits, exponents fit */
    const double z = (double)c;
    union {
        double x;
        uint64_t bits;
    } s = {p + z};
    /* the error of the sum, exact for any order of magnitudes (Knuth's two-sum) */
    const double pp = s.x - z;
    const double e = (p - pp) + (z - (s.x - pp));
    const int finite = (s.bits >> 52 & 0x7FF) != 0x7FF;
    if (finite && (e < 0 || e > 0) && !(s.bits & 1)) {
        /* inexact with an even last bit: step to the odd neighbour on the error's side */
        if ((e > 0) == (s.x > 0))
            s.bits += 1;
        else
            s.bits -= 1;
    }
    return (float)s.x;
}

/* x = (-1)^sign * mant * 2^exp, mant < 2^53 */
typedef struct fma_parts {
    uint64_t mant;
    int32_t exp;
    int32_t sign;
} fma_parts;

static inline fma_parts fma_split(double x)
{
    union {
        double x;
        uint64_t bits;
    } u = {x};
    const int32_t e = (int32_t)(u.bits >> 52 & 0x7FF);
    const uint64_t frac = u.bits & UINT64_C(0xFFFFFFFFFFFFF);
    return (fma_parts){e ? frac | UINT64_C(1) << 52 : frac, (e ? e : 1) - 1075,
                       (int32_t)(u.bits >> 63)};
}

/* (-1)^sign * (mant + sticky) * 2^exp rounded to double, ties to even; mant > 0; sticky: a part
 * smaller than the last bit of mant, and then mant >= 2^63 */
static inline double fma_round(int32_t sign, unsigned __int128 mant, int32_t exp, int sticky)
{
    const uint64_t high = (uint64_t)(mant >> 64);
    int32_t width = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)mant);
    int32_t drop = width - 53;                  /* bits below the result's last */
    if (exp + drop < -1074) drop = -1074 - exp; /* subnormal: its last bit is fixed */
    union {
        uint64_t bits;
        double x;
    } u;
    uint64_t m;
    if (drop <= 0) {
        m = (uint64_t)mant << -drop;
    } else if (drop > 127) {
        m = 0; /* below half of the smallest number */
    } else {
        m = (uint64_t)(mant >> drop);
        const unsigned __int128 rest = mant & (((unsigned __int128)1 << drop) - 1);
        const unsigned __int128 half = (unsigned __int128)1 << (drop - 1);
        if (rest > half || (rest == half && (sticky || (m & 1)))) m++;
    }
    int32_t e = exp + drop;
    if (m >> 53) { /* rounding up carried into a new bit */
        m >>= 1;
        e++;
    }
    if (m >> 52 && e + 1075 >= 2047) {
        u.bits = UINT64_C(0x7FF) << 52;
    } else if (m >> 52) {
        u.bits = (uint64_t)(e + 1075) << 52 | (m & UINT64_C(0xFFFFFFFFFFFFF));
    } else {
        u.bits = m; /* subnormal or zero */
    }
    u.bits |= (uint64_t)sign << 63;
    return u.x;
}

static inline double fma_exact_f64(double a, double b, double c)
{
    const double big = 0x1.fffffffffffffp+1023;
    const int finite = a >= -big && a <= big && b >= -big && b <= big && c >= -big && c <= big;
    const int zero = !(a < 0 || a > 0) || !(b < 0 || b > 0);
    if (!finite || zero) {
        /* a product that is zero, infinite or NaN adds like any other number, but a finite product
         * must not overflow on the way to an infinite c */
        const int c_inf = c > big || c < -big;
        const int ab_finite = a >= -big && a <= big && b >= -big && b <= big;
        return c_inf && ab_finite ? c : a * b + c;
    }
    const fma_parts pa = fma_split(a), pb = fma_split(b), pc = fma_split(c);
    const int32_t ps = pa.sign ^ pb.sign;
    unsigned __int128 pm = (unsigned __int128)pa.mant * pb.mant; /* < 2^106, > 0 */
    int32_t pe = pa.exp + pb.exp;
    if (pc.mant == 0) return fma_round(ps, pm, pe, 0);
    /* the larger exponent is brought down to the smaller one as far as 126 bits allow; what remains
     * of the other number below that is only sticky */
    unsigned __int128 cm = pc.mant;
    int32_t ce = pc.exp;
    int sticky_p = 0, sticky_c = 0;
    if (ce > pe) {
        const int32_t room = 126 - 53, want = ce - pe, up = want < room ? want : room;
        cm <<= up;
        ce -= up;
        if (ce > pe) {
            const int32_t down = ce - pe;
            sticky_p =
                down > 127 || (pm & (((unsigned __int128)1 << (down > 127 ? 0 : down)) - 1)) != 0;
            pm = down > 127 ? 0 : pm >> down;
            pe = ce;
        }
    } else if (pe > ce) {
        const int32_t room = 126 - 106, want = pe - ce, up = want < room ? want : room;
        pm <<= up;
        pe -= up;
        if (pe > ce) {
            const int32_t down = pe - ce;
            sticky_c =
                down > 127 || (cm & (((unsigned __int128)1 << (down > 127 ? 0 : down)) - 1)) != 0;
            cm = down > 127 ? 0 : cm >> down;
            ce = pe;
        }
    }
    if (ps == pc.sign) return fma_round(ps, pm + cm, pe, sticky_p | sticky_c);
    if (pm == cm) {
        if (!sticky_p && !sticky_c) return 0.0; /* exact cancellation: +0 to nearest */
    }
    /* a difference: a sticky part of the smaller number takes one unit from the larger and leaves a
     * sticky rest of its own */
    const int p_larger = pm > cm || (pm == cm && sticky_p);
    unsigned __int128 diff = p_larger ? pm - cm : cm - pm;
    const int sticky = sticky_p | sticky_c;
    if (sticky && (p_larger ? sticky_c : sticky_p)) diff -= 1;
    if (diff == 0) /* only the sticky part is left: far below the smallest subnormal, see above */
        return (p_larger ? ps : pc.sign) ? -0.0 : 0.0;
    return fma_round(p_larger ? ps : pc.sign, diff, pe, sticky);
}

#endif
