/* SPDX-License-Identifier: MIT */
/* tui_state.c - the state behind the screen: read from text, computed, changed, undone.
 *
 * A state's numbers live in app->kept, which only grows; undo and redo read a text into an empty
 * pool, so it never grows for long. Texts of undo are malloc'ed.
 */
#include "cli/tui_app.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_out {
    char *text;
    size_t n, size;
    bool lost; /* memory ran out */
} text_out;

static void add(void *ctx, const char *text, size_t bytes)
{
    text_out *const out = ctx;
    if (out->lost) return;
    if (out->n + bytes + 1 > out->size) {
        const size_t size = 2 * (out->n + bytes) + 256;
        char *const more = realloc(out->text, size);
        if (!more) {
            out->lost = true;
            return;
        }
        out->text = more;
        out->size = size;
    }
    memcpy(out->text + out->n, text, bytes);
    out->n += bytes;
    out->text[out->n] = 0;
}

char *app_state_text(const tui_app *app)
{
    text_out out = {NULL, 0, 0, false};
    const lesson_sink sink = {add, &out};
    add(&out, "", 0);
    lesson_state_write(&app->state, 1, &sink);
    if (!out.lost) return out.text;
    free(out.text);
    return NULL;
}

/* Replaces the state by that of a text. The old one stays when it cannot be read. */
static bool replace(tui_app *app, const char *text, lesson_trouble *trouble)
{
    tui_pool pool;
    lesson_state state;
    tui_pool_start(&pool);
    const qkv_status status =
        text ? lesson_state_read(&state, text, strlen(text), &pool.memory, trouble)
             : lesson_state_start(&state, &pool.memory);
    if (status != QKV_OK) {
        tui_pool_empty(&pool);
        if (status == QKV_ENOMEM) trouble->kind = TROUBLE_MEMORY;
        return false;
    }
    tui_pool_empty(&app->kept);
    app->kept.chunks = pool.chunks; /* the state's pointers lead into the chunks */
    app->state = state;
    return true;
}

int app_open(tui_app *app, const char *state_text)
{
    tui_pool_start(&app->picture);
    tui_pool_start(&app->kept);
    memset(app->predicted, -1, sizeof app->predicted);
    memset(app->answered, -1, sizeof app->answered);
    lesson_trouble trouble = {.kind = TROUBLE_NONE};
    if (!replace(app, state_text, &trouble)) {
        if (trouble.kind == TROUBLE_MEMORY) return cli_failed("no memory for the lesson");
        return cli_refuse("--state: %s", trouble.text);
    }
    if (app->state.section >= STATE_SECTIONS) app->state.section = SECTION_CALCULATOR;
    if (trouble.kind == TROUBLE_NOTE) snprintf(app->notice, sizeof app->notice, "%s", trouble.text);
    return CLI_DONE;
}

void app_close(tui_app *app)
{
    for (int i = 0; i < app->undo_count; i++) free(app->undo[i]);
    tui_pool_empty(&app->picture);
    tui_pool_empty(&app->kept);
}

bool app_compute(tui_app *app)
{
    qkv_error err = qkv_error_init();
    lesson_state_input(&app->state, 0, &app->in);
    return lesson_run(&app->stages, &app->in, 0, &app->picture.memory, &err) == QKV_OK;
}

/* ---- undo ------------------------------------------------------------------------------------ */

/* undo[0 ... undo_at - 1] lie behind, undo[undo_at ... undo_count - 1] ahead. */

static void forget_from(tui_app *app, int first)
{
    for (int i = first; i < app->undo_count; i++) free(app->undo[i]);
    if (first < app->undo_count) app->undo_count = first;
}

void app_remember(tui_app *app)
{
    char *const text = app_state_text(app);
    if (!text) return;
    forget_from(app, app->undo_at);
    if (app->undo_count == TUI_UNDO) {
        free(app->undo[0]);
        memmove(app->undo, app->undo + 1, (TUI_UNDO - 1) * sizeof *app->undo);
        app->undo_count--;
    }
    app->undo[app->undo_count++] = text;
    app->undo_at = app->undo_count;
}

/* Swaps the state with the text at a place; where the reader is, stays. */
static bool swap(tui_app *app, int place)
{
    char *const now = app_state_text(app);
    const int section = app->state.section;
    lesson_trouble trouble = {.kind = TROUBLE_NONE};
    if (!now || !replace(app, app->undo[place], &trouble)) {
        free(now);
        return false;
    }
    app->state.section = section;
    free(app->undo[place]);
    app->undo[place] = now;
    return true;
}

bool app_undo(tui_app *app)
{
    if (app->undo_at == 0 || !swap(app, app->undo_at - 1)) return false;
    app->undo_at--;
    return true;
}

bool app_redo(tui_app *app)
{
    if (app->undo_at == app->undo_count || !swap(app, app->undo_at)) return false;
    app->undo_at++;
    return true;
}

void app_go(tui_app *app, int section)
{
    if (section < 0 || section >= STATE_SECTIONS) return;
    app->state.section = section;
    app->focus = (tui_id){CONTROL_TITLE, 0, 0};
    app->text_top = app->figures_top = 0;
}
