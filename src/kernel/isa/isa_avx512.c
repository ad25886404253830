/* SPDX-License-Identifier: MIT */
/* isa_avx512.c - the table for AVX-512 F, VL, BW, DQ: 16 floats or 8 doubles a vector, 32
 * registers.
 *
 * All there is to say is in its vocabulary; the kernels are the same for all.
 */
#include "cpu/cpu.h"
#define ISA_NAME avx512
#define ISA_ID QKV_ISA_AVX512
#define ISA_NEEDS (QKVI_CPU_AVX512 | QKVI_CPU_AVX2 | QKVI_CPU_FMA)
#include "kernel/simd/simd_avx512.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
