/* SPDX-License-Identifier: MIT */
/* plan.h - all that is decided before data is seen. A plan is right by construction: whoever runs
 * it checks nothing but pointers.
 *
 * Work is cut into *items*: up to item_rows query rows of one head of one batch. An item is done by
 * one task from beginning to end, so no two tasks ever meet. A task owns one *slot* of the
 * workspace:
 *
 *     workspace = header | slot 0 | slot 1 | ...
 *     header    = counters 64 | one byte a task | first block of each packed sequence | m, l of rows |
 *                 nodes of spans apart | kinds of tiles
 *     slot      = ranges | lo hi | bits live biases | tiles | s | mb lb | shown | k gathered | v in strips |
 *                 other types | nodes | few rows: s of a span | their mb lb | sums | states
 */
#ifndef QKVI_PLAN_H
#define QKVI_PLAN_H

#include "kernel/kernels.h"
#include "mask/mask.h"
#include <qkv/attention.h>

enum {
    QKVI_ITEM_ROWS = 768, /* so many rows reuse one key block while it is near */
    QKVI_ITEM_TILES = 16, /* at most, whatever the tile */
    QKVI_MAX_LEVELS = 48  /* of the fold tree: no tensor holds more than 2^60 keys */
};

struct qkv_plan {
    qkv_shape q, k, v, out; /* strides of dimensions of size <= 1 are 0 */
    uint64_t use;
    double scale;   /* multiplies q . k */
    double factor;  /* rule 2's f: scale * log2 e, rounded to the type */
    qkvi_mask mask; /* of a batch without lengths of its own; shift is qkvi_item_place's business */
    qkv_shape look; /* QKV_USE_MASK: the bool tensor, strides of dimensions of size 1 are 0 */
    int32_t mask_drops;
    qkv_shape bias; /* QKV_USE_BIAS, likewise */
    int32_t slopes_by_batch;
    double alibi_max_bias;
    uint64_t drop_from;              /* QKV_USE_DROPOUT: words below this drop; 0: none */
    double dropout;                  /* p */
    double keep_factor;              /* 1 / (1 - p), rounded to the type; 1 without dropout */
    double softcap, cap_in, cap_out; /* rule 3: k and C, rounded to the type */
    int32_t align;                   /* a qkv_align */
    int64_t q_offset;                /* for QKV_ALIGN_OFFSET */
    const qkvi_kernels *kernels;     /* the reference: scalar, for its environment only */
    const qkvi_ops *ops;             /* NULL: the reference */
    int32_t real;                    /* QKV_F32 or QKV_F64: what is computed in, and lse's type */
    int64_t real_bytes;
    int64_t q_bytes, k_bytes, v_bytes, out_bytes; /* of an element */
    int64_t batch, heads, kv_heads, rows, keys, d, dv;
    int32_t gather_k; /* channels not adjacent, or rows apart: copied block by block */
    int32_t few_copies_k, few_copies_v; /* few rows: keys, values copied block by block */
    int32_t strips_v; /* values copied into strips, block by block: several tiles will read them */
    int32_t lanes, tile_rows;             /* tile_rows = 3 * lanes */
    int64_t sequences;                    /* of the one batch; 0: not packed */
    int64_t item_rows, row_blocks, items; /* packed: no more than so many items */
    int32_t item_tiles;
    /* tiles of 128 rows, which then end together: masks that are made of squares leave whole tiles out.
     * 0: a tile has all the rows it can */
    int32_t tiles_a_block;
    /* 0: in tiles. Else few rows (see qkvi_few), an item being all rows of one head, or the one row
     * of so many heads that share their keys */
    int32_t few_heads;
    int32_t apart; /* few rows whose spans are done each by itself, so that all threads have work */
    int64_t spans; /* of 4,096 keys */
    int32_t levels; /* nodes kept a tile beside the one in work */
    int32_t max_threads;
    int32_t owned; /* made by create: destroy releases it */
    qkv_allocator alloc;
    int32_t alloc_given;
    /* offsets in a slot, bytes */
    int64_t at_ranges, at_lo, at_hi, at_bits, at_live, at_drop, at_bias, at_tiles, at_s, at_mb,
        at_lb, at_k, at_v, at_show, at_nodes;
    int64_t at_wide; /* rows of q or out, or a block of v, while they change their type */
    int64_t at_parts,
        at_apart; /* apart: a qkv_partial and its rows' nodes for each span, in the header */
    int64_t at_few_s, at_few_mb, at_few_lb, at_few_sums, at_few_states;
    int64_t sums_bytes, state_bytes; /* of one of few rows */
    int64_t node_bytes;              /* one node of one tile: o, m, l */
    int64_t qt_bytes;                /* one tile's queries, then each row's largest score */
    int64_t at_top;                  /* the latter, from the tile's beginning */
    int64_t at_finals;               /* QKV_USE_KEY_SUMS: m and l of every row, in the header */
    /* in the header, see run/kinds.h; 0 bytes: not kept; bytes of one tile */
    int64_t at_kinds, kinds_bytes, kinds_tile;
    int64_t at_blocks, at_slots, slot_bytes, workspace_bytes; /* slots begin after the header */
};

/* Each fills its part of plan from params; validate first, then choose, tile, workspace. */
qkv_status qkvi_plan_validate(qkv_plan *plan, const qkv_params *params, qkv_error *err);
qkv_status qkvi_plan_choose(qkv_plan *plan, const qkv_params *params, qkv_error *err);
void qkvi_plan_tile(qkv_plan *plan);
qkv_status qkvi_plan_workspace(qkv_plan *plan, qkv_error *err);

/* what tasks take in turns */
/* rows of the i-th tile of an item that has enough */
int32_t qkvi_plan_tile_rows(const qkv_plan *plan, int32_t i);
int64_t qkvi_plan_items(const qkv_plan *plan);
/* tasks of a run with that many threads */
int32_t qkvi_plan_tasks(const qkv_plan *plan, int32_t nthreads);

#endif
