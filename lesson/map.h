/* SPDX-License-Identifier: MIT */
/* map.h - what a map of all queries by all keys shows, the same for every face: at stage 1 the
 * scores, at stage 2 the scaled scores, from stage 3 on the weights. Rows and keys count from the
 * beginning of the input's range.
 */
#ifndef QKV_LESSON_MAP_H
#define QKV_LESSON_MAP_H

#include "lesson/compose.h"

double map_value(const lesson_view *view, int64_t row, int64_t key);
int map_sees(const lesson_view *view, int64_t row, int64_t key);
/* 0 and 1 for weights, else the least and the largest visible finite score; 0 when there is none. */
int map_range(const lesson_view *view, double *low, double *high);
/* Is a visible one not finite? */
int map_has_odd(const lesson_view *view);
/* The visible key with the largest value of a row, -1: none. */
int64_t map_most(const lesson_view *view, int64_t row);
/* How many others of the row have the value of that key. */
int64_t map_tied(const lesson_view *view, int64_t row, int64_t key);
void line_map_caption(lesson_line *line, const lesson_view *view);
/* Which keys a query sees, under a mask; `shift` is the offset as text. */
void line_map_mask(lesson_line *line, const lesson_view *view, const char *shift);

#endif /* QKV_LESSON_MAP_H */
