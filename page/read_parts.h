/* SPDX-License-Identifier: MIT */
/* read_parts.h - what the three readers behind read_table.h share: the block's layout and how a
 * refusal is worded. Numbers are appended to `cell`, names to `text`; both have room for all that a
 * source of this length can hold, so that no append needs a check but those of the limits.
 */
#ifndef QKV_PAGE_READ_PARTS_H
#define QKV_PAGE_READ_PARTS_H

#include "files/parse/npy.h"
#include "page/read_table.h"

typedef enum read_kind { READ_AS_TEXT = 0, READ_AS_JSON = 1, READ_AS_NPY = 2 } read_kind;

/* One table as text. */
typedef struct read_csv {
    csv_reader r;
    int64_t numbers;       /* of the present row */
    int64_t data_rows;     /* rows of numbers that are complete */
    int32_t first_is_name; /* known from the first row of numbers on */
    int32_t odd;           /* the first row: a field that is no number, beyond column 1 */
    int32_t some;          /* the first row: a field that is one */
    lesson_number_status odd_status;
    int64_t odd_column;
    size_t odd_at, odd_bytes; /* in the source */
} read_csv;

typedef struct read_json {
    json_reader r;
    int32_t into;               /* 0, 1, 2: a table; READ_INTO_NAMES, _NOTHING, _KEY */
    int32_t base;               /* depth around the value that is read */
    int32_t leaf;               /* depth of numbers below base: 2 or 3, 0: not known yet */
    int64_t numbers, row, head; /* of the present row; complete rows of the head, and heads */
    int64_t named;              /* 1: the present row began with its name */
    int64_t first;              /* cell where the table starts */
} read_json;

struct read_state {
    unsigned char *source;
    size_t length;
    double *cell;
    int64_t cells;
    char *text;
    size_t text_bytes;
    read_table table[3];
    int64_t begin[3]; /* cell where each starts */
    int32_t kind, alone, header, given[3];
    int64_t names;
    read_name name[READ_ROWS];
    read_csv csv;
    read_json json;
    lesson_line *trouble;
};

/* The sentence; the status is for the caller to return. */
read_status read_refuse(read_state *r, lesson_word word, int64_t a, int64_t b);
read_status read_refuse_text(read_state *r, lesson_word word, int64_t a, int64_t b,
                             const char *text, size_t bytes);
read_status read_refuse_clause(read_state *r, lesson_word word, int64_t a, const char *clause);
/* Takes the bytes as the next row's name. */
void read_add_name(read_state *r, const char *text, size_t bytes);
char *read_name_place(read_state *r);

read_status read_csv_step(read_state *r, int64_t fields);
read_status read_json_step(read_state *r, int64_t events);
read_status read_npy_all(read_state *r);

#endif /* QKV_PAGE_READ_PARTS_H */
