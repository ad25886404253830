/* SPDX-License-Identifier: MIT */
/* api_experimental.c - the measuring loops. The environment of rule 0 is entered as it is for a run;
 * the clock is the caller's.
 */
#include "api/abi.h"
#include "base/error.h"
#include "cpu/cpu.h"
#include "kernel/kernels.h"
#include <qkv/attention.h>
#include <qkv/experimental.h>

enum { FIRST_PROBE = sizeof(qkv_probe_args) };

typedef struct probe {
    const qkvi_kernels *kernels;
    const qkv_probe_args *args;
    int32_t ntasks;
    double *amount; /* of one task: all do the same */
} probe;

static void probe_task(void *arg, int32_t i)
{
    const probe *const p = arg;
    const qkv_probe_args *const a = p->args;
    double n;
    const uint64_t env = p->kernels->env_enter();
    if (a->kind == QKV_PROBE_FMA_F32) {
        n = p->kernels->probe_fma32(a->repeat, a->variant);
    } else if (a->kind == QKV_PROBE_FMA_F64) {
        n = p->kernels->probe_fma64(a->repeat, a->variant);
    } else if (a->kind == QKV_PROBE_FED_F32) {
        n = p->kernels->probe_fed32(a->repeat, a->variant);
    } else if (a->kind == QKV_PROBE_FED_F64) {
        n = p->kernels->probe_fed64(a->repeat, a->variant);
    } else {
        const int64_t part = (int64_t)(a->buffer_size / (size_t)p->ntasks) / 64 * 64;
        n = p->kernels->probe_read((const char *)a->buffer + i * part, part, a->repeat, a->variant);
    }
    p->kernels->env_leave(env);
    if (i == 0) *p->amount = n * p->ntasks;
}

qkv_status qkv_probe(const qkv_probe_args *args, double *amount, qkv_error *err)
{
    qkv_probe_args a;
    qkv_status s;
    if ((s = qkvi_need(args, "args", err))) return s;
    if ((s = qkvi_need(amount, "amount", err))) return s;
    if ((s = qkvi_widen(&a, sizeof a, args, FIRST_PROBE, "args.size", err))) return s;
    const qkvi_kernels *const k =
        a.isa == QKV_ISA_BEST ? qkvi_kernels_best(qkvi_cpu()) : qkvi_kernels_by_id(a.isa);
    if (k == NULL || (k->needs & ~qkvi_cpu()))
        return qkvi_fail(err, QKV_EUNSUPPORTED, "args.isa", a.isa, QKV_ISA_BEST,
                         QKVI_SAY(QKVI_S("args.isa is "), QKVI_I(a.isa),
                                  QKVI_S("; no such kernels can run here (0 takes the best)")));
    if (a.kind < QKV_PROBE_FMA_F32 || a.kind > QKV_PROBE_FED_F64)
        return qkvi_fail(err, QKV_EARG, "args.kind", a.kind, QKV_PROBE_FED_F64,
                         QKVI_SAY(QKVI_S("args.kind is "), QKVI_I(a.kind),
                                  QKVI_S("; it must be between 1 and 5")));
    if (a.repeat < 1)
        return qkvi_fail(err, QKV_EARG, "args.repeat", a.repeat, 1,
                         QKVI_SAY(QKVI_S("args.repeat is "), QKVI_I(a.repeat),
                                  QKVI_S("; it must be at least 1")));
    if (a.kind == QKV_PROBE_READ) {
        if ((s = qkvi_need(a.buffer, "args.buffer", err))) return s;
        const int64_t off = (int64_t)((uintptr_t)a.buffer % 64);
        if (off)
            return qkvi_fail(
                err, QKV_EARG, "args.buffer", off, 64,
                QKVI_SAY(QKVI_S("args.buffer is "), QKVI_I(off),
                         QKVI_S(" bytes past a multiple of 64; it must be 64-aligned")));
    }
    qkv_threads threads;
    if ((s = qkvi_take_threads(a.threads, &threads, err))) return s;
    const int32_t ntasks = threads.nthreads;
    probe p = {k, &a, ntasks, amount};
    *amount = 0;
    if (ntasks > 1)
        threads.parallel_for(threads.ctx, ntasks, probe_task, &p);
    else
        probe_task(&p, 0);
    if (!(*amount > 0))
        return qkvi_fail(
            err, QKV_EARG, "args.variant", a.variant, 0,
            QKVI_SAY(QKVI_S("args.variant is "), QKVI_I(a.variant),
                     QKVI_S("; there is no such variant (or buffer_size is too small)")));
    return QKV_OK;
}
