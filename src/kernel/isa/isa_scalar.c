/* SPDX-License-Identifier: MIT */
/* isa_scalar.c - one lane, baseline flags: the meaning of every other table. */
#include "cpu/cpu.h"
#define ISA_NAME scalar
#define ISA_ID QKV_ISA_SCALAR
#define ISA_NEEDS 0
#include "kernel/body/kernels.inc.c"
#include "kernel/simd/simd_scalar.h"
