/* SPDX-License-Identifier: MIT */
/* test_json.c - the JSON reader: events, strings, every refusal, and no read past its bytes. */
#include "files/parse/json.h"
#include "tests/unit/file_bytes.h"

#include <stdio.h>

/* The events of a text as letters, such as "[ssn]." ; "!" for an error. */
static void walk(const char *text, size_t n, char *letters, size_t size, char *error)
{
    static const char letter[] = {'!', '.', '{', '}', '[', ']', 'k', 's', 'n', 't', 'f', '0'};
    guarded g = guarded_copy(text, n);
    json_reader r;
    size_t at = 0;
    json_begin(&r, g.p, n);
    for (;;) {
        const json_event e = json_next(&r);
        assert_true(at + 1 < size);
        letters[at++] = letter[e];
        if (e == JSON_ERROR) {
            snprintf(error, 128, "%zu: %s", r.at, r.error);
            assert_int_equal(json_next(&r), JSON_ERROR); /* and stays so */
        }
        if (e == JSON_ERROR || e == JSON_END) break;
    }
    letters[at] = 0;
    guarded_free(&g);
}

static void accept(const char *text, const char *letters)
{
    char got[512], error[128] = "";
    walk(text, strlen(text), got, sizeof got, error);
    assert_string_equal(error, "");
    assert_string_equal(got, letters);
}

static void refuse(const char *text, const char *sentence)
{
    char got[512], error[128] = "";
    walk(text, strlen(text), got, sizeof got, error);
    assert_string_equal(error, sentence);
}

static void test_accepted(void **state)
{
    (void)state;
    accept("[\"a\", \"b\"]", "[ss].");
    accept(" [ ] ", "[].");
    accept("{}", "{}.");
    accept("{\"a\": [1, -2.5e+3, true, false, null], \"b\": {\"c\": \"\"}}", "{k[nntf0]k{ks}}.");
    accept("0", "n.");
    accept("-0.0E-1", "n.");
    accept("\"\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s.");
    accept("\t\r\n[\n1\n,\n2\n]\n", "[nn].");
    accept("\"\xf0\x9f\x92\xa9\xef\xbf\xbf\xe2\x80\x8f\"", "s.");
}

static void test_refused(void **state)
{
    (void)state;
    refuse("", "0: the end of the text where a value was expected");
    refuse("[1,]", "3: a character where a value was expected");
    refuse("[1 2]", "3: something else where a comma or the closing bracket was expected");
    refuse("[1}", "2: something else where a comma or the closing bracket was expected");
    refuse("{\"a\"}", "4: something else where a colon was expected");
    refuse("{\"a\": 1,}", "8: something else where a key in quotes was expected");
    refuse("{1: 2}", "1: something else where a key in quotes was expected");
    refuse("[1] 2", "4: text after the value");
    refuse("01", "1: a number with a leading zero");
    refuse("-", "1: a number without digits");
    refuse("1.", "2: a number without digits after the point");
    refuse("1e", "2: a number without digits after the e");
    refuse("+1", "0: a character where a value was expected");
    refuse("NaN", "0: a character where a value was expected");
    refuse("nul", "0: a word that JSON does not know");
    refuse("truth", "0: a word that JSON does not know");
    refuse("\"a", "2: the end of the text inside a string");
    refuse("\"a\\", "3: the end of the text inside a string");
    refuse("\"\\x41\"", "1: an escape that JSON does not know");
    refuse("\"\\u12g4\"", "1: an escape that JSON does not know");
    refuse("\"\\u123", "1: an escape that JSON does not know");
    refuse("\"\n\"", "1: a control character inside a string");
    refuse("\"\xff\"", "1: bytes that are not UTF-8");
    refuse("\"\xc0\x80\"", "1: bytes that are not UTF-8");
    refuse("\"\xed\xa0\x80\"", "1: bytes that are not UTF-8");
    refuse("\"\xf4\x90\x80\x80\"", "1: bytes that are not UTF-8");
    refuse("\"\xe2\x82", "1: bytes that are not UTF-8");
    refuse("\xef\xbb\xbf[]", "0: a character where a value was expected");
    refuse("// x\n1", "0: a character where a value was expected");
}

static void test_depth(void **state)
{
    (void)state;
    char text[200] = "", letters[512], error[128] = "";
    for (int i = 0; i < JSON_MAX_DEPTH; i++) strcat(text, "[");
    for (int i = 0; i < JSON_MAX_DEPTH; i++) strcat(text, "]");
    walk(text, strlen(text), letters, sizeof letters, error);
    assert_string_equal(error, "");
    memset(text, '[', 100);
    walk(text, 100, letters, sizeof letters, error);
    assert_string_equal(error, "64: nesting deeper than 64");
}

static void test_prefixes(void **state)
{
    (void)state;
    const char *const text = "{\"k\\u00e9\": [\"\\ud83d\\udca9\", -1.5e3, true, null, {\"x\": "
                             "false}], \"\xc3\xa9\": \"\"}";
    for (size_t n = 0; n < strlen(text); n++) {
        char letters[512], error[128] = "";
        walk(text, n, letters, sizeof letters, error);
        assert_true(error[0] != 0);
    }
    accept(text, "{k[snt0{kf}]ks}.");
}

static void decodes(const char *text, const char *want, size_t length)
{
    json_reader r;
    char out[64];
    json_begin(&r, (const unsigned char *)text, strlen(text));
    assert_int_equal(json_next(&r), JSON_STRING);
    assert_int_equal(json_string(&r, out, sizeof out), length);
    assert_memory_equal(out, want, length + 1);
    assert_true(length <= r.text_length);
    for (size_t size = 0; size <= length; size++) { /* cut, and never past its room */
        memset(out, 'x', sizeof out);
        assert_int_equal(json_string(&r, out, size), length);
        assert_int_equal(out[size], 'x');
        if (size > 0) assert_int_equal(out[size - 1], 0);
    }
}

static void test_strings(void **state)
{
    (void)state;
    decodes("\"\"", "", 0);
    decodes("\"plain\"", "plain", 5);
    decodes("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    decodes("\"\\u0041\\u00e9\\u20ac\"", "A\xc3\xa9\xe2\x82\xac", 6);
    decodes("\"\\ud83d\\udca9\"", "\xf0\x9f\x92\xa9", 4);
    decodes("\"\\uD83D\\uDCA9!\"", "\xf0\x9f\x92\xa9!", 5);
    decodes("\"\\ud83d\"", "\xef\xbf\xbd", 3);
    decodes("\"\\ud83dx\"", "\xef\xbf\xbdx", 4);
    decodes("\"\\udca9\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    decodes("\"\\ud83d\\u0041\"",
            "\xef\xbf\xbd"
            "A",
            4);
    decodes("\"\\ud83d\\ue000\"", "\xef\xbf\xbd\xee\x80\x80", 6);
    decodes("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf", 4);
    decodes("\"a\\u0000b\"", "a\0b", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),    cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
