/* SPDX-License-Identifier: MIT */
/* api_lengths.c - see api_lengths.h. A sentence names the first number that is out of its bounds, by
 * its index.
 *
 * Each array is read once here and again while the run works: a caller may not change it meanwhile.
 */
#include "api/api_lengths.h"
#include "api/abi.h"
#include "base/error.h"

#define FAR_OFFSET (INT64_C(1) << 62)

void qkvi_lengths_list(const qkv_plan *plan, const qkv_run_args *a, qkvi_numbers list[QKVI_NUMBERS])
{
    const int64_t batches = plan->sequences ? plan->sequences : plan->batch;
    const int64_t edges = plan->sequences + 1;
    list[0] = (qkvi_numbers){"args.cu_q", a->cu_q, plan->use & QKV_USE_PACKED ? edges : 0};
    list[1] = (qkvi_numbers){"args.cu_k", a->cu_k, plan->use & QKV_USE_PACKED ? edges : 0};
    list[2] = (qkvi_numbers){"args.kv_len", a->kv_len, plan->use & QKV_USE_KV_LEN ? batches : 0};
    list[3] = (qkvi_numbers){"args.q_len", a->q_len, plan->use & QKV_USE_Q_LEN ? batches : 0};
    list[4] =
        (qkvi_numbers){"args.kv_start", a->kv_start, plan->use & QKV_USE_KV_START ? batches : 0};
    list[5] =
        (qkvi_numbers){"args.q_offset", a->q_offset, plan->use & QKV_USE_Q_OFFSETS ? batches : 0};
}

static qkv_status check_edges(const qkvi_numbers *cu, int64_t total, const char *what,
                              qkv_error *err)
{
    for (int64_t i = 0; i < cu->n; i++) {
        const int64_t least = i ? cu->x[i - 1] : 0;
        if (i == 0 ? cu->x[0] != 0 : cu->x[i] < least)
            return qkvi_fail(err, QKV_EARG, cu->arg, cu->x[i], least,
                             QKVI_SAY(QKVI_S(cu->arg), QKVI_S("["), QKVI_I(i), QKVI_S("] is "),
                                      QKVI_I(cu->x[i]),
                                      QKVI_S(i ? "; it must be at least the number before it, "
                                               : "; the first must be "),
                                      QKVI_I(least)));
    }
    const int64_t last = cu->n ? cu->x[cu->n - 1] : total;
    if (last == total) return QKV_OK;
    return qkvi_fail(err, QKV_ESHAPE, cu->arg, last, total,
                     QKVI_SAY(QKVI_S(cu->arg), QKVI_S("["), QKVI_I(cu->n - 1), QKVI_S("] is "),
                              QKVI_I(last), QKVI_S("; the last must be the number of "),
                              QKVI_S(what), QKVI_S(", "), QKVI_I(total)));
}

/* x[i] in [0, what the tensors hold of batch or sequence i]; cu: NULL when all hold `most` */
static qkv_status check_counts(const qkvi_numbers *x, int64_t most, const int64_t *cu,
                               const char *what, qkv_error *err)
{
    for (int64_t i = 0; i < x->n; i++) {
        const int64_t bound = cu ? cu[i + 1] - cu[i] : most;
        if (x->x[i] < 0 || x->x[i] > bound)
            return qkvi_fail(err, QKV_EARG, x->arg, x->x[i], x->x[i] < 0 ? 0 : bound,
                             QKVI_SAY(QKVI_S(x->arg), QKVI_S("["), QKVI_I(i), QKVI_S("] is "),
                                      QKVI_I(x->x[i]), QKVI_S("; it must be between 0 and the "),
                                      QKVI_S(what), QKVI_S(" there, "), QKVI_I(bound)));
    }
    return QKV_OK;
}

static qkv_status check_offsets(const qkvi_numbers *x, qkv_error *err)
{
    for (int64_t i = 0; i < x->n; i++)
        if (x->x[i] > FAR_OFFSET || x->x[i] < -FAR_OFFSET)
            return qkvi_fail(err, QKV_EARG, x->arg, x->x[i], FAR_OFFSET,
                             QKVI_SAY(QKVI_S(x->arg), QKVI_S("["), QKVI_I(i), QKVI_S("] is "),
                                      QKVI_I(x->x[i]),
                                      QKVI_S("; it must be between -2^62 and 2^62")));
    return QKV_OK;
}

qkv_status qkvi_lengths_check(const qkv_plan *plan, const qkv_run_args *a, qkv_error *err)
{
    qkvi_numbers list[QKVI_NUMBERS];
    qkv_status s;
    qkvi_lengths_list(plan, a, list);
    for (int i = 0; i < QKVI_NUMBERS; i++)
        if (list[i].n > 0 && (s = qkvi_need(list[i].x, list[i].arg, err))) return s;
    if ((s = check_edges(list + 0, plan->rows, "rows", err))) return s;
    if ((s = check_edges(list + 1, plan->keys, "keys", err))) return s;
    const int64_t *const cu_q = list[0].n ? a->cu_q : NULL, *const cu_k =
                                                                list[1].n ? a->cu_k : NULL;
    if ((s = check_counts(list + 2, plan->keys, cu_k, "keys", err))) return s;
    if ((s = check_counts(list + 3, plan->rows, cu_q, "rows", err))) return s;
    if ((s = check_counts(list + 4, plan->keys, cu_k, "keys", err))) return s;
    return check_offsets(list + 5, err);
}
