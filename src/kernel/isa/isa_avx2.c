/* SPDX-License-Identifier: MIT */
/* isa_avx2.c - the table for AVX2 with FMA and F16C: 8 floats or 4 doubles a vector, 16 registers.
 *
 * All there is to say is in its vocabulary; the kernels are the same for all.
 */
#include "cpu/cpu.h"
#define ISA_NAME avx2
#define ISA_ID QKV_ISA_AVX2
#define ISA_NEEDS (QKVI_CPU_AVX2 | QKVI_CPU_FMA | QKVI_CPU_F16C)
#include "kernel/simd/simd_avx2.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
