/* SPDX-License-Identifier: MIT */
/* isa_neon.c - the table for NEON: 4 floats or 2 doubles a vector, 32 registers. Every aarch64
 * processor can run it.
 *
 * All there is to say is in its vocabulary; the kernels are the same for all.
 */
#include "cpu/cpu.h"
#define ISA_NAME neon
#define ISA_ID QKV_ISA_NEON
#define ISA_NEEDS 0
#include "kernel/simd/simd_neon.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
