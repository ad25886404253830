/* SPDX-License-Identifier: MIT */
/* npy.h - what the first bytes of a .npy file say about the rest: element type, byte order, axis
 * order, shape, and where the data begins. Format versions 1, 2 and 3.
 *
 * A pure function over (bytes, length): no operating system, no C library, no allocation, never a
 * read past length. The same object code serves the command and a page without a C library. What a
 * rank or a type is good for is the caller's decision; only what no caller could use is refused.
 */
#ifndef FILES_PARSE_NPY_H
#define FILES_PARSE_NPY_H

#include <stddef.h>
#include <stdint.h>

#define NPY_MAX_RANK 32
#define NPY_MAX_HEADER 1048576 /* bytes before the data: magic, lengths and dict */
#define NPY_FIRST_BYTES 12     /* enough to learn how long the header is */

/* NPY_BF2 is bfloat16, the upper half of a float32: descr <V2, as ml_dtypes writes it */
typedef enum npy_type {
    NPY_F2 = 1,
    NPY_F4 = 2,
    NPY_F8 = 3,
    NPY_B1 = 4,
    NPY_BF2 = 5,
    NPY_U1 = 6, /* these three only where they are asked for */
    NPY_I4 = 7,
    NPY_I8 = 8
} npy_type;

/* What a file may hold. */
typedef enum npy_use {
    NPY_NUMBERS = 0, /* floating-point numbers, or bool */
    NPY_WORDS = 1, /* the same, and unsigned integers of 16 bits are the bits of bfloat16 numbers */
    NPY_INTEGERS = 2, /* int32 or int64 */
    NPY_BYTES = 3     /* uint8 */
} npy_use;

typedef struct npy_header {
    int32_t version;    /* 1, 2 or 3 */
    int32_t type;       /* an npy_type */
    int32_t big_endian; /* 1: the most significant byte of an element comes first */
    int32_t fortran;    /* 1: the first axis varies fastest in the file */
    int32_t rank;       /* 0 ... NPY_MAX_RANK */
    int32_t elem_bytes;
    int64_t dim[NPY_MAX_RANK];
    int64_t elems;       /* their product; 1 for rank 0 */
    int64_t data_offset; /* bytes before the data */
    int64_t data_bytes;  /* elems * elem_bytes; data_offset + data_bytes fits int64_t */
} npy_header;

typedef enum npy_status {
    NPY_OK = 0,
    NPY_MORE = 1, /* error.need bytes are wanted (at least), fewer were given */
    NPY_BAD = 2   /* not a .npy file, or one that cannot be used */
} npy_status;

/* What was wrong, in pieces; npy_error_text() makes the sentence. */
typedef struct npy_error {
    const char *what;  /* the field: "dtype", "dimension 1 of the shape" ... */
    const char *want;  /* the bound, as a clause */
    size_t at, length; /* its value: these bytes of the file */
    int64_t number;    /* its value, when length is 0 and number >= 0 */
    int64_t need;      /* NPY_MORE: bytes needed from the file's beginning; else where it ends */
    int32_t index;     /* >= 0: which dimension */
} npy_error;

/* *h is complete only when NPY_OK is returned. */
npy_status npy_parse(const unsigned char *bytes, size_t length, npy_header *h, npy_error *err);
/* The same for a file of which something else is wanted. */
npy_status npy_parse_as(const unsigned char *bytes, size_t length, npy_use use, npy_header *h,
                        npy_error *err);

/* "dtype is '|O'; object arrays are not supported": cut at size, always ended by 0; a byte 0 of the
 * file is shown as \x00, all others stay raw (the value is at most 60 bytes). Returns its length. */
size_t npy_error_text(char *text, size_t size, const unsigned char *bytes, const npy_error *err);

/* Writes the header that NumPy would write for little-endian, C order data: version 1, padded
 * with spaces so that the data starts at a multiple of 64; floating-point types and bool. Returns its
 * length; 0 when size is too small or an argument is out of range. 1,024 bytes are enough for any rank. */
size_t npy_header_write(unsigned char *bytes, size_t size, int32_t type, int32_t rank,
                        const int64_t *dim);

#endif /* FILES_PARSE_NPY_H */
