/* SPDX-License-Identifier: MIT */
/* isa_scalar.c - one lane, baseline flags: the meaning of every other table. */
#include "cpu/cpu.h"
#define ISA_NAME scalar
#define ISA_ID QKV_ISA_SCALAR
#define ISA_NEEDS 0
#include "kernel/simd/simd_scalar.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
