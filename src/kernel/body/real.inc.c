/* SPDX-License-Identifier: MIT */
/* real.inc.c - the names that the bodies speak, for REAL_BITS 32 or 64, then the bodies. `real` is
 * the number, `vec` a vector of LANES of them, `ivec` integers of the same
 * width, `uvec` where they may wrap.
 */
#if REAL_BITS == 32
#define NAME(x) x##_f32
#define real float
#define real_u f32u
#define ireal int32_t
#define ireal_u i32u
#define vec f32v
#define ivec i32v
#define uvec u32v
#define LANES (VBYTES / 4)
#define DTYPE QKV_F32
#define vfma vfma32
#define vmax vmax32
#define vrint vrint32
#define vany vany32
#define vkeep vkeep32
#define vturn vturn32
#define sfma sfma32
#define MANTISSA 23
#define BIAS 127
#define ROUNDER QKVI_ROUNDER_F32
#define ROUNDER_BITS INT32_C(0x4B400000)
#define FAST_M QKVI_FAST_M_F32
#define EXP2_FLOOR QKVI_EXP2_FLOOR_F32
#define EXP2 QKVI_EXP2_F32
#define EXP2_TERMS QKVI_EXP2_TERMS_F32
#define EXPONENT_MASK INT32_C(0x7F800000)
#define WILD_BIT INT32_C(0x40000000) /* clear in every |x| < 2, set in NaN */
#define QUIET_NAN INT32_C(0x7FC00000)
#define SIGN_BIT UINT32_C(0x80000000)
/* bits of 2^-80 ... 2^100, and of 2^-20 ... 2^60 */
#define QUOTIENT_FROM UINT32_C(0x17800000)
#define QUOTIENT_RANGE (UINT32_C(180) << 23)
#define QUOTIENT_L_FROM UINT32_C(0x35800000)
#define QUOTIENT_L_RANGE (UINT32_C(80) << 23)
#define LN2 ((float)QKVI_LN2)
#define LOG2E ((float)QKVI_LOG2E)
#define REAL_MAX 0x1.fffffep+127f
#define SOFTCAP_TOP QKVI_SOFTCAP_TOP_F32
#define INTEGERS_FROM 0x1p+23f
#else
#define NAME(x) x##_f64
#define real double
#define real_u f64u
#define ireal int64_t
#define ireal_u i64u
#define vec f64v
#define ivec i64v
#define uvec u64v
#define LANES (VBYTES64 / 8)
#define DTYPE QKV_F64
#define vfma vfma64
#define vmax vmax64
#define vrint vrint64
#define vany vany64
#define vkeep vkeep64
#define vturn vturn64
#define sfma sfma64
#define MANTISSA 52
#define BIAS 1023
#define ROUNDER QKVI_ROUNDER_F64
#define ROUNDER_BITS INT64_C(0x4338000000000000)
#define FAST_M QKVI_FAST_M_F64
#define EXP2_FLOOR QKVI_EXP2_FLOOR_F64
#define EXP2 QKVI_EXP2_F64
#define EXP2_TERMS QKVI_EXP2_TERMS_F64
#define EXPONENT_MASK INT64_C(0x7FF0000000000000)
#define WILD_BIT INT64_C(0x4000000000000000)
#define QUIET_NAN INT64_C(0x7FF8000000000000)
#define SIGN_BIT UINT64_C(0x8000000000000000)
#define QUOTIENT_FROM UINT64_C(0x3AF0000000000000)
#define QUOTIENT_RANGE (UINT64_C(180) << 52)
#define QUOTIENT_L_FROM UINT64_C(0x3EB0000000000000)
#define QUOTIENT_L_RANGE (UINT64_C(80) << 52)
#define LN2 QKVI_LN2
#define LOG2E QKVI_LOG2E
#define REAL_MAX 0x1.fffffffffffffp+1023
#define SOFTCAP_TOP QKVI_SOFTCAP_TOP_F64
#define INTEGERS_FROM 0x1p+52
#endif

#include "kernel/body/word.inc.c"

/* an order of need */
/* clang-format off */
#include "kernel/body/half.inc.c"
#include "kernel/body/pack.inc.c"
#include "kernel/body/bias.inc.c"
#include "kernel/body/score.inc.c"
#include "kernel/body/change.inc.c"
#include "kernel/body/weigh.inc.c"
#include "kernel/body/drop.inc.c"
#include "kernel/body/blend.inc.c"
#include "kernel/body/near.inc.c"
#include "kernel/body/few_score.inc.c"
#include "kernel/body/few_weigh.inc.c"
#include "kernel/body/few_blend.inc.c"
#include "kernel/body/finish.inc.c"
#include "kernel/body/show.inc.c"
#include "kernel/body/probe_fma.inc.c"
/* clang-format on */

#undef NAME
#undef real
#undef real_u
#undef ireal
#undef ireal_u
#undef vec
#undef ivec
#undef uvec
#undef LANES
#undef DTYPE
#undef vfma
#undef vmax
#undef vrint
#undef vany
#undef vkeep
#undef vturn
#undef sfma
#undef MANTISSA
#undef BIAS
#undef ROUNDER
#undef ROUNDER_BITS
#undef FAST_M
#undef EXP2_FLOOR
#undef EXP2
#undef EXP2_TERMS
#undef EXPONENT_MASK
#undef WILD_BIT
#undef QUIET_NAN
#undef LN2
#undef SIGN_BIT
#undef QUOTIENT_FROM
#undef QUOTIENT_RANGE
#undef QUOTIENT_L_FROM
#undef QUOTIENT_L_RANGE
#undef LOG2E
#undef REAL_MAX
#undef SOFTCAP_TOP
#undef INTEGERS_FROM
