/* SPDX-License-Identifier: MIT */
/* stages.c - all the arithmetic of the calculator: every row goes through the library's float64
 * reference, and its stages are kept. What the kernels give for the same is engine.c's.
 *
 * Only the chosen range of rows is run; every key takes part, the chosen range of keys is kept, and
 * the token's own row is kept whole, because the worked lines need all of it.
 */
#include "lesson/engine.h"

#include <qkv/experimental.h>

double lesson_scale(const lesson_input *in)
{
    const double d = (double)in->d_k;
    double scale = in->scale_value;
    if (in->scale_kind == LESSON_SCALE_NONE) scale = 1;
    if (in->scale_kind == LESSON_SCALE_DK) scale = 1 / d;
    if (in->scale_kind == LESSON_SCALE_SQRT) scale = 1 / __builtin_sqrt(d); /* one instruction */
    return in->temperature == 1 ? scale : scale / in->temperature;
}

int lesson_sees(const lesson_input *in, int64_t row, int64_t key)
{
    return key < lesson_seen(in, row);
}

int64_t lesson_seen(const lesson_input *in, int64_t row)
{
    const int64_t real = in->keys - in->padding;
    const int64_t seen = row + in->q_offset + 1; /* |q_offset| <= 2^62 */
    if (!in->causal || seen > real) return real;
    return seen > 0 ? seen : 0;
}

int64_t lesson_strongest(const lesson_input *in, const lesson_stages *s)
{
    int64_t best = -1;
    for (int64_t j = 0; j < in->keys; j++) {
        if (!lesson_sees(in, in->token, j)) continue;
        if (best < 0 || s->row_weight[j] > s->row_weight[best]) best = j;
    }
    return best;
}

static void *take(const lesson_memory *memory, int64_t count, size_t size)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size) return NULL;
    return memory->take(memory->ctx, (size_t)count * size);
}

/* ---- the reference ---------------------------------------------------------------------------- */

/* The wrong way: weights that the mask hides become 0 after the softmax, and the blend is made of
 * what is left, in the order of the keys. */
static void zero_after_softmax(lesson_stages *s, const lesson_input *in)
{
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t seen = lesson_seen(in, i + in->row_begin);
        double *const out = s->out + i * in->d_v;
        for (int64_t c = 0; c < in->d_v; c++) out[c] = 0;
        for (int64_t j = 0; j < in->keys; j++) {
            const double w = j < seen ? s->full[i * in->keys + j] : 0;
            if (i + in->row_begin == in->token) s->row_weight[j] = w;
            if (j >= in->key_begin && j < in->key_end)
                s->weight[i * s->keys + j - in->key_begin] = w;
            for (int64_t c = 0; c < in->d_v && j < seen; c++) out[c] += w * in->v[j * in->d_v + c];
        }
    }
}

static void keep(double *to, const double *from, int64_t n)
{
    for (int64_t i = 0; i < n; i++) to[i] = from[i];
}

/* Row i of the range: padded keys have scores, but no part in the softmax. */
static qkv_status run_row(lesson_stages *s, const lesson_input *in, qkv_ref_row *r, int64_t i,
                          qkv_error *err)
{
    const int64_t row = in->row_begin + i, at = i * s->keys;
    r->q = in->q + row * in->d_k;
    r->seen = in->wrong_way ? in->keys : lesson_seen(in, row);
    r->out = s->out + i * in->d_v;
    const qkv_status status = qkv_ref_attend(r, err);
    if (status != QKV_OK) return status;
    s->lse[i] = r->lse;
    keep(s->score + at, r->score + in->key_begin, s->keys);
    keep(s->scaled + at, r->scaled + in->key_begin, s->keys);
    keep(s->weight + at, r->weight + in->key_begin, s->keys);
    if (s->full != NULL) keep(s->full + i * in->keys, r->weight, in->keys);
    if (row != in->token) return QKV_OK;
    keep(s->row_score, r->score, in->keys);
    keep(s->row_scaled, r->scaled, in->keys);
    keep(s->row_weight, r->weight, in->keys);
    return QKV_OK;
}

static qkv_status run_reference(lesson_stages *s, const lesson_input *in,
                                const lesson_memory *memory, qkv_error *err)
{
    qkv_ref_row r = qkv_ref_row_init();
    double *const rows = (double *)take(memory, 4 * in->keys, sizeof(double));
    if (rows == NULL) return QKV_ENOMEM;
    r.keys = in->keys;
    r.d_k = in->d_k;
    r.d_v = in->d_v;
    r.scale = s->scale;
    r.k = in->k;
    r.v = in->v;
    r.score = rows;
    r.scaled = rows + in->keys;
    r.masked = rows + 2 * in->keys;
    r.weight = rows + 3 * in->keys;
    for (int64_t i = 0; i < s->rows; i++) {
        const qkv_status status = run_row(s, in, &r, i, err);
        if (status != QKV_OK) return status;
    }
    return QKV_OK;
}

qkv_status lesson_run(lesson_stages *s, const lesson_input *in, int engine,
                      const lesson_memory *memory, qkv_error *err)
{
    *s = (lesson_stages){0};
    s->scale = lesson_scale(in);
    s->rows = in->row_end - in->row_begin;
    s->keys = in->key_end - in->key_begin;
    const int64_t cells = s->rows * s->keys;
    double **const want[] = {&s->score, &s->scaled,    &s->weight,     &s->lse,
                             &s->out,   &s->row_score, &s->row_scaled, &s->row_weight};
    const int64_t count[] = {cells,    cells,    cells,   s->rows, s->rows * in->d_v,
                             in->keys, in->keys, in->keys};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        *want[i] = (double *)take(memory, count[i], sizeof(double));
        if (*want[i] == NULL) return QKV_ENOMEM;
        for (int64_t k = 0; k < count[i]; k++) (*want[i])[k] = 0;
    }
    if (in->wrong_way) {
        s->full = (double *)take(memory, s->rows * in->keys, sizeof(double));
        if (s->full == NULL) return QKV_ENOMEM;
    }
    s->row_out = s->out + (in->token - in->row_begin) * in->d_v;
    const qkv_status status = run_reference(s, in, memory, err);
    if (status == QKV_OK && in->wrong_way) zero_after_softmax(s, in);
    if (status != QKV_OK || !engine || !ENGINE_IS_HERE || in->wrong_way) return status;
    return engine_run(s, in, memory, err);
}
