/* SPDX-License-Identifier: MIT */
/* isa_avx512.c - AVX-512 F, VL, BW, DQ. */
#include "cpu/cpu.h"
#define ISA_NAME avx512
#define ISA_ID QKV_ISA_AVX512
#define ISA_NEEDS (QKVI_CPU_AVX512 | QKVI_CPU_AVX2 | QKVI_CPU_FMA)
#include "kernel/simd/simd_avx512.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
