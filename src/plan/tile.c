/* SPDX-License-Identifier: MIT */
/* tile.c - cuts the rows into items and the keys into spans. Nothing here changes a bit of the
 * result; it decides how often a key block is fetched and how evenly the work divides.
 */
#include "base/checked.h"
#include "base/contract.h"
#include "plan/plan.h"

/* what the tiles of one slot may take, so that a thread stays within its share of the cache */
#define SLOT_BUDGET (INT64_C(1536) * 1024)

/* what a thread may take in all, and what everything but tiles and copied blocks takes of it at most */
#define THREAD_BUDGET (INT64_C(2048) * 1024)
#define OTHER_BUDGET (INT64_C(192) * 1024)

/* what the tiles of an item touch with every key block: the greater part of a second-level cache of
 * 1 MB, which a block of keys and values must share */
#define TILES_BUDGET (INT64_C(640) * 1024)

/* what the nodes of spans done apart may take, for each thread */
#define APART_BUDGET (INT64_C(512) * 1024)

enum { ITEMS_A_THREAD = 8 };

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* nodes that wait for their right sibling while the spans are walked */
static int32_t tree_levels(int64_t spans)
{
    int32_t levels = 0;
    while (spans > 1) {
        spans = (spans + 1) / 2;
        levels++;
    }
    return levels;
}

static void tile_reference(qkv_plan *plan)
{
    plan->lanes = 1;
    plan->tile_rows = 1;
    plan->item_rows = 1;
    plan->item_tiles = 1;
}

/* What is left for tiles beside keys gathered, values in strips and rows that change their type, a block
 * each. */
static int64_t tiles_budget(const qkv_plan *plan, int64_t d, int64_t dv)
{
    const int64_t copied = QKVI_BLOCK * (d + dv + (d > dv ? d : dv)) * plan->real_bytes;
    const int64_t left = THREAD_BUDGET - OTHER_BUDGET - copied;
    return left < 0 ? 0 : left < SLOT_BUDGET ? left : SLOT_BUDGET;
}

/* How many items there are; of packed sequences at most, since how they divide comes with the data. */
static void count_items(qkv_plan *plan)
{
    plan->row_blocks = divide_up(plan->rows, plan->item_rows);
    if (plan->sequences > 0)
        plan->row_blocks += plan->sequences < plan->rows ? plan->sequences : plan->rows;
    plan->items = plan->batch * plan->heads * plan->row_blocks;
}

/* Few rows, whose masks are ranges and whose scores nothing is added to. */
static int32_t few_heads(const qkv_plan *plan)
{
    const uint64_t ranges = QKV_USE_CAUSAL | QKV_USE_WINDOW | QKV_USE_PREFIX | QKV_USE_KV_LEN |
                            QKV_USE_Q_LEN | QKV_USE_KV_START | QKV_USE_Q_OFFSETS;
    const int64_t most = plan->tile_rows < QKVI_FEW_ROWS ? plan->tile_rows : QKVI_FEW_ROWS;
    if ((plan->use & ~ranges) || plan->sequences || plan->rows < 1 || plan->rows > most) return 0;
    if (plan->rows > 1 || plan->kv_heads == 0) return 1;
    const int64_t group = plan->heads / plan->kv_heads;
    int64_t heads = group < most ? group : most;
    while (heads > 1 && group % heads) heads--;
    return heads < 1 ? 1 : (int32_t)heads;
}

/* Channels that are not adjacent, or of a type that few rows do not read in place. */
static int32_t few_copies(const qkv_plan *plan, const qkv_shape *x)
{
    const int near = x->dtype == plan->real ||
                     (plan->real == QKV_F32 && (x->dtype == QKV_F16 || x->dtype == QKV_BF16));
    return !near || (x->dim[3] > 1 && x->stride[3] != 1);
}

/* Fewer items than threads can use, several spans, and room for the spans' nodes. */
static int32_t worth_apart(const qkv_plan *plan)
{
    int64_t rows, bytes;
    return plan->few_heads && plan->max_threads > 1 && plan->spans > 1 && plan->items > 0 &&
           plan->items / plan->few_heads < 2 * (int64_t)plan->max_threads &&
           !qkvi_mul(plan->batch * plan->heads * plan->rows, plan->spans, &rows) &&
           !qkvi_mul(rows, (plan->dv + 2) * plan->real_bytes, &bytes) &&
           bytes <= APART_BUDGET * plan->max_threads;
}

/* A tensor that says who sees whom is often made of squares of 64 or 128: tiles keep within them. */
static int32_t tiles_a_block(const qkv_plan *plan)
{
    if (!(plan->use & (QKV_USE_MASK | QKV_USE_BIAS)) || plan->rows < QKVI_BLOCK) return 0;
    return (int32_t)divide_up(QKVI_BLOCK, plan->tile_rows);
}

int32_t qkvi_plan_tile_rows(const qkv_plan *plan, int32_t i)
{
    if (plan->tiles_a_block == 0) return plan->tile_rows;
    const int32_t n = plan->tiles_a_block, vectors = QKVI_BLOCK / plan->lanes;
    return (vectors / n + (i % n < vectors % n)) * plan->lanes;
}

/* How many units of `unit_rows` rows an item has, at most `most`: a few items for each thread, or the last
 * one to finish is waited for; and even ones: of 512 rows 288 and 224 rather than 384 and 128. */
static int64_t even_items(const qkv_plan *plan, int64_t most, int64_t unit_rows)
{
    const int64_t needed = divide_up(plan->rows, unit_rows);
    const int64_t heads = plan->batch * plan->heads,
                  wanted = (int64_t)ITEMS_A_THREAD * plan->max_threads;
    if (plan->max_threads > 1 && heads > 0 && heads < wanted) {
        const int64_t fair = divide_up(needed, divide_up(wanted, heads));
        if (most > fair && fair > 0) most = fair;
    }
    const int64_t items = divide_up(needed, most);
    return items > 0 ? divide_up(needed, items) : most;
}

void qkvi_plan_tile(qkv_plan *plan)
{
    plan->spans = divide_up(plan->keys, QKVI_SPAN);
    plan->levels = tree_levels(plan->spans);
    if (plan->ops == NULL) {
        tile_reference(plan);
        count_items(plan);
        return;
    }
    plan->lanes = plan->ops->lanes;
    plan->tile_rows = plan->lanes * QKVI_TILE_VECTORS;
    plan->few_heads = few_heads(plan);

    /* a row costs its queries, and a value sum for each node kept (sizes far beyond the budget are
     * all alike) */
    const int64_t d = plan->d < SLOT_BUDGET ? plan->d : SLOT_BUDGET;
    const int64_t dv = plan->dv < SLOT_BUDGET ? plan->dv : SLOT_BUDGET;
    const int64_t row_bytes = (d + (dv + 2) * (plan->levels + 1)) * plan->real_bytes;
    int64_t tiles = QKVI_ITEM_ROWS / plan->tile_rows;
    if (tiles > QKVI_ITEM_TILES) tiles = QKVI_ITEM_TILES;
    const int64_t touched = (d + dv + 2) * plan->real_bytes;
    const int64_t budget = tiles_budget(plan, d, dv);
    if (tiles > budget / (row_bytes * plan->tile_rows))
        tiles = budget / (row_bytes * plan->tile_rows);
    if (tiles > TILES_BUDGET / (touched * plan->tile_rows))
        tiles = TILES_BUDGET / (touched * plan->tile_rows);
    if (tiles < 1) tiles = 1;
    plan->tiles_a_block = tiles_a_block(plan);
    if (plan->tiles_a_block > tiles) plan->tiles_a_block = 0;
    const int64_t unit = plan->tiles_a_block ? plan->tiles_a_block : 1;
    const int64_t unit_rows = plan->tiles_a_block ? QKVI_BLOCK : plan->tile_rows;
    tiles = even_items(plan, tiles / unit, unit_rows) * unit;
    plan->item_tiles = (int32_t)tiles;
    /* rows far apart share cache sets and cost a page each: copied once for all tiles */
    plan->gather_k = (plan->k.dim[3] > 1 && plan->k.stride[3] != 1) ||
                     (tiles > 1 && plan->k.stride[2] != plan->d);
    plan->strips_v = tiles > 1 || (plan->v.dim[3] > 1 && plan->v.stride[3] != 1);
    /* another type is brought to the run's when a block is copied */
    if (plan->k.dtype != plan->real) plan->gather_k = 1;
    if (plan->v.dtype != plan->real) plan->strips_v = 1;
    plan->few_copies_k = few_copies(plan, &plan->k);
    plan->few_copies_v = few_copies(plan, &plan->v);
    plan->item_rows = tiles / unit * unit_rows;
    count_items(plan);
    plan->apart = worth_apart(plan);
}

int64_t qkvi_plan_items(const qkv_plan *plan)
{
    if (plan->few_heads == 0) return plan->items;
    return plan->items / plan->few_heads * (plan->apart ? plan->spans : 1);
}

int32_t qkvi_plan_tasks(const qkv_plan *plan, int32_t nthreads)
{
    int64_t n = plan->max_threads < nthreads ? plan->max_threads : nthreads;
    if (n > qkvi_plan_items(plan)) n = qkvi_plan_items(plan);
    return n < 1 ? 1 : (int32_t)n;
}
