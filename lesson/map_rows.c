/* SPDX-License-Identifier: MIT */
/* map_rows.c - see map_rows.h. A dot product is a chain of additions, one after the other; four chains
 * at once keep the processor busy without changing the order of any of them.
 */
#include "lesson/map_rows.h"

#include <qkv/experimental.h>

static void scores(const lesson_input *in, const double *q, double *x)
{
    const int64_t d = in->d_k;
    int64_t j = 0;
    for (; j + 4 <= in->keys; j += 4) {
        const double *const a = in->k + j * d, *const b = a + d, *const c = b + d, *const e = c + d;
        double dot[4] = {0, 0, 0, 0};
        for (int64_t i = 0; i < d; i++) {
            dot[0] = dot[0] + q[i] * a[i];
            dot[1] = dot[1] + q[i] * b[i];
            dot[2] = dot[2] + q[i] * c[i];
            dot[3] = dot[3] + q[i] * e[i];
        }
        for (int n = 0; n < 4; n++) x[j + n] = dot[n];
    }
    for (; j < in->keys; j++) {
        double dot = 0;
        for (int64_t i = 0; i < d; i++) dot = dot + q[i] * in->k[j * d + i];
        x[j] = dot;
    }
}

/* Softmax over the first n; wild rows, with a NaN or an infinity, have none. */
static void weights(double *x, int64_t n)
{
    const double inf = __builtin_inf();
    double most = -inf, sum = 0;
    int wild = 0;
    for (int64_t j = 0; j < n; j++) {
        wild |= x[j] != x[j] || x[j] == inf;
        if (x[j] > most) most = x[j];
    }
    if (most == -inf && !wild) {
        for (int64_t j = 0; j < n; j++) x[j] = 0;
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        x[j] = wild ? __builtin_nan("") : qkv_ref_exp(x[j] - most);
        sum = sum + x[j];
    }
    for (int64_t j = 0; j < n; j++) x[j] = x[j] / sum;
}

void map_row(const lesson_input *in, int64_t row, int32_t stage, double *x)
{
    const double scale = lesson_scale(in);
    const int64_t seen = lesson_seen(in, row);
    scores(in, in->q + row * in->d_k, x);
    if (stage < 2) return;
    for (int64_t j = 0; j < in->keys; j++) x[j] = x[j] * scale;
    if (stage < 3) return;
    weights(x, in->wrong_way ? in->keys : seen);
    for (int64_t j = seen; j < in->keys; j++) x[j] = 0;
}
