/* SPDX-License-Identifier: MIT */
/* experimental.h - may change in any release: pieces of the float64 reference that the lesson
 * explains with, and the measuring loops behind `qkv bench`.
 */
#ifndef QKV_EXPERIMENTAL_H
#define QKV_EXPERIMENTAL_H

#include <qkv/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* e^x as the reference computes it: plain float64 operations in a fixed order (no fused
 * multiply-add, no C library), so the same digits everywhere; within 2 ulp of exact. */
QKV_API double qkv_ref_exp(double x);

/* y = x w + b in float64, row vectors: y[i][o] = (sum over c of x[i][c] * w[c][o]) + b[o], the sum
 * ascending from +0. All dense; b may be NULL; y overlaps no other. rows, in, out >= 0. */
QKV_API qkv_status qkv_ref_project(double *y, const double *x, const double *w, const double *b,
                                   int64_t rows, int64_t in, int64_t out, qkv_error *err);

/* One query row of attention as the reference computes it, stage by stage, in float64; all dense. The
 * row sees keys [0, seen). A row that sees none has weights and an output of 0 and an lse of
 * -infinity. */
typedef struct qkv_ref_row {
    uint32_t size, reserved;
    int64_t keys, d_k, d_v, seen; /* d_k >= 1, the others >= 0; seen <= keys */
    double scale;                 /* of the scores */
    const double *q, *k, *v;      /* [d_k], [keys][d_k], [keys][d_v] */
    /* written: keys each (masked: -infinity where the row may not see), out d_v; nothing overlaps */
    double *score, *scaled, *masked, *weight, *out;
    double lse; /* written */
} qkv_ref_row;

QKV_API qkv_status qkv_ref_attend(qkv_ref_row *row, qkv_error *err);

/* A loop of known size, for the caller's clock: the arithmetic and the memory that the machine can
 * do at best, without attention around it. */
typedef enum qkv_probe_kind {
    QKV_PROBE_FMA_F32 = 1, /* independent chains of fused multiply-add, in registers */
    QKV_PROBE_FMA_F64 = 2,
    QKV_PROBE_READ = 3, /* plain sequential reads of buffer, split between the threads */
    /* chains whose operands come from the first-level cache, as those of every kernel do */
    QKV_PROBE_FED_F32 = 4,
    QKV_PROBE_FED_F64 = 5
} qkv_probe_kind;

typedef struct qkv_probe_args {
    uint32_t size;
    int32_t isa;     /* a usable qkv_isa with kernels; 0: the best */
    int32_t kind;    /* a qkv_probe_kind */
    int32_t variant; /* 0, 1, ...: number of chains, prefetch or not; QKV_EARG past the last */
    int64_t repeat;  /* >= 1: how often the inner loop of about 10^4 operations (the read) runs */
    const void *buffer; /* QKV_PROBE_READ: 64-aligned */
    size_t buffer_size;
    const qkv_threads *threads; /* NULL: one thread */
} qkv_probe_args;

/* Does the work; *amount = floating-point operations (an FMA counts 2) or bytes, all threads. */
QKV_API qkv_status qkv_probe(const qkv_probe_args *args, double *amount, qkv_error *err);

static inline qkv_ref_row qkv_ref_row_init(void)
{
    qkv_ref_row x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_probe_args qkv_probe_args_init(void)
{
    qkv_probe_args x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QKV_EXPERIMENTAL_H */
