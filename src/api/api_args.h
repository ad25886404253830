/* SPDX-License-Identifier: MIT */
/* api_args.h - what qkv_run(), qkv_run_partial() and qkv_partial_finish() need of their arguments alike:
 * widened structs, threads, workspace, inputs that are there. Nothing is written here.
 */
#ifndef QKVI_API_ARGS_H
#define QKVI_API_ARGS_H

#include "run/run.h"

/* args, widened, with threads and workspace checked. */
qkv_status qkvi_take_args(const qkv_plan *plan, const qkv_run_args *given, qkv_run_args *args,
                          qkv_threads *threads, qkv_error *err);

/* QKV_EARG when a tensor that has elements is NULL. */
qkv_status qkvi_check_tensor(const void *p, const qkv_shape *s, const char *arg, qkv_error *err);

/* q, k, v, what is added to the scores and the numbers of batches; *rule: the caller's, widened. */
qkv_status qkvi_check_inputs(const qkv_plan *plan, const qkv_run_args *args, qkv_rule *rule,
                             qkv_error *err);

/* The job of checked arguments, over all keys; rule, show, tap and key sums are left out. */
qkvi_job qkvi_job_of(const qkv_plan *plan, const qkv_run_args *args);

/* Bytes of one number a row: lse, row maxima. */
int64_t qkvi_row_bytes(const qkv_plan *plan);

#endif
