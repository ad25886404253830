/* SPDX-License-Identifier: MIT */
/* quiz.h - questions with one right answer: two of the lesson, eight about numbers that a seed draws.
 *
 * Each wrong option of a generated question is what a named mistake gives; its reason names the
 * mistake. Options are all different as they are printed (two decimals). The same seed gives the
 * same questions everywhere. Every option, right or wrong, has its reason.
 */
#ifndef QKV_LESSON_QUIZ_H
#define QKV_LESSON_QUIZ_H

#include "lesson/lesson.h"

enum {
    QUIZ_LESSON = 2,    /* questions 0 and 1: the lesson's own, the same for every seed */
    QUIZ_GENERATED = 8, /* questions 2 ... 9 */
    QUIZ_QUESTIONS = QUIZ_LESSON + QUIZ_GENERATED,
    QUIZ_OPTIONS = 4
};

typedef struct quiz_option {
    char text[160];
    char reason[480];
} quiz_option;

typedef struct lesson_question {
    int32_t number;  /* 0 ... 9 */
    int32_t options; /* 4 */
    int32_t right;   /* which of them */
    int32_t stage;   /* the stage that proves it: "See it at stage 4" */
    char text[640];
    quiz_option option[QUIZ_OPTIONS];
    char worked[1200]; /* the arithmetic of the right answer */
} lesson_question;

/* Text by the face's signs, without marks; 0, or -1 for a number that is none. */
int lesson_question_make(lesson_question *question, int32_t number, uint32_t seed,
                         const lesson_face *face);

#endif /* QKV_LESSON_QUIZ_H */
