/* SPDX-License-Identifier: MIT */
/* layout.c - the same values in different places: dense, against a guard page, or with a random
 * order of axes, gaps, signs and byte shift.
 *
 * Gaps of an input hold NaN bits, so that reading one shows in the result; gaps of an output hold a
 * canary, so that writing one is found by block_gaps_intact().
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POISON = 0xFF, CANARY = 0xA5 }; /* 0xFFFFFFFF is a NaN of either type */

typedef struct plan_axes {
    int order[4]; /* innermost first */
    int64_t step[4];
    int64_t pad[4];
    bool negative[4];
} plan_axes;

static plan_axes axes_of(uint64_t layout)
{
    plan_axes a = {{3, 2, 1, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}, {false, false, false, false}};
    if (layout == LAYOUT_BSHD) {
        a.order[1] = 1;
        a.order[2] = 2;
    } else if (layout == LAYOUT_TRANSPOSED) {
        a.order[0] = 2;
        a.order[1] = 3;
    } else if (layout == LAYOUT_EVERY_SECOND) {
        a.step[3] = 2;
    } else if (layout == LAYOUT_REVERSED) {
        for (int i = 0; i < 4; i++) a.negative[i] = true;
    } else if (layout >= LAYOUT_RANDOM) {
        rng r = {layout};
        rng_next(&r);
        for (int i = 3; i > 0; i--) {
            const int j = (int)rng_range(&r, 0, i), swap = a.order[i];
            a.order[i] = a.order[j];
            a.order[j] = swap;
        }
        for (int i = 0; i < 4; i++) {
            a.step[i] = rng_range(&r, 0, 3) == 0 ? rng_range(&r, 2, 3) : 1;
            a.pad[i] = rng_range(&r, 0, 2) == 0 ? rng_range(&r, 1, 5) : 0;
            a.negative[i] = rng_range(&r, 0, 2) == 0;
        }
    }
    return a;
}

/* Strides for those axes; returns the elements spanned, *first the index of [0,0,0,0] in them. */
static int64_t strides_of(const plan_axes *a, qkv_shape *s, int64_t *first)
{
    int64_t run = 1, last = 0;
    *first = 0;
    for (int i = 0; i < 4; i++) {
        const int c = a->order[i];
        const int64_t stride = run * a->step[c];
        const int64_t reach = s->dim[c] > 1 ? stride * (s->dim[c] - 1) : 0;
        s->stride[c] = a->negative[c] ? -stride : stride;
        if (a->negative[c]) *first += reach;
        last += reach;
        run = stride * (s->dim[c] > 0 ? s->dim[c] : 1) + a->pad[c];
    }
    /* the stride of a dimension of size 1 is never used: put nonsense there now and then */
    static const int64_t nonsense[3] = {INT64_MAX, 0, -7};
    for (int c = 0; c < 4; c++) {
        if (s->dim[c] == 1 && a->pad[c] != 0) s->stride[c] = nonsense[a->pad[c] % 3];
    }
    for (int c = 0; c < 4; c++) {
        if (s->dim[c] == 0) return 0;
    }
    return last + 1;
}

static int64_t offset_of(const qkv_shape *s, const int64_t i[4])
{
    int64_t at = 0;
    for (int c = 0; c < 4; c++) at += s->dim[c] > 1 ? i[c] * s->stride[c] : 0;
    return at;
}

typedef enum copy_way { COPY_IN, COPY_OUT, COPY_CANARY } copy_way;

static void copy(const block *b, void *dense, copy_way way)
{
    const qkv_shape *const s = &b->shape;
    const size_t n = type_size(s->dtype);
    unsigned char *d = dense;
    int64_t i[4];
    for (i[0] = 0; i[0] < s->dim[0]; i[0]++) {
        for (i[1] = 0; i[1] < s->dim[1]; i[1]++) {
            for (i[2] = 0; i[2] < s->dim[2]; i[2]++) {
                for (i[3] = 0; i[3] < s->dim[3]; i[3]++) {
                    unsigned char *const p =
                        (unsigned char *)b->base + (int64_t)n * offset_of(s, i);
                    if (way == COPY_IN) memcpy(p, d, n);
                    if (way == COPY_OUT) memcpy(d, p, n);
                    if (way == COPY_CANARY) memset(p, CANARY, n);
                    if (dense) d += n;
                }
            }
        }
    }
}

static void guarded(block *b, bool after)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (b->mem_size + page - 1) / page * page;
    b->map_size = whole + 2 * page;
    b->map = mmap(NULL, b->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(b->map != MAP_FAILED);
    if (whole > 0) assert_int_equal(mprotect(b->map + page, whole, PROT_READ | PROT_WRITE), 0);
    b->mem = b->map + page + (after ? whole - b->mem_size : 0);
}

block block_make(int32_t dtype, const int64_t dim[4], const void *dense, uint64_t layout,
                 size_t byte_shift)
{
    block b = {0};
    b.shape.dtype = dtype;
    memcpy(b.shape.dim, dim, sizeof b.shape.dim);
    const plan_axes a = axes_of(layout);
    int64_t first;
    const int64_t elems = strides_of(&a, &b.shape, &first);
    const size_t n = type_size(dtype);
    size_t shift = byte_shift;
    if (layout >= LAYOUT_RANDOM) shift += layout % 8;
    if (layout == LAYOUT_GUARD_AFTER || layout == LAYOUT_GUARD_BEFORE) {
        b.mem_size = (size_t)elems * n;
        guarded(&b, layout == LAYOUT_GUARD_AFTER);
        shift = 0;
    } else {
        b.mem_size = (size_t)elems * n + shift;
        b.mem = malloc(b.mem_size > 0 ? b.mem_size : 1);
        assert_non_null(b.mem);
    }
    memset(b.mem, dense != NULL ? POISON : CANARY, b.mem_size);
    b.base = elems > 0 ? b.mem + shift + (size_t)first * n : NULL;
    if (dense != NULL && elems > 0) {
        void *from;
        memcpy(&from, &dense, sizeof from); /* COPY_IN only reads it */
        copy(&b, from, COPY_IN);
    }
    return b;
}

void block_read(const block *b, void *dense)
{
    if (b->base != NULL) copy(b, dense, COPY_OUT);
}

bool block_gaps_intact(block *b)
{
    if (b->base != NULL) copy(b, NULL, COPY_CANARY);
    for (size_t i = 0; i < b->mem_size; i++) {
        if (b->mem[i] != CANARY) return false;
    }
    return true;
}

void block_free(block *b)
{
    if (b->map != NULL) {
        munmap(b->map, b->map_size);
    } else {
        free(b->mem);
    }
    memset(b, 0, sizeof *b);
}
