/* SPDX-License-Identifier: MIT */
/* api_lengths.h - the numbers that come one a batch with each run: lengths, padding, offsets, where
 * packed sequences begin. After the check run/ may trust each of them.
 */
#ifndef QKVI_API_LENGTHS_H
#define QKVI_API_LENGTHS_H

#include "plan/plan.h"

/* One array of the caller: its name, where it lies, how many numbers it has (0: not in use). */
typedef struct qkvi_numbers {
    const char *arg;
    const int64_t *x;
    int64_t n;
} qkvi_numbers;

enum { QKVI_NUMBERS = 6 };

/* The arrays that this plan reads, in list; the others have n == 0. */
void qkvi_lengths_list(const qkv_plan *plan, const qkv_run_args *args,
                       qkvi_numbers list[QKVI_NUMBERS]);

/* Every number of every array that is in use. */
qkv_status qkvi_lengths_check(const qkv_plan *plan, const qkv_run_args *args, qkv_error *err);

#endif
