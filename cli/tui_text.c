/* SPDX-License-Identifier: MIT */
/* tui_text.c - what the terminal and the locale can show, and text measured for it: columns and
 * user-perceived characters, by utf8proc.
 *
 * Measures only harmless text (our own, or outside text that went through cli_safe_text). A cut or
 * a line break never falls inside a cluster of base and marks.
 */
#include "cli/tui.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <utf8proc.h>

/* ---- means ----------------------------------------------------------------------------------- */

static bool names_utf8(const char *value)
{
    const char *const set = value ? strchr(value, '.') : NULL;
    return set && (strncasecmp(set + 1, "utf-8", 5) == 0 || strncasecmp(set + 1, "utf8", 4) == 0);
}

/* Does the environment ask for UTF-8? The first variable that is set decides. */
static bool asks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const value = getenv(names[i]);
        if (value && *value) return names_utf8(value);
    }
    return false;
}

/* ncurses asks the C library how wide a character is. A UTF-8 locale that is named but not
 * installed is no reason for less: C.UTF-8 knows the same characters. */
static bool set_utf8(void)
{
    if (!asks_utf8()) return false;
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        if (!setlocale(LC_CTYPE, "C.UTF-8")) return false;
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

tui_means tui_find_means(bool color_wanted)
{
    const char *const term = getenv("TERM");
    const bool named = term && *term && strcmp(term, "dumb") != 0 && strcmp(term, "unknown") != 0;
    /* the VT series has no UTF-8, whatever the locale says */
    const bool old = named && strncmp(term, "vt", 2) == 0;
    return (tui_means){.screen = named && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
                       .utf8 = !old && set_utf8(),
                       .color = color_wanted};
}

lesson_face tui_face(const tui_means *means, int width, int digits)
{
    return (lesson_face){.width = width,
                         .utf8 = means->utf8,
                         .digits = digits,
                         .safe = means->utf8 ? cli_safe_text : tui_safe_ascii,
                         .columns = cli_columns};
}

int tui_safe_ascii(char *buffer, size_t size, const char *text, size_t n, int max_columns)
{
    char safe[1024];
    cli_safe_text(safe, sizeof safe, text, n, 0);
    const size_t room =
        max_columns > 0 && (size_t)max_columns < size ? (size_t)max_columns : size - 1;
    size_t used = 0, cut = 0; /* cut: where the text ends when ".." has to follow */
    const unsigned char *p = (const unsigned char *)safe;
    while (*p) {
        char piece[16] = {(char)*p, 0};
        const unsigned char first = *p++;
        if (first >= 0x80) {
            uint32_t c = first >= 0xF0 ? first & 7u : first >= 0xE0 ? first & 15u : first & 31u;
            for (; (*p & 0xC0) == 0x80; p++) c = c << 6 | (*p & 63u);
            snprintf(piece, sizeof piece, "\\u{%x}", (unsigned)c);
        }
        const size_t len = strlen(piece);
        if (used + len > room) {
            const size_t dots = room - cut < 2 ? room - cut : 2;
            memcpy(buffer + cut, "..", dots);
            used = cut + dots;
            break;
        }
        memcpy(buffer + used, piece, len);
        used += len;
        if (used + 2 <= room) cut = used;
    }
    buffer[used] = 0;
    return (int)used;
}

/* ---- measures -------------------------------------------------------------------------------- */

/* The code point at text and its bytes (at least 1: harmless text is UTF-8, but a cut may not be). */
static size_t code_point(const char *text, size_t n, utf8proc_int32_t *c)
{
    const utf8proc_ssize_t len =
        utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n, c);
    if (len > 0) return (size_t)len;
    *c = 0xFFFD;
    return 1;
}

int tui_columns(const char *text, size_t n)
{
    int total = 0;
    for (size_t i = 0; i < n;) {
        utf8proc_int32_t c = 0;
        i += code_point(text + i, n - i, &c);
        total += c < 0x7F ? 1 : utf8proc_charwidth(c);
    }
    return total;
}

size_t tui_first_cluster(const char *text, size_t n)
{
    if (n == 0) return 0;
    utf8proc_int32_t before = 0, state = 0;
    size_t i = code_point(text, n, &before);
    while (i < n) {
        utf8proc_int32_t c = 0;
        const size_t len = code_point(text + i, n - i, &c);
        if (utf8proc_grapheme_break_stateful(before, c, &state)) break;
        before = c;
        i += len;
    }
    return i;
}

size_t tui_last_cluster(const char *text, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i += len) len = tui_first_cluster(text + i, n - i);
    return len;
}
