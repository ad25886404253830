/* SPDX-License-Identifier: MIT */
/* face.c - how text is shown in the page: UTF-8, two decimals, names of tokens cut at a number of
 * characters. Names enter the document as text only; what would not be seen there, or would turn
 * the text around it, is replaced by U+FFFD all the same.
 */
#include "page/page.h"

#include "lesson/compose.h"

/* The number of a character of n bytes. */
static uint32_t value_of(const char *text, size_t n)
{
    uint32_t c = (uint8_t)text[0] & (n == 1 ? 0x7Fu : 0x7Fu >> n);
    for (size_t i = 1; i < n; i++) c = c << 6 | ((uint8_t)text[i] & 0x3Fu);
    return c;
}

/* Controls, and what turns or hides the text around it. */
static int is_hostile(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           c == 0x61C || (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

static int safe(char *buffer, size_t size, const char *text, size_t bytes, int max_columns)
{
    static const char replaced[] = "\xEF\xBF\xBD", dots[] = "\xE2\x80\xA6";
    size_t used = 0, cut = 0; /* cut: where the ellipsis goes if more comes */
    int columns = 0;
    for (size_t i = 0; i < bytes;) {
        const size_t n = text_character(text + i, bytes - i);
        const int bad = n == 0 || is_hostile(value_of(text + i, n));
        const char *const from = bad ? replaced : text + i;
        const size_t put = bad ? 3 : n;
        if (used + put + 4 > size || (max_columns > 0 && columns == max_columns)) {
            for (size_t k = 0; k < 3; k++) buffer[cut + k] = dots[k];
            used = cut + 3;
            break;
        }
        if (max_columns <= 0 || columns < max_columns) cut = used;
        for (size_t k = 0; k < put; k++) buffer[used + k] = from[k];
        used += put;
        columns++;
        i += n > 0 ? n : 1;
    }
    buffer[used] = 0;
    return columns;
}

/* Characters, of text that is already harmless. */
static int columns(const char *text)
{
    int n = 0;
    for (; *text != 0; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

const lesson_face page_face = {80, 1, 0, 2, safe, columns};
const lesson_face page_marked_face = {80, 1, LESSON_MARKS, 2, safe, columns};
