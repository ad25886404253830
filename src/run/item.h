/* SPDX-License-Identifier: MIT */
/* item.h - an item while a task works on it: its place, its tiles, and the block they meet.
 */
#ifndef QKVI_ITEM_H
#define QKVI_ITEM_H

#include "plan/tile.h"
#include "run/run.h"

typedef struct qkvi_item {
    const qkvi_job *job;
    const qkv_plan *plan;
    char *slot;
    qkvi_place place;
    const void *k, *v;          /* own key 0 of this head */
    int64_t key_begin, key_end; /* what some row of the item sees; a partial: its range */
    qkvi_range *ranges;         /* of each row */
    qkvi_tile *tiles;
    int32_t ntiles;
    qkvi_step step;
    qkvi_change change;
    int32_t at_block; /* step holds this block's keys and values */
    /* the tile, counted through all blocks, whose masks and biases are fetched next (ahead.c) */
    int64_t look;
    int64_t block_ahead; /* rows of the next block that are fetched already */
    /* what this task probably does next: its place, 0 rows if there is none, and its first key */
    qkvi_place next;
    int64_t next_key;
} qkvi_item;

static inline int64_t qkvi_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The item that this task probably does next, after item `number`. */
void qkvi_ahead_item(qkvi_item *it, int64_t number);
/* What tile number `tile` fetches while it works on the block that begins at `key`: sets step.ahead. */
void qkvi_ahead_tile(qkvi_item *it, int32_t tile, int64_t key);

#endif
