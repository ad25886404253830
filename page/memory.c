/* SPDX-License-Identifier: MIT */
/* memory.c - all memory of the page's C: a stack of blocks that is emptied at each call, and slots
 * below it for what must outlive a call (the real model's tensors, the reader's own data).
 *
 * Linear memory is only ever grown. A slot that has to grow is taken anew, at twice its size, so
 * that opening files again and again uses no more than four times the largest.
 */
#include "page/page.h"

#include <stdlib.h>

enum { ALIGN = 64, WASM_PAGE = 65536 };

extern unsigned char __heap_base; /* by the linker: the first free byte */

static size_t floor_at; /* slots end here, the stack begins */
static size_t top;

static struct slot {
    unsigned char *mem;
    size_t bytes, room;
} slots[PAGE_SLOTS];

static size_t aligned(size_t at)
{
    return (at + ALIGN - 1) / ALIGN * ALIGN;
}

static void start(void)
{
    if (floor_at == 0) top = floor_at = aligned((size_t)&__heap_base);
}

void *page_take(size_t bytes)
{
    start();
    if (bytes > SIZE_MAX / 2 || top > SIZE_MAX / 2) return NULL;
    const size_t end = aligned(top + bytes);
    const size_t have = (size_t)__builtin_wasm_memory_size(0) * WASM_PAGE;
    if (end > have) {
        const size_t more = (end - have + WASM_PAGE - 1) / WASM_PAGE;
        if (__builtin_wasm_memory_grow(0, more) == SIZE_MAX) return NULL;
    }
    void *const at = (void *)top;
    top = end;
    return at;
}

void page_take_reset(void)
{
    start();
    top = floor_at;
}

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    return page_take(bytes);
}

const lesson_memory page_memory = {take, NULL};

/* The block lies above all that this call has taken so far; the stack goes on above it. */
void *page_keep(page_slot slot, size_t bytes)
{
    struct slot *const s = &slots[slot];
    if (bytes > s->room) {
        const size_t room = bytes > 2 * s->room ? bytes : 2 * s->room;
        unsigned char *const mem = (unsigned char *)page_take(room);
        if (mem == NULL) return NULL;
        s->mem = mem;
        s->room = room;
        floor_at = top;
    }
    s->bytes = bytes;
    return s->mem;
}

const void *page_kept(page_slot slot, size_t *bytes)
{
    *bytes = slots[slot].bytes;
    return slots[slot].bytes > 0 ? slots[slot].mem : NULL;
}

/* src/ asks these only when a caller gives no allocator, which the lesson never does. */
void *aligned_alloc(size_t alignment, size_t bytes)
{
    return alignment <= ALIGN ? page_take(bytes) : NULL;
}

void free(void *mem)
{
    (void)mem;
}
