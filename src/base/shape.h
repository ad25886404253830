/* SPDX-License-Identifier: MIT */
/* shape.h - arithmetic on qkv_shape: element counts, the bytes a tensor spans, addresses.
 *
 * Strides count elements, spans and addresses count bytes; strides may be negative or 0.
 */
#ifndef QKVI_SHAPE_H
#define QKVI_SHAPE_H

#include <qkv/types.h>

/* Bytes of one element, 0 for an unknown dtype. */
int64_t qkvi_dtype_bytes(int32_t dtype);

/* 1 if the product of the dimensions, or the distance between its furthest elements in bytes,
 * does not fit int64_t. Dimensions must be >= 0. */
int qkvi_shape_overflows(const qkv_shape *s, int64_t *elems);

/* Offsets in bytes from element [0,0,0,0] to the first byte and past the last byte that the tensor
 * touches; both 0 when it has no elements. */
void qkvi_shape_span(const qkv_shape *s, int64_t *low, int64_t *high);

/* 1 if no two elements share an address. Exact when the dimensions nest (every layout of a dense
 * tensor, padded or permuted); interleavings that would need number theory are refused. */
int qkvi_shape_injective(const qkv_shape *s);

/* Byte offset of element [b,h,i,0]. */
static inline int64_t qkvi_shape_at(const qkv_shape *s, int64_t bytes, int64_t b, int64_t h,
                                    int64_t i)
{
    return (b * s->stride[0] + h * s->stride[1] + i * s->stride[2]) * bytes;
}

/* A copy whose strides that are never used are 0: of dimensions of size <= 1, and all of a tensor
 * without elements. */
qkv_shape qkvi_shape_clean(const qkv_shape *s);

#endif
