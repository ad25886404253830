/* SPDX-License-Identifier: MIT */
/* ref_forward.c - attention for one token, stage by stage, as the lesson tells it: the query asks
 * every key (score), the scores are brought to unit size (scaled), keys that may not be seen are
 * taken out (masked), softmax turns scores into weights that sum to 1, and the weights blend the
 * values (out).
 *
 * Textbook two-pass softmax over the whole row with its true maximum.
 */
#include "ref/ref.h"

static double number_at(const void *tensor, int64_t index, int32_t real_bytes)
{
    typedef float any_float __attribute__((aligned(1), may_alias));
    typedef double any_double __attribute__((aligned(1), may_alias));
    return real_bytes == 4 ? (double)((const any_float *)tensor)[index]
                           : ((const any_double *)tensor)[index];
}

/* stage 1: how well does each key answer the query? */
static void score(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        double dot = 0;
        for (int64_t c = 0; c < row->d; c++) {
            const double q = number_at(row->q, c * row->q_channel, row->real_bytes);
            const double k =
                number_at(row->k, j * row->k_key + c * row->k_channel, row->real_bytes);
            dot = dot + q * k;
        }
        row->score[j] = dot;
    }
}

/* stage 2: scores grow with the square root of the number of channels; divide that out */
static void scale(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        const int visible = j >= row->lo && j < row->hi;
        row->scaled[j] = row->score[j] * row->scale;
        row->masked[j] = visible ? row->scaled[j] : -__builtin_inf();
    }
}

/* stage 3: softmax. Returns 0 for a row that sees nothing: then no weight is anything but 0. */
static int weigh(qkvi_ref_row *row)
{
    const double inf = __builtin_inf();
    double max = -inf, sum = 0;
    int wild = 0;
    for (int64_t j = row->lo; j < row->hi; j++) {
        const double s = row->masked[j];
        wild |= s != s || s == inf; /* NaN and +inf have no softmax */
        if (s > max) max = s;
    }
    for (int64_t j = 0; j < row->keys; j++) row->weight[j] = 0;
    row->lse = -inf;
    if (max == -inf && !wild) return 0;
    for (int64_t j = row->lo; j < row->hi; j++) {
        row->weight[j] = wild ? __builtin_nan("") : qkvi_ref_exp(row->masked[j] - max);
        sum = sum + row->weight[j];
    }
    for (int64_t j = row->lo; j < row->hi; j++) row->weight[j] = row->weight[j] / sum;
    row->lse = wild ? sum : max + qkvi_ref_log(sum);
    return 1;
}

/* stage 4: the weighted average of the values */
static void blend(qkvi_ref_row *row, int sees_any)
{
    for (int64_t c = 0; c < row->dv; c++) {
        double sum = 0;
        for (int64_t j = row->lo; j < row->hi && sees_any; j++)
            sum = sum + row->weight[j] *
                            number_at(row->v, j * row->v_key + c * row->v_channel, row->real_bytes);
        row->out[c] = sum + 0; /* never -0 */
    }
}

void qkvi_ref_attend(qkvi_ref_row *row)
{
    score(row);
    scale(row);
    blend(row, weigh(row));
}
