/* SPDX-License-Identifier: MIT */
/* render_svg.c - the calculator as a picture: caption, query, the table with its bars, the worked
 * line. The cells are those of the terminal's table; columns are as wide as their text is long.
 */
#include "lesson/svg.h"
#include "lesson/worked.h"

enum { COLUMNS = 92, MARGIN = 24, ROW = 28, LEADING = 24, SIZE = 15, GAP = 26 };
static const double glyph = 8.2; /* px that a column of 15 px text may take */

static const svg_style ink = {SVG_INK, "start", SIZE, 0, 0};
static const svg_style faint = {SVG_SECONDARY, "start", 13, 0, 0};
static const svg_style strong = {SVG_INK, "start", SIZE, 1, 0};

typedef struct picture {
    lesson_table table;
    double x[LESSON_COLUMNS]; /* left edge of a column */
    double right[LESSON_COLUMNS];
    double bar_x, bar_width, width;
    int columns, figures; /* in a line of running text, of numbers (they are wider) */
    lesson_line title, caption, query, mask, worked, output, left;
} picture;

static void place_columns(picture *p, const lesson_view *view)
{
    double x = MARGIN;
    lesson_line head;
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if ((c == COLUMN_KEY && p->table.channels_k == 0) ||
            (c == COLUMN_VALUE && p->table.channels_v == 0))
            continue;
        line_start(&head, view->face);
        table_head(&head, view, (lesson_column)c);
        const int columns = p->table.width[c];
        p->x[c] = x;
        p->right[c] = x + columns * glyph;
        x = p->right[c] + GAP;
    }
    p->bar_x = p->right[COLUMN_WEIGHT] + 10;
    p->bar_width = 160;
    p->width = p->bar_x + p->bar_width + MARGIN;
    const double least = 640 + 2 * MARGIN;
    if (p->width < least) {
        p->width = least;
        p->bar_width = least - MARGIN - p->bar_x;
    }
    p->columns = (int)((p->width - 2 * MARGIN) / 7.6);
    p->figures = (int)((p->width - 2 * MARGIN) / 9);
}

static void compose(picture *p, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    lesson_line name;
    char stage[LESSON_NUMBER_BYTES];
    line_start(&p->title, view->face);
    line_start(&p->caption, view->face);
    line_start(&p->query, view->face);
    line_start(&p->mask, view->face);
    line_start(&p->worked, view->face);
    line_start(&p->output, view->face);
    line_start(&p->left, view->face);
    line_start(&name, view->face);
    lesson_number_integer(stage, in->stage);
    line_say(&p->title, LESSON_W_STAGE, stage, NULL, NULL);
    line_word(&p->caption, lesson_caption(in));
    line_row(&name, in, in->token, LESSON_NAME_COLUMNS);
    const int64_t q = line_query(&p->query, view, p->figures);
    line_mask(&p->mask, view);
    const lesson_worked how = {p->table.whole_score, p->table.whole_scaled, 2 * p->figures - 8,
                               p->table.at};
    int64_t out = in->d_v;
    int all = 1;
    if (in->focus.kind != FOCUS_NONE) {
        worked_focus(&p->worked, view, &how, &in->focus);
        all = in->stage < 4;
    } else if (lesson_strongest(in, view->stages) < 0 && in->stage >= 3)
        line_say(&p->worked, LESSON_W_BLIND, name.text, NULL, NULL);
    else if (in->stage == 4)
        all = worked_output(&p->worked, view, &how);
    else if (p->table.worked >= 0)
        worked_key(&p->worked, view, &how, p->table.worked);
    if (!all) out = line_output(&p->output, view, p->figures);
    line_left_out(&p->left, view, &p->table, q, out, p->columns);
}

static void cell(const picture *p, const lesson_view *view, int64_t i, int c, double y)
{
    static const char *const fill[LESSON_COLUMNS] = {SVG_INK, SVG_K,   SVG_V,
                                                     SVG_INK, SVG_INK, SVG_INK};
    lesson_line line;
    line_start(&line, view->face);
    if (i < 0)
        table_head(&line, view, (lesson_column)c);
    else
        table_cell(&line, view, &p->table, i, (lesson_column)c);
    if (line.n == 0) return;
    const int right = c >= COLUMN_SCORE && !(i < 0 && c == COLUMN_WEIGHT);
    const svg_style style = {fill[c], right ? "end" : "start", SIZE, i < 0, 0};
    svg_text(view, right ? p->right[c] : p->x[c], y, &style, line.text);
}

static void row(const picture *p, const lesson_view *view, int64_t i, double y)
{
    if (i >= 0 && i < p->table.shown && p->table.key[i] == p->table.worked && view->in->stage < 4)
        svg_rect(view, MARGIN - 8, y - 19, p->width - 2 * MARGIN + 16, ROW, SVG_BAND, 1);
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if (c == COLUMN_KEY && p->table.channels_k == 0) continue;
        if (c == COLUMN_VALUE && p->table.channels_v == 0) continue;
        cell(p, view, i, c, y);
    }
    if (i < 0 || i >= p->table.shown) return;
    const int64_t key = p->table.key[i];
    const double w = view->stages->row_weight[key];
    if (!lesson_sees(view->in, view->in->token, key)) {
        svg_text(view, p->bar_x + 6, y, &faint, lesson_word_text(LESSON_W_HIDDEN));
    } else if (view->in->stage >= 3 && w > 0) {
        svg_rect(view, p->bar_x, y - 10, (w < 1 ? w : 1) * p->bar_width, 10, SVG_INK, 1);
    }
}

static double table(const picture *p, const lesson_view *view, double y)
{
    row(p, view, -1, y);
    svg_rule(view, MARGIN, p->width - MARGIN, y + 9, SVG_RULE);
    const double top = y + 9;
    for (int64_t i = 0; i < p->table.shown; i++) row(p, view, i, y += ROW);
    svg_rule(view, MARGIN, p->width - MARGIN, y + 9, SVG_RULE);
    if (view->in->stage >= 3) {
        svg_rect(view, p->bar_x - 1, top, 1, y + 9 - top, SVG_RULE, 1);
        svg_rect(view, p->bar_x + p->bar_width, top, 1, y + 9 - top, SVG_HAIRLINE, 1);
        if (table_has_others(view, &p->table)) row(p, view, p->table.shown, y += ROW);
        row(p, view, p->table.shown + 1, y += ROW);
    }
    return y + ROW;
}

qkv_status lesson_svg_table(const lesson_view *view)
{
    picture *const p = (picture *)view->memory->take(view->memory->ctx, sizeof *p);
    if (p == NULL) return QKV_ENOMEM;
    const qkv_status status = table_make(&p->table, view, COLUMNS);
    if (status != QKV_OK) return status;
    place_columns(p, view);
    compose(p, view);
    const int64_t body =
        p->table.shown + 1 + (view->in->stage >= 3 ? 1 + table_has_others(view, &p->table) : 0);
    const double height = MARGIN + 24 + LEADING * svg_lines(view, p->columns, p->caption.text) +
                          16 + ROW + 8 + (double)(ROW * body) +
                          LEADING * (svg_lines(view, p->columns, p->mask.text) +
                                     svg_lines(view, p->figures, p->worked.text) +
                                     svg_lines(view, p->figures, p->output.text) +
                                     svg_lines(view, p->columns, p->left.text)) +
                          MARGIN;
    svg_begin(view, p->width, height, p->query.text);
    double y = MARGIN + 12;
    svg_text(view, MARGIN, y, &strong, p->title.text);
    y = svg_paragraph(view, MARGIN, y + LEADING, LEADING, p->columns, &ink, p->caption.text);
    static const svg_style query = {SVG_Q, "start", SIZE, 0, 0};
    svg_text(view, MARGIN, y + 12, &query, p->query.text);
    y = svg_paragraph(view, MARGIN, y + 12 + LEADING, LEADING, p->columns, &ink, p->mask.text);
    y = table(p, view, y + ROW + 8 - LEADING);
    y = svg_paragraph(view, MARGIN, y, LEADING, p->figures, &ink, p->worked.text);
    y = svg_paragraph(view, MARGIN, y, LEADING, p->figures, &ink, p->output.text);
    svg_paragraph(view, MARGIN, y, LEADING, p->columns, &faint, p->left.text);
    svg_end(view);
    return QKV_OK;
}
