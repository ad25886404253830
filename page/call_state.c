/* SPDX-License-Identifier: MIT */
/* call_state.c - calls that change what the reader chose. Each reads a state as text, changes one
 * thing and answers with the whole state as text; lesson/state.c judges every value.
 */
#include "page/lab_store.h"
#include "page/page.h"

/* "w1", "k2.0": as the state's own text has it; empty when the figure chooses. */
static void answer_focus(view_json *json, const lesson_focus *focus)
{
    static const char letters[] = "-qkvscwhzo";
    const int has_key = focus->kind != FOCUS_QUERY && focus->kind < FOCUS_SUM;
    const int has_channel =
        focus->kind <= FOCUS_VALUE || focus->kind == FOCUS_SHARE || focus->kind == FOCUS_OUTPUT;
    if (focus->kind != FOCUS_NONE) {
        const char letter[2] = {letters[focus->kind], 0};
        line_text(json->line, letter);
        if (has_key) line_integer(json->line, focus->key);
        if (has_channel) line_text(json->line, ".");
        if (has_channel) line_integer(json->line, focus->channel);
    }
    view_line(json, "focus");
}

/* The state as a link, which leaves out opened tables and says how large they are. */
static void write_link(const lesson_state *state, const lesson_sink *sink)
{
    lesson_state *const copy = (lesson_state *)page_take(sizeof *copy);
    lab_sizes z;
    if (copy != NULL && state->data == DATA_FILE && lab_sizes_of(state, &z)) {
        *copy = *state;
        copy->lost_tokens = (int32_t)z.keys;
        copy->lost_d_k = (int32_t)z.d_k;
        copy->lost_d_v = (int32_t)z.d_v;
        state = copy;
    }
    lesson_state_write(state, 0, sink);
}

/* The state with all its numbers ("state"), as a link where it fits one ("link"), and what the page
 * says about it. */
static void answer_state(const lesson_state *state, const lesson_trouble *trouble)
{
    view_json json;
    page_object(&json, &page_face);
    view_open_text(&json, "state");
    const lesson_sink inner = view_text_sink(&json);
    lesson_state_write(state, 1, &inner);
    view_close_text(&json);
    view_open_text(&json, "link");
    write_link(state, &inner);
    view_close_text(&json);
    view_flag(&json, "fits", lesson_state_fits_link(state));
    view_flag(&json, "changed", lesson_state_changed(state));
    view_open(&json, "detached", '[');
    for (const char *p = "QKV"; *p != 0; p++) {
        const char letter[2] = {*p, 0};
        if (lesson_state_detached(state, *p)) view_text(&json, NULL, letter);
    }
    view_close(&json, ']');
    view_text(&json, "section", lesson_section_id(state->section));
    view_integer(&json, "stage", state->stage);
    view_integer(&json, "token", state->token);
    view_integer(&json, "tokens", state->tokens);
    answer_focus(&json, &state->focus);
    view_integer(&json, "quiz_seed", state->quiz_seed);
    view_integer(&json, "quiz_question", state->quiz_question);
    if (trouble->kind != TROUBLE_NONE) view_text(&json, "note", trouble->text);
    view_close(&json, '}');
}

static void answer(const lesson_state *state, qkv_status status, const lesson_trouble *trouble)
{
    if (status == QKV_OK)
        answer_state(state, trouble);
    else
        page_fail(status == QKV_ENOMEM ? "There is no memory for this." : trouble->text);
}

lesson_state *page_state(page_request *rest, lesson_trouble *trouble)
{
    *trouble = (lesson_trouble){0};
    const page_request text = page_line(rest);
    lesson_state *const state = (lesson_state *)page_take(sizeof *state);
    const qkv_status status =
        state == NULL ? QKV_ENOMEM
                      : lesson_state_read(state, text.text, text.bytes, &page_memory, trouble);
    if (status == QKV_OK) return state;
    answer(state, status, trouble);
    return NULL;
}

/* A whole number that the page itself wrote: a place in a table. */
static int32_t place(const page_request *text)
{
    int64_t x = -1;
    if (lesson_number_parse_integer(text->text, text->bytes, &x) != LESSON_NUMBER_OK) return -1;
    return x < 0 || x > INT32_MAX ? -1 : (int32_t)x;
}

void page_call_state(page_request request)
{
    lesson_trouble trouble;
    const lesson_state *const state = page_state(&request, &trouble);
    if (state != NULL) answer(state, QKV_OK, &trouble);
}

void page_call_set(page_request request)
{
    lesson_trouble trouble;
    lesson_state *const state = page_state(&request, &trouble);
    if (state == NULL) return;
    qkv_status status = QKV_OK;
    while (status == QKV_OK && request.bytes > 0) {
        const page_request key = page_line(&request), value = page_line(&request);
        char name[32];
        size_t n = key.bytes < sizeof name - 1 ? key.bytes : sizeof name - 1;
        for (size_t i = 0; i < n; i++) name[i] = key.text[i];
        name[n] = 0;
        status = lesson_state_set(state, name, value.text, value.bytes, &page_memory, &trouble);
    }
    answer(state, status, &trouble);
}

void page_call_edit(page_request request)
{
    lesson_trouble trouble;
    lesson_state *const state = page_state(&request, &trouble);
    if (state == NULL) return;
    const page_request letter = page_line(&request), row = page_line(&request);
    const page_request column = page_line(&request), value = page_line(&request);
    const char which = letter.bytes > 0 ? letter.text[0] : '?';
    const qkv_status status = lesson_state_edit(state, which, place(&row), place(&column),
                                                value.text, value.bytes, &page_memory, &trouble);
    answer(state, status, &trouble);
}

void page_call_reconnect(page_request request)
{
    lesson_trouble trouble;
    lesson_state *const state = page_state(&request, &trouble);
    if (state == NULL) return;
    for (; request.bytes > 0 && *request.text != '\n'; request.text++, request.bytes--) {
        const qkv_status status = lesson_state_reconnect(state, *request.text);
        if (status != QKV_OK) {
            page_fail("Only Q, K and V can be connected again.");
            return;
        }
    }
    answer(state, QKV_OK, &trouble);
}

void page_call_numbers(page_request request)
{
    lesson_trouble trouble;
    lesson_state *const state = page_state(&request, &trouble);
    if (state != NULL) answer(state, lesson_state_lesson_numbers(state, &page_memory), &trouble);
}

/* x + tenths / 10, of as few decimals as x has where those are tenths: 0.2 + 0.1 is 0.3. */
static double stepped(double x, int64_t tenths)
{
    const double large = 1e15, by = (double)tenths / 10;
    if (!(x < large && x > -large)) return x + by;
    const double y = x * 10;
    const int64_t whole = (int64_t)(y < 0 ? y - 0.5 : y + 0.5);
    const double off = y - (double)whole;
    if (off > 1e-9 || off < -1e-9) return x + by;
    return (double)(whole + tenths) / 10;
}

void page_call_step(page_request request)
{
    const page_request by = page_line(&request), typed = page_line(&request);
    int64_t tenths = 0;
    double x = 0;
    const lesson_number_status status = lesson_number_parse(typed.text, typed.bytes, &x, NULL);
    if (status != LESSON_NUMBER_OK ||
        lesson_number_parse_integer(by.text, by.bytes, &tenths) != LESSON_NUMBER_OK) {
        page_fail(lesson_number_reason(status));
        return;
    }
    view_json json;
    page_object(&json, &page_face);
    view_exact(&json, "text", stepped(x, tenths));
    view_close(&json, '}');
}
