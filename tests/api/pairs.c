/* SPDX-License-Identifier: MIT */
/* pairs.c - tensors over (row, key) pairs in tests: bool masks and biases, dense, repeated by strides of
 * 0, or spread backwards over memory. The memory ends where the last element does.
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

static int64_t flat(const pair_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j)
{
    b = t->dim[0] == 1 ? 0 : b;
    h = t->dim[1] == 1 ? 0 : h;
    i = t->dim[2] == 1 ? 0 : i;
    return ((b * t->dim[1] + h) * t->dim[2] + i) * t->dim[3] + j;
}

double pair_at(const pair_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return t->x[flat(t, b, h, i, j)];
}

pair_tensor pair_part(const pair_tensor *t, int64_t b, int64_t i0, int64_t n, int64_t j0, int64_t m)
{
    pair_tensor c = *t;
    if (t->x == NULL) return c;
    const int64_t left = t->dim[3] - j0;
    if (b >= 0) c.dim[0] = 1;
    c.dim[2] = t->dim[2] == 1 ? 1 : n;
    c.dim[3] = left < 0 ? 0 : left < m ? left : m;
    c.x = malloc((size_t)(c.dim[0] * c.dim[1] * c.dim[2] * c.dim[3] + 1) * sizeof *c.x);
    assert_non_null(c.x);
    for (int64_t n0 = 0; n0 < c.dim[0]; n0++)
        for (int64_t h = 0; h < c.dim[1]; h++)
            for (int64_t i = 0; i < c.dim[2]; i++)
                for (int64_t j = 0; j < c.dim[3]; j++)
                    c.x[flat(&c, n0, h, i, j)] = pair_at(t, b < 0 ? n0 : b, h, i0 + i, j0 + j);
    return c;
}

qkv_shape pair_shape(const pair_tensor *t, const prob *p)
{
    qkv_shape s = qkv_shape_dense(t->dtype, t->dim[0], t->dim[1], t->dim[2], t->dim[3]);
    const int64_t full[4] = {p->b, p->hq, p->sq, t->dim[3]};
    if (t->form == PAIRS_SPREAD) {
        s.stride[3] = -2;
        s.stride[2] = -2 * t->dim[3] - 3;
        s.stride[1] = s.stride[2] * t->dim[2] - 5;
        s.stride[0] = s.stride[1] * t->dim[1] - 1;
    }
    for (int i = 0; i < 3 && t->form == PAIRS_EXPANDED; i++) {
        if (t->dim[i] == 1) s.stride[i] = 0;
        s.dim[i] = full[i];
    }
    return s;
}

static void put_element(void *mem, const pair_tensor *t, int64_t i, double x)
{
    unsigned char *const bytes = mem;
    if (t->dtype == QKV_BITS) {
        bytes[i / 8] = (unsigned char)((bytes[i / 8] & ~(1 << i % 8)) | (x != 0 ? 1 << i % 8 : 0));
    } else if (t->dtype == QKV_BOOL) {
        /* what others write, or all but 0: both are true */
        bytes[i] = x != 0 ? (unsigned char)(t->dim[3] % 2 ? 1 : 1 + i * 37 % 255) : 0;
    } else {
        put_at(mem, t->dtype, i, x);
    }
}

void *pair_memory(const pair_tensor *t, const prob *p, const void **base)
{
    qkv_shape s = pair_shape(t, p);
    int64_t low = 0, high = 0; /* elements before and after [0,0,0,0] */
    bool empty = false;
    for (int i = 0; i < 4; i++) {
        const int64_t reach = (t->dim[i] - 1) * s.stride[i];
        empty |= t->dim[i] == 0;
        if (t->dim[i] > 1 && reach < 0) low -= reach;
        if (t->dim[i] > 1 && reach > 0) high += reach;
    }
    if (t->dtype == QKV_BITS) low = (low + 7) / 8 * 8; /* element 0 begins a byte */
    const int64_t n = empty ? 0 : low + high + 1;
    const int64_t each =
        t->dtype == QKV_BOOL || t->dtype == QKV_BITS ? 1 : (int64_t)type_size(t->dtype);
    const int64_t bytes = t->dtype == QKV_BITS ? (n + 7) / 8 : n * each;
    unsigned char *const mem = malloc((size_t)bytes + (bytes == 0));
    assert_non_null(mem);
    memset(mem, 0xA5, (size_t)bytes); /* gaps: some true, some false */
    for (int64_t b = 0; b < t->dim[0] && n > 0; b++)
        for (int64_t h = 0; h < t->dim[1]; h++)
            for (int64_t i = 0; i < t->dim[2]; i++)
                for (int64_t j = 0; j < t->dim[3]; j++)
                    put_element(mem, t,
                                low + b * s.stride[0] + h * s.stride[1] + i * s.stride[2] +
                                    j * s.stride[3],
                                pair_at(t, b, h, i, j));
    *base = n == 0 ? NULL : mem + (t->dtype == QKV_BITS ? low / 8 : low * each);
    return mem;
}
