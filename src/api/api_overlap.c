/* SPDX-License-Identifier: MIT */
/* api_overlap.c - see api_overlap.h. A tensor counts from its first byte to its last, gaps between its
 * rows included.
 */
#include "api/api_overlap.h"
#include "api/api_added.h"
#include "api/api_lengths.h"
#include "base/error.h"
#include "base/shape.h"

static void add(qkvi_buffers *b, const char *arg, const void *p, int64_t low, int64_t high)
{
    if (p == NULL || low == high) return;
    b->one[b->n++] =
        (qkvi_buffer){arg, (uintptr_t)p + (uintptr_t)low, (uintptr_t)p + (uintptr_t)high};
}

void qkvi_buffers_add(qkvi_buffers *b, const char *arg, const void *p, int64_t bytes)
{
    add(b, arg, p, 0, bytes);
}

void qkvi_buffers_tensor(qkvi_buffers *b, const char *arg, const void *p, const qkv_shape *s)
{
    int64_t low, high;
    qkvi_shape_span(s, &low, &high);
    add(b, arg, p, low, high);
}

void qkvi_buffers_plan(qkvi_buffers *b, const qkv_plan *plan, const qkv_run_args *a)
{
    add(b, "plan", plan, 0, (int64_t)sizeof *plan);
    add(b, "args.cancel", a->cancel, 0, (int64_t)sizeof *a->cancel);
}

void qkvi_buffers_inputs(qkvi_buffers *b, const qkv_plan *plan, const qkv_run_args *a)
{
    qkvi_numbers numbers[QKVI_NUMBERS];
    qkvi_added added[QKVI_ADDED];
    qkvi_lengths_list(plan, a, numbers);
    qkvi_added_list(plan, a, added);
    qkvi_buffers_plan(b, plan, a);
    qkvi_buffers_tensor(b, "args.q", a->q, &plan->q);
    qkvi_buffers_tensor(b, "args.k", a->k, &plan->k);
    qkvi_buffers_tensor(b, "args.v", a->v, &plan->v);
    for (int i = 0; i < QKVI_ADDED; i++)
        add(b, added[i].arg, added[i].x, added[i].low, added[i].high);
    for (int i = 0; i < QKVI_NUMBERS; i++)
        add(b, numbers[i].arg, numbers[i].x, 0, numbers[i].n * (int64_t)sizeof(int64_t));
}

static qkv_status check_apart(const qkvi_buffer *a, const qkvi_buffer *b, qkv_error *err)
{
    if (a->begin >= b->end || b->begin >= a->end) return QKV_OK;
    const int64_t shared = (int64_t)((a->end < b->end ? a->end : b->end) -
                                     (a->begin > b->begin ? a->begin : b->begin));
    return qkvi_fail(err, QKV_EARG, a->arg, shared, 0,
                     QKVI_SAY(QKVI_S(a->arg), QKVI_S(" and "), QKVI_S(b->arg), QKVI_S(" share "),
                              QKVI_I(shared),
                              QKVI_S(" bytes; an output may not overlap (0 bytes)")));
}

qkv_status qkvi_buffers_check(const qkvi_buffers *b, qkv_error *err)
{
    for (int i = 0; i < b->writes; i++)
        for (int j = 0; j < b->n; j++) {
            if (j >= i && j < b->writes) continue; /* a pair of outputs once */
            const qkv_status s = check_apart(b->one + i, b->one + j, err);
            if (s) return s;
        }
    return QKV_OK;
}
