/* SPDX-License-Identifier: MIT */
/* recall.c - see recall.h. All of it is a function of what the caller passes: the plan and the day. */
#include "lesson/recall.h"

#include "lesson/compose.h"

static const int32_t intervals[] = {1, 3, 7, 21, 60};
enum { LAST_STEP = 4 };

static const recall_card cards[RECALL_CARDS] = {
    {LESSON_W_CARD_1, LESSON_W_CARD_1_BACK}, {LESSON_W_CARD_2, LESSON_W_CARD_2_BACK},
    {LESSON_W_CARD_3, LESSON_W_CARD_3_BACK}, {LESSON_W_CARD_4, LESSON_W_CARD_4_BACK},
    {LESSON_W_CARD_5, LESSON_W_CARD_5_BACK}, {LESSON_W_CARD_6, LESSON_W_CARD_6_BACK},
    {LESSON_W_CARD_7, LESSON_W_CARD_7_BACK}, {LESSON_W_CARD_8, LESSON_W_CARD_8_BACK},
    {LESSON_W_CARD_9, LESSON_W_CARD_9_BACK}, {LESSON_W_CARD_10, LESSON_W_CARD_10_BACK},
};

const recall_card *recall_card_at(int card)
{
    return card >= 0 && card < RECALL_CARDS ? &cards[card] : NULL;
}

int32_t recall_hint(int n)
{
    return n >= 0 && n < RECALL_HINTS ? LESSON_W_HINT_1 + n : -1;
}

int32_t recall_point(int n)
{
    return n >= 0 && n < RECALL_POINTS ? LESSON_W_POINT_1 + n : -1;
}

int recall_interval(int step)
{
    return intervals[step < 0 ? 0 : step > LAST_STEP ? LAST_STEP : step];
}

/* ---- the schedule ---------------------------------------------------------------------------- */

void recall_start(recall_plan *plan)
{
    for (int i = 0; i < RECALL_CARDS; i++) {
        plan->step[i] = RECALL_NEVER;
        plan->last[i] = RECALL_NEVER;
    }
}

int64_t recall_due(const recall_plan *plan, int card)
{
    if (plan->last[card] == RECALL_NEVER) return RECALL_NEVER;
    if (plan->step[card] == RECALL_NEVER) return plan->last[card];
    return plan->last[card] + recall_interval(plan->step[card]);
}

int recall_is_due(const recall_plan *plan, int card, int64_t today)
{
    if (plan->last[card] > today) return 1; /* a clock was set back: better once too often */
    return recall_due(plan, card) <= today;
}

void recall_answer(recall_plan *plan, int card, int remembered, int64_t today)
{
    if (card < 0 || card >= RECALL_CARDS) return;
    const int32_t next = plan->step[card] < LAST_STEP ? plan->step[card] + 1 : LAST_STEP;
    plan->step[card] = remembered ? next : RECALL_NEVER;
    plan->last[card] = today;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void put(const lesson_sink *sink, const char *text)
{
    sink->write(sink->ctx, text, text_length(text));
}

void recall_write(const recall_plan *plan, const lesson_sink *sink)
{
    char text[LESSON_NUMBER_BYTES];
    put(sink, "r1");
    for (int i = 0; i < RECALL_CARDS; i++) {
        put(sink, ";");
        lesson_number_integer(text, plan->step[i]);
        put(sink, text);
        put(sink, ":");
        lesson_number_integer(text, plan->last[i]);
        put(sink, text);
    }
}

/* A number up to the next mark, at most bound; 0 when it is none. */
static int read_number(const char *text, size_t bytes, size_t *at, char mark, int64_t most,
                       int64_t *x)
{
    size_t end = *at;
    while (end < bytes && text[end] != mark) end++;
    if (lesson_number_parse_integer(text + *at, end - *at, x) != LESSON_NUMBER_OK) return 0;
    *at = end < bytes ? end + 1 : end;
    return *x >= RECALL_NEVER && *x <= most;
}

int recall_read(recall_plan *plan, const char *text, size_t bytes)
{
    enum { DAYS_MOST = 10000000 };
    recall_plan p;
    recall_start(plan);
    if (bytes < 3 || text[0] != 'r' || text[1] != '1' || text[2] != ';') return 0;
    size_t at = 3;
    for (int i = 0; i < RECALL_CARDS; i++) {
        int64_t step = 0;
        if (!read_number(text, bytes, &at, ':', LAST_STEP, &step) ||
            !read_number(text, bytes, &at, ';', DAYS_MOST, &p.last[i]))
            return 0;
        p.step[i] = (int32_t)step;
        if (p.last[i] == RECALL_NEVER && step != RECALL_NEVER) return 0;
    }
    if (at != bytes) return 0;
    *plan = p;
    return 1;
}

/* ---- cards for Anki -------------------------------------------------------------------------- */

static void put_html(const lesson_sink *sink, const char *text)
{
    for (const char *p = text; *p != 0; p++) {
        if (*p == '&')
            put(sink, "&amp;");
        else if (*p == '<')
            put(sink, "&lt;");
        else if (*p == '>')
            put(sink, "&gt;");
        else if (*p == '"')
            put(sink, "&quot;");
        else
            sink->write(sink->ctx, p, 1);
    }
}

void recall_anki(const lesson_sink *sink)
{
    put(sink, "#separator:tab\n#html:true\n");
    for (int i = 0; i < RECALL_CARDS; i++) {
        put_html(sink, lesson_word_text((lesson_word)cards[i].front));
        put(sink, "\t");
        put_html(sink, lesson_word_text((lesson_word)cards[i].back));
        put(sink, "\n");
    }
}
