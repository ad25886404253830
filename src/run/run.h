/* SPDX-License-Identifier: MIT */
/* run.h - drives tiles and tasks. What arrives here is a valid plan and checked pointers: nothing
 * is refused any more, a run can only be stopped.
 */
#ifndef QKVI_RUN_H
#define QKVI_RUN_H

#include "plan/plan.h"

/* why an item stops the run */
enum { QKVI_CANCELLED = 1, QKVI_TAPPED = 2 };

/* What all tasks of one run share; only the counters change. */
typedef struct qkvi_job {
    const qkv_plan *plan;
    const void *q, *k, *v;
    void *out, *lse;
    void *workspace;
    const int32_t *cancel;
    const qkv_tap *tap;
    /* a partial run writes nodes of spans [span_begin, span_end) instead of out and lse */
    void *partial;
    int64_t span_begin, span_end, partial_nodes;
    /* a finish reads partials instead of keys: nparts that cover all keys once, in any order */
    const qkv_partial *parts;
    int64_t nparts;
    /* one number a batch or sequence, read if the plan's `use` says so; in bounds */
    const int64_t *kv_len, *q_len, *kv_start, *q_offset, *cu_q, *cu_k;
    const void *mask, *bias;    /* of plan->look, plan->bias */
    const void *slopes, *sinks; /* accumulator's type */
    const qkv_rule *rule;
    void *row_max, *key_sums;
    const qkv_show *show;
    uint64_t seed;
    int64_t first_head, first_batch;
    int64_t heads; /* of one item */
    int64_t items; /* of this run, and tasks that take them in turn */
    int32_t tasks;
    /* does one item in that slot of the workspace; QKVI_CANCELLED or QKVI_TAPPED: stop the run */
    int (*item)(const struct qkvi_job *job, void *slot, int64_t item);
} qkvi_job;

/* An item's place: in the tensors, and in its own batch or sequence, where rows and keys count from
 * 0 (rule 1). */
typedef struct qkvi_place {
    int64_t batch, head, row, rows; /* of the tensors: first head and row, how many rows */
    int64_t sequence;               /* the batch, or the packed sequence */
    int64_t own_row;                /* that first row, counted from the sequence's first */
    int64_t key;                    /* the tensors' key that is own key 0 */
    int64_t first_key, all_keys; /* the tensors' keys that are the sequence's, padding included */
    qkvi_mask mask;              /* speaks of own rows and keys */
} qkvi_place;
/* Heads in turn, so that a head's keys stay near; in a head the last rows first, because under a
 * causal mask they have the most work. With a tap, rows ascend. */
qkvi_place qkvi_item_place(const qkvi_job *job, int64_t item);

/* How many items this run has; writes what qkvi_item_place() needs to the workspace. */
int64_t qkvi_items(const qkvi_job *job);

/* Runs job->item over all items with the caller's threads (nthreads 1: no executor needed).
 * QKV_ESTOPPED: cancelled, a tap stopped it, or the executor skipped an index. */
qkv_status qkvi_split(const qkvi_job *job, const qkv_threads *threads, qkv_error *err);

/* job->item and heads, for a run from keys: the reference, tiles (with a tap too) or few rows, whole
 * or each span by itself */
void qkvi_job_choose(qkvi_job *job);
/* The chosen job: all its items and, if its spans were done apart, what joins them. */
qkv_status qkvi_run_keys(const qkvi_job *job, const qkv_threads *threads, qkv_error *err);
int qkvi_item_kernels(const qkvi_job *job, void *slot, int64_t item);
int qkvi_item_few(const qkvi_job *job, void *slot, int64_t item);
int qkvi_item_span(const qkvi_job *job, void *slot, int64_t item);
int qkvi_item_reference(const qkvi_job *job, void *slot, int64_t item);
int qkvi_item_finish(const qkvi_job *job, void *slot, int64_t item);
/* a second run after the first: to each key the weights of all rows (args.key_sums) */
int qkvi_item_sums(const qkvi_job *job, void *slot, int64_t item);
int64_t qkvi_sums_items(const qkvi_job *job);
qkvi_place qkvi_sums_place(const qkvi_job *job, int64_t item, int64_t *key_begin, int64_t *key_end);

/* m and l of row `flat` ([batch][head][row]) in the header, two numbers a row */
static inline void *qkvi_final(const qkvi_job *job, int64_t flat)
{
    return (char *)job->workspace + job->plan->at_finals + 2 * flat * job->plan->real_bytes;
}

/* Keys of a block, from k on, dense and in the run's type. */
void qkvi_block_keys(const qkv_plan *plan, void *to, const void *k, int64_t keys);

/* 1 when the caller has asked to stop */
static inline int qkvi_cancelled(const qkvi_job *job)
{
    return job->cancel && __atomic_load_n(job->cancel, __ATOMIC_RELAXED) != 0;
}

/* One of an array of sized structs: the caller's size is the distance between them. */
static inline const qkv_partial *qkvi_part_at(const qkv_partial *parts, int64_t i)
{
    return (const qkv_partial *)(const void *)((const char *)parts + i * parts->size);
}

/* The part that begins at that key; -1 when none does, -2 when two do. Empty parts do not count. */
int64_t qkvi_part_from(const qkv_partial *parts, int64_t nparts, int64_t key);

/* base + bytes, for pointers whose type the plan holds; NULL (a tensor without elements) stays NULL
 */
static inline const void *qkvi_at(const void *base, int64_t bytes)
{
    return base ? (const char *)base + bytes : NULL;
}
static inline void *qkvi_at_out(void *base, int64_t bytes)
{
    return base ? (char *)base + bytes : NULL;
}

#endif
