/* SPDX-License-Identifier: MIT */
/* ref_project.c - the learned projections of the lesson, q = x W, as row vectors in float64.
 *
 * One chain a number, ascending, product rounded and then sum; the bias last.
 */
#include "ref/ref.h"

/* not inlined: its arithmetic must stay between the caller's entering and leaving of rule 0 */
__attribute__((noinline)) void qkvi_ref_project(double *y, const double *x, const double *w,
                                                const double *b, int64_t rows, int64_t in,
                                                int64_t out)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t o = 0; o < out; o++) {
            double sum = 0;
            for (int64_t c = 0; c < in; c++) sum = sum + x[i * in + c] * w[c * out + o];
            y[i * out + o] = b ? sum + b[o] : sum;
        }
}
