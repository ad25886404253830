/* SPDX-License-Identifier: MIT */
/* kernels.inc.c - included by each isa/isa_<name>.c after its vocabulary: every kernel once for
 * float, once for double, the measuring loops, and the table. Nothing here is visible outside but
 * the table.
 */
#include "kernel/kernels.h"
#include "base/contract.h"
#include "base/half.h"
#include "kernel/simd/env.h"
#include <qkv/types.h>

#if defined(PORTABLE) /* its fma is a function: unrolling would only grow the code */
#define UNROLL(n)
#define UNROLL_ALL
#elif defined(__clang__)
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(clang loop unroll_count(n))
#define UNROLL_ALL _Pragma("clang loop unroll(full)")
#else
#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(GCC unroll n)
#define UNROLL_ALL _Pragma("GCC unroll 32")
#endif
#define NOINLINE static __attribute__((noinline))
#if defined(PORTABLE)
#define HOT NOINLINE /* one function for all shapes: small */
#else
#define HOT INLINE /* one function for each shape: fast */
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define QUOTE_(a) #a
#define QUOTE(a) QUOTE_(a)

/* Chains in registers: 3 vectors x this many broadcast numbers. Each step loads 3 + BROADCASTS
 * numbers for 3 * BROADCASTS fused multiply-adds, so more is better as long as nothing spills. */
enum { BROADCASTS = VREGISTERS >= 32 ? 8 : 4 };
/* a strip of values, and a line so that equal keys of all strips do not fall into one cache set */
enum { STRIP_STEP = QKVI_BLOCK * BROADCASTS + 16 };
#if VREGISTERS >= 32
#define UNROLL_STEPS UNROLL(1)
#else
#define UNROLL_STEPS UNROLL(2)
#endif

/* how a block joins what a row has: nothing yet, no rescale needed, or the whole of rule 9 */
enum { FOLD_FRESH, FOLD_ADD, FOLD_RESCALE };

#define REAL_BITS 32
#include "kernel/body/real.inc.c"
#undef REAL_BITS
#define REAL_BITS 64
#include "kernel/body/real.inc.c"
#undef REAL_BITS

#include "kernel/body/probe.inc.c"

const qkvi_kernels PASTE(qkvi_kernels_, ISA_NAME) = {
    .name = QUOTE(ISA_NAME),
    .id = ISA_ID,
    .needs = ISA_NEEDS,
#define QKVI_OP(name, parameters) .name = name##_f32,
    .f32 =
        {
            .lanes = VBYTES / 4,
            .strip = BROADCASTS,
            .strip_step = STRIP_STEP,
#include "kernel/ops.inc"
        },
#undef QKVI_OP
#define QKVI_OP(name, parameters) .name = name##_f64,
    .f64 =
        {
            .lanes = VBYTES64 / 8,
            .strip = BROADCASTS,
            .strip_step = STRIP_STEP,
#include "kernel/ops.inc"
        },
#undef QKVI_OP
    .env_enter = env_enter,
    .env_leave = env_leave,
    .probe_fma32 = probe_fma_f32,
    .probe_fma64 = probe_fma_f64,
    .probe_fed32 = probe_fed_f32,
    .probe_fed64 = probe_fed_f64,
    .probe_read = probe_read,
};
