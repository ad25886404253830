/* SPDX-License-Identifier: MIT */
/* kinds.h - what a tile and a block of keys turned out to be: none, some or all of their pairs. Where no
 * tensor differs from head to head, the first head reads masks and biases to know it, the others ask
 * here. Whoever comes first writes the same byte.
 */
#ifndef QKVI_KINDS_H
#define QKVI_KINDS_H

#include "base/contract.h"
#include "plan/tile.h"
#include "run/run.h"

/* Before a run: nothing is known. */
static inline void qkvi_kinds_forget(const qkvi_job *job)
{
    const qkv_plan *const p = job->plan;
    if (p->kinds_bytes)
        __builtin_memset((char *)job->workspace + p->at_kinds, 0, (size_t)p->kinds_bytes);
}

/* The bytes of tile number i of the item at that place, one a block; NULL: not kept. */
static inline unsigned char *qkvi_kinds_of(const qkvi_job *job, const qkvi_place *at, int32_t i)
{
    const qkv_plan *const p = job->plan;
    const int64_t item = at->batch * p->row_blocks + at->row / p->item_rows;
    if (p->kinds_bytes == 0) return NULL;
    return (unsigned char *)job->workspace + p->at_kinds +
           (item * p->item_tiles + i) * p->kinds_tile;
}

/* A qkvi_tile_kind, or -1: not known. */
static inline int qkvi_kind_known(const qkvi_tile *t, int64_t key)
{
    return t->kinds ? __atomic_load_n(t->kinds + key / QKVI_BLOCK, __ATOMIC_RELAXED) - 1 : -1;
}

static inline void qkvi_kind_keep(const qkvi_tile *t, int64_t key, qkvi_tile_kind kind)
{
    if (t->kinds)
        __atomic_store_n(t->kinds + key / QKVI_BLOCK, (unsigned char)(kind + 1), __ATOMIC_RELAXED);
}

#endif
