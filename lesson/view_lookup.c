/* SPDX-License-Identifier: MIT */
/* view_lookup.c - models of the first two sections: exact and soft lookup with the plane of keys, and
 * the projections X W with one cell spelled out.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

static void keys(view_json *json, const view_of *of)
{
    const lesson_input *const in = of->view->in;
    const int flat = in->d_k == 2;
    view_open(json, "rows", '[');
    for (int64_t j = 0; j < in->keys; j++) {
        view_open(json, NULL, '{');
        view_key(json, "name", in, j, LESSON_NAME_COLUMNS);
        view_number(json, "weight", of->view->stages->row_weight[j], 0);
        view_real(json, "w", of->view->stages->row_weight[j]);
        if (flat) view_real(json, "x", in->k[j * 2]);
        if (flat) view_real(json, "y", in->k[j * 2 + 1]);
        view_close(json, '}');
    }
    view_close(json, ']');
}

/* The token's query: the digits that a field shows, and where its arrow ends. */
static void query(view_json *json, const view_of *of)
{
    const lesson_input *const in = of->view->in;
    const double *const q = in->q + in->token * in->d_k;
    view_open(json, "query", '[');
    for (int64_t c = 0; c < in->d_k; c++) view_exact(json, NULL, q[c]);
    view_close(json, ']');
    if (in->d_k != 2) return;
    view_real(json, "qx", q[0]);
    view_real(json, "qy", q[1]);
}

qkv_status view_lookup(view_json *json, const view_of *of)
{
    view_integer(json, "token", of->view->in->token);
    keys(json, of);
    query(json, of);
    line_lookup_exact(json->line, of->view);
    view_line_pieces(json, "exact");
    line_lookup_soft(json->line, of->view);
    view_line_pieces(json, "soft");
    line_lookup_answer(json->line, of->view);
    view_line_pieces(json, "answer");
    line_lookup_sharpness(json->line, of->view->face, of->state->choice.temperature);
    view_line(json, "sharpness");
    view_open(json, "stops", '[');
    for (int32_t i = 0; i < STATE_STOPS; i++) view_exact(json, NULL, lesson_sharpness(i));
    view_close(json, ']');
    view_integer(json, "stop", lesson_sharpness_stop(of->state->choice.temperature));
    return QKV_OK;
}

/* ---- three projections ----------------------------------------------------------------------- */

static void matrix(view_json *json, const char *key, const state_matrix *m)
{
    view_table(json, key, m->x, m->rows, m->columns, 0);
}

void view_project_features(view_json *json, const lesson_state *state)
{
    view_open(json, "features", '[');
    for (int32_t f = 0; f < state->features; f++) {
        const char *const name = project_feature(f);
        line_text(json->line, name != NULL ? name : "x");
        if (name == NULL) line_integer(json->line, f);
        view_line(json, NULL);
    }
    view_close(json, ']');
}

qkv_status view_project(view_json *json, const view_of *of)
{
    const lesson_state *const s = of->state;
    view_integer(json, "which", s->project);
    view_integer(json, "row", s->project_row);
    view_integer(json, "channel", s->project_channel);
    view_names(json, of->view->in);
    view_project_features(json, s);
    matrix(json, "x", &s->embedding);
    matrix(json, "w", &s->w[s->project]);
    matrix(json, "y", &s->qkv[s->project]);
    line_project(json->line, of->view, s, s->project, s->project_row, s->project_channel);
    view_line_pieces(json, "work");
    return QKV_OK;
}
