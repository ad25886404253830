/* SPDX-License-Identifier: MIT */
/* map_rows.h - one row of a large map, quickly: the reference's operations in the reference's order,
 * four keys side by side, so that every bit is that of stages.c. For pictures of thousands of rows;
 * what is shown as a number still goes through the reference itself.
 */
#ifndef QKV_LESSON_MAP_ROWS_H
#define QKV_LESSON_MAP_ROWS_H

#include "lesson/lesson.h"

/* x [keys]: scores at stage 1, scaled scores at 2, weights from 3 on. Keys that the row does not see
 * have a score, and the weight 0. */
void map_row(const lesson_input *in, int64_t row, int32_t stage, double *x);

#endif /* QKV_LESSON_MAP_ROWS_H */
