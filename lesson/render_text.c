/* SPDX-License-Identifier: MIT */
/* render_text.c - the calculator for a terminal: caption, query, table with bars, worked line. No
 * line is wider than the face; what found no room is named in the last line.
 */
#include "lesson/worked.h"

enum { ROWS_AIRY = 8 }; /* up to so many keys there are blank lines between the parts */

static void color(const lesson_view *view, const char *code)
{
    if (view->face->color == 1) sink_text(view, code);
}

#define COLOR_OFF "\x1b[0m"
#define COLOR_Q "\x1b[34m"
#define COLOR_K "\x1b[33m"
#define COLOR_V "\x1b[36m"
#define COLOR_BOLD "\x1b[1m"

static void head(const lesson_view *view)
{
    lesson_line line;
    char stage[LESSON_NUMBER_BYTES];
    line_start(&line, view->face);
    lesson_number_integer(stage, view->in->stage);
    line_say(&line, LESSON_W_STAGE, stage, NULL, NULL);
    line_text(&line, " ");
    line_word(&line, lesson_caption(view->in));
    sink_wrapped(view, line.text, 0);
    if (view->in->temperature != 1 && view->in->stage >= 2) {
        lesson_line t;
        line_start(&t, view->face);
        line_exact(&t, view->in->temperature);
        line_start(&line, view->face);
        line_say(&line, LESSON_W_TEMPERATURE, t.text, NULL, NULL);
        sink_wrapped(view, line.text, 0);
    }
}

/* Returns how many numbers of the query are shown. */
static int64_t query(const lesson_view *view)
{
    lesson_line line;
    line_start(&line, view->face);
    const int64_t shown = line_query(&line, view, view->face->width);
    color(view, COLOR_Q);
    sink_wrapped(view, line.text, 2);
    color(view, COLOR_OFF);
    return shown;
}

static void mask(const lesson_view *view)
{
    lesson_line line;
    line_start(&line, view->face);
    line_mask(&line, view);
    if (line.n > 0) sink_wrapped(view, line.text, 2);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A bar of w on an axis of 0 to 1, in eighths of a column where there are such signs. */
static void bar(lesson_line *line, double w, int columns)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(w > 0)) return;
    const double filled = (w < 1 ? w : 1) * columns;
    if (!line->face->utf8) {
        for (int i = 0; i < (int)(filled + 0.5); i++) line_text(line, "#");
        return;
    }
    const int eighths = (int)(filled * 8 + 0.5);
    for (int i = 0; i < eighths / 8; i++) line_text(line, "█");
    line_text(line, part[eighths % 8]);
}

static const char *color_of(const lesson_view *view, int64_t i, int column)
{
    if (i >= 0 || view->face->color != 1) return NULL;
    return column == COLUMN_KEY ? COLOR_K : column == COLUMN_VALUE ? COLOR_V : COLOR_BOLD;
}

/* i < 0: the head. Blanks at the end are not written; returns the columns used. */
static int row(const lesson_view *view, const lesson_table *table, int64_t i)
{
    lesson_line cell;
    int start = 0, at = 0; /* where this column starts, where the text ends so far */
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if (c == COLUMN_KEY && table->channels_k == 0) continue;
        if (c == COLUMN_VALUE && table->channels_v == 0) continue;
        line_start(&cell, view->face);
        if (i < 0)
            table_head(&cell, view, (lesson_column)c);
        else
            table_cell(&cell, view, table, i, (lesson_column)c);
        const int used = line_columns(&cell);
        if (used > 0) {
            const int right = c >= COLUMN_SCORE && !(i < 0 && c == COLUMN_WEIGHT);
            const int from = start + (right ? table->width[c] - used : 0);
            const char *const code = color_of(view, i, c);
            sink_repeat(view, " ", from - at);
            if (code != NULL) sink_text(view, code);
            sink_text(view, cell.text);
            if (code != NULL) sink_text(view, COLOR_OFF);
            at = from + used;
        }
        start += table->width[c] + 2;
    }
    return at;
}

/* Where the bars start. */
static int bar_place(const lesson_table *table)
{
    int start = 0;
    for (int c = 0; c <= COLUMN_WEIGHT; c++) {
        if (c == COLUMN_KEY && table->channels_k == 0) continue;
        if (c == COLUMN_VALUE && table->channels_v == 0) continue;
        start += table->width[c] + (c < COLUMN_WEIGHT ? 2 : 1);
    }
    return start;
}

/* The bar, from stage 3 on; "hidden" at every stage, for it is the input's. `at`: columns used. */
static void bar_cell(const lesson_view *view, const lesson_table *table, int64_t i, int at)
{
    const lesson_input *const in = view->in;
    if (table->bar == 0 || i >= table->shown) return;
    lesson_line line;
    line_start(&line, view->face);
    if (!lesson_sees(in, in->token, table->key[i])) {
        if (table->bar >= 6) line_word(&line, LESSON_W_HIDDEN);
    } else if (in->stage >= 3) {
        bar(&line, view->stages->row_weight[table->key[i]], table->bar);
    }
    if (line.n == 0) return;
    sink_repeat(view, " ", bar_place(table) - at);
    sink_text(view, line.text);
}

static void rows(const lesson_view *view, const lesson_table *table)
{
    row(view, table, -1);
    sink_text(view, "\n");
    for (int64_t i = 0; i < table->shown + 2; i++) {
        if (i == table->shown && !table_has_others(view, table)) continue;
        if (i > table->shown && view->in->stage < 3) continue;
        const int at = row(view, table, i);
        bar_cell(view, table, i, at);
        sink_text(view, "\n");
    }
}

/* ---- what follows the table ------------------------------------------------------------------ */

/* "cat", or "cat and 2 more" when others have the same weight */
static void tied_keys(lesson_line *line, const lesson_view *view, int64_t key)
{
    const lesson_input *const in = view->in;
    const double *const w = view->stages->row_weight;
    int64_t tied = 0;
    for (int64_t j = 0; j < in->keys; j++)
        tied += j != key && lesson_sees(in, in->token, j) && w[j] == w[key];
    lesson_line name;
    char count[LESSON_NUMBER_BYTES];
    line_start(&name, view->face);
    line_key(&name, in, key, LESSON_NAME_COLUMNS);
    lesson_number_integer(count, tied);
    if (tied == 0)
        line_text(line, name.text);
    else
        line_say(line, LESSON_W_MOST_TIED, name.text, count, NULL);
}

static void conclusion(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const int64_t strongest = lesson_strongest(in, view->stages);
    if (strongest >= 0 && !lesson_finite(view->stages->row_weight[strongest])) return;
    lesson_line line, who, whom;
    line_start(&who, view->face);
    line_row(&who, in, in->token, LESSON_NAME_COLUMNS);
    line_start(&line, view->face);
    if (strongest < 0) {
        line_say(&line, LESSON_W_BLIND, who.text, NULL, NULL);
    } else {
        char w[LESSON_NUMBER_BYTES];
        line_start(&whom, view->face);
        tied_keys(&whom, view, strongest);
        lesson_number_show(w, view->stages->row_weight[strongest], view->face->digits,
                           lesson_flags(view->face, 0));
        line_say(&line, LESSON_W_MOST, who.text, whom.text, w);
    }
    sink_wrapped(view, line.text, 2);
}

/* Returns how many numbers are shown. */
static int64_t output(const lesson_view *view)
{
    lesson_line line;
    line_start(&line, view->face);
    const int64_t shown = line_output(&line, view, view->face->width);
    sink_wrapped(view, line.text, 2);
    return shown;
}

/* The worked line; returns how many numbers of the output are shown. */
static int64_t worked(const lesson_view *view, const lesson_table *table)
{
    const lesson_input *const in = view->in;
    /* below a long table the output's sum keeps to one line, so that a screen holds all */
    const int one_line = table->shown > ROWS_AIRY && in->stage == 4;
    const int limit = one_line ? view->face->width : 2 * view->face->width - 12;
    const lesson_worked how = {table->whole_score, table->whole_scaled, limit, table->at};
    const int blind = lesson_strongest(in, view->stages) < 0;
    lesson_line line;
    line_start(&line, view->face);
    if (in->focus.kind != FOCUS_NONE) {
        worked_focus(&line, view, &how, &in->focus);
        sink_wrapped(view, line.text, 2);
        return in->stage == 4 ? output(view) : in->d_v;
    }
    if (in->stage == 4) {
        if (blind) return output(view);
        const int all = worked_output(&line, view, &how);
        sink_wrapped(view, line.text, 2);
        return all ? in->d_v : output(view);
    }
    if (table->worked < 0) return in->d_v;
    worked_key(&line, view, &how, table->worked);
    sink_wrapped(view, line.text, 2);
    return in->d_v;
}

static void left_out(const lesson_view *view, const lesson_table *table, int64_t q, int64_t out)
{
    lesson_line line;
    line_start(&line, view->face);
    line_left_out(&line, view, table, q, out, view->face->width);
    if (line.n > 0) sink_wrapped(view, line.text, 2);
}

qkv_status lesson_text_table(const lesson_view *view)
{
    lesson_table table;
    const qkv_status status = table_make(&table, view, view->face->width);
    if (status != QKV_OK) return status;
    const char *const gap = table.shown <= ROWS_AIRY ? "\n" : "";
    head(view);
    sink_text(view, gap);
    const int64_t q = query(view);
    mask(view);
    sink_text(view, gap);
    rows(view, &table);
    sink_text(view, gap);
    if (view->in->stage >= 3) conclusion(view);
    const int64_t out = worked(view, &table);
    left_out(view, &table, q, out);
    return QKV_OK;
}
