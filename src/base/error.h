/* SPDX-License-Identifier: MIT */
/* error.h - fills the caller's qkv_error: the argument as the caller wrote it, its value, the
 * bound, and one sentence "FUNCTION: ARG is GOT; ..." made of parts.
 */
#ifndef QKVI_ERROR_H
#define QKVI_ERROR_H

#include <qkv/types.h>

/* One part of a sentence. */
typedef struct qkvi_part {
    int kind; /* 0 end, 1 string, 2 integer, 3 real */
    const char *s;
    int64_t i;
    double x;
} qkvi_part;

#define QKVI_S(str) ((qkvi_part){1, (str), 0, 0.0})
#define QKVI_I(num) ((qkvi_part){2, NULL, (num), 0.0})
#define QKVI_X(num) ((qkvi_part){3, NULL, 0, (num)})
#define QKVI_END ((qkvi_part){0, NULL, 0, 0.0})
/* the sentence as a list: QKVI_SAY(QKVI_S("k heads is "), QKVI_I(3)) */
#define QKVI_SAY(...) ((const qkvi_part[]){__VA_ARGS__, QKVI_END})

#ifdef QKVI_WITHOUT_SENTENCES /* the page: what its C asks for is right, and nobody reads them */
#define qkvi_fail(err, status, arg, got, want, sentence) (status)
#define qkvi_error_check(err) ((void)(err), QKV_OK)
#else
/* Writes err (NULL is fine) as far as err->size allows and returns status. */
qkv_status qkvi_fail(qkv_error *err, qkv_status status, const char *arg, int64_t got, int64_t want,
                     const qkvi_part *sentence);

/* An err whose own size is unknown to us cannot be written to: QKV_EABI. */
qkv_status qkvi_error_check(const qkv_error *err);
#endif

#endif
