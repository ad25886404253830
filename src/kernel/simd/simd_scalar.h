/* SPDX-License-Identifier: MIT */
/* simd_scalar.h - the vocabulary with one lane: a vector is a number.
 *
 * Its table is the one that every other must equal, so nothing here may be cleverer than the words.
 */
#define VBYTES 4
#define VREGISTERS 16
#define VBYTES64 8
#include "kernel/simd/simd_portable.h"
