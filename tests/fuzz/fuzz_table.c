/* SPDX-License-Identifier: MIT */
/* fuzz_table.c - any bytes as the reader's own numbers: the reading must end in a sentence or in
 * tables that are complete and finite, the same whether it is cut in pieces or not.
 */
#include "page/read_table.h"
#include "tests/fuzz/fuzz_target.h"

#include <string.h>

static int safe(char *buffer, size_t size, const char *text, size_t bytes, int columns)
{
    size_t n = 0;
    for (; n < bytes && n + 1 < size && (columns == 0 || (int)n < columns); n++)
        buffer[n] = (unsigned char)text[n] < 0x20 ? '?' : text[n];
    buffer[n] = 0;
    return (int)n;
}

static int columns(const char *text)
{
    return (int)strlen(text);
}

static read_state *read_all(const uint8_t *data, size_t size, int64_t fields, lesson_line *line,
                            read_status *status)
{
    static const lesson_face face = {80, 1, 0, 2, safe, columns};
    void *const block = aligned_alloc(64, (read_room(size) + 63) / 64 * 64);
    FUZZ_CHECK(block != NULL);
    line_start(line, &face);
    read_state *const r = read_begin(block, data, size);
    *status = READ_MORE;
    for (size_t steps = 0; *status == READ_MORE; steps++) {
        FUZZ_CHECK(steps <= 2 * size + 2);
        FUZZ_CHECK(read_percent(r) >= 0 && read_percent(r) <= 100);
        *status = read_step(r, fields, line);
    }
    return r;
}

static void check_table(const read_table *t, const read_table *other)
{
    FUZZ_CHECK(t->heads >= 1 && t->heads <= READ_HEADS);
    FUZZ_CHECK(t->rows >= 1 && t->rows <= READ_ROWS);
    FUZZ_CHECK(t->columns >= 1 && t->columns <= READ_COLUMNS);
    FUZZ_CHECK(t->heads == other->heads && t->rows == other->rows);
    FUZZ_CHECK(t->columns == other->columns);
    for (int64_t i = 0; i < t->heads * t->rows * t->columns; i++)
        FUZZ_CHECK(lesson_finite(t->x[i]) && t->x[i] == other->x[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lesson_line whole_line, cut_line;
    read_status whole, cut;
    read_state *const a = read_all(data, size, INT64_MAX, &whole_line, &whole);
    read_state *const b = read_all(data, size, 1, &cut_line, &cut);
    FUZZ_CHECK(whole == cut && strcmp(whole_line.text, cut_line.text) == 0);
    FUZZ_CHECK((whole == READ_REFUSED) == (whole_line.n > 0));
    int some = 0;
    for (int i = 0; i < 3 && whole == READ_DONE; i++) {
        if (read_found(a, i) == NULL) continue;
        some = 1;
        check_table(read_found(a, i), read_found(b, i));
    }
    FUZZ_CHECK(some || whole == READ_REFUSED);
    for (int64_t i = 0; i < read_names(a) && whole == READ_DONE; i++)
        FUZZ_CHECK(read_name_of(a, i).bytes <= size);
    free(a);
    free(b);
    return 0;
}
