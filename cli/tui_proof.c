/* SPDX-License-Identifier: MIT */
/* tui_proof.c - live proofs of the answers to a teacher's questions: the scores without projections
 * are symmetric, and under the causal mask no earlier output keeps notice of a later token.
 */
#include "cli/tui_app.h"
#include "lesson/figures.h"

#include <string.h>

enum { PROOF_TOKENS = 8 }; /* more do not fit side by side */

/* ---- without projections --------------------------------------------------------------------- */

static void matrix_row(tui_app *app, tui_doc *doc, const double *x, int n)
{
    for (int j = 0; j < n; j++) {
        const char *const text = exact(app, x[j]);
        const int columns = tui_columns(text, strlen(text));
        doc_to(doc, doc->column + (columns < 4 ? 4 - columns : 1));
        doc_put(doc, TUI_NORMAL, text);
    }
}

static void symmetry(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    const int n = s->tokens < PROOF_TOKENS ? s->tokens : PROOF_TOKENS;
    double *const x = app->picture.memory.take(&app->picture, sizeof(double) * (size_t)s->tokens *
                                                                  (size_t)s->tokens);
    if (!x) return;
    project_without(s, x);
    const int left = name_column(app, 6);
    doc_to(doc, left);
    doc_put(doc, TUI_QUIET, app->face.utf8 ? "X Xᵀ" : "X X^T");
    doc_to(doc, left + 4 * n + 6);
    doc_put(doc, TUI_QUIET, app->face.utf8 ? "Q Kᵀ" : "Q K^T");
    doc_line(doc);
    for (int i = 0; i < n; i++) {
        doc_put(doc, TUI_NORMAL, key_name(app, i));
        doc_to(doc, left);
        matrix_row(app, doc, x + (int64_t)i * s->tokens, n);
        doc_to(doc, left + 4 * n + 6);
        matrix_row(app, doc, app->stages.score + (int64_t)i * app->stages.keys, n);
        doc_line(doc);
    }
}

/* ---- the causal mask ------------------------------------------------------------------------- */

typedef struct causal_runs {
    lesson_stages before, after;
} causal_runs;

/* Outputs with every number of the last token 1 larger, beside those of the numbers as they are. */
static bool run_both(tui_app *app, causal_runs *runs)
{
    qkv_error err = qkv_error_init();
    const lesson_memory *const memory = &app->picture.memory;
    lesson_input in = app->in;
    in.causal = 1;
    in.q_offset = 0;
    in.padding = 0;
    in.wrong_way = 0;
    if (lesson_run(&runs->before, &in, 0, memory, &err) != QKV_OK) return false;
    const double **const part[3] = {&in.q, &in.k, &in.v};
    const int64_t width[3] = {in.d_k, in.d_k, in.d_v};
    for (int m = 0; m < 3; m++) {
        const size_t count = (size_t)(in.keys * width[m]);
        double *const copy = memory->take(memory->ctx, count * sizeof *copy);
        if (!copy) return false;
        memcpy(copy, *part[m], count * sizeof *copy);
        for (int64_t c = 0; c < width[m]; c++) copy[(in.keys - 1) * width[m] + c] += 1;
        *part[m] = copy;
    }
    return lesson_run(&runs->after, &in, 0, memory, &err) == QKV_OK;
}

static void causal(tui_app *app, tui_doc *doc)
{
    causal_runs runs;
    const lesson_input *const in = &app->in;
    if (in->rows != in->keys || in->rows < 2 || !run_both(app, &runs)) return;
    const int64_t n = in->rows < PROOF_TOKENS ? in->rows : PROOF_TOKENS;
    const int left = name_column(app, 6);
    doc_to(doc, left);
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_LAB_CAUSAL_BEFORE));
    doc_to(doc, left + 16);
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_LAB_CAUSAL_AFTER));
    doc_line(doc);
    for (int64_t i = in->rows - n; i < in->rows; i++) {
        const double *const a = runs.before.out + i * in->d_v, *const b =
                                                                   runs.after.out + i * in->d_v;
        const bool same = memcmp(a, b, (size_t)in->d_v * sizeof *a) == 0;
        lesson_line line;
        doc_put(doc, TUI_NORMAL, key_name(app, i));
        doc_to(doc, left);
        line_start(&line, &app->face);
        line_vector(&line, a, in->d_v, in->d_v < 2 ? in->d_v : 2, 0);
        doc_put(doc, TUI_V, line.text);
        doc_to(doc, left + 16);
        line_start(&line, &app->face);
        line_vector(&line, b, in->d_v, in->d_v < 2 ? in->d_v : 2, 0);
        doc_put(doc, TUI_V, line.text);
        doc_to(doc, doc->column + 2);
        doc_put(doc, same ? TUI_NORMAL : TUI_QUIET,
                word_text(app, same ? LESSON_W_LAB_CAUSAL_SAME : LESSON_W_LAB_CAUSAL_CHANGED));
        doc_line(doc);
    }
}

void proof_write(tui_app *app, tui_doc *doc, int figure)
{
    if (figure == FIGURE_SYMMETRY)
        symmetry(app, doc);
    else if (figure == FIGURE_CAUSAL)
        causal(app, doc);
}
