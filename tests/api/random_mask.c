/* SPDX-License-Identifier: MIT */
/* random_mask.c - random combinations of everything that narrows the keys a row sees, over a problem
 * that is there already, and poison in the places that nobody may read.
 *
 * Row and key counts of the problem stay; packed sequences cut them.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n + 1 edges from 0 to total, some sequences empty */
static void cut(int64_t *cu, int64_t n, int64_t total, rng *r)
{
    cu[0] = 0;
    for (int64_t s = 1; s < n; s++) {
        const int64_t left = total - cu[s - 1];
        cu[s] = cu[s - 1] + (rng_range(r, 0, 5) ? rng_range(r, 0, left) * 2 / 3 : 0);
    }
    cu[n] = total;
}

/* ones and zeros: at random, in blocks of 128 x 128, whole rows and columns, or nearly all ones */
static void random_bools(prob *p, rng *r)
{
    pair_tensor *const t = &p->mask.bools;
    const int64_t full[3] = {p->b, p->hq, p->sq}, look = rng_range(r, 0, 3);
    for (int i = 0; i < 3; i++) t->dim[i] = rng_range(r, 0, 2) ? full[i] : 1;
    t->dim[3] = rng_range(r, 0, 4) ? p->sk : rng_range(r, 0, p->sk);
    t->dtype = rng_range(r, 0, 1) ? QKV_BOOL : QKV_BITS;
    t->form = (pair_form)rng_range(r, 0, 2);
    const int64_t rows = t->dim[0] * t->dim[1] * t->dim[2], keys = t->dim[3];
    t->x = malloc((size_t)(rows * keys + 1) * sizeof *t->x);
    assert_non_null(t->x);
    const uint64_t salt = rng_next(r);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < keys; j++) {
            rng here = {salt ^ (look == 1   ? (uint64_t)(i % p->sq / 128 * 977 + j / 128)
                                : look == 2 ? (uint64_t)(i % 5 ? j : 1000 + i)
                                            : (uint64_t)(i * keys + j))};
            rng_next(&here);
            t->x[i * keys + j] = rng_range(&here, 0, look == 3 ? 50 : 1) > 0;
        }
    p->mask.mask_drops = (int32_t)rng_range(r, 0, 1);
}

void prob_random_mask(prob *p, rng *r)
{
    prob_mask *const m = &p->mask;
    const int64_t far = p->sk > 2 ? p->sk / 2 : 1;
    if (p->b == 1 && rng_range(r, 0, 2) == 0) {
        p->use |= QKV_USE_PACKED;
        m->sequences = rng_range(r, 1, PROB_BATCHES);
        cut(m->cu_q, m->sequences, p->sq, r);
        cut(m->cu_k, m->sequences, p->sk, r);
    }
    static const uint64_t bits[] = {QKV_USE_CAUSAL, QKV_USE_WINDOW, QKV_USE_PREFIX,
                                    QKV_USE_KV_LEN, QKV_USE_Q_LEN,  QKV_USE_KV_START};
    for (int i = 0; i < 6; i++)
        if (rng_range(r, 0, 2) == 0) p->use |= bits[i];
    if (rng_range(r, 0, 2) == 0) {
        p->use |= QKV_USE_MASK;
        random_bools(p, r);
    }
    const int64_t where = rng_range(r, 0, 3);
    p->q_offset = 0;
    if (where == 0) p->use |= QKV_USE_Q_OFFSETS;
    if (where == 1) p->q_offset = rng_range(r, -far, far);
    if (where == 2) m->align = QKV_ALIGN_BOTTOM_RIGHT;
    if (where == 3) m->align = rng_range(r, 0, 1) ? QKV_ALIGN_TOP_LEFT : QKV_ALIGN_OFFSET;
    m->window_left = rng_range(r, 0, 3) ? rng_range(r, 0, far) : -1;
    m->window_right = rng_range(r, 0, 3) ? rng_range(r, 0, far) / 2 : -1;
    m->prefix = rng_range(r, 0, far);
    for (int64_t s = 0; s < PROB_BATCHES; s++) {
        const bool packed = p->use & QKV_USE_PACKED;
        if (packed && s >= m->sequences) break;
        const int64_t rows = packed ? m->cu_q[s + 1] - m->cu_q[s] : p->sq;
        const int64_t keys = packed ? m->cu_k[s + 1] - m->cu_k[s] : p->sk;
        m->q_len[s] = rng_range(r, 0, rows);
        m->kv_len[s] = rng_range(r, 0, 4) ? rng_range(r, keys / 2, keys) : rng_range(r, 0, keys);
        m->kv_start[s] = rng_range(r, 0, 4) ? rng_range(r, 0, keys / 3) : rng_range(r, 0, keys);
        m->q_offset[s] = rng_range(r, -far, far);
    }
}

/* numbers of a bias: 0, some -inf (whole tiles of them), about unit size, now and then far away */
static void random_bias(prob *p, rng *r)
{
    static const int32_t types[] = {QKV_F32, QKV_F64};
    pair_tensor *const t = &p->mask.bias;
    const int64_t full[3] = {p->b, p->hq, p->sq}, look = rng_range(r, 0, 3);
    for (int i = 0; i < 3; i++) t->dim[i] = rng_range(r, 0, 2) ? full[i] : 1;
    t->dim[3] = rng_range(r, 0, 4) ? p->sk : rng_range(r, 0, p->sk);
    t->dtype = types[rng_range(r, 0, 1)];
    t->form = (pair_form)rng_range(r, 0, 2);
    const int64_t rows = t->dim[0] * t->dim[1] * t->dim[2], keys = t->dim[3];
    t->x = malloc((size_t)(rows * keys + 1) * sizeof *t->x);
    assert_non_null(t->x);
    const uint64_t salt = rng_next(r);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < keys; j++) {
            rng tile = {salt ^ (uint64_t)(i % p->sq / 128 * 977 + j / 128)};
            rng_next(&tile);
            const bool out = look == 0   ? rng_range(r, 0, 1)
                             : look == 1 ? rng_range(&tile, 0, 1)
                             : look == 2 ? rng_range(r, 0, 99) == 0
                                         : false;
            /* multiples of 1/64: the same in every type */
            t->x[i * keys + j] = out ? -(double)INFINITY : (double)rng_range(r, -200, 200) / 64.0;
        }
}

void prob_random_added(prob *p, rng *r)
{
    prob_mask *const m = &p->mask;
    static const uint64_t bits[] = {QKV_USE_BIAS, QKV_USE_ALIBI, QKV_USE_SOFTCAP, QKV_USE_SINK};
    for (int i = 0; i < 4; i++)
        if (rng_range(r, 0, 1) == 0) p->use |= bits[i];
    if (p->use & QKV_USE_BIAS) random_bias(p, r);
    m->dropout = rng_unit(r);
    m->softcap = 0.5 + 20 * rng_unit(r);
    m->max_bias = rng_range(r, 0, 2) ? 0 : 1 + 7 * rng_unit(r);
    m->slopes_by_batch = (int32_t)rng_range(r, 0, 1);
    for (int i = 0; i < PROB_BATCHES * PROB_HEADS; i++) m->slope[i] = rng_unit(r);
    for (int i = 0; i < PROB_HEADS; i++)
        m->sink[i] = rng_range(r, 0, 5) ? 3 * rng_normal(r) : -(double)INFINITY;
    prob_round_numbers(p);
}

static const uint32_t poison[] = {0x7FC00000u, 0x7FC00001u, 0x7F800001u, 0xFFFFFFFFu,
                                  0x7F800000u, 0xFF800000u, 0xFFC00000u};
enum { POISONS = 7 };

int64_t prob_poison_unseen(prob *p, int salt)
{
    int64_t n = 0;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t j = 0; j < p->sk; j++) {
            for (int64_t h = 0; h < p->hkv; h++) {
                bool seen = false;
                const int64_t group = p->hq / p->hkv;
                for (int64_t i = 0; i < p->sq * group && !seen; i++)
                    seen = prob_sees(p, b, h * group + i % group, i / group, j);
                if (seen) continue;
                n++;
                const int64_t at = (b * p->hkv + h) * p->sk + j;
                for (int64_t c = 0; c < p->d; c++)
                    put_bits(p->k, p->dtype, at * p->d + c, poison[(salt + j + c) % POISONS]);
                for (int64_t c = 0; c < p->dv; c++)
                    put_bits(p->v, p->dtype, at * p->dv + c, poison[(salt + j) % POISONS]);
            }
        }
    /* a row that sees nothing may hold anything, too */
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t i = 0; i < p->sq; i++) {
            for (int64_t h = 0; h < p->hq; h++) {
                bool sees = false;
                for (int64_t j = 0; j < p->sk && !sees; j++) sees = prob_sees(p, b, h, i, j);
                if (sees) continue;
                n++;
                for (int64_t c = 0; c < p->d; c++)
                    put_bits(p->q, p->dtype, ((b * p->hq + h) * p->sq + i) * p->d + c,
                             poison[(salt + i + c) % POISONS]);
            }
        }
    return n;
}
