/* SPDX-License-Identifier: MIT */
/* split.c - hands items to tasks. Each task owns one slot of the workspace and takes the next item
 * from one counter until none is left; no task waits for another, so an executor may run them one
 * after the other, backwards, or anywhere. Which task does an item changes nothing.
 */
#include "base/error.h"
#include "run/kinds.h"

/* The beginning of the workspace; then one byte a task, set when its index runs. */
typedef struct header {
    int64_t next; /* item to take */
    int64_t items;
    int32_t ran;   /* indices that ran */
    int32_t wrong; /* an index outside the range, or one that ran before */
    int32_t stop;  /* QKVI_CANCELLED, QKVI_TAPPED */
    int32_t ntasks;
} header;

static unsigned char *claims(const qkvi_job *job)
{
    return (unsigned char *)job->workspace + 64;
}

static void task(void *arg, int32_t i)
{
    const qkvi_job *const job = arg;
    const qkv_plan *const p = job->plan;
    header *const h = job->workspace;
    if (i < 0 || i >= h->ntasks || __atomic_exchange_n(claims(job) + i, 1, __ATOMIC_RELAXED)) {
        __atomic_store_n(&h->wrong, 1, __ATOMIC_RELAXED);
        return; /* a slot has one owner */
    }
    __atomic_fetch_add(&h->ran, 1, __ATOMIC_RELAXED);
    char *const slot = (char *)job->workspace + p->at_slots + i * p->slot_bytes;
    const uint64_t env = p->kernels->env_enter();
    for (;;) {
        const int64_t item = __atomic_fetch_add(&h->next, 1, __ATOMIC_RELAXED);
        if (item >= h->items || __atomic_load_n(&h->stop, __ATOMIC_RELAXED)) break;
        const int why = job->item(job, slot, item);
        if (why) {
            __atomic_store_n(&h->stop, why, __ATOMIC_RELAXED);
            break;
        }
    }
    p->kernels->env_leave(env);
}

void qkvi_job_choose(qkvi_job *job)
{
    const qkv_plan *const p = job->plan;
    /* whoever looks at scores looks at tiles */
    const int few = p->few_heads && !job->tap && !job->show && !job->row_max;
    job->heads = few ? p->few_heads : 1;
    job->item = few && p->apart && !job->partial ? qkvi_item_span
                : few                            ? qkvi_item_few
                : p->ops                         ? qkvi_item_kernels
                                                 : qkvi_item_reference;
}

qkv_status qkvi_split(const qkvi_job *job, const qkv_threads *threads, qkv_error *err)
{
    const qkv_plan *const p = job->plan;
    if (p->items == 0) return QKV_OK;
    header *const h = job->workspace;
    qkvi_kinds_forget(job);
    /* with a tap a row's stages come in order: one task */
    *h = (header){.items = qkvi_items(job),
                  .ntasks = job->tap ? 1 : qkvi_plan_tasks(p, threads->nthreads)};
    for (int32_t i = 0; i < h->ntasks; i++) claims(job)[i] = 0;
    qkvi_job shared = *job;
    shared.items = h->items;
    shared.tasks = h->ntasks;
    if (h->ntasks > 1)
        threads->parallel_for(threads->ctx, h->ntasks, task, &shared);
    else
        task(&shared, 0);
    const int32_t ran = __atomic_load_n(&h->ran, __ATOMIC_ACQUIRE);
    if (ran != h->ntasks || __atomic_load_n(&h->wrong, __ATOMIC_RELAXED))
        return qkvi_fail(err, QKV_ESTOPPED, "args.threads", ran, h->ntasks,
                         QKVI_SAY(QKVI_S("args.threads: parallel_for ran "), QKVI_I(ran),
                                  QKVI_S(" tasks; it must run each of the "), QKVI_I(h->ntasks),
                                  QKVI_S(" exactly once")));
    const int32_t why = __atomic_load_n(&h->stop, __ATOMIC_RELAXED);
    if (why == 0) return QKV_OK;
    const char *const who = why == QKVI_TAPPED ? "args.tap" : "args.cancel";
    return qkvi_fail(err, QKV_ESTOPPED, who, 1, 0,
                     QKVI_SAY(QKVI_S(who), QKVI_S(" stopped the run; the output is unspecified")));
}
