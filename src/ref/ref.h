/* SPDX-License-Identifier: MIT */
/* ref.h - the readable implementation of attention, in float64 and in the lesson's words. It is the
 * oracle of the tests and the source of every explained number. Plain + - * / and sqrt in the order
 * that docs/numerics.md states (section "The float64 reference"): no fused operation, no C library,
 * so the same digits everywhere.
 */
#ifndef QKVI_REF_H
#define QKVI_REF_H

#include <stdint.h>

double qkvi_ref_exp(double x); /* e^x, within 2 ulp */
double qkvi_ref_log(double x); /* natural logarithm of a finite x > 0 */

/* y[rows][out] = x[rows][in] w[in][out] + b[out]; b may be NULL */
void qkvi_ref_project(double *y, const double *x, const double *w, const double *b, int64_t rows,
                      int64_t in, int64_t out);

/* One query row. Elements of q, k, v are float (real_bytes 4) or double (8), at any byte address;
 * strides in elements. The row sees keys [lo, hi). */
typedef struct qkvi_ref_row {
    int32_t real_bytes;
    const void *q, *k, *v;
    int64_t q_channel, k_key, k_channel, v_key, v_channel;
    int64_t keys, d, dv;
    int64_t lo, hi;
    double scale;
    double *score, *scaled, *masked, *weight; /* keys each */
    double *out;                              /* dv */
    double lse;
} qkvi_ref_row;

void qkvi_ref_attend(qkvi_ref_row *row);

#endif
