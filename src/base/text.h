/* SPDX-License-Identifier: MIT */
/* text.h - builds short English lines in a fixed buffer: strings, integers, real numbers. No
 * locale, no C library. What does not fit is cut, but counted, so that a caller can ask for the
 * whole length.
 */
#ifndef QKVI_TEXT_H
#define QKVI_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct qkvi_text {
    char *at;    /* NULL when size is 0 */
    size_t size; /* bytes at `at`, the final 0 included */
    size_t len;  /* of the whole text, without the final 0; may be >= size */
} qkvi_text;

void qkvi_text_add(qkvi_text *t, const char *s);
void qkvi_text_int(qkvi_text *t, int64_t x);
/* six significant digits, as 0.125 or 1.25e-40, "inf", "-inf", "NaN" */
void qkvi_text_real(qkvi_text *t, double x);

#endif
