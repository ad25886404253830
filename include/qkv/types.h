/* SPDX-License-Identifier: MIT */
/* types.h - the words every other header uses: status and error, element types, shapes without
 * data, the caller's allocator, the caller's threads, and what this build is.
 *
 * Nothing here computes. Everything a caller owns is a plain struct that starts with its own size,
 * so that an older program and a newer library (or the reverse) understand each other: a missing
 * member counts as zero, and zero always means "as before". qkv_shape is frozen instead.
 */
#ifndef QKV_TYPES_H
#define QKV_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(QKV_BUILDING)
#define QKV_API __declspec(dllexport)
#elif defined(__GNUC__)
#define QKV_API __attribute__((visibility("default")))
#else
#define QKV_API
#endif

#ifdef __cplusplus
#define QKV_ZERO                                                                                   \
    {                                                                                              \
    }
extern "C" {
#else
#define QKV_ZERO                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }
#endif

/* The only place where the version is written; the build reads it here. */
#define QKV_VERSION_MAJOR 0
#define QKV_VERSION_MINOR 1
#define QKV_VERSION_PATCH 0

/* Pinned: never renumbered, never reused. Below zero is failure. */
typedef enum qkv_status {
    QKV_OK = 0,
    QKV_EARG = -1,         /* one argument is outside what is accepted */
    QKV_ESHAPE = -2,       /* two arguments do not fit each other */
    QKV_EUNSUPPORTED = -3, /* well formed, but not in this build or on this CPU */
    QKV_ENOMEM = -4,
    QKV_EWORKSPACE = -5, /* workspace missing, too small or misaligned */
    QKV_EABI = -9,       /* a struct's size is not one we know */
    QKV_ESTOPPED = -10   /* a callback, an executor or the cancel flag stopped the work */
} qkv_status;

/* The caller's own, last argument of every function that can fail; may be NULL. Written only on
 * failure. Nothing to free, nothing global. Start from qkv_error_init(). */
typedef struct qkv_error {
    uint32_t size;
    int32_t status; /* a qkv_status */
    char arg[48];   /* as the caller wrote it: "params.k.dim[1]" */
    int64_t got;    /* its value ... */
    int64_t want;   /* ... and the bound, or the partner it contradicts */
    char text[184]; /* the whole sentence, in English, one line */
} qkv_error;

/* Element types. The numbers are pinned. */
typedef enum qkv_dtype {
    QKV_F32 = 1,
    QKV_F16 = 2,  /* IEEE binary16 */
    QKV_BF16 = 3, /* the upper half of a float32 */
    QKV_F64 = 4,
    QKV_BOOL = 5, /* a byte: 0 is false, all else true */
    QKV_BITS = 6  /* a bit: element n is bit n % 8 (the lowest first) of byte n / 8 */
} qkv_dtype;

/* Shape without data. dim is batch, head, position, channel, always in that order; how they lie in
 * memory is the strides' business. Strides count elements, may be negative, and 0 repeats (inputs
 * only). The stride of a dimension of size 1 or 0 is never used. Frozen: nested by value. */
typedef struct qkv_shape {
    int32_t dtype;    /* a qkv_dtype; int32_t because an enum has no fixed size */
    int32_t reserved; /* 0 */
    int64_t dim[4];
    int64_t stride[4];
} qkv_shape;

/* Where qkv_plan_create() and qkv_pool_create() take memory from; NULL in its place means the C
 * library. alloc returns memory aligned to align (a power of two) or NULL. */
typedef struct qkv_allocator {
    uint32_t size;
    uint32_t reserved; /* 0 */
    void *(*alloc)(void *ctx, size_t bytes, size_t align);
    void (*release)(void *ctx, void *mem, size_t bytes);
    void *ctx;
} qkv_allocator;

/* The caller's threads: run task(arg, 0) ... task(arg, ntasks - 1), each exactly once, in any
 * order, on any threads, one after another if it likes; return when all are done. No task waits
 * for another. The result never depends on how it is done. ntasks <= nthreads. */
typedef struct qkv_threads {
    uint32_t size;
    int32_t nthreads;
    void (*parallel_for)(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg);
    void *ctx;
} qkv_threads;

/* Which kernels compute. The numbers are pinned. The bits of a result are the same for all of them
 * but QKV_ISA_REFERENCE, which is float64 throughout, in another order. */
typedef enum qkv_isa {
    QKV_ISA_REFERENCE = -1,
    QKV_ISA_BEST = 0, /* the fastest that this CPU can run */
    QKV_ISA_SCALAR = 1,
    QKV_ISA_WIDE16 = 2, /* 16 lanes in portable C: checks the wide kernels anywhere; slow */
    QKV_ISA_AVX2 = 3,
    QKV_ISA_AVX512 = 4,
    QKV_ISA_NEON = 5 /* aarch64 */
} qkv_isa;

/* Version of the library linked: major << 16 | minor << 8 | patch. */
QKV_API uint32_t qkv_version(void);
/* Version of the numeric contract (docs/numerics.md): the same number, the same bits. */
QKV_API int32_t qkv_contract(void);
/* "QKV_EARG" and so on; "unknown status" for other numbers. Never NULL. */
QKV_API const char *qkv_status_name(qkv_status status);

/* The kernels compiled into this library, i = 0 ... qkv_isa_count() - 1, slowest first. */
QKV_API int32_t qkv_isa_count(void);
QKV_API int32_t qkv_isa_id(int32_t i);         /* a qkv_isa; 0 when i is out of range */
QKV_API const char *qkv_isa_name(int32_t isa); /* "avx2"; NULL when it is not compiled in */
QKV_API int32_t qkv_isa_usable(int32_t isa);   /* 1 when compiled in and this CPU can run it */

static inline qkv_error qkv_error_init(void)
{
    qkv_error x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_allocator qkv_allocator_init(void)
{
    qkv_allocator x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_threads qkv_threads_init(void)
{
    qkv_threads x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QKV_TYPES_H */
