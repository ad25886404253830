/* SPDX-License-Identifier: MIT */
/* pages.h - tensors in pages of which only some may be touched, and runs that are stopped where they touch
 * another. Knows nothing of masks: the caller says which keys may be read.
 */
#ifndef TEST_PAGES_H
#define TEST_PAGES_H

#include "helpers.h"

typedef enum lie {
    LIE_DENSE,        /* 128 keys are whole pages, where channels allow it */
    LIE_BSHD,         /* all heads of a key together */
    LIE_APART,        /* each key begins a page */
    LIE_BACKWARDS,    /* the same, later keys in front */
    LIE_EVERY_SECOND, /* the same, channels 2 apart */
    LIES
} lie;

typedef struct pages {
    char *map;
    size_t size;
    char *base;   /* element [0,0,0,0] */
    int64_t shut; /* how many pages may not be touched */
    qkv_shape shape;
} pages;

int64_t element_bytes(int32_t dtype);

/* A tensor of the f32 numbers x, of which only rows live[...] of [batch][head][position] can be read;
 * NULL: all. x holds multiples of 1/64 in [-1, 1): every type has them (QKV_BOOL: is it 0). */
pages pages_new(const qkv_shape *dense, const void *x, lie lies, const bool *live);
void pages_free(pages *m);

/* qkv_run() on the calling thread; false: it touched a page that is shut. */
bool pages_run(const qkv_plan *plan, const qkv_run_args *args, qkv_status *status, qkv_error *err);
/* Which element of m that was, for people; false: none of m's pages. */
bool pages_touched(const pages *m, const char *name, char *text, size_t size);

#endif
