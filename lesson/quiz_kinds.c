/* SPDX-License-Identifier: MIT */
/* quiz_kinds.c - the eight generated questions. Each computes its right answer as the lesson does, and
 * its wrong ones by a named mistake, in the order in which they are wanted; where two of them print
 * the same, the next mistake comes in.
 */
#include "lesson/quiz_parts.h"

/* weights and outputs are told apart by an estimate, not only by a calculator */
static const double apart = 0.04;

static void say(quiz_maker *m, lesson_word id, const char *a, const char *b, const char *c)
{
    lesson_line line;
    line_start(&line, m->face);
    line_say(&line, id, a, b, c);
    quiz_put(m->question->text, sizeof m->question->text, &line);
}

/* "A query is [2,0]; the has the key ..." */
static void say_draw(quiz_maker *m, lesson_word id, int with_values, const char *c)
{
    lesson_line query, tokens;
    line_start(&query, m->face);
    line_start(&tokens, m->face);
    quiz_line_vector(&query, m->draw.q);
    quiz_line_tokens(&tokens, m, with_values);
    say(m, id, query.text, tokens.text, c);
}

static int32_t strongest(const quiz_draw *d)
{
    int32_t best = 0;
    for (int32_t j = 1; j < d->seen; j++)
        if (d->score[j] > d->score[best]) best = j;
    return best;
}

/* ---- 0: who wins ----------------------------------------------------------------------------- */

static int make_winner(quiz_maker *m)
{
    lesson_question *const q = m->question;
    quiz_draw_new(m, QUIZ_TOKENS, QUIZ_TOKENS);
    const quiz_draw *const d = &m->draw;
    const int32_t best = strongest(d);
    for (int32_t j = 0; j < QUIZ_TOKENS; j++)
        if (j != best && d->score[j] == d->score[best]) return 0;
    lesson_line line, worked;
    line_start(&worked, m->face);
    quiz_work(&worked, m, FOCUS_SCORE, best);
    line_start(&line, m->face);
    line_say(&line, LESSON_W_QUIZ_WINNER_WORKED, worked.text, NULL, NULL);
    quiz_put(q->worked, sizeof q->worked, &line);
    q->options = 0;
    q->stage = 1;
    for (int32_t n = 0; n < QUIZ_TOKENS; n++) {
        const int32_t j = n == 0 ? best : n <= best ? n - 1 : n; /* the winner first */
        quiz_option *const option = &q->option[q->options++];
        char score[LESSON_NUMBER_BYTES];
        lesson_number_integer(score, (int64_t)d->score[j]);
        line_start(&line, m->face);
        line_text(&line, quiz_token(j));
        quiz_put(option->text, sizeof option->text, &line);
        line_start(&line, m->face);
        if (j == best)
            line_say(&line, LESSON_W_QUIZ_RIGHT, q->worked, NULL, NULL);
        else
            line_say(&line, LESSON_W_QUIZ_LOWER, quiz_token(j), score, quiz_token(best));
        quiz_put(option->reason, sizeof option->reason, &line);
    }
    say_draw(m, LESSON_W_QUIZ_WINNER, 0, NULL);
    quiz_shuffle(m);
    return 1;
}

/* ---- 1, 2: a score, a scaled score ----------------------------------------------------------- */

static int make_score(quiz_maker *m)
{
    quiz_answers a = {0, 0, LESSON_KEEP_INTEGER, 0, {{0, LESSON_W_STAGE}}};
    lesson_line query, key, worked;
    quiz_draw_new(m, 1, 1);
    const double *const q = m->draw.q, *const k = m->draw.k;
    a.right = m->draw.score[0];
    quiz_wrong(&a, q[0] * k[1] + q[1] * k[0], LESSON_W_MISTAKE_CROSS);
    quiz_wrong(&a, q[0] + q[1] + k[0] + k[1], LESSON_W_MISTAKE_ADD);
    quiz_wrong(&a, a.right / __builtin_sqrt((double)QUIZ_CHANNELS), LESSON_W_MISTAKE_EARLY);
    quiz_wrong(&a, q[0] * k[0], LESSON_W_MISTAKE_FIRST);
    quiz_wrong(&a, q[0] * q[0] + q[1] * q[1], LESSON_W_MISTAKE_SQUARE);
    line_start(&query, m->face);
    line_start(&key, m->face);
    line_start(&worked, m->face);
    quiz_line_vector(&query, q);
    quiz_line_vector(&key, k);
    const product_sum s = {q, k, 1, NULL, QUIZ_CHANNELS, LESSON_KEEP_INTEGER, 'q', 'k'};
    work_sum(&worked, &s, a.right, LESSON_KEEP_INTEGER, 1000);
    say(m, LESSON_W_QUIZ_SCORE, query.text, key.text, NULL);
    m->question->stage = 1;
    return quiz_options(m, &a, &worked);
}

static int make_scaled(quiz_maker *m)
{
    static const int32_t sizes[] = {2, 3, 4, 8, 9, 16, 25, 32, 36, 64, 100, 128};
    quiz_answers a = {0, 0, LESSON_KEEP_INTEGER, 0, {{0, LESSON_W_STAGE}}};
    const double score = 1 + quiz_below(m, 24);
    const double d = sizes[quiz_below(m, 12)];
    const double root = __builtin_sqrt(d);
    char s[LESSON_NUMBER_BYTES], channels[LESSON_NUMBER_BYTES];
    lesson_line worked;
    a.right = score / root;
    quiz_wrong(&a, score / d, LESSON_W_MISTAKE_DK);
    quiz_wrong(&a, score, LESSON_W_MISTAKE_NO_SCALE);
    quiz_wrong(&a, score * root, LESSON_W_MISTAKE_TIMES);
    lesson_number_integer(s, (int64_t)score);
    lesson_number_integer(channels, (int64_t)d);
    line_start(&worked, m->face);
    line_text(&worked, s);
    line_own(&worked, " ÷ √");
    line_text(&worked, channels);
    line_text(&worked, " = ");
    line_number(&worked, a.right, LESSON_KEEP_INTEGER);
    say(m, LESSON_W_QUIZ_SCALED, s, channels, NULL);
    m->question->stage = 2;
    return quiz_options(m, &a, &worked);
}

/* ---- 3, 4: a weight, without and with a mask ------------------------------------------------- */

/* Weights by score times scale over the seen keys, of one key. */
static double weight_by(const quiz_draw *d, int32_t n, double scale, int32_t key)
{
    double w[QUIZ_TOKENS];
    quiz_softmax(w, d->score, n, scale);
    return w[key];
}

static double share_of(const quiz_draw *d, int32_t key)
{
    double sum = 0;
    for (int32_t j = 0; j < d->seen; j++) sum += d->score[j];
    return d->score[key] / sum;
}

static int make_weight(quiz_maker *m)
{
    quiz_answers a = {0, apart, 0, 0, {{0, LESSON_W_STAGE}}};
    lesson_line worked;
    quiz_draw_new(m, QUIZ_TOKENS, QUIZ_TOKENS);
    const quiz_draw *const d = &m->draw;
    const int32_t key = quiz_below(m, QUIZ_TOKENS);
    a.right = d->weight[key];
    quiz_wrong(&a, weight_by(d, d->seen, 1, key), LESSON_W_MISTAKE_NO_SCALE);
    quiz_wrong(&a, weight_by(d, d->seen, 0.5, key), LESSON_W_MISTAKE_DK);
    quiz_wrong(&a, share_of(d, key), LESSON_W_MISTAKE_NO_EXP);
    quiz_wrong(&a, key == strongest(d), LESSON_W_MISTAKE_PICK);
    quiz_wrong(&a, 1.0 / QUIZ_TOKENS, LESSON_W_MISTAKE_EVEN);
    line_start(&worked, m->face);
    quiz_work(&worked, m, FOCUS_WEIGHT, key);
    say_draw(m, LESSON_W_QUIZ_WEIGHT, 0, quiz_token(key));
    m->question->stage = 3;
    return quiz_options(m, &a, &worked);
}

static int make_mask(quiz_maker *m)
{
    enum { SEEN = QUIZ_TOKENS - 1 };
    quiz_answers a = {0, apart, 0, 0, {{0, LESSON_W_STAGE}}};
    lesson_line worked;
    quiz_draw_new(m, QUIZ_TOKENS, SEEN);
    const quiz_draw *const d = &m->draw;
    const double root = __builtin_sqrt((double)QUIZ_CHANNELS);
    const int32_t key = quiz_below(m, SEEN);
    double sum = 1;
    for (int32_t j = 0; j < SEEN; j++) sum += qkv_ref_exp(d->scaled[j]);
    a.right = d->weight[key];
    quiz_wrong(&a, weight_by(d, QUIZ_TOKENS, 1 / root, key), LESSON_W_MISTAKE_NO_MASK);
    quiz_wrong(&a, qkv_ref_exp(d->scaled[key]) / sum, LESSON_W_MISTAKE_ZERO_SCORE);
    quiz_wrong(&a, weight_by(d, SEEN, 1, key), LESSON_W_MISTAKE_NO_SCALE);
    quiz_wrong(&a, weight_by(d, SEEN, 0.5, key), LESSON_W_MISTAKE_DK);
    quiz_wrong(&a, share_of(d, key), LESSON_W_MISTAKE_NO_EXP);
    quiz_wrong(&a, key == strongest(d), LESSON_W_MISTAKE_PICK);
    line_start(&worked, m->face);
    quiz_work(&worked, m, FOCUS_WEIGHT, key);
    say_draw(m, LESSON_W_QUIZ_MASK, 0, quiz_token(key));
    m->question->stage = 3;
    return quiz_options(m, &a, &worked);
}

/* ---- 5: the output --------------------------------------------------------------------------- */

static double blend_by(const quiz_draw *d, const double *x, const double *w)
{
    double sum = 0;
    for (int32_t j = 0; j < d->tokens; j++) sum += w[j] * x[j * QUIZ_CHANNELS];
    return sum;
}

static int make_output(quiz_maker *m)
{
    quiz_answers a = {0, apart, 0, 0, {{0, LESSON_W_STAGE}}};
    lesson_line worked;
    double plain[QUIZ_TOKENS], halved[QUIZ_TOKENS], even[QUIZ_TOKENS];
    quiz_draw_new(m, 3, 3);
    const quiz_draw *const d = &m->draw;
    quiz_softmax(plain, d->score, d->tokens, 1);
    quiz_softmax(halved, d->score, d->tokens, 0.5);
    for (int32_t j = 0; j < d->tokens; j++) even[j] = 1.0 / d->tokens;
    a.right = d->out[0];
    quiz_wrong(&a, d->v[strongest(d) * QUIZ_CHANNELS], LESSON_W_MISTAKE_PICK);
    quiz_wrong(&a, blend_by(d, d->k, d->weight), LESSON_W_MISTAKE_KEYS);
    quiz_wrong(&a, blend_by(d, d->v, plain), LESSON_W_MISTAKE_NO_SCALE);
    quiz_wrong(&a, blend_by(d, d->v, halved), LESSON_W_MISTAKE_DK);
    quiz_wrong(&a, blend_by(d, d->v, even), LESSON_W_MISTAKE_EVEN);
    line_start(&worked, m->face);
    quiz_work(&worked, m, FOCUS_OUTPUT, 0);
    say_draw(m, LESSON_W_QUIZ_OUTPUT, 1, NULL);
    m->question->stage = 4;
    return quiz_options(m, &a, &worked);
}

/* ---- 6: rows, not columns -------------------------------------------------------------------- */

enum { SIDE = 3 };

static void say_table(quiz_maker *m, const double *x, int32_t row, int32_t column)
{
    lesson_line table;
    line_start(&table, m->face);
    for (int32_t i = 0; i < SIDE; i++) {
        lesson_line numbers;
        line_start(&numbers, m->face);
        line_vector(&numbers, x + i * SIDE, SIDE, SIDE, 1);
        if (i > 0) line_text(&table, ", ");
        line_say(&table, LESSON_W_QUIZ_TABLE_ROW, quiz_token(i + 1), numbers.text, NULL);
    }
    say(m, LESSON_W_QUIZ_TABLE, table.text, quiz_token(row + 1), quiz_token(column + 1));
}

static double cell_of(const double *x, int32_t cell, int32_t from, int32_t step, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += qkv_ref_exp(x[from + i * step]);
    return qkv_ref_exp(x[cell]) / sum;
}

static int make_table(quiz_maker *m)
{
    quiz_answers a = {0, apart, 0, 0, {{0, LESSON_W_STAGE}}};
    lesson_line worked;
    double x[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) x[i] = quiz_below(m, 4);
    const int32_t row = quiz_below(m, SIDE), column = quiz_below(m, SIDE);
    const int32_t cell = row * SIDE + column, turned = column * SIDE + row;
    double sum = 0;
    for (int i = 0; i < SIDE; i++) sum += x[row * SIDE + i];
    a.right = cell_of(x, cell, row * SIDE, 1, SIDE);
    quiz_wrong(&a, cell_of(x, cell, column, SIDE, SIDE), LESSON_W_MISTAKE_COLUMNS);
    quiz_wrong(&a, cell_of(x, turned, column * SIDE, 1, SIDE), LESSON_W_MISTAKE_TURNED);
    quiz_wrong(&a, x[cell] / sum, LESSON_W_MISTAKE_NO_EXP);
    quiz_wrong(&a, cell_of(x, cell, 0, 1, SIDE * SIDE), LESSON_W_MISTAKE_TABLE);
    /* the same worked line as in the calculator: its row as scaled scores */
    quiz_draw *const d = &m->draw;
    quiz_draw_new(m, SIDE, SIDE);
    for (int i = 0; i < SIDE; i++) {
        d->scaled[i] = x[row * SIDE + i];
        d->weight[i] = cell_of(x, row * SIDE + i, row * SIDE, 1, SIDE);
    }
    d->in.name++; /* the first row is cat's */
    line_start(&worked, m->face);
    quiz_work(&worked, m, FOCUS_WEIGHT, column);
    say_table(m, x, row, column);
    m->question->stage = 3;
    return quiz_options(m, &a, &worked);
}

/* ---- 7: how large scores grow ---------------------------------------------------------------- */

static int make_size(quiz_maker *m)
{
    quiz_answers a = {0, 0, LESSON_KEEP_INTEGER, 0, {{0, LESSON_W_STAGE}}};
    lesson_line worked;
    const int32_t root = 2 + quiz_below(m, 15);
    char d[LESSON_NUMBER_BYTES], r[LESSON_NUMBER_BYTES];
    lesson_number_integer(d, (int64_t)root * root);
    lesson_number_integer(r, root);
    a.right = root;
    quiz_wrong(&a, (double)root * root, LESSON_W_MISTAKE_VARIANCE);
    quiz_wrong(&a, 1, LESSON_W_MISTAKE_AFTER);
    quiz_wrong(&a, 1.0 / root, LESSON_W_MISTAKE_FACTOR);
    line_start(&worked, m->face);
    line_say(&worked, LESSON_W_QUIZ_SIZE_WORKED, d, r, NULL);
    say(m, LESSON_W_QUIZ_SIZE, d, NULL, NULL);
    m->question->stage = 2;
    return quiz_options(m, &a, &worked);
}

int quiz_make(quiz_maker *m, int32_t number)
{
    static int (*const make[QUIZ_GENERATED])(quiz_maker *) = {make_winner, make_score, make_scaled,
                                                              make_weight, make_mask,  make_output,
                                                              make_table,  make_size};
    return make[number](m);
}
