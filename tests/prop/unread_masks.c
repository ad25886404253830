/* SPDX-License-Identifier: MIT */
/* unread_masks.c - see unread_masks.h. Every kind says in its line which blocks are nobody's; at least
 * one is, in each.
 */
#include "unread_masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128 };

/* ---- tensors that say it --------------------------------------------------------------------- */

typedef bool sees_fn(const prob *p, int64_t h, int64_t i, int64_t j);

/* of every block of three the middle one is nobody's; the others are there at random */
static bool by_block(const prob *p, int64_t h, int64_t i, int64_t j)
{
    return j / BLOCK % 3 != 1 && gen_value(31, (uint32_t)((h * p->sq + i) * p->sk + j)) < 0.3;
}

/* each kv head has blocks of its own */
static bool by_head(const prob *p, int64_t h, int64_t i, int64_t j)
{
    const int64_t group = p->hq / p->hkv;
    return (j / BLOCK + h / group) % 2 == 0 && (i + j) % 5 != 0;
}

/* squares of 128 rows and keys; the fourth block is nobody's */
static bool by_square(const prob *p, int64_t h, int64_t i, int64_t j)
{
    (void)p;
    return j / BLOCK != 3 && (i / BLOCK + j / BLOCK + h) % 2 == 0;
}

/* what a row at `at` would see of its future alone, and the first block */
static bool by_future(const prob *p, int64_t h, int64_t i, int64_t j)
{
    (void)h;
    return j < BLOCK || j > i + p->q_offset;
}

static void fill(prob *p, pair_tensor *t, int32_t dtype, pair_form form, int64_t keys,
                 sees_fn *sees)
{
    const bool bias = t == &p->mask.bias;
    p->use |= bias ? QKV_USE_BIAS : QKV_USE_MASK;
    *t = (pair_tensor){.dtype = dtype, .form = form, .dim = {1, p->hq, p->sq, keys}};
    t->x = malloc((size_t)(p->hq * p->sq * keys + 1) * sizeof *t->x);
    assert_non_null(t->x);
    double *x = t->x;
    for (int64_t h = 0; h < p->hq; h++)
        for (int64_t i = 0; i < p->sq; i++)
            for (int64_t j = 0; j < keys; j++, x++) {
                const bool seen = sees(p, h, i, j);
                *x = bias ? (seen ? gen_value(32, (uint32_t)(i + j)) : -(double)INFINITY)
                          : (seen != (p->mask.mask_drops != 0));
            }
}

static void bools(prob *p, int32_t dtype, pair_form form, sees_fn *sees)
{
    fill(p, &p->mask.bools, dtype, form, p->sk, sees);
}

static void bias(prob *p, int32_t dtype, pair_form form, sees_fn *sees)
{
    fill(p, &p->mask.bias, dtype, form, p->sk, sees);
}

/* ---- one function a kind --------------------------------------------------------------------- */

static void two(int64_t *x, int64_t first, int64_t second)
{
    for (int i = 0; i < PROB_BATCHES; i++) x[i] = i % 2 ? second : first;
}

static void window(prob *p, int64_t left, int64_t right)
{
    p->use |= QKV_USE_WINDOW;
    p->mask.window_left = left;
    p->mask.window_right = right;
}

static void k_causal(prob *p) /* keys beyond the last row's position */
{
    prob_causal(p, 100);
}

static void k_causal_before(prob *p) /* all rows stand before key 0 */
{
    prob_causal(p, -p->sq - 3);
}

static void k_top_left(prob *p)
{
    p->use |= QKV_USE_CAUSAL;
    p->mask.align = QKV_ALIGN_TOP_LEFT;
}

static void k_window(prob *p) /* in the middle */
{
    p->q_offset = p->sk / 2 - p->sq / 2;
    window(p, 40, 20);
}

static void k_window_left(prob *p) /* the first blocks */
{
    p->mask.align = QKV_ALIGN_BOTTOM_RIGHT;
    window(p, 60, -1);
}

static void k_window_right(prob *p) /* the last ones */
{
    window(p, -1, 10);
    p->q_offset = 90;
}

static void k_prefix(prob *p)
{
    p->use |= QKV_USE_PREFIX;
    p->mask.prefix = 130;
    p->q_offset = -p->sq;
}

static void k_prefix_window(prob *p) /* before the window and after */
{
    p->use |= QKV_USE_PREFIX;
    p->mask.prefix = p->sk / 2 + 7;
    p->q_offset = p->sk / 2 - p->sq;
    window(p, 50, -1);
}

static void k_kv_len(prob *p) /* of one batch everything */
{
    p->use |= QKV_USE_KV_LEN;
    two(p->mask.kv_len, 300, 0);
}

static void k_kv_start(prob *p) /* blocks begin at the padding's end */
{
    p->use |= QKV_USE_KV_START | QKV_USE_KV_LEN;
    two(p->mask.kv_start, 256, 301);
    two(p->mask.kv_len, p->sk - 128, 500);
}

static void k_kv_start_beyond(prob *p) /* padding that ends behind the last key */
{
    p->use |= QKV_USE_KV_START | QKV_USE_KV_LEN;
    two(p->mask.kv_start, 500, 256);
    two(p->mask.kv_len, 400, 256);
}

static void k_q_len(prob *p) /* of a batch without rows everything */
{
    p->use |= QKV_USE_Q_LEN | QKV_USE_CAUSAL;
    two(p->mask.q_len, 0, p->sq / 2 + 1);
}

static void k_offsets(prob *p)
{
    p->use |= QKV_USE_Q_OFFSETS | QKV_USE_CAUSAL;
    two(p->mask.q_offset, 50, p->sk / 2 - p->sq);
}

static void k_bottom_right_lengths(prob *p)
{
    p->use |= QKV_USE_KV_LEN | QKV_USE_CAUSAL;
    p->mask.align = QKV_ALIGN_BOTTOM_RIGHT;
    two(p->mask.kv_len, p->sk - 130, p->sk / 2);
    window(p, 30, -1);
}

static void pack(prob *p, int64_t first, int64_t second)
{
    p->use |= QKV_USE_PACKED;
    p->mask.sequences = 3; /* the second has keys and no rows */
    const int64_t cu_q[4] = {0, p->sq / 2, p->sq / 2, p->sq}, cu_k[4] = {0, first, second, p->sk};
    memcpy(p->mask.cu_q, cu_q, sizeof cu_q);
    memcpy(p->mask.cu_k, cu_k, sizeof cu_k);
}

static void k_packed(prob *p)
{
    pack(p, 128, 512);
}

static void k_packed_masks(prob *p) /* edges of sequences are no edges of blocks */
{
    pack(p, 131, 403);
    p->use |= QKV_USE_CAUSAL | QKV_USE_KV_LEN;
    two(p->mask.kv_len, 131, 0);
    p->mask.kv_len[2] = 90;
    p->q_offset = -2;
}

static void k_bytes(prob *p)
{
    bools(p, QKV_BOOL, PAIRS_DENSE, by_block);
}

static void k_bits(prob *p)
{
    bools(p, QKV_BITS, PAIRS_DENSE, by_block);
}

static void k_bytes_drop(prob *p)
{
    p->mask.mask_drops = 1;
    bools(p, QKV_BOOL, PAIRS_SPREAD, by_block);
}

static void k_heads(prob *p) /* a kv head's dead blocks are alive for the next */
{
    bools(p, QKV_BITS, PAIRS_SPREAD, by_head);
}

static void k_squares(prob *p)
{
    bools(p, QKV_BOOL, PAIRS_EXPANDED, by_square);
}

static void k_short_tensor(prob *p) /* keys beyond its last dimension */
{
    fill(p, &p->mask.bools, QKV_BOOL, PAIRS_DENSE, 200, by_square);
}

static void k_bias(prob *p)
{
    bias(p, QKV_F32, PAIRS_DENSE, by_block);
}

static void k_bias_f64(prob *p)
{
    bias(p, QKV_F64, PAIRS_SPREAD, by_square);
}

static void k_short_bias(prob *p)
{
    fill(p, &p->mask.bias, QKV_F32, PAIRS_DENSE, 130, by_head);
}

static void k_causal_and_bools(prob *p) /* both see blocks that no pair of both sees */
{
    prob_causal(p, 300);
    bools(p, QKV_BOOL, PAIRS_DENSE, by_future);
}

static void k_everything(prob *p)
{
    prob_causal(p, p->sk / 2);
    window(p, 300, -1);
    p->use |= QKV_USE_KV_LEN | QKV_USE_KV_START | QKV_USE_Q_LEN;
    two(p->mask.kv_start, 3, 130);
    two(p->mask.kv_len, p->sk - 1, 500);
    two(p->mask.q_len, p->sq, p->sq - 1);
    bools(p, QKV_BITS, PAIRS_DENSE, by_block);
    bias(p, QKV_F32, PAIRS_DENSE, by_head);
}

static const struct {
    const char *name;
    void (*set)(prob *p);
} kinds[] = {{"causal", k_causal},
             {"causal before key 0", k_causal_before},
             {"top-left", k_top_left},
             {"window", k_window},
             {"window to the left", k_window_left},
             {"window to the right", k_window_right},
             {"prefix", k_prefix},
             {"prefix and window", k_prefix_window},
             {"kv_len", k_kv_len},
             {"kv_start", k_kv_start},
             {"kv_start behind kv_len", k_kv_start_beyond},
             {"q_len", k_q_len},
             {"q_offset of each batch", k_offsets},
             {"bottom-right with kv_len", k_bottom_right_lengths},
             {"packed", k_packed},
             {"packed, causal, kv_len", k_packed_masks},
             {"bool bytes", k_bytes},
             {"bool bits", k_bits},
             {"bool bytes that drop", k_bytes_drop},
             {"bool bits of each head", k_heads},
             {"bool squares", k_squares},
             {"bool with fewer keys", k_short_tensor},
             {"bias", k_bias},
             {"bias of float64", k_bias_f64},
             {"bias with fewer keys", k_short_bias},
             {"causal and bool", k_causal_and_bools},
             {"everything", k_everything}};

int unread_kinds(void)
{
    return (int)(sizeof kinds / sizeof kinds[0]);
}

const char *unread_kind_name(int kind)
{
    return kinds[kind].name;
}

prob unread_problem(const unread_sizes *z, int kind)
{
    const bool packed = kinds[kind].set == k_packed || kinds[kind].set == k_packed_masks;
    prob p = prob_new(QKV_F32, packed ? 1 : z->b, z->hq, z->hkv, z->sq, z->sk, z->d, z->dv);
    prob_gen(&p, 21, 22, 23);
    kinds[kind].set(&p);
    p.mask.softcap = 3;
    p.mask.max_bias = 8;
    p.mask.dropout = 0.25;
    for (int h = 0; h < PROB_HEADS; h++) p.mask.sink[h] = 0.5 * h;
    return p;
}

/* ---- who may be read ------------------------------------------------------------------------- */

unread_own unread_sequence(const prob *p, int64_t s)
{
    const prob_mask *const m = &p->mask;
    const bool packed = p->use & QKV_USE_PACKED;
    const int64_t start = p->use & QKV_USE_KV_START ? m->kv_start[s] : 0;
    const int64_t all = packed ? m->cu_k[s + 1] - m->cu_k[s] : p->sk;
    const int64_t end = p->use & QKV_USE_KV_LEN ? m->kv_len[s] : all;
    return (unread_own){.row = packed ? m->cu_q[s] : 0,
                        .key = (packed ? m->cu_k[s] : 0) + start,
                        .keys = end > start ? end - start : 0};
}

static bool some_row_sees(const prob *p, int64_t b, int64_t g, int64_t key, int64_t keys)
{
    const int64_t group = p->hq / p->hkv;
    for (int64_t h = g * group; h < (g + 1) * group; h++)
        for (int64_t i = 0; i < p->sq; i++)
            for (int64_t j = key; j < key + keys; j++)
                if (prob_sees(p, b, h, i, j)) return true;
    return false;
}

bool *unread_live(const prob *p)
{
    const bool packed = p->use & QKV_USE_PACKED;
    bool *const live = calloc((size_t)(p->b * p->hkv * p->sk), sizeof *live);
    assert_non_null(live);
    for (int64_t s = 0; s < (packed ? p->mask.sequences : p->b); s++) {
        const unread_own own = unread_sequence(p, s);
        const int64_t b = packed ? 0 : s;
        for (int64_t g = 0; g < p->hkv; g++)
            for (int64_t key = 0; key < own.keys; key += BLOCK) {
                const int64_t n = own.keys - key < BLOCK ? own.keys - key : BLOCK;
                if (some_row_sees(p, b, g, own.key + key, n))
                    memset(live + (b * p->hkv + g) * p->sk + own.key + key, 1, (size_t)n);
            }
    }
    return live;
}
