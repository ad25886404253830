/* SPDX-License-Identifier: MIT */
/* view_code.c - models of "The same in code": the listing with its stages and shapes, and both forms
 * of the softmax side by side.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

qkv_status view_code(view_json *json, const view_of *of)
{
    const int language = of->state->code;
    lesson_line line;
    view_integer(json, "language", language);
    view_open(json, "lines", '[');
    for (int i = 0; i < listing_lines(language); i++) {
        const listing_line *const l = listing_at(language, i);
        view_open(json, NULL, '{');
        view_text(json, "text", l->text);
        if (l->stage >= 0) view_integer(json, "stage", l->stage);
        line_start(&line, of->view->face);
        line_listing_shape(&line, of->view->in, language, i);
        if (line.n > 0) view_text(json, "shape", line.text);
        view_close(json, '}');
    }
    view_close(json, ']');
    return QKV_OK;
}

static void numbers(view_json *json, const char *key, const view_of *of, const double *x, int64_t n)
{
    lesson_line line;
    view_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        line_start(&line, of->view->face);
        line_maximum_number(&line, x[i]);
        view_text(json, NULL, line.text);
    }
    view_close(json, ']');
}

static void form(view_json *json, const char *key, const view_of *of, const maximum_figure *f,
                 int safe)
{
    const maximum_form *const m = safe ? &f->safe : &f->naive;
    lesson_line line;
    view_open(json, key, '{');
    numbers(json, "e", of, m->e, f->keys);
    numbers(json, "weight", of, m->weight, f->keys);
    numbers(json, "sum", of, &m->sum, 1);
    numbers(json, "most", of, &m->most, 1);
    view_flag(json, "survives", m->survives);
    line_start(&line, of->view->face);
    line_maximum_verdict(&line, f, safe);
    view_pieces(json, "verdict", line.text);
    view_close(json, '}');
}

qkv_status view_maximum(view_json *json, const view_of *of)
{
    maximum_figure f;
    lesson_line line;
    const lesson_input *const in = of->view->in;
    const qkv_status status = maximum_make(&f, of->view, of->state->code_large);
    if (status != QKV_OK) return status;
    view_flag(json, "large", of->state->code_large);
    view_open(json, "names", '[');
    for (int64_t j = 0; j < in->keys; j++) {
        line_start(&line, of->view->face);
        line_key(&line, in, j, LESSON_NAME_COLUMNS);
        view_text(json, NULL, line.text);
    }
    view_close(json, ']');
    numbers(json, "scaled", of, f.scaled, f.keys);
    form(json, "naive", of, &f, 0);
    form(json, "safe", of, &f, 1);
    return QKV_OK;
}
