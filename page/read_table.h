/* SPDX-License-Identifier: MIT */
/* read_table.h - the reader's own numbers, pasted or opened: a table as text (CSV and its kin), JSON
 * or a .npy file, as float64 in memory. Finite numbers only; every refusal is one sentence with the
 * row, the column and what was expected there.
 *
 * The reading is cut in pieces, so that a table of a million cells never holds the page up. All
 * memory is one block that the caller gives; nothing outside of it is written.
 */
#ifndef QKV_PAGE_READ_TABLE_H
#define QKV_PAGE_READ_TABLE_H

#include "files/parse/csv.h"
#include "files/parse/json.h"
#include "lesson/compose.h"

enum {
    READ_ROWS = 2048,    /* tokens, at most */
    READ_COLUMNS = 1024, /* numbers a row */
    READ_HEADS = 64,
    READ_CELLS = 2097152, /* numbers of a table, all heads together */
    READ_BYTES = 67108864 /* of a source */
};

typedef enum read_status { READ_MORE = 0, READ_DONE = 1, READ_REFUSED = 2 } read_status;

typedef struct read_table {
    int64_t heads, rows, columns;
    const double *x; /* [heads][rows][columns] */
} read_table;

typedef struct read_name {
    size_t at, bytes; /* in `text` */
} read_name;

typedef struct read_state read_state;

/* Bytes of the block for a source of that length; 0 when it is too long. */
size_t read_room(size_t length);
/* Copies the source into the block. */
read_state *read_begin(void *block, const void *source, size_t length);
/* Reads on: about so many fields. */
read_status read_step(read_state *r, int64_t fields, lesson_line *trouble);
/* How much is read, 0 ... 100. */
int read_percent(const read_state *r);

/* After READ_DONE: which = 0, 1, 2: Q, K, V of an object; a table that stands alone is 0 and
 * read_alone() is true. NULL: not given. */
int read_alone(const read_state *r);
const read_table *read_found(const read_state *r, int which);
/* How many names there are: 0, or as many as rows. */
int64_t read_names(const read_state *r);
lesson_name read_name_of(const read_state *r, int64_t row);
int read_header(const read_state *r); /* a row of headings was passed over */

#endif /* QKV_PAGE_READ_TABLE_H */
