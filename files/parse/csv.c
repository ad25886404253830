/* SPDX-License-Identifier: MIT */
/* csv.c - the reader of tables as text: a position, the place in the table, and one of three states.
 * Every byte is looked at once by csv_next(); the first row once more, to find the separator.
 */
#include "files/parse/csv.h"

#include "files/parse/utf8.h"

enum state {
    ROW_START, /* at the first byte of a line */
    AFTER_FIELD,
    FAILED
};

static csv_event fail(csv_reader *r, size_t at, const char *error)
{
    r->at = at;
    r->error = error;
    r->state = FAILED;
    return CSV_ERROR;
}

static int peek(const csv_reader *r)
{
    return r->at < r->length ? r->bytes[r->at] : -1;
}

static int ends_line(int x)
{
    return x == '\n' || x == '\r' || x < 0;
}

/* Between fields; a tab that parts fields is none. */
static int blank(const csv_reader *r, int x)
{
    return x == ' ' || (x == '\t' && r->separator != '\t');
}

static void pass_line_end(csv_reader *r)
{
    if (peek(r) == '\r')
        r->at++;
    else if (peek(r) == '\n') {
        r->at++;
        return;
    }
    if (peek(r) == '\n') r->at++;
}

static void pass_blanks(csv_reader *r)
{
    while (blank(r, peek(r))) r->at++;
}

/* The separator of the line at `at`: looks no further than its end. */
static int32_t find_separator(const csv_reader *r, size_t at)
{
    int quoted = 0, tab = 0, semicolon = 0, comma = 0;
    for (; at < r->length; at++) {
        const int x = r->bytes[at];
        if (x == '"') quoted = !quoted;
        if (quoted) continue;
        if (x == '\n' || x == '\r') break;
        tab |= x == '\t';
        semicolon |= x == ';';
        comma |= x == ',';
    }
    return tab ? '\t' : semicolon ? ';' : comma ? ',' : ' ';
}

void csv_begin(csv_reader *r, const unsigned char *bytes, size_t length)
{
    r->bytes = bytes;
    r->length = length;
    r->at = 0;
    r->error = NULL;
    r->text_at = r->text_length = 0;
    r->row = r->column = 0;
    r->quoted = 0;
    r->state = ROW_START;
    if (length >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf) r->at = 3;
    size_t first = r->at;
    while (first < length && (bytes[first] == ' ' || bytes[first] == '\t' || bytes[first] == '\n' ||
                              bytes[first] == '\r'))
        first++;
    /* a tab before the first field is part of its row */
    while (first > r->at && bytes[first - 1] == '\t') first--;
    r->separator = find_separator(r, first);
}

/* ---- fields ----------------------------------------------------------------------------------- */

/* The character at p, n > 0; 0 when it cannot stand in a table. */
static size_t character(csv_reader *r, size_t at)
{
    const size_t n = utf8_length(r->bytes + at, r->length - at);
    if (r->bytes[at] == 0) {
        fail(r, at, "a zero byte; is it UTF-16? save it as UTF-8");
        return 0;
    }
    if (n == 0) fail(r, at, "bytes that are not UTF-8");
    return n;
}

static csv_event quoted_field(csv_reader *r)
{
    size_t at = r->at + 1;
    r->text_at = at;
    r->quoted = 1;
    for (;;) {
        if (at >= r->length) return fail(r, r->at, "a quotation mark that is never closed");
        if (r->bytes[at] == '"') {
            if (at + 1 >= r->length || r->bytes[at + 1] != '"') break;
            at += 2;
            continue;
        }
        const size_t n = character(r, at);
        if (n == 0) return CSV_ERROR;
        at += n;
    }
    r->text_length = at - r->text_at;
    r->at = at + 1;
    pass_blanks(r);
    if (!ends_line(peek(r)) && peek(r) != r->separator && (r->separator != ' ' || r->at == at + 1))
        return fail(r, r->at, "text after a closing quotation mark");
    r->state = AFTER_FIELD;
    return CSV_FIELD;
}

static csv_event bare_field(csv_reader *r)
{
    size_t at = r->at, end = at; /* end: after the last byte that is not blank */
    r->text_at = at;
    r->quoted = 0;
    while (at < r->length && !ends_line(r->bytes[at]) && r->bytes[at] != r->separator) {
        if (blank(r, r->bytes[at])) {
            if (r->separator == ' ') break;
            at++;
            continue;
        }
        if (r->bytes[at] == '"')
            return fail(r, at, "a quotation mark inside a field that is not in quotes");
        const size_t n = character(r, at);
        if (n == 0) return CSV_ERROR;
        at += n;
        end = at;
    }
    r->text_length = end - r->text_at;
    r->at = at;
    r->state = AFTER_FIELD;
    return CSV_FIELD;
}

static csv_event field(csv_reader *r)
{
    r->column++;
    pass_blanks(r);
    return peek(r) == '"' ? quoted_field(r) : bare_field(r);
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Passes blank lines and the blanks before a row; 0 at the end of the text. */
static int start_row(csv_reader *r)
{
    for (;;) {
        pass_blanks(r);
        if (r->at >= r->length) return 0;
        r->row++;
        r->column = 0;
        if (!ends_line(peek(r))) return 1;
        pass_line_end(r);
    }
}

csv_event csv_next(csv_reader *r)
{
    if (r->state == FAILED) return CSV_ERROR;
    if (r->state == ROW_START) return start_row(r) ? field(r) : CSV_END;
    pass_blanks(r);
    if (ends_line(peek(r))) {
        pass_line_end(r);
        r->state = ROW_START;
        return CSV_ROW_END;
    }
    if (r->separator != ' ') r->at++; /* the separator: fields end nowhere else */
    return field(r);
}

size_t csv_text(const csv_reader *r, char *text, size_t size)
{
    const unsigned char *const p = r->bytes + r->text_at;
    size_t out = 0;
    for (size_t in = 0; in < r->text_length; in++, out++) {
        if (r->quoted && p[in] == '"') in++; /* the first of two */
        if (out + 1 < size) text[out] = (char)p[in];
    }
    if (size > 0) text[out < size ? out : size - 1] = 0;
    return out;
}
