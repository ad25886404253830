/* SPDX-License-Identifier: MIT */
/* read_npy.c - a .npy file as a table: [row][number], [head][row][number], or with one axis of
 * length 1 before these. Any of the float types, byte orders and axis orders that npy.h knows.
 */
#include "files/parse/convert.h"
#include "page/read_parts.h"

static read_status cut(read_state *r, int64_t need)
{
    return read_refuse(r, LESSON_W_READ_NPY_CUT, (int64_t)r->length, need);
}

static read_status check(read_state *r, const npy_header *h)
{
    const int64_t whole = h->data_offset + h->data_bytes;
    if (h->type == NPY_B1) return read_refuse(r, LESSON_W_READ_NPY_BOOL, 0, 0);
    if (h->rank < 2 || h->rank > 4) return read_refuse(r, LESSON_W_READ_NPY_RANK, h->rank, 0);
    if (h->rank == 4 && h->dim[0] != 1)
        return read_refuse(r, LESSON_W_READ_NPY_BATCH, h->dim[0], 0);
    if (h->elems == 0) return read_refuse(r, LESSON_W_READ_NPY_EMPTY, 0, 0);
    read_table *const t = &r->table[0];
    t->columns = h->dim[h->rank - 1];
    t->rows = h->dim[h->rank - 2];
    t->heads = h->rank > 2 ? h->dim[h->rank - 3] : 1;
    if (t->rows > READ_ROWS) return read_refuse(r, LESSON_W_READ_TOO_MANY_ROWS, READ_ROWS, 0);
    if (t->columns > READ_COLUMNS)
        return read_refuse(r, LESSON_W_READ_TOO_MANY_COLUMNS, 1, READ_COLUMNS);
    if (t->heads > READ_HEADS) return read_refuse(r, LESSON_W_READ_TOO_MANY_HEADS, READ_HEADS, 0);
    if (h->elems > READ_CELLS) return read_refuse(r, LESSON_W_READ_TOO_MANY_CELLS, READ_CELLS, 0);
    if (whole > (int64_t)r->length) return cut(r, whole);
    if (whole < (int64_t)r->length)
        return read_refuse(r, LESSON_W_READ_NPY_LONG, (int64_t)r->length, whole);
    return READ_DONE;
}

static read_status check_finite(read_state *r, const read_table *t)
{
    for (int64_t i = 0; i < r->cells; i++) {
        const double x = r->cell[i];
        if (lesson_finite(x)) continue;
        const int64_t column = i % t->columns + 1, row = i / t->columns % t->rows + 1;
        const char *const what = x != x ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
        if (t->heads == 1)
            return read_refuse_text(r, LESSON_W_READ_NPY_FINITE, row, column, what,
                                    x != x  ? 3
                                    : x > 0 ? 8
                                            : 9);
        char number[LESSON_NUMBER_BYTES];
        const size_t n = lesson_number_integer(number, column);
        return read_refuse_text(r, LESSON_W_READ_NPY_FINITE_HEAD, i / t->columns / t->rows + 1, row,
                                number, n);
    }
    return READ_DONE;
}

read_status read_npy_all(read_state *r)
{
    npy_header h;
    npy_error err;
    const npy_status status = npy_parse(r->source, r->length, &h, &err);
    if (status == NPY_MORE) return cut(r, err.need);
    if (status == NPY_BAD) {
        char raw[512], text[1024];
        const size_t n = npy_error_text(raw, sizeof raw, r->source, &err);
        r->trouble->face->safe(text, sizeof text, raw, n, 0);
        line_say(r->trouble, LESSON_W_READ_NPY, text, NULL, NULL);
        return READ_REFUSED;
    }
    const read_status checked = check(r, &h);
    if (checked != READ_DONE) return checked;
    convert_window all;
    all.rank = h.rank;
    for (int32_t i = 0; i < h.rank; i++) {
        all.begin[i] = 0;
        all.count[i] = h.dim[i];
    }
    convert_piece(r->cell, &all, &h, 0, h.elems, r->source + h.data_offset);
    r->cells = h.elems;
    if (convert_type(h.type) == NPY_F4) { /* from the last on: a double covers two floats */
        typedef float any_float __attribute__((may_alias));
        const any_float *const narrow = (const any_float *)(const void *)r->cell;
        for (int64_t i = h.elems - 1; i >= 0; i--) {
            const float x = narrow[i];
            r->cell[i] = (double)x;
        }
    }
    r->begin[0] = 0;
    r->given[0] = 1;
    return check_finite(r, &r->table[0]);
}
