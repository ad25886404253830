/* SPDX-License-Identifier: MIT */
/* lookup.c - the first figure: the token's query looked up exactly, as a dictionary would, and softly.
 * Its weights and its answer are the calculator's; this file only finds words for them.
 */
#include "lesson/figures.h"

int64_t lookup_exact(const lesson_input *in)
{
    const double *const q = in->q + in->token * in->d_k;
    for (int64_t j = 0; j < in->keys; j++) {
        int same = lesson_sees(in, in->token, j);
        for (int64_t c = 0; c < in->d_k; c++) same &= q[c] == in->k[j * in->d_k + c];
        if (same) return j;
    }
    return -1;
}

static void vector(lesson_line *line, const double *x, int64_t n, int whole)
{
    enum { CHANNELS_MOST = 8 };
    line_vector(line, x, n, n < CHANNELS_MOST ? n : CHANNELS_MOST, whole);
}

void line_lookup_exact(lesson_line *line, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const int64_t found = lookup_exact(in);
    const double *const q = in->q + in->token * in->d_k;
    lesson_line query, name, value;
    line_start(&query, view->face);
    line_start(&name, view->face);
    line_start(&value, view->face);
    line_role(&query, 'q');
    vector(&query, q, in->d_k, lesson_all_whole(q, in->d_k));
    line_role_end(&query, 'q');
    if (found >= 0) {
        const double *const v = in->v + found * in->d_v;
        line_key(&name, in, found, LESSON_NAME_COLUMNS);
        vector(&value, v, in->d_v, lesson_all_whole(v, in->d_v));
    }
    line_say(line, found < 0 ? LESSON_W_LOOKUP_EXACT_NONE : LESSON_W_LOOKUP_EXACT_ONE, query.text,
             name.text, value.text);
}

/* Do all visible keys have nearly the same weight? */
static int is_even(const lesson_input *in, const lesson_stages *s, double most)
{
    const int64_t seen = lesson_seen(in, in->token);
    double least = most;
    for (int64_t j = 0; j < seen; j++)
        if (s->row_weight[j] < least) least = s->row_weight[j];
    return seen > 1 && least > 0.75 * most;
}

void line_lookup_soft(lesson_line *line, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const int64_t best = lesson_strongest(in, view->stages);
    lesson_line name, weight;
    if (best < 0) {
        line_word(line, LESSON_W_LOOKUP_SOFT_NONE);
        return;
    }
    const double w = view->stages->row_weight[best];
    const int even = is_even(in, view->stages, w);
    if (!lesson_finite(w)) {
        line_word(line, LESSON_W_NOT_FINITE);
        return;
    }
    line_start(&name, view->face);
    line_start(&weight, view->face);
    line_key(&name, in, best, LESSON_NAME_COLUMNS);
    line_number(&weight, even ? 1 / (double)lesson_seen(in, in->token) : w, 0);
    line_say(line,
             w > 0.985 ? LESSON_W_LOOKUP_SOFT_PICK
             : even    ? LESSON_W_LOOKUP_SOFT_EVEN
                       : LESSON_W_LOOKUP_SOFT,
             name.text, weight.text, NULL);
}

void line_lookup_answer(lesson_line *line, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    lesson_line out;
    line_start(&out, view->face);
    vector(&out, view->stages->row_out, in->d_v, 0);
    line_say(line, LESSON_W_LOOKUP_ANSWER, out.text, NULL, NULL);
}

void line_lookup_sharpness(lesson_line *line, const lesson_face *face, double temperature)
{
    lesson_line t;
    line_start(&t, face);
    line_exact(&t, temperature);
    line_say(line, temperature == 1 ? LESSON_W_LOOKUP_SHARPNESS_LESSON : LESSON_W_LOOKUP_SHARPNESS,
             t.text, NULL, NULL);
}
