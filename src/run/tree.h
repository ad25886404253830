/* SPDX-License-Identifier: MIT */
/* tree.h - the fold tree over spans (rule 9), one tile at a time: a binary counter whose digit l is
 * a left child of level l that waits for its right sibling.
 */
#ifndef QKVI_TREE_H
#define QKVI_TREE_H

#include "plan/tile.h"

/* parts of a node: o is at the node, then m, then l */
void *qkvi_node_m(const qkv_plan *plan, void *node);
void *qkvi_node_l(const qkv_plan *plan, void *node);

/* node = dead: m = -inf, l = o = 0 */
void qkvi_node_clear(const qkv_plan *plan, void *node, int64_t width);

/* no row has seen a score yet */
void qkvi_top_clear(const qkv_plan *plan, const qkvi_tile *tile);

/* Called for a node whose sibling is outside the range, and at the end for all that wait, in key
 * order. */
typedef void qkvi_node_sink(void *ctx, const qkv_plan *plan, const qkvi_tile *tile, void *node);

/* tile->work is node (level, index); fold it upwards as far as siblings wait. A node whose left
 * sibling begins before span `begin` goes to sink (no node does when begin is 0, and sink may be NULL). The root stays in
 * tile->work. Between the first span a tile pushes and the last there may be no gap: of a span that
 * it sees nothing of, qkvi_tree_skip() must tell. */
void qkvi_tree_push(const qkv_plan *plan, qkvi_tile *tile, int32_t level, int64_t index,
                    int64_t begin, qkvi_node_sink *sink, void *ctx);

/* Span `index` is dead for all rows of the tile: a left sibling that waits for it stands for both
 * (rule 9). For runs from span 0 on. */
void qkvi_tree_skip(const qkv_plan *plan, qkvi_tile *tile, int64_t index);

/* The keys end here: what waits folds smallest first, into tile->work. 0 when nothing is there. */
int qkvi_tree_close(const qkv_plan *plan, qkvi_tile *tile);

/* The range ends before the keys do: what waits goes to sink, in key order. */
void qkvi_tree_flush(const qkv_plan *plan, qkvi_tile *tile, qkvi_node_sink *sink, void *ctx);

#endif
