/* SPDX-License-Identifier: MIT */
/* tree.c - see tree.h. Nodes are never copied: the pointers of a tile's nodes change places, so
 * that `work` is always free for the next span.
 */
#include "run/tree.h"
#include "base/checked.h"

void *qkvi_node_m(const qkv_plan *plan, void *node)
{
    return (char *)node + qkvi_round64(plan->dv * plan->tile_rows * plan->real_bytes);
}

void *qkvi_node_l(const qkv_plan *plan, void *node)
{
    return (char *)qkvi_node_m(plan, node) + qkvi_round64(plan->tile_rows * plan->real_bytes);
}

void qkvi_node_clear(const qkv_plan *plan, void *node, int64_t width)
{
    /* no live row: every row is loaded as dead */
    plan->ops->load_node(node, qkvi_node_m(plan, node), qkvi_node_l(plan, node), NULL, 0, 0,
                         plan->dv, width);
}

void qkvi_top_clear(const qkv_plan *plan, const qkvi_tile *tile)
{
    for (int32_t r = 0; r < plan->tile_rows; r++)
        if (plan->real_bytes == 4)
            ((float *)tile->top)[r] = -__builtin_inff();
        else
            ((double *)tile->top)[r] = -__builtin_inf();
}

/* a = a folded with b, which lies later */
static void fold(const qkv_plan *plan, int64_t width, void *a, void *b)
{
    plan->ops->fold(a, qkvi_node_m(plan, a), qkvi_node_l(plan, a), b, qkvi_node_m(plan, b),
                    qkvi_node_l(plan, b), plan->dv, width);
}

/* tile->work takes in the left sibling that waits at that level */
static void join(const qkv_plan *plan, qkvi_tile *tile, int32_t level)
{
    void *const left = tile->node[level];
    fold(plan, (int64_t)tile->vectors * plan->lanes, left, tile->work);
    tile->node[level] = tile->work;
    tile->work = left;
    tile->waiting &= ~(UINT64_C(1) << level);
}

void qkvi_tree_push(const qkv_plan *plan, qkvi_tile *tile, int32_t level, int64_t index,
                    int64_t begin, qkvi_node_sink *sink, void *ctx)
{
    for (; level < plan->levels && (index & 1); level++, index >>= 1) {
        if ((index - 1) << level < begin) { /* its left sibling is somebody else's */
            sink(ctx, plan, tile, tile->work);
            return;
        }
        if (tile->waiting >> level & 1) join(plan, tile, level);
    }
    if (level >= plan->levels) {
        tile->root = 1;
        return;
    }
    void *const free_node = tile->node[level];
    tile->node[level] = tile->work;
    tile->work = free_node;
    tile->waiting |= UINT64_C(1) << level;
}

void qkvi_tree_skip(const qkv_plan *plan, qkvi_tile *tile, int64_t index)
{
    for (int32_t level = 0; level < plan->levels && (index & 1); level++, index >>= 1) {
        if (!(tile->waiting >> level & 1)) continue;
        void *const left = tile->node[level];
        tile->node[level] = tile->work;
        tile->work = left;
        tile->waiting &= ~(UINT64_C(1) << level);
        qkvi_tree_push(plan, tile, level + 1, index >> 1, 0, NULL, NULL);
        return;
    }
}

int qkvi_tree_close(const qkv_plan *plan, qkvi_tile *tile)
{
    if (tile->waiting == 0) return tile->root;
    const int32_t lowest = __builtin_ctzll(tile->waiting);
    void *const free_node = tile->work;
    tile->work = tile->node[lowest];
    tile->node[lowest] = free_node;
    tile->waiting &= ~(UINT64_C(1) << lowest);
    for (int32_t level = lowest + 1; level < plan->levels; level++)
        if (tile->waiting >> level & 1) join(plan, tile, level);
    return 1;
}

void qkvi_tree_flush(const qkv_plan *plan, qkvi_tile *tile, qkvi_node_sink *sink, void *ctx)
{
    for (int32_t level = plan->levels - 1; level >= 0; level--)
        if (tile->waiting >> level & 1) sink(ctx, plan, tile, tile->node[level]);
    if (tile->root) sink(ctx, plan, tile, tile->work);
    tile->waiting = 0;
}
