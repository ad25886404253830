/* SPDX-License-Identifier: MIT */
/* worked_focus.c - which line belongs to the number in focus. Vectors that come from the reader or
 * from X W say what they are for; everything else shows its arithmetic (worked.c).
 */
#include "lesson/worked.h"

/* What the focus needs to be shown; larger than the input's stage: not yet. */
static int stage_of(int32_t kind)
{
    static const int stage[] = {0, 0, 0, 0, 1, 2, 3, 4, 3, 4};
    return kind >= 0 && kind <= FOCUS_OUTPUT ? stage[kind] : 5;
}

static int inside(const lesson_input *in, const lesson_focus *f)
{
    const int64_t channels = f->kind == FOCUS_QUERY || f->kind == FOCUS_KEY ? in->d_k : in->d_v;
    return f->key >= 0 && f->key < in->keys && f->channel >= 0 && f->channel < channels;
}

static void at_stage(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                     int32_t stage, int64_t key)
{
    lesson_input in = *view->in;
    lesson_view then = *view;
    in.stage = stage;
    then.in = &in;
    worked_key(line, &then, how, key);
}

static void not_finite(lesson_line *line)
{
    line_word(line, LESSON_W_NOT_FINITE);
}

/* "number 1 of the query of sat: 2" */
static void vector_number(lesson_line *line, const lesson_view *view, const lesson_focus *f)
{
    static const lesson_word word[] = {LESSON_W_WORK_QUERY_NUMBER, LESSON_W_WORK_KEY_NUMBER,
                                       LESSON_W_WORK_VALUE_NUMBER};
    static const char role[] = "qkv";
    const lesson_input *const in = view->in;
    const int which = f->kind - FOCUS_QUERY;
    const double *const x = which == 0   ? in->q + in->token * in->d_k
                            : which == 1 ? in->k + f->key * in->d_k
                                         : in->v + f->key * in->d_v;
    lesson_line name, number;
    char channel[LESSON_NUMBER_BYTES];
    line_start(&name, view->face);
    line_start(&number, view->face);
    if (which == 0)
        line_row(&name, in, in->token, LESSON_NAME_COLUMNS);
    else
        line_key(&name, in, f->key, LESSON_NAME_COLUMNS);
    line_role(&number, role[which]);
    line_number(&number, x[f->channel], LESSON_KEEP_INTEGER);
    line_role_end(&number, role[which]);
    lesson_number_integer(channel, f->channel);
    line_say(line, word[which], name.text, channel, number.text);
}

/* "cat: 0.54·3 = 1.62" */
static void share(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                  const lesson_focus *f)
{
    const lesson_input *const in = view->in;
    const double w = view->stages->row_weight[f->key];
    const double *const v = in->v + f->key * in->d_v + f->channel;
    const double x = w * *v;
    if (!lesson_finite(x)) {
        not_finite(line);
        return;
    }
    const product_sum s = {&w, v, 1, NULL, 1, 0, 0, 'v'};
    work_label(line, view, f->key);
    work_sum(line, &s, x, 0, how->limit);
}

/* "0.06 + 0.54 + 0.13 + 0.27 = 1.00" */
static void sum_of_weights(lesson_line *line, const lesson_view *view, const lesson_worked *how)
{
    const lesson_input *const in = view->in;
    const double one = 1;
    double sum = 0;
    for (int64_t j = 0; j < in->keys; j++) sum += view->stages->row_weight[j];
    if (!lesson_finite(sum)) {
        not_finite(line);
        return;
    }
    const product_sum s = {view->stages->row_weight, &one, 0, NULL, in->keys, 0, 0, WORK_NO_FACTOR};
    work_sum(line, &s, sum, 0, how->limit);
}

/* "0.06·1 + 0.54·3 + 0.13·0 + 0.27·0 = 1.68" */
static void output(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                   int32_t channel)
{
    const lesson_input *const in = view->in;
    const double x = view->stages->row_out[channel];
    int64_t seen = 0;
    for (int64_t j = 0; j < in->keys; j++)
        if (lesson_sees(in, in->token, j)) how->at[seen++] = j;
    if (!lesson_finite(x)) {
        not_finite(line);
        return;
    }
    if (seen == 0) {
        lesson_line who;
        line_start(&who, view->face);
        line_row(&who, in, in->token, LESSON_NAME_COLUMNS);
        line_say(line, LESSON_W_BLIND, who.text, NULL, NULL);
        return;
    }
    const product_sum s = {
        view->stages->row_weight, in->v + channel, in->d_v, how->at, seen, 0, 0, 'v'};
    work_sum(line, &s, x, 0, how->limit);
}

/* Is a number of the row, up to the present stage, not finite? */
static int row_is_odd(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const lesson_stages *const s = view->stages;
    for (int64_t j = 0; j < in->keys; j++) {
        if (!lesson_sees(in, in->token, j)) continue;
        if ((in->stage >= 1 && !lesson_finite(s->row_score[j])) ||
            (in->stage >= 2 && !lesson_finite(s->row_scaled[j])) ||
            (in->stage >= 3 && !lesson_finite(s->row_weight[j])))
            return 1;
    }
    for (int64_t c = 0; c < in->d_v && in->stage >= 4; c++)
        if (!lesson_finite(s->row_out[c])) return 1;
    return 0;
}

void worked_odd(lesson_line *line, const lesson_view *view, const lesson_line *worked)
{
    const char *a = worked->text, *b = lesson_word_text(LESSON_W_NOT_FINITE);
    while (*a != 0 && *a == *b) a++, b++;
    if (*b != 0 && row_is_odd(view)) not_finite(line);
}

/* A weight that the mask made 0. */
static void hidden(lesson_line *line, const lesson_view *view, int64_t key)
{
    work_label(line, view, key);
    line_word(line, view->in->wrong_way ? LESSON_W_WORK_HIDDEN_WRONG : LESSON_W_WORK_HIDDEN);
}

static int64_t own_choice(lesson_line *line, const lesson_view *view, const lesson_worked *how)
{
    const lesson_input *const in = view->in;
    const int64_t strongest = lesson_strongest(in, view->stages);
    if (in->stage == 4) {
        if (strongest < 0)
            output(line, view, how, 0);
        else
            worked_output(line, view, how);
        return -1;
    }
    if (strongest < 0 && in->stage == 3) {
        output(line, view, how, 0);
        return -1;
    }
    worked_key(line, view, how, strongest < 0 ? 0 : strongest);
    return strongest < 0 ? 0 : strongest;
}

int64_t worked_focus(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                     const lesson_focus *f)
{
    const lesson_input *const in = view->in;
    if (f->kind == FOCUS_NONE || stage_of(f->kind) > in->stage || !inside(in, f))
        return own_choice(line, view, how);
    switch (f->kind) {
    case FOCUS_QUERY:
        vector_number(line, view, f);
        return -2;
    case FOCUS_KEY:
    case FOCUS_VALUE:
        vector_number(line, view, f);
        return f->key;
    case FOCUS_SHARE:
        share(line, view, how, f);
        return f->key;
    case FOCUS_SUM:
        sum_of_weights(line, view, how);
        return -1;
    case FOCUS_OUTPUT:
        output(line, view, how, f->channel);
        return -1;
    default:
        if (f->kind == FOCUS_WEIGHT && !lesson_sees(in, in->token, f->key))
            hidden(line, view, f->key);
        else
            at_stage(line, view, how, f->kind - FOCUS_SCORE + 1, f->key);
        return f->key;
    }
}
