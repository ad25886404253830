/* SPDX-License-Identifier: MIT */
/* ref.h - the readable implementation of attention, in float64 and in the lesson's words. It is the
 * oracle of the tests and the source of every explained number. Plain + - * / and sqrt in the order
 * that docs/numerics.md states (section "The float64 reference"): no fused operation, no C library,
 * so the same digits everywhere.
 *
 * It does not decide which keys a row sees: mask/ does.
 */
#ifndef QKVI_REF_H
#define QKVI_REF_H

#include <stdint.h>

double qkvi_ref_exp(double x);  /* e^x, within 2 ulp */
double qkvi_ref_log(double x);  /* natural logarithm of a finite x > 0 */
double qkvi_ref_tanh(double x); /* within 4 ulp */

/* ALiBi's slope of head h of `heads`: 2^(-max_bias (h + 1) / n) for h < n, the largest power of two
 * that is no more than heads; then every second one of the list for 2 n. max_bias is 8 in the paper. */
double qkvi_ref_slope(int64_t h, int64_t heads, double max_bias);

/* y[rows][out] = x[rows][in] w[in][out] + b[out]; b may be NULL */
void qkvi_ref_project(double *y, const double *x, const double *w, const double *b, int64_t rows,
                      int64_t in, int64_t out);

/* One query row. Elements of q, k, v and bias are of a qkv_dtype, at any byte address; strides in
 * elements. The row sees keys [lo, hi), of those the ones whose byte in `seen` is not 0. */
typedef struct qkvi_ref_row {
    int32_t q_dtype, k_dtype, v_dtype;
    const void *q, *k, *v;
    int64_t q_channel, k_key, k_channel, v_key, v_channel;
    int64_t keys, d, dv;
    int64_t lo, hi;
    const unsigned char *seen; /* keys, or NULL: all of [lo, hi) */
    const unsigned char *kept; /* keys, or NULL: nothing is dropped */
    double keep_factor;        /* 1 / (1 - p), 0 for p = 1 */
    double scale;
    double cap; /* 0: none */
    /* the caller's own rule, on all keys at once in natural units; NULL: none */
    void (*rule)(void *ctx, double *score, int64_t keys);
    void *rule_ctx;
    double slope;     /* 0: no ALiBi */
    int64_t position; /* of the row, less the number of key 0: key j is position - j away */
    const void *bias; /* NULL: none */
    int32_t bias_dtype;
    int64_t bias_key, bias_keys; /* stride; keys from bias_keys on have none */
    int32_t has_sink;
    double sink;
    double *score, *scaled, *masked, *weight; /* keys each */
    double *capped;                           /* keys, or NULL: not wanted */
    double *out;                              /* dv */
    double lse, largest;                      /* largest: of the masked scores */
} qkvi_ref_row;

void qkvi_ref_attend(qkvi_ref_row *row);

/* For results of n disjoint sets of keys, given their lse: the weight of each, not normalised (0 for
 * a set that saw nothing: its out must not be read); returns the lse of all of them together. */
double qkvi_ref_merge(double *weight, const double *lse, int64_t n);

#endif
