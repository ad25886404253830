/* SPDX-License-Identifier: MIT */
/* tile.h - one tile of query rows while an item is worked on: where its queries and the nodes of
 * its fold tree lie. Items keep theirs in the workspace: the size is the plan's business,
 * the contents run's.
 */
#ifndef QKVI_TILE_H
#define QKVI_TILE_H

#include "plan/plan.h"

typedef struct qkvi_tile {
    void *qt;
    void *top;
    qkvi_extent sees;     /* of its rows */
    int64_t row;          /* first row, within the item */
    int32_t rows;         /* live rows */
    int32_t vectors;      /* 1 ... 3 */
    int32_t fresh;        /* nothing in node `work` yet */
    int32_t root;         /* the whole tree is in work */
    unsigned char *kinds; /* of each block of keys, see run/kinds.h; NULL: not kept */
    uint64_t waiting;     /* bit l: node l holds a left child that waits for its sibling */
    void *work;           /* the span (later node) being built: o, m, l */
    void *node[QKVI_MAX_LEVELS];
} qkvi_tile;

#endif
