/* SPDX-License-Identifier: MIT */
/* workspace.c - the offset of every buffer in a slot (see plan.h), all 64-aligned, all sums
 * checked.
 *
 * Whatever run/ writes to has its place here, and nowhere else.
 */
#include "base/checked.h"
#include "base/contract.h"
#include "base/error.h"
#include "mask/mask_bits.h"
#include "plan/plan.h"
#include "plan/tile.h"

/* what the kinds of tiles may take, all in all */
#define KINDS_BUDGET (INT64_C(64) * 1024)

/* *at = where a buffer of a * b bytes begins; *end moves past it. 1 on overflow. */
static int place(int64_t *at, int64_t *end, int64_t a, int64_t b)
{
    int64_t bytes;
    if (qkvi_mul(a, b, &bytes) || qkvi_add(bytes, 63, &bytes)) return 1;
    *at = *end;
    return qkvi_add(*end, bytes / 64 * 64, end);
}

/* 1 when a tensor says, key by key, who sees whom */
static int64_t by_bits(const qkv_plan *p)
{
    return (p->use & (QKV_USE_MASK | QKV_USE_BIAS)) != 0 || p->drop_from > 0;
}

static int place_reference(qkv_plan *p, int64_t *end)
{
    /* score, scaled, masked, weight, capped, then which keys are seen and kept, then out */
    return place(&p->at_s, end, p->keys, 5 * (int64_t)sizeof(double)) ||
           place(&p->at_live, end, by_bits(p) * p->keys, 1) ||
           place(&p->at_drop, end, p->keys, 1) ||
           place(&p->at_nodes, end, p->dv, (int64_t)sizeof(double));
}

/* whole strips, and one for each channel left over; dv < 2^60 */
static int64_t strips(const qkv_plan *p)
{
    return p->dv / p->ops->strip + p->dv % p->ops->strip;
}

static int place_tiles(qkv_plan *p, int64_t *end)
{
    const int64_t w = p->tile_rows, e = p->real_bytes;
    const int64_t wide_q = p->q.dtype != p->real || p->out.dtype != p->real ? w : 0;
    const int64_t wide_rows = p->v.dtype != p->real && QKVI_BLOCK > wide_q ? QKVI_BLOCK : wide_q;
    int64_t nodes = 0, node = 0, at;
    if (place(&p->at_ranges, end, p->item_rows, (int64_t)sizeof(qkvi_range)) ||
        place(&p->at_lo, end, w, (int64_t)sizeof(int32_t)) ||
        place(&p->at_hi, end, w, (int64_t)sizeof(int32_t)) ||
        place(&p->at_bits, end, by_bits(p), (int64_t)sizeof(qkvi_bits)) ||
        place(&p->at_live, end, by_bits(p) * QKVI_BITS_KEYS, (int64_t)sizeof(uint64_t)) ||
        place(&p->at_drop, end, p->drop_from ? QKVI_BITS_KEYS : 0, (int64_t)sizeof(uint64_t)) ||
        place(&p->at_bias, end, p->use & QKV_USE_BIAS ? QKVI_BLOCK * w : 0, e) ||
        place(&p->at_tiles, end, p->item_tiles, (int64_t)sizeof(qkvi_tile)) ||
        place(&p->at_s, end, QKVI_BLOCK * w, e) || place(&p->at_mb, end, w, e) ||
        place(&p->at_lb, end, w, e) || place(&p->at_show, end, QKVI_BLOCK, e) ||
        place(&p->at_k, end, p->gather_k ? p->d : 0, QKVI_BLOCK * e) ||
        place(&p->at_v, end, p->strips_v ? strips(p) : 0, p->ops->strip_step * e) ||
        place(&p->at_wide, end, p->d > p->dv ? p->d : p->dv, wide_rows * e))
        return 1;
    if (place(&at, &node, p->dv, w * e) || place(&at, &node, w, e) || place(&at, &node, w, e))
        return 1;
    p->node_bytes = node;
    int64_t qt = 0;
    if (place(&at, &qt, p->d, w * e) || place(&p->at_top, &qt, w, e)) return 1;
    p->qt_bytes = qt;
    if (qkvi_mul(node, p->levels + 1, &nodes) || qkvi_add(nodes, qt, &nodes)) return 1;
    return place(&p->at_nodes, end, nodes, p->item_tiles);
}

static int place_few(qkv_plan *p, int64_t *end)
{
    const int64_t e = p->real_bytes, rows = QKVI_FEW_ROWS;
    int64_t at;
    if (p->few_heads == 0) return 0;
    p->sums_bytes = p->state_bytes = 0;
    if (place(&at, &p->sums_bytes, p->dv, e) || place(&at, &p->state_bytes, p->dv, e) ||
        qkvi_add(p->state_bytes, 64, &p->state_bytes)) /* m and l, before 64-aligned o */
        return 1;
    return place(&p->at_few_s, end, rows * QKVI_SPAN, e) ||
           place(&p->at_few_mb, end, rows * QKVI_SPAN_BLOCKS, e) ||
           place(&p->at_few_lb, end, rows * QKVI_SPAN_BLOCKS, e) ||
           place(&p->at_few_sums, end, rows, p->sums_bytes) ||
           place(&p->at_few_states, end, rows, p->state_bytes);
}

/* The nodes of every span and row, and a qkv_partial for each span. */
static int place_apart(qkv_plan *p, int64_t *end)
{
    int64_t rows;
    if (!p->apart) return 0;
    if (qkvi_mul(p->batch * p->heads * p->rows, p->spans, &rows)) return 1;
    return place(&p->at_parts, end, p->spans, (int64_t)sizeof(qkv_partial)) ||
           place(&p->at_apart, end, rows, (p->dv + 2) * p->real_bytes);
}

/* One byte for each tile and block of keys, where all heads see the same of them. */
static int place_kinds(qkv_plan *p, int64_t *end)
{
    int64_t bytes;
    p->kinds_bytes = 0;
    p->kinds_tile = p->keys / QKVI_BLOCK + (p->keys % QKVI_BLOCK != 0);
    if (!(p->use & (QKV_USE_MASK | QKV_USE_BIAS)) || p->heads < 2 || p->sequences ||
        (p->use & QKV_USE_MASK && p->look.stride[1] != 0) ||
        (p->use & QKV_USE_BIAS && p->bias.stride[1] != 0) ||
        qkvi_mul(p->batch * p->row_blocks, p->item_tiles * p->kinds_tile, &bytes) ||
        bytes > KINDS_BUDGET)
        return 0;
    p->kinds_bytes = bytes;
    return place(&p->at_kinds, end, bytes, 1);
}

qkv_status qkvi_plan_workspace(qkv_plan *p, qkv_error *err)
{
    int64_t end = 0, all, edges = 0;
    p->at_slots = 64 + qkvi_round64(p->max_threads);
    if ((p->sequences && qkvi_add(p->sequences, 1, &edges)) ||
        place(&p->at_blocks, &p->at_slots, edges, (int64_t)sizeof(int64_t)) ||
        place(&p->at_finals, &p->at_slots,
              p->use & QKV_USE_KEY_SUMS ? p->batch * p->heads * p->rows : 0, 2 * p->real_bytes) ||
        place_apart(p, &p->at_slots) || (p->ops && place_kinds(p, &p->at_slots)) ||
        (p->ops ? place_tiles(p, &end) || place_few(p, &end) : place_reference(p, &end)) ||
        qkvi_mul(end, p->max_threads, &all) || qkvi_add(all, p->at_slots, &all) ||
        all > PTRDIFF_MAX)
        return qkvi_fail(err, QKV_EARG, "params", p->d, INT64_MAX,
                         QKVI_SAY(QKVI_S("params: the workspace for "), QKVI_I(p->d),
                                  QKVI_S(" channels, "), QKVI_I(p->dv),
                                  QKVI_S(" value channels and "), QKVI_I(p->max_threads),
                                  QKVI_S(" threads is too large: it must be below 2^63 bytes")));
    p->slot_bytes = end;
    p->workspace_bytes = p->items > 0 ? all : 0;
    return QKV_OK;
}
