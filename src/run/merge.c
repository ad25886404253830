/* SPDX-License-Identifier: MIT */
/* merge.c - see merge.h. A row is read whole before a number of it is written: out may be a part.
 */
#include "run/merge.h"
#include "base/half.h"
#include "base/shape.h"
#include "ref/ref.h"
#include "run/show.h"

static double number_at(const void *x, int64_t i, int32_t dtype)
{
    typedef float any_float __attribute__((aligned(1), may_alias));
    typedef double any_double __attribute__((aligned(1), may_alias));
    if (dtype == QKV_F64) return ((const any_double *)x)[i];
    if (dtype == QKV_F32) return (double)((const any_float *)x)[i];
    return (double)qkvi_half_at((const char *)x + 2 * i, dtype == QKV_BF16);
}

/* One row; at: its element 0 in every out, flat: its place in every lse. */
static void merge_row(const qkv_shape *s, const void *const *outs, const void *const *lses,
                      int64_t n, void *out, void *lse, int64_t at, int64_t flat)
{
    const int32_t real = s->dtype == QKV_F64 ? QKV_F64 : QKV_F32;
    double weight[QKVI_MERGE_PARTS], sum = 0, all[QKVI_MERGE_PARTS];
    if (n < 1) return;
    for (int64_t i = 0; i < n; i++) all[i] = number_at(lses[i], flat, real);
    const double total = qkvi_ref_merge(weight, all, n);
    for (int64_t i = 0; i < n; i++) sum = sum + weight[i];
    for (int64_t c = 0; c < s->dim[3]; c++) {
        double x = 0;
        for (int64_t i = 0; i < n; i++)
            if (all[i] != -__builtin_inf()) /* else out may hold anything */
                x = x + weight[i] * number_at(outs[i], at + c * s->stride[3], s->dtype);
        if (total != total)
            x = total;
        else if (sum > 0)
            x = x / sum;
        qkvi_put(out, at + c * s->stride[3], s->dtype, x);
    }
    if (lse) qkvi_put(lse, flat, real, total);
}

/* not inlined: its arithmetic must stay between the caller's entering and leaving of rule 0 */
__attribute__((noinline)) void qkvi_merge(const qkv_shape *s, const void *const *outs,
                                          const void *const *lses, int64_t n, void *out, void *lse)
{
    int64_t flat = 0;
    for (int64_t b = 0; b < s->dim[0]; b++)
        for (int64_t h = 0; h < s->dim[1]; h++)
            for (int64_t i = 0; i < s->dim[2]; i++)
                merge_row(s, outs, lses, n, out, lse, qkvi_shape_at(s, 1, b, h, i), flat++);
}
