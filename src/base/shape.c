/* SPDX-License-Identifier: MIT */
/* shape.c - see shape.h. All sizes are checked before they are multiplied: dimensions and strides
 * come from strangers, and a stride of 0 lets a small buffer claim any size. After
 * qkvi_shape_overflows() has said 0, the other functions cannot wrap.
 */
#include "base/shape.h"
#include "base/checked.h"

int64_t qkvi_dtype_bytes(int32_t dtype)
{
    if (dtype == QKV_F16 || dtype == QKV_BF16) return 2;
    return dtype == QKV_F32 ? 4 : dtype == QKV_F64 ? 8 : 0;
}

static int empty(const qkv_shape *s)
{
    return s->dim[0] == 0 || s->dim[1] == 0 || s->dim[2] == 0 || s->dim[3] == 0;
}

qkv_shape qkvi_shape_clean(const qkv_shape *s)
{
    qkv_shape c = *s;
    for (int i = 0; i < 4; i++)
        if (c.dim[i] <= 1 || empty(s)) c.stride[i] = 0;
    return c;
}

int qkvi_shape_overflows(const qkv_shape *s, int64_t *elems)
{
    *elems = 0;
    if (empty(s)) return 0;
    int64_t n = 1, low = 0, high = 1;
    for (int i = 0; i < 4; i++) {
        if (qkvi_mul(n, s->dim[i], &n)) return 1;
        if (s->dim[i] <= 1) continue;
        int64_t reach;
        if (qkvi_mul(s->dim[i] - 1, s->stride[i], &reach)) return 1;
        if (reach < 0 ? qkvi_add(low, reach, &low) : qkvi_add(high, reach, &high)) return 1;
    }
    int64_t bytes;
    *elems = n;
    return qkvi_mul(n, 8, &bytes) || qkvi_mul(low, 8, &bytes) || qkvi_mul(high, 8, &bytes);
}

void qkvi_shape_span(const qkv_shape *s, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    if (empty(s)) return;
    const int64_t bytes = qkvi_dtype_bytes(s->dtype);
    *high = bytes;
    for (int i = 0; i < 4; i++) {
        if (s->dim[i] <= 1) continue;
        const int64_t reach = (s->dim[i] - 1) * s->stride[i] * bytes;
        if (reach < 0)
            *low += reach;
        else
            *high += reach;
    }
}

int qkvi_shape_injective(const qkv_shape *s)
{
    /* sort the used dimensions by |stride|; each must step over all that the smaller ones reach */
    int64_t stride[4], dim[4];
    int n = 0;
    if (empty(s)) return 1;
    for (int i = 0; i < 4; i++) {
        if (s->dim[i] <= 1) continue;
        if (s->stride[i] == INT64_MIN) return 0;
        const int64_t a = s->stride[i] < 0 ? -s->stride[i] : s->stride[i];
        int at = n++;
        for (; at > 0 && stride[at - 1] > a; at--) {
            stride[at] = stride[at - 1];
            dim[at] = dim[at - 1];
        }
        stride[at] = a;
        dim[at] = s->dim[i];
    }
    int64_t reach = 0;
    for (int i = 0; i < n; i++) {
        if (stride[i] <= reach) return 0;
        int64_t more;
        if (qkvi_mul(stride[i], dim[i] - 1, &more) || qkvi_add(reach, more, &reach)) return 0;
    }
    return 1;
}
