/* SPDX-License-Identifier: MIT */
/* tui_plain.c - the lesson line by line: the same blocks in the same order, every detail open, and
 * each figure as sentences without bars or columns, for a screen reader, a pipe or a printer.
 *
 * A document is written as for the screen and printed; nothing moves the cursor or asks the
 * terminal anything. On a terminal the reader is asked between sections.
 */
#include "cli/tui_app.h"
#include "cli/tui_ask.h"

#include <string.h>
#include <unistd.h>

/* ---- figures as sentences -------------------------------------------------------------------- */

typedef struct line_out {
    tui_doc *doc;
    char text[LESSON_LINE_BYTES];
    size_t n;
} line_out;

static void add(void *ctx, const char *text, size_t bytes)
{
    line_out *const out = ctx;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] != '\n') {
            if (out->n + 1 < sizeof out->text) out->text[out->n++] = text[i];
            continue;
        }
        out->text[out->n] = 0;
        doc_wrapped(out->doc, TUI_NORMAL, out->text, 0, 0);
        out->n = 0;
    }
}

void plain_calculator(tui_app *app, tui_doc *doc)
{
    line_out out = {.doc = doc};
    const lesson_sink sink = {add, &out};
    const lesson_view view = {&app->in, &app->stages, &app->face, &sink, &app->picture.memory};
    if (!app->computed || lesson_plain_table(&view) != QKV_OK)
        doc_wrapped(doc, TUI_ALARM, "There is no memory to show this figure.", 0, 0);
}

/* ---- a section ------------------------------------------------------------------------------- */

static void print_doc(const tui_doc *doc)
{
    for (int32_t i = 0; i < doc->line_count; i++) {
        const int32_t end = i + 1 < doc->line_count ? doc->line_start[i + 1] : doc->span_count;
        int column = 0;
        if (i == doc->line_count - 1 && doc->line_start[i] == end) break;
        for (int32_t s = doc->line_start[i]; s < end; s++) {
            const tui_span *const span = &doc->spans[s];
            printf("%*s%s", span->column - column, "", span->text);
            column = span->column + span->columns;
        }
        printf("\n");
    }
}

/* The whole section, or nothing of it: an exit code. */
static int print_section(tui_app *app)
{
    tui_doc doc;
    tui_pool_empty(&app->picture);
    app->computed = app_compute(app);
    doc_start(&doc, &app->picture, &app->face, app->face.width);
    app_write_section(app, &doc, PART_ALL);
    if (!app->computed || app->picture.lost) return cli_failed("no memory for the lesson");
    print_doc(&doc);
    return CLI_DONE;
}

/* ---- between sections ------------------------------------------------------------------------ */

/* "set K 1,0;0,2;2,0;1,1": any key of a state's text; then the calculator with it. */
static void set_key(tui_app *app, const char *key, const char *value)
{
    lesson_trouble trouble = {.kind = TROUBLE_NONE};
    if (lesson_state_set(&app->state, key, value, strlen(value), &app->kept.memory, &trouble) !=
        QKV_OK) {
        char safe[1200];
        app->face.safe(safe, sizeof safe, trouble.text, strlen(trouble.text), 0);
        cli_put_wrapped(stdout, safe, 0, app->face.width);
        return;
    }
    tui_doc doc;
    tui_pool_empty(&app->picture);
    app->computed = app_compute(app);
    doc_start(&doc, &app->picture, &app->face, app->face.width);
    plain_calculator(app, &doc);
    print_doc(&doc);
}

static void tell_answers(const tui_app *app)
{
    cli_put_wrapped(stdout,
                    "Enter: the next section. back: the one before. 1 to 8: that section. token "
                    "NAME, stage N: the calculator from there. set KEY VALUE: any number or "
                    "setting, as in --state; set K 1,0;0,2;2,0;3,1 changes the keys. q: leave.",
                    0, app->face.width);
}

/* Reads answers until one turns a page; false: the reader leaves. */
static bool turn(tui_app *app)
{
    char answer[2048];
    for (;;) {
        if (!ask_line("Enter reads on, ? lists more, q leaves: ", answer, sizeof answer))
            return false;
        const int section = answer[0] - '1';
        char *const word = strchr(answer, ' ');
        char *const second = word && strncmp(answer, "set ", 4) == 0 ? strchr(word + 1, ' ') : NULL;
        if (second) *second = 0;
        if (!answer[0]) {
            app->state.section++;
            return app->state.section < STATE_SECTIONS;
        } else if (strcmp(answer, "q") == 0) {
            return false;
        } else if (strcmp(answer, "back") == 0) {
            if (app->state.section > 0) app->state.section--;
            return true;
        } else if (section >= 0 && section < STATE_SECTIONS && !answer[1]) {
            app->state.section = section;
            return true;
        } else if (word && strncmp(answer, "token ", 6) == 0) {
            set_key(app, "t", word + 1);
        } else if (word && strncmp(answer, "stage ", 6) == 0) {
            set_key(app, "st", word + 1);
        } else if (second) {
            set_key(app, word + 1, second + 1);
        } else {
            tell_answers(app);
        }
    }
}

int lesson_plain(tui_app *app, bool one_section)
{
    app->plain = true;
    app->face.width = cli_width();
    const bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !one_section;
    for (;;) {
        const int bad = print_section(app);
        if (bad || one_section) return bad;
        printf("\n");
        if (asks) {
            if (!turn(app)) return CLI_DONE;
        } else if (++app->state.section == STATE_SECTIONS) {
            return CLI_DONE;
        }
    }
}
