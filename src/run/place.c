/* SPDX-License-Identifier: MIT */
/* place.c - which rows and keys an item works on: rows of one head of one batch, or of one sequence of
 * several that are packed into it. An item never reaches over the end of a sequence: its rows share
 * the key that counts as key 0, and with it the edges of blocks.
 *
 * Where packed sequences begin is known with the data only. The workspace holds how many items of a
 * head lie before each.
 */
#include "base/contract.h"
#include "run/run.h"

/* NULL where rows are not packed; a finish takes them as they lie */
static int64_t *blocks_before(const qkvi_job *job)
{
    if (job->plan->sequences == 0 || job->item == qkvi_item_finish) return NULL;
    return (int64_t *)(void *)((char *)job->workspace + job->plan->at_blocks);
}

static int64_t whole_blocks(const qkv_plan *p)
{
    return p->rows / p->item_rows + (p->rows % p->item_rows != 0);
}

int64_t qkvi_items(const qkvi_job *job)
{
    const qkv_plan *const p = job->plan;
    if (job->item == qkvi_item_sums) return qkvi_sums_items(job);
    if (job->item == qkvi_item_span) return qkvi_plan_items(p);
    int64_t *const before = blocks_before(job);
    if (before == NULL || p->items == 0)
        return p->batch * (p->heads / job->heads) * whole_blocks(p);
    before[0] = 0;
    for (int64_t s = 0; s < p->sequences; s++) {
        const int64_t rows = job->cu_q[s + 1] - job->cu_q[s];
        before[s + 1] = before[s] + rows / p->item_rows + (rows % p->item_rows != 0);
    }
    return p->heads * before[p->sequences];
}

/* the sequence that holds that row block of a head */
static int64_t find_sequence(const int64_t *before, int64_t sequences, int64_t block)
{
    int64_t lo = 0, hi = sequences; /* before[lo] <= block < before[hi] */
    while (hi - lo > 1) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (before[middle] <= block)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

/* Lengths and position of batch or sequence s, whose tensors hold `rows` rows and at->all_keys
 * keys. */
static void set_own(const qkvi_job *job, qkvi_place *at, int64_t s, int64_t rows)
{
    const qkv_plan *const p = job->plan;
    const int64_t begin = p->use & QKV_USE_KV_START ? job->kv_start[s] : 0;
    const int64_t end = p->use & QKV_USE_KV_LEN ? job->kv_len[s] : at->all_keys;
    at->mask = p->mask;
    at->mask.keys = end > begin ? end - begin : 0;
    at->mask.rows = p->use & QKV_USE_Q_LEN ? job->q_len[s] : rows;
    at->key = at->first_key + begin;
    const int64_t offset = p->use & QKV_USE_Q_OFFSETS           ? job->q_offset[s]
                           : p->align == QKV_ALIGN_BOTTOM_RIGHT ? end - at->mask.rows
                           : p->align == QKV_ALIGN_TOP_LEFT     ? 0
                                                                : p->q_offset;
    at->mask.shift = offset - begin;
}

/* An item of key sums is a stretch of keys of one head, with all the rows of its batch; the reference
 * and packed sequences take all keys at once. */
enum { STRETCH = 16 * QKVI_BLOCK };

static int64_t stretches(const qkv_plan *p)
{
    if (p->sequences || p->ops == NULL) return 1;
    return p->keys / STRETCH + (p->keys % STRETCH != 0);
}

int64_t qkvi_sums_items(const qkvi_job *job)
{
    const qkv_plan *const p = job->plan;
    return (p->sequences ? p->sequences : p->batch) * p->heads * stretches(p);
}

qkvi_place qkvi_sums_place(const qkvi_job *job, int64_t item, int64_t *key_begin, int64_t *key_end)
{
    const qkv_plan *const p = job->plan;
    const int64_t n = stretches(p), s = item / n / p->heads;
    qkvi_place at = {.batch = p->sequences ? 0 : s,
                     .sequence = s,
                     .head = item / n % p->heads,
                     .row = p->sequences ? job->cu_q[s] : 0,
                     .rows = p->sequences ? job->cu_q[s + 1] - job->cu_q[s] : p->rows,
                     .first_key = p->sequences ? job->cu_k[s] : 0,
                     .all_keys = p->sequences ? job->cu_k[s + 1] - job->cu_k[s] : p->keys};
    set_own(job, &at, s, at.rows);
    *key_begin = item % n * STRETCH;
    *key_end = n == 1 || *key_begin + STRETCH > at.mask.keys ? at.mask.keys : *key_begin + STRETCH;
    return at;
}

qkvi_place qkvi_item_place(const qkvi_job *job, int64_t number)
{
    const qkv_plan *const p = job->plan;
    const int64_t *const before = blocks_before(job);
    const int64_t blocks = before ? before[p->sequences] : whole_blocks(p);
    const int64_t head = number / blocks * job->heads, turn = number % blocks;
    const int64_t block = job->tap ? turn : blocks - 1 - turn;
    const int64_t s = before ? find_sequence(before, p->sequences, block) : head / p->heads;
    const int64_t first_row = before ? job->cu_q[s] : 0;
    const int64_t rows = before ? job->cu_q[s + 1] - first_row : p->rows;
    const int64_t row = (before ? block - before[s] : block) * p->item_rows;
    qkvi_place at = {.batch = head / p->heads,
                     .sequence = s,
                     .head = head % p->heads,
                     .row = first_row + row,
                     .rows = rows - row < p->item_rows ? rows - row : p->item_rows,
                     .own_row = row,
                     .first_key = before ? job->cu_k[s] : 0,
                     .all_keys = before ? job->cu_k[s + 1] - job->cu_k[s] : p->keys};
    if (job->item != qkvi_item_finish) set_own(job, &at, s, rows); /* a finish sees no key */
    return at;
}
