/* SPDX-License-Identifier: MIT */
/* choose.c - which kernels: what the caller named, if this build and CPU have it; else the fastest.
 *
 * The choice changes no bit of a result, except for the reference, which is another arithmetic.
 */
#include "base/error.h"
#include "cpu/cpu.h"
#include "plan/plan.h"

qkv_status qkvi_plan_choose(qkv_plan *plan, const qkv_params *p, qkv_error *err)
{
    const uint32_t cpu = qkvi_cpu();
    if (p->isa == QKV_ISA_REFERENCE) {
        plan->kernels = qkvi_kernels_by_id(QKV_ISA_SCALAR);
        plan->ops = NULL;
        return QKV_OK;
    }
    const qkvi_kernels *const k =
        p->isa == QKV_ISA_BEST ? qkvi_kernels_best(cpu) : qkvi_kernels_by_id(p->isa);
    if (k == NULL)
        return qkvi_fail(
            err, QKV_EUNSUPPORTED, "params.isa", p->isa, QKV_ISA_BEST,
            QKVI_SAY(QKVI_S("params.isa is "), QKVI_I(p->isa),
                     QKVI_S("; this build has no such kernels (qkv_isa_id lists them)")));
    if (k->needs & ~cpu)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "params.isa", p->isa, QKV_ISA_BEST,
                         QKVI_SAY(QKVI_S("params.isa is "), QKVI_I(p->isa), QKVI_S(" ("),
                                  QKVI_S(k->name), QKVI_S("); this CPU cannot run it")));
    plan->kernels = k;
    plan->ops = p->q.dtype == QKV_F64 ? &k->f64 : &k->f32;
    return QKV_OK;
}
