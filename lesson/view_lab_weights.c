/* SPDX-License-Identifier: MIT */
/* view_lab_weights.c - where the tokens' Q, K and V come from: X and the three matrices W with every
 * digit, and whether the grid of scores is symmetric, as it is when W^Q and W^K are the same. Only
 * numbers that the reader typed or that the lesson ships stand here; nothing is rounded.
 */
#include "lesson/figures.h"
#include "lesson/view_lab.h"

static void exact_matrix(view_json *json, const char *key, const state_matrix *m)
{
    view_table(json, key, m->x, m->rows, m->columns, 1);
}

/* The pair whose two scores differ most; without a difference the largest score of two tokens. */
static int pair_of(const lesson_view *view, int64_t *row, int64_t *key)
{
    const int64_t n = view->in->keys;
    const double *const s = view->stages->score;
    double most = 0;
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double a = s[j * n + i], b = s[i * n + j], off = a < b ? b - a : a - b;
            if (!lesson_finite(a) || !lesson_finite(b)) continue;
            if (found && !(off > most || (off == 0 && most == 0 && a > s[*row * n + *key])))
                continue;
            *row = j;
            *key = i;
            most = off;
            found = 1;
        }
    return found;
}

static void one_score(view_json *json, const lesson_view *view, lesson_word word, int64_t row,
                      int64_t key)
{
    lesson_line name[2], score;
    for (int i = 0; i < 2; i++) {
        line_start(&name[i], view->face);
        line_key(&name[i], view->in, i ? key : row, LAB_NAME_COLUMNS);
    }
    line_start(&score, view->face);
    line_number(&score, view->stages->score[row * view->in->keys + key], LESSON_KEEP_INTEGER);
    line_say(json->line, word, name[0].text, name[1].text, score.text);
    view_line(json, NULL);
}

qkv_status view_lab_weights(view_json *json, const lesson_state *state, const lesson_view *view)
{
    static const char *const keys[] = {"q", "k", "v"};
    int64_t row = 0, key = 0;
    view_project_features(json, state);
    exact_matrix(json, "x", &state->embedding);
    for (int i = 0; i < 3; i++) exact_matrix(json, keys[i], &state->w[i]);
    const int symmetric = project_symmetric(view->stages->score, view->in->keys);
    view_flag(json, "symmetric", symmetric);
    view_open(json, "say", '[');
    if (pair_of(view, &row, &key)) {
        one_score(json, view, symmetric ? LESSON_W_LAB_W_SAME : LESSON_W_LAB_W_OTHER, row, key);
        if (!symmetric) one_score(json, view, LESSON_W_PROOF_PROJECTED_BACK, key, row);
    }
    view_close(json, ']');
    return QKV_OK;
}
