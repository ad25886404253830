/* SPDX-License-Identifier: MIT */
/* api_run.c - qkv_run() and qkv_attention(): taps, rows to be shown and outputs, beside what api_args
 * checks for every kind of run. Nothing is written before all checks have passed.
 */
#include "api/abi.h"
#include "api/api_args.h"
#include "api/api_overlap.h"
#include "base/arena.h"
#include "base/error.h"

enum { FIRST_TAP = sizeof(qkv_tap), FIRST_SHOW = sizeof(qkv_show) };

#define ENGINE_STAGES (1u << QKV_STAGE_SCALED | 1u << QKV_STAGE_WEIGHT)
#define ALL_STAGES                                                                                 \
    (1u << QKV_STAGE_SCORE | 1u << QKV_STAGE_SCALED | 1u << QKV_STAGE_MASKED |                     \
     1u << QKV_STAGE_WEIGHT | 1u << QKV_STAGE_OUT)

static qkv_status check_tap(const qkv_plan *plan, const qkv_tap *given, qkv_tap *t, qkv_error *err)
{
    qkv_status s;
    if (given == NULL) return QKV_OK;
    if ((s = qkvi_widen(t, sizeof *t, given, FIRST_TAP, "args.tap.size", err))) return s;
    if (t->row == NULL) return qkvi_need(NULL, "args.tap.row", err);
    const uint32_t known = plan->ops ? ENGINE_STAGES : ALL_STAGES;
    if (t->stages & ~known)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "args.tap.stages", t->stages, known,
                         QKVI_SAY(QKVI_S("args.tap.stages is "), QKVI_I(t->stages),
                                  QKVI_S("; these kernels can show the bits of "), QKVI_I(known),
                                  QKVI_S(" (the reference shows all stages)")));
    return QKV_OK;
}

/* The rows to be shown, checked and widened. */
static qkv_status take_show(const qkv_plan *plan, const qkv_show *given, qkv_show *s,
                            qkv_error *err)
{
    qkv_status why;
    if (given == NULL) return QKV_OK;
    if ((why = qkvi_widen(s, sizeof *s, given, FIRST_SHOW, "args.show.size", err))) return why;
    if (s->reserved)
        return qkvi_fail(err, QKV_EARG, "args.show.reserved", s->reserved, 0,
                         QKVI_SAY(QKVI_S("args.show.reserved is "), QKVI_I(s->reserved),
                                  QKVI_S("; it must be 0")));
    int64_t n = s->rows ? s->nrows : plan->rows;
    if (n < 0)
        return qkvi_fail(
            err, QKV_EARG, "args.show.nrows", n, 0,
            QKVI_SAY(QKVI_S("args.show.nrows is "), QKVI_I(n), QKVI_S("; it must be at least 0")));
    for (int64_t i = 0; i < n && s->rows; i++)
        if (s->rows[i] < 0 || s->rows[i] >= plan->rows)
            return qkvi_fail(err, QKV_EARG, "args.show.rows", s->rows[i], plan->rows,
                             QKVI_SAY(QKVI_S("args.show.rows["), QKVI_I(i), QKVI_S("] is "),
                                      QKVI_I(s->rows[i]),
                                      QKVI_S("; it must be at least 0 and below the rows, "),
                                      QKVI_I(plan->rows)));
    int64_t bytes = plan->batch * plan->heads;
    if (!__builtin_mul_overflow(bytes, n, &bytes) &&
        !__builtin_mul_overflow(bytes, plan->keys, &bytes) &&
        !__builtin_mul_overflow(bytes, plan->real_bytes, &bytes) && bytes <= PTRDIFF_MAX)
        return QKV_OK;
    return qkvi_fail(err, QKV_EARG, "args.show.nrows", n, PTRDIFF_MAX,
                     QKVI_SAY(QKVI_S("args.show.nrows is "), QKVI_I(n),
                              QKVI_S("; the scores of so many rows do not fit into memory "
                                     "(2^63 bytes)")));
}

/* What a run writes and reads. */
static void list_buffers(const qkv_plan *plan, const qkv_run_args *a, const qkv_show *show,
                         qkvi_buffers *b)
{
    const int64_t heads = plan->batch * plan->heads, real = plan->real_bytes;
    const int sums = plan->use & QKV_USE_KEY_SUMS && plan->items > 0;
    b->n = 0;
    qkvi_buffers_tensor(b, "args.out", a->out, &plan->out);
    qkvi_buffers_add(b, "args.lse", a->lse, qkvi_row_bytes(plan));
    qkvi_buffers_add(b, "args.row_max", a->row_max, qkvi_row_bytes(plan));
    qkvi_buffers_add(b, "args.key_sums", a->key_sums, sums ? heads * plan->keys * real : 0);
    qkvi_buffers_add(b, "args.workspace", a->workspace, plan->workspace_bytes);
    if (show) {
        const int64_t pairs = heads * (show->rows ? show->nrows : plan->rows) * plan->keys;
        qkvi_buffers_add(b, "args.show.scaled", show->scaled, pairs * real);
        qkvi_buffers_add(b, "args.show.capped", show->capped, pairs * real);
        qkvi_buffers_add(b, "args.show.masked", show->masked, pairs * real);
        qkvi_buffers_add(b, "args.show.weight", show->weight, pairs * real);
        qkvi_buffers_add(b, "args.show.keep", show->keep, pairs);
    }
    b->writes = b->n;
    if (show && show->rows)
        qkvi_buffers_add(b, "args.show.rows", show->rows,
                         show->nrows * (int64_t)sizeof *show->rows);
    qkvi_buffers_inputs(b, plan, a);
}

qkv_status qkv_run(const qkv_plan *plan, const qkv_run_args *args, qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_tap tap;
    qkv_rule rule;
    qkv_show show;
    qkv_status s;
    if ((s = qkvi_take_args(plan, args, &a, &threads, err))) return s;
    if ((s = qkvi_check_inputs(plan, &a, &rule, err))) return s;
    if ((s = qkvi_check_tensor(a.out, &plan->out, "args.out", err))) return s;
    if ((s = check_tap(plan, a.tap, &tap, err))) return s;
    if ((s = take_show(plan, a.show, &show, err))) return s;
    if (plan->use & QKV_USE_KEY_SUMS && plan->items > 0 && plan->keys > 0 &&
        (s = qkvi_need(a.key_sums, "args.key_sums", err)))
        return s;
    qkvi_buffers buffers;
    list_buffers(plan, &a, a.show ? &show : NULL, &buffers);
    if ((s = qkvi_buffers_check(&buffers, err))) return s;
    qkvi_job job = qkvi_job_of(plan, &a);
    job.rule = &rule;
    job.show = a.show ? &show : NULL;
    if (plan->use & QKV_USE_KEY_SUMS) job.key_sums = a.key_sums;
    job.tap = a.tap ? &tap : NULL;
    qkvi_job_choose(&job);
    if ((s = qkvi_run_keys(&job, &threads, err)) || job.key_sums == NULL) return s;
    job.item = qkvi_item_sums;
    return qkvi_split(&job, &threads, err);
}

/* the overlap that qkv_run would find, in the words of qkv_attention's own arguments */
static qkv_status check_call_overlap(const qkv_plan *plan, const void *q, const void *k,
                                     const void *v, const void *out, qkv_error *err)
{
    qkvi_buffers b = {.n = 0, .writes = 1};
    qkvi_buffers_tensor(&b, "out", out, &plan->out);
    if (b.n == 0) return QKV_OK;
    qkvi_buffers_tensor(&b, "q", q, &plan->q);
    qkvi_buffers_tensor(&b, "k", k, &plan->k);
    qkvi_buffers_tensor(&b, "v", v, &plan->v);
    return qkvi_buffers_check(&b, err);
}

qkv_status qkv_attention(const qkv_params *params, const void *q, const void *k, const void *v,
                         void *out, qkv_error *err)
{
    qkv_plan *plan;
    qkv_status s = qkv_plan_create(&plan, params, NULL, err);
    if (s) return s;
    if ((s = qkvi_check_tensor(q, &plan->q, "q", err)) ||
        (s = qkvi_check_tensor(k, &plan->k, "k", err)) ||
        (s = qkvi_check_tensor(v, &plan->v, "v", err)) ||
        (s = qkvi_check_tensor(out, &plan->out, "out", err)) ||
        (s = check_call_overlap(plan, q, k, v, out, err))) {
        qkv_plan_destroy(plan);
        return s;
    }
    const size_t bytes = qkv_plan_workspace(plan);
    void *const workspace = bytes ? qkvi_alloc(NULL, bytes) : NULL;
    if (bytes && workspace == NULL) {
        s = qkvi_fail(err, QKV_ENOMEM, "workspace", (int64_t)bytes, 0,
                      QKVI_SAY(QKVI_S("workspace: no memory for "), QKVI_I((int64_t)bytes),
                               QKVI_S(" bytes")));
    } else {
        qkv_run_args a = qkv_run_args_init();
        a.q = q;
        a.k = k;
        a.v = v;
        a.out = out;
        a.workspace = workspace;
        a.workspace_size = bytes;
        s = qkv_run(plan, &a, err);
    }
    qkvi_release(NULL, workspace, bytes);
    qkv_plan_destroy(plan);
    return s;
}
