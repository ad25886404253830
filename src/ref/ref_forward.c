/* SPDX-License-Identifier: MIT */
/* ref_forward.c - attention for one token, stage by stage, as the lesson tells it: the query asks
 * every key (score), the scores are brought to unit size (scaled), those that must not grow are
 * capped, what is known about a key beforehand is added and keys that may not be seen are taken out
 * (masked), softmax turns scores into weights that sum to 1, and the weights blend the values (out).
 *
 * Textbook two-pass softmax over the whole row with its true maximum.
 */
#include "base/half.h"
#include "ref/ref.h"
#include <qkv/types.h>

typedef float any_float __attribute__((aligned(1), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));

static double number_at(const void *tensor, int64_t index, int32_t dtype)
{
    switch (dtype) {
    case QKV_F32:
        return (double)((const any_float *)tensor)[index];
    case QKV_F16:
    case QKV_BF16:
        return (double)qkvi_half_at((const char *)tensor + 2 * index, dtype == QKV_BF16);
    default:
        return ((const any_double *)tensor)[index];
    }
}

static int sees(const qkvi_ref_row *row, int64_t j)
{
    return j >= row->lo && j < row->hi && (!row->seen || row->seen[j]);
}

/* infinities as the largest number: what is added to a score may be huge, but it hides nothing */
static double bounded(double x)
{
    if (x > __DBL_MAX__) return __DBL_MAX__;
    return x < -__DBL_MAX__ ? -__DBL_MAX__ : x;
}

/* stage 1: how well does each key answer the query? */
static void score(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        double dot = 0;
        for (int64_t c = 0; c < row->d; c++) {
            const double q = number_at(row->q, c * row->q_channel, row->q_dtype);
            const double k = number_at(row->k, j * row->k_key + c * row->k_channel, row->k_dtype);
            dot = dot + q * k;
        }
        row->score[j] = dot;
    }
}

/* stage 2: scores grow with the square root of the number of channels; divide that out */
static void scale(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) row->scaled[j] = row->score[j] * row->scale;
}

/* stage 3: no score beyond the cap, gently; then the caller's own rule */
static void cap(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        const double s = row->scaled[j];
        row->masked[j] = row->cap > 0 ? row->cap * qkvi_ref_tanh(s / row->cap) : s;
    }
    if (row->rule) row->rule(row->rule_ctx, row->masked, row->keys);
    for (int64_t j = 0; j < row->keys && row->capped; j++) row->capped[j] = row->masked[j];
}

/* stage 4: what is known about a key beforehand: how far away it is, its bias, whether it may be seen */
static void mask(qkvi_ref_row *row)
{
    for (int64_t j = 0; j < row->keys; j++) {
        double s = row->masked[j];
        if (row->slope != 0) {
            const int64_t away = row->position > j ? row->position - j : j - row->position;
            s = s + row->slope * -(double)away;
        }
        if (row->bias && j < row->bias_keys) {
            const int usual = s >= -__DBL_MAX__ && s <= __DBL_MAX__;
            s = s + bounded(number_at(row->bias, j * row->bias_key, row->bias_dtype));
            if (usual) s = bounded(s);
        }
        row->masked[j] = sees(row, j) ? s : -__builtin_inf();
    }
}

/* stage 5: softmax, with the sink as one more key that has no value. Returns 0 for a row that sees
 * nothing: then no weight is anything but 0. */
static int weigh(qkvi_ref_row *row)
{
    const double inf = __builtin_inf(), sink = row->has_sink ? bounded(row->sink) : -inf;
    const int has_sink = row->has_sink && row->sink != -inf;
    double largest = -inf, sum = 0;
    int wild = 0;
    for (int64_t j = 0; j < row->keys; j++) {
        const double s = row->masked[j];
        wild |= s != s || s == inf; /* NaN and +inf have no softmax */
        if (s > largest) largest = s;
    }
    for (int64_t j = 0; j < row->keys; j++) row->weight[j] = 0;
    row->largest = wild ? __builtin_nan("") : largest + 0; /* never -0 */
    row->lse = has_sink ? sink : -inf;
    if (largest == -inf && !wild) return 0;
    const double max = has_sink && sink > largest ? sink : largest;
    for (int64_t j = 0; j < row->keys; j++) {
        if (!sees(row, j)) continue;
        row->weight[j] = wild ? __builtin_nan("") : qkvi_ref_exp(row->masked[j] - max);
        sum = sum + row->weight[j];
    }
    if (has_sink) sum = sum + qkvi_ref_exp(sink - max);
    for (int64_t j = 0; j < row->keys; j++)
        if (sees(row, j)) row->weight[j] = row->weight[j] / sum;
    row->lse = wild ? sum : max + qkvi_ref_log(sum);
    return 1;
}

/* stage 6: the weighted average of the values, of those that are not dropped */
static void blend(qkvi_ref_row *row, int sees_any)
{
    for (int64_t c = 0; c < row->dv; c++) {
        double sum = 0;
        for (int64_t j = row->lo; j < row->hi && sees_any; j++) {
            if (!sees(row, j) || (row->kept && !row->kept[j])) continue;
            sum = sum + row->weight[j] *
                            number_at(row->v, j * row->v_key + c * row->v_channel, row->v_dtype);
        }
        if (row->kept) sum = sees_any && row->lse != row->lse ? row->lse : sum * row->keep_factor;
        row->out[c] = sum + 0; /* never -0 */
    }
}

void qkvi_ref_attend(qkvi_ref_row *row)
{
    score(row);
    scale(row);
    cap(row);
    mask(row);
    blend(row, weigh(row));
}

double qkvi_ref_merge(double *weight, const double *lse, int64_t n)
{
    const double inf = __builtin_inf();
    double largest = -inf, sum = 0;
    int wild = 0;
    for (int64_t i = 0; i < n; i++) {
        wild |= lse[i] != lse[i] || lse[i] == inf;
        if (lse[i] > largest) largest = lse[i];
        weight[i] = 0;
    }
    if (wild) return __builtin_nan("");
    if (largest == -inf) return -inf;
    for (int64_t i = 0; i < n; i++) {
        weight[i] = lse[i] == -inf ? 0 : qkvi_ref_exp(lse[i] - largest);
        sum = sum + weight[i];
    }
    return largest + qkvi_ref_log(sum);
}
