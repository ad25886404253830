/* SPDX-License-Identifier: MIT */
/* api_run.c - runs: NULLs, struct sizes, alignment and overlap, the only checks left once there is
 * a plan. After them run/ may trust every pointer. Nothing is written before all checks have
 * passed.
 */
#include "api/abi.h"
#include "api/api_added.h"
#include "api/api_lengths.h"
#include "base/arena.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/shape.h"
#include "plan/nodes.h"
#include "run/run.h"

enum {
    FIRST_ARGS = offsetof(qkv_run_args, kv_len),
    FIRST_TAP = sizeof(qkv_tap),
    FIRST_SHOW = sizeof(qkv_show),
    FIRST_PARTIAL = sizeof(qkv_partial)
};

#define ENGINE_STAGES (1u << QKV_STAGE_SCALED | 1u << QKV_STAGE_WEIGHT)
#define ALL_STAGES                                                                                 \
    (1u << QKV_STAGE_SCORE | 1u << QKV_STAGE_SCALED | 1u << QKV_STAGE_MASKED |                     \
     1u << QKV_STAGE_WEIGHT | 1u << QKV_STAGE_OUT)

/* Bytes [begin, end) that something touches; empty when equal. */
typedef struct extent {
    const char *arg;
    uintptr_t begin, end;
} extent;

static extent extent_of(const char *arg, const void *p, const qkv_shape *s)
{
    int64_t low, high;
    qkvi_shape_span(s, &low, &high);
    if (low == high) return (extent){arg, 0, 0};
    return (extent){arg, (uintptr_t)p + (uintptr_t)low, (uintptr_t)p + (uintptr_t)high};
}

static extent extent_bytes(const char *arg, const void *p, int64_t bytes)
{
    return (extent){arg, bytes ? (uintptr_t)p : 0, bytes ? (uintptr_t)p + (uintptr_t)bytes : 0};
}

static qkv_status check_apart(const extent *a, const extent *b, qkv_error *err)
{
    if (a->begin >= b->end || b->begin >= a->end) return QKV_OK;
    const int64_t shared = (int64_t)((a->end < b->end ? a->end : b->end) -
                                     (a->begin > b->begin ? a->begin : b->begin));
    return qkvi_fail(err, QKV_EARG, a->arg, shared, 0,
                     QKVI_SAY(QKVI_S(a->arg), QKVI_S(" and "), QKVI_S(b->arg), QKVI_S(" share "),
                              QKVI_I(shared),
                              QKVI_S(" bytes; an output may not overlap (0 bytes)")));
}

static qkv_status check_tensor(const void *p, const qkv_shape *s, const char *arg, qkv_error *err)
{
    int64_t low, high;
    qkvi_shape_span(s, &low, &high);
    return low == high ? QKV_OK : qkvi_need(p, arg, err);
}

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

static qkv_status check_workspace(const qkv_plan *plan, const qkv_run_args *a, qkv_error *err)
{
    const int64_t need = plan->workspace_bytes;
    if (need == 0) return QKV_OK;
    if (a->workspace == NULL)
        return qkvi_fail(err, QKV_EWORKSPACE, "args.workspace", 0, need,
                         QKVI_SAY(QKVI_S("args.workspace is NULL (0); it must hold "), QKVI_I(need),
                                  QKVI_S(" bytes (qkv_plan_workspace)")));
    const int64_t off = (int64_t)((uintptr_t)a->workspace % 64);
    if (off)
        return qkvi_fail(err, QKV_EWORKSPACE, "args.workspace", off, 64,
                         QKVI_SAY(QKVI_S("args.workspace is "), QKVI_I(off),
                                  QKVI_S(" bytes past a multiple of 64; it must be 64-aligned")));
    if (a->workspace_size < (size_t)need)
        return qkvi_fail(
            err, QKV_EWORKSPACE, "args.workspace_size", (int64_t)a->workspace_size, need,
            QKVI_SAY(QKVI_S("args.workspace_size is "), QKVI_I((int64_t)a->workspace_size),
                     QKVI_S("; it must be at least "), QKVI_I(need),
                     QKVI_S(" (qkv_plan_workspace)")));
    return QKV_OK;
}

/* What every kind of run needs of args: widened, threads, workspace. */
static qkv_status take_args(const qkv_plan *plan, const qkv_run_args *given, qkv_run_args *a,
                            qkv_threads *threads, qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_need(plan, "plan", err))) return s;
    if ((s = qkvi_need(given, "args", err))) return s;
    if ((s = qkvi_widen(a, sizeof *a, given, FIRST_ARGS, "args.size", err))) return s;
    if (a->reserved)
        return qkvi_fail(
            err, QKV_EARG, "args.reserved", a->reserved, 0,
            QKVI_SAY(QKVI_S("args.reserved is "), QKVI_I(a->reserved), QKVI_S("; it must be 0")));
    if ((s = qkvi_take_threads(a->threads, threads, err))) return s;
    return check_workspace(plan, a, err);
}

/* Nothing written may meet anything else; the workspace is written too. */
static qkv_status check_overlap(const extent *outputs, int nout, const extent *inputs, int nin,
                                qkv_error *err)
{
    qkv_status s;
    for (int i = 0; i < nout; i++) {
        for (int j = 0; j < i; j++)
            if ((s = check_apart(outputs + i, outputs + j, err))) return s;
        for (int j = 0; j < nin; j++)
            if ((s = check_apart(outputs + i, inputs + j, err))) return s;
    }
    return QKV_OK;
}

static qkv_status check_inputs(const qkv_plan *plan, const qkv_run_args *a, qkv_rule *rule,
                               qkv_error *err)
{
    qkv_status s;
    if ((s = check_tensor(a->q, &plan->q, "args.q", err))) return s;
    if ((s = check_tensor(a->k, &plan->k, "args.k", err))) return s;
    if ((s = check_tensor(a->v, &plan->v, "args.v", err))) return s;
    if ((s = qkvi_added_check(plan, a, rule, err))) return s;
    return qkvi_lengths_check(plan, a, err);
}

/* What a run reads: tensors and numbers. Returns how many there are. */
enum { MAX_INPUTS = 3 + QKVI_ADDED + QKVI_NUMBERS };
static int list_inputs(const qkv_plan *plan, const qkv_run_args *a, extent in[MAX_INPUTS])
{
    qkvi_numbers numbers[QKVI_NUMBERS];
    qkvi_added added[QKVI_ADDED];
    int n = 3;
    qkvi_lengths_list(plan, a, numbers);
    qkvi_added_list(plan, a, added);
    in[0] = extent_of("args.q", a->q, &plan->q);
    in[1] = extent_of("args.k", a->k, &plan->k);
    in[2] = extent_of("args.v", a->v, &plan->v);
    for (int i = 0; i < QKVI_ADDED; i++) {
        const qkvi_added *const x = added + i;
        in[n++] = x->low == x->high ? (extent){x->arg, 0, 0}
                                    : (extent){x->arg, (uintptr_t)x->x + (uintptr_t)x->low,
                                               (uintptr_t)x->x + (uintptr_t)x->high};
    }
    for (int i = 0; i < QKVI_NUMBERS; i++)
        in[n++] =
            extent_bytes(numbers[i].arg, numbers[i].x, numbers[i].n * (int64_t)sizeof(int64_t));
    return n;
}

static int64_t lse_bytes(const qkv_plan *plan)
{
    return plan->batch * plan->heads * plan->rows * plan->real_bytes;
}

static qkvi_job job_of(const qkv_plan *plan, const qkv_run_args *a)
{
    return (qkvi_job){.plan = plan,
                      .q = a->q,
                      .k = a->k,
                      .v = a->v,
                      .out = a->out,
                      .lse = a->lse,
                      .workspace = a->workspace,
                      .cancel = a->cancel,
                      .span_end = plan->spans,
                      .heads = 1,
                      .kv_len = a->kv_len,
                      .q_len = a->q_len,
                      .kv_start = a->kv_start,
                      .q_offset = a->q_offset,
                      .cu_q = a->cu_q,
                      .cu_k = a->cu_k,
                      .mask = a->mask,
                      .bias = a->bias,
                      .slopes = a->slopes,
                      .sinks = a->sinks,
                      .row_max = a->row_max,
                      .seed = a->seed,
                      .first_head = a->first_head,
                      .first_batch = a->first_batch};
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

/* What a run writes. Returns how many there are. */
enum { MAX_OUTPUTS = 10 };
static int list_outputs(const qkv_plan *plan, const qkv_run_args *a, const qkv_show *show,
                        extent out[MAX_OUTPUTS])
{
    const int64_t heads = plan->batch * plan->heads;
    int n = 5;
    out[0] = extent_of("args.out", a->out, &plan->out);
    out[1] = extent_bytes("args.lse", a->lse, a->lse ? lse_bytes(plan) : 0);
    out[2] = extent_bytes("args.row_max", a->row_max, a->row_max ? lse_bytes(plan) : 0);
    out[3] = extent_bytes("args.key_sums", a->key_sums,
                          plan->use & QKV_USE_KEY_SUMS && plan->items > 0
                              ? heads * plan->keys * plan->real_bytes
                              : 0);
    out[4] = extent_bytes("args.workspace", a->workspace, plan->workspace_bytes);
    if (show == NULL) return n;
    static const char *const name[5] = {"args.show.scaled", "args.show.capped", "args.show.masked",
                                        "args.show.weight", "args.show.keep"};
    void *const x[5] = {show->scaled, show->capped, show->masked, show->weight, show->keep};
    const int64_t pairs = heads * (show->rows ? show->nrows : plan->rows) * plan->keys;
    for (int i = 0; i < 5; i++)
        out[n++] = extent_bytes(name[i], x[i], x[i] ? pairs * (i == 4 ? 1 : plan->real_bytes) : 0);
    return n;
}

qkv_status qkv_run(const qkv_plan *plan, const qkv_run_args *args, qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_tap tap;
    qkv_rule rule;
    qkv_show show;
    qkv_status s;
    if ((s = take_args(plan, args, &a, &threads, err))) return s;
    if ((s = check_inputs(plan, &a, &rule, err))) return s;
    if ((s = check_tensor(a.out, &plan->out, "args.out", err))) return s;
    if ((s = check_tap(plan, a.tap, &tap, err))) return s;
    if ((s = take_show(plan, a.show, &show, err))) return s;
    if (plan->use & QKV_USE_KEY_SUMS && plan->items > 0 && plan->keys > 0 &&
        (s = qkvi_need(a.key_sums, "args.key_sums", err)))
        return s;
    extent out[MAX_OUTPUTS], in[MAX_INPUTS];
    const int nout = list_outputs(plan, &a, a.show ? &show : NULL, out);
    if ((s = check_overlap(out, nout, in, list_inputs(plan, &a, in), err))) return s;
    qkvi_job job = job_of(plan, &a);
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
    const extent output = extent_of("out", out, &plan->out);
    const extent in[3] = {extent_of("q", q, &plan->q), extent_of("k", k, &plan->k),
                          extent_of("v", v, &plan->v)};
    return check_overlap(&output, 1, in, 3, err);
}

qkv_status qkv_attention(const qkv_params *params, const void *q, const void *k, const void *v,
                         void *out, qkv_error *err)
{
    qkv_plan *plan;
    qkv_status s = qkv_plan_create(&plan, params, NULL, err);
    if (s) return s;
    if ((s = check_tensor(q, &plan->q, "q", err)) || (s = check_tensor(k, &plan->k, "k", err)) ||
        (s = check_tensor(v, &plan->v, "v", err)) ||
        (s = check_tensor(out, &plan->out, "out", err)) ||
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

/* ---- partials -------------------------------------------------------------------------------- */

size_t qkv_partial_size(const qkv_plan *plan, int64_t key_begin, int64_t key_end)
{
    if (plan == NULL || plan->ops == NULL || plan->sequences ||
        !qkvi_plan_range(plan, key_begin, key_end))
        return 0;
    const int64_t nodes = qkvi_plan_nodes(plan, key_begin / QKVI_SPAN, qkvi_span_after(key_end));
    int64_t n;
    if (__builtin_mul_overflow(plan->batch * plan->heads * plan->rows, nodes, &n) ||
        __builtin_mul_overflow(n, (plan->dv + 2) * plan->real_bytes, &n) || n > PTRDIFF_MAX)
        return 0;
    return (size_t)n;
}

static qkv_status check_has_partials(const qkv_plan *plan, qkv_error *err)
{
    if (plan->sequences)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "plan", plan->sequences, 0,
                         QKVI_SAY(QKVI_S("plan: it packs "), QKVI_I(plan->sequences),
                                  QKVI_S(" sequences, which have no partials; a partial needs 0")));
    if (plan->ops) return QKV_OK;
    return qkvi_fail(err, QKV_EUNSUPPORTED, "plan", QKV_ISA_REFERENCE, QKV_ISA_BEST,
                     QKVI_SAY(QKVI_S("plan: isa is -1 (the reference), which has no partials; "
                                     "take 0 (best)")));
}

/* An array of structs of the caller's size: the first one's size is the step to the next. */
static qkv_status check_parts(const qkv_partial *parts, qkv_error *err)
{
    qkv_status s;
    qkv_partial first;
    if ((s = qkvi_need(parts, "parts", err))) return s;
    if ((s = qkvi_widen(&first, sizeof first, parts, FIRST_PARTIAL, "parts.size", err))) return s;
    if (parts->size % sizeof(int64_t) == 0) return QKV_OK;
    return qkvi_fail(err, QKV_EABI, "parts.size", parts->size, sizeof(int64_t),
                     QKVI_SAY(QKVI_S("parts.size is "), QKVI_I(parts->size),
                              QKVI_S("; it must be a multiple of "), QKVI_I(sizeof(int64_t))));
}

static qkv_status take_partial(const qkv_plan *plan, const qkv_partial *given, qkv_partial *p,
                               qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_need(given, "part", err))) return s;
    if ((s = qkvi_widen(p, sizeof *p, given, FIRST_PARTIAL, "part.size", err))) return s;
    if (p->reserved)
        return qkvi_fail(
            err, QKV_EARG, "part.reserved", p->reserved, 0,
            QKVI_SAY(QKVI_S("part.reserved is "), QKVI_I(p->reserved), QKVI_S("; it must be 0")));
    if ((s = check_has_partials(plan, err))) return s;
    const int begins =
        p->key_begin >= 0 && p->key_begin <= plan->keys && p->key_begin % QKVI_SPAN == 0;
    if (!qkvi_plan_range(plan, p->key_begin, p->key_end)) {
        const char *const arg = begins ? "part.key_end" : "part.key_begin";
        const int64_t got = begins ? p->key_end : p->key_begin;
        return qkvi_fail(err, QKV_EARG, arg, got, QKVI_SPAN,
                         QKVI_SAY(QKVI_S(arg), QKVI_S(" is "), QKVI_I(got),
                                  QKVI_S("; a part runs from one multiple of "), QKVI_I(QKVI_SPAN),
                                  QKVI_S(" to a later one, or to the last key, "),
                                  QKVI_I(plan->keys)));
    }
    const size_t need = qkv_partial_size(plan, p->key_begin, p->key_end);
    const int64_t rows = plan->batch * plan->heads * plan->rows;
    if (need == 0 && rows > 0)
        return qkvi_fail(err, QKV_EARG, "part.key_end", p->key_end, PTRDIFF_MAX,
                         QKVI_SAY(QKVI_S("part.key_end is "), QKVI_I(p->key_end),
                                  QKVI_S("; the data of "), QKVI_I(rows),
                                  QKVI_S(" rows would not fit into memory (2^63 bytes)")));
    if (p->data_size < need)
        return qkvi_fail(err, QKV_EWORKSPACE, "part.data_size", (int64_t)p->data_size,
                         (int64_t)need,
                         QKVI_SAY(QKVI_S("part.data_size is "), QKVI_I((int64_t)p->data_size),
                                  QKVI_S("; it must be at least "), QKVI_I((int64_t)need)));
    return need ? qkvi_need(p->data, "part.data", err) : QKV_OK;
}

/* what partials do not hold */
static qkv_status refuse_extras(const qkv_plan *plan, const qkv_run_args *a, qkv_error *err)
{
    const char *const arg = a->row_max                     ? "args.row_max"
                            : a->show                      ? "args.show"
                            : plan->use & QKV_USE_KEY_SUMS ? "plan"
                                                           : NULL;
    if (arg == NULL) return QKV_OK;
    return qkvi_fail(
        err, QKV_EUNSUPPORTED, arg, 1, 0,
        QKVI_SAY(QKVI_S(arg), QKVI_S(" asks for 1 thing that partials do not hold (row maxima, key "
                                     "sums, shown rows); it must be 0")));
}

qkv_status qkv_run_partial(const qkv_plan *plan, const qkv_run_args *args, const qkv_partial *part,
                           qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_partial p;
    qkv_rule rule;
    qkv_status s;
    if ((s = take_args(plan, args, &a, &threads, err))) return s;
    if ((s = refuse_extras(plan, &a, err))) return s;
    if ((s = check_inputs(plan, &a, &rule, err))) return s;
    if ((s = take_partial(plan, part, &p, err))) return s;
    const extent out[2] = {
        extent_bytes("part.data", p.data, (int64_t)qkv_partial_size(plan, p.key_begin, p.key_end)),
        extent_bytes("args.workspace", a.workspace, plan->workspace_bytes)};
    extent in[MAX_INPUTS];
    if ((s = check_overlap(out, 2, in, list_inputs(plan, &a, in), err))) return s;
    qkvi_job job = job_of(plan, &a);
    job.rule = &rule;
    job.partial = p.data;
    job.span_begin = p.key_begin / QKVI_SPAN;
    job.span_end = qkvi_span_after(p.key_end);
    job.partial_nodes = qkvi_plan_nodes(plan, job.span_begin, job.span_end);
    qkvi_job_choose(&job);
    return qkvi_split(&job, &threads, err);
}

qkv_status qkv_partial_finish(const qkv_plan *plan, const qkv_run_args *args,
                              const qkv_partial *parts, int64_t nparts, qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_status s;
    if ((s = take_args(plan, args, &a, &threads, err))) return s;
    if ((s = refuse_extras(plan, &a, err))) return s;
    if ((s = check_tensor(a.out, &plan->out, "args.out", err))) return s;
    if ((s = qkvi_sinks_check(plan, &a, err))) return s;
    if (nparts < 0 || (nparts == 0 && plan->keys > 0))
        return qkvi_fail(
            err, QKV_EARG, "nparts", nparts, 1,
            QKVI_SAY(QKVI_S("nparts is "), QKVI_I(nparts), QKVI_S("; it must be at least 1")));
    if ((s = check_has_partials(plan, err))) return s;
    if (nparts > 0 && (s = check_parts(parts, err))) return s;
    const extent out[3] = {extent_of("args.out", a.out, &plan->out),
                           extent_bytes("args.lse", a.lse, a.lse ? lse_bytes(plan) : 0),
                           extent_bytes("args.workspace", a.workspace, plan->workspace_bytes)};
    /* in key order without allocating: the part that begins where the last one ended, again and
     * again */
    int64_t key = 0, full = 0;
    for (int64_t i = 0; i < nparts; i++) {
        const qkv_partial *const part = qkvi_part_at(parts, i);
        full += part->key_begin != part->key_end; /* empty parts do not count */
    }
    for (int64_t n = 0; n < full; n++) {
        const int64_t found = qkvi_part_from(parts, nparts, key);
        if (found < 0)
            return qkvi_fail(err, QKV_EARG, "parts", key, plan->keys,
                             QKVI_SAY(QKVI_S(found == -1 ? "parts: none begins at key "
                                                         : "parts: two begin at key "),
                                      QKVI_I(key), QKVI_S("; together they must cover 0 to "),
                                      QKVI_I(plan->keys), QKVI_S(" once")));
        qkv_partial p;
        if ((s = take_partial(plan, qkvi_part_at(parts, found), &p, err))) return s;
        const extent data = extent_bytes("part.data", p.data,
                                         (int64_t)qkv_partial_size(plan, p.key_begin, p.key_end));
        if ((s = check_overlap(out, 3, &data, 1, err))) return s;
        key = p.key_end;
    }
    if (key != plan->keys)
        return qkvi_fail(err, QKV_EARG, "parts", key, plan->keys,
                         QKVI_SAY(QKVI_S("parts end at key "), QKVI_I(key),
                                  QKVI_S("; together they must cover 0 to "), QKVI_I(plan->keys),
                                  QKVI_S(" once")));
    qkvi_job job = job_of(plan, &a);
    job.parts = parts;
    job.nparts = nparts;
    job.item = qkvi_item_finish;
    return qkvi_split(&job, &threads, err);
}
