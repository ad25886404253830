/* SPDX-License-Identifier: MIT */
/* view_json.c - JSON for the page's view models: strings with every control escaped and `<` as
 * \u003c (a model may stand inside of a script element), numbers in their shortest form.
 */
#include "lesson/view.h"

static void put(const view_json *json, const char *text)
{
    json->sink->write(json->sink->ctx, text, text_length(text));
}

static int escape(char *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c != '"' && c != '\\' && c != '<' && c >= 0x20) return 0;
    const char text[7] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15], 0};
    for (int i = 0; i < 7; i++) out[i] = text[i];
    return 1;
}

static void escaped_bytes(const view_json *json, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        char escaped[8];
        const size_t n = text_character(text + i, bytes - i);
        if (n == 0)
            put(json, "\xEF\xBF\xBD");
        else if (escape(escaped, (unsigned char)text[i]))
            put(json, escaped);
        else
            json->sink->write(json->sink->ctx, text + i, n);
        i += n > 0 ? n : 1;
    }
}

static void quoted(const view_json *json, const char *text, size_t bytes)
{
    put(json, "\"");
    escaped_bytes(json, text, bytes);
    put(json, "\"");
}

static void next(view_json *json, const char *key)
{
    if (json->comma) put(json, ",");
    json->comma = 1;
    if (key == NULL) return;
    put(json, "\"");
    put(json, key);
    put(json, "\":");
}

void view_open(view_json *json, const char *key, char bracket)
{
    const char text[2] = {bracket, 0};
    next(json, key);
    put(json, text);
    json->comma = 0;
}

void view_close(view_json *json, char bracket)
{
    const char text[2] = {bracket, 0};
    put(json, text);
    json->comma = 1;
}

void view_bytes(view_json *json, const char *key, const char *text, size_t bytes)
{
    next(json, key);
    quoted(json, text, bytes);
}

void view_text(view_json *json, const char *key, const char *text)
{
    view_bytes(json, key, text, text_length(text));
}

void view_open_text(view_json *json, const char *key)
{
    next(json, key);
    put(json, "\"");
}

static void write_inside(void *ctx, const char *text, size_t bytes)
{
    escaped_bytes((const view_json *)ctx, text, bytes);
}

lesson_sink view_text_sink(view_json *json)
{
    const lesson_sink sink = {write_inside, json};
    return sink;
}

void view_close_text(view_json *json)
{
    put(json, "\"");
}

void view_integer(view_json *json, const char *key, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_integer(text, x);
    next(json, key);
    put(json, text);
}

void view_flag(view_json *json, const char *key, int yes)
{
    next(json, key);
    put(json, yes ? "true" : "false");
}

void view_real(view_json *json, const char *key, double x)
{
    char text[LESSON_NUMBER_BYTES];
    next(json, key);
    if (!lesson_finite(x)) {
        put(json, "null");
        return;
    }
    lesson_number_shortest(text, x);
    put(json, text);
}

/* ---- text that is shown ---------------------------------------------------------------------- */

void view_line(view_json *json, const char *key)
{
    view_bytes(json, key, json->line->text, json->line->n);
    line_start(json->line, json->line->face);
}

void view_line_pieces(view_json *json, const char *key)
{
    view_pieces(json, key, json->line->text);
    line_start(json->line, json->line->face);
}

void view_number(view_json *json, const char *key, double x, int whole)
{
    line_number(json->line, x, whole ? LESSON_KEEP_INTEGER : 0);
    view_line(json, key);
}

void view_exact(view_json *json, const char *key, double x)
{
    line_exact(json->line, x);
    view_line(json, key);
}

void view_key(view_json *json, const char *key, const lesson_input *in, int64_t j, int columns)
{
    line_key(json->line, in, j, columns);
    view_line(json, key);
}

void view_row(view_json *json, const char *key, const lesson_input *in, int64_t i, int columns)
{
    line_row(json->line, in, i, columns);
    view_line(json, key);
}

void view_names(view_json *json, const lesson_input *in)
{
    view_open(json, "names", '[');
    for (int64_t j = 0; j < in->keys; j++) view_key(json, NULL, in, j, LESSON_NAME_COLUMNS);
    view_close(json, ']');
}

void view_table(view_json *json, const char *key, const double *x, int64_t rows, int64_t columns,
                int exact)
{
    view_open(json, key, '[');
    for (int64_t i = 0; i < rows; i++) {
        view_open(json, NULL, '[');
        for (int64_t c = 0; c < columns; c++, x++) {
            if (exact)
                view_exact(json, NULL, *x);
            else
                view_number(json, NULL, *x, 1);
        }
        view_close(json, ']');
    }
    view_close(json, ']');
}

void view_line_vector(lesson_line *line, const double *x, int64_t n, int64_t channels, int whole)
{
    line_text(line, "[");
    for (int64_t c = 0; c < n && c < channels; c++) {
        if (c > 0) line_text(line, ", ");
        line_number(line, x[c], whole ? LESSON_KEEP_INTEGER : 0);
    }
    if (channels < n) line_text(line, channels > 0 ? ", …" : "…");
    line_text(line, "]");
}

/* A vector inside of a piece gets a space behind each comma, as in the tables. */
static void spaced(const view_json *json, const char *text, size_t n)
{
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i < n; i++) {
        depth += (text[i] == '[') - (text[i] == ']');
        if (text[i] != ',' || depth <= 0 || i + 1 == n || text[i + 1] == ' ') continue;
        escaped_bytes(json, text + begin, i + 1 - begin);
        put(json, " ");
        begin = i + 1;
    }
    escaped_bytes(json, text + begin, n - begin);
}

void view_pieces(view_json *json, const char *key, const char *line)
{
    enum { OPEN = 1, SHUT = 2 }; /* as line_role writes them */
    view_open(json, key, '[');
    for (const char *p = line; *p != 0;) {
        const int marked = *p == OPEN && p[1] != 0;
        const char role[2] = {marked ? p[1] : '\0', 0};
        if (marked) p += 2;
        size_t n = 0;
        while (p[n] != 0 && p[n] != OPEN && p[n] != SHUT) n++;
        view_open(json, NULL, '{');
        next(json, "t");
        put(json, "\"");
        spaced(json, p, n);
        put(json, "\"");
        if (marked) view_text(json, "r", role);
        view_close(json, '}');
        p += n + (p[n] == SHUT);
    }
    view_close(json, ']');
}
