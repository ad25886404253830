/* SPDX-License-Identifier: MIT */
/* nodes.c - which nodes of the fold tree a range of spans leaves (docs/numerics.md, Partials). Follows
 * from the range and the number of spans alone: a partial carries no labels.
 */
#include "plan/nodes.h"
#include "base/contract.h"

int64_t qkvi_span_after(int64_t key)
{
    return key / QKVI_SPAN + (key % QKVI_SPAN != 0);
}

int qkvi_next_node(const qkv_plan *plan, int64_t *s0, int64_t s1, int32_t *level, int64_t *index)
{
    if (*s0 >= s1) return 0;
    int32_t l = 0;
    /* twice as large as long as it still begins here, and ends inside or beyond the last key */
    while (l < plan->levels) {
        const int64_t size = (int64_t)2 << l;
        const int64_t end = *s0 + size;
        if (*s0 % size != 0 || (end > s1 && s1 != plan->spans)) break;
        if (*s0 + (size >> 1) >= plan->spans) break; /* the same keys: the lower level names it */
        l++;
    }
    *level = l;
    *index = *s0 >> l;
    *s0 += (int64_t)1 << l;
    return 1;
}

int64_t qkvi_plan_nodes(const qkv_plan *plan, int64_t s0, int64_t s1)
{
    int64_t n = 0, index;
    int32_t level;
    while (qkvi_next_node(plan, &s0, s1, &level, &index)) n++;
    return n;
}

int qkvi_plan_range(const qkv_plan *plan, int64_t key_begin, int64_t key_end)
{
    return key_begin >= 0 && key_begin < key_end && key_end <= plan->keys &&
           key_begin % QKVI_SPAN == 0 && (key_end % QKVI_SPAN == 0 || key_end == plan->keys);
}
