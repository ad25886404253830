/* SPDX-License-Identifier: MIT */
/* api_partial.c - keys in pieces: ranges and sizes of parts, whether some parts together are all keys,
 * and what a part does not hold. Nothing is written before all checks have passed.
 */
#include "api/abi.h"
#include "api/api_added.h"
#include "api/api_args.h"
#include "api/api_overlap.h"
#include "base/contract.h"
#include "base/error.h"
#include "plan/nodes.h"

enum { FIRST_PARTIAL = sizeof(qkv_partial) };

size_t qkv_partial_size(const qkv_plan *plan, int64_t key_begin, int64_t key_end)
{
    if (plan == NULL || plan->ops == NULL || !qkvi_plan_range(plan, key_begin, key_end)) return 0;
    const int64_t nodes = qkvi_plan_nodes(plan, key_begin / QKVI_SPAN, qkvi_span_after(key_end));
    int64_t n;
    if (__builtin_mul_overflow(plan->batch * plan->heads * plan->rows, nodes, &n) ||
        __builtin_mul_overflow(n, (plan->dv + 2) * plan->real_bytes, &n) || n > PTRDIFF_MAX)
        return 0;
    return (size_t)n;
}

static qkv_status check_has_partials(const qkv_plan *plan, qkv_error *err)
{
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

/* What comes from a second pass, over all keys and with the rows' final sums, and what a finish cannot
 * know: a node holds a rounded maximum. */
static qkv_status refuse_extras(const qkv_plan *plan, const qkv_run_args *a, int finish,
                                qkv_error *err)
{
    const char *const arg = a->show                        ? "args.show"
                            : plan->use & QKV_USE_KEY_SUMS ? "plan"
                            : a->row_max && finish         ? "args.row_max"
                                                           : NULL;
    if (arg == NULL) return QKV_OK;
    return qkvi_fail(
        err, QKV_EUNSUPPORTED, arg, 1, 0,
        QKVI_SAY(QKVI_S(arg), QKVI_S(" asks for 1 thing that partials do not hold (shown rows, key "
                                     "sums; a finish: row maxima); it must be 0")));
}

qkv_status qkv_run_partial(const qkv_plan *plan, const qkv_run_args *args, const qkv_partial *part,
                           qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_partial p;
    qkv_rule rule;
    qkv_status s;
    if ((s = qkvi_take_args(plan, args, &a, &threads, err))) return s;
    if ((s = refuse_extras(plan, &a, 0, err))) return s;
    if ((s = qkvi_check_inputs(plan, &a, &rule, err))) return s;
    if ((s = take_partial(plan, part, &p, err))) return s;
    qkvi_buffers b = {.n = 0};
    qkvi_buffers_add(&b, "part.data", p.data,
                     (int64_t)qkv_partial_size(plan, p.key_begin, p.key_end));
    qkvi_buffers_add(&b, "args.row_max", a.row_max, qkvi_row_bytes(plan));
    qkvi_buffers_add(&b, "args.workspace", a.workspace, plan->workspace_bytes);
    b.writes = b.n;
    qkvi_buffers_inputs(&b, plan, &a);
    if ((s = qkvi_buffers_check(&b, err))) return s;
    qkvi_job job = qkvi_job_of(plan, &a);
    job.rule = &rule;
    job.partial = p.data;
    job.span_begin = p.key_begin / QKVI_SPAN;
    job.span_end = qkvi_span_after(p.key_end);
    job.partial_nodes = qkvi_plan_nodes(plan, job.span_begin, job.span_end);
    qkvi_job_choose(&job);
    return qkvi_split(&job, &threads, err);
}

/* What a finish writes and reads, but the data of the parts. */
static qkv_status list_finish(const qkv_plan *plan, const qkv_run_args *a, const qkv_partial *parts,
                              int64_t nparts, qkvi_buffers *b, qkv_error *err)
{
    qkvi_added added[QKVI_ADDED];
    int64_t bytes;
    qkvi_added_list(plan, a, added);
    b->n = 0;
    qkvi_buffers_tensor(b, "args.out", a->out, &plan->out);
    qkvi_buffers_add(b, "args.lse", a->lse, qkvi_row_bytes(plan));
    qkvi_buffers_add(b, "args.workspace", a->workspace, plan->workspace_bytes);
    b->writes = b->n;
    qkvi_buffers_plan(b, plan, a);
    qkvi_buffers_add(b, "args.sinks", a->sinks, added[QKVI_ADDED_SINKS].high);
    if (nparts > 0 && !__builtin_mul_overflow(nparts, (int64_t)parts->size, &bytes))
        qkvi_buffers_add(b, "parts", parts, bytes);
    return qkvi_buffers_check(b, err);
}

/* The parts, in key order without allocating: the one that begins where the last one ended, again and
 * again. Each is whole, lies apart from what is written, and together they are all keys. */
static qkv_status check_all(const qkv_plan *plan, const qkv_partial *parts, int64_t nparts,
                            qkvi_buffers *b, qkv_error *err)
{
    const int before = b->n;
    int64_t key = 0, full = 0;
    qkv_status s;
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
        b->n = before;
        qkvi_buffers_add(b, "part.data", p.data,
                         (int64_t)qkv_partial_size(plan, p.key_begin, p.key_end));
        if ((s = qkvi_buffers_check(b, err))) return s;
        key = p.key_end;
    }
    if (key == plan->keys) return QKV_OK;
    return qkvi_fail(err, QKV_EARG, "parts", key, plan->keys,
                     QKVI_SAY(QKVI_S("parts end at key "), QKVI_I(key),
                              QKVI_S("; together they must cover 0 to "), QKVI_I(plan->keys),
                              QKVI_S(" once")));
}

qkv_status qkv_partial_finish(const qkv_plan *plan, const qkv_run_args *args,
                              const qkv_partial *parts, int64_t nparts, qkv_error *err)
{
    qkv_run_args a;
    qkv_threads threads;
    qkv_status s;
    if ((s = qkvi_take_args(plan, args, &a, &threads, err))) return s;
    if ((s = refuse_extras(plan, &a, 1, err))) return s;
    if ((s = qkvi_check_tensor(a.out, &plan->out, "args.out", err))) return s;
    if ((s = qkvi_sinks_check(plan, &a, err))) return s;
    if (nparts < 0 || (nparts == 0 && plan->keys > 0))
        return qkvi_fail(
            err, QKV_EARG, "nparts", nparts, 1,
            QKVI_SAY(QKVI_S("nparts is "), QKVI_I(nparts), QKVI_S("; it must be at least 1")));
    if ((s = check_has_partials(plan, err))) return s;
    if (nparts > 0 && (s = check_parts(parts, err))) return s;
    qkvi_buffers buffers;
    if ((s = list_finish(plan, &a, parts, nparts, &buffers, err))) return s;
    if ((s = check_all(plan, parts, nparts, &buffers, err))) return s;
    qkvi_job job = qkvi_job_of(plan, &a);
    job.parts = parts;
    job.nparts = nparts;
    job.item = qkvi_item_finish;
    return qkvi_split(&job, &threads, err);
}
