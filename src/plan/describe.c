/* SPDX-License-Identifier: MIT */
/* describe.c - what a plan has decided, as lines "name: value" for people and bug reports. Programs
 * may rely on the names kernel, tasks and contract.
 */
#include "plan/describe.h"
#include "base/contract.h"

static void line_int(qkvi_text *t, const char *name, int64_t x)
{
    qkvi_text_add(t, name);
    qkvi_text_int(t, x);
    qkvi_text_add(t, "\n");
}

static void add_strides(qkvi_text *t, const char *name, const qkv_shape *s)
{
    qkvi_text_add(t, name);
    for (int i = 0; i < 4; i++) {
        if (i) qkvi_text_add(t, ",");
        qkvi_text_int(t, s->stride[i]);
    }
}

static void add_kernel(qkvi_text *t, const qkv_plan *p)
{
    const char *const type = p->real_bytes == 4 ? "f32" : "f64";
    qkvi_text_add(t, "kernel: ");
    qkvi_text_add(t, p->ops ? p->kernels->name : "reference");
    qkvi_text_add(t, " ");
    qkvi_text_add(t, type);
    if (p->ops) {
        qkvi_text_add(t, ", ");
        qkvi_text_int(t, p->lanes);
        qkvi_text_add(t, " lanes, tile of ");
        qkvi_text_int(t, p->tile_rows);
        qkvi_text_add(t, " rows x ");
        qkvi_text_int(t, QKVI_BLOCK);
        qkvi_text_add(t, " keys");
    }
    qkvi_text_add(t, "\n");
}

void qkvi_plan_text(const qkv_plan *p, qkvi_text *t)
{
    qkvi_text_add(t, "libqkv: ");
    qkvi_text_int(t, QKV_VERSION_MAJOR);
    qkvi_text_add(t, ".");
    qkvi_text_int(t, QKV_VERSION_MINOR);
    qkvi_text_add(t, ".");
    qkvi_text_int(t, QKV_VERSION_PATCH);
    qkvi_text_add(t, "\n");
    line_int(t, "contract: ", QKVI_CONTRACT);
    add_kernel(t, p);
    line_int(t, "rows per item: ", p->item_rows);
    line_int(t, "items: ", p->items);
    line_int(t, "tasks: ", qkvi_plan_tasks(p, p->max_threads));
    line_int(t, "spans: ", p->spans);
    qkvi_text_add(t, "mask: ");
    qkvi_text_add(t, p->use & QKV_USE_CAUSAL ? "causal, offset " : "none");
    if (p->use & QKV_USE_CAUSAL) qkvi_text_int(t, p->mask.q_offset);
    qkvi_text_add(t, "\nscale: ");
    qkvi_text_real(t, p->scale);
    qkvi_text_add(t, "\n");
    line_int(t, "workspace: ", p->workspace_bytes);
    add_strides(t, "strides: q ", &p->q);
    add_strides(t, " k ", &p->k);
    add_strides(t, " v ", &p->v);
    add_strides(t, " out ", &p->out);
    qkvi_text_add(t, "\nchannels: ");
    qkvi_text_add(t, p->gather_k ? "k copied block by block, " : "k in place, ");
    qkvi_text_add(t, p->strips_v ? "v in strips, block by block\n" : "v in place\n");
}
