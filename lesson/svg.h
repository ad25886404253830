/* SPDX-License-Identifier: MIT */
/* svg.h - the few SVG elements that the pictures are made of: presentation attributes only (no
 * style, script or reference to anything outside), every text escaped. Units are pixels.
 */
#ifndef QKV_LESSON_SVG_H
#define QKV_LESSON_SVG_H

#include "lesson/compose.h"

#define SVG_GROUND "#FCFBF8"
#define SVG_INK "#1C1B19"
#define SVG_SECONDARY "#5E5A52"
#define SVG_RULE "#8A857A"
#define SVG_HAIRLINE "#DDD9CF"
#define SVG_BAND "#F3F0E8"
#define SVG_Q "#1F5FBF"
#define SVG_K "#A34700"
#define SVG_V "#0B7A66"
#define SVG_NEGATIVE "#8E2F6B"

typedef struct svg_style {
    const char *fill;
    const char *anchor; /* "start", "middle", "end" */
    int size;
    int bold;
    int turn; /* degrees around its own place */
} svg_style;

void svg_begin(const lesson_view *view, double width, double height, const char *title);
void svg_end(const lesson_view *view);
void svg_rect(const lesson_view *view, double x, double y, double width, double height,
              const char *fill, double opacity);
void svg_outline(const lesson_view *view, double x, double y, double width, double height);
void svg_rule(const lesson_view *view, double x1, double x2, double y, const char *stroke);
void svg_text(const lesson_view *view, double x, double y, const svg_style *style,
              const char *text);
/* Wrapped to `columns`; returns the y of the line after the last. */
double svg_paragraph(const lesson_view *view, double x, double y, double leading, int columns,
                     const svg_style *style, const char *text);
/* How many lines that takes. */
int svg_lines(const lesson_view *view, int columns, const char *text);

#endif /* QKV_LESSON_SVG_H */
