/* SPDX-License-Identifier: MIT */
/* api_overlap.h - every piece of memory that a call touches, in one list: what it writes first, then what
 * it reads. Nothing written may share a byte with anything else in the list; what is only read may lie
 * anywhere.
 */
#ifndef QKVI_API_OVERLAP_H
#define QKVI_API_OVERLAP_H

#include "plan/plan.h"

/* Bytes [begin, end), by the name that a sentence calls them. */
typedef struct qkvi_buffer {
    const char *arg;
    uintptr_t begin, end;
} qkvi_buffer;

enum { QKVI_BUFFERS = 32 };

typedef struct qkvi_buffers {
    int n, writes; /* writes: how many of them, the first, are written */
    qkvi_buffer one[QKVI_BUFFERS];
} qkvi_buffers;

/* Adds bytes from p on; nothing when p is NULL or there are none: it is not in use. */
void qkvi_buffers_add(qkvi_buffers *list, const char *arg, const void *p, int64_t bytes);
void qkvi_buffers_tensor(qkvi_buffers *list, const char *arg, const void *p, const qkv_shape *s);
/* What every kind of run reads: the plan and the flag that stops it; and what a run from keys does. */
void qkvi_buffers_plan(qkvi_buffers *list, const qkv_plan *plan, const qkv_run_args *args);
void qkvi_buffers_inputs(qkvi_buffers *list, const qkv_plan *plan, const qkv_run_args *args);

qkv_status qkvi_buffers_check(const qkvi_buffers *list, qkv_error *err);

#endif
