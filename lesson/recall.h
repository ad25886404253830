/* SPDX-License-Identifier: MIT */
/* recall.h - the recall exercise and its schedule: cards that come back after 1, 3, 7, 21 and 60 days.
 *
 * Dates are whole days since 1970-01-01, given by the caller; nothing here asks a clock or stores
 * anything. A plan as text is what a face may keep, if its reader wants that.
 */
#ifndef QKV_LESSON_RECALL_H
#define QKV_LESSON_RECALL_H

#include "lesson/lesson.h"

enum {
    RECALL_CARDS = 10,
    RECALL_POINTS = 8, /* of the self-check, in the order of the formula */
    RECALL_HINTS = 5,  /* each says more than the one before */
    RECALL_NEVER = -1
};

typedef struct recall_plan {
    int32_t
        step[RECALL_CARDS]; /* RECALL_NEVER, 0 ... 4: how often it was remembered in a row, -1 */
    int64_t last[RECALL_CARDS]; /* day of the last answer; RECALL_NEVER */
} recall_plan;

void recall_start(recall_plan *plan);
/* "r1;-1:-1;0:20000;..."; 0 when it is none, the plan is then the start. */
int recall_read(recall_plan *plan, const char *text, size_t bytes);
void recall_write(const recall_plan *plan, const lesson_sink *sink);

/* The day on which the card comes back; RECALL_NEVER when it was never asked. A card that was
 * forgotten comes back on the same day, at the end of the session. */
int64_t recall_due(const recall_plan *plan, int card);
int recall_is_due(const recall_plan *plan, int card, int64_t today);
void recall_answer(recall_plan *plan, int card, int remembered, int64_t today);
int recall_interval(int step); /* days: 1, 3, 7, 21, 60 */

typedef struct recall_card {
    int32_t front, back; /* lesson_words */
} recall_card;
const recall_card *recall_card_at(int card);

int32_t recall_hint(int n);  /* a lesson_word; -1 */
int32_t recall_point(int n); /* a lesson_word; -1 */

/* All cards for Anki: a line each, front, tab, back, HTML-escaped; UTF-8. */
void recall_anki(const lesson_sink *sink);

#endif /* QKV_LESSON_RECALL_H */
