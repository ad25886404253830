/* SPDX-License-Identifier: MIT */
/* arena.c - the only place in src/ that asks the system for memory, and only when the caller gave
 * no allocator of its own.
 */
#ifdef __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#include "base/arena.h"
#include <stdlib.h>

void *qkvi_alloc(const qkv_allocator *alloc, size_t bytes)
{
    if (bytes > PTRDIFF_MAX - QKVI_LARGE) return NULL;
    const size_t unit = alloc || bytes < QKVI_LARGE ? 64 : (size_t)2 << 20;
    const size_t whole = (bytes + unit - 1) / unit * unit; /* aligned_alloc takes multiples only */
    if (alloc) return alloc->alloc(alloc->ctx, whole, unit);
    void *const mem = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
    /* a wish: pages of 4 KiB cost a quarter of the rate at which large memory is read */
    if (mem && unit > 64) (void)madvise(mem, whole, MADV_HUGEPAGE);
#endif
    return mem;
}

void qkvi_release(const qkv_allocator *alloc, void *mem, size_t bytes)
{
    if (mem == NULL) return;
    if (alloc)
        alloc->release(alloc->ctx, mem, (bytes + 63) / 64 * 64);
    else
        free(mem);
}
