/* SPDX-License-Identifier: MIT */
/* table.h - the calculator's table as text cells: which keys and how many channels are shown, what
 * stands in each cell, how wide each column is. The text face and the picture draw the same cells.
 *
 * A cell of a stage that is not reached is empty. The layout depends on the values of all stages,
 * so that nothing moves from one stage to the next.
 */
#ifndef QKV_LESSON_TABLE_H
#define QKV_LESSON_TABLE_H

#include "lesson/compose.h"

typedef enum lesson_column {
    COLUMN_TOKEN = 0,
    COLUMN_KEY = 1,
    COLUMN_VALUE = 2,
    COLUMN_SCORE = 3,
    COLUMN_SCALED = 4,
    COLUMN_WEIGHT = 5,
    LESSON_COLUMNS = 6
} lesson_column;

enum { LESSON_KEYS_SHOWN = 20 }; /* unless the reader chose a range */

typedef struct lesson_table {
    int64_t shown;
    int64_t *key;                   /* ascending, [shown] */
    int64_t *at;                    /* scratch for the worked line, [all keys] */
    int64_t others;                 /* keys that are not shown, of all the input's */
    double sum, others_weight;      /* of the token's row */
    int64_t channels_k, channels_v; /* 0: the column is left out */
    int32_t whole_k, whole_v, whole_score, whole_scaled;
    int32_t width[LESSON_COLUMNS]; /* of WEIGHT: the number */
    int32_t weight_head;           /* its head, which spans the bar too */
    int32_t bar;                   /* columns of the bar, 0: none */
    int64_t worked;                /* the key that the worked line speaks of, -1: none */
} lesson_table;

qkv_status table_make(lesson_table *table, const lesson_view *view, int width);
void table_head(lesson_line *line, const lesson_view *view, lesson_column column);
/* i: which of the keys shown; shown: the row of the others; shown + 1: the sum */
void table_cell(lesson_line *line, const lesson_view *view, const lesson_table *table, int64_t i,
                lesson_column column);
int table_has_others(const lesson_view *view, const lesson_table *table);
/* "÷ √dₖ" and its kin */
void line_scale(lesson_line *line, const lesson_input *in);

/* Under a mask, which keys the token's query does not see; nothing without one. */
void line_mask(lesson_line *line, const lesson_view *view);
/* "Query for sat = [1,2]" and "output = [1.68,0.53]" in so many columns; they return how many
 * numbers found room. */
int64_t line_query(lesson_line *line, const lesson_view *view, int columns);
int64_t line_output(lesson_line *line, const lesson_view *view, int columns);
/* What was left out of the table, of the query (q shown) and of the output; nothing when
 * nothing. In one line of so many columns, where it goes, without the hint of where all is. */
void line_left_out(lesson_line *line, const lesson_view *view, const lesson_table *table, int64_t q,
                   int64_t out, int columns);
/* The same for keys alone. */
void line_left_keys(lesson_line *line, int64_t shown, int64_t all, int columns);

/* ---- worked.c: the arithmetic in one line ---------------------------------------------------- */

typedef struct lesson_worked {
    int whole_score, whole_scaled; /* how the table shows the results */
    int limit;                     /* columns that the line may take */
    int64_t *at;                   /* scratch of all keys */
} lesson_worked;

/* "cat: 4 ÷ √2 = 2.83" for one key, of the input's stage 0 ... 3. */
void worked_key(lesson_line *line, const lesson_view *view, const lesson_worked *how, int64_t key);
/* "0.06·[1,0] + ... = [1.68,0.53]"; returns 0 when only the first channel found room. */
int worked_output(lesson_line *line, const lesson_view *view, const lesson_worked *how);

#endif /* QKV_LESSON_TABLE_H */
