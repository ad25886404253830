/* SPDX-License-Identifier: MIT */
/* api_plan.c - plans: NULLs and struct sizes are checked here, everything else in plan/.
 *
 * A plan is filled on the stack first, so that a refusal allocates nothing and leaves *plan NULL.
 */
#include "api/abi.h"
#include "base/arena.h"
#include "base/error.h"
#include "plan/describe.h"

/* the size of the first version released */
enum { FIRST_PARAMS = offsetof(qkv_params, window_left) };

static qkv_status fill(qkv_plan *plan, const qkv_params *given, qkv_error *err)
{
    qkv_params p;
    qkv_status s;
    if ((s = qkvi_widen(&p, sizeof p, given, FIRST_PARAMS, "params.size", err))) return s;
    *plan = (qkv_plan){0};
    if ((s = qkvi_plan_validate(plan, &p, err))) return s;
    if ((s = qkvi_plan_choose(plan, &p, err))) return s;
    qkvi_plan_tile(plan);
    return qkvi_plan_workspace(plan, err);
}

qkv_status qkv_plan_create(qkv_plan **plan, const qkv_params *params, const qkv_allocator *alloc,
                           qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_need(plan, "plan", err))) return s;
    *plan = NULL;
    if ((s = qkvi_need(params, "params", err))) return s;
    qkv_allocator a;
    if ((s = qkvi_take_allocator(alloc, &a, err))) return s;
    qkv_plan filled;
    if ((s = fill(&filled, params, err))) return s;
    qkv_plan *const p = qkvi_alloc(alloc ? &a : NULL, sizeof *p);
    if (p == NULL)
        return qkvi_fail(
            err, QKV_ENOMEM, "plan", (int64_t)sizeof *p, 0,
            QKVI_SAY(QKVI_S("plan: no memory for "), QKVI_I((int64_t)sizeof *p), QKVI_S(" bytes")));
    *p = filled;
    p->owned = 1;
    p->alloc = a;
    p->alloc_given = alloc != NULL;
    *plan = p;
    return QKV_OK;
}

void qkv_plan_destroy(qkv_plan *plan)
{
    if (plan == NULL || !plan->owned) return;
    const qkv_allocator a = plan->alloc;
    qkvi_release(plan->alloc_given ? &a : NULL, plan, sizeof *plan);
}

size_t qkv_plan_size(void)
{
    return (sizeof(qkv_plan) + 63) / 64 * 64;
}

qkv_status qkv_plan_place(qkv_plan **plan, void *mem, size_t mem_size, const qkv_params *params,
                          qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_need(plan, "plan", err))) return s;
    *plan = NULL;
    if ((s = qkvi_need(mem, "mem", err))) return s;
    if ((s = qkvi_need(params, "params", err))) return s;
    if ((uintptr_t)mem % 64)
        return qkvi_fail(err, QKV_EWORKSPACE, "mem", (int64_t)((uintptr_t)mem % 64), 64,
                         QKVI_SAY(QKVI_S("mem is "), QKVI_I((int64_t)((uintptr_t)mem % 64)),
                                  QKVI_S(" bytes past a multiple of 64; it must be 64-aligned")));
    if (mem_size < qkv_plan_size())
        return qkvi_fail(
            err, QKV_EWORKSPACE, "mem_size", (int64_t)mem_size, (int64_t)qkv_plan_size(),
            QKVI_SAY(QKVI_S("mem_size is "), QKVI_I((int64_t)mem_size),
                     QKVI_S("; qkv_plan_size() is "), QKVI_I((int64_t)qkv_plan_size())));
    qkv_plan filled;
    if ((s = fill(&filled, params, err))) return s;
    *(qkv_plan *)mem = filled;
    *plan = mem;
    return QKV_OK;
}

size_t qkv_plan_workspace(const qkv_plan *plan)
{
    return plan ? (size_t)plan->workspace_bytes : 0;
}

size_t qkv_plan_describe(const qkv_plan *plan, char *text, size_t text_size)
{
    qkvi_text t = {text, text ? text_size : 0, 0};
    if (t.size) text[0] = 0;
    if (plan == NULL) return 0;
    const uint64_t env = plan->kernels->env_enter(); /* it prints the scale */
    qkvi_plan_text(plan, &t);
    plan->kernels->env_leave(env);
    return t.len;
}
