/* SPDX-License-Identifier: MIT */
/* fuzz_csv.c - any bytes as a table: the reader must end, keep its places in order, and give fields
 * that read back as themselves when they are quoted.
 */
#include "files/parse/csv.h"
#include "tests/fuzz/fuzz_target.h"

#include <string.h>

/* The field written by RFC 4180 is the same field. */
static void check_field(const csv_reader *r)
{
    const size_t n = csv_text(r, NULL, 0);
    char *const text = malloc(n + 1), *const again = malloc(n + 1);
    unsigned char *const quoted = malloc(2 * n + 2);
    FUZZ_CHECK(text != NULL && again != NULL && quoted != NULL);
    FUZZ_CHECK(n <= r->text_length);
    FUZZ_CHECK(csv_text(r, text, n + 1) == n && text[n] == 0);
    size_t at = 0;
    quoted[at++] = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"') quoted[at++] = '"';
        quoted[at++] = (unsigned char)text[i];
    }
    quoted[at++] = '"';
    csv_reader other;
    csv_begin(&other, quoted, at);
    FUZZ_CHECK(csv_next(&other) == CSV_FIELD && other.quoted);
    FUZZ_CHECK(csv_text(&other, again, n + 1) == n && memcmp(text, again, n) == 0);
    FUZZ_CHECK(csv_next(&other) == CSV_ROW_END && csv_next(&other) == CSV_END);
    free(quoted);
    free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    csv_reader r;
    int64_t row = 0, column = 0;
    csv_begin(&r, data, size);
    for (size_t events = 0;; events++) {
        FUZZ_CHECK(events <= 2 * size + 2);
        const csv_event e = csv_next(&r);
        FUZZ_CHECK(r.at <= size);
        if (e == CSV_END) return 0;
        FUZZ_CHECK(r.row > row || (r.row == row && r.column >= column));
        if (e == CSV_ERROR) {
            FUZZ_CHECK(r.error != NULL && r.row > 0 && r.column > 0);
            return 0;
        }
        if (e == CSV_FIELD) {
            FUZZ_CHECK(r.text_at + r.text_length <= size);
            FUZZ_CHECK(r.column == (r.row > row ? 1 : column + 1));
            check_field(&r);
        }
        row = r.row;
        column = r.column;
    }
}
