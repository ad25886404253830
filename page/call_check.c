/* SPDX-License-Identifier: MIT */
/* call_check.c - questions by number and seed, and the schedule of recall as text: the plan comes in,
 * the plan goes out; the page keeps it only where its reader asked for that.
 */
#include "page/page.h"

#include "lesson/recall.h"

/* A whole number in a line of its own. */
static int64_t whole(page_request *rest, int64_t otherwise)
{
    const page_request line = page_line(rest);
    int64_t x = otherwise;
    if (lesson_number_parse_integer(line.text, line.bytes, &x) != LESSON_NUMBER_OK)
        return otherwise;
    return x;
}

void page_call_question(page_request request)
{
    const int64_t number = whole(&request, -1), seed = whole(&request, 1);
    view_json json;
    page_object(&json, &page_face);
    const qkv_status status =
        number < 0 || number > INT32_MAX
            ? QKV_EARG
            : view_question(&json, (int32_t)number, (uint32_t)seed, &page_face, &page_memory);
    if (status != QKV_OK)
        page_fail("There is no such question.");
    else
        view_close(&json, '}');
}

/* The plan, and the cards that are due. */
static void answer_plan(view_json *json, const recall_plan *plan, int64_t today)
{
    view_open_text(json, "plan");
    const lesson_sink inner = view_text_sink(json);
    recall_write(plan, &inner);
    view_close_text(json);
    view_open(json, "due", '[');
    for (int i = 0; i < RECALL_CARDS; i++)
        if (recall_is_due(plan, i, today)) view_integer(json, NULL, i);
    view_close(json, ']');
}

void page_call_recall(page_request request)
{
    recall_plan plan;
    const page_request text = page_line(&request);
    const int64_t today = whole(&request, 0);
    recall_read(&plan, text.text, text.bytes);
    view_json json;
    page_object(&json, &page_face);
    answer_plan(&json, &plan, today);
    view_open(&json, "cards", '[');
    for (int i = 0; i < RECALL_CARDS; i++) {
        view_open(&json, NULL, '[');
        view_text(&json, NULL, lesson_word_text((lesson_word)recall_card_at(i)->front));
        view_text(&json, NULL, lesson_word_text((lesson_word)recall_card_at(i)->back));
        view_close(&json, ']');
    }
    view_close(&json, ']');
    view_close(&json, '}');
}

void page_call_recall_answer(page_request request)
{
    recall_plan plan;
    const page_request text = page_line(&request);
    const int64_t today = whole(&request, 0), card = whole(&request, -1), knew = whole(&request, 0);
    recall_read(&plan, text.text, text.bytes);
    if (card < 0 || card >= RECALL_CARDS) {
        page_fail("There is no such card.");
        return;
    }
    recall_answer(&plan, (int)card, knew != 0, today);
    view_json json;
    page_object(&json, &page_face);
    answer_plan(&json, &plan, today);
    const int64_t days = recall_due(&plan, (int)card) - today;
    line_say_numbers(json.line,
                     days <= 0   ? LESSON_W_RECALL_LATER
                     : days == 1 ? LESSON_W_RECALL_IN_ONE_DAY
                                 : LESSON_W_RECALL_IN_DAYS,
                     days, 0, NULL);
    view_line(&json, "says");
    view_close(&json, '}');
}

void page_call_anki(page_request request)
{
    (void)request;
    recall_anki(&page_answer);
}
