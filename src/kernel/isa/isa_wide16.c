/* SPDX-License-Identifier: MIT */
/* isa_wide16.c - the table with 64-byte vectors in plain C with baseline flags: the tile logic of a
 * wide machine, testable on any. Reached by name only, never chosen.
 */
#include "cpu/cpu.h"
#define ISA_NAME wide16
#define ISA_ID QKV_ISA_WIDE16
#define ISA_NEEDS 0
#include "kernel/simd/simd_wide16.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
