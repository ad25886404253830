/* SPDX-License-Identifier: MIT */
/* isa_wide16.c - sixteen lanes in portable C: the wide tile logic on any machine. */
#include "cpu/cpu.h"
#define ISA_NAME wide16
#define ISA_ID QKV_ISA_WIDE16
#define ISA_NEEDS 0
#include "kernel/simd/simd_wide16.h"

#include "kernel/body/kernels.inc.c" /* after its vocabulary: the blank line keeps the order */
