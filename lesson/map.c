/* SPDX-License-Identifier: MIT */
/* map.c - see map.h. Values only; how they are drawn is the business of each render_*.c. */
#include "lesson/map.h"

#include "lesson/table.h"

double map_value(const lesson_view *view, int64_t row, int64_t key)
{
    const lesson_stages *const s = view->stages;
    const int32_t stage = view->in->stage;
    const double *const x = stage == 1 ? s->score : stage == 2 ? s->scaled : s->weight;
    return x[row * s->keys + key];
}

int map_sees(const lesson_view *view, int64_t row, int64_t key)
{
    return lesson_sees(view->in, view->in->row_begin + row, view->in->key_begin + key);
}

int map_range(const lesson_view *view, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (view->in->stage >= 3) return 1;
    int first = 1;
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++) {
            const double x = map_value(view, i, j);
            if (!map_sees(view, i, j) || !lesson_finite(x)) continue;
            if (first || x < *low) *low = x;
            if (first || x > *high) *high = x;
            first = 0;
        }
    return !first;
}

int map_has_odd(const lesson_view *view)
{
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++)
            if (map_sees(view, i, j) && !lesson_finite(map_value(view, i, j))) return 1;
    return 0;
}

int64_t map_most(const lesson_view *view, int64_t row)
{
    int64_t best = -1;
    for (int64_t j = 0; j < view->stages->keys; j++) {
        if (!map_sees(view, row, j)) continue;
        const double x = map_value(view, row, j);
        const double most = best < 0 ? x : map_value(view, row, best);
        if (best < 0 || x > most || (most != most && x == x)) best = j;
    }
    return best;
}

int64_t map_tied(const lesson_view *view, int64_t row, int64_t key)
{
    int64_t tied = 0;
    for (int64_t j = 0; j < view->stages->keys; j++)
        tied += j != key && map_sees(view, row, j) &&
                map_value(view, row, j) == map_value(view, row, key);
    return tied;
}

void line_map_caption(lesson_line *line, const lesson_view *view)
{
    if (view->in->stage == 1) line_word(line, LESSON_W_MAP_SCORES);
    if (view->in->stage == 2) {
        lesson_line scale;
        line_start(&scale, view->face);
        line_scale(&scale, view->in);
        line_say(line, LESSON_W_MAP_SCALED, scale.text, NULL, NULL);
    }
    if (view->in->stage >= 3) line_word(line, LESSON_W_MAP_WEIGHTS);
}

void line_map_mask(lesson_line *line, const lesson_view *view, const char *shift)
{
    if (view->in->padding > 0) {
        lesson_line keys;
        line_start(&keys, view->face);
        line_count_keys(&keys, view->in->padding);
        line_say(line, LESSON_W_MAP_PADDING, keys.text, NULL, NULL);
    }
    if (view->in->wrong_way) {
        if (line->n > 0) line_text(line, " ");
        line_word(line, LESSON_W_WRONG_WAY);
    }
    if (!view->in->causal) return;
    if (line->n > 0) line_text(line, " ");
    line_say(line, view->in->q_offset == 0 ? LESSON_W_MAP_CAUSAL : LESSON_W_MAP_CAUSAL_SHIFT, shift,
             NULL, NULL);
}
