/* SPDX-License-Identifier: MIT */
/* simd_scalar.h - the vocabulary with one lane: the table that every other one must equal. */
#define VBYTES 4
#define VREGISTERS 16
#define VBYTES64 8
#include "kernel/simd/simd_portable.h"
