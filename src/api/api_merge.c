/* SPDX-License-Identifier: MIT */
/* api_merge.c - qkv_merge(): shapes, NULLs and overlap. out and lse may be exactly one of the parts and
 * overlap nothing else.
 */
#include "api/abi.h"
#include "api/api_overlap.h"
#include "base/error.h"
#include "base/shape.h"
#include "kernel/kernels.h"
#include "run/merge.h"
#include <qkv/attention.h>

static qkv_status check_shape(const qkv_shape *s, qkv_error *err)
{
    static const char *const dim[4] = {"shape.dim[0]", "shape.dim[1]", "shape.dim[2]",
                                       "shape.dim[3]"};
    int64_t elems;
    if (qkvi_dtype_bytes(s->dtype) == 0)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "shape.dtype", s->dtype, QKV_F32,
                         QKVI_SAY(QKVI_S("shape.dtype is "), QKVI_I(s->dtype),
                                  QKVI_S("; it must be QKV_F32 (1), QKV_F16 (2), QKV_BF16 (3) or "
                                         "QKV_F64 (4)")));
    if (s->reserved != 0)
        return qkvi_fail(
            err, QKV_EARG, "shape.reserved", s->reserved, 0,
            QKVI_SAY(QKVI_S("shape.reserved is "), QKVI_I(s->reserved), QKVI_S("; it must be 0")));
    for (int i = 0; i < 4; i++)
        if (s->dim[i] < 0)
            return qkvi_fail(err, QKV_EARG, dim[i], s->dim[i], 0,
                             QKVI_SAY(QKVI_S(dim[i]), QKVI_S(" is "), QKVI_I(s->dim[i]),
                                      QKVI_S("; it must be at least 0")));
    if (qkvi_shape_overflows(s, &elems))
        return qkvi_fail(err, QKV_EARG, "shape", s->dim[2], INT64_MAX,
                         QKVI_SAY(QKVI_S("shape with "), QKVI_I(s->dim[2]),
                                  QKVI_S(" rows is too large: it must span less than 2^63 bytes")));
    if (!qkvi_shape_injective(s))
        return qkvi_fail(err, QKV_EARG, "shape.stride", s->stride[2], 0,
                         QKVI_SAY(QKVI_S("shape.stride repeats (row stride "), QKVI_I(s->stride[2]),
                                  QKVI_S("); no two elements of an output may share an address")));
    return QKV_OK;
}

/* What is written lies apart from all else, but a result may be exactly one of the parts. */
static qkv_status check_overlap(const qkv_shape *shape, const void *const *outs,
                                const void *const *lses, int64_t nparts, const void *out,
                                const void *lse, qkv_error *err)
{
    const int64_t pointers = nparts * (int64_t)sizeof *outs;
    const int64_t rows = shape->dim[0] * shape->dim[1] * shape->dim[2];
    const int64_t lse_bytes = rows * (shape->dtype == QKV_F64 ? 8 : 4);
    qkvi_buffers b = {.n = 0};
    qkvi_buffers_tensor(&b, "out", out, shape);
    qkvi_buffers_add(&b, "lse", lse, lse_bytes);
    b.writes = b.n;
    qkvi_buffers_add(&b, "outs", outs, pointers);
    qkvi_buffers_add(&b, "lses", lses, pointers);
    for (int64_t i = 0, n = b.n; i < nparts; i++, b.n = (int)n) {
        if (outs[i] != out) qkvi_buffers_tensor(&b, "outs[i]", outs[i], shape);
        if (lses[i] != lse) qkvi_buffers_add(&b, "lses[i]", lses[i], lse_bytes);
        const qkv_status s = qkvi_buffers_check(&b, err);
        if (s) return s;
    }
    return QKV_OK;
}

qkv_status qkv_merge(const qkv_shape *shape, const void *const *outs, const void *const *lses,
                     int64_t nparts, void *out, void *lse, qkv_error *err)
{
    qkv_status s;
    if ((s = qkvi_need(shape, "shape", err))) return s;
    if ((s = check_shape(shape, err))) return s;
    if (nparts < 1 || nparts > QKVI_MERGE_PARTS)
        return qkvi_fail(err, QKV_EARG, "nparts", nparts, nparts < 1 ? 1 : QKVI_MERGE_PARTS,
                         QKVI_SAY(QKVI_S("nparts is "), QKVI_I(nparts),
                                  QKVI_S("; it must be between 1 and "), QKVI_I(QKVI_MERGE_PARTS)));
    if ((s = qkvi_need(outs, "outs", err))) return s;
    if ((s = qkvi_need(lses, "lses", err))) return s;
    const qkv_shape clean = qkvi_shape_clean(shape);
    const int64_t rows = clean.dim[0] * clean.dim[1] * clean.dim[2];
    int64_t low, high;
    qkvi_shape_span(&clean, &low, &high);
    if (rows == 0) return QKV_OK;
    if (low != high && (s = qkvi_need(out, "out", err))) return s;
    for (int64_t i = 0; i < nparts; i++) {
        if (low != high && (s = qkvi_need(outs[i], "outs[i]", err))) return s;
        if ((s = qkvi_need(lses[i], "lses[i]", err))) return s;
    }
    if ((s = check_overlap(&clean, outs, lses, nparts, out, lse, err))) return s;
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    qkvi_merge(&clean, outs, lses, nparts, out, lse);
    scalar->env_leave(env);
    return QKV_OK;
}
