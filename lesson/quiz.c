/* SPDX-License-Identifier: MIT */
/* quiz.c - draws numbers, turns answers into options, asks the lesson's own two questions. The eight
 * generated kinds are in quiz_kinds.c.
 */
#include "lesson/course.h"
#include "lesson/quiz_parts.h"

static const lesson_name names[QUIZ_TOKENS] = {{"the", 3}, {"cat", 3}, {"sat", 3}, {"mat", 3}};

const char *quiz_token(int32_t token)
{
    return names[token].text;
}

int32_t quiz_below(quiz_maker *m, int32_t bound)
{
    return (int32_t)((root_bits(&m->random) >> 33) % (uint64_t)bound);
}

void quiz_put(char *text, size_t size, const lesson_line *line)
{
    size_t n = line->n < size - 1 ? line->n : size - 1;
    while (n < line->n && n > 0 && (line->text[n] & 0xC0) == 0x80) n--;
    for (size_t i = 0; i < n; i++) text[i] = line->text[i];
    text[n] = 0;
}

/* ---- drawn numbers --------------------------------------------------------------------------- */

void quiz_softmax(double *w, const double *score, int32_t n, double scale)
{
    double sum = 0;
    for (int32_t j = 0; j < n; j++) sum += w[j] = qkv_ref_exp(score[j] * scale);
    for (int32_t j = 0; j < n; j++) w[j] /= sum;
}

static void make_view(quiz_maker *m)
{
    quiz_draw *const d = &m->draw;
    d->in = (lesson_input){0};
    d->stages = (lesson_stages){0};
    d->in.rows = d->in.row_end = 1;
    d->in.keys = d->in.key_end = d->tokens;
    d->in.d_k = d->in.d_v = QUIZ_CHANNELS;
    d->in.q = d->q;
    d->in.k = d->k;
    d->in.v = d->v;
    d->in.name = names;
    d->in.stage = 4;
    d->in.temperature = 1;
    d->in.padding = d->tokens - d->seen;
    d->stages.row_score = d->score;
    d->stages.row_scaled = d->scaled;
    d->stages.row_weight = d->weight;
    d->stages.row_out = d->out;
    const lesson_view view = {&d->in, &d->stages, m->face, NULL, NULL};
    d->view = view;
}

/* Do two tokens have the same key? */
static int has_twins(const quiz_draw *d)
{
    for (int i = 0; i < d->tokens; i++)
        for (int j = 0; j < i; j++)
            if (d->k[2 * i] == d->k[2 * j] && d->k[2 * i + 1] == d->k[2 * j + 1]) return 1;
    return 0;
}

void quiz_draw_new(quiz_maker *m, int32_t tokens, int32_t seen)
{
    quiz_draw *const d = &m->draw;
    const double root = __builtin_sqrt((double)QUIZ_CHANNELS);
    d->tokens = tokens;
    d->seen = seen;
    do
        for (int c = 0; c < QUIZ_CHANNELS; c++) d->q[c] = quiz_below(m, 4);
    while (d->q[0] == 0 && d->q[1] == 0);
    do
        for (int i = 0; i < tokens * QUIZ_CHANNELS; i++) d->k[i] = quiz_below(m, 3);
    while (has_twins(d));
    for (int i = 0; i < tokens * QUIZ_CHANNELS; i++) d->v[i] = quiz_below(m, 5);
    for (int j = 0; j < tokens; j++) {
        d->score[j] = 0;
        d->weight[j] = 0;
        for (int c = 0; c < QUIZ_CHANNELS; c++)
            d->score[j] += d->q[c] * d->k[j * QUIZ_CHANNELS + c];
        d->scaled[j] = d->score[j] / root;
    }
    quiz_softmax(d->weight, d->scaled, seen, 1);
    for (int c = 0; c < QUIZ_CHANNELS; c++) {
        d->out[c] = 0;
        for (int j = 0; j < seen; j++) d->out[c] += d->weight[j] * d->v[j * QUIZ_CHANNELS + c];
    }
    make_view(m);
}

void quiz_line_vector(lesson_line *line, const double *x)
{
    line_vector(line, x, QUIZ_CHANNELS, QUIZ_CHANNELS, 1);
}

void quiz_line_tokens(lesson_line *line, const quiz_maker *m, int with_values)
{
    const quiz_draw *const d = &m->draw;
    for (int j = 0; j < d->tokens; j++) {
        lesson_line key, value;
        line_start(&key, m->face);
        line_start(&value, m->face);
        quiz_line_vector(&key, d->k + j * QUIZ_CHANNELS);
        quiz_line_vector(&value, d->v + j * QUIZ_CHANNELS);
        if (j > 0) line_text(line, ", ");
        line_say(line, with_values ? LESSON_W_PLAIN_0_TOKEN : LESSON_W_QUIZ_KEYS, quiz_token(j),
                 key.text, value.text);
    }
}

void quiz_work(lesson_line *line, quiz_maker *m, int32_t kind, int32_t key)
{
    const lesson_worked how = {1, 0, 1000, m->draw.at};
    const lesson_focus focus = {kind, key, 0};
    worked_focus(line, &m->draw.view, &how, &focus);
}

/* ---- options --------------------------------------------------------------------------------- */

void quiz_wrong(quiz_answers *a, double value, lesson_word why)
{
    if (a->n == QUIZ_CANDIDATES) return;
    a->wrong[a->n].value = value;
    a->wrong[a->n].why = why;
    a->n++;
}

static int same_text(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

void quiz_shuffle(quiz_maker *m)
{
    lesson_question *const q = m->question;
    q->right = 0;
    for (int32_t i = q->options - 1; i > 0; i--) {
        const int32_t j = quiz_below(m, i + 1);
        const quiz_option swap = q->option[i];
        q->option[i] = q->option[j];
        q->option[j] = swap;
        if (q->right == i)
            q->right = j;
        else if (q->right == j)
            q->right = i;
    }
}

static void put_number(quiz_maker *m, quiz_option *option, double x, unsigned flags)
{
    lesson_line line;
    line_start(&line, m->face);
    line_number(&line, x, flags);
    quiz_put(option->text, sizeof option->text, &line);
}

int quiz_options(quiz_maker *m, const quiz_answers *a, const lesson_line *worked)
{
    lesson_question *const q = m->question;
    lesson_line line;
    put_number(m, &q->option[0], a->right, a->flags);
    line_start(&line, m->face);
    line_say(&line, LESSON_W_QUIZ_RIGHT, worked->text, NULL, NULL);
    quiz_put(q->option[0].reason, sizeof q->option[0].reason, &line);
    q->options = 1;
    for (int32_t i = 0; i < a->n && q->options < QUIZ_OPTIONS; i++) {
        quiz_option *const option = &q->option[q->options];
        const double by = a->wrong[i].value - a->right;
        if (!lesson_finite(by) || (by < a->apart && by > -a->apart)) continue;
        put_number(m, option, a->wrong[i].value, a->flags);
        int same = 0;
        for (int32_t k = 0; k < q->options; k++) same |= same_text(q->option[k].text, option->text);
        if (same) continue;
        line_start(&line, m->face);
        line_word(&line, a->wrong[i].why);
        quiz_put(option->reason, sizeof option->reason, &line);
        q->options++;
    }
    if (q->options < QUIZ_OPTIONS) return 0;
    quiz_put(q->worked, sizeof q->worked, worked);
    quiz_shuffle(m);
    return 1;
}

/* ---- the lesson's own ------------------------------------------------------------------------ */

static void put_course(quiz_maker *m, char *text, size_t size, lesson_word id)
{
    lesson_line line;
    line_start(&line, m->face);
    line_course(&line, lesson_word_text(id));
    quiz_put(text, size, &line);
}

static void ask_lesson(quiz_maker *m, int32_t number)
{
    static const lesson_word words[QUIZ_LESSON][QUIZ_OPTIONS][2] = {
        {{LESSON_W_ASK_WEIGHTS_V, LESSON_W_ASK_WEIGHTS_V_WHY},
         {LESSON_W_ASK_WEIGHTS_Q, LESSON_W_ASK_WEIGHTS_Q_WHY},
         {LESSON_W_ASK_WEIGHTS_K, LESSON_W_ASK_WEIGHTS_K_WHY},
         {LESSON_W_ASK_WEIGHTS_X, LESSON_W_ASK_WEIGHTS_X_WHY}},
        {{LESSON_W_ASK_ROOT_RIGHT, LESSON_W_ASK_ROOT_RIGHT_WHY},
         {LESSON_W_ASK_ROOT_SHARES, LESSON_W_ASK_ROOT_SHARES_WHY},
         {LESSON_W_ASK_ROOT_OVERFLOW, LESSON_W_ASK_ROOT_OVERFLOW_WHY},
         {LESSON_W_ASK_ROOT_TOKENS, LESSON_W_ASK_ROOT_TOKENS_WHY}}};
    lesson_question *const q = m->question;
    q->options = QUIZ_OPTIONS;
    q->stage = number == 0 ? 4 : 2;
    put_course(m, q->text, sizeof q->text, number == 0 ? LESSON_W_ASK_WEIGHTS : LESSON_W_ASK_ROOT);
    put_course(m, q->worked, sizeof q->worked,
               number == 0 ? LESSON_W_ASK_WEIGHTS_WORKED : LESSON_W_ASK_ROOT_WORKED);
    for (int i = 0; i < QUIZ_OPTIONS; i++) {
        put_course(m, q->option[i].text, sizeof q->option[i].text, words[number][i][0]);
        put_course(m, q->option[i].reason, sizeof q->option[i].reason, words[number][i][1]);
    }
    m->random.state =
        (uint64_t)number + 7; /* the same order for everyone, the right one not first */
    quiz_shuffle(m);
}

int lesson_question_make(lesson_question *question, int32_t number, uint32_t seed,
                         const lesson_face *face)
{
    enum { TRIES = 1000 }; /* one in a few fails, so this is never reached */
    if (number < 0 || number >= QUIZ_QUESTIONS) return -1;
    lesson_face plain = *face;
    plain.digits = 2;
    plain.color = 0;
    quiz_maker m;
    m.question = question;
    m.face = &plain;
    *question = (lesson_question){0};
    question->number = number;
    if (number < QUIZ_LESSON) {
        ask_lesson(&m, number);
        return 0;
    }
    m.random.state = (uint64_t)seed * 1000003 + (uint64_t)number * 7919;
    for (int i = 0; i < TRIES; i++)
        if (quiz_make(&m, number - QUIZ_LESSON)) return 0;
    return -1;
}
