/* SPDX-License-Identifier: MIT */
/* api_reference.c - pieces of the float64 reference: all that the lesson computes with.
 *
 * The environment of rule 0 is entered here, as it is for a run. Nothing here needs a plan, so that who
 * links only this (the page) carries neither plans nor kernels.
 */
#include "api/abi.h"
#include "base/checked.h"
#include "base/error.h"
#include "kernel/kernels.h"
#include "ref/ref.h"
#include <qkv/attention.h>
#include <qkv/experimental.h>

double qkv_ref_exp(double x)
{
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    const double y = qkvi_ref_exp(x);
    scalar->env_leave(env);
    return y;
}

static qkv_status check_matrix(const void *p, int64_t rows, int64_t columns, const char *arg,
                               qkv_error *err)
{
    int64_t elems, bytes;
    if (qkvi_mul(rows, columns, &elems) || qkvi_mul(elems, 8, &bytes))
        return qkvi_fail(err, QKV_EARG, arg, rows, INT64_MAX,
                         QKVI_SAY(QKVI_S(arg), QKVI_S(" of "), QKVI_I(rows), QKVI_S(" x "),
                                  QKVI_I(columns),
                                  QKVI_S(" is too large: it must span less than 2^63 bytes")));
    return elems ? qkvi_need(p, arg, err) : QKV_OK;
}

/* y of ny numbers must share no byte with the nx of an input */
static qkv_status check_apart(const double *y, int64_t ny, const double *x, int64_t nx,
                              const char *name, qkv_error *err)
{
    const uintptr_t y0 = (uintptr_t)y, y1 = (uintptr_t)(y ? y + ny : y);
    const uintptr_t x0 = (uintptr_t)x, x1 = (uintptr_t)(x ? x + nx : x);
    if (y0 >= x1 || x0 >= y1) return QKV_OK;
    const int64_t shared = (int64_t)((y1 < x1 ? y1 : x1) - (y0 > x0 ? y0 : x0));
    return qkvi_fail(err, QKV_EARG, "y", shared, 0,
                     QKVI_SAY(QKVI_S("y and "), QKVI_S(name), QKVI_S(" share "), QKVI_I(shared),
                              QKVI_S(" bytes; an output may not overlap (0 bytes)")));
}

qkv_status qkv_ref_project(double *y, const double *x, const double *w, const double *b,
                           int64_t rows, int64_t in, int64_t out, qkv_error *err)
{
    const int64_t size[3] = {rows, in, out};
    static const char *const name[3] = {"rows", "in", "out"};
    qkv_status s;
    if (qkvi_error_check(err)) return QKV_EABI;
    for (int i = 0; i < 3; i++)
        if (size[i] < 0)
            return qkvi_fail(err, QKV_EARG, name[i], size[i], 0,
                             QKVI_SAY(QKVI_S(name[i]), QKVI_S(" is "), QKVI_I(size[i]),
                                      QKVI_S("; it must be at least 0")));
    if ((s = check_matrix(y, rows, out, "y", err))) return s;
    if ((s = check_matrix(x, rows, in, "x", err))) return s;
    if ((s = check_matrix(w, in, out, "w", err))) return s;
    if ((s = check_apart(y, rows * out, x, rows * in, "x", err))) return s;
    if ((s = check_apart(y, rows * out, w, in * out, "w", err))) return s;
    if (b && (s = check_apart(y, rows * out, b, out, "b", err))) return s;
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    qkvi_ref_project(y, x, w, b, rows, in, out);
    scalar->env_leave(env);
    return QKV_OK;
}

/* sizes, then pointers: every number that is written or read needs an object */
static qkv_status check_row(const qkv_ref_row *r, qkv_error *err)
{
    const struct {
        const char *name;
        int64_t is, least;
    } size[] = {{"row.keys", r->keys, 0},
                {"row.d_k", r->d_k, 1},
                {"row.d_v", r->d_v, 0},
                {"row.seen", r->seen, 0},
                {"row.keys", r->keys, r->seen}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        if (size[i].is < size[i].least)
            return qkvi_fail(err, QKV_EARG, size[i].name, size[i].is, size[i].least,
                             QKVI_SAY(QKVI_S(size[i].name), QKVI_S(" is "), QKVI_I(size[i].is),
                                      QKVI_S("; it must be at least "), QKVI_I(size[i].least)));
    const struct {
        const char *name;
        const void *is;
        int64_t rows, columns;
    } part[] = {{"row.q", r->q, 1, r->d_k},
                {"row.k", r->k, r->keys, r->d_k},
                {"row.v", r->v, r->keys, r->d_v},
                {"row.score", r->score, 1, r->keys},
                {"row.scaled", r->scaled, 1, r->keys},
                {"row.masked", r->masked, 1, r->keys},
                {"row.weight", r->weight, 1, r->keys},
                {"row.out", r->out, 1, r->d_v}};
    qkv_status s = QKV_OK;
    for (size_t i = 0; i < sizeof part / sizeof part[0] && s == QKV_OK; i++)
        s = check_matrix(part[i].is, part[i].rows, part[i].columns, part[i].name, err);
    return s;
}

qkv_status qkv_ref_attend(qkv_ref_row *row, qkv_error *err)
{
    enum { FIRST_ROW = sizeof(qkv_ref_row) };
    qkv_ref_row r;
    qkv_status s;
    if ((s = qkvi_need(row, "row", err))) return s;
    if ((s = qkvi_widen(&r, sizeof r, row, FIRST_ROW, "row.size", err))) return s;
    if (r.reserved)
        return qkvi_fail(
            err, QKV_EARG, "row.reserved", r.reserved, 0,
            QKVI_SAY(QKVI_S("row.reserved is "), QKVI_I(r.reserved), QKVI_S("; it must be 0")));
    if ((s = check_row(&r, err))) return s;
    qkvi_ref_row x = {.q_dtype = QKV_F64,
                      .k_dtype = QKV_F64,
                      .v_dtype = QKV_F64,
                      .q = r.q,
                      .k = r.k,
                      .v = r.v,
                      .q_channel = 1,
                      .k_key = r.d_k,
                      .k_channel = 1,
                      .v_key = r.d_v,
                      .v_channel = 1,
                      .keys = r.keys,
                      .d = r.d_k,
                      .dv = r.d_v,
                      .hi = r.seen,
                      .scale = r.scale,
                      .score = r.score,
                      .scaled = r.scaled,
                      .masked = r.masked,
                      .weight = r.weight,
                      .out = r.out};
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const uint64_t env = scalar->env_enter();
    qkvi_ref_attend(&x);
    scalar->env_leave(env);
    /* one NaN only, as from a run */
    for (int64_t c = 0; c < r.d_v; c++)
        if (r.out[c] != r.out[c]) r.out[c] = __builtin_nan("");
    row->lse = x.lse == x.lse ? x.lse : __builtin_nan("");
    return QKV_OK;
}
