/* SPDX-License-Identifier: MIT */
/* test_cli_text.c - the text filter and the value parsers of the command's frame, call by call.
 *
 * Not here: whole command lines and messages; those are transcripts (usage.exact).
 */
#include "cli/cli.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <cmocka.h>

#define ELLIPSIS "\xE2\x80\xA6"

static void shows(const char *text, size_t n, int max_columns, const char *want, int columns)
{
    char buffer[512], from_file[512];
    assert_int_equal(cli_safe_text(buffer, sizeof buffer, text, n, max_columns), columns);
    assert_string_equal(buffer, want);
    FILE *const f = tmpfile();
    assert_non_null(f);
    assert_int_equal(cli_put_text(f, text, n, max_columns), columns);
    rewind(f);
    from_file[fread(from_file, 1, sizeof from_file - 1, f)] = 0;
    fclose(f);
    assert_string_equal(from_file, want);
}

static void shows_all(const char *text, const char *want, int columns)
{
    shows(text, strlen(text), 0, want, columns);
}

static void plain_text_passes(void **state)
{
    (void)state;
    shows_all("", "", 0);
    shows_all("the cat", "the cat", 7);
    shows_all("\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9", 3);
    shows_all("\xE7\x8C\xAB", "\xE7\x8C\xAB", 2);           /* a cat, two columns */
    shows_all("\xF0\x9F\x90\x88!", "\xF0\x9F\x90\x88!", 3); /* U+1F408 */
    shows_all("e\xCC\x81", "e\xCC\x81", 1);                 /* combining acute */
    shows_all("\xF0\x9D\x94\xB8", "\xF0\x9D\x94\xB8", 1);   /* U+1D538, beyond the BMP */
    shows_all("back\\slash", "back\\slash", 10);
}

static void controls_become_visible(void **state)
{
    (void)state;
    shows_all("\x1B[31m", "\\x1b[31m", 8);
    shows_all("a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd", 16);
    shows("a\0b", 3, 0, "a\\x00b", 6);
    shows_all("\x7F", "\\x7f", 4);
    shows_all("\xC2\x9B", "\\xc2\\x9b", 8); /* U+009B, a C1 control: CSI */
    shows_all("\xC2\x85", "\\xc2\\x85", 8);
    shows_all("\xC2\xA0", "\xC2\xA0", 1); /* the first after C1 */
}

static void hidden_characters_are_named(void **state)
{
    (void)state;
    shows_all("a\xE2\x80\xAE"
              "b",
              "a\\u{202e}b", 10);
    shows_all("\xE2\x81\xA6\xE2\x81\xA9", "\\u{2066}\\u{2069}", 16);
    shows_all("\xE2\x80\x8B\xE2\x80\x8F\xD8\x9C", "\\u{200b}\\u{200f}\\u{61c}", 23);
    shows_all("\xEF\xBB\xBFx", "\\u{feff}x", 9);
    shows_all("\xE2\x80\xA8", "\\u{2028}", 8);
    shows_all("\xF3\xA0\x81\x81", "\\u{e0041}", 9);
    shows_all("\xEF\xBF\xBF", "\\u{ffff}", 8);
}

static void broken_utf8_becomes_bytes(void **state)
{
    (void)state;
    shows_all("\xFF\xFE", "\\xff\\xfe", 8);
    shows_all("\x80", "\\x80", 4);
    shows_all("\xC3", "\\xc3", 4);
    shows_all("\xC3(", "\\xc3(", 5);
    shows_all("\xC0\xAF", "\\xc0\\xaf", 8);                    /* overlong / */
    shows_all("\xE0\x80\xAF", "\\xe0\\x80\\xaf", 12);          /* overlong */
    shows_all("\xED\xA0\x80", "\\xed\\xa0\\x80", 12);          /* lone surrogate */
    shows_all("\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16); /* beyond 10FFFF */
    shows("\xE7\x8C\xAB", 2, 0, "\\xe7\\x8c", 8);              /* cut off by the length */
}

static void long_text_is_cut(void **state)
{
    (void)state;
    shows("abcdef", 6, 6, "abcdef", 6);
    shows("abcdef", 6, 5, "abcd" ELLIPSIS, 5);
    shows("abcdef", 6, 1, ELLIPSIS, 1);
    shows("\xE7\x8C\xAB\xE7\x8C\xAB", 6, 3, "\xE7\x8C\xAB" ELLIPSIS, 3); /* no half of a wide one */
    shows("\xE7\x8C\xAB\xE7\x8C\xAB", 6, 2, ELLIPSIS, 1);
    shows("a\x1B\x1B", 3, 6, "a\\x1b" ELLIPSIS, 6); /* no half of an escape */
    shows("ae\xCC\x81z", 5, 3, "ae\xCC\x81z", 3);
}

static void a_small_buffer_is_kept(void **state)
{
    (void)state;
    char buffer[16];
    char text[300];
    memset(text, 'x', sizeof text);
    memset(buffer, 1, sizeof buffer);
    assert_int_equal(cli_safe_text(buffer, 8, text, sizeof text, 0), 5);
    assert_string_equal(buffer, "xxxx" ELLIPSIS);
    assert_int_equal(buffer[8], 1);
    memset(text, 0x1B, sizeof text);
    assert_int_equal(cli_safe_text(buffer, 8, text, sizeof text, 0), 5);
    assert_string_equal(buffer, "\\x1b" ELLIPSIS);
}

static void sizes_are_read(void **state)
{
    (void)state;
    uint64_t x = 7;
    assert_true(cli_parse_size("1", &x) && x == 1);
    assert_true(cli_parse_size("3K", &x) && x == 3072);
    assert_true(cli_parse_size("2M", &x) && x == 2097152);
    assert_true(cli_parse_size("1G", &x) && x == UINT64_C(1) << 30);
    assert_true(cli_parse_size("16777215T", &x) && x == UINT64_C(16777215) << 40);
    assert_true(cli_parse_size("18446744073709551615", &x) && x == UINT64_MAX);
    static const char *const bad[] = {
        "",          "0",           "-1",   "+1",  "1k",
        "1KB",       "K",           "1.5G", " 1",  "1 ",
        "0x10",      "1e3",         "1P",   "1\n", "18446744073709551616",
        "16777216T", "17179869184G"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(cli_parse_size(bad[i], &x));
}

static void integers_are_read(void **state)
{
    (void)state;
    int64_t x = 0;
    assert_true(cli_parse_int("0", &x) && x == 0);
    assert_true(cli_parse_int("-12", &x) && x == -12);
    assert_true(cli_parse_int("9223372036854775807", &x) && x == INT64_MAX);
    assert_true(cli_parse_int("-9223372036854775808", &x) && x == INT64_MIN);
    static const char *const bad[] = {"",
                                      "-",
                                      "1.0",
                                      "1e3",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "1,000",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(cli_parse_int(bad[i], &x));
}

static void reals_are_read(void **state)
{
    (void)state;
    double x = 0;
    assert_true(cli_parse_real("0.5", &x) && x == 0.5);
    assert_true(cli_parse_real("-2e-3", &x) && x == -2e-3);
    static const char *const bad[] = {"", "nan", "inf", "Infinity", "1e999", "1,5", "0x1p3", "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(cli_parse_real(bad[i], &x));
}

/* ---- shared options --------------------------------------------------------------------------- */

static int no_run(const cli_args *args)
{
    (void)args;
    return CLI_DONE;
}

static const cli_command probe = {
    .name = "probe",
    .options =
        (const cli_option *const[]){&cli_opt_scale, &cli_opt_causal, &cli_opt_max_memory, NULL},
    .run = no_run,
};

static void given(cli_args *args, const char *word)
{
    char name[] = "probe", copy[64];
    snprintf(copy, sizeof copy, "%s", word);
    char *argv[] = {name, copy, NULL};
    bool help;
    assert_int_equal(cli_parse(args, &probe, 2, argv, &help), CLI_DONE);
    /* the value stays readable after `copy` is gone */
    for (int i = 0; i < CLI_MAX_OPTIONS; i++)
        if (args->text[i]) args->text[i] = word + (args->text[i] - copy);
}

static void the_shift_is_the_one_of_the_alignment(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        int64_t queries, keys, shift;
    } good[] = {
        {"--causal=top-left", 3, 5, 0},
        {"--causal=bottom-right", 3, 5, 2},
        {"--causal=bottom-right", 5, 3, -2},
        {"--causal=-4", 3, 5, -4},
        {"--causal=4611686018427387904", 3, 5, INT64_C(1) << 62},
    };
    cli_args args;
    bool use;
    int64_t shift;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        given(&args, good[i].word);
        assert_int_equal(cli_causal(&args, good[i].queries, good[i].keys, &use, &shift), CLI_DONE);
        assert_true(use);
        assert_int_equal(shift, good[i].shift);
    }
    given(&args, "--scale=dk");
    assert_int_equal(cli_causal(&args, 3, 5, &use, &shift), CLI_DONE);
    assert_false(use);
}

static void the_scale_is_the_one_named(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        cli_scale_kind kind;
        double value;
    } good[] = {
        {"--scale=none", CLI_SCALE_NONE, 1},
        {"--scale=0.25", CLI_SCALE_VALUE, 0.25},
        {"--scale=0", CLI_SCALE_VALUE, 0},
        {"--scale=-1e3", CLI_SCALE_VALUE, -1000},
    };
    cli_args args;
    cli_scale_kind kind;
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        given(&args, good[i].word);
        assert_int_equal(cli_scale(&args, &kind, &value), CLI_DONE);
        assert_int_equal(kind, good[i].kind);
        assert_true(value == good[i].value);
    }
    given(&args, "--scale=dk");
    assert_int_equal(cli_scale(&args, &kind, &value), CLI_DONE);
    assert_int_equal(kind, CLI_SCALE_DK);
    given(&args, "--scale=sqrt");
    assert_int_equal(cli_scale(&args, &kind, &value), CLI_DONE);
    assert_int_equal(kind, CLI_SCALE_SQRT);
    assert_true(isnan(value));
}

static void memory_is_asked_from_the_machine(void **state)
{
    (void)state;
    cli_args args;
    given(&args, "--scale=dk");
    const uint64_t room = cli_max_memory(&args);
    struct sysinfo machine;
    assert_int_equal(sysinfo(&machine), 0);
    const uint64_t all = (uint64_t)machine.totalram * machine.mem_unit;
    assert_true(room > UINT64_C(1) << 20 && room <= all / 5 * 4);
    given(&args, "--max-memory=5M");
    assert_true(cli_max_memory(&args) == UINT64_C(5) << 20);
    assert_int_equal(cli_check_memory(&args, UINT64_C(5) << 20, "the output"), CLI_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_passes),
        cmocka_unit_test(controls_become_visible),
        cmocka_unit_test(hidden_characters_are_named),
        cmocka_unit_test(broken_utf8_becomes_bytes),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(a_small_buffer_is_kept),
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(integers_are_read),
        cmocka_unit_test(reals_are_read),
        cmocka_unit_test(the_shift_is_the_one_of_the_alignment),
        cmocka_unit_test(the_scale_is_the_one_named),
        cmocka_unit_test(memory_is_asked_from_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
