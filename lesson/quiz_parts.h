/* SPDX-License-Identifier: MIT */
/* quiz_parts.h - what quiz.c and quiz_kinds.c share: drawn numbers, and options with the mistake that
 * each of them comes from. Faces include quiz.h instead.
 */
#ifndef QKV_LESSON_QUIZ_PARTS_H
#define QKV_LESSON_QUIZ_PARTS_H

#include "lesson/figures.h"
#include "lesson/quiz.h"
#include "lesson/worked.h"

enum { QUIZ_TOKENS = 4, QUIZ_CHANNELS = 2, QUIZ_CANDIDATES = 8 };

/* One query against four keys, small whole numbers, with every stage. */
typedef struct quiz_draw {
    double q[QUIZ_CHANNELS];
    double k[QUIZ_TOKENS * QUIZ_CHANNELS], v[QUIZ_TOKENS * QUIZ_CHANNELS];
    double score[QUIZ_TOKENS], scaled[QUIZ_TOKENS], weight[QUIZ_TOKENS];
    double out[QUIZ_CHANNELS];
    int64_t at[QUIZ_TOKENS];
    int32_t tokens; /* how many of them there are in this question */
    int32_t seen;   /* the causal mask lets the first so many through */
    lesson_input in;
    lesson_stages stages;
    lesson_view view;
} quiz_draw;

typedef struct quiz_candidate {
    double value;
    lesson_word why;
} quiz_candidate;

typedef struct quiz_answers {
    double right;
    double apart;   /* wrong ones that are nearer to the right one are not taken */
    unsigned flags; /* how numbers are printed: LESSON_KEEP_INTEGER or 0 */
    int32_t n;
    quiz_candidate wrong[QUIZ_CANDIDATES]; /* the first three that differ are taken */
} quiz_answers;

typedef struct quiz_maker {
    lesson_question *question;
    const lesson_face *face; /* two decimals, no colour */
    root_random random;
    quiz_draw draw;
} quiz_maker;

int32_t quiz_below(quiz_maker *m, int32_t bound); /* 0 ... bound - 1 */
void quiz_put(char *text, size_t size, const lesson_line *line);
void quiz_wrong(quiz_answers *a, double value, lesson_word why);
/* New numbers, all stages of them over the first `seen` of `tokens` keys. */
void quiz_draw_new(quiz_maker *m, int32_t tokens, int32_t seen);
/* Softmax over n scores times scale, into w. */
void quiz_softmax(double *w, const double *score, int32_t n, double scale);
void quiz_line_vector(lesson_line *line, const double *x);
/* "the has the key [1,0], cat ..."; with values where asked for */
void quiz_line_tokens(lesson_line *line, const quiz_maker *m, int with_values);
const char *quiz_token(int32_t token);
/* The worked line of one of the stages 1 ... 3 for a key, or of the output's first number. */
void quiz_work(lesson_line *line, quiz_maker *m, int32_t kind, int32_t key);

/* Makes one of the eight from what the maker's random numbers give: 0 when the drawn numbers do not
 * make three different mistakes, or more than one right answer. */
int quiz_make(quiz_maker *m, int32_t number);
/* Options from the answers, shuffled; 0 when fewer than three wrong ones differ. */
int quiz_options(quiz_maker *m, const quiz_answers *a, const lesson_line *worked);
/* Puts the option that stands first somewhere, the others in any order. */
void quiz_shuffle(quiz_maker *m);

#endif /* QKV_LESSON_QUIZ_PARTS_H */
