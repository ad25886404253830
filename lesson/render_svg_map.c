/* SPDX-License-Identifier: MIT */
/* render_svg_map.c - all queries by all keys as a picture: a cell is ink over the ground, as opaque
 * as its weight, or as its score beside the largest; negative scores have a colour of their own.
 */
#include "lesson/map.h"
#include "lesson/svg.h"

enum { MARGIN = 24, NAME_MOST = 14, SIZE = 13 };

typedef struct map_picture {
    double cell, x, y; /* px; top left of the cells */
    double scale;      /* largest |score|, 1 for weights */
    int names;         /* cells are wide enough for names */
} map_picture;

static double largest(const lesson_view *view)
{
    double low, high;
    if (view->in->stage >= 3) return 1;
    map_range(view, &low, &high);
    const double most = -low > high ? -low : high;
    return most > 0 ? most : 1;
}

static void row_name(lesson_line *line, const lesson_view *view, int64_t i)
{
    const int64_t row = view->in->row_begin + i;
    line_start(line, view->face);
    if (view->in->rows == view->in->keys)
        line_name(line, &view->in->name[row], NAME_MOST);
    else
        line_row(line, view->in, row, NAME_MOST);
}

static map_picture lay_out(const lesson_view *view)
{
    const int64_t most =
        view->stages->rows > view->stages->keys ? view->stages->rows : view->stages->keys;
    map_picture p = {most <= 20 ? 38 : most <= 60 ? 17 : 4, 0, 0, largest(view), most <= 60};
    int columns = 12;
    lesson_line line;
    for (int64_t i = 0; i < view->stages->rows && p.names; i++) {
        row_name(&line, view, i);
        if (line_columns(&line) > columns) columns = line_columns(&line);
    }
    p.x = MARGIN + columns * 7.4 + 10;
    p.y = MARGIN + 40 + (p.names ? 100 : 24);
    return p;
}

static void cell(const lesson_view *view, const map_picture *p, int64_t i, int64_t j)
{
    const double value = map_value(view, i, j);
    const double x = p->x + (double)j * p->cell;
    const double y = p->y + (double)i * p->cell;
    if (!map_sees(view, i, j)) {
        if (p->cell > 8)
            svg_rect(view, x + p->cell / 2 - 1, y + p->cell / 2 - 1, 2, 2, SVG_RULE, 1);
        return;
    }
    const double part = lesson_finite(value) ? (value < 0 ? -value : value) / p->scale : 1;
    if (part < 0.004) return;
    svg_rect(view, x, y, p->cell - (p->cell > 8 ? 1 : 0), p->cell - (p->cell > 8 ? 1 : 0),
             value < 0 ? SVG_NEGATIVE : SVG_INK, part);
    if (p->cell < 30 || part < 0.1) return;
    lesson_line line;
    const svg_style style = {part > 0.5 ? "#FFFFFF" : "#000000", "middle", SIZE, 0, 0};
    line_start(&line, view->face);
    line_number(&line, value, 0);
    if (line_columns(&line) <= 5) svg_text(view, x + p->cell / 2, y + 23, &style, line.text);
}

static void edges(const lesson_view *view, const map_picture *p)
{
    static const svg_style from = {SVG_Q, "end", SIZE, 0, 0};
    static const svg_style to = {SVG_K, "start", SIZE, 0, 0};
    static const svg_style row = {SVG_INK, "end", SIZE, 0, 0};
    static const svg_style column = {SVG_INK, "start", SIZE, 0, -45};
    lesson_line line;
    line_start(&line, view->face);
    line_word(&line, LESSON_W_MAP_FROM);
    svg_text(view, p->x - 8, p->y - 8, &from, line.text);
    line_start(&line, view->face);
    line_word(&line, LESSON_W_MAP_TO);
    svg_text(view, p->x, MARGIN + 40, &to, line.text);
    for (int64_t i = 0; i < view->stages->rows && p->names; i++) {
        row_name(&line, view, i);
        svg_text(view, p->x - 8, p->y + ((double)i + 0.5) * p->cell + 4, &row, line.text);
    }
    for (int64_t j = 0; j < view->stages->keys && p->names; j++) {
        line_start(&line, view->face);
        line_name(&line, &view->in->name[view->in->key_begin + j], NAME_MOST);
        svg_text(view, p->x + ((double)j + 0.5) * p->cell, p->y - 8, &column, line.text);
    }
}

/* Ten steps from nothing to the largest. */
static void legend(const lesson_view *view, const map_picture *p, double y)
{
    static const svg_style style = {SVG_SECONDARY, "start", SIZE, 0, 0};
    lesson_line line;
    for (int i = 0; i < 10; i++) svg_rect(view, p->x + i * 20, y, 20, 12, SVG_INK, (i + 0.5) / 10);
    svg_text(view, p->x, y + 28, &style, "0");
    line_start(&line, view->face);
    line_number(&line, p->scale, LESSON_KEEP_INTEGER);
    svg_text(view, p->x + 192, y + 28, &style, line.text);
}

qkv_status lesson_svg_map(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const map_picture p = lay_out(view);
    const double right = p.x + (double)view->stages->keys * p.cell;
    const double bottom = p.y + (double)view->stages->rows * p.cell;
    static const svg_style ink = {SVG_INK, "start", 15, 0, 0};
    static const svg_style faint = {SVG_SECONDARY, "start", SIZE, 0, 0};
    lesson_line line;
    line_start(&line, view->face);
    line_map_caption(&line, view);
    const double width = right + 90 > 620 ? right + 90 : 620;
    svg_begin(view, width, bottom + (in->causal || in->padding > 0 ? 84 : 60), line.text);
    svg_text(view, MARGIN, MARGIN + 12, &ink, line.text);
    edges(view, &p);
    svg_rule(view, p.x, right, p.y, SVG_HAIRLINE);
    svg_rule(view, p.x, right, bottom, SVG_HAIRLINE);
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++) cell(view, &p, i, j);
    if (in->token >= in->row_begin && in->token < in->row_end)
        svg_outline(view, p.x - 1, p.y + (double)(in->token - in->row_begin) * p.cell - 1,
                    right - p.x + 1, p.cell + 1);
    legend(view, &p, bottom + 16);
    lesson_line shift;
    line_start(&line, view->face);
    line_start(&shift, view->face);
    line_exact(&shift, (double)in->q_offset);
    line_map_mask(&line, view, shift.text);
    if (line.n > 0) svg_text(view, MARGIN, bottom + 68, &faint, line.text);
    svg_end(view);
    return QKV_OK;
}
