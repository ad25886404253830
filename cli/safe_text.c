/* SPDX-License-Identifier: MIT */
/* safe_text.c - outside text (token names, file names, headers) made safe to print, and how wide
 * text is on a terminal.
 *
 * Nothing from outside reaches a terminal except through cli_put_text(): escape sequences, line
 * breaks, direction overrides and broken UTF-8 come out as visible ASCII. Widths come from a small
 * table of our own, not from the locale, so that output is the same everywhere.
 */
#include "cli/cli.h"

#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Characters that a terminal shows as nothing but that change what is read: soft hyphen, letter
 * mark, joiners, direction marks and overrides, line separators, invisible operators, byte order
 * mark, annotation marks, tags. */
static const range hidden[] = {
    {0x00AD, 0x00AD}, {0x061C, 0x061C}, {0x180E, 0x180E},   {0x200B, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
    {0xFFFE, 0xFFFF}, {0xE000, 0xF8FF}, {0xE0000, 0xE007F}, {0xF0000, 0x10FFFF},
};

/* Marks that stand on the character before them. */
static const range combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

/* Two columns: Hangul, CJK, full-width forms, emoji. */
static const range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool in_ranges(const range *r, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last) return true;
    return false;
}

#define IN(table, c) in_ranges(table, sizeof(table) / sizeof *(table), c)

static int columns_of(uint32_t c)
{
    if (c < 0x300) return 1;
    if (IN(combining, c)) return 0;
    return IN(wide, c) ? 2 : 1;
}

/* One character of at most n bytes: its length, or 0 when the first byte starts none (also for
 * overlong forms, surrogates and code points beyond 10FFFF). */
static size_t decode(const unsigned char *s, size_t n, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0x80) {
        *c = s[0];
        return 1;
    }
    const size_t len = s[0] >= 0xF0 ? 4 : (s[0] >= 0xE0 ? 3 : 2);
    if (s[0] < 0xC2 || s[0] > 0xF4 || len > n) return 0;
    uint32_t x = s[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        x = x << 6 | (s[i] & 0x3F);
    }
    if (x < least[len] || x > 0x10FFFF || (x >= 0xD800 && x <= 0xDFFF)) return 0;
    *c = x;
    return len;
}

/* The next piece to print: bytes of it in `piece`, its columns in *columns; returns the bytes
 * taken from s. A piece is one character or one escape, so a cut never splits either. */
static size_t next_piece(const unsigned char *s, size_t n, char piece[16], int *columns)
{
    uint32_t c = 0;
    const size_t len = decode(s, n, &c);
    if (len == 0 || c < 0x20 || (c >= 0x7F && c < 0xA0)) {
        /* C1 controls are two bytes in UTF-8; both are shown */
        const size_t taken = len ? len : 1;
        *columns = 0;
        piece[0] = 0;
        for (size_t i = 0; i < taken; i++)
            *columns += snprintf(piece + *columns, 16 - (size_t)*columns, "\\x%02x", s[i]);
        return taken;
    }
    if (IN(hidden, c)) {
        *columns = snprintf(piece, 16, "\\u{%x}", c);
        return len;
    }
    memcpy(piece, s, len);
    piece[len] = 0;
    *columns = columns_of(c);
    return len;
}

static int total_columns(const char *text, size_t n)
{
    char piece[16];
    int total = 0, columns;
    const unsigned char *const s = (const unsigned char *)text;
    for (size_t i = 0; i < n; total += columns) i += next_piece(s + i, n - i, piece, &columns);
    return total;
}

static const char ellipsis[] = "\xE2\x80\xA6";

/* Where pieces go: a stream, or a buffer that keeps room for the ellipsis and the final 0. */
typedef struct sink {
    FILE *f;
    char *buffer;
    size_t size, used;
} sink;

static bool put(sink *out, const char *piece, size_t kept)
{
    const size_t n = strlen(piece);
    if (out->f) {
        fputs(piece, out->f);
        return true;
    }
    if (out->used + n + kept >= out->size) return false;
    memcpy(out->buffer + out->used, piece, n + 1);
    out->used += n;
    return true;
}

static int put_all(sink *out, const char *text, size_t n, int max_columns)
{
    const bool cut = max_columns > 0 && total_columns(text, n) > max_columns;
    const int room = cut ? max_columns - 1 : INT32_MAX;
    const unsigned char *const s = (const unsigned char *)text;
    char piece[16];
    int total = 0, columns;
    bool whole = !cut;
    for (size_t i = 0; i < n; total += columns) {
        i += next_piece(s + i, n - i, piece, &columns);
        if (total + columns > room) break;
        if (!put(out, piece, sizeof ellipsis - 1)) {
            whole = false;
            break;
        }
    }
    if (!whole) put(out, ellipsis, 0);
    return total + !whole;
}

int cli_safe_text(char *buffer, size_t size, const char *text, size_t n, int max_columns)
{
    sink out = {.buffer = buffer, .size = size};
    buffer[0] = 0;
    return put_all(&out, text, n, max_columns);
}

int cli_put_text(FILE *f, const char *text, size_t n, int max_columns)
{
    sink out = {.f = f};
    return put_all(&out, text, n, max_columns);
}

int cli_columns(const char *text)
{
    int total = 0;
    uint32_t c = 0;
    const unsigned char *s = (const unsigned char *)text;
    for (size_t n = strlen(text), len; n; n -= len, s += len) {
        len = decode(s, n, &c);
        total += len ? columns_of(c) : 1;
        if (!len) len = 1;
    }
    return total;
}

static void put_indent(FILE *f, int indent)
{
    for (int i = 0; i < indent; i++) fputc(' ', f);
}

void cli_put_wrapped(FILE *f, const char *text, int indent, int width)
{
    int column = 0; /* 0: a line starts */
    for (const char *p = text; *p;) {
        if (*p == '\n' && p[1] == '\n') {
            fputs("\n\n", f);
            column = 0;
            p += 2;
            continue;
        }
        if (*p == ' ' || *p == '\n') {
            p++;
            continue;
        }
        const size_t len = strcspn(p, " \n");
        char word[128];
        snprintf(word, sizeof word, "%.*s", (int)len, p);
        const int columns = cli_columns(word);
        if (column && column + 1 + columns > width) {
            fputc('\n', f);
            column = 0;
        }
        if (column) {
            fputc(' ', f);
            column++;
        } else {
            put_indent(f, indent);
            column = indent;
        }
        fputs(word, f);
        column += columns;
        p += len;
    }
    fputc('\n', f);
}
