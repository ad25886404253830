/* SPDX-License-Identifier: MIT */
/* read_csv.c - rows of text as rows of numbers. A first row without any number is a row of headings;
 * a first field that is none, in the first row of numbers, makes the first column the tokens' names.
 * Rows and columns are told as a spreadsheet counts them: from 1, headings and names included.
 */
#include "page/read_parts.h"

static int one_of(char x, const char *set)
{
    while (*set != 0 && *set != x) set++;
    return *set != 0;
}

/* nan, inf, infinity in any case, with a sign or without */
static int not_finite(const char *text, size_t n)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    const size_t from = n > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    for (int w = 0; w < 3; w++) {
        size_t i = 0;
        while (from + i < n && words[w][i] != 0 && (text[from + i] | 0x20) == words[w][i]) i++;
        if (from + i == n && words[w][i] == 0) return 1;
    }
    return 0;
}

/* Written as a number, though it may not be one: it is no name. */
static int like_a_number(const char *text, size_t n)
{
    int digits = 0;
    for (size_t i = 0; i < n; i++) {
        if (!one_of(text[i], "0123456789.,+-eE")) return 0;
        digits |= text[i] >= '0' && text[i] <= '9';
    }
    return digits;
}

static read_status bad_field(read_state *r, int64_t column, lesson_number_status status,
                             const char *text, size_t n)
{
    lesson_word word = LESSON_W_READ_FIELD;
    if (status == LESSON_NUMBER_EMPTY) word = LESSON_W_READ_FIELD_EMPTY;
    if (status == LESSON_NUMBER_COMMA) word = LESSON_W_READ_FIELD_COMMA;
    if (status == LESSON_NUMBER_TOO_LARGE) word = LESSON_W_READ_FIELD_LARGE;
    if (not_finite(text, n)) word = LESSON_W_READ_FIELD_FINITE;
    return read_refuse_text(r, word, r->csv.r.row, column, text, n);
}

static void keep_odd(read_csv *c, lesson_number_status status)
{
    if (c->odd) return;
    c->odd = 1;
    c->odd_status = status;
    c->odd_column = c->r.column;
    c->odd_at = c->r.text_at;
    c->odd_bytes = c->r.text_length;
}

static read_status name(read_state *r)
{
    if (r->names == READ_ROWS) return read_refuse(r, LESSON_W_READ_TOO_MANY_ROWS, READ_ROWS, 0);
    char *const place = read_name_place(r);
    read_add_name(r, place, csv_text(&r->csv.r, place, r->csv.r.text_length + 1));
    return READ_MORE;
}

static read_status field(read_state *r)
{
    read_csv *const c = &r->csv;
    const char *const text = (const char *)r->source + c->r.text_at;
    const size_t n = c->r.text_length;
    const int first_row = c->data_rows == 0;
    if (c->r.column == 1 && !first_row && c->first_is_name) return name(r);
    double x = 0;
    const lesson_number_status status = lesson_number_parse(text, n, &x, NULL);
    if (status != LESSON_NUMBER_OK) {
        if (!first_row) return bad_field(r, c->r.column, status, text, n);
        const int name_like = status == LESSON_NUMBER_JUNK && !like_a_number(text, n);
        if (c->r.column > 1 || !name_like || not_finite(text, n)) {
            keep_odd(c, status);
            c->some |= status != LESSON_NUMBER_EMPTY && (!name_like || not_finite(text, n));
            return READ_MORE;
        }
        c->first_is_name = 1;
        return name(r);
    }
    c->some = 1;
    if (c->numbers == READ_COLUMNS)
        return read_refuse(r, LESSON_W_READ_TOO_MANY_COLUMNS, c->r.row, READ_COLUMNS);
    if (r->cells == READ_CELLS) return read_refuse(r, LESSON_W_READ_TOO_MANY_CELLS, READ_CELLS, 0);
    r->cell[r->cells++] = x;
    c->numbers++;
    return READ_MORE;
}

/* The first row is complete: headings, or the row that all others must be like. */
static read_status first_row(read_state *r)
{
    read_csv *const c = &r->csv;
    if (!c->some && !r->header) {
        r->header = 1;
        r->names = 0;
        r->text_bytes = 0;
        r->cells = c->numbers = 0;
        c->first_is_name = c->odd = 0;
        return READ_MORE;
    }
    if (c->odd)
        return bad_field(r, c->odd_column, c->odd_status, (const char *)r->source + c->odd_at,
                         c->odd_bytes);
    if (c->numbers == 0) return read_refuse(r, LESSON_W_READ_NO_NUMBERS, c->r.row, 0);
    r->table[0].columns = c->numbers;
    c->data_rows = 1;
    return READ_MORE;
}

static read_status row_end(read_state *r)
{
    read_csv *const c = &r->csv;
    if (c->data_rows == 0) {
        const read_status status = first_row(r);
        c->numbers = 0;
        c->some = 0;
        return status;
    }
    const int64_t want = r->table[0].columns + c->first_is_name;
    if (c->r.column != want) {
        char number[LESSON_NUMBER_BYTES];
        const size_t n = lesson_number_integer(number, want);
        return read_refuse_text(r, LESSON_W_READ_RAGGED, c->r.row, c->r.column, number, n);
    }
    if (c->data_rows == READ_ROWS) return read_refuse(r, LESSON_W_READ_TOO_MANY_ROWS, READ_ROWS, 0);
    c->data_rows++;
    c->numbers = 0;
    return READ_MORE;
}

static read_status end(read_state *r)
{
    if (r->csv.data_rows == 0)
        return read_refuse(r, r->header ? LESSON_W_READ_HEADER_ONLY : LESSON_W_READ_EMPTY, 0, 0);
    r->table[0].heads = 1;
    r->table[0].rows = r->csv.data_rows;
    r->begin[0] = 0;
    r->given[0] = 1;
    return READ_DONE;
}

read_status read_csv_step(read_state *r, int64_t fields)
{
    read_csv *const c = &r->csv;
    while (fields-- > 0) {
        read_status status = READ_MORE;
        switch (csv_next(&c->r)) {
        case CSV_FIELD:
            status = field(r);
            break;
        case CSV_ROW_END:
            status = row_end(r);
            break;
        case CSV_END:
            return end(r);
        case CSV_ERROR:
            line_say_numbers(r->trouble, LESSON_W_READ_CLAUSE, c->r.row, c->r.column, c->r.error);
            return READ_REFUSED;
        }
        if (status != READ_MORE) return status;
    }
    return READ_MORE;
}
