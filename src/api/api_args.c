/* SPDX-License-Identifier: MIT */
/* api_args.c - see api_args.h. NULLs, struct sizes and alignment: what is left to check once there is a
 * plan. After it, and after api_overlap, run/ may trust every pointer.
 */
#include "api/api_args.h"
#include "api/abi.h"
#include "api/api_added.h"
#include "api/api_lengths.h"
#include "base/error.h"
#include "base/shape.h"

enum { FIRST_ARGS = offsetof(qkv_run_args, kv_len) };

qkv_status qkvi_check_tensor(const void *p, const qkv_shape *s, const char *arg, qkv_error *err)
{
    int64_t low, high;
    qkvi_shape_span(s, &low, &high);
    return low == high ? QKV_OK : qkvi_need(p, arg, err);
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

/* What is given for a feature that the plan does not have would be passed over in silence: a mask, or an
 * array that nobody fills. */
static qkv_status refuse_unused(const qkv_plan *plan, const qkv_run_args *a, qkv_error *err)
{
    const struct {
        const char *arg, *bit;
        const void *given;
        uint64_t use;
    } list[] = {{"args.kv_len", "KV_LEN", a->kv_len, QKV_USE_KV_LEN},
                {"args.q_len", "Q_LEN", a->q_len, QKV_USE_Q_LEN},
                {"args.kv_start", "KV_START", a->kv_start, QKV_USE_KV_START},
                {"args.q_offset", "Q_OFFSETS", a->q_offset, QKV_USE_Q_OFFSETS},
                {"args.cu_q", "PACKED", a->cu_q, QKV_USE_PACKED},
                {"args.cu_k", "PACKED", a->cu_k, QKV_USE_PACKED},
                {"args.mask", "MASK", a->mask, QKV_USE_MASK},
                {"args.bias", "BIAS", a->bias, QKV_USE_BIAS},
                {"args.slopes", "ALIBI", a->slopes, QKV_USE_ALIBI},
                {"args.sinks", "SINK", a->sinks, QKV_USE_SINK},
                {"args.rule", "RULE", a->rule, QKV_USE_RULE},
                {"args.key_sums", "KEY_SUMS", a->key_sums, QKV_USE_KEY_SUMS}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i].given && !(plan->use & list[i].use))
            return qkvi_fail(err, QKV_EARG, list[i].arg, 1, 0,
                             QKVI_SAY(QKVI_S(list[i].arg),
                                      QKVI_S(" is given (1), but params.use has no QKV_USE_"),
                                      QKVI_S(list[i].bit), QKVI_S("; then it must be NULL (0)")));
    if (a->slopes == NULL || !(plan->alibi_max_bias > 0)) return QKV_OK;
    return qkvi_fail(err, QKV_EARG, "args.slopes", 1, 0,
                     QKVI_SAY(QKVI_S("args.slopes is given (1) and params.alibi_max_bias is, too; "
                                     "then it must be NULL (0)")));
}

qkv_status qkvi_take_args(const qkv_plan *plan, const qkv_run_args *given, qkv_run_args *a,
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
    if ((s = refuse_unused(plan, a, err))) return s;
    return check_workspace(plan, a, err);
}

qkv_status qkvi_check_inputs(const qkv_plan *plan, const qkv_run_args *a, qkv_rule *rule,
                             qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_check_tensor(a->q, &plan->q, "args.q", err))) return s;
    if ((s = qkvi_check_tensor(a->k, &plan->k, "args.k", err))) return s;
    if ((s = qkvi_check_tensor(a->v, &plan->v, "args.v", err))) return s;
    if ((s = qkvi_added_check(plan, a, rule, err))) return s;
    return qkvi_lengths_check(plan, a, err);
}

int64_t qkvi_row_bytes(const qkv_plan *plan)
{
    return plan->batch * plan->heads * plan->rows * plan->real_bytes;
}

qkvi_job qkvi_job_of(const qkv_plan *plan, const qkv_run_args *a)
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
