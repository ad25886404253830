/* SPDX-License-Identifier: MIT */
/* look.c - see look.h. Ranges come first: of a bool tensor only what they leave open is read, of biases the
 * tiles in which they leave something open.
 */
#include "run/look.h"
#include "base/contract.h"
#include "base/shape.h"
#include "mask/mask_bits.h"
#include "mask/mask_drop.h"
#include "ref/ref.h"
#include "run/kinds.h"

#define CHANGES (QKV_USE_SOFTCAP | QKV_USE_RULE | QKV_USE_ALIBI | QKV_USE_BIAS)

/* the bool tensor from that row and key on */
static qkvi_bools bools_from(const qkvi_job *job, const qkvi_place *place, int64_t row, int64_t key)
{
    const qkv_shape *const m = &job->plan->look;
    return (qkvi_bools){.base = job->mask,
                        .packed = m->dtype == QKV_BITS,
                        .drops = job->plan->mask_drops,
                        .at = qkvi_element_at(m, place, row, key),
                        .row_stride = m->stride[2],
                        .key_stride = m->stride[3],
                        .keys = m->dim[3] - (place->key + key)};
}

/* how many of the block's keys have a bias */
static int64_t biased(const qkv_plan *p, const qkvi_place *place, int64_t key, int32_t keys)
{
    const int64_t left = p->bias.dim[3] - (place->key + key);
    return left < 0 ? 0 : left < keys ? left : keys;
}

static const void *bias_from(const qkvi_job *job, const qkvi_place *place, int64_t row, int64_t key)
{
    const qkv_shape *const b = &job->plan->bias;
    return qkvi_at(job->bias, qkvi_element_at(b, place, row, key) * qkvi_dtype_bytes(b->dtype));
}

double qkvi_number(const qkv_plan *plan, const void *x, int64_t i)
{
    typedef float any_float __attribute__((aligned(1), may_alias));
    typedef double any_double __attribute__((aligned(1), may_alias));
    return plan->real_bytes == 4 ? (double)((const any_float *)x)[i] : ((const any_double *)x)[i];
}

double qkvi_log2_units(const qkv_plan *plan, double x)
{
    const double y = x * QKVI_LOG2E;
    const int single = plan->real_bytes == 4;
    const double largest = single ? (double)__FLT_MAX__ : __DBL_MAX__;
    const double rounded = single ? (double)(float)y : y;
    return rounded > largest ? largest : rounded < -largest ? -largest : rounded;
}

double qkvi_slope(const qkvi_job *job, const qkvi_place *place)
{
    const qkv_plan *const p = job->plan;
    if (!(p->use & QKV_USE_ALIBI)) return 0;
    if (p->alibi_max_bias > 0) return qkvi_ref_slope(place->head, p->heads, p->alibi_max_bias);
    return qkvi_number(p, job->slopes,
                       (p->slopes_by_batch ? place->sequence * p->heads : 0) + place->head);
}

double qkvi_sink(const qkvi_job *job, const qkvi_place *place)
{
    if (!(job->plan->use & QKV_USE_SINK)) return -__builtin_inf();
    return qkvi_number(job->plan, job->sinks, place->head);
}

void qkvi_look_begin(const qkvi_job *job, const qkvi_place *place, qkvi_change *change)
{
    const qkv_plan *const p = job->plan;
    if (!(p->use & CHANGES)) return;
    *change = (qkvi_change){.cap = (p->use & QKV_USE_SOFTCAP) != 0,
                            .alibi = (p->use & QKV_USE_ALIBI) != 0,
                            .cap_in = p->cap_in,
                            .cap_out = p->cap_out,
                            .slope = qkvi_log2_units(p, qkvi_slope(job, place)),
                            .batch = place->sequence,
                            .head = place->head};
    if (p->use & QKV_USE_RULE) {
        change->rule = job->rule->score;
        change->rule_ctx = job->rule->ctx;
    }
}

/* Bits of what masks and biases leave of the tile. */
static qkvi_tile_kind narrow(const qkvi_job *job, char *slot, const qkvi_place *place,
                             const qkvi_tile *t, int64_t key, qkvi_step *s, qkvi_tile_kind kind)
{
    const qkv_plan *const p = job->plan;
    int32_t *const lo = (int32_t *)(void *)(slot + p->at_lo);
    int32_t *const hi = (int32_t *)(void *)(slot + p->at_hi);
    qkvi_bits *const bits = (qkvi_bits *)(void *)(slot + p->at_bits);
    uint64_t *const live = (uint64_t *)(void *)(slot + p->at_live);
    const qkvi_bools bools =
        p->use & QKV_USE_MASK ? bools_from(job, place, t->row, key) : (qkvi_bools){0};
    int scattered;
    if (p->use & QKV_USE_MASK && kind == QKVI_TILE_ALL) {
        const qkvi_tile_kind quick = qkvi_bools_kind(&bools, t->rows, s->keys);
        if (quick == QKVI_TILE_NONE) return quick;
        if (quick == QKVI_TILE_ALL && !(p->use & QKV_USE_BIAS)) return kind;
    }
    qkvi_bits_ranges(bits, kind == QKVI_TILE_ALL ? NULL : lo, hi, t->rows, s->keys);
    if (p->use & QKV_USE_MASK) qkvi_bits_bools(bits, &bools, t->rows, s->keys);
    if (p->use & QKV_USE_BIAS) {
        const int64_t n = biased(p, place, key, s->keys);
        qkvi_bits_first(bits, t->rows, n);
        p->ops->bias_seen(bias_from(job, place, t->row, key), p->bias.dtype, p->bias.stride[2],
                          p->bias.stride[3], t->rows, n, bits->row);
    }
    kind = qkvi_bits_kind(bits, t->rows, s->keys, lo, hi, live, &scattered);
    if (scattered) s->live = live;
    return kind;
}

qkvi_tile_kind qkvi_look(const qkvi_job *job, char *slot, const qkvi_place *place,
                         const qkvi_tile *t, const qkvi_range *ranges, int64_t key, qkvi_step *s,
                         qkvi_change *change)
{
    const qkv_plan *const p = job->plan;
    int32_t *const lo = (int32_t *)(void *)(slot + p->at_lo);
    int32_t *const hi = (int32_t *)(void *)(slot + p->at_hi);
    const int64_t width = (int64_t)t->vectors * p->lanes;
    s->lo = s->hi = NULL;
    s->live = NULL;
    s->change = NULL;
    qkvi_tile_kind kind = qkvi_mask_tile(ranges, t->rows, &t->sees, key, s->keys, lo, hi);
    if (kind != QKVI_TILE_NONE && p->use & (QKV_USE_MASK | QKV_USE_BIAS)) {
        const int known = qkvi_kind_known(t, key);
        if (known == QKVI_TILE_NONE || known == QKVI_TILE_ALL) {
            kind = (qkvi_tile_kind)known;
        } else {
            kind = narrow(job, slot, place, t, key, s, kind);
            qkvi_kind_keep(t, key, kind);
        }
    }
    if (kind == QKVI_TILE_NONE) return kind;
    if (p->use & CHANGES) {
        change->position = place->mask.shift + place->own_row + t->row;
        change->key = key;
        change->rows = t->rows;
        if (p->use & QKV_USE_BIAS) {
            void *const to = slot + p->at_bias;
            p->ops->bias(to, bias_from(job, place, t->row, key), p->bias.dtype, p->bias.stride[2],
                         p->bias.stride[3], t->rows, biased(p, place, key, s->keys), width);
            change->bias = to;
        }
        s->change = change;
    }
    if (kind == QKVI_TILE_ALL) return kind;
    for (int64_t r = t->rows; r < width; r++) lo[r] = hi[r] = 0;
    s->lo = lo;
    s->hi = hi;
    return kind;
}

static qkvi_dropout dropout(const qkvi_job *job, const qkvi_place *place)
{
    return (qkvi_dropout){.seed = job->seed,
                          .from = job->plan->drop_from,
                          .head = job->first_head + place->head,
                          .batch = job->first_batch + place->sequence};
}

void qkvi_look_drop(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *t,
                    int64_t key, qkvi_step *s)
{
    const qkv_plan *const p = job->plan;
    const qkvi_dropout d = dropout(job, place);
    qkvi_bits *const bits = (qkvi_bits *)(void *)(slot + p->at_bits);
    uint64_t *const kept = (uint64_t *)(void *)(slot + p->at_drop);
    qkvi_drop_bits(bits, &d, place->mask.shift + place->own_row + t->row, t->rows, key, s->keys);
    qkvi_bits_by_key(bits, t->rows, kept);
    for (int j = 0; j < QKVI_BITS_KEYS && s->live; j++) kept[j] &= s->live[j];
    s->live = kept;
}

void qkvi_kept_row(const qkvi_job *job, const qkvi_place *place, int64_t own_row,
                   unsigned char *kept)
{
    const qkvi_dropout d = dropout(job, place);
    const int64_t padding = place->key - place->first_key;
    for (int64_t j = 0; j < padding && j < place->all_keys; j++) kept[j] = 0;
    for (int64_t j = padding; j < place->all_keys; j += QKVI_BITS_KEYS) {
        const int64_t left = place->all_keys - j;
        const int32_t n = left < QKVI_BITS_KEYS ? (int32_t)left : QKVI_BITS_KEYS;
        qkvi_bits b;
        qkvi_drop_bits(&b, &d, place->mask.shift + own_row, 1, j - padding, n);
        for (int32_t i = 0; i < n; i++) kept[j + i] = b.row[0][i / 64] >> i % 64 & 1;
    }
}

void qkvi_look_row(const qkvi_job *job, const qkvi_place *place, const qkvi_range *range,
                   unsigned char *seen)
{
    const qkv_plan *const p = job->plan;
    const int64_t padding = place->key - place->first_key;
    for (int64_t j = 0; j < place->all_keys; j++)
        seen[j] = j - padding >= range->lo && j - padding < range->hi;
    if (!(p->use & (QKV_USE_MASK | QKV_USE_BIAS))) return;
    for (int64_t j = range->lo; j < range->hi; j++) {
        qkvi_bits one;
        qkvi_bits_ranges(&one, NULL, NULL, 1, 1);
        if (p->use & QKV_USE_MASK) {
            const qkvi_bools x = bools_from(job, place, 0, j);
            qkvi_bits_bools(&one, &x, 1, 1);
        }
        if (p->use & QKV_USE_BIAS) {
            const int64_t n = biased(p, place, j, 1);
            qkvi_bits_first(&one, 1, n);
            p->kernels->f64.bias_seen(bias_from(job, place, 0, j), p->bias.dtype, 0, 0, 1, n,
                                      one.row);
        }
        if (one.row[0][0] == 0) seen[padding + j] = 0;
    }
}
