/* SPDX-License-Identifier: MIT */
/* cpu.h - what this machine can do, as bits. A kernel table states what it needs in the same bits,
 * as constant data: no code compiled for an instruction set decides whether it may run.
 */
#ifndef QKVI_CPU_H
#define QKVI_CPU_H

#include <stdint.h>

#define QKVI_CPU_AVX2 UINT32_C(1)
#define QKVI_CPU_FMA UINT32_C(2)
#define QKVI_CPU_F16C UINT32_C(8)
#define QKVI_CPU_AVX512 UINT32_C(4) /* F, VL, BW and DQ, and the system saves their registers */

uint32_t qkvi_cpu(void);

#endif
