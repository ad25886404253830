/* SPDX-License-Identifier: MIT */
/* view_code.c - models of "The same in code": the listing with its stages and shapes, and both forms
 * of the softmax side by side.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

qkv_status view_code(view_json *json, const view_of *of)
{
    const int language = of->state->code;
    view_integer(json, "language", language);
    view_open(json, "lines", '[');
    for (int i = 0; i < listing_lines(language); i++) {
        const listing_line *const l = listing_at(language, i);
        view_open(json, NULL, '{');
        view_text(json, "text", l->text);
        if (l->stage >= 0) view_integer(json, "stage", l->stage);
        line_listing_shape(json->line, of->view->in, language, i);
        if (json->line->n > 0) view_line(json, "shape");
        view_close(json, '}');
    }
    view_close(json, ']');
    return QKV_OK;
}

static void numbers(view_json *json, const char *key, const double *x, int64_t n)
{
    view_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        line_maximum_number(json->line, x[i]);
        view_line(json, NULL);
    }
    view_close(json, ']');
}

static void form(view_json *json, const char *key, const maximum_figure *f, int safe)
{
    const maximum_form *const m = safe ? &f->safe : &f->naive;
    view_open(json, key, '{');
    numbers(json, "e", m->e, f->keys);
    numbers(json, "weight", m->weight, f->keys);
    numbers(json, "sum", &m->sum, 1);
    numbers(json, "most", &m->most, 1);
    view_flag(json, "survives", m->survives);
    line_maximum_verdict(json->line, f, safe);
    view_line_pieces(json, "verdict");
    view_close(json, '}');
}

qkv_status view_maximum(view_json *json, const view_of *of)
{
    maximum_figure f;
    const qkv_status status = maximum_make(&f, of->view, of->state->code_large);
    if (status != QKV_OK) return status;
    view_flag(json, "large", of->state->code_large);
    view_names(json, of->view->in);
    numbers(json, "scaled", f.scaled, f.keys);
    form(json, "naive", &f, 0);
    form(json, "safe", &f, 1);
    return QKV_OK;
}
