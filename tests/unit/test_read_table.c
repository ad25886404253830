/* SPDX-License-Identifier: MIT */
/* test_read_table.c - the reader's own numbers: what is taken, and for each refusal the sentence
 * with its row, its column and what was expected. Every source is also read cut in single fields.
 */
#include "page/read_table.h"
#include "tests/unit/file_bytes.h"

#include <stdio.h>
#include <stdlib.h>

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

static const lesson_face face = {80, 1, 0, 2, safe, columns};

/* "names:the,cat 2x2 1 0 0 2", "q 1x1x2 ..." or the sentence */
static void read_all(const void *bytes, size_t n, int64_t fields, char *out, size_t size)
{
    static lesson_line line;
    line_start(&line, &face);
    guarded g = guarded_copy(bytes, n);
    void *const block = aligned_alloc(64, (read_room(n) + 63) / 64 * 64);
    assert_non_null(block);
    read_state *const r = read_begin(block, g.p, n);
    guarded_free(&g);
    read_status status = READ_MORE;
    for (int i = 0; status == READ_MORE; i++) {
        assert_true(i < 10000);
        status = read_step(r, fields, &line);
    }
    size_t at = (size_t)snprintf(out, size, "%.500s", status == READ_REFUSED ? line.text : "");
    if (status == READ_DONE) {
        for (int64_t i = 0; i < read_names(r); i++) {
            const lesson_name name = read_name_of(r, i);
            at += (size_t)snprintf(out + at, size - at, "%s%.*s",
                                   i > 0 ? "," : "names:", (int)name.bytes, name.text);
        }
        if (read_header(r)) at += (size_t)snprintf(out + at, size - at, "(header)");
        for (int i = 0; i < 3; i++) {
            const read_table *const t = read_found(r, i);
            if (t == NULL) continue;
            at += (size_t)snprintf(out + at, size - at, "%s%c %dx%dx%d", at > 0 ? " " : "",
                                   read_alone(r) ? 'a' : "qkv"[i], (int)t -> heads, (int)t -> rows,
                                   (int)t -> columns);
            for (int64_t j = 0; j < t->heads * t->rows * t->columns && at + 40 < size; j++)
                at += (size_t)snprintf(out + at, size - at, " %g", t->x[j]);
        }
    }
    free(block);
}

static void gives_bytes(const void *bytes, size_t n, const char *want)
{
    char got[2048];
    read_all(bytes, n, 1000000, got, sizeof got);
    assert_string_equal(got, want);
    read_all(bytes, n, 1, got, sizeof got);
    assert_string_equal(got, want);
}

static void gives(const char *text, const char *want)
{
    gives_bytes(text, strlen(text), want);
}

static void test_tables(void **state)
{
    (void)state;
    gives("1,0\n0,2", "a 1x2x2 1 0 0 2");
    gives("the,1,0\ncat,0,2\n", "names:the,cat a 1x2x2 1 0 0 2");
}

static void test_named(void **state)
{
    (void)state;
    gives("token,x,y\nthe,1,0\n7,0,2\n", "names:the,7(header) a 1x2x2 1 0 0 2");
    gives("a;b\n1;2", "(header) a 1x1x2 1 2");
    gives("\xef\xbb\xbf\"=1+1\"\t1.5\n</script>\t-2e-1", "names:=1+1,</script> a 1x2x1 1.5 -0.2");
    gives("[CLS] 1 2\nthe \xe2\x88\x92"
          "3 4",
          "names:[CLS],the a 1x2x2 1 2 -3 4");
    gives(",x\nthe,1", "names:the(header) a 1x1x1 1");
    gives("\"\",1", "Row 1, column 1 is empty; a number was expected.");
}

static void test_text_refused(void **state)
{
    (void)state;
    gives("", "There is nothing to read: a table has one row for each token.");
    gives(" \n\n", "There is nothing to read: a table has one row for each token.");
    gives("a,b\n", "Below the row of headings there is no row of numbers.");
    gives("1,2\n3\n",
          "Row 2 ends at column 1; it was expected to end at column 2, as the rows above.");
    gives("the,1,2\n\ncat,3,4,5\n",
          "Row 3 ends at column 4; it was expected to end at column 3, as the rows above.");
    gives("1,2\n3,x\n", "Row 2, column 2 is \xe2\x80\x9cx\xe2\x80\x9d; a number was expected.");
    gives("1,x\n", "Row 1, column 2 is \xe2\x80\x9cx\xe2\x80\x9d; a number was expected.");
    gives("1,\n", "Row 1, column 2 is empty; a number was expected.");
    gives("x,1\ny,NaN\n",
          "Row 2, column 2 is \xe2\x80\x9cNaN\xe2\x80\x9d; a finite number was expected.");
    gives("nan,1\n",
          "Row 1, column 1 is \xe2\x80\x9cnan\xe2\x80\x9d; a finite number was expected.");
    gives("1,-Infinity\n",
          "Row 1, column 2 is \xe2\x80\x9c-Infinity\xe2\x80\x9d; a finite number was expected.");
    gives("1,5;2\n", "Row 1, column 1 is \xe2\x80\x9c"
                     "1,5\xe2\x80\x9d; use a point: 1.5");
    gives("a;1\nb;1,5\n", "Row 2, column 2 is \xe2\x80\x9c"
                          "1,5\xe2\x80\x9d; use a point: 1.5");
    gives("2..0,1\n", "Row 1, column 1 is \xe2\x80\x9c"
                      "2..0\xe2\x80\x9d; a number was expected.");
    gives("1,1e400\n", "Row 1, column 2 is \xe2\x80\x9c"
                       "1e400\xe2\x80\x9d; that is too large for a number.");
    gives("x,y\nthe\n", "Row 2 has a name and no number; one was expected in column 2.");
    gives("1,\"2\n", "Row 1, column 2: a quotation mark that is never closed.");
    gives("1,\x1b[31m\n",
          "Row 1, column 2 is \xe2\x80\x9c?[31m\xe2\x80\x9d; a number was expected.");
}

static void test_json(void **state)
{
    (void)state;
    gives("[[1, 0], [0, 2]]", "a 1x2x2 1 0 0 2");
    gives(" [[[1], [2]], [[3], [4]]] ", "a 2x2x1 1 2 3 4");
    gives("[[\"the\", 1], [\"<b>\", 2e0]]", "names:the,<b> a 1x2x1 1 2");
    gives("{\"tokens\": [\"a\", \"b\"], \"x\": {\"q\": [[7]]}, \"Q\": [[1]], \"k\": [[2], [3]],"
          " \"v\": [[4], [5]], \"weight\": [[[]]]}",
          "names:a,b q 1x1x1 1 k 1x2x1 2 3 v 1x2x1 4 5");
    gives("{\"v\": [[4, 5]], \"n\": 1}", "v 1x1x2 4 5");
}

static void test_json_refused(void **state)
{
    (void)state;
    gives("[[1, 2],\n [3]]", "Row 2 of the JSON text ends at column 1; it was expected to end at "
                             "column 2, as the first row.");
    gives("{\"k\": [[\"a\", 1], [\"b\", 2, 3]]}",
          "Row 2 of \xe2\x80\x9ck\xe2\x80\x9d in the JSON text "
          "ends at column 3; it was expected to end at "
          "column 2, as the first row.");
    gives("[[[1], [2]],\n[[3]]]",
          "Head 2 of the JSON text ends at row 1; it was expected to end at "
          "row 2, as the first head.");
    gives("[1, 2]", "Row 1, column 1 of the JSON text: something else where a row of numbers such "
                    "as [1, 0] was expected.");
    gives("[[1, 2], 3]", "Row 2, column 1 of the JSON text: something else where a row of numbers "
                         "such as [1, 0] was expected.");
    gives("[[1, \"x\"]]", "Row 1, column 2 of the JSON text: something else where a number was "
                          "expected.");
    gives("[[1, 2], [3, null]]", "Row 2, column 2 of the JSON text: something else where a number "
                                 "was expected.");
    gives("[[\"a\", 1], [\"b\", true]]", "Row 2, column 2 of the JSON text: something else where a "
                                         "number was expected.");
    gives("{\"q\": [[1]], \"v\": [[[1], [2]], [[3], [{}]]]}",
          "Head 2, row 2, column 1 of \xe2\x80\x9cv\xe2\x80\x9d in the JSON text: something else "
          "where a "
          "number was expected.");
    gives("[[1, [2]]]", "Row 1, column 2 of the JSON text: something else where a number was "
                        "expected.");
    gives("[[1], []]", "Row 2, column 1 of the JSON text: something else where a number was "
                       "expected.");
    gives("[[]]", "Row 1, column 1 of the JSON text: something else where a row of numbers such as "
                  "[1, 0] was expected.");
    gives("[[1e999]]", "Row 1, column 1 of the JSON text: a number that is too large.");
    gives("[[1,\n 2],]",
          "Row 2, column 1 of the JSON text: a character where a value was expected.");
    gives("[[1, 2], [3, 2..0]]",
          "Row 2, column 2 of the JSON text: a number without digits after the point.");
    gives("[[1, 2], [3,",
          "Row 2, column 2 of the JSON text: the end of the text where a value was expected.");
    gives("{\"a\": [[1]]}", "The JSON text has no numbers: rows such as [[1, 0], [0, 2]] were "
                            "expected, or an object with q, k and v.");
    gives("{\"q\": [[1]], \"q\": [[1]]}",
          "Line 1 of the JSON text: q, k, v or tokens for a second time.");
    gives("{\"q\": 3}",
          "Line 1 of the JSON text: something else where a row of numbers such as [1, "
          "0] was expected.");
    gives("{\"tokens\": [1]}",
          "Line 1 of the JSON text: something else where a list of names was expected.");
    gives("{\"tokens\": [\"a\"], \"k\": [[1], [2]]}",
          "The number of names in the JSON text is 1, that of rows 2; they must be equal.");
    gives("[[\"a\", 1], [2]]",
          "The number of names in the JSON text is 1, that of rows 2; they must be equal.");
}

static size_t npy(unsigned char *to, const char *dict, const void *data, size_t bytes)
{
    const size_t n = npy_bytes(to, 1, dict, 64);
    memcpy(to + n, data, bytes);
    return n + bytes;
}

static void test_npy(void **state)
{
    (void)state;
    unsigned char file[512];
    const float f[6] = {1, 2, 3, 4, 5, -0.5f};
    const double d[2] = {0.25, 1e300};
    size_t n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", f, 24);
    gives_bytes(file, n, "a 1x2x3 1 2 3 4 5 -0.5");
    gives_bytes(file, n - 1, "The .npy file is cut: it has 151 bytes and needs 152.");
    gives_bytes(file, 40, "The .npy file is cut: it has 40 bytes and needs 128.");
    gives_bytes(file, n + 1, "The .npy file has 153 bytes; its header speaks of 152.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2, 3, 1), }", f, 24);
    gives_bytes(file, n, "a 2x3x1 1 3 5 2 4 -0.5");
    n = npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", d, 16);
    gives_bytes(file, n, "a 1x1x2 0.25 1e+300");
}

static void test_npy_refused(void **state)
{
    (void)state;
    unsigned char file[512];
    const float f[4] = {1, 2, (float)(0.0 / 0.0), 4};
    size_t n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", f, 16);
    gives_bytes(file, n, "Row 2, column 1 of the .npy file is NaN; a finite number was expected.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 1), }", f, 16);
    gives_bytes(file, n, "Head 2, row 1, column 1 of the .npy file: a finite number was expected.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", f, 16);
    gives_bytes(file, n,
                "The number of the .npy file's axes is 1; 2 (row, number) or 3 (head, row, "
                "number) were expected.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 1, 1), }", f, 16);
    gives_bytes(file, n, "The .npy file holds 2 sequences; 1 was expected.");
    n = npy(file, "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }", f, 4);
    gives_bytes(file, n, "The .npy file holds true and false; numbers were expected.");
    n = npy(file, "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", f, 4);
    gives_bytes(file, n,
                "The .npy file: descr is '|O'; object arrays are not supported, only "
                "float16, bfloat16, float32 and float64.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 2), }", f, 16);
    gives_bytes(file, n, "The table has more than 2048 rows; that many tokens are the most.");
    n = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", f, 0);
    gives_bytes(file, n, "The .npy file has an axis of length 0; at least 1 was expected.");
}

static void test_limits(void **state)
{
    (void)state;
    const size_t room = 4u << 20;
    char *const text = malloc(room), got[512];
    size_t n = 0;
    for (int i = 0; i < READ_ROWS + 1; i++) n += (size_t)sprintf(text + n, "t%d,1\n", i);
    read_all(text, n, 1000, got, sizeof got);
    assert_string_equal(got, "The table has more than 2048 rows; that many tokens are the most.");
    n = 0;
    for (int i = 0; i < READ_COLUMNS + 1; i++) n += (size_t)sprintf(text + n, "1,");
    read_all(text, n, 1000, got, sizeof got);
    assert_string_equal(got, "Row 1 has more than 1024 numbers; that many are the most.");
    n = 0; /* a million cells are taken */
    for (int i = 0; i < 1000; i++) {
        for (int j = 0; j < 1000; j++)
            n += (size_t)sprintf(text + n, j == 0 ? "%d" : ",%d", j % 10);
        text[n++] = '\n';
    }
    read_all(text, n, 4096, got, sizeof got);
    assert_memory_equal(got, "a 1x1000x1000 0 1 2", 19);
    assert_int_equal(read_room(READ_BYTES + 1), 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),       cmocka_unit_test(test_named),
        cmocka_unit_test(test_text_refused), cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_refused), cmocka_unit_test(test_npy),
        cmocka_unit_test(test_npy_refused),  cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("read_table", tests, NULL, NULL);
}
