/* SPDX-License-Identifier: MIT */
/* tui_code.c - the listings, each line with its stage and its shapes, and the two forms of softmax,
 * with and without subtracting the maximum. Code is ASCII and is shown as it is.
 */
#include "cli/tui_app.h"
#include "lesson/figures.h"

#include <string.h>

/* ---- the listing ----------------------------------------------------------------------------- */

/* One that fits its line, without ending it. */
static void put_code_line(tui_doc *doc, const tui_para *para)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)para->n, para->text);
    if (para->id.kind)
        doc_target(doc, para->id, (tui_style)para->style[0], false, text);
    else
        doc_put(doc, (tui_style)para->style[0], text);
}

static void listing_line_write(tui_app *app, tui_doc *doc, int i)
{
    const int language = app->state.code;
    const listing_line *const l = listing_at(language, i);
    lesson_line shape;
    char stage[LESSON_NUMBER_BYTES] = "";
    if (l->stage >= 0) lesson_number_integer(stage, l->stage);
    const bool lit = l->stage >= 0 && l->stage == app->state.stage;
    doc_put(doc, lit ? TUI_STRONG : TUI_QUIET, stage);
    doc_to(doc, 2);
    tui_para para;
    para_start(&para);
    para.id = app->plain ? (tui_id){0, 0, 0} : (tui_id){CONTROL_CODE, (int16_t)i, 0};
    para_put(&para, lit ? TUI_STRONG : TUI_NORMAL, l->text, strlen(l->text));
    line_start(&shape, &app->face);
    line_listing_shape(&shape, &app->in, language, i);
    const int columns = line_columns(&shape);
    const bool beside = 2 + (int)strlen(l->text) + 3 + columns <= doc->width;
    if (beside && shape.n) {
        put_code_line(doc, &para);
        doc_to(doc, doc->width - columns);
        doc_put(doc, TUI_QUIET, shape.text);
        doc_line(doc);
        return;
    }
    para_end(doc, &para, 2, 2 + 8);
    if (!shape.n || !(lit || app->plain)) return;
    doc_to(doc, 6);
    doc_put(doc, TUI_QUIET, shape.text);
    doc_line(doc);
}

typedef struct program_out {
    tui_doc *doc;
    char line[1024];
    size_t n;
} program_out;

static void add(void *ctx, const char *text, size_t bytes)
{
    program_out *const out = ctx;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '\n') {
            if (out->n + 1 < sizeof out->line) out->line[out->n++] = text[i];
            continue;
        }
        out->line[out->n] = 0;
        doc_wrapped(out->doc, TUI_NORMAL, out->line, 2, 6);
        if (out->n == 0) doc_line(out->doc);
        out->n = 0;
    }
}

/* The whole program, to be marked and copied with the terminal's own means. */
static void program(tui_app *app, tui_doc *doc)
{
    program_out out = {.doc = doc};
    const lesson_sink sink = {add, &out};
    lesson_view view = plain_view(app, doc->width);
    view.sink = &sink;
    tui_para para;
    para_start(&para);
    const char *const sign =
        app->face.utf8 ? (app->program ? "▾ " : "▸ ") : (app->program ? "- " : "+ ");
    para.id = (tui_id){CONTROL_PROGRAM, 0, 0};
    para_put(&para, TUI_NORMAL, sign, strlen(sign));
    say_into(app, &para, TUI_NORMAL, LESSON_W_PROGRAM, NULL, NULL, NULL);
    para_end(doc, &para, 0, 2);
    if (app->program) lesson_program(&view, app->state.code);
}

static void listing(tui_app *app, tui_doc *doc)
{
    if (!app->plain) {
        option(doc, (tui_id){CONTROL_LANGUAGE, 0, 0}, TUI_NORMAL, app->state.code == 0, "NumPy");
        option(doc, (tui_id){CONTROL_LANGUAGE, 0, 1}, TUI_NORMAL, app->state.code == 1, "C");
        doc_line(doc);
        doc_gap(doc);
    }
    const int lines = listing_lines(app->state.code);
    for (int i = 0; i < lines; i++) listing_line_write(app, doc, i);
    doc_gap(doc);
    say_with(app, doc, TUI_QUIET, LESSON_W_LISTING_CAPTION, NULL, NULL, NULL);
    if (!app->plain) program(app, doc);
}

/* ---- the maximum ----------------------------------------------------------------------------- */

static const char *maximum_number(tui_app *app, double x)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_maximum_number(&line, x);
    return keep(app, line.text);
}

static void form(tui_app *app, tui_doc *doc, const maximum_figure *figure, const maximum_form *f,
                 int word)
{
    say_with(app, doc, TUI_STRONG, word, NULL, NULL, NULL);
    for (int64_t j = 0; j < figure->keys && j < 8; j++) {
        char line[256];
        snprintf(line, sizeof line, "%s: e^%s = %s, %s %s", key_name(app, j),
                 maximum_number(app, figure->scaled[j] - f->most), maximum_number(app, f->e[j]),
                 word_text(app, LESSON_W_COLUMN_WEIGHT), maximum_number(app, f->weight[j]));
        doc_wrapped(doc, TUI_NORMAL, line, 2, 4);
    }
}

static void verdict(tui_app *app, tui_doc *doc, const maximum_figure *figure, int safe)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_maximum_verdict(&line, figure, safe);
    put_line(doc, &line);
}

static void maximum(tui_app *app, tui_doc *doc)
{
    const lesson_view view = plain_view(app, doc->width);
    maximum_figure figure;
    for (int large = 0; large < 2; large++) {
        if (!app->plain && large != app->state.code_large) continue;
        if (maximum_make(&figure, &view, large) != QKV_OK) return;
        if (app->plain && large)
            say_with(app, doc, TUI_NORMAL, LESSON_W_MAXIMUM_LARGE, NULL, NULL, NULL);
        if (!app->plain) {
            option(doc, (tui_id){CONTROL_LARGE, 0, 0}, TUI_NORMAL, large,
                   word_text(app, LESSON_W_MAXIMUM_LARGE));
            doc_line(doc);
        }
        form(app, doc, &figure, &figure.naive, LESSON_W_MAXIMUM_NAIVE);
        verdict(app, doc, &figure, 0);
        form(app, doc, &figure, &figure.safe, LESSON_W_MAXIMUM_SAFE);
        verdict(app, doc, &figure, 1);
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

void code_write(tui_app *app, tui_doc *doc, int figure)
{
    if (figure == FIGURE_LISTING)
        listing(app, doc);
    else
        maximum(app, doc);
}

bool code_act(tui_app *app, tui_id id, tui_act act)
{
    const bool enter = act == ACT_ENTER, chosen = enter || act == ACT_FOCUS;
    switch (id.kind) {
    case CONTROL_LANGUAGE:
        if (chosen) app->state.code = id.column;
        return chosen;
    case CONTROL_CODE: {
        const listing_line *const l = listing_at(app->state.code, id.row);
        if (!chosen || !l || l->stage < 0) return false;
        app->state.stage = l->stage;
        return true;
    }
    case CONTROL_LARGE:
        if (enter) app->state.code_large = !app->state.code_large;
        return enter;
    case CONTROL_PROGRAM:
        if (enter) app->program = !app->program;
        return enter;
    default:
        return false;
    }
}
