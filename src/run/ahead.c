/* SPDX-License-Identifier: MIT */
/* ahead.c - what is fetched while a tile works on a block: the rows that come next, which no hardware
 * foresees because they lie far apart. It changes no result.
 */
#include "base/contract.h"
#include "base/shape.h"
#include "run/item.h"
#include "run/kinds.h"
#include "run/look.h"

/* Channels are fetched ahead where they lie in a row and are read as they are. */
static qkvi_ahead rows_ahead(const qkv_plan *p, const qkv_shape *x, const void *at, int64_t rows)
{
    if (x->stride[3] != 1 || x->dtype != p->real) rows = 0;
    return (qkvi_ahead){at, x->stride[2] * p->real_bytes, x->dim[3] * p->real_bytes, rows};
}

/* Rows [from, from + rows) of the 128 keys and values that begin at k and v. */
static void ahead_block(qkvi_item *it, int64_t from, int64_t rows, int which, const void *k,
                        const void *v)
{
    const qkv_plan *const p = it->plan;
    it->step.ahead[0][which] =
        rows_ahead(p, &p->k, qkvi_at(k, from * p->k.stride[2] * p->k_bytes), rows);
    it->step.ahead[1][which] =
        rows_ahead(p, &p->v, qkvi_at(v, from * p->v.stride[2] * p->v_bytes), rows);
}

/* An eighth of a block for each tile that works, more where an item has fewer tiles. */
static int64_t part_of(const qkvi_item *it, int64_t from)
{
    const int32_t parts = it->ntiles < 8 ? it->ntiles : 8;
    const int64_t part = (QKVI_BLOCK + parts - 1) / parts;
    return from >= QKVI_BLOCK ? 0 : qkvi_min64(part, QKVI_BLOCK - from);
}

/* With a tile's last block: the rows that it will write, the rows that the same tile of the next item
 * will read, and a part of the first block of that item. */
static void ahead_end(qkvi_item *it, int32_t tile)
{
    const qkvi_job *const job = it->job;
    const qkv_plan *const p = it->plan;
    const qkvi_tile *const t = it->tiles + tile;
    const qkvi_place *const at = &it->place, *const next = &it->next;
    if (!job->partial)
        it->step.ahead[0][0] =
            rows_ahead(p, &p->out,
                       qkvi_at(job->out, qkvi_shape_at(&p->out, p->out_bytes, at->batch, at->head,
                                                       at->row + t->row)),
                       t->rows);
    if (t->row + t->rows <= next->rows)
        it->step.ahead[1][0] =
            rows_ahead(p, &p->q,
                       qkvi_at(job->q, qkvi_shape_at(&p->q, p->q_bytes, next->batch, next->head,
                                                     next->row + t->row)),
                       t->rows);
    if (next->rows == 0 || it->next_key + QKVI_BLOCK > next->mask.keys) return;
    const int64_t head = next->head / (p->heads / p->kv_heads), key = next->key + it->next_key;
    const int64_t from = tile * part_of(it, 0);
    ahead_block(it, from, part_of(it, from), 1,
                qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, next->batch, head, key)),
                qkvi_at(job->v, qkvi_shape_at(&p->v, p->v_bytes, next->batch, head, key)));
}

/* Masks and biases of a tile and a block are read right before its scores are computed: their rows are
 * fetched up to so many tiles before, dead ones among them. Not more: rows a power of two apart share few
 * sets of the cache. */
enum { LOOK_AHEAD = 9 };

static int64_t bytes_of(const qkv_shape *x, int64_t elements)
{
    if (x->dtype == QKV_BITS) return elements / 8;
    return x->dtype == QKV_BOOL ? elements : elements * qkvi_dtype_bytes(x->dtype);
}

static qkvi_ahead look_rows(const qkvi_item *it, const qkv_shape *x, const void *base,
                            const qkvi_tile *t, int64_t key)
{
    const int64_t n = qkvi_min64(QKVI_BLOCK, x->dim[3] - (it->place.key + key));
    if (x->stride[3] != 1 || n <= 0) return (qkvi_ahead){0};
    const int64_t from = qkvi_element_at(x, &it->place, t->row, key);
    return (qkvi_ahead){qkvi_at(base, bytes_of(x, from)), bytes_of(x, x->stride[2]), bytes_of(x, n),
                        x->stride[2] ? t->rows : 1};
}

/* Sets ahead[when][2] to the next tile's rows that are to be read; 0: there are none so near. */
static int ahead_look(qkvi_item *it, int64_t now, int when)
{
    const qkvi_job *const job = it->job;
    const qkv_plan *const p = it->plan;
    const int reads_bias = (p->use & QKV_USE_BIAS) != 0;
    for (; it->look <= now + LOOK_AHEAD; it->look++) {
        const qkvi_tile *const t = it->tiles + it->look % it->ntiles;
        const int64_t key = it->look / it->ntiles * QKVI_BLOCK;
        if (key >= it->key_end) return 0;
        if (key + QKVI_BLOCK <= t->sees.any.lo || key >= t->sees.any.hi) continue;
        const int known = qkvi_kind_known(t, key);
        if (known == QKVI_TILE_NONE || (known == QKVI_TILE_ALL && !reads_bias)) continue;
        it->step.ahead[when][2] = reads_bias ? look_rows(it, &p->bias, job->bias, t, key)
                                             : look_rows(it, &p->look, job->mask, t, key);
        it->look++;
        return known < 0;
    }
    return 0;
}

void qkvi_ahead_tile(qkvi_item *it, int32_t tile, int64_t key)
{
    const qkv_plan *const p = it->plan;
    const int64_t next = key + QKVI_BLOCK, now = key / QKVI_BLOCK * it->ntiles + tile;
    __builtin_memset(it->step.ahead, 0, sizeof it->step.ahead);
    if (p->use & (QKV_USE_MASK | QKV_USE_BIAS)) {
        if (it->look <= now) it->look = now + 1;
        /* where many tiles may be left out, one that works fetches for two */
        if (ahead_look(it, now, 0)) ahead_look(it, now, 1);
    }
    if (next >= it->tiles[tile].sees.any.hi) {
        ahead_end(it, tile);
    } else if (next + QKVI_BLOCK <= qkvi_min64(it->key_end, it->place.mask.keys)) {
        const int64_t rows = part_of(it, it->block_ahead);
        ahead_block(it, it->block_ahead, rows, 0,
                    qkvi_at(it->k, next * p->k.stride[2] * p->k_bytes),
                    qkvi_at(it->v, next * p->v.stride[2] * p->v_bytes));
        it->block_ahead += rows;
    }
}

/* Another task may be faster: then this was fetched for nothing. */
void qkvi_ahead_item(qkvi_item *it, int64_t number)
{
    const qkvi_job *const job = it->job;
    if (number + job->tasks >= job->items) return;
    it->next = qkvi_item_place(job, number + job->tasks);
    const qkvi_range x = qkvi_mask_row(&it->next.mask, it->next.own_row);
    it->next_key = x.lo / QKVI_BLOCK * QKVI_BLOCK;
}
