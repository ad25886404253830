/* SPDX-License-Identifier: MIT */
/* wasm.c - the three exported functions. page_request makes room for a request, page_call answers
 * it, page_bytes says how long the answer is. Text stays text: what a call means is in call_*.c.
 */
#include "page/page.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT char *page_request_room(size_t bytes);
EXPORT const char *page_call(size_t bytes);
EXPORT size_t page_bytes(void);

/* ---- the answer ------------------------------------------------------------------------------ */

static char *answer;
static size_t answer_bytes, answer_room;
static int answer_lost; /* no memory: the answer is not whole */

static void copy(char *to, const char *from, size_t n)
{
    __builtin_memcpy(to, from, n);
}

static void write(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    if (n > answer_room - answer_bytes) {
        size_t room = answer_room < 4096 ? 8192 : answer_room * 2;
        while (room - answer_bytes < n) room *= 2;
        char *const more = (char *)page_take(room);
        if (more == NULL) {
            answer_lost = 1;
            return;
        }
        copy(more, answer, answer_bytes);
        answer = more;
        answer_room = room;
    }
    copy(answer + answer_bytes, text, n);
    answer_bytes += n;
}

const lesson_sink page_answer = {write, NULL};

void page_say(const char *text)
{
    write(NULL, text, text_length(text));
}

void page_fail(const char *sentence)
{
    answer_bytes = 0;
    page_say("{\"error\": \"");
    for (const char *p = sentence; *p != 0; p++) {
        const char c = *p;
        if (c == '"' || c == '\\') write(NULL, "\\", 1);
        if ((unsigned char)c >= 0x20) write(NULL, &c, 1);
    }
    page_say("\"}");
}

void page_object(view_json *json, const lesson_face *face)
{
    static lesson_line line;
    *json = (view_json){&page_answer, &line, 0};
    line_start(&line, face);
    view_open(json, NULL, '{');
}

/* ---- the request ----------------------------------------------------------------------------- */

static char *request;
static size_t request_room;

EXPORT char *page_request_room(size_t bytes)
{
    page_take_reset();
    answer = NULL;
    answer_bytes = answer_room = 0;
    answer_lost = 0;
    request = (char *)page_take(bytes + 1);
    request_room = request != NULL ? bytes : 0;
    return request;
}

page_request page_line(page_request *rest)
{
    page_request line = {rest->text, 0};
    while (line.bytes < rest->bytes && rest->text[line.bytes] != '\n') line.bytes++;
    const size_t skip = line.bytes < rest->bytes ? line.bytes + 1 : line.bytes;
    rest->text += skip;
    rest->bytes -= skip;
    return line;
}

typedef struct call {
    const char *name;
    void (*run)(page_request request);
} call;

static const call calls[] = {
#define PAGE_CALL(name) {#name, page_call_##name},
#include "page/calls.inc"
#undef PAGE_CALL
};

EXPORT const char *page_call(size_t bytes)
{
    page_request rest = {request, bytes < request_room ? bytes : request_room};
    if (request == NULL) {
        page_fail("There is no memory for this.");
        return answer;
    }
    request[rest.bytes] = 0;
    const page_request name = page_line(&rest);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (!text_is(name.text, name.bytes, calls[i].name)) continue;
        calls[i].run(rest);
        if (answer_lost) page_fail("There is no memory for this.");
        return answer;
    }
    page_fail("The page asked for something that its core does not know.");
    return answer;
}

EXPORT size_t page_bytes(void)
{
    return answer_bytes;
}
