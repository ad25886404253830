/* SPDX-License-Identifier: MIT */
/* tui_plain.c - the lesson line by line: the same blocks in the same order, every detail open, and
 * each figure as sentences without bars or columns, for a screen reader, a pipe or a printer.
 *
 * A document is written as for the screen and printed; nothing moves the cursor or asks the
 * terminal anything. On a terminal the reader is asked between sections.
 */
#include "cli/tui_app.h"

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

static void print_section(tui_app *app)
{
    tui_doc doc;
    tui_pool_empty(&app->picture);
    app->computed = app_compute(app);
    doc_start(&doc, &app->picture, &app->face, app->face.width);
    app_write_section(app, &doc, PART_ALL);
    print_doc(&doc);
}

int lesson_plain(tui_app *app, bool one_section)
{
    app->plain = true;
    app->face.width = cli_width();
    const bool asks = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !one_section;
    for (;;) {
        print_section(app);
        if (one_section || app->state.section + 1 == STATE_SECTIONS) return CLI_DONE;
        app->state.section++;
        if (!asks) {
            printf("\n");
            continue;
        }
        printf("\nEnter reads on, q leaves: ");
        fflush(stdout);
        char answer[256];
        if (!fgets(answer, sizeof answer, stdin) || answer[0] == 'q') return CLI_DONE;
    }
}
