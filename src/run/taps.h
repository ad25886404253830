/* SPDX-License-Identifier: MIT */
/* taps.h - shows the stages of rows to the caller's tap (rule 12).
 *
 * The order of calls is a promise of the public header: rows ascending, stages in order, keys in
 * order.
 */
#ifndef QKVI_TAPS_H
#define QKVI_TAPS_H

#include "plan/tile.h"
#include "run/run.h"

/* The rows of a finished tile, from the kernels: scores and weights are computed a second time. */
int qkvi_tap_tile(const qkvi_job *job, void *slot, const qkvi_place *place, const qkvi_tile *tile,
                  const qkvi_range *ranges);

/* x[0 ... n) of one stage to the tap, if it is wanted; non-0: stop. */
int qkvi_tap_show(const qkvi_job *job, int32_t stage, const qkvi_place *place, int64_t row,
                  int64_t key, const void *x, int64_t n);

#endif
