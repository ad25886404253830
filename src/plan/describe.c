/* SPDX-License-Identifier: MIT */
/* describe.c - what a plan has decided, as lines "name: value" for people and bug reports. Programs
 * may rely on the names kernel, tasks and contract.
 */
#include "plan/describe.h"
#include "base/arena.h"
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

static const char *dtype_name(int32_t dtype)
{
    return dtype == QKV_F32 ? "f32" : dtype == QKV_F16 ? "f16" : dtype == QKV_BF16 ? "bf16" : "f64";
}

static void add_types(qkvi_text *t, const qkv_plan *p)
{
    const char *const names[4] = {"types: q ", ", k ", ", v ", ", out "};
    const int32_t dtypes[4] = {p->q.dtype, p->k.dtype, p->v.dtype, p->out.dtype};
    for (int i = 0; i < 4; i++) {
        qkvi_text_add(t, names[i]);
        qkvi_text_add(t, dtype_name(dtypes[i]));
    }
    qkvi_text_add(t, "\n");
}

static void add_kernel(qkvi_text *t, const qkv_plan *p)
{
    const char *const type = p->real_bytes == 4 ? "f32" : "f64";
    qkvi_text_add(t, "kernel: ");
    qkvi_text_add(t, p->ops ? p->kernels->name : "reference");
    qkvi_text_add(t, " ");
    qkvi_text_add(t, type);
    if (p->few_heads) {
        qkvi_text_add(t, ", ");
        qkvi_text_int(t, p->lanes);
        qkvi_text_add(t, " lanes, few rows: keys and channels in the lanes");
    } else if (p->ops) {
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

static void add_side(qkvi_text *t, const char *name, int64_t size)
{
    qkvi_text_add(t, name);
    if (size < 0)
        qkvi_text_add(t, "open");
    else
        qkvi_text_int(t, size);
}

/* one more thing that narrows the keys: "mask: causal, window ..." */
static void add_part(qkvi_text *t, int *parts, const char *text)
{
    qkvi_text_add(t, (*parts)++ ? ", " : "");
    qkvi_text_add(t, text);
}

static void add_place(qkvi_text *t, int *parts, const qkv_plan *p)
{
    if (p->use & QKV_USE_Q_OFFSETS) {
        add_part(t, parts, "offset of each batch");
    } else if (p->align != QKV_ALIGN_OFFSET) {
        add_part(t, parts, p->align == QKV_ALIGN_TOP_LEFT ? "top-left" : "bottom-right");
    } else {
        add_part(t, parts, "offset ");
        qkvi_text_int(t, p->q_offset);
    }
}

static void add_mask(qkvi_text *t, const qkv_plan *p)
{
    const uint64_t use = p->mask.use;
    int parts = 0;
    qkvi_text_add(t, "mask: ");
    if (use & QKV_USE_CAUSAL) add_part(t, &parts, "causal");
    if (use & QKV_USE_PREFIX) {
        add_part(t, &parts, "causal after a prefix of ");
        qkvi_text_int(t, p->mask.prefix);
    }
    if (use & QKV_USE_WINDOW) {
        add_part(t, &parts, "window");
        add_side(t, " left ", p->mask.window_left);
        add_side(t, " right ", p->mask.window_right);
    }
    if (parts > 0) add_place(t, &parts, p);
    if (use & QKV_USE_KV_LEN) add_part(t, &parts, "key lengths");
    if (use & QKV_USE_Q_LEN) add_part(t, &parts, "row lengths");
    if (use & QKV_USE_KV_START) add_part(t, &parts, "left padding");
    if (use & QKV_USE_MASK) {
        add_part(t, &parts, p->look.dtype == QKV_BITS ? "bits" : "bool tensor");
        if (p->mask_drops) qkvi_text_add(t, " (true drops)");
    }
    if (p->sequences) {
        add_part(t, &parts, "packed sequences: ");
        qkvi_text_int(t, p->sequences);
    }
    if (parts == 0) qkvi_text_add(t, "none");
    qkvi_text_add(t, "\n");
}

/* a line only where something is done to the scores */
static void add_changes(qkvi_text *t, const qkv_plan *p)
{
    static const uint64_t any = QKV_USE_SOFTCAP | QKV_USE_RULE | QKV_USE_ALIBI | QKV_USE_BIAS |
                                QKV_USE_SINK | QKV_USE_DROPOUT;
    int parts = 0;
    if (!(p->use & any)) return;
    qkvi_text_add(t, "scores: ");
    if (p->use & QKV_USE_SOFTCAP) {
        add_part(t, &parts, "softcap ");
        qkvi_text_real(t, p->softcap);
    }
    if (p->use & QKV_USE_RULE) add_part(t, &parts, "caller's function");
    if (p->use & QKV_USE_ALIBI) {
        add_part(t, &parts, p->alibi_max_bias > 0 ? "ALiBi, max bias " : "ALiBi");
        if (p->alibi_max_bias > 0) qkvi_text_real(t, p->alibi_max_bias);
    }
    if (p->use & QKV_USE_BIAS) add_part(t, &parts, "bias");
    if (p->use & QKV_USE_SINK) add_part(t, &parts, "sink");
    if (p->use & QKV_USE_DROPOUT) {
        add_part(t, &parts, "dropout below ");
        qkvi_text_int(t, (int64_t)p->drop_from);
        qkvi_text_add(t, " of 2^32");
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
    add_types(t, p);
    line_int(t, "rows per item: ", p->item_rows);
    line_int(t, "heads per item: ", p->few_heads ? p->few_heads : 1);
    line_int(t, "items: ", qkvi_plan_items(p));
    line_int(t, "tasks: ", qkvi_plan_tasks(p, p->max_threads));
    line_int(t, "spans: ", p->spans);
    add_mask(t, p);
    qkvi_text_add(t, "scale: ");
    qkvi_text_real(t, p->scale);
    qkvi_text_add(t, "\n");
    add_changes(t, p);
    line_int(t, "workspace: ", p->workspace_bytes);
    qkvi_text_add(t, "pages: of 2 MiB asked for from ");
    qkvi_text_int(t, (int64_t)(QKVI_LARGE >> 20));
    qkvi_text_add(t, " MiB on, where the library takes memory itself\n");
    add_strides(t, "strides: q ", &p->q);
    add_strides(t, " k ", &p->k);
    add_strides(t, " v ", &p->v);
    add_strides(t, " out ", &p->out);
    qkvi_text_add(t, "\nchannels: ");
    if (p->q.stride[3] != 1 && p->d > 1) qkvi_text_add(t, "q gathered row by row, ");
    const int32_t k_copied = p->few_heads ? p->few_copies_k : p->gather_k;
    qkvi_text_add(t, k_copied ? "k copied block by block, " : "k in place, ");
    qkvi_text_add(t, p->few_heads  ? p->few_copies_v ? "v copied block by block" : "v in place"
                     : p->strips_v ? "v in strips, block by block"
                                   : "v in place");
    if (p->out.stride[3] != 1 && p->dv > 1) qkvi_text_add(t, ", out scattered row by row");
    qkvi_text_add(t, "\n");
}
