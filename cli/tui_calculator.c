/* SPDX-License-Identifier: MIT */
/* tui_calculator.c - the calculator on the screen: who asks, the five stages, the caption, the query,
 * the table whose every number can have the cursor, and the worked line of that number.
 *
 * The cells are those of `qkv explain` (lesson/table.h), so the same state shows the same digits.
 * The caption keeps its lines free at every stage, and a column that is not reached is blank: from
 * stage to stage nothing moves.
 */
#include "cli/tui_app.h"
#include "lesson/worked.h"

#include <string.h>

enum { CAPTION_WORDS_WIDTH = 200 }; /* columns that the longest caption takes, about */
enum { TABLE_LEAST = 64 };          /* columns that the whole table needs */
enum { NARROW = 52 };               /* below this, only what a stage starts from and makes */

static tui_id cell_id(int kind, int64_t key, int64_t channel)
{
    return (tui_id){CONTROL_CELL, (int16_t)key, (int16_t)(kind * STATE_CHANNELS + channel)};
}

lesson_focus calculator_focus(tui_id id)
{
    return (lesson_focus){
        .kind = id.column / STATE_CHANNELS, .key = id.row, .channel = id.column % STATE_CHANNELS};
}

/* ---- rows of choices ------------------------------------------------------------------------- */

void token_row(tui_app *app, tui_doc *doc)
{
    lesson_line name;
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_ATTEND_FROM));
    doc_put(doc, TUI_NORMAL, " ");
    for (int64_t i = 0; i < app->in.rows; i++) {
        line_start(&name, &app->face);
        line_row(&name, &app->in, i, LESSON_NAME_COLUMNS);
        option(doc, (tui_id){CONTROL_TOKEN, 0, (int16_t)i}, TUI_NORMAL, i == app->in.token,
               name.text);
    }
    doc_line(doc);
}

static void stage_row(tui_app *app, tui_doc *doc)
{
    static const int32_t name[] = {LESSON_W_STAGE_0, LESSON_W_STAGE_1, LESSON_W_STAGE_2,
                                   LESSON_W_STAGE_3, LESSON_W_STAGE_4};
    for (int i = 0; i < TUI_STAGES; i++) {
        char label[64];
        snprintf(label, sizeof label, "%d %s", i, word_text(app, name[i]));
        option(doc, (tui_id){CONTROL_STAGE, 0, (int16_t)i}, TUI_NORMAL, i == app->state.stage,
               label);
    }
    doc_put(doc, TUI_NORMAL, "  ");
    if (app->state.stage > 0) {
        button(app, doc, (tui_id){CONTROL_STEP, 0, 0}, word_text(app, LESSON_W_BACK));
        doc_put(doc, TUI_NORMAL, " ");
    }
    if (app->state.stage < 4)
        button(app, doc, (tui_id){CONTROL_STEP, 0, 1}, word_text(app, LESSON_W_NEXT));
    doc_line(doc);
}

/* "Stage 2 of 4." and the caption, always as many lines as the longest needs. */
static void caption(tui_app *app, tui_doc *doc)
{
    lesson_line line;
    char stage[LESSON_NUMBER_BYTES];
    line_start(&line, &app->face);
    lesson_number_integer(stage, app->in.stage);
    line_say(&line, LESSON_W_STAGE, stage, NULL, NULL);
    line_text(&line, " ");
    line_word(&line, lesson_caption(&app->in));
    const int32_t before = doc->line_count;
    doc_wrapped(doc, TUI_NORMAL, line.text, 0, 0);
    const int keep = CAPTION_WORDS_WIDTH / doc->width + 1;
    while (doc->line_count - before < keep) doc_line(doc);
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct grid {
    tui_app *app;
    tui_doc *doc;
    const lesson_view *view;
    lesson_table table;
    int share, share_at; /* columns of w·V and where they start; 0: there is no room for it */
} grid;

static tui_style style_of(int column)
{
    return column == COLUMN_KEY ? TUI_K : column == COLUMN_VALUE ? TUI_V : TUI_NORMAL;
}

/* "[1,0]": each number is a target, brackets and commas are quiet. */
static void vector(const grid *g, tui_style style, int kind, int64_t key, const char *text)
{
    int64_t channel = 0;
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, "[], ");
        if (n == 0) {
            doc_put_n(g->doc, TUI_QUIET, p++, 1);
            continue;
        }
        char number[LESSON_NUMBER_BYTES];
        snprintf(number, sizeof number, "%.*s", (int)n, p);
        const bool digits = strpbrk(number, "0123456789") != NULL;
        if (digits)
            doc_target(g->doc, cell_id(kind, key, channel++), style, false, number);
        else
            doc_put(g->doc, TUI_QUIET, number);
        p += n;
    }
}

static int kind_of(int column, bool sum)
{
    static const int kinds[] = {0, FOCUS_KEY, FOCUS_VALUE, FOCUS_SCORE, FOCUS_SCALED, FOCUS_WEIGHT};
    return sum ? FOCUS_SUM : kinds[column];
}

/* Wide: all that the table has. Narrow: what the stage starts from, and what it makes. */
static bool column_shown(const grid *g, int column)
{
    static const bool narrow[TUI_STAGES][LESSON_COLUMNS] = {
        {true, true, true, false, false, false}, {true, true, false, true, false, false},
        {true, false, false, true, true, false}, {true, false, false, false, true, true},
        {true, false, true, false, false, true},
    };
    if (g->doc->width < NARROW) return narrow[g->view->in->stage][column];
    return (column != COLUMN_KEY || g->table.channels_k) &&
           (column != COLUMN_VALUE || g->table.channels_v);
}

/* "[1.62,0.00]": what one key adds to the output, as many numbers as its value shows; of the sum row
 * all of it. */
static void share_text(lesson_line *line, const grid *g, int64_t i)
{
    const lesson_input *const in = g->view->in;
    const lesson_stages *const s = g->view->stages;
    double x[STATE_CHANNELS];
    line_start(line, &g->app->face);
    if (in->d_v > STATE_CHANNELS || i == g->table.shown) return;
    const int64_t key = i < g->table.shown ? g->table.key[i] : 0;
    if (i < g->table.shown && !lesson_sees(in, in->token, key)) return;
    for (int64_t c = 0; c < in->d_v; c++)
        x[c] = i < g->table.shown ? s->row_weight[key] * in->v[key * in->d_v + c] : s->row_out[c];
    line_vector(line, x, in->d_v, g->table.channels_v, 0);
}

static int share_width(const grid *g)
{
    lesson_line line;
    int width = 0;
    for (int64_t i = 0; i < g->table.shown + 2 && g->table.channels_v > 0; i++) {
        share_text(&line, g, i);
        const int columns = line_columns(&line);
        if (columns > width) width = columns;
    }
    return width;
}

static void share_cell(const grid *g, int64_t i)
{
    lesson_line line;
    if (g->share == 0 || g->view->in->stage < 4) return;
    share_text(&line, g, i);
    if (line.n == 0) return;
    doc_to(g->doc, g->share_at + g->share - line_columns(&line));
    if (i < g->table.shown)
        vector(g, TUI_NORMAL, FOCUS_SHARE, g->table.key[i], line.text);
    else
        doc_put(g->doc, TUI_STRONG, line.text);
}

static void share_head(const grid *g)
{
    lesson_line line;
    if (g->share == 0) return;
    line_start(&line, &g->app->face);
    line_word(&line, LESSON_W_HEAD_SHARE);
    doc_to(g->doc, g->share_at + g->share - line_columns(&line));
    doc_put(g->doc, g->view->in->stage == 4 ? TUI_STRONG : TUI_QUIET, line.text);
}

static void head(const grid *g)
{
    lesson_line cell;
    int start = 0;
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if (!column_shown(g, c)) continue;
        line_start(&cell, &g->app->face);
        table_head(&cell, g->view, (lesson_column)c);
        const bool right = c >= COLUMN_SCORE && c != COLUMN_WEIGHT;
        doc_to(g->doc, start + (right ? g->table.width[c] - line_columns(&cell) : 0));
        const bool now = c == COLUMN_SCORE + g->view->in->stage - 1;
        doc_put(g->doc,
                c == COLUMN_KEY || c == COLUMN_VALUE ? style_of(c)
                : now                                ? TUI_STRONG
                                                     : TUI_QUIET,
                cell.text);
        start += g->table.width[c] + 2;
    }
    share_head(g);
    doc_line(g->doc);
}

static void cell(const grid *g, int64_t i, int column, const char *text)
{
    const lesson_table *const t = &g->table;
    const bool plain = column == COLUMN_TOKEN || i == t->shown;
    const int64_t key = i < t->shown ? t->key[i] : 0;
    if (plain) {
        doc_put(g->doc, column == COLUMN_TOKEN && i > t->shown ? TUI_QUIET : TUI_NORMAL, text);
    } else if (column == COLUMN_KEY || column == COLUMN_VALUE) {
        vector(g, style_of(column), kind_of(column, false), key, text);
    } else {
        const bool minus =
            column <= COLUMN_SCALED && (text[0] == '-' || (unsigned char)text[0] > 127);
        doc_target(g->doc, cell_id(kind_of(column, i > t->shown), key, 0),
                   minus ? TUI_MINUS : TUI_NORMAL, false, text);
    }
}

/* A bar of w on an axis of 0 to 1, in eighths of a column where there are such signs. */
static void bar(tui_doc *doc, double w, int columns)
{
    static const char *const part[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(w > 0)) return;
    const double filled = (w < 1 ? w : 1) * columns;
    if (!doc->face->utf8) {
        for (int i = 0; i < (int)(filled + 0.5); i++) doc_put(doc, TUI_NORMAL, "#");
        return;
    }
    const int eighths = (int)(filled * 8 + 0.5);
    for (int i = 0; i < eighths / 8; i++) doc_put(doc, TUI_NORMAL, "█");
    doc_put(doc, TUI_NORMAL, part[eighths % 8]);
}

static void bar_cell(const grid *g, int64_t i, int start)
{
    const lesson_input *const in = g->view->in;
    if (g->table.bar == 0 || i >= g->table.shown) return;
    doc_to(g->doc, start);
    if (!lesson_sees(in, in->token, g->table.key[i])) {
        if (g->table.bar >= 6) doc_put(g->doc, TUI_QUIET, word_text(g->app, LESSON_W_HIDDEN));
    } else if (in->stage >= 3) {
        bar(g->doc, g->view->stages->row_weight[g->table.key[i]], g->table.bar);
    }
}

static void row(const grid *g, int64_t i)
{
    lesson_line text;
    int start = 0;
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if (!column_shown(g, c)) continue;
        line_start(&text, &g->app->face);
        table_cell(&text, g->view, &g->table, i, (lesson_column)c);
        if (text.n > 0) {
            const bool right = c >= COLUMN_SCORE;
            doc_to(g->doc, start + (right ? g->table.width[c] - line_columns(&text) : 0));
            cell(g, i, c, text.text);
        }
        start += g->table.width[c] + 2;
    }
    bar_cell(g, i, start - 1);
    share_cell(g, i);
    doc_line(g->doc);
}

static void rows(const grid *g)
{
    head(g);
    for (int64_t i = 0; i < g->table.shown + 2; i++) {
        if (i == g->table.shown && !table_has_others(g->view, &g->table)) continue;
        if (i > g->table.shown && g->view->in->stage < 3) {
            doc_line(g->doc); /* its place is kept */
            continue;
        }
        row(g, i);
    }
}

/* ---- what stands above and below ------------------------------------------------------------- */

/* "Query for sat = [1,2]", its numbers as targets. */
static void query(const grid *g)
{
    lesson_line line;
    line_start(&line, &g->app->face);
    line_query(&line, g->view, g->doc->width);
    const char *const bracket = strrchr(line.text, '[');
    if (!bracket) {
        doc_wrapped(g->doc, TUI_Q, line.text, 0, 0);
        return;
    }
    doc_put_n(g->doc, TUI_Q, line.text, (size_t)(bracket - line.text));
    const char *const end = strchr(bracket, ']');
    if (end && end[1]) { /* "(set by you)" follows */
        char inner[LESSON_LINE_BYTES];
        snprintf(inner, sizeof inner, "%.*s", (int)(end - bracket + 1), bracket);
        vector(g, TUI_Q, FOCUS_QUERY, 0, inner);
        doc_put(g->doc, TUI_QUIET, end + 1);
    } else {
        vector(g, TUI_Q, FOCUS_QUERY, 0, bracket);
    }
    doc_line(g->doc);
    line_start(&line, &g->app->face);
    line_mask(&line, g->view);
    if (line.n > 0) doc_wrapped(g->doc, TUI_QUIET, line.text, 0, 0);
}

/* "output = [1.68,0.53]" */
static void output(const grid *g)
{
    if (g->view->in->stage < 4) return;
    lesson_line line;
    line_start(&line, &g->app->face);
    line_output(&line, g->view, g->doc->width);
    const char *const bracket = strchr(line.text, '[');
    if (!bracket) return;
    doc_put_n(g->doc, TUI_STRONG, line.text, (size_t)(bracket - line.text));
    vector(g, TUI_STRONG, FOCUS_OUTPUT, 0, bracket);
    doc_line(g->doc);
}

/* The arithmetic of the number under the cursor, else of the stage's own choice. */
static void worked(const grid *g)
{
    lesson_line line;
    lesson_face face = g->app->face;
    lesson_view view = *g->view;
    const lesson_worked how = {g->table.whole_score, g->table.whole_scaled, 3 * g->doc->width - 8,
                               g->table.at};
    const int lines = g->doc->width >= 70 ? 2 : 3;
    const int32_t before = g->doc->line_count;
    face.color = LESSON_MARKS;
    view.face = &face;
    line_start(&line, &face);
    worked_focus(&line, &view, &how, &g->app->state.focus);
    put_line(g->doc, &line);
    while (g->doc->line_count - before < lines) doc_line(g->doc);
    lesson_line odd;
    line_start(&odd, &g->app->face);
    worked_odd(&odd, &view, &line);
    if (odd.n > 0) doc_wrapped(g->doc, TUI_NORMAL, odd.text, 0, 0);
}

/* ---- predictions ----------------------------------------------------------------------------- */

static const char *prediction_answer(tui_app *app, const course_prediction *p, int i)
{
    if (p->answers > 0) return word_text(app, p->answer[i]);
    lesson_line name;
    line_start(&name, &app->face);
    line_key(&name, &app->in, i, LESSON_NAME_COLUMNS);
    return own(app, name.text);
}

/* The guess before the next stage; it never holds anybody up. */
static void prediction(tui_app *app, tui_doc *doc)
{
    const int stage = app->state.stage + 1;
    const course_prediction *const p = stage <= 4 ? lesson_prediction(stage) : NULL;
    if (!p || app->in.keys > 8) return;
    const int answers = p->answers > 0 ? p->answers : (int)app->in.keys;
    const int given = app->predicted[stage];
    say_with(app, doc, TUI_QUIET, p->question, NULL, NULL, NULL);
    for (int i = 0; i < answers; i++)
        option(doc, (tui_id){CONTROL_PREDICT, (int16_t)stage, (int16_t)i}, TUI_NORMAL, i == given,
               prediction_answer(app, p, i));
    doc_line(doc);
    if (given < 0) return;
    const int64_t right = lesson_prediction_right(stage, &app->in, &app->stages);
    if (right < 0) return;
    say_with(app, doc, TUI_STRONG, given == right ? LESSON_W_PREDICT_RIGHT : LESSON_W_PREDICT_WRONG,
             prediction_answer(app, p, (int)right), NULL, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* At the right end where the bar keeps eight columns; in the narrow table, which has other columns at
 * every stage, at the last stage and without a bar. */
static void place_share(grid *g, int used)
{
    enum { BAR_LEAST = 8 };
    const bool narrow = g->doc->width < NARROW;
    const int width = narrow && g->view->in->stage < 4 ? 0 : share_width(g);
    const int at = g->doc->width - width;
    g->share = g->share_at = 0;
    if (width == 0 || at < used + (narrow ? 0 : BAR_LEAST + 2)) return;
    g->share = width;
    g->share_at = narrow ? used : at;
}

static bool start_grid(grid *g, lesson_view *view, const lesson_sink *sink)
{
    tui_app *const app = g->app;
    app->face.width = g->doc->width;
    *view = (lesson_view){&app->in, &app->stages, &app->face, sink, &app->picture.memory};
    g->view = view;
    const int width = g->doc->width < TABLE_LEAST ? TABLE_LEAST : g->doc->width;
    if (table_make(&g->table, view, width) == QKV_OK) {
        int used = 0;
        for (int c = 0; c < LESSON_COLUMNS; c++)
            if (column_shown(g, c)) used += g->table.width[c] + 2;
        place_share(g, used);
        const int room = (g->share ? g->share_at - 2 : g->doc->width) - used;
        if (g->table.bar > room) g->table.bar = room > 0 ? room : 0;
        return true;
    }
    doc_wrapped(g->doc, TUI_ALARM, "There is no memory to show this figure.", 0, 0);
    return false;
}

static void table_and_work(const grid *g)
{
    query(g);
    doc_gap(g->doc);
    rows(g);
    output(g);
    doc_gap(g->doc);
    worked(g);
}

void calculator_table(tui_app *app, tui_doc *doc)
{
    const lesson_sink none = {NULL, NULL};
    lesson_view view;
    grid g = {.app = app, .doc = doc};
    if (app->computed && start_grid(&g, &view, &none)) table_and_work(&g);
}

void calculator_write(tui_app *app, tui_doc *doc)
{
    const lesson_sink none = {NULL, NULL};
    lesson_view view;
    grid g = {.app = app, .doc = doc};
    if (!start_grid(&g, &view, &none)) return;
    token_row(app, doc);
    stage_row(app, doc);
    caption(app, doc);
    table_and_work(&g);
    prediction(app, doc);
}
