/* SPDX-License-Identifier: MIT */
/* api_added.h - what a run reads beside q, k and v and the numbers of batches: bool mask, bias, slopes,
 * sinks, the caller's function. After the check run/ may trust each of them.
 */
#ifndef QKVI_API_ADDED_H
#define QKVI_API_ADDED_H

#include "plan/plan.h"

enum { QKVI_ADDED = 4, QKVI_ADDED_SINKS = 3 };

/* Bytes [low, high) from x that a run reads of one input; equal: it is not in use. */
typedef struct qkvi_added {
    const char *arg;
    const void *x;
    int64_t low, high;
} qkvi_added;

void qkvi_added_list(const qkv_plan *plan, const qkv_run_args *args, qkvi_added list[QKVI_ADDED]);

/* Pointers that the plan needs, numbers that are none; *rule: the caller's function, widened. */
qkv_status qkvi_added_check(const qkv_plan *plan, const qkv_run_args *args, qkv_rule *rule,
                            qkv_error *err);

/* The sinks alone, which a finish of partials reads too. */
qkv_status qkvi_sinks_check(const qkv_plan *plan, const qkv_run_args *args, qkv_error *err);

#endif
