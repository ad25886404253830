/* SPDX-License-Identifier: MIT */
/* oracle.c - the judges: textbook attention in long double, the row error of docs/numerics.md,
 * equality of bits.
 *
 * The long double row shares nothing with the library: two passes, the true maximum, libm's expl.
 * It judges finite data only.
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long double score(const prob *p, int64_t qi, int64_t ki)
{
    long double x = 0;
    for (int64_t c = 0; c < p->d; c++) {
        x += (long double)get_at(p->q, p->dtype, qi * p->d + c) *
             (long double)get_at(p->k, p->dtype, ki * p->d + c);
    }
    return x;
}

void oracle_row(const prob *p, int64_t b, int64_t h, int64_t i, long double *out, long double *lse,
                long double *absolute)
{
    const int64_t qi = (b * p->hq + h) * p->sq + i;
    const int64_t k0 = (b * p->hkv + h / (p->hq / p->hkv)) * p->sk;
    const long double scale =
        p->use & QKV_USE_SCALE ? (long double)p->scale : 1 / sqrtl((long double)p->d);
    for (int64_t c = 0; c < p->dv; c++) out[c] = absolute[c] = 0;
    *lse = -(long double)INFINITY;
    long double *const s = malloc((size_t)(p->sk + 1) * sizeof *s);
    bool *const live = malloc((size_t)(p->sk + 1) * sizeof *live);
    assert_non_null(s);
    assert_non_null(live);
    long double max = -(long double)INFINITY, sum = 0;
    bool any = false;
    for (int64_t j = 0; j < p->sk; j++) {
        live[j] = prob_sees(p, b, h, i, j);
        any |= live[j];
        if (live[j]) s[j] = prob_changed(p, b, h, i, j, scale * score(p, qi, k0 + j));
        if (live[j] && s[j] > max) max = s[j];
    }
    const long double sink = p->use & QKV_USE_SINK
                                 ? (long double)get_at(p->mask.sink_numbers, p->dtype, h)
                                 : -(long double)INFINITY;
    if (!any) *lse = sink;
    if (sink > max) max = sink;
    if (any) sum = expl(sink - max); /* 0 without one */
    for (int64_t j = 0; j < p->sk; j++)
        if (live[j]) sum += s[j] = expl(s[j] - max);
    for (int64_t j = 0; j < p->sk; j++) {
        for (int64_t c = 0; live[j] && c < p->dv; c++) {
            const long double x = s[j] * (long double)get_at(p->v, p->dtype, (k0 + j) * p->dv + c);
            out[c] += x;
            absolute[c] += fabsl(x);
        }
    }
    for (int64_t c = 0; any && c < p->dv; c++) {
        out[c] /= sum;
        absolute[c] /= sum;
    }
    if (any) *lse = max + logl(sum);
    free(live);
    free(s);
}

static void judge_row(const prob *p, const answer *a, int64_t row, bool scaled, row_error *e,
                      long double *want, long double *absolute)
{
    /* rules 7 and 9: beside a sink or key so much larger, a weight is +0 (values are below 8) */
    const long double nothing = p->dtype == QKV_F64 ? 0x1p-1018L : 0x1p-122L;
    long double lse, largest = 0;
    oracle_row(p, row / (p->hq * p->sq), row / p->sq % p->hq, row % p->sq, want, &lse, absolute);
    for (int64_t c = 0; c < p->dv; c++) {
        largest = fmaxl(largest, scaled ? absolute[c] : fabsl(want[c]));
    }
    for (int64_t c = 0; c < p->dv; c++) {
        const long double got = (long double)get_at(a->out, p->dtype, row * p->dv + c);
        const long double diff = fabsl(got - want[c]);
        const double rel = diff <= nothing ? 0.0 : (double)(diff / largest);
        if (!(rel <= e->max)) e->max = rel; /* a NaN counts as the worst */
        e->rms += rel * rel;
    }
    const long double got = (long double)get_at(a->lse, p->dtype, row);
    const double diff = got == lse ? 0.0 : (double)fabsl(got - lse);
    if (!(diff <= e->lse)) e->lse = diff;
}

row_error judge(const prob *p, const answer *a, int64_t max_rows, bool scaled)
{
    row_error e = {0, 0, 0};
    const int64_t rows = p->b * p->hq * p->sq;
    const int64_t n = rows < max_rows ? rows : max_rows;
    long double *const want = malloc((size_t)(p->dv + 1) * sizeof *want);
    long double *const absolute = malloc((size_t)(p->dv + 1) * sizeof *absolute);
    assert_non_null(want);
    assert_non_null(absolute);
    for (int64_t i = 0; i < n; i++) {
        /* first and last row always, the others spread evenly between */
        const int64_t row = n > 1 ? (int64_t)((double)i * (double)(rows - 1) / (double)(n - 1)) : 0;
        judge_row(p, a, row, scaled, &e, want, absolute);
    }
    if (n * p->dv > 0) e.rms = sqrt(e.rms / (double)(n * p->dv));
    free(want);
    free(absolute);
    return e;
}

static void first_difference(const char *what, const void *x, const void *y, size_t n, char *text,
                             size_t text_size)
{
    const unsigned char *const p = x, *const q = y;
    size_t i = 0;
    while (i < n && p[i] == q[i]) i++;
    snprintf(text, text_size, "%s differs from byte %zu of %zu on", what, i, n);
}

void same_answer_at(const char *file, int line, const answer *a, const answer *b,
                    const char *format, ...)
{
    char where[256], text[128] = "";
    va_list list;
    va_start(list, format);
    vsnprintf(where, sizeof where, format, list);
    va_end(list);
    if (a->out_bytes != b->out_bytes || a->lse_bytes != b->lse_bytes) {
        snprintf(text, sizeof text, "sizes differ");
    } else if (a->out_bytes > 0 && memcmp(a->out, b->out, a->out_bytes) != 0) {
        first_difference("out", a->out, b->out, a->out_bytes, text, sizeof text);
    } else if (a->lse_bytes > 0 && memcmp(a->lse, b->lse, a->lse_bytes) != 0) {
        first_difference("lse", a->lse, b->lse, a->lse_bytes, text, sizeof text);
    }
    if (text[0] == '\0') return;
    print_error("%s: %s (kernels %s and %s)\n", where, text, a->kernel, b->kernel);
    _fail(file, line);
}

int usable_isas(int32_t isa[8])
{
    int n = 0;
    for (int32_t i = 0; i < qkv_isa_count() && n < 8; i++) {
        const int32_t id = qkv_isa_id(i);
        if (qkv_isa_usable(id)) isa[n++] = id;
    }
    return n;
}

bool isa_is_slow(int32_t isa, int32_t dtype)
{
    (void)dtype;
    return isa == QKV_ISA_SCALAR || isa == QKV_ISA_WIDE16;
}
