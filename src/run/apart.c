/* SPDX-License-Identifier: MIT */
/* apart.c - few rows, few heads and many keys: there are more threads than items, so each span of keys
 * is an item. Its nodes go to the workspace as partials of one span each, and the rows finish from
 * them: to the bits of a whole run, as partials do.
 */
#include "base/contract.h"
#include "run/run.h"

static char *nodes_of(const qkvi_job *job, int64_t span)
{
    const qkv_plan *const p = job->plan;
    const int64_t rows = p->batch * p->heads * p->rows;
    return (char *)job->workspace + p->at_apart + span * rows * (p->dv + 2) * p->real_bytes;
}

int qkvi_item_span(const qkvi_job *job, void *slot, int64_t number)
{
    const int64_t spans = job->plan->spans, span = number % spans;
    qkvi_job one = *job;
    one.partial = nodes_of(job, span);
    one.partial_nodes = 1;
    one.span_begin = span;
    one.span_end = span + 1;
    return qkvi_item_few(&one, slot, number / spans);
}

qkv_status qkvi_run_keys(const qkvi_job *job, const qkv_threads *threads, qkv_error *err)
{
    const qkv_plan *const p = job->plan;
    const qkv_status s = qkvi_split(job, threads, err);
    if (s || job->item != qkvi_item_span) return s;
    qkv_partial *const parts = (qkv_partial *)(void *)((char *)job->workspace + p->at_parts);
    for (int64_t i = 0; i < p->spans; i++) {
        parts[i] = qkv_partial_init();
        parts[i].key_begin = i * QKVI_SPAN;
        parts[i].key_end = i + 1 < p->spans ? (i + 1) * QKVI_SPAN : p->keys;
        parts[i].data = nodes_of(job, i);
    }
    qkvi_job rows = *job;
    rows.parts = parts;
    rows.nparts = p->spans;
    rows.heads = 1;
    rows.item = qkvi_item_finish;
    return qkvi_split(&rows, threads, err);
}
