/* SPDX-License-Identifier: MIT */
/* look.h - what the rows of a tile see of one block of keys, and what is done to their scores there:
 * the part of a step that depends on masks. Every pass over the keys asks here, so that all see the
 * same.
 */
#ifndef QKVI_LOOK_H
#define QKVI_LOOK_H

#include "plan/tile.h"
#include "run/run.h"

/* The block begins at own key `key` and has s->keys keys; s->vectors is the tile's. Sets lo, hi and live
 * of s, in the slot's memory; nothing when the answer is QKVI_TILE_NONE. ranges: of the tile's rows. */
qkvi_tile_kind qkvi_look(const qkvi_job *job, char *slot, const qkvi_place *place,
                         const qkvi_tile *tile, const qkvi_range *ranges, int64_t key,
                         qkvi_step *s);

/* One row, key by key: seen[j] for every key of its batch (sequence), padding included, counted from
 * place->first_key; the row's range says all that is not in a tensor. */
void qkvi_look_row(const qkvi_job *job, const qkvi_place *place, const qkvi_range *range,
                   unsigned char *seen);

#endif
