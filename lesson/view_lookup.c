/* SPDX-License-Identifier: MIT */
/* view_lookup.c - models of the first two sections: exact and soft lookup with the plane of keys, and
 * the projections X W with one cell spelled out.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

static void line_of(view_json *json, const char *key, const lesson_line *line)
{
    view_pieces(json, key, line->text);
}

static void keys(view_json *json, const view_of *of, lesson_line *line)
{
    const lesson_input *const in = of->view->in;
    const int flat = in->d_k == 2;
    view_open(json, "rows", '[');
    for (int64_t j = 0; j < in->keys; j++) {
        view_open(json, NULL, '{');
        line_start(line, of->view->face);
        line_key(line, in, j, LESSON_NAME_COLUMNS);
        view_text(json, "name", line->text);
        line_start(line, of->view->face);
        line_number(line, of->view->stages->row_weight[j], 0);
        view_text(json, "weight", line->text);
        view_real(json, "w", of->view->stages->row_weight[j]);
        if (flat) view_real(json, "x", in->k[j * 2]);
        if (flat) view_real(json, "y", in->k[j * 2 + 1]);
        view_close(json, '}');
    }
    view_close(json, ']');
}

/* The token's query: the digits that a field shows, and where its arrow ends. */
static void query(view_json *json, const view_of *of, lesson_line *line)
{
    const lesson_input *const in = of->view->in;
    const double *const q = in->q + in->token * in->d_k;
    view_open(json, "query", '[');
    for (int64_t c = 0; c < in->d_k; c++) {
        line_start(line, of->view->face);
        line_exact(line, q[c]);
        view_text(json, NULL, line->text);
    }
    view_close(json, ']');
    if (in->d_k != 2) return;
    view_real(json, "qx", q[0]);
    view_real(json, "qy", q[1]);
}

qkv_status view_lookup(view_json *json, const view_of *of)
{
    const lesson_memory *const memory = of->view->memory;
    lesson_line *const line = (lesson_line *)memory->take(memory->ctx, sizeof *line);
    if (line == NULL) return QKV_ENOMEM;
    view_integer(json, "token", of->view->in->token);
    keys(json, of, line);
    query(json, of, line);
    line_start(line, of->view->face);
    line_lookup_exact(line, of->view);
    line_of(json, "exact", line);
    line_start(line, of->view->face);
    line_lookup_soft(line, of->view);
    line_of(json, "soft", line);
    line_start(line, of->view->face);
    line_lookup_answer(line, of->view);
    line_of(json, "answer", line);
    line_start(line, of->view->face);
    line_lookup_sharpness(line, of->view->face, of->state->choice.temperature);
    view_text(json, "sharpness", line->text);
    view_open(json, "stops", '[');
    for (int32_t i = 0; i < STATE_STOPS; i++) {
        line_start(line, of->view->face);
        line_exact(line, lesson_sharpness(i));
        view_text(json, NULL, line->text);
    }
    view_close(json, ']');
    view_integer(json, "stop", lesson_sharpness_stop(of->state->choice.temperature));
    return QKV_OK;
}

/* ---- three projections ----------------------------------------------------------------------- */

static void matrix(view_json *json, const char *key, const state_matrix *m, const view_of *of,
                   lesson_line *line)
{
    view_open(json, key, '[');
    for (int32_t r = 0; r < m->rows; r++) {
        view_open(json, NULL, '[');
        for (int32_t c = 0; c < m->columns; c++) {
            line_start(line, of->view->face);
            line_number(line, m->x[(int64_t)r * m->columns + c], LESSON_KEEP_INTEGER);
            view_text(json, NULL, line->text);
        }
        view_close(json, ']');
    }
    view_close(json, ']');
}

void view_project_features(view_json *json, const lesson_state *state, const lesson_view *view,
                           lesson_line *line)
{
    view_open(json, "features", '[');
    for (int32_t f = 0; f < state->features; f++) {
        const char *const name = project_feature(f);
        line_start(line, view->face);
        if (name != NULL) {
            line_text(line, name);
        } else {
            line_text(line, "x");
            line_integer(line, f);
        }
        view_text(json, NULL, line->text);
    }
    view_close(json, ']');
}

qkv_status view_project(view_json *json, const view_of *of)
{
    const lesson_state *const s = of->state;
    const lesson_memory *const memory = of->view->memory;
    lesson_line *const line = (lesson_line *)memory->take(memory->ctx, sizeof *line);
    if (line == NULL) return QKV_ENOMEM;
    view_integer(json, "which", s->project);
    view_integer(json, "row", s->project_row);
    view_integer(json, "channel", s->project_channel);
    view_open(json, "names", '[');
    for (int64_t j = 0; j < of->view->in->keys; j++) {
        line_start(line, of->view->face);
        line_key(line, of->view->in, j, LESSON_NAME_COLUMNS);
        view_text(json, NULL, line->text);
    }
    view_close(json, ']');
    view_project_features(json, s, of->view, line);
    matrix(json, "x", &s->embedding, of, line);
    matrix(json, "w", &s->w[s->project], of, line);
    matrix(json, "y", &s->qkv[s->project], of, line);
    line_start(line, of->view->face);
    line_project(line, of->view, s, s->project, s->project_row, s->project_channel);
    line_of(json, "work", line);
    return QKV_OK;
}
