/* SPDX-License-Identifier: MIT */
/* article.c - prints the lesson as JSON for tools/build_page.py, which makes the article of the page
 * from it: all words by name, the blocks of each section with their marks taken apart, and the
 * calculator's models at each stage. A program of the build; nothing of it is installed.
 *
 * The words and numbers of the page's HTML are these and no others.
 */
#include "lesson/course.h"
#include "lesson/quiz.h"
#include "lesson/recall.h"
#include "lesson/view.h"

#include <stdio.h>
#include <stdlib.h>

static void write_stdout(void *ctx, const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, (FILE *)ctx);
}

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static const lesson_memory memory = {take, NULL};

/* Names here are the lesson's own. */
static int safe(char *buffer, size_t size, const char *text, size_t bytes, int max_columns)
{
    (void)max_columns;
    const size_t n = bytes < size ? bytes : size - 1;
    for (size_t i = 0; i < n; i++) buffer[i] = text[i];
    buffer[n] = 0;
    return (int)n;
}

static int columns(const char *text)
{
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static const lesson_face face = {80, 1, LESSON_MARKS, 2, safe, columns};

static const char *const names[] = {
#define LESSON_WORD(id, text) #id,
#include "lesson/words.inc"
#undef LESSON_WORD
};

static void pieces(view_json *json, const char *key, int32_t word)
{
    static const char *const kinds[] = {"text", "strong", "q", "k", "v", "code", "math"};
    const char *at = lesson_word_text((lesson_word)word);
    lesson_inline piece;
    view_open(json, key, '[');
    while (lesson_inline_next(&at, &piece)) {
        view_open(json, NULL, '[');
        view_text(json, NULL, kinds[piece.kind]);
        view_bytes(json, NULL, piece.text, piece.bytes);
        view_close(json, ']');
    }
    view_close(json, ']');
}

static void block(view_json *json, const lesson_block *b)
{
    view_open(json, NULL, '{');
    view_integer(json, "kind", b->kind);
    view_integer(json, "figure", b->figure);
    view_integer(json, "stage", b->stage);
    if (b->word >= 0) pieces(json, "text", b->word);
    view_open(json, "more", '[');
    for (int i = 0; i < 4 && b->more[i] >= 0; i++) pieces(json, NULL, b->more[i]);
    view_close(json, ']');
    view_close(json, '}');
}

static void course(view_json *json)
{
    view_open(json, "sections", '[');
    for (int n = 0; n < STATE_SECTIONS; n++) {
        const lesson_section *const s = lesson_course(n);
        view_open(json, NULL, '{');
        view_text(json, "id", s->id);
        pieces(json, "title", s->title);
        view_open(json, "blocks", '[');
        for (int32_t i = 0; i < s->blocks; i++) block(json, &s->block[i]);
        view_close(json, ']');
        view_close(json, '}');
    }
    view_close(json, ']');
    view_open(json, "refreshers", '[');
    for (int n = 0; n < COURSE_REFRESHERS; n++) {
        view_open(json, NULL, '{');
        pieces(json, "name", lesson_refresher(n)->name);
        pieces(json, "text", lesson_refresher(n)->text);
        view_close(json, '}');
    }
    view_close(json, ']');
    view_open(json, "parts", '[');
    for (int n = 0; n < COURSE_PARTS; n++) {
        view_open(json, NULL, '{');
        view_integer(json, "stage", lesson_formula_part(n)->stage);
        pieces(json, "name", lesson_formula_part(n)->name);
        pieces(json, "words", lesson_formula_part(n)->words);
        view_close(json, '}');
    }
    view_close(json, ']');
}

static void questions(view_json *json)
{
    static const lesson_face plain = {80, 1, 0, 2, safe, columns};
    view_open(json, "questions", '[');
    for (int32_t i = 0; i < QUIZ_LESSON; i++) {
        view_open(json, NULL, '{');
        view_question(json, i, 1, &plain, &memory);
        view_close(json, '}');
    }
    view_close(json, ']');
    view_open(json, "hints", '[');
    for (int i = 0; i < RECALL_HINTS; i++) pieces(json, NULL, recall_hint(i));
    view_close(json, ']');
    view_open(json, "points", '[');
    for (int i = 0; i < RECALL_POINTS; i++) pieces(json, NULL, recall_point(i));
    view_close(json, ']');
}

static void words(view_json *json)
{
    view_open(json, "words", '{');
    for (int i = 0; i < LESSON_WORDS; i++)
        view_text(json, names[i], lesson_word_text((lesson_word)i));
    view_close(json, '}');
}

static int calculator(view_json *json, const lesson_sink *sink)
{
    lesson_state state;
    if (lesson_state_start(&state, &memory) != QKV_OK) return 0;
    view_open(json, "calculator", '[');
    for (state.stage = 0; state.stage <= 4; state.stage++) {
        lesson_input in;
        lesson_stages stages;
        qkv_error err = qkv_error_init();
        lesson_state_input(&state, 0, &in);
        if (lesson_run(&stages, &in, 0, &memory, &err) != QKV_OK) return 0;
        const lesson_view view = {&in, &stages, &face, sink, &memory};
        const view_of of = {&state, &view};
        view_open(json, NULL, '{');
        if (view_calc(json, &of) != QKV_OK) return 0;
        view_close(json, '}');
    }
    view_close(json, ']');
    return 1;
}

int main(void)
{
    const lesson_sink sink = {write_stdout, stdout};
    static lesson_line line;
    view_json json = {&sink, &line, 0};
    line_start(&line, &face);
    view_open(&json, NULL, '{');
    words(&json);
    course(&json);
    questions(&json);
    const int good = calculator(&json, &sink);
    view_close(&json, '}');
    putchar('\n');
    if (!good) fprintf(stderr, "page_article: the lesson could not be computed\n");
    return good && fflush(stdout) == 0 ? 0 : 1;
}
