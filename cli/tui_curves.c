/* SPDX-License-Identifier: MIT */
/* tui_curves.c - the figures after the calculator: the output along a line of queries, as a pick and as
 * a blend; and the samples that show why scores are divided by the square root of d_k.
 *
 * Values and lines are lesson/figures.h's; only where a mark stands is worked out here.
 */
#include "cli/tui_app.h"
#include "lesson/figures.h"

#include <string.h>

/* ---- the blend ------------------------------------------------------------------------------- */

enum { BLEND_MOST = 41, BLEND_NARROW = 33, BLEND_ROWS = 8, BLEND_LEFT = 5 };

static void blend_lines(tui_app *app, tui_doc *doc, const blend_point *now, const blend_point *next)
{
    lesson_line line;
    static const int32_t word[2] = {LESSON_W_PICK, LESSON_W_BLEND};
    for (int which = 0; which < 2; which++) {
        line_start(&line, &app->face);
        line_text(&line, word_text(app, word[which]));
        line_text(&line, which ? " " : "  ");
        line_blend_output(&line, now, which);
        put_line(doc, &line);
    }
    if (!app->nudged && !app->plain) {
        doc_line(doc);
        doc_line(doc);
        return;
    }
    line_start(&line, &app->face);
    line_blend_nudge(&line, now, next);
    put_line(doc, &line);
    line_start(&line, &app->face);
    line_blend_works(&line, now, next);
    put_line(doc, &line);
}

/* One row of the graph: the blend's dots, the pick's dashes, a line where the query is now. */
static void graph_row(tui_app *app, tui_doc *doc, const blend_point *points, int stops, int row,
                      double step, int now)
{
    const bool utf8 = app->face.utf8;
    for (int i = 0; i < stops; i++) {
        const bool is_blend = (int)(points[i].blend[0] / step + 0.5) == row;
        const bool is_pick = (int)(points[i].pick[0] / step + 0.5) == row;
        if (is_blend)
            doc_put(doc, i == now ? TUI_STRONG : TUI_V, utf8 ? "●" : "*");
        else if (is_pick)
            doc_put(doc, i == now ? TUI_STRONG : TUI_NORMAL, utf8 ? "━" : "=");
        else
            doc_put(doc, TUI_QUIET, i == now ? (utf8 ? "┊" : ":") : " ");
    }
}

static void graph(tui_app *app, tui_doc *doc, const blend_point *points, int stops, int now)
{
    double high = 1;
    for (int i = 0; i < stops; i++)
        if (points[i].pick[0] > high) high = points[i].pick[0];
    for (int row = BLEND_ROWS - 1; row >= 0; row--) {
        if (row == BLEND_ROWS - 1 || row == 0) doc_put(doc, TUI_QUIET, exact(app, row ? high : 0));
        doc_to(doc, BLEND_LEFT);
        graph_row(app, doc, points, stops, row, high / (BLEND_ROWS - 1), now);
        doc_line(doc);
    }
}

static void blend_legend(tui_app *app, tui_doc *doc)
{
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_BLEND_AXIS));
    doc_put(doc, TUI_QUIET, ":");
    if (doc->width < 48) doc_line(doc);
    doc_put(doc, TUI_NORMAL, "  ");
    doc_put(doc, TUI_NORMAL, app->face.utf8 ? "━ " : "= ");
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_PICK));
    doc_put(doc, TUI_V, app->face.utf8 ? "  ● " : "  * ");
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_BLEND));
    doc_line(doc);
}

static void blend_plain(tui_app *app, tui_doc *doc)
{
    static const double x[5] = {0, 0.5, 1, 1.5, 2};
    blend_point points[5];
    if (blend_points(points, x, 5, &app->picture.memory) != QKV_OK) return;
    for (int i = 0; i < 5; i++) {
        lesson_line line;
        line_start(&line, &app->face);
        line_text(&line, "q = ");
        line_blend_query(&line, x[i]);
        line_text(&line, ": ");
        line_text(&line, word_text(app, LESSON_W_PICK));
        line_text(&line, " ");
        line_blend_output(&line, &points[i], 0);
        line_text(&line, ", ");
        line_text(&line, word_text(app, LESSON_W_BLEND));
        line_text(&line, " ");
        line_blend_output(&line, &points[i], 1);
        put_line(doc, &line);
    }
}

static void blend(tui_app *app, tui_doc *doc)
{
    const int stops = doc->width >= BLEND_LEFT + BLEND_MOST ? BLEND_MOST : BLEND_NARROW;
    double x[BLEND_MOST + 2];
    blend_point points[BLEND_MOST + 2];
    for (int i = 0; i < stops; i++) x[i] = BLEND_TO * i / (stops - 1);
    x[stops] = app->state.blend;
    x[stops + 1] = blend_nudged(app->state.blend);
    if (blend_points(points, x, stops + 2, &app->picture.memory) != QKV_OK) return;
    const blend_point *const now = &points[stops];
    if (app->plain) {
        blend_plain(app, doc);
        blend_lines(app, doc, now, now + 1);
        return;
    }
    const int stop = (int)(app->state.blend / BLEND_TO * (stops - 1) + 0.5);
    lesson_line line;
    blend_legend(app, doc);
    graph(app, doc, points, stops, stop);
    doc_to(doc, BLEND_LEFT - 1);
    slider(app, doc, (tui_id){CONTROL_BLEND, 0, 0}, "", "", stop, stops);
    doc_line(doc);
    doc_put(doc, TUI_Q, "q = ");
    line_start(&line, &app->face);
    line_blend_query(&line, app->state.blend);
    doc_put(doc, TUI_Q, line.text);
    doc_put(doc, TUI_NORMAL, "  ");
    button(app, doc, (tui_id){CONTROL_NUDGE, 0, 0}, word_text(app, LESSON_W_BLEND_NUDGE_BUTTON));
    doc_line(doc);
    blend_lines(app, doc, now, now + 1);
}

/* A stop of the slider is 0.05; twentieths, so that 1.3 stays 1.3. */
static bool act_blend(tui_app *app, int by)
{
    const int twentieth = (int)(app->state.blend * 20 + 0.5) + by;
    if (twentieth < 0 || twentieth > 40) return false;
    app->state.blend = (double)twentieth / 20;
    app->nudged = false;
    return true;
}

/* ---- the samples ----------------------------------------------------------------------------- */

enum { BARS_ROWS = 5, ROW_ROWS = 3 };

static const int channel_stops[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
enum { CHANNEL_STOPS = sizeof channel_stops / sizeof channel_stops[0] };

static int channel_stop(int channels)
{
    int stop = 0;
    while (stop + 1 < CHANNEL_STOPS && channel_stops[stop + 1] <= channels) stop++;
    return stop;
}

/* The sign of a column that is filled to `part` of a row, from below. */
static const char *fill(bool utf8, double part)
{
    static const char *const eighth[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (!utf8) return part >= 0.5 ? "#" : " ";
    const int n = (int)(part * 8 + 0.5);
    return eighth[n < 0 ? 0 : n > 8 ? 8 : n];
}

/* Bars of these heights (0 ... 1), one column each, row by row from the top. */
static void bars_row(const tui_app *app, tui_doc *doc, const double *height, int n, int row,
                     int rows)
{
    for (int i = 0; i < n; i++)
        doc_put(doc, TUI_NORMAL, fill(app->face.utf8, height[i] * rows - row));
}

typedef struct columns_of_bins {
    double height[ROOT_BINS];
    int count, each; /* columns; bins in each */
    int first;       /* of the bins */
} columns_of_bins;

static columns_of_bins gather(const root_figure *figure, int width)
{
    columns_of_bins c = {.each = width >= 64 ? 1 : 2};
    c.count = width < ROOT_BINS / c.each ? width : ROOT_BINS / c.each;
    c.first = (ROOT_BINS - c.count * c.each) / 2;
    double most = 1;
    for (int i = 0; i < c.count; i++) {
        for (int b = 0; b < c.each; b++) c.height[i] += figure->bin[c.first + i * c.each + b];
        if (c.height[i] > most) most = c.height[i];
    }
    for (int i = 0; i < c.count; i++) c.height[i] /= most;
    return c;
}

/* "−8", "2.83": the ends of the bracket. */
static const char *exact_root(tui_app *app, const root_figure *figure, int sign)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_number(&line, sign * figure->root, LESSON_KEEP_INTEGER);
    return keep(app, line.text);
}

/* The axis with a bracket from -sqrt(d_k) to sqrt(d_k), and its three numbers. */
static void axis(tui_app *app, tui_doc *doc, const root_figure *figure, const columns_of_bins *c)
{
    const bool utf8 = app->face.utf8;
    int at[3];
    for (int i = 0; i < 3; i++)
        at[i] = (int)((figure->root * (i - 1) - ROOT_LOW - c->first) / c->each);
    for (int i = 0; i < c->count; i++) {
        const bool inside = i >= at[0] && i <= at[2];
        if (i == at[0] || i == at[2])
            doc_put(doc, TUI_STRONG, utf8 ? (i == at[0] ? "└" : "┘") : "+");
        else
            doc_put(doc, inside ? TUI_STRONG : TUI_QUIET, utf8 ? "─" : inside ? "=" : "-");
    }
    doc_line(doc);
    const char *const label[3] = {exact_root(app, figure, -1), "0", exact_root(app, figure, 1)};
    for (int i = 0; i < 3; i++) {
        const int columns = tui_columns(label[i], strlen(label[i]));
        const int left = at[i] - columns / 2;
        if (i != 1 || at[2] - at[0] >= 14) {
            doc_to(doc, left > 0 ? left : 0);
            doc_put(doc, TUI_QUIET, label[i]);
        }
    }
    doc_line(doc);
}

/* One sampled row: its label with the largest weight, and its bars. */
static void row_of(tui_app *app, tui_doc *doc, const root_row *row, int word)
{
    doc_put(doc, TUI_QUIET, word_text(app, word));
    doc_put(doc, TUI_NORMAL, "  ");
    doc_put(doc, TUI_NORMAL, shown(app, row->most));
    doc_line(doc);
    for (int r = ROW_ROWS - 1; r >= 0; r--) {
        bars_row(app, doc, row->weight, ROOT_ROW_KEYS, r, ROW_ROWS);
        doc_line(doc);
    }
}

/* Both, side by side where that fits. */
static void both_rows(tui_app *app, tui_doc *doc, const root_figure *figure)
{
    if (doc->width < 56) {
        row_of(app, doc, &figure->plain, LESSON_W_ROOT_PLAIN);
        row_of(app, doc, &figure->scaled, LESSON_W_ROOT_SCALED);
        return;
    }
    tui_doc left, right;
    doc_start(&left, doc->pool, doc->face, 28);
    doc_start(&right, doc->pool, doc->face, 28);
    row_of(app, &left, &figure->plain, LESSON_W_ROOT_PLAIN);
    row_of(app, &right, &figure->scaled, LESSON_W_ROOT_SCALED);
    for (int i = 0; i <= ROW_ROWS; i++) {
        doc_copy_line(doc, &left, i, 0);
        doc_copy_line(doc, &right, i, 30);
        doc_line(doc);
    }
}

static void said(tui_app *app, tui_doc *doc, const root_figure *figure,
                 void (*line_of)(lesson_line *, const root_figure *))
{
    lesson_line line;
    line_start(&line, &app->face);
    line_of(&line, figure);
    put_line(doc, &line);
}

static void channels_row(tui_app *app, tui_doc *doc)
{
    char label[64];
    snprintf(label, sizeof label, "%s ", word_text(app, LESSON_W_ROOT_CHANNELS));
    doc_put(doc, TUI_NORMAL, label);
    doc_put(doc, TUI_STRONG, exact(app, app->state.root_channels));
    if (doc->width < 56) doc_line(doc);
    slider(app, doc, (tui_id){CONTROL_CHANNELS, 0, 0}, doc->column ? "  1" : "1", "256",
           channel_stop(app->state.root_channels), CHANNEL_STOPS);
    doc_line(doc);
}

static void root(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    root_figure figure;
    if (root_sample(&figure, s->root_channels, s->root_seed, s->root_times, &app->picture.memory) !=
        QKV_OK)
        return;
    if (!app->plain) {
        channels_row(app, doc);
        const columns_of_bins c = gather(&figure, doc->width);
        for (int row = BARS_ROWS - 1; row >= 0; row--) {
            bars_row(app, doc, c.height, c.count, row, BARS_ROWS);
            doc_line(doc);
        }
        axis(app, doc, &figure, &c);
    }
    said(app, doc, &figure, line_root_spread);
    said(app, doc, &figure, line_root_stuck);
    if (!app->plain) both_rows(app, doc, &figure);
    said(app, doc, &figure, line_root_moved);
    said(app, doc, &figure, line_root_work);
    if (app->plain) return;
    button(app, doc, (tui_id){CONTROL_SAMPLE, 0, 0}, word_text(app, LESSON_W_ROOT_NUDGE_BUTTON));
    doc_put(doc, TUI_NORMAL, " ");
    button(app, doc, (tui_id){CONTROL_SAMPLE, 0, 1}, word_text(app, LESSON_W_ROOT_SAMPLE_BUTTON));
    doc_line(doc);
}

static bool act_channels(tui_app *app, int by)
{
    const int stop = channel_stop(app->state.root_channels) + by;
    if (stop < 0 || stop >= CHANNEL_STOPS) return false;
    app->state.root_channels = channel_stops[stop];
    return true;
}

static bool act_sample(tui_app *app, int what)
{
    if (what == 0 && app->state.root_times < 1000) app->state.root_times++;
    if (what == 1) {
        app->state.root_seed++;
        app->state.root_times = 0;
    }
    return true;
}

/* ---- which ----------------------------------------------------------------------------------- */

void curves_write(tui_app *app, tui_doc *doc, int figure)
{
    if (figure == FIGURE_BLEND)
        blend(app, doc);
    else
        root(app, doc);
}

bool curves_act(tui_app *app, tui_id id, tui_act act)
{
    const int by = act == ACT_MORE ? 1 : act == ACT_LESS ? -1 : 0;
    switch (id.kind) {
    case CONTROL_BLEND:
        return by && act_blend(app, by);
    case CONTROL_NUDGE:
        if (act == ACT_ENTER) app->nudged = !app->nudged;
        return act == ACT_ENTER;
    case CONTROL_CHANNELS:
        return by && act_channels(app, by);
    case CONTROL_SAMPLE:
        return act == ACT_ENTER && act_sample(app, id.column);
    default:
        return false;
    }
}
