/* SPDX-License-Identifier: MIT */
/* render_map.c - all queries by all keys on a terminal, as shades of four signs or, in ASCII, as
 * digits. Rows are queries, columns are keys; both edges say so. Columns without room are counted
 * in the last line.
 */
#include "lesson/map.h"
#include "lesson/table.h"

enum { CELL_MOST = 4, NAME_MOST = 8 };

typedef struct map_layout {
    int64_t keys;     /* columns that find room */
    int cell;         /* width of one */
    int label;        /* width of the names at the left */
    int most;         /* width of the strongest key at the right, 0: no room */
    double low, high; /* the ends of the shades; equal when all are, or when none is finite */
    int finite;       /* there is a number to shade */
} map_layout;

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void label_of(lesson_line *line, const lesson_view *view, int64_t row)
{
    line_start(line, view->face);
    line_text(line, view->in->row_begin + row == view->in->token ? "> " : "  ");
    if (view->in->rows == view->in->keys)
        line_name(line, &view->in->name[view->in->row_begin + row], NAME_MOST + 2);
    else
        line_row(line, view->in, view->in->row_begin + row, NAME_MOST);
}

static void most_of(lesson_line *line, const lesson_view *view, int64_t row)
{
    const int64_t key = map_most(view, row);
    line_start(line, view->face);
    if (key < 0 || map_value(view, row, key) != map_value(view, row, key)) return;
    line_text(line, "  ");
    line_name(line, &view->in->name[view->in->key_begin + key], NAME_MOST);
    line_text(line, " ");
    line_number(line, map_value(view, row, key), 0);
}

static map_layout lay_out(const lesson_view *view)
{
    map_layout m = {view->stages->keys, CELL_MOST, 0, 0, 0, 1, 1};
    lesson_line line;
    line_start(&line, view->face);
    line_word(&line, LESSON_W_MAP_FROM);
    m.label = line_columns(&line);
    for (int64_t i = 0; i < view->stages->rows; i++) {
        label_of(&line, view, i);
        m.label = larger(m.label, line_columns(&line));
        most_of(&line, view, i);
        m.most = larger(m.most, line_columns(&line));
    }
    m.finite = map_range(view, &m.low, &m.high);
    if (!m.finite) m.high = m.low;
    const int width = view->face->width - m.label - 1;
    while (m.cell > 1 && m.keys * m.cell + m.most > width) m.cell--;
    if (m.keys * m.cell + m.most > width) m.most = 0;
    if (m.keys * m.cell > width) m.keys = larger(width / m.cell, 1);
    return m;
}

/* Names where a cell has room for three signs of them, else every tenth number. */
static void head(const lesson_view *view, const map_layout *m)
{
    lesson_line line;
    line_start(&line, view->face);
    line_word(&line, LESSON_W_MAP_FROM);
    sink_padded(view, line.text, m->label, 0);
    sink_text(view, " ");
    for (int64_t j = 0; j < m->keys; j++) {
        line_start(&line, view->face);
        const int64_t key = view->in->key_begin + j;
        const int every = m->cell == 1 ? 10 : 5;
        if (m->cell > 2) {
            line_name(&line, &view->in->name[key], m->cell - 1);
        } else if (key % every == 0 && j + every <= m->keys) {
            line_integer(&line, key);
            sink_padded(view, line.text, m->cell * every, 0);
            j += every - 1;
            continue;
        }
        sink_padded(view, line.text, m->cell, 0);
    }
    line_start(&line, view->face);
    line_text(&line, " ");
    line_word(&line, LESSON_W_MAP_TO);
    if (m->label + 1 + m->keys * m->cell + line_columns(&line) <= view->face->width)
        sink_text(view, line.text);
    sink_text(view, "\n");
}

static const char *shade_of(const lesson_view *view, const map_layout *m, int64_t row, int64_t key)
{
    static const char *const digit[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    static const char *const shade[] = {" ", "░", "▒", "▓", "█"};
    const int weights = view->in->stage >= 3;
    const double x = map_value(view, row, key);
    if (!map_sees(view, row, key)) return view->face->utf8 ? "·" : "-";
    if (!lesson_finite(x)) return "?";
    const double t = m->high > m->low ? (x - m->low) / (m->high - m->low) : 1;
    if (!view->face->utf8) {
        const int tenths = t >= 0.9 ? 9 : (int)(t * 10);
        return weights && tenths == 0 ? "." : digit[tenths];
    }
    if (!weights) return shade[t >= 0.8 ? 4 : (int)(t * 5)];
    return shade[(t >= 0.05) + (t >= 0.25) + (t >= 0.5) + (t >= 0.75)];
}

static void legend_also(lesson_line *line, lesson_word utf8, lesson_word ascii)
{
    if (line->n > 0) line_text(line, "; ");
    line_word(line, line->face->utf8 ? utf8 : ascii);
}

static void legend(const lesson_view *view, const map_layout *m)
{
    lesson_line line, low, high;
    const int utf8 = view->face->utf8;
    line_start(&line, view->face);
    line_start(&low, view->face);
    line_start(&high, view->face);
    line_number(&low, m->low, LESSON_KEEP_INTEGER);
    line_number(&high, m->high, LESSON_KEEP_INTEGER);
    if (view->in->stage >= 3)
        line_word(&line, utf8 ? LESSON_W_MAP_LEGEND : LESSON_W_MAP_LEGEND_ASCII);
    else if (m->high > m->low)
        line_say(&line, utf8 ? LESSON_W_MAP_LEGEND_RANGE : LESSON_W_MAP_LEGEND_RANGE_ASCII,
                 low.text, high.text, NULL);
    else if (m->finite)
        line_say(&line, utf8 ? LESSON_W_MAP_LEGEND_EQUAL : LESSON_W_MAP_LEGEND_EQUAL_ASCII,
                 low.text, NULL, NULL);
    if (map_has_odd(view)) legend_also(&line, LESSON_W_MAP_LEGEND_ODD, LESSON_W_MAP_LEGEND_ODD);
    if (view->in->causal || view->in->padding > 0)
        legend_also(&line, LESSON_W_MAP_LEGEND_HIDDEN, LESSON_W_MAP_LEGEND_HIDDEN_ASCII);
    if (line.n > 0) sink_wrapped(view, line.text, 2);
}

static void mask(const lesson_view *view)
{
    lesson_line line, shift;
    line_start(&line, view->face);
    line_start(&shift, view->face);
    line_exact(&shift, (double)view->in->q_offset);
    line_map_mask(&line, view, shift.text);
    if (line.n > 0) sink_wrapped(view, line.text, 2);
}

qkv_status lesson_text_map(const lesson_view *view)
{
    const map_layout m = lay_out(view);
    lesson_line line;
    line_start(&line, view->face);
    line_map_caption(&line, view);
    sink_wrapped(view, line.text, 0);
    mask(view);
    head(view, &m);
    for (int64_t i = 0; i < view->stages->rows; i++) {
        label_of(&line, view, i);
        sink_padded(view, line.text, m.label, 0);
        sink_text(view, " ");
        for (int64_t j = 0; j < m.keys; j++) sink_repeat(view, shade_of(view, &m, i, j), m.cell);
        most_of(&line, view, i);
        if (m.most > 0) sink_text(view, line.text);
        sink_text(view, "\n");
    }
    legend(view, &m);
    if (m.keys < view->stages->keys) {
        line_start(&line, view->face);
        line_left_keys(&line, m.keys, view->stages->keys, view->face->width);
        sink_wrapped(view, line.text, 2);
    }
    return QKV_OK;
}
