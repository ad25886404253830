/* SPDX-License-Identifier: MIT */
/* utf8.h - how long the character at the start of some bytes is; for the readers of text in this
 * folder. Strict: overlong forms, surrogates and values above U+10FFFF are no characters.
 */
#ifndef FILES_PARSE_UTF8_H
#define FILES_PARSE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at p (n bytes follow, n > 0); 0 when it is none. */
static inline size_t utf8_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    const size_t want = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n < want) return 0;
    for (size_t i = 1; i < want; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
    }
    if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
    if (p[0] == 0xed && p[1] > 0x9f) return 0;
    if (p[0] == 0xf0 && p[1] < 0x90) return 0;
    if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
    return want;
}

#endif /* FILES_PARSE_UTF8_H */
