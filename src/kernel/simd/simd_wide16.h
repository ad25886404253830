/* SPDX-License-Identifier: MIT */
/* simd_wide16.h - the vocabulary with 64-byte vectors in portable C: the shape of AVX-512 (16
 * floats, 8 doubles) on any machine, so that its tile logic is tested where no such processor is.
 */
#define VBYTES 64
#define VREGISTERS 32
#define VBYTES64 64
#include "kernel/simd/simd_portable.h"
