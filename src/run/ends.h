/* SPDX-License-Identifier: MIT */
/* ends.h - what becomes of a tile when a span of keys ends, and when all do: its node goes up the
 * tree, into a partial, or out.
 */
#ifndef QKVI_ENDS_H
#define QKVI_ENDS_H

#include "run/run.h"
#include "run/tree.h"

/* Where the next node of a tile's first row goes in the partial. */
typedef struct qkvi_outlet {
    char *at;
    int64_t nodes; /* of one row */
} qkvi_outlet;

/* nowhere, unless the run is a partial one */
qkvi_outlet qkvi_outlet_of(const qkvi_job *job, const qkvi_place *place, const qkvi_tile *tile);

/* A span is complete: its node goes up the tree. Of a tile that saw nothing of it (fresh), the tree only
 * hears that it was dead, unless a partial must say so. */
void qkvi_span_end(const qkvi_job *job, qkvi_tile *tile, qkvi_outlet *outlet, int64_t span);

/* The last span of the run's keys has ended, at key_end. */
void qkvi_tile_end(const qkvi_job *job, const qkvi_place *place, qkvi_tile *tile, void *slot,
                   qkvi_outlet *outlet, int64_t key_end);

/* The rows of a tile whose nodes are all there: out and lse. */
void qkvi_tile_finish(const qkvi_job *job, const qkvi_place *place, qkvi_tile *tile, void *slot);

#endif
