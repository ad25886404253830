/* SPDX-License-Identifier: MIT */
/* test_csv.c - the reader of tables: fields, separators, every refusal with its place, and no read
 * past its bytes.
 */
#include "files/parse/csv.h"
#include "tests/unit/file_bytes.h"

#include <stdio.h>

/* "sep|field|field/field|field/" of a text; after an error "!row,column at: error". */
static void walk(const char *text, size_t n, char *out, size_t size)
{
    guarded g = guarded_copy(text, n);
    csv_reader r;
    csv_begin(&r, g.p, n);
    size_t at = (size_t)snprintf(out, size, "%c", r.separator == '\t' ? 'T' : r.separator);
    for (;;) {
        const csv_event e = csv_next(&r);
        char field[128];
        if (e == CSV_FIELD) {
            assert_true(csv_text(&r, field, sizeof field) < sizeof field);
            at += (size_t)snprintf(out + at, size - at, "|%s%s", r.quoted ? "q:" : "", field);
        }
        if (e == CSV_ROW_END) at += (size_t)snprintf(out + at, size - at, "/");
        if (e == CSV_ERROR) {
            snprintf(out + at, size - at, "!%d,%d at %zu: %s", (int)r.row, (int)r.column, r.at,
                     r.error);
            assert_int_equal(csv_next(&r), CSV_ERROR); /* and stays so */
        }
        assert_true(at < size);
        if (e == CSV_ERROR || e == CSV_END) break;
    }
    guarded_free(&g);
}

static void reads(const char *text, const char *want)
{
    char got[1024];
    walk(text, strlen(text), got, sizeof got);
    assert_string_equal(got, want);
}

static void test_rows(void **state)
{
    (void)state;
    reads("", " ");
    reads("\n \n\t\n", " ");
    reads("1", " |1/");
    reads("1,2\n3,4\n", ",|1|2/|3|4/");
    reads("1,2\r\n3,4\r5,6", ",|1|2/|3|4/|5|6/");
    reads("\xef\xbb\xbfthe,1\n", ",|the|1/");
    reads("1,,\n,\n", ",|1||/||/");
    reads("  1 , 2 \n\n 3,4", ",|1|2/|3|4/");
}

static void test_separators(void **state)
{
    (void)state;
    reads("1\t2,5\t3", "T|1|2,5|3/");
    reads("\t1\n\t\t", "T||1/|||/");
    reads("a;1,5\nb;2", ";|a|1,5/|b|2/");
    reads("1  2\t3\n 4 5 ", "T|1  2|3/|4 5/");
    reads(" 1   2 3 \n4\t5", " |1|2|3/|4|5/");
    reads("\"a;b\",1", ",|q:a;b|1/");
    reads("the cat", " |the|cat/");
}

static void test_quotes(void **state)
{
    (void)state;
    reads("\"a\"\"b\",\"\",\" c \"", ",|q:a\"b|q:|q: c /");
    reads("\"two\nlines\",1\n\"x\" , 2", ",|q:two\nlines|1/|q:x|2/");
    reads("\"a b\" 1 \"c\"\n", " |q:a b|1|q:c/");
    reads("\"\"\"\"", " |q:\"/");
}

static void test_places(void **state)
{
    (void)state;
    const char *const text = "\n1,2\n\n3,4\n";
    csv_reader r;
    csv_begin(&r, (const unsigned char *)text, strlen(text));
    assert_int_equal(csv_next(&r), CSV_FIELD);
    assert_int_equal(r.row * 10 + r.column, 21);
    assert_int_equal(csv_next(&r), CSV_FIELD);
    assert_int_equal(csv_next(&r), CSV_ROW_END);
    assert_int_equal(r.row * 10 + r.column, 22);
    assert_int_equal(csv_next(&r), CSV_FIELD);
    assert_int_equal(r.row * 10 + r.column, 41);
}

static void test_refused(void **state)
{
    (void)state;
    reads("1,2\n3,\"4", ",|1|2/|3!2,2 at 6: a quotation mark that is never closed");
    reads("1,2\"", ",|1!1,2 at 3: a quotation mark inside a field that is not in quotes");
    reads("\"1\"2,3", ",!1,1 at 3: text after a closing quotation mark");
    reads("\"1\"2 3", " !1,1 at 3: text after a closing quotation mark");
    reads("1,\xff", ",|1!1,2 at 2: bytes that are not UTF-8");
    reads("1,\"\xc3", ",|1!1,2 at 3: bytes that are not UTF-8");
    char got[256];
    walk("1\0,\0", 4, got, sizeof got);
    assert_string_equal(got, ",!1,1 at 1: a zero byte; is it UTF-16? save it as UTF-8");
}

static void test_prefixes(void **state)
{
    (void)state;
    const char *const text = "\xef\xbb\xbf\"h\"\"1\"; two ;\n\r\n\xc3\xa9;\"\";3,5\r\n";
    char got[1024];
    for (size_t n = 0; n <= strlen(text); n++) walk(text, n, got, sizeof got);
    assert_string_equal(got, ";|q:h\"1|two|/|\xc3\xa9|q:|3,5/");
}

static void test_cut(void **state)
{
    (void)state;
    const char *const text = "\"a\"\"bc\"";
    csv_reader r;
    csv_begin(&r, (const unsigned char *)text, strlen(text));
    assert_int_equal(csv_next(&r), CSV_FIELD);
    for (size_t size = 0; size <= 5; size++) {
        char out[8];
        memset(out, 'x', sizeof out);
        assert_int_equal(csv_text(&r, out, size), 4);
        assert_int_equal(out[size], 'x');
        if (size > 0) assert_int_equal(out[size - 1], 0);
        if (size > 1) assert_memory_equal(out, "a\"bc", size - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_separators),
        cmocka_unit_test(test_quotes),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
