/* SPDX-License-Identifier: MIT */
/* render_csv.c - the calculator's values for spreadsheets, by RFC 4180: CRLF, quotes where needed,
 * every digit that a number has. Names go through the face's `safe`, whole: the file is valid text
 * and harmless when a terminal shows it. A cell of text that a spreadsheet would take for a formula
 * starts with an apostrophe; numbers never do.
 */
#include "lesson/map.h"

enum { PIECE_BYTES = 100, SAFE_BYTES = 512 };

/* How many bytes go through `safe` at once: no character is torn. */
static size_t piece_of(const char *text, size_t n)
{
    if (n <= PIECE_BYTES) return n;
    size_t piece = PIECE_BYTES;
    while (piece > PIECE_BYTES - 4 && (text[piece] & 0xC0) == 0x80) piece--;
    return piece;
}

/* Made harmless, a quotation mark doubled. */
static void safe_piece(const lesson_view *view, const char *text, size_t n)
{
    char safe[SAFE_BYTES];
    view->face->safe(safe, sizeof safe, text, n, 0);
    for (const char *p = safe; *p != 0; p++) {
        if (*p == '"') sink_text(view, "\"");
        view->sink->write(view->sink->ctx, p, 1);
    }
}

static void text_cell(const lesson_view *view, const char *text, size_t n)
{
    int quote = n == 0;
    for (size_t i = 0; i < n; i++) {
        const char c = text[i];
        quote |= c == '"' || c == ',' || c == ' ';
    }
    const char first = n > 0 ? text[0] : 'x';
    const int guard = first == '=' || first == '+' || first == '-' || first == '@' ||
                      first == '\t' || first == '\r';
    if (quote) sink_text(view, "\"");
    if (guard) sink_text(view, "'");
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = piece_of(text + at, n - at);
        safe_piece(view, text + at, piece);
    }
    if (quote) sink_text(view, "\"");
}

static void number_cell(const lesson_view *view, double x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_shortest(text, x);
    sink_text(view, ",");
    sink_text(view, text);
}

static void integer(const lesson_view *view, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_integer(text, x);
    sink_text(view, text);
}

static void numbered_heads(const lesson_view *view, const char *letter, int64_t n)
{
    for (int64_t c = 0; c < n; c++) {
        sink_text(view, ",");
        sink_text(view, letter);
        integer(view, c);
    }
}

static void blanks(const lesson_view *view, int64_t n)
{
    sink_repeat(view, ",", n);
}

static void numbers(const lesson_view *view, const double *x, int64_t n)
{
    for (int64_t c = 0; c < n; c++) number_cell(view, x[c]);
}

static void special_row(const lesson_view *view, const char *what)
{
    sink_text(view, what);
    sink_text(view, ",");
    if (view->in->rows == view->in->keys) {
        const lesson_name *const name = &view->in->name[view->in->token];
        text_cell(view, name->text, name->bytes);
    }
}

qkv_status lesson_csv_table(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const lesson_stages *const s = view->stages;
    sink_text(view, "row,token");
    numbered_heads(view, "k", in->d_k);
    numbered_heads(view, "v", in->d_v);
    if (in->stage >= 1) sink_text(view, ",score");
    if (in->stage >= 2) sink_text(view, ",scaled");
    if (in->stage >= 3) sink_text(view, ",weight");
    sink_text(view, "\r\n");
    special_row(view, "query");
    numbers(view, in->q + in->token * in->d_k, in->d_k);
    blanks(view, in->d_v + (in->stage < 3 ? in->stage : 3));
    sink_text(view, "\r\n");
    for (int64_t j = in->key_begin; j < in->key_end; j++) {
        integer(view, j);
        sink_text(view, ",");
        text_cell(view, in->name[j].text, in->name[j].bytes);
        numbers(view, in->k + j * in->d_k, in->d_k);
        numbers(view, in->v + j * in->d_v, in->d_v);
        if (in->stage >= 1) number_cell(view, s->row_score[j]);
        if (in->stage >= 2) number_cell(view, s->row_scaled[j]);
        if (in->stage >= 3) number_cell(view, s->row_weight[j]);
        sink_text(view, "\r\n");
    }
    if (in->stage < 4) return QKV_OK;
    special_row(view, "output");
    blanks(view, in->d_k);
    numbers(view, s->row_out, in->d_v);
    blanks(view, 3);
    sink_text(view, "\r\n");
    return QKV_OK;
}

qkv_status lesson_csv_map(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    sink_text(view, "row,from");
    for (int64_t j = in->key_begin; j < in->key_end; j++) {
        sink_text(view, ",");
        text_cell(view, in->name[j].text, in->name[j].bytes);
    }
    sink_text(view, "\r\n");
    for (int64_t i = 0; i < view->stages->rows; i++) {
        const int64_t row = in->row_begin + i;
        integer(view, row);
        sink_text(view, ",");
        if (in->rows == in->keys) text_cell(view, in->name[row].text, in->name[row].bytes);
        for (int64_t j = 0; j < view->stages->keys; j++) number_cell(view, map_value(view, i, j));
        sink_text(view, "\r\n");
    }
    return QKV_OK;
}
