/* SPDX-License-Identifier: MIT */
/* state_write.c - a state as text, see state.h. Only what differs from the lesson's start is
 * written, so the start is the empty text; else the text begins with the version and ends with the
 * item z, by which a reader sees that nothing was cut off.
 */
#include "lesson/state_parts.h"

typedef struct state_writer {
    const lesson_sink *sink;
    int items;
    int32_t version;
} state_writer;

static void put_bytes(const state_writer *w, const char *text, size_t n)
{
    if (n > 0) w->sink->write(w->sink->ctx, text, n);
}

static void put(const state_writer *w, const char *text)
{
    put_bytes(w, text, text_length(text));
}

/* The version before the first item: a newer one stays, its keys are kept for it. */
static void put_start(state_writer *w)
{
    char text[LESSON_NUMBER_BYTES];
    if (w->items++ > 0) return;
    put(w, "v=");
    put_bytes(w, text, lesson_number_integer(text, w->version));
}

static void put_key(state_writer *w, const char *key)
{
    put_start(w);
    put(w, "&");
    put(w, key);
    put(w, "=");
}

static void put_integer(const state_writer *w, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    put_bytes(w, text, lesson_number_integer(text, x));
}

/* The fewest digits that read back as the same double; 2 rather than 2.0, 1e5 rather than 1e+05: a
 * plus may become a blank on the way of a link. */
static void put_number(const state_writer *w, double x)
{
    char text[LESSON_NUMBER_BYTES];
    size_t n = lesson_number_shortest(text, x), kept = 0;
    if (n > 2 && text[n - 2] == '.' && text[n - 1] == '0') n -= 2;
    int padding = 0; /* inside of an exponent, before its first digit */
    for (size_t i = 0; i < n; i++) {
        if (padding && (text[i] == '+' || text[i] == '0')) continue;
        padding = text[i] == 'e' || (padding && text[i] == '-');
        text[kept++] = text[i];
    }
    put_bytes(w, text, kept);
}

/* Everything but letters, digits and - . _ ~ as %XX. */
static void put_escaped(const state_writer *w, const char *text, size_t n)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        const int plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                          c == '-' || c == '.' || c == '_' || c == '~';
        const char code[3] = {'%', hex[c >> 4], hex[c & 15]};
        put_bytes(w, plain ? text + i : code, plain ? 1 : 3);
    }
}

/* ---- settings -------------------------------------------------------------------------------- */

static void put_choice(state_writer *w, const lesson_choice *c, const char *scale, const char *t,
                       const char *mask)
{
    if (c->scale_kind != LESSON_SCALE_SQRT) {
        put_key(w, scale);
        if (c->scale_kind == LESSON_SCALE_VALUE)
            put_number(w, c->scale_value);
        else
            put(w, c->scale_kind == LESSON_SCALE_NONE ? "none" : "dk");
    }
    if (c->temperature != 1) {
        put_key(w, t);
        put_number(w, c->temperature);
    }
    if (c->mask == MASK_NONE) return;
    put_key(w, mask);
    if (c->mask == MASK_PADDING) {
        put(w, "padding:");
        put_integer(w, c->padding);
        return;
    }
    put(w, "causal");
    if (c->shift == 0) return;
    put(w, ":");
    put_integer(w, c->shift);
}

static void put_focus(state_writer *w, const lesson_focus *f)
{
    if (f->kind == FOCUS_NONE) return;
    const char letter[2] = {state_focus_letters[f->kind], 0};
    put_key(w, "f");
    put(w, letter);
    const int has_key = f->kind != FOCUS_QUERY && f->kind != FOCUS_SUM && f->kind != FOCUS_OUTPUT;
    if (has_key) put_integer(w, f->key);
    const int has_channel = f->kind == FOCUS_QUERY || f->kind == FOCUS_KEY ||
                            f->kind == FOCUS_VALUE || f->kind == FOCUS_SHARE ||
                            f->kind == FOCUS_OUTPUT;
    if (!has_channel) return;
    put(w, ".");
    put_integer(w, f->channel);
}

static void put_settings(state_writer *w, const lesson_state *s)
{
    for (int i = 0; i < state_word_count; i++) {
        const state_word *const k = &state_words[i];
        const int32_t x = *(const int32_t *)(const void *)((const char *)s + k->at);
        if (x == k->start) continue;
        put_key(w, k->key);
        put(w, k->words[x]);
    }
    for (int i = 0; i < state_whole_count; i++) {
        const state_whole *const k = &state_wholes[i];
        const int64_t x = state_whole_get(s, k);
        if (x == k->start) continue;
        put_key(w, k->key);
        put_integer(w, x);
    }
    put_choice(w, &s->choice, "scale", "T", "mask");
    put_choice(w, &s->other, "b.scale", "b.T", "b.mask");
    if (s->blend != 1.3) {
        put_key(w, "b");
        put_number(w, s->blend);
    }
    if (s->model_layer != 3) {
        put_key(w, "layer");
        put_integer(w, s->model_layer);
    }
}

/* ---- data ------------------------------------------------------------------------------------ */

/* A name that finds its token again: of letters and digits, the only one. */
static int is_handy(const lesson_state *s, int32_t token)
{
    const lesson_name *const name = &s->name[token];
    if (name->bytes == 0 || name->bytes > 32) return 0;
    for (size_t i = 0; i < name->bytes; i++) {
        const char c = name->text[i] | 0x20;
        if (!((c >= 'a' && c <= 'z') || (name->text[i] >= '0' && name->text[i] <= '9'))) return 0;
    }
    for (int32_t j = 0; j < s->tokens; j++)
        if (j != token && text_same(name->text, name->bytes, s->name[j].text, s->name[j].bytes))
            return 0;
    return 1;
}

static void put_token(state_writer *w, const lesson_state *s, int with_names)
{
    if (s->token == LESSON_PRESET_TOKEN) return;
    put_key(w, "t");
    if (with_names && is_handy(s, s->token)) {
        put_escaped(w, s->name[s->token].text, s->name[s->token].bytes);
        return;
    }
    put(w, "@");
    put_integer(w, s->token);
}

static void put_names(state_writer *w, const lesson_state *s)
{
    if (!s->own_names) return;
    put_key(w, "tok");
    for (int32_t i = 0; i < s->tokens; i++) {
        if (i > 0) put(w, ",");
        put_escaped(w, s->name[i].text, s->name[i].bytes);
    }
}

static void put_size(state_writer *w, const char *key, int32_t x, int32_t start)
{
    if (x == start) return;
    put_key(w, key);
    put_integer(w, x);
}

static void put_data(state_writer *w, const lesson_state *s)
{
    put_size(w, "n", s->tokens, LESSON_PRESET_TOKENS);
    put_size(w, "dk", s->d_k, 2);
    put_size(w, "dv", s->d_v, 2);
    put_size(w, "nx", s->features, LESSON_PRESET_FEATURES);
    put_names(w, s);
    lesson_state any = *s; /* for the function that may change it; it does not */
    for (int i = 0; i < STATE_TABLES; i++) {
        int32_t *own = NULL;
        const state_matrix *const m = state_matrix_of(&any, state_tables[i].which, &own);
        if (!*own) continue;
        put_key(w, state_tables[i].key);
        for (int32_t r = 0; r < m->rows; r++)
            for (int32_t c = 0; c < m->columns; c++) {
                if (r + c > 0) put(w, c > 0 ? "," : ";");
                put_number(w, m->x[r * m->columns + c]);
            }
    }
}

/* What the link leaves out, so that whoever follows it is told. */
static void put_lost(state_writer *w, int32_t tokens, int32_t d_k, int32_t d_v)
{
    put_key(w, "lost");
    put_integer(w, tokens);
    put(w, "x");
    put_integer(w, d_k);
    put(w, "x");
    put_integer(w, d_v);
}

void lesson_state_write(const lesson_state *s, int all, const lesson_sink *sink)
{
    state_writer w = {sink, 0, s->version};
    const int with_data = all || lesson_state_fits_link(s);
    put_settings(&w, s);
    if (with_data) put_data(&w, s);
    if (!with_data && s->data != DATA_FILE)
        put_lost(&w, s->tokens, s->d_k, s->d_v);
    else if (s->lost_tokens > 0)
        put_lost(&w, s->lost_tokens, s->lost_d_k, s->lost_d_v);
    put_token(&w, s, with_data);
    if (with_data) put_focus(&w, &s->focus);
    if (s->unknown_bytes > 0) {
        put_start(&w);
        put(&w, "&");
        put_bytes(&w, s->unknown, s->unknown_bytes);
    }
    if (w.items > 0) put(&w, "&z");
}
