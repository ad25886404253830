/* SPDX-License-Identifier: MIT */
/* worked.h - the pieces that worked lines are put together from, and the worked line of any shown
 * number of the calculator.
 *
 * The invariant of every worked line: the printed operation on the operands as they are printed
 * gives the printed result within one unit of its last digit.
 */
#ifndef QKV_LESSON_WORKED_H
#define QKV_LESSON_WORKED_H

#include "lesson/table.h"

enum { DIGITS_MOST = 17, ALL_DIGITS = DIGITS_MOST + 1, TERMS_MOST = 48 };
/* as right_role: a plain sum, its terms are the left numbers alone (the right ones are 1) */
enum { WORK_NO_FACTOR = '1' };

typedef struct operand {
    double value; /* of the text: what a reader calculates with */
    char text[LESSON_NUMBER_BYTES];
} operand;

/* digits from the face's up; ALL_DIGITS: every digit that the number has. */
operand work_operand(const lesson_face *face, double x, int digits, unsigned flags);
/* One that is not first and negative stands in parentheses. role: 'q', 'k', 'v' or 0 */
void work_put(lesson_line *line, const operand *o, int first, char role);
/* Does x, rounded as the result is, give the printed result? */
int work_gives(const lesson_face *face, double x, const operand *result, int digits,
               unsigned flags);
void work_label(lesson_line *line, const lesson_view *view, int64_t key);

typedef struct product_sum {
    const double *left, *right; /* terms left[at(t)] * right[at(t) * stride] */
    int64_t stride;
    const int64_t *at; /* NULL: 0, 1, 2, ... */
    int64_t terms;
    unsigned left_flags; /* LESSON_KEEP_INTEGER for vectors, 0 for weights */
    char left_role, right_role;
} product_sum;

/* "a·b + c·d = x": the fewest digits and the most terms that fit the limit. */
void work_sum(lesson_line *line, const product_sum *s, double x, unsigned flags, int limit);

/* The line of the number in focus, of the stages up to the input's; FOCUS_NONE and what is not
 * reached yet fall back to the line that the table itself shows (the row that wins; at stage 4 the
 * output, all of it where it fits). Returns the key whose row the line speaks of, -1 for the sum,
 * -2 for the query. */
int64_t worked_focus(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                     const lesson_focus *focus);
/* That the row holds a number that is not finite, where the worked line speaks of another one. */
void worked_odd(lesson_line *line, const lesson_view *view, const lesson_line *worked);

#endif /* QKV_LESSON_WORKED_H */
