/* SPDX-License-Identifier: MIT */
/* isa_scalar.c - the table with one lane, in plain C with baseline flags: it runs everywhere and is
 * the meaning of every other one (tests/kernel/checkkernel.c compares bit for bit).
 */
#include "cpu/cpu.h"
#define ISA_NAME scalar
#define ISA_ID QKV_ISA_SCALAR
#define ISA_NEEDS 0
#include "kernel/simd/simd_scalar.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
