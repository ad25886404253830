/* SPDX-License-Identifier: MIT */
/* convert.h - elements as a file holds them (byte order, 16-bit types, Fortran order) into what the
 * machine computes with, and back. Every conversion is exact.
 *
 * Pure functions over bytes, as npy.h: no operating system, no C library, no allocation. Any
 * alignment of either side.
 */
#ifndef FILES_PARSE_CONVERT_H
#define FILES_PARSE_CONVERT_H

#include "files/parse/npy.h"

/* Bits of the float32 that has the value of float16 bits h; subnormals become normal, a NaN keeps
 * its sign and payload and becomes quiet. */
uint32_t convert_f2(uint16_t h);

/* The type that elements of a file's type are read as: NPY_F2 and NPY_BF2 give NPY_F4, NPY_I4 gives
 * NPY_I8, others themselves. */
int32_t convert_type(int32_t file_type);
int32_t convert_bytes(int32_t type); /* bytes of an element */

/* n elements of a file (type, big_endian) to the machine's own form of convert_type(type). out may
 * be in only where nothing changes size. */
void convert_elements(void *out, const void *in, int64_t n, int32_t type, int32_t big_endian);

/* The part of a tensor that is wanted: along each axis count positions from begin on. */
typedef struct convert_window {
    int32_t rank;
    int64_t begin[NPY_MAX_RANK], count[NPY_MAX_RANK];
} convert_window;

/* Elements first ... first + n - 1 of the file h, in the file's order, stand at in. Those inside
 * the window go to their places in out: dense, C order, the machine's own form. Calling it for all
 * pieces of a file, in any cut, fills the window. */
void convert_piece(void *out, const convert_window *w, const npy_header *h, int64_t first,
                   int64_t n, const void *in);

#endif /* FILES_PARSE_CONVERT_H */
