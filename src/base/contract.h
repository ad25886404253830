/* SPDX-License-Identifier: MIT */
/* contract.h - the numbers of docs/numerics.md, their only home in the code: block and span sizes,
 * the polynomial of 2^x, log2. A change of anything here changes the bits of every result and needs
 * a new QKVI_CONTRACT.
 *
 * Rule numbers refer to docs/numerics.md.
 */
#ifndef QKVI_CONTRACT_H
#define QKVI_CONTRACT_H

#include <stdint.h>

#if defined(__FAST_MATH__)
#error "fast-math reorders arithmetic; docs/numerics.md fixes its order"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "excess precision changes results (x87); build for SSE2 or another IEEE target"
#endif

#define QKVI_CONTRACT 1

enum {
    QKVI_CHANNEL_GROUP = 128, /* rule 2: channels of one chain */
    QKVI_BLOCK = 128,         /* rule 5: keys of one block */
    QKVI_SUM_LANES = 16,      /* rule 8: lanes of the sum over a block */
    QKVI_SPAN_BLOCKS = 32,    /* rule 9: blocks folded left to right */
    QKVI_SPAN = QKVI_BLOCK * QKVI_SPAN_BLOCKS
};

#define QKVI_LOG2E 0x1.71547652b82fep+0
#define QKVI_LN2 0x1.62e42fefa39efp-1

/* rule 7: 2^g = 1 + c1 g + c2 g^2 + ... on [-1/2, 1/2], highest degree first */
#define QKVI_EXP2_F32                                                                              \
    0x1.5bba18p-10f, 0x1.3cea88p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f, 1.0f
#define QKVI_EXP2_F64                                                                              \
    0x1.e79bdde3bcf71p-32, 0x1.e61b4e984e8adp-28, 0x1.b5267cc67b52ep-24, 0x1.62bfc79de2854p-20,    \
        0x1.ffcbfba98cdffp-17, 0x1.4309130ed8914p-13, 0x1.5d87fe78cd6a8p-10, 0x1.3b2ab6fba011bp-7, \
        0x1.c6b08d7049fe8p-5, 0x1.ebfbdff82c5a4p-3, 0x1.62e42fefa39efp-1, 1.0
enum { QKVI_EXP2_TERMS_F32 = 6, QKVI_EXP2_TERMS_F64 = 12 };

/* rule 7: below this t - m a weight is +0 */
#define QKVI_EXP2_FLOOR_F32 (-127.0f)
#define QKVI_EXP2_FLOOR_F64 (-1023.0)
/* rule 3: beyond this exponent a softcap has reached its cap */
#define QKVI_SOFTCAP_TOP_F32 64.0f
#define QKVI_SOFTCAP_TOP_F64 128.0
/* adding this leaves the nearest integer in the low bits, ties to even; the fast form of rule 7
 * holds while |m| is at most the second number */
#define QKVI_ROUNDER_F32 0x1.8p+23f
#define QKVI_ROUNDER_F64 0x1.8p+52
#define QKVI_FAST_M_F32 0x1p+21f
#define QKVI_FAST_M_F64 0x1p+50

/* rule 11: log2 of a normal x > 0; plain float64, no fused operation */
static inline double qkvi_log2(double x)
{
    static const double a[11] = {0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1,
                                 0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2,
                                 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3, 0x1.5b9ac9b743f0dp-3,
                                 0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3};
    union {
        double x;
        uint64_t bits;
    } u = {x};
    int32_t k = (int32_t)(u.bits >> 52) - 1023;
    u.bits = (u.bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000);
    double z = u.x;
    if (z > 0x1.6a09e667f3bcdp+0) { /* sqrt 2 */
        z *= 0.5;
        k += 1;
    }
    const double s = (z - 1.0) / (z + 1.0);
    const double w = s * s;
    double r = a[10];
    for (int i = 9; i >= 0; i--) r = r * w + a[i];
    return (double)k + s * r;
}

/* rule 11: the row's lse from its maximum and sum (NaN stays NaN); the caller rounds to the type */
static inline double qkvi_lse(double m, double l)
{
    return l == l ? (m + qkvi_log2(l)) * QKVI_LN2 : l;
}

#endif
