/* SPDX-License-Identifier: MIT */
/* isa_avx512.c - AVX-512 F, VL, BW, DQ. */
#include "cpu/cpu.h"
#define ISA_NAME avx512
#define ISA_ID QKV_ISA_AVX512
#define ISA_NEEDS (QKVI_CPU_AVX512 | QKVI_CPU_AVX2 | QKVI_CPU_FMA)
#include "kernel/body/kernels.inc.c"
#include "kernel/simd/simd_avx512.h"
