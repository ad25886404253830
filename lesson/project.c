/* SPDX-License-Identifier: MIT */
/* project.c - the figure of the three projections: any cell of Q, K or V spelled out as a row of X
 * times a column of W, and the scores that there would be without projections.
 */
#include "lesson/figures.h"
#include "lesson/worked.h"

const char *project_feature(int32_t feature)
{
    if (feature < 0 || feature >= LESSON_PRESET_FEATURES) return NULL;
    return lesson_word_text((lesson_word)(LESSON_W_FEATURE_0 + feature));
}

void line_project(lesson_line *line, const lesson_view *view, const lesson_state *state,
                  int32_t which, int32_t row, int32_t channel)
{
    enum { LIMIT = 400 };
    static const lesson_word word[] = {LESSON_W_PROJECT_Q, LESSON_W_PROJECT_K, LESSON_W_PROJECT_V};
    static const char role[] = "qkv";
    const int32_t d = state->qkv[which].columns;
    const double x = state->qkv[which].x[row * d + channel];
    lesson_line name;
    char number[LESSON_NUMBER_BYTES];
    line_start(&name, view->face);
    line_key(&name, view->in, row, LESSON_NAME_COLUMNS);
    lesson_number_integer(number, channel);
    line_say(line, word[which], name.text, number, NULL);
    if (state->own_qkv[which]) {
        line_word(line, LESSON_W_PROJECT_DETACHED);
        return;
    }
    if (!lesson_finite(x)) {
        line_word(line, LESSON_W_NOT_FINITE);
        return;
    }
    const product_sum s = {state->embedding.x + row * state->features,
                           state->w[which].x + channel,
                           d,
                           NULL,
                           state->features,
                           LESSON_KEEP_INTEGER,
                           0,
                           role[which]};
    work_sum(line, &s, x, LESSON_KEEP_INTEGER, LIMIT);
}

void project_without(const lesson_state *state, double *x)
{
    const int32_t n = state->tokens, f = state->features;
    const double *const e = state->embedding.x;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double sum = 0;
            for (int32_t c = 0; c < f; c++) sum += e[i * f + c] * e[j * f + c];
            x[i * n + j] = sum;
        }
}

int project_symmetric(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (x[i * n + j] != x[j * n + i]) return 0;
    return 1;
}
