/* SPDX-License-Identifier: MIT */
/* nodes.h - the nodes of the fold tree that a range of keys leaves, in key order. Spans are counted from
 * key 0; a range begins and ends at spans, or ends with the last key.
 */
#ifndef QKVI_NODES_H
#define QKVI_NODES_H

#include "plan/plan.h"

/* The span that begins at that key or after it. */
int64_t qkvi_span_after(int64_t key);

/* Walks the nodes of spans [s0, s1) as a run over that range leaves them: the largest whose spans
 * all lie inside, spans beyond the last not counting. Returns 0 when there is none left; *s0 moves
 * on. */
int qkvi_next_node(const qkv_plan *plan, int64_t *s0, int64_t s1, int32_t *level, int64_t *index);

/* How many there are, for each row. */
int64_t qkvi_plan_nodes(const qkv_plan *plan, int64_t s0, int64_t s1);

/* 1 if key_begin, key_end are a range that a partial may have. */
int qkvi_plan_range(const qkv_plan *plan, int64_t key_begin, int64_t key_end);

#endif
