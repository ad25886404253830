/* SPDX-License-Identifier: MIT */
/* validate.c - every rule about shapes and options, in one file. A failure names the argument as
 * the caller wrote it, its value and the bound. After this, the plan can be trusted.
 */
#include "base/checked.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/shape.h"
#include "plan/plan.h"

#define KNOWN_USE                                                                                  \
    (QKV_USE_SCALE | QKV_USE_CAUSAL | QKV_USE_WINDOW | QKV_USE_PREFIX | QKV_USE_KV_LEN |           \
     QKV_USE_Q_LEN | QKV_USE_KV_START | QKV_USE_Q_OFFSETS | QKV_USE_PACKED | QKV_USE_MASK |        \
     QKV_USE_BIAS | QKV_USE_ALIBI | QKV_USE_SOFTCAP | QKV_USE_SINK | QKV_USE_RULE |                \
     QKV_USE_DROPOUT | QKV_USE_KEY_SUMS)
#define FAR_OFFSET (INT64_C(1) << 62)
enum { MAX_THREADS = 1024, MAX_BIAS = 1000 };

static const char *const axis[4] = {"batch", "heads", "positions", "channels"};
static const char *const pair_axis[4] = {"batches", "heads", "rows", "keys"};
/* "params.q" and its members' names, as they stand in a sentence */
static const char *const dim_name[4][4] = {
    {"params.q.dim[0]", "params.q.dim[1]", "params.q.dim[2]", "params.q.dim[3]"},
    {"params.k.dim[0]", "params.k.dim[1]", "params.k.dim[2]", "params.k.dim[3]"},
    {"params.v.dim[0]", "params.v.dim[1]", "params.v.dim[2]", "params.v.dim[3]"},
    {"params.out.dim[0]", "params.out.dim[1]", "params.out.dim[2]", "params.out.dim[3]"}};
static const char *const tensor_name[4] = {"params.q", "params.k", "params.v", "params.out"};
static const char *const dtype_name[4] = {"params.q.dtype", "params.k.dtype", "params.v.dtype",
                                          "params.out.dtype"};

static const char *const reserved_name[4] = {"params.q.reserved", "params.k.reserved",
                                             "params.v.reserved", "params.out.reserved"};

/* q sets the type that is computed in; k and v may have any type that it holds exactly, out any */
static qkv_status check_dtype(const qkv_shape *s, int which, int32_t q_dtype, qkv_error *err)
{
    if (qkvi_dtype_bytes(s->dtype) == 0)
        return qkvi_fail(err, QKV_EUNSUPPORTED, dtype_name[which], s->dtype, QKV_F32,
                         QKVI_SAY(QKVI_S(dtype_name[which]), QKVI_S(" is "), QKVI_I(s->dtype),
                                  QKVI_S("; it must be QKV_F32 (1), QKV_F16 (2), QKV_BF16 (3) or "
                                         "QKV_F64 (4)")));
    const int is_kv = which == 1 || which == 2;
    if (!is_kv || s->dtype != QKV_F64 || q_dtype == QKV_F64) return QKV_OK;
    return qkvi_fail(err, QKV_ESHAPE, dtype_name[which], s->dtype, q_dtype,
                     QKVI_SAY(QKVI_S(dtype_name[which]),
                              QKVI_S(" is 4 (QKV_F64) and "
                                     "params.q.dtype is "),
                              QKVI_I(q_dtype),
                              QKVI_S("; float32 arithmetic cannot take float64 keys or values")));
}

static qkv_status check_tensor(const qkv_shape *s, int which, int32_t q_dtype, qkv_error *err)
{
    const qkv_status wrong = check_dtype(s, which, q_dtype, err);
    if (wrong) return wrong;
    if (s->reserved != 0)
        return qkvi_fail(err, QKV_EARG, reserved_name[which], s->reserved, 0,
                         QKVI_SAY(QKVI_S(reserved_name[which]), QKVI_S(" is "), QKVI_I(s->reserved),
                                  QKVI_S("; it must be 0")));
    for (int i = 0; i < 4; i++) {
        const int64_t least =
            which < 2 && i == 3; /* scores need a channel; all else may be empty */
        if (s->dim[i] < least)
            return qkvi_fail(err, QKV_EARG, dim_name[which][i], s->dim[i], least,
                             QKVI_SAY(QKVI_S(dim_name[which][i]), QKVI_S(" ("), QKVI_S(axis[i]),
                                      QKVI_S(") is "), QKVI_I(s->dim[i]),
                                      QKVI_S("; it must be at least "), QKVI_I(least)));
    }
    int64_t elems;
    if (qkvi_shape_overflows(s, &elems))
        return qkvi_fail(err, QKV_EARG, tensor_name[which], s->dim[2], INT64_MAX,
                         QKVI_SAY(QKVI_S(tensor_name[which]), QKVI_S(" of "), QKVI_I(s->dim[0]),
                                  QKVI_S(" x "), QKVI_I(s->dim[1]), QKVI_S(" x "),
                                  QKVI_I(s->dim[2]), QKVI_S(" x "), QKVI_I(s->dim[3]),
                                  QKVI_S(" is too large: it must span less than 2^63 bytes")));
    return QKV_OK;
}

/* dim i of tensor a must equal dim i of tensor b */
static qkv_status check_equal(const qkv_shape *a, int which_a, const qkv_shape *b, int which_b,
                              int i, qkv_error *err)
{
    if (a->dim[i] == b->dim[i]) return QKV_OK;
    return qkvi_fail(err, QKV_ESHAPE, dim_name[which_a][i], a->dim[i], b->dim[i],
                     QKVI_SAY(QKVI_S(dim_name[which_a][i]), QKVI_S(" ("), QKVI_S(axis[i]),
                              QKVI_S(") is "), QKVI_I(a->dim[i]), QKVI_S("; it must equal "),
                              QKVI_S(dim_name[which_b][i]), QKVI_S(", which is "),
                              QKVI_I(b->dim[i])));
}

/* What holds a number for each batch (sequence) and head, or for each key of each head, can be counted
 * in bytes, also where another size is 0. */
static qkv_status check_arrays(const qkv_params *p, qkv_error *err)
{
    const int64_t batch = p->use & QKV_USE_PACKED ? p->sequences : p->q.dim[0];
    const int64_t heads = p->q.dim[1], keys = p->use & QKV_USE_KEY_SUMS ? p->k.dim[2] : 1;
    int64_t n;
    if (!qkvi_mul(batch > 1 ? batch : 1, heads > 1 ? heads : 1, &n) &&
        !qkvi_mul(n, keys > 1 ? keys : 1, &n) && !qkvi_mul(n, (int64_t)sizeof(double), &n))
        return QKV_OK;
    const int packed = (p->use & QKV_USE_PACKED) != 0;
    return qkvi_fail(err, QKV_EARG, packed ? "params.sequences" : dim_name[0][1],
                     packed ? batch : heads, INT64_MAX,
                     QKVI_SAY(QKVI_S(packed ? "params.sequences" : dim_name[0][1]),
                              QKVI_S(packed ? " is " : " (heads) is "),
                              QKVI_I(packed ? batch : heads), QKVI_S("; numbers for "),
                              QKVI_I(batch), QKVI_S(" x "), QKVI_I(heads), QKVI_S(" x "),
                              QKVI_I(keys),
                              QKVI_S(" are too large: they must span less than 2^63 bytes")));
}

static qkv_status check_fit(const qkv_params *p, qkv_error *err)
{
    enum { Q, K, V, OUT };
    qkv_status s;
    if ((s = check_equal(&p->k, K, &p->q, Q, 0, err))) return s;
    if ((s = check_equal(&p->v, V, &p->q, Q, 0, err))) return s;
    if ((s = check_equal(&p->v, V, &p->k, K, 1, err))) return s;
    if ((s = check_equal(&p->v, V, &p->k, K, 2, err))) return s;
    if ((s = check_equal(&p->k, K, &p->q, Q, 3, err))) return s;
    for (int i = 0; i < 3; i++)
        if ((s = check_equal(&p->out, OUT, &p->q, Q, i, err))) return s;
    if ((s = check_equal(&p->out, OUT, &p->v, V, 3, err))) return s;
    const int64_t hq = p->q.dim[1], hkv = p->k.dim[1];
    if (hkv == 0 ? hq != 0 : hq % hkv != 0)
        return qkvi_fail(
            err, QKV_ESHAPE, dim_name[K][1], hkv, hq,
            QKVI_SAY(QKVI_S("params.k.dim[1] (key heads) is "), QKVI_I(hkv),
                     QKVI_S("; it must divide params.q.dim[1] (query heads), which is "),
                     QKVI_I(hq)));
    int64_t n;
    if (qkvi_mul(p->q.dim[0], hq, &n) || qkvi_mul(n, p->q.dim[2], &n) ||
        qkvi_mul(n, p->k.dim[2], &n))
        return qkvi_fail(err, QKV_EARG, dim_name[K][2], p->k.dim[2], INT64_MAX,
                         QKVI_SAY(QKVI_S("batch x heads x rows x keys = "), QKVI_I(p->q.dim[0]),
                                  QKVI_S(" x "), QKVI_I(hq), QKVI_S(" x "), QKVI_I(p->q.dim[2]),
                                  QKVI_S(" x "), QKVI_I(p->k.dim[2]),
                                  QKVI_S(" scores is too large: it must be below 2^63")));
    if (!qkvi_shape_injective(&p->out))
        return qkvi_fail(err, QKV_EARG, "params.out.stride", p->out.stride[2], 0,
                         QKVI_SAY(QKVI_S("params.out.stride is "), QKVI_I(p->out.stride[0]),
                                  QKVI_S(", "), QKVI_I(p->out.stride[1]), QKVI_S(", "),
                                  QKVI_I(p->out.stride[2]), QKVI_S(", "), QKVI_I(p->out.stride[3]),
                                  QKVI_S("; no two elements of an output may share an address")));
    return QKV_OK;
}

static qkv_status check_options(const qkv_params *p, qkv_error *err)
{
    if (p->use & ~KNOWN_USE)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "params.use", (int64_t)p->use, (int64_t)KNOWN_USE,
                         QKVI_SAY(QKVI_S("params.use is "), QKVI_I((int64_t)p->use),
                                  QKVI_S("; this library knows only the bits of "),
                                  QKVI_I((int64_t)KNOWN_USE)));
    if (p->reserved != 0)
        return qkvi_fail(
            err, QKV_EARG, "params.reserved", p->reserved, 0,
            QKVI_SAY(QKVI_S("params.reserved is "), QKVI_I(p->reserved), QKVI_S("; it must be 0")));
    if (p->max_threads < 0 || p->max_threads > MAX_THREADS)
        return qkvi_fail(err, QKV_EARG, "params.max_threads", p->max_threads, MAX_THREADS,
                         QKVI_SAY(QKVI_S("params.max_threads is "), QKVI_I(p->max_threads),
                                  QKVI_S("; it must be between 0 and "), QKVI_I(MAX_THREADS)));
    if (p->reserved2 != 0)
        return qkvi_fail(err, QKV_EARG, "params.reserved2", p->reserved2, 0,
                         QKVI_SAY(QKVI_S("params.reserved2 is "), QKVI_I(p->reserved2),
                                  QKVI_S("; it must be 0")));
    return QKV_OK;
}

static qkv_status check_positions(const qkv_params *p, qkv_error *err)
{
    if (p->q_offset > FAR_OFFSET || p->q_offset < -FAR_OFFSET)
        return qkvi_fail(err, QKV_EARG, "params.q_offset", p->q_offset, FAR_OFFSET,
                         QKVI_SAY(QKVI_S("params.q_offset is "), QKVI_I(p->q_offset),
                                  QKVI_S("; it must be between -2^62 and 2^62")));
    if (p->align < QKV_ALIGN_OFFSET || p->align > QKV_ALIGN_BOTTOM_RIGHT)
        return qkvi_fail(err, QKV_EARG, "params.align", p->align, QKV_ALIGN_BOTTOM_RIGHT,
                         QKVI_SAY(QKVI_S("params.align is "), QKVI_I(p->align),
                                  QKVI_S("; it must be 0 (q_offset), 1 (top-left) or 2 "
                                         "(bottom-right)")));
    if (p->align != QKV_ALIGN_OFFSET && ((p->use & QKV_USE_Q_OFFSETS) || p->q_offset != 0))
        return qkvi_fail(err, QKV_ESHAPE, "params.align", p->align, QKV_ALIGN_OFFSET,
                         QKVI_SAY(QKVI_S("params.align is "), QKVI_I(p->align),
                                  QKVI_S(" and an offset is given too; rows can stand in one place "
                                         "only, so one of them must be 0")));
    return QKV_OK;
}

static qkv_status check_window_side(int64_t size, const char *name, qkv_error *err)
{
    if (size >= -1) return QKV_OK;
    return qkvi_fail(err, QKV_EARG, name, size, -1,
                     QKVI_SAY(QKVI_S(name), QKVI_S(" is "), QKVI_I(size),
                              QKVI_S("; it must be at least -1 (open)")));
}

/* A tensor over (row, key) pairs: name is "params.mask". Its dimensions are 1 or the tensors', but the
 * last, which may be any that is not larger. */
static qkv_status check_pairs(const qkv_params *p, const qkv_shape *x, const char *name,
                              const char *const dim[4], qkv_error *err)
{
    const int64_t full[4] = {p->q.dim[0], p->q.dim[1], p->q.dim[2], p->k.dim[2]};
    for (int i = 0; i < 4; i++) {
        const int fits =
            i < 3 ? x->dim[i] == 1 || x->dim[i] == full[i] : x->dim[i] >= 0 && x->dim[i] <= full[i];
        if (!fits)
            return qkvi_fail(err, QKV_ESHAPE, dim[i], x->dim[i], full[i],
                             QKVI_SAY(QKVI_S(dim[i]), QKVI_S(" is "), QKVI_I(x->dim[i]),
                                      QKVI_S(i < 3 ? "; it must be 1 or the number of "
                                                   : "; it must be at least 0 and at most the "
                                                     "number of "),
                                      QKVI_S(pair_axis[i]), QKVI_S(", "), QKVI_I(full[i])));
    }
    int64_t elems;
    if (x->reserved != 0)
        return qkvi_fail(err, QKV_EARG, name, x->reserved, 0,
                         QKVI_SAY(QKVI_S(name), QKVI_S(".reserved is "), QKVI_I(x->reserved),
                                  QKVI_S("; it must be 0")));
    if (!qkvi_shape_overflows(x, &elems)) return QKV_OK;
    return qkvi_fail(err, QKV_EARG, name, x->stride[2], INT64_MAX,
                     QKVI_SAY(QKVI_S(name), QKVI_S(" has strides "), QKVI_I(x->stride[0]),
                              QKVI_S(", "), QKVI_I(x->stride[1]), QKVI_S(", "),
                              QKVI_I(x->stride[2]), QKVI_S(", "), QKVI_I(x->stride[3]),
                              QKVI_S(", and spans too much with them: it must be at most "),
                              QKVI_I(INT64_MAX), QKVI_S(" bytes")));
}

static qkv_status check_mask(const qkv_params *p, qkv_error *err)
{
    static const char *const dim[4] = {"params.mask.dim[0]", "params.mask.dim[1]",
                                       "params.mask.dim[2]", "params.mask.dim[3]"};
    if (!(p->use & QKV_USE_MASK)) return QKV_OK;
    if (p->mask.dtype != QKV_BOOL && p->mask.dtype != QKV_BITS)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "params.mask.dtype", p->mask.dtype, QKV_BOOL,
                         QKVI_SAY(QKVI_S("params.mask.dtype is "), QKVI_I(p->mask.dtype),
                                  QKVI_S("; it must be QKV_BOOL (5) or QKV_BITS (6); a mask of "
                                         "numbers is params.bias")));
    if (p->mask_drops != 0 && p->mask_drops != 1)
        return qkvi_fail(err, QKV_EARG, "params.mask_drops", p->mask_drops, 1,
                         QKVI_SAY(QKVI_S("params.mask_drops is "), QKVI_I(p->mask_drops),
                                  QKVI_S("; it must be 0 (true keeps) or 1 (true drops)")));
    return check_pairs(p, &p->mask, "params.mask", dim, err);
}

static qkv_status check_added(const qkv_params *p, qkv_error *err)
{
    static const char *const dim[4] = {"params.bias.dim[0]", "params.bias.dim[1]",
                                       "params.bias.dim[2]", "params.bias.dim[3]"};
    if (p->use & QKV_USE_ALIBI) {
        if (p->slopes_by_batch != 0 && p->slopes_by_batch != 1)
            return qkvi_fail(err, QKV_EARG, "params.slopes_by_batch", p->slopes_by_batch, 1,
                             QKVI_SAY(QKVI_S("params.slopes_by_batch is "),
                                      QKVI_I(p->slopes_by_batch), QKVI_S("; it must be 0 or 1")));
        if (!(p->alibi_max_bias >= 0 && p->alibi_max_bias <= MAX_BIAS))
            return qkvi_fail(err, QKV_EARG, "params.alibi_max_bias", 0, MAX_BIAS,
                             QKVI_SAY(QKVI_S("params.alibi_max_bias is "),
                                      QKVI_X(p->alibi_max_bias),
                                      QKVI_S("; it must be between 0 (slopes are given) and "),
                                      QKVI_I(MAX_BIAS)));
    }
    if (!(p->use & QKV_USE_BIAS)) return QKV_OK;
    if (qkvi_dtype_bytes(p->bias.dtype) == 0)
        return qkvi_fail(err, QKV_EUNSUPPORTED, "params.bias.dtype", p->bias.dtype, QKV_F32,
                         QKVI_SAY(QKVI_S("params.bias.dtype is "), QKVI_I(p->bias.dtype),
                                  QKVI_S("; it must be QKV_F32 (1), QKV_F16 (2), QKV_BF16 (3) or "
                                         "QKV_F64 (4); true and false are params.mask")));
    return check_pairs(p, &p->bias, "params.bias", dim, err);
}

static qkv_status check_masks(const qkv_params *p, qkv_error *err)
{
    qkv_status s;
    if ((s = check_positions(p, err))) return s;
    if (p->use & QKV_USE_WINDOW) {
        if ((s = check_window_side(p->window_left, "params.window_left", err))) return s;
        if ((s = check_window_side(p->window_right, "params.window_right", err))) return s;
    }
    if ((p->use & QKV_USE_PREFIX) && p->prefix < 0)
        return qkvi_fail(err, QKV_EARG, "params.prefix", p->prefix, 0,
                         QKVI_SAY(QKVI_S("params.prefix is "), QKVI_I(p->prefix),
                                  QKVI_S("; it must be at least 0")));
    if ((s = check_mask(p, err))) return s;
    if ((s = check_added(p, err))) return s;
    if (!(p->use & QKV_USE_PACKED)) return QKV_OK;
    if (p->sequences < 1)
        return qkvi_fail(err, QKV_EARG, "params.sequences", p->sequences, 1,
                         QKVI_SAY(QKVI_S("params.sequences is "), QKVI_I(p->sequences),
                                  QKVI_S("; it must be at least 1")));
    if (p->q.dim[0] != 1)
        return qkvi_fail(err, QKV_ESHAPE, dim_name[0][0], p->q.dim[0], 1,
                         QKVI_SAY(QKVI_S("params.q.dim[0] (batch) is "), QKVI_I(p->q.dim[0]),
                                  QKVI_S("; packed sequences lie in one batch, so it must be 1")));
    return QKV_OK;
}

static __attribute__((noinline)) void fold_cap(qkv_plan *plan, const qkv_params *p)
{
    plan->softcap = p->softcap;
    plan->cap_in = 2 / p->softcap;
    plan->cap_out = p->softcap * QKVI_LOG2E;
    if (p->q.dtype == QKV_F64) return;
    plan->cap_in = (double)(float)plan->cap_in;
    plan->cap_out = (double)(float)plan->cap_out;
}

/* finite and normal in the type */
static int is_normal(double x, int single)
{
    return single ? x >= 0x1p-126 && x <= 0x1.fffffep+127
                  : x >= 0x1p-1022 && x <= 0x1.fffffffffffffp+1023;
}

static __attribute__((noinline)) void fold_dropout(qkv_plan *plan, const qkv_params *p)
{
    plan->keep_factor = 1;
    if (!(p->use & QKV_USE_DROPOUT)) return;
    plan->dropout = p->dropout;
    plan->drop_from = (uint64_t)(p->dropout * 0x1p32); /* rounded down */
    plan->keep_factor = p->dropout < 1 ? 1 / (1 - p->dropout) : 0;
    if (p->q.dtype != QKV_F64) plan->keep_factor = (double)(float)plan->keep_factor;
}

static qkv_status check_dropout(qkv_plan *plan, const qkv_params *p, qkv_error *err)
{
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    const int fits = !(p->use & QKV_USE_DROPOUT) || (p->dropout >= 0 && p->dropout <= 1);
    const qkv_status s = fits ? QKV_OK
                              : qkvi_fail(err, QKV_EARG, "params.dropout", 0, 1,
                                          QKVI_SAY(QKVI_S("params.dropout is "), QKVI_X(p->dropout),
                                                   QKVI_S("; it must be between 0 and 1")));
    if (fits) fold_dropout(plan, p);
    scalar->env_leave(env);
    return s;
}

static qkv_status check_cap(qkv_plan *plan, const qkv_params *p, qkv_error *err)
{
    if (!(p->use & QKV_USE_SOFTCAP)) return QKV_OK;
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    qkv_status s = QKV_OK;
    if (p->softcap > 0) fold_cap(plan, p);
    const int single = p->q.dtype != QKV_F64;
    if (!(p->softcap > 0) || !is_normal(plan->cap_in, single) || !is_normal(plan->cap_out, single))
        s = qkvi_fail(err, QKV_EARG, "params.softcap", 0, 0,
                      QKVI_SAY(QKVI_S("params.softcap is "), QKVI_X(p->softcap),
                               QKVI_S("; it must be above 0, and neither 2 / softcap nor softcap "
                                      "times log2(e) may leave the normal numbers")));
    scalar->env_leave(env);
    return s;
}

/* In a function of its own, called between env_enter and env_leave: arithmetic may not move across.
 */
static __attribute__((noinline)) void fold_scale(qkv_plan *plan, const qkv_params *p)
{
    plan->scale = p->use & QKV_USE_SCALE ? p->scale : 1.0 / __builtin_sqrt((double)p->q.dim[3]);
    plan->factor = plan->scale * QKVI_LOG2E;
    if (p->q.dtype != QKV_F64) plan->factor = (double)(float)plan->factor;
}

static qkv_status check_scale(qkv_plan *plan, const qkv_params *p, qkv_error *err)
{
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    fold_scale(plan, p);
    const int single = p->q.dtype != QKV_F64;
    const double small = single ? 0x1p-126 : 0x1p-1022, f = plan->factor;
    const double large = single ? 0x1.fffffep+127 : 0x1.fffffffffffffp+1023;
    const double size = f < 0 ? -f : f;
    const int fits = size <= large && (size >= small || !(size > 0));
    const qkv_status s =
        fits ? QKV_OK
             : qkvi_fail(err, QKV_EARG, "params.scale", 0, 0,
                         QKVI_SAY(QKVI_S("params.scale is "), QKVI_X(plan->scale),
                                  QKVI_S("; times log2(e) it must be 0 or between "), QKVI_X(small),
                                  QKVI_S(" and "), QKVI_X(large), QKVI_S(" in size")));
    scalar->env_leave(env);
    return s;
}

static void set_mask(qkv_plan *plan, const qkv_params *p)
{
    plan->align = p->align;
    plan->q_offset = p->q_offset;
    plan->sequences = p->use & QKV_USE_PACKED ? p->sequences : 0;
    if (p->use & QKV_USE_MASK) plan->look = qkvi_shape_clean(&p->mask);
    if (p->use & QKV_USE_BIAS) plan->bias = qkvi_shape_clean(&p->bias);
    plan->slopes_by_batch = p->slopes_by_batch;
    plan->alibi_max_bias = p->alibi_max_bias;
    plan->mask_drops = p->mask_drops;
    plan->mask.use = p->use;
    if (p->use & QKV_USE_PREFIX) plan->mask.use &= ~QKV_USE_CAUSAL; /* prefix is causal already */
    plan->mask.keys = plan->keys;
    plan->mask.rows = plan->rows;
    plan->mask.window_left = p->window_left;
    plan->mask.window_right = p->window_right;
    plan->mask.prefix = p->prefix;
}

qkv_status qkvi_plan_validate(qkv_plan *plan, const qkv_params *p, qkv_error *err)
{
    const qkv_shape *const tensor[4] = {&p->q, &p->k, &p->v, &p->out};
    qkv_status s;
    for (int i = 0; i < 4; i++)
        if ((s = check_tensor(tensor[i], i, p->q.dtype, err))) return s;
    if ((s = check_options(p, err))) return s;
    if ((s = check_masks(p, err))) return s;
    if ((s = check_fit(p, err))) return s;
    if ((s = check_arrays(p, err))) return s;
    if ((s = check_scale(plan, p, err))) return s;
    if ((s = check_cap(plan, p, err))) return s;
    if ((s = check_dropout(plan, p, err))) return s;
    plan->q = qkvi_shape_clean(&p->q);
    plan->k = qkvi_shape_clean(&p->k);
    plan->v = qkvi_shape_clean(&p->v);
    plan->out = qkvi_shape_clean(&p->out);
    plan->use = p->use;
    plan->real = p->q.dtype == QKV_F64 ? QKV_F64 : QKV_F32;
    plan->real_bytes = qkvi_dtype_bytes(plan->real);
    plan->q_bytes = qkvi_dtype_bytes(p->q.dtype);
    plan->k_bytes = qkvi_dtype_bytes(p->k.dtype);
    plan->v_bytes = qkvi_dtype_bytes(p->v.dtype);
    plan->out_bytes = qkvi_dtype_bytes(p->out.dtype);
    plan->batch = p->q.dim[0];
    plan->heads = p->q.dim[1];
    plan->kv_heads = p->k.dim[1];
    plan->rows = p->q.dim[2];
    plan->keys = p->k.dim[2];
    plan->d = p->q.dim[3];
    plan->dv = p->v.dim[3];
    plan->max_threads = p->max_threads ? p->max_threads : 1;
    set_mask(plan, p);
    return QKV_OK;
}
