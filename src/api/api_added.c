/* SPDX-License-Identifier: MIT */
/* api_added.c - see api_added.h. Slopes and sinks are few and are all looked at: a NaN among them would
 * be NaN in every row. The numbers of a bias are the caller's business.
 */
#include "api/api_added.h"
#include "api/abi.h"
#include "base/error.h"
#include "base/shape.h"
#include "run/look.h"

enum { FIRST_RULE = sizeof(qkv_rule) };

/* a tensor over pairs; elements of a bool tensor are bytes or bits */
static qkvi_added pairs(const char *arg, const void *x, const qkv_shape *shape)
{
    qkv_shape s = *shape;
    int64_t low, high;
    if (qkvi_dtype_bytes(s.dtype)) {
        qkvi_shape_span(&s, &low, &high);
        return (qkvi_added){arg, x, low, high};
    }
    s.dtype = QKV_F32;
    qkvi_shape_span(&s, &low, &high);
    if (low == high) return (qkvi_added){arg, x, 0, 0};
    const int64_t in_byte = shape->dtype == QKV_BITS ? 8 : 1;
    /* low is not positive: rounded down */
    return (qkvi_added){arg, x, (low / 4 - (in_byte - 1)) / in_byte,
                        (high / 4 + (in_byte - 1)) / in_byte};
}

void qkvi_added_list(const qkv_plan *plan, const qkv_run_args *a, qkvi_added list[QKVI_ADDED])
{
    const int64_t batches = plan->sequences ? plan->sequences : plan->batch;
    const int64_t slopes = plan->heads * (plan->slopes_by_batch ? batches : 1);
    const int given = (plan->use & QKV_USE_ALIBI) && !(plan->alibi_max_bias > 0);
    list[0] = (qkvi_added){.arg = "args.mask"};
    list[1] = (qkvi_added){.arg = "args.bias"};
    if (plan->use & QKV_USE_MASK) list[0] = pairs("args.mask", a->mask, &plan->look);
    if (plan->use & QKV_USE_BIAS) list[1] = pairs("args.bias", a->bias, &plan->bias);
    list[2] = (qkvi_added){"args.slopes", a->slopes, 0, given ? slopes * plan->real_bytes : 0};
    list[QKVI_ADDED_SINKS] = (qkvi_added){
        "args.sinks", a->sinks, 0, plan->use & QKV_USE_SINK ? plan->heads * plan->real_bytes : 0};
}

/* none of the numbers is NaN, nor an infinity where one would not do */
static qkv_status check_numbers(const qkv_plan *plan, const qkvi_added *x, int infinite,
                                qkv_error *err)
{
    for (int64_t i = 0; i < (x->high - x->low) / plan->real_bytes; i++) {
        const double y = qkvi_number(plan, x->x, i);
        const int finite = y >= -__DBL_MAX__ && y <= __DBL_MAX__;
        if (finite || (infinite && y == y)) continue;
        return qkvi_fail(err, QKV_EARG, x->arg, i, 0,
                         QKVI_SAY(QKVI_S(x->arg), QKVI_S("["), QKVI_I(i), QKVI_S("] is "),
                                  QKVI_S(y == y ? "infinite" : "NaN"),
                                  QKVI_S(infinite ? "; it must be a number, or -inf for none (0)"
                                                  : "; it must be a finite number (0 for none)")));
    }
    return QKV_OK;
}

qkv_status qkvi_sinks_check(const qkv_plan *plan, const qkv_run_args *a, qkv_error *err)
{
    qkvi_added list[QKVI_ADDED];
    qkv_status s;
    qkvi_added_list(plan, a, list);
    const qkvi_added *const sinks = list + QKVI_ADDED_SINKS;
    if (sinks->high > 0 && (s = qkvi_need(a->sinks, sinks->arg, err))) return s;
    return check_numbers(plan, sinks, 1, err);
}

qkv_status qkvi_added_check(const qkv_plan *plan, const qkv_run_args *a, qkv_rule *rule,
                            qkv_error *err)
{
    qkvi_added list[QKVI_ADDED];
    qkv_status s;
    qkvi_added_list(plan, a, list);
    for (int i = 0; i < QKVI_ADDED; i++)
        if (list[i].low != list[i].high && (s = qkvi_need(list[i].x, list[i].arg, err))) return s;
    if ((s = check_numbers(plan, list + 2, 0, err))) return s;
    if ((s = check_numbers(plan, list + QKVI_ADDED_SINKS, 1, err))) return s;
    if (!(plan->use & QKV_USE_RULE)) return QKV_OK;
    if ((s = qkvi_need(a->rule, "args.rule", err))) return s;
    if ((s = qkvi_widen(rule, sizeof *rule, a->rule, FIRST_RULE, "args.rule.size", err))) return s;
    return rule->score ? QKV_OK : qkvi_need(NULL, "args.rule.score", err);
}
