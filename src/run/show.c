/* SPDX-License-Identifier: MIT */
/* show.c - see show.h. A tile's scores are computed once a stage and block, and written row by row; a
 * key that belongs to another sequence scores -inf and weighs +0.
 */
#include "run/show.h"
#include "base/contract.h"
#include "base/shape.h"
#include "run/look.h"
#include "run/tree.h"

enum { SCALED, CAPPED, MASKED, WEIGHT, STAGES };

static void *array_of(const qkv_show *s, int stage)
{
    return stage == SCALED   ? s->scaled
           : stage == CAPPED ? s->capped
           : stage == MASKED ? s->masked
                             : s->weight;
}

/* where the numbers of chosen row i of the place's head begin */
static char *row_at(const qkvi_job *job, void *array, const qkvi_place *place, int64_t i,
                    int64_t bytes)
{
    const qkv_plan *const p = job->plan;
    const int64_t rows = job->show->rows ? job->show->nrows : p->rows;
    return (char *)array + ((place->batch * p->heads + place->head) * rows + i) * p->keys * bytes;
}

/* The next chosen row from i on that is one of the tensor rows [first, first + n); -1: no more. */
static int64_t next_row(const qkvi_job *job, int64_t first, int64_t n, int64_t i)
{
    const qkv_show *const s = job->show;
    if (s->rows == NULL) return i < first ? first : i < first + n ? i : -1;
    for (; i < s->nrows; i++)
        if (s->rows[i] >= first && s->rows[i] < first + n) return i;
    return -1;
}

static void fill(const qkv_plan *p, void *x, int64_t from, int64_t to, double value)
{
    for (int64_t j = from; j < to; j++) qkvi_put(x, j, p->real, value);
}

static int is_seen(const qkvi_step *s, int64_t r, int64_t j)
{
    if (s->lo && (j < s->lo[r] || j >= s->hi[r])) return 0;
    return !s->live || (s->live[j] >> r & 1);
}

/* One stage of the tile for one block: key tensor keys from first_key + key on, own or padding. */
typedef struct block {
    const qkvi_range *ranges;
    int64_t key; /* counted from own key 0; negative in the padding */
    int own;
    qkvi_change change;
} block;

static qkvi_tile_kind compute(const qkvi_job *job, char *slot, const qkvi_place *place,
                              const qkvi_tile *t, block *b, int stage, qkvi_step *s)
{
    const qkv_plan *const p = job->plan;
    qkvi_tile_kind kind = QKVI_TILE_ALL;
    s->lo = s->hi = NULL;
    s->live = NULL;
    s->change = NULL;
    if (stage == CAPPED && p->use & (QKV_USE_SOFTCAP | QKV_USE_RULE)) {
        b->change.only_cap = 1;
        b->change.position = place->mask.shift + place->own_row + t->row;
        b->change.key = b->key;
        b->change.rows = t->rows;
        s->change = &b->change;
    }
    if (stage >= MASKED)
        kind = b->own ? qkvi_look(job, slot, place, t, b->ranges, b->key, s, &b->change)
                      : QKVI_TILE_NONE;
    if (kind == QKVI_TILE_NONE) return kind;
    p->ops->score(s);
    b->change.only_cap = 0;
    if (stage == WEIGHT) p->ops->weigh(s);
    return kind;
}

static void write_row(const qkv_plan *p, const qkvi_tile *t, int stage, qkvi_tile_kind kind,
                      const qkvi_step *s, int64_t r, void *x)
{
    const int64_t width = (int64_t)t->vectors * p->lanes;
    if (stage == WEIGHT) {
        const int64_t lo = s->lo ? s->lo[r] : 0;
        const int64_t hi = kind == QKVI_TILE_NONE ? lo : s->hi ? s->hi[r] : s->keys;
        p->ops->show_weight(s->s, s->mb, qkvi_node_m(p, t->work), qkvi_node_l(p, t->work), x, lo,
                            hi, s->live, s->keys, r, width);
        return;
    }
    if (kind == QKVI_TILE_NONE) {
        fill(p, x, 0, s->keys, -(double)__builtin_inff());
        return;
    }
    p->ops->show_scaled(s->s, x, s->keys, r, width);
    for (int64_t j = 0; j < s->keys && stage == MASKED; j++)
        if (!is_seen(s, r, j)) fill(p, x, j, j + 1, -(double)__builtin_inff());
}

qkvi_step qkvi_again_step(const qkvi_job *job, char *slot, const qkvi_tile *t, int64_t keys)
{
    const qkv_plan *const p = job->plan;
    return (qkvi_step){.qt = t->qt,
                       .d = p->d,
                       .vectors = t->vectors,
                       .s = slot + p->at_s,
                       .mb = slot + p->at_mb,
                       .lb = slot + p->at_lb,
                       .keys = (int32_t)keys};
}

void qkvi_again_keys(const qkvi_job *job, char *slot, const qkvi_place *place, int64_t at,
                     qkvi_step *s)
{
    const qkv_plan *const p = job->plan;
    const int64_t kv_head = place->head / (p->heads / p->kv_heads);
    s->k = qkvi_at(job->k, qkvi_shape_at(&p->k, p->k_bytes, place->batch, kv_head, at));
    s->k_stride = p->k.stride[2];
    if (!p->gather_k) return;
    qkvi_block_keys(p, slot + p->at_k, s->k, s->keys);
    s->k = slot + p->at_k;
    s->k_stride = p->d;
}

static void show_block(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *t,
                       block *b, int64_t at, int32_t n)
{
    const qkv_plan *const p = job->plan;
    const int64_t first = place->row + t->row;
    qkvi_step s = qkvi_again_step(job, slot, t, n);
    qkvi_again_keys(job, slot, place, at, &s);
    for (int stage = SCALED; stage < STAGES; stage++) {
        void *const array = array_of(job->show, stage);
        if (array == NULL) continue;
        const qkvi_tile_kind kind = compute(job, slot, place, t, b, stage, &s);
        for (int64_t i = next_row(job, first, t->rows, 0); i >= 0;
             i = next_row(job, first, t->rows, i + 1)) {
            const int64_t r = (job->show->rows ? job->show->rows[i] : i) - first;
            write_row(p, t, stage, kind, &s, r,
                      row_at(job, array, place, i, p->real_bytes) + at * p->real_bytes);
        }
    }
}

/* what the keys of other sequences get */
static void show_others(const qkvi_job *job, const qkvi_place *place, int64_t i)
{
    const qkv_plan *const p = job->plan;
    const int64_t end = place->first_key + place->all_keys;
    for (int stage = SCALED; stage < STAGES; stage++) {
        void *const array = array_of(job->show, stage);
        const double x = stage == WEIGHT ? 0 : -(double)__builtin_inff();
        if (array == NULL) continue;
        char *const row = row_at(job, array, place, i, p->real_bytes);
        fill(p, row, 0, place->first_key, x);
        fill(p, row, end, p->keys, x);
    }
    if (job->show->keep == NULL) return;
    char *const row = row_at(job, job->show->keep, place, i, 1);
    for (int64_t j = 0; j < p->keys; j++)
        if (j < place->first_key || j >= end) row[j] = 0;
}

static void show_kept(const qkvi_job *job, const qkvi_place *place, int64_t i, int64_t own_row)
{
    if (job->show->keep == NULL) return;
    qkvi_kept_row(job, place, own_row,
                  (unsigned char *)row_at(job, job->show->keep, place, i, 1) + place->first_key);
}

void qkvi_show_tile(const qkvi_job *job, char *slot, const qkvi_place *place, const qkvi_tile *t,
                    const qkvi_range *ranges)
{
    const int64_t begin = place->key - place->first_key, end = begin + place->mask.keys;
    const int64_t first = place->row + t->row;
    if (next_row(job, first, t->rows, 0) < 0) return;
    block b = {.ranges = ranges};
    qkvi_look_begin(job, place, &b.change);
    for (int64_t key = 0, n; key < place->all_keys; key += n) {
        const int64_t left = (key < begin ? begin : key < end ? end : place->all_keys) - key;
        n = left < QKVI_BLOCK ? left : QKVI_BLOCK;
        b.key = key - begin;
        b.own = key >= begin && key < end;
        show_block(job, slot, place, t, &b, place->first_key + key, (int32_t)n);
    }
    for (int64_t i = next_row(job, first, t->rows, 0); i >= 0;
         i = next_row(job, first, t->rows, i + 1)) {
        const int64_t row = job->show->rows ? job->show->rows[i] : i;
        show_kept(job, place, i, place->own_row + row - place->row);
        show_others(job, place, i);
    }
}

void qkvi_show_row(const qkvi_job *job, const qkvi_place *place, const qkvi_ref_row *r)
{
    const qkv_plan *const p = job->plan;
    const double *const from[STAGES] = {r->scaled, r->capped, r->masked, r->weight};
    for (int64_t i = next_row(job, place->row, 1, 0); i >= 0;
         i = next_row(job, place->row, 1, i + 1)) {
        for (int stage = SCALED; stage < STAGES; stage++) {
            void *const array = array_of(job->show, stage);
            if (array == NULL) continue;
            char *const row = row_at(job, array, place, i, p->real_bytes);
            for (int64_t j = 0; j < place->all_keys; j++)
                qkvi_put(row, place->first_key + j, p->real, from[stage][j]);
        }
        show_kept(job, place, i, place->own_row);
        show_others(job, place, i);
    }
}
