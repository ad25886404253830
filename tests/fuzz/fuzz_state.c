/* SPDX-License-Identifier: MIT */
/* fuzz_state.c - any bytes as the lesson's state: reading ends, refuses with a sentence or gives a
 * state that can be computed, and what is written reads back as the same text.
 */
#include "lesson/state.h"
#include "tests/fuzz/fuzz_target.h"

#include <string.h>

enum { ROOM = 1 << 23, TEXT = 1 << 19 };

typedef struct arena {
    size_t used;
    unsigned char *bytes;
} arena;

static void *take(void *ctx, size_t bytes)
{
    arena *const a = (arena *)ctx;
    const size_t at = a->used;
    if (bytes > ROOM - at) return NULL;
    a->used += (bytes + 63) / 64 * 64;
    if (a->used > ROOM) a->used = ROOM;
    return a->bytes + at;
}

typedef struct text {
    size_t n;
    char *bytes;
} text;

static void append(void *ctx, const char *bytes, size_t n)
{
    text *const t = (text *)ctx;
    FUZZ_CHECK(n <= TEXT - t->n);
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
}

/* 1: there is a state, written into *to. */
static int read_write(const char *bytes, size_t n, text *to, arena *a)
{
    static lesson_state state;
    lesson_trouble trouble;
    const lesson_memory memory = {take, a};
    const lesson_sink sink = {append, to};
    const qkv_status status = lesson_state_read(&state, bytes, n, &memory, &trouble);
    FUZZ_CHECK(status == QKV_OK || status == QKV_ENOMEM ||
               (status == QKV_EARG && trouble.kind == TROUBLE_REFUSED && trouble.text[0]));
    FUZZ_CHECK(memchr(trouble.text, 0, sizeof trouble.text) != NULL);
    to->n = 0;
    if (status != QKV_OK) return 0;
    FUZZ_CHECK(state.token >= 0 && state.token < state.tokens && state.stage <= 4);
    lesson_input in;
    lesson_state_input(&state, 0, &in);
    FUZZ_CHECK(lesson_scale(&in) - lesson_scale(&in) == 0 && in.padding <= in.keys);
    lesson_state_write(&state, 1, &sink);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static arena a;
    static text first, second;
    if (a.bytes == NULL) {
        a.bytes = aligned_alloc(64, ROOM);
        first.bytes = malloc(TEXT);
        second.bytes = malloc(TEXT);
        FUZZ_CHECK(a.bytes != NULL && first.bytes != NULL && second.bytes != NULL);
    }
    a.used = 0;
    if (!read_write((const char *)data, size, &first, &a)) return 0;
    a.used = 0;
    if (!read_write(first.bytes, first.n, &second, &a)) FUZZ_CHECK(a.used > ROOM / 2);
    FUZZ_CHECK(a.used > ROOM / 2 ||
               (first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0));
    return 0;
}
