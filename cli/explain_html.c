/* SPDX-License-Identifier: MIT */
/* explain_html.c - what the page's data block says: {"state": text}, the numbers in it, or for what
 * is larger than a state {"state": the settings, "tables": {"q": ..., "k": ..., "v": ...}}.
 */
#include "cli/explain_html.h"
#include "cli/page_file.h"
#include "lesson/view.h"

#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    char *text;
    size_t bytes, room;
    bool lost;
} buffer;

static void write_buffer(void *ctx, const char *text, size_t bytes)
{
    buffer *const b = (buffer *)ctx;
    if (b->lost) return;
    if (bytes > b->room - b->bytes) {
        const size_t room = (b->bytes + bytes) * 2 + 4096;
        char *const more = (char *)realloc(b->text, room);
        if (more == NULL) {
            b->lost = true;
            return;
        }
        b->text = more;
        b->room = room;
    }
    memcpy(b->text + b->bytes, text, bytes);
    b->bytes += bytes;
}

static void put_state(view_json *json, const lesson_state *state)
{
    view_open_text(json, "state");
    const lesson_sink inner = view_text_sink(json);
    lesson_state_write(state, 1, &inner);
    view_close_text(json);
}

static bool set(lesson_state *state, const char *key, int64_t x, const lesson_memory *memory)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_trouble trouble;
    const size_t n = lesson_number_integer(text, x);
    return lesson_state_set(state, key, text, n, memory, &trouble) == QKV_OK;
}

/* What the reader chose, without numbers. */
static void settings(lesson_state *state, const lesson_input *in)
{
    lesson_choice *const c = &state->choice;
    state->stage = in->stage;
    c->scale_kind = in->scale_kind;
    c->scale_value = in->scale_value;
    c->temperature = in->temperature;
    c->mask = in->causal ? MASK_CAUSAL : MASK_NONE;
    c->shift = in->causal ? in->q_offset : 0;
}

static bool fits_state(const lesson_input *in)
{
    return in->rows == in->keys && in->keys <= STATE_TOKENS && in->d_k <= STATE_CHANNELS &&
           in->d_v <= STATE_CHANNELS && in->d_v > 0;
}

static bool numbers(lesson_state *state, const lesson_input *in, const lesson_memory *memory)
{
    const double *const from[3] = {in->q, in->k, in->v};
    if (!set(state, "n", in->keys, memory) || !set(state, "dk", in->d_k, memory) ||
        !set(state, "dv", in->d_v, memory))
        return false;
    for (int i = 0; i < 3; i++) {
        const state_matrix *const m = &state->qkv[i];
        memcpy(m->x, from[i], (size_t)m->rows * (size_t)m->columns * sizeof *m->x);
        state->own_qkv[i] = 1;
    }
    for (int64_t j = 0; j < in->keys; j++) state->name[j] = in->name[j];
    state->own_names = 1;
    state->token = (int32_t)in->token;
    return true;
}

static void put_table(view_json *json, const char *key, const double *x, int64_t rows,
                      int64_t columns)
{
    view_open(json, key, '[');
    for (int64_t i = 0; i < rows; i++) {
        view_open(json, NULL, '[');
        for (int64_t c = 0; c < columns; c++) view_real(json, NULL, x[i * columns + c]);
        view_close(json, ']');
    }
    view_close(json, ']');
}

static void put_tables(view_json *json, const lesson_input *in)
{
    view_open(json, "tables", '{');
    put_table(json, "q", in->q, in->rows, in->d_k);
    put_table(json, "k", in->k, in->keys, in->d_k);
    put_table(json, "v", in->v, in->keys, in->d_v);
    view_open(json, "tokens", '[');
    for (int64_t j = 0; j < in->keys; j++)
        view_bytes(json, NULL, in->name[j].text, in->name[j].bytes);
    view_close(json, ']');
    view_close(json, '}');
}

static bool put_data(view_json *json, const lesson_input *in, const lesson_memory *memory)
{
    lesson_state *const state = (lesson_state *)memory->take(memory->ctx, sizeof *state);
    if (state == NULL || lesson_state_start(state, memory) != QKV_OK) return false;
    settings(state, in);
    const bool whole = fits_state(in);
    if (whole && !numbers(state, in, memory)) return false;
    put_state(json, state);
    if (!whole) put_tables(json, in);
    return true;
}

int cli_explain_html(const lesson_input *in, const lesson_state *state, const lesson_memory *memory,
                     const char *path, bool clobber)
{
    buffer b = {0};
    const lesson_sink sink = {write_buffer, &b};
    view_json json = {&sink, NULL, 0};
    view_open(&json, NULL, '{');
    bool good = true;
    if (state != NULL)
        put_state(&json, state);
    else
        good = put_data(&json, in, memory);
    view_close(&json, '}');
    const int bad = !good || b.lost ? cli_failed("no memory for the page's numbers")
                                    : cli_page_write(path, b.text, b.bytes, clobber);
    free(b.text);
    return bad;
}
