/* SPDX-License-Identifier: MIT */
/* error.c - see error.h. A caller's struct that is smaller than ours cannot be written to
 * (QKV_EABI); of a larger one only the part that we know is written.
 */
#include "base/error.h"
#include "base/text.h"

static void copy_name(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; i++) to[i] = from[i];
    to[i] = 0;
}

qkv_status qkvi_error_check(const qkv_error *err)
{
    return err == NULL || err->size >= (uint32_t)sizeof(qkv_error) ? QKV_OK : QKV_EABI;
}

qkv_status qkvi_fail(qkv_error *err, qkv_status status, const char *arg, int64_t got, int64_t want,
                     const qkvi_part *sentence)
{
    if (err == NULL || qkvi_error_check(err) != QKV_OK) return status;
    err->status = status;
    err->got = got;
    err->want = want;
    copy_name(err->arg, sizeof err->arg, arg);
    qkvi_text t = {err->text, sizeof err->text, 0};
    err->text[0] = 0;
    for (const qkvi_part *p = sentence; p->kind; p++) {
        if (p->kind == 1)
            qkvi_text_add(&t, p->s);
        else if (p->kind == 2)
            qkvi_text_int(&t, p->i);
        else
            qkvi_text_real(&t, p->x);
    }
    return status;
}
