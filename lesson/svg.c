/* SPDX-License-Identifier: MIT */
/* svg.c - see svg.h. Numbers of attributes are decimal text of our own making, text is escaped here
 * and nowhere else.
 */
#include "lesson/svg.h"

static const char fonts[] = "-apple-system, Segoe UI, Roboto, Inter, Noto Sans, DejaVu Sans, "
                            "Liberation Sans, Arial, sans-serif";

static void escaped(const lesson_view *view, const char *text)
{
    for (const char *p = text; *p != 0; p++) {
        const unsigned char c = (unsigned char)*p;
        const char one[2] = {*p, 0};
        if (c == '&')
            sink_text(view, "&amp;");
        else if (c == '<')
            sink_text(view, "&lt;");
        else if (c == '>')
            sink_text(view, "&gt;");
        else if (c == '"')
            sink_text(view, "&quot;");
        else if (c == '\'')
            sink_text(view, "&#39;");
        else if (c == 0xEF && (unsigned char)p[1] == 0xBF && (unsigned char)p[2] >= 0xBE) {
            sink_text(view, "\xEF\xBF\xBD"); /* U+FFFE and U+FFFF are no characters of XML */
            p += 2;
        } else if (c >= 0x20)
            sink_text(view, one);
    }
}

static void attribute(const lesson_view *view, const char *name, double x)
{
    char text[LESSON_NUMBER_BYTES];
    sink_text(view, " ");
    sink_text(view, name);
    sink_text(view, "=\"");
    lesson_number_fixed(text, x, 2, LESSON_KEEP_INTEGER);
    sink_text(view, text);
    sink_text(view, "\"");
}

static void word(const lesson_view *view, const char *name, const char *value)
{
    sink_text(view, " ");
    sink_text(view, name);
    sink_text(view, "=\"");
    sink_text(view, value);
    sink_text(view, "\"");
}

void svg_begin(const lesson_view *view, double width, double height, const char *title)
{
    sink_text(view, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
    attribute(view, "width", width);
    attribute(view, "height", height);
    sink_text(view, " viewBox=\"0 0 ");
    char text[LESSON_NUMBER_BYTES];
    lesson_number_fixed(text, width, 0, 0);
    sink_text(view, text);
    sink_text(view, " ");
    lesson_number_fixed(text, height, 0, 0);
    sink_text(view, text);
    sink_text(view, "\"");
    word(view, "font-family", fonts);
    sink_text(view, ">\n<title>");
    escaped(view, title);
    sink_text(view, "</title>\n");
    svg_rect(view, 0, 0, width, height, SVG_GROUND, 1);
}

void svg_end(const lesson_view *view)
{
    sink_text(view, "</svg>\n");
}

static void box(const lesson_view *view, double x, double y, double width, double height)
{
    sink_text(view, "<rect");
    attribute(view, "x", x);
    attribute(view, "y", y);
    attribute(view, "width", width);
    attribute(view, "height", height);
}

void svg_rect(const lesson_view *view, double x, double y, double width, double height,
              const char *fill, double opacity)
{
    box(view, x, y, width, height);
    word(view, "fill", fill);
    if (opacity < 1) attribute(view, "fill-opacity", opacity);
    sink_text(view, "/>\n");
}

void svg_outline(const lesson_view *view, double x, double y, double width, double height)
{
    box(view, x, y, width, height);
    sink_text(view, " fill=\"none\" stroke=\"" SVG_INK "\" stroke-width=\"2\"/>\n");
}

void svg_rule(const lesson_view *view, double x1, double x2, double y, const char *stroke)
{
    sink_text(view, "<line");
    attribute(view, "x1", x1);
    attribute(view, "x2", x2);
    attribute(view, "y1", y);
    attribute(view, "y2", y);
    word(view, "stroke", stroke);
    sink_text(view, "/>\n");
}

void svg_text(const lesson_view *view, double x, double y, const svg_style *style, const char *text)
{
    char number[LESSON_NUMBER_BYTES];
    sink_text(view, "<text");
    attribute(view, "x", x);
    attribute(view, "y", y);
    word(view, "fill", style->fill);
    attribute(view, "font-size", style->size);
    if (style->bold) word(view, "font-weight", "600");
    if (style->anchor[0] != 's') word(view, "text-anchor", style->anchor);
    if (style->turn != 0) {
        sink_text(view, " transform=\"rotate(");
        lesson_number_integer(number, style->turn);
        sink_text(view, number);
        sink_text(view, " ");
        lesson_number_fixed(number, x, 2, LESSON_KEEP_INTEGER);
        sink_text(view, number);
        sink_text(view, " ");
        lesson_number_fixed(number, y, 2, LESSON_KEEP_INTEGER);
        sink_text(view, number);
        sink_text(view, ")\"");
    }
    word(view, "xml:space", "preserve");
    sink_text(view, ">");
    escaped(view, text);
    sink_text(view, "</text>\n");
}

/* The next line of a paragraph, whole words where they fit; returns where the one after starts. */
static const char *take_line(const lesson_view *view, lesson_line *line, const char *p, int columns)
{
    lesson_line trial;
    line_start(line, view->face);
    while (*p == ' ') p++;
    while (*p != 0) {
        const char *end = p;
        line_start(&trial, view->face);
        line_text(&trial, line->text);
        if (line->n > 0) line_text(&trial, " ");
        for (; *end != 0 && *end != ' '; end++) {
            const char one[2] = {*end, 0};
            line_text(&trial, one);
        }
        if (line->n > 0 && line_columns(&trial) > columns) break;
        line_start(line, view->face);
        line_text(line, trial.text);
        for (p = end; *p == ' ';) p++;
    }
    return p;
}

int svg_lines(const lesson_view *view, int columns, const char *text)
{
    lesson_line line;
    int n = 0;
    for (const char *p = text; *p != 0; n++) p = take_line(view, &line, p, columns);
    return n;
}

double svg_paragraph(const lesson_view *view, double x, double y, double leading, int columns,
                     const svg_style *style, const char *text)
{
    lesson_line line;
    for (const char *p = text; *p != 0; y += leading) {
        p = take_line(view, &line, p, columns);
        svg_text(view, x, y, style, line.text);
    }
    return y;
}
