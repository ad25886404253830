/* SPDX-License-Identifier: MIT */
/* look.h - what the rows of a tile see of one block of keys, and what is done to their scores there:
 * the part of a step that depends on masks and biases. Every pass over the keys asks here, so that all
 * see the same.
 */
#ifndef QKVI_LOOK_H
#define QKVI_LOOK_H

#include "plan/tile.h"
#include "run/run.h"

/* What is the same for every tile and block of an item: the head's slope, the cap, the caller's
 * function. */
void qkvi_look_begin(const qkvi_job *job, const qkvi_place *place, qkvi_change *change);

/* The block begins at own key `key` and has s->keys keys; s->vectors is the tile's. Sets lo, hi, live
 * and change of s, in the slot's memory and in *change; nothing when the answer is QKVI_TILE_NONE.
 * ranges: of the tile's rows. */
qkvi_tile_kind qkvi_look(const qkvi_job *job, char *slot, const qkvi_place *place,
                         const qkvi_tile *tile, const qkvi_range *ranges, int64_t key, qkvi_step *s,
                         qkvi_change *change);

/* Dropout between weights and values: sets s->live to what stays of what the tile sees. */
void qkvi_look_drop(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *tile,
                    int64_t key, qkvi_step *s);

/* kept[j], as seen[] below: 1 where dropout keeps the row's weight of that key. */
void qkvi_kept_row(const qkvi_job *job, const qkvi_place *place, int64_t own_row,
                   unsigned char *kept);

/* Which element of a mask or a bias is that of the place's batch, head, row `row` and own key `key`: such
 * tensors are read at the numbers of q and k. */
static inline int64_t qkvi_element_at(const qkv_shape *x, const qkvi_place *place, int64_t row,
                                      int64_t key)
{
    return place->batch * x->stride[0] + place->head * x->stride[1] +
           (place->row + row) * x->stride[2] + (place->key + key) * x->stride[3];
}

/* One row, key by key: seen[j] for every key of its batch (sequence), padding included, counted from
 * place->first_key. */
void qkvi_look_row(const qkvi_job *job, const qkvi_place *place, const qkvi_range *range,
                   unsigned char *seen);

/* Number i of an array of the accumulator's type, at any byte address. */
double qkvi_number(const qkv_plan *plan, const void *x, int64_t i);

/* The slope of the place's head; 0: no ALiBi. */
double qkvi_slope(const qkvi_job *job, const qkvi_place *place);

/* The sink of the place's head; -inf: none. */
double qkvi_sink(const qkvi_job *job, const qkvi_place *place);

/* A number of natural units in log2 units, as rules 3 and 10 take slopes and sinks: rounded once to the
 * type, infinities as the largest number. */
double qkvi_log2_units(const qkv_plan *plan, double x);

#endif
