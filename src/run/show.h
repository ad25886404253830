/* SPDX-License-Identifier: MIT */
/* show.h - scores and weights of rows into the caller's arrays (args.show), and key sums: second passes
 * over the keys of a finished tile, or of all rows.
 */
#ifndef QKVI_SHOW_H
#define QKVI_SHOW_H

#include "plan/tile.h"
#include "ref/ref.h"
#include "run/run.h"

/* The chosen rows of a finished tile, from the kernels. ranges: of the tile's rows. */
void qkvi_show_tile(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *tile,
                    const qkvi_range *ranges);

/* The row at place->row, if it is chosen, from the reference. kept: all 1 where NULL. */
void qkvi_show_row(const qkvi_job *job, const qkvi_place *place, const qkvi_ref_row *row);

/* A second pass: a step of the tile over `keys` keys, and those keys, of the place's head from the
 * tensors' key `at` on, in place or gathered. */
qkvi_step qkvi_again_step(const qkvi_job *job, char *slot, const qkvi_tile *tile, int64_t keys);
void qkvi_again_keys(const qkvi_job *job, char *slot, const qkvi_place *place, int64_t at,
                     qkvi_step *step);

/* q packed into t->qt (widened first where it is of another type). */
void qkvi_pack_rows(const qkvi_job *job, char *slot, const qkvi_tile *tile, const void *q);

/* to[index] = x, rounded to the type; every NaN the same one, every zero +0. */
void qkvi_put(void *to, int64_t index, int32_t dtype, double x);

/* One row of the reference: everything of it but where the result goes. */
void qkvi_reference_row(const qkvi_job *job, char *slot, const qkvi_place *place, int64_t own_row,
                        qkvi_ref_row *row);

#endif
