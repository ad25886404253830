/* SPDX-License-Identifier: MIT */
/* number.h - numbers as text and text as numbers, the same on every machine.
 *
 * No locale, no C library, no floating-point rounding on the way: every digit comes from exact
 * integers in fixed arrays. Writers put a final 0 behind the text and return its length; text of
 * LESSON_NUMBER_BYTES always suffices. NaN and infinities are written as "NaN", "Infinity" and
 * "-Infinity" by the shortest forms, and as "NaN", "inf" or U+221E by the others.
 */
#ifndef QKV_LESSON_NUMBER_H
#define QKV_LESSON_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum {
    LESSON_NUMBER_BYTES = 384, /* 309 digits, a point, LESSON_DIGITS_MAX more, sign, final 0 */
    LESSON_DIGITS_MAX = 40
};

/* flags of the rounding writers */
enum {
    LESSON_MINUS_UNICODE = 1, /* U+2212 in place of -, U+221E in place of inf */
    LESSON_KEEP_INTEGER = 2   /* a whole number is written without point and zeros */
};

/* digits decimals (0 ... LESSON_DIGITS_MAX, clamped), rounded half to even on the exact binary
 * value; a leading zero, never -0.00. */
size_t lesson_number_fixed(char *text, double x, int digits, unsigned flags);
/* d.ddde30: one digit before the point, digits decimals, the exponent without plus or padding. */
size_t lesson_number_scientific(char *text, double x, int digits, unsigned flags);
/* What tables show: fixed below 10^9 in size, scientific from there on. */
size_t lesson_number_show(char *text, double x, int digits, unsigned flags);

/* The fewest digits that read back as the same number, and of those the nearest; "1.0", "1e-05",
 * "1.5e+300", "-0.0": the form that Python's repr() has. For JSON, non-finite ones are bare words
 * here: the caller quotes them. */
size_t lesson_number_shortest(char *text, double x);
size_t lesson_number_shortest_f32(char *text, float x);

size_t lesson_number_integer(char *text, int64_t x);

typedef enum lesson_number_status {
    LESSON_NUMBER_OK = 0,
    LESSON_NUMBER_EMPTY,    /* no text, or blanks only */
    LESSON_NUMBER_COMMA,    /* "1,5": a comma where a point belongs */
    LESSON_NUMBER_JUNK,     /* something that is not part of a number; *stop tells where */
    LESSON_NUMBER_TOO_LARGE /* beyond the largest double */
} lesson_number_status;

/* The double nearest to decimal text: [+-] digits [. digits] [e [+-] digits]; U+2212 counts as -.
 * All of the n bytes must be the number. Words such as nan and inf are junk. *x and *stop (the
 * offset of the first byte that does not fit) may be NULL; *x is written only on success. */
lesson_number_status lesson_number_parse(const char *text, size_t n, double *x, size_t *stop);
/* A whole number in int64_t's range: [+-] digits. */
lesson_number_status lesson_number_parse_integer(const char *text, size_t n, int64_t *x);

/* One sentence's end for messages, such as "use a point: 1.5"; never NULL. */
const char *lesson_number_reason(lesson_number_status status);

#endif /* QKV_LESSON_NUMBER_H */
