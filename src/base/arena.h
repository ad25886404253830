/* SPDX-License-Identifier: MIT */
/* arena.h - memory that the library asks for: from the caller's allocator, or the C library's.
 *
 * Only plans, pools and qkv_attention() ask; a run never does.
 */
#ifndef QKVI_ARENA_H
#define QKVI_ARENA_H

#include <qkv/types.h>

/* From so many bytes on, the C library's memory is asked to be of huge pages. */
#define QKVI_LARGE ((size_t)4 << 20)

/* 64-aligned; NULL when there is none. alloc NULL: the C library. */
void *qkvi_alloc(const qkv_allocator *alloc, size_t bytes);
void qkvi_release(const qkv_allocator *alloc, void *mem, size_t bytes);

#endif
