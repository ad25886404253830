/* SPDX-License-Identifier: MIT */
/* arena.c - the only place in src/ that asks the system for memory, and only when the caller gave
 * no allocator of its own.
 */
#include "base/arena.h"
#include <stdlib.h>

void *qkvi_alloc(const qkv_allocator *alloc, size_t bytes)
{
    if (bytes > SIZE_MAX - 64) return NULL;
    const size_t whole = (bytes + 63) / 64 * 64; /* aligned_alloc takes multiples only */
    return alloc ? alloc->alloc(alloc->ctx, whole, 64) : aligned_alloc(64, whole);
}

void qkvi_release(const qkv_allocator *alloc, void *mem, size_t bytes)
{
    if (mem == NULL) return;
    if (alloc)
        alloc->release(alloc->ctx, mem, (bytes + 63) / 64 * 64);
    else
        free(mem);
}
