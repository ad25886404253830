/* SPDX-License-Identifier: MIT */
/* fuzz_json.c - any bytes as JSON: the reader must end, keep its brackets in order, and give
 * strings that are UTF-8 and no longer than their source.
 */
#include "files/parse/json.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>

/* Reads a string back as JSON: it is UTF-8 exactly when that works. */
static void check_string(const json_reader *r)
{
    const size_t n = json_string(r, NULL, 0);
    char *const text = malloc(n + 1);
    unsigned char *const quoted = malloc(n + 2);
    FUZZ_CHECK(text != NULL && quoted != NULL);
    FUZZ_CHECK(n <= r->text_length);
    FUZZ_CHECK(json_string(r, text, n + 1) == n && text[n] == 0);
    size_t at = 0;
    quoted[at++] = '"';
    for (size_t i = 0; i < n; i++) {
        const unsigned char x = (unsigned char)text[i];
        quoted[at++] = x < 0x20 || x == '"' || x == '\\' ? ' ' : x;
    }
    quoted[at++] = '"';
    json_reader again;
    json_begin(&again, quoted, at);
    FUZZ_CHECK(json_next(&again) == JSON_STRING && json_next(&again) == JSON_END);
    free(quoted);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_reader r;
    int32_t depth = 0;
    json_begin(&r, data, size);
    for (size_t events = 0;; events++) {
        FUZZ_CHECK(events <= size + 1);
        const json_event e = json_next(&r);
        FUZZ_CHECK(r.at <= size);
        if (e == JSON_OBJECT || e == JSON_ARRAY) depth++;
        if (e == JSON_OBJECT_END || e == JSON_ARRAY_END) depth--;
        FUZZ_CHECK(e == JSON_ERROR || (depth == r.depth && depth >= 0 && depth <= JSON_MAX_DEPTH));
        if (e == JSON_KEY || e == JSON_STRING) check_string(&r);
        if (e == JSON_NUMBER) FUZZ_CHECK(r.text_length > 0 && r.text_at + r.text_length <= size);
        if (e == JSON_ERROR) FUZZ_CHECK(r.error != NULL);
        if (e == JSON_END) FUZZ_CHECK(depth == 0);
        if (e == JSON_ERROR || e == JSON_END) return 0;
    }
}
