/* SPDX-License-Identifier: MIT */
/* test_lesson.c - the lesson's code called directly: its words, its preset, its golden values, and
 * what it does when memory ends. What it prints is tested through the command (golden.py and
 * others).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lesson/compose.h"
#include "lesson/figures.h"
#include "lesson/state.h"
#include "lesson/table.h"

/* ---- a face, memory that ends, a sink that counts
 * ------------------------------------------------ */

static int plain_safe(char *buffer, size_t size, const char *text, size_t bytes, int max_columns)
{
    size_t n = bytes < size - 1 ? bytes : size - 1;
    if (max_columns > 0 && n > (size_t)max_columns) n = (size_t)max_columns;
    memcpy(buffer, text, n);
    buffer[n] = 0;
    return (int)n;
}

static int count_columns(const char *text)
{
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static const lesson_face utf8_face = {80, 1, 0, 2, plain_safe, count_columns};
static const lesson_face ascii_face = {80, 0, 0, 2, plain_safe, count_columns};

typedef struct budget {
    int left; /* how many more times memory is given */
    int taken;
    void *chunk[256];
} budget;

static void *take(void *ctx, size_t bytes)
{
    budget *const b = (budget *)ctx;
    if (b->left-- <= 0) return NULL;
    assert_true(b->taken < 256);
    void *const p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    assert_non_null(p);
    memset(p, 0xA5, bytes);
    b->chunk[b->taken++] = p;
    return p;
}

static void release(budget *b)
{
    while (b->taken > 0) free(b->chunk[--b->taken]);
}

static void count_bytes(void *ctx, const char *text, size_t bytes)
{
    assert_non_null(text);
    *(size_t *)ctx += bytes;
}

/* ---- words
 * --------------------------------------------------------------------------------------- */

static int words_in(const char *text)
{
    int n = 0;
    for (const char *p = text; *p; p++) n += *p != ' ' && (p == text || p[-1] == ' ');
    return n;
}

static void test_captions_are_short(void **state)
{
    (void)state;
    int captions = 0;
    for (int stage = 0; stage <= 4; stage++)
        for (int kind = LESSON_SCALE_SQRT; kind <= LESSON_SCALE_VALUE; kind++)
            for (int causal = 0; causal <= 1; causal++, captions++) {
                const lesson_input in = {.stage = stage, .scale_kind = kind, .causal = causal};
                const char *const text = lesson_word_text(lesson_caption(&in));
                if (words_in(text) > 30 || words_in(text) < 8) fail_msg("%s", text);
            }
    assert_int_equal(captions, 40);
}

static void test_every_sign_has_ascii(void **state)
{
    (void)state;
    for (int id = 0; id < LESSON_WORDS; id++) {
        if (id == LESSON_W_MAP_LEGEND || id == LESSON_W_MAP_LEGEND_RANGE ||
            id == LESSON_W_MAP_LEGEND_EQUAL || id == LESSON_W_MAP_LEGEND_HIDDEN)
            continue; /* each has an ASCII sister */
        lesson_line line;
        line_start(&line, &ascii_face);
        line_word(&line, (lesson_word)id);
        for (const char *p = line.text; *p; p++)
            if ((unsigned char)*p >= 0x80) fail_msg("no ASCII for a sign in: %s", line.text);
    }
}

static void test_sentences_are_filled(void **state)
{
    (void)state;
    lesson_line line;
    line_start(&line, &utf8_face);
    line_say(&line, LESSON_W_MOST, "a", "b", "c");
    assert_string_equal(line.text, "a looks most at b: c.");
    line_start(&line, &ascii_face);
    line_say(&line, LESSON_W_SCALE_TEMPERATURE, "x", NULL, NULL);
    assert_string_equal(line.text, "x / T");
}

static void test_long_lines_are_cut_between_characters(void **state)
{
    (void)state;
    lesson_line line;
    line_start(&line, &utf8_face);
    line_text(&line, "x"); /* so that a character of two bytes would be split */
    for (int i = 0; i < LESSON_LINE_BYTES; i++) line_text(&line, "\xC3\xA9");
    assert_int_equal(line.n, strlen(line.text));
    assert_true(line.n >= LESSON_LINE_BYTES - 2);
    assert_int_equal((unsigned char)line.text[line.n - 1], 0xA9);
}

/* ---- numbers
 * ------------------------------------------------------------------------------------- */

static void test_preset_is_x_times_w(void **state)
{
    (void)state;
    static const double q[] = {0, 1, 1, 0, 1, 2, 2, 1};
    static const double k[] = {1, 0, 0, 2, 2, 0, 1, 1};
    static const double v[] = {1, 0, 3, 0, 0, 2, 0, 1};
    budget b = {.left = 256};
    const lesson_memory memory = {take, &b};
    lesson_input in;
    assert_int_equal(lesson_preset(&in, &memory, NULL), QKV_OK);
    assert_memory_equal(in.q, q, sizeof q);
    assert_memory_equal(in.k, k, sizeof k);
    assert_memory_equal(in.v, v, sizeof v);
    for (int i = 0; i < 4; i++) { /* by hand, from the embedding that it shows */
        for (int o = 0; o < 2; o++) {
            double sum = 0;
            for (int c = 0; c < 4; c++)
                sum += lesson_preset_x()[i * 4 + c] * lesson_preset_w()[c * 2 + o];
            assert_true(sum == q[i * 2 + o]);
        }
    }
    release(&b);
}

static void near(double got, double want, double by)
{
    const double off = got > want ? got - want : want - got;
    if (!(off <= by)) {
        char a[LESSON_NUMBER_BYTES], c[LESSON_NUMBER_BYTES];
        lesson_number_shortest(a, got);
        lesson_number_shortest(c, want);
        fail_msg("%s, not %s", a, c);
    }
}

static void test_golden_values(void **state)
{
    (void)state;
    static const double score[] = {1, 4, 2, 3};
    static const double weight[] = {.064584838647, .538776070480, .130985478846, .265653612027};
    static const double out[] = {1.680913050, .527624570};
    budget b = {.left = 256};
    const lesson_memory memory = {take, &b};
    lesson_input in;
    lesson_stages s;
    qkv_error err = qkv_error_init();
    assert_int_equal(lesson_preset(&in, &memory, &err), QKV_OK);
    assert_int_equal(lesson_run(&s, &in, 1, &memory, &err), QKV_OK);
    for (int j = 0; j < 4; j++) {
        assert_true(s.row_score[j] == score[j]);
        assert_true(s.score[2 * 4 + j] == score[j]);
        near(s.row_scaled[j], score[j] * .70710678118654752, 1e-15);
        near(s.row_weight[j], weight[j], 1e-12);
    }
    near(s.row_out[0], out[0], 1e-9);
    near(s.row_out[1], out[1], 1e-9);
    assert_true(s.difference > 0 && s.difference < 1e-6);
    assert_int_equal(lesson_strongest(&in, &s), 1);
    release(&b);
}

/* ---- memory that ends
 * ---------------------------------------------------------------------------- */

static qkv_status everything(budget *b, size_t *bytes)
{
    static qkv_status (*const writer[])(const lesson_view *) = {
        lesson_text_table, lesson_text_map, lesson_plain_table, lesson_plain_map, lesson_json,
        lesson_csv_table,  lesson_csv_map,  lesson_svg_table,   lesson_svg_map};
    const lesson_memory memory = {take, b};
    const lesson_sink sink = {count_bytes, bytes};
    lesson_input in;
    lesson_stages s;
    qkv_status status = lesson_preset(&in, &memory, NULL);
    if (status == QKV_OK) status = lesson_run(&s, &in, 1, &memory, NULL);
    const lesson_view view = {&in, &s, &utf8_face, &sink, &memory};
    for (size_t i = 0; i < sizeof writer / sizeof writer[0] && status == QKV_OK; i++) {
        *bytes = 0;
        status = writer[i](&view);
        if (status == QKV_OK) assert_true(*bytes > 40);
    }
    return status;
}

static void test_memory_may_end_anywhere(void **state)
{
    (void)state;
    int refused = 0;
    for (int n = 0;; n++) {
        budget b = {.left = n};
        size_t bytes = 0;
        const qkv_status status = everything(&b, &bytes);
        release(&b);
        if (status == QKV_OK) break;
        assert_int_equal(status, QKV_ENOMEM);
        refused++;
    }
    assert_true(refused > 15);
}

/* A state that uses everything, and every figure. */
static qkv_status figures(budget *b)
{
    static const char text[] =
        "v=1&n=5&dk=3&tok=a,b,c,d,e&K=1,0,1;0,2,0;2,0,1;1,1,1;0,0,3&X=1,0,0,0;"
        "0,1,0,1;0,0,1,0;0,1,0,0;1,1,1,1&new=1&mask=causal&wrong=1&st=4&z";
    const lesson_memory memory = {take, b};
    size_t bytes = 0;
    const lesson_sink sink = {count_bytes, &bytes};
    static lesson_state s;
    static root_figure root;
    static proof_causal causal;
    static proof_heads heads;
    lesson_trouble trouble;
    lesson_input in;
    lesson_stages stages;
    maximum_figure maximum;
    blend_point point[2];
    const double x[2] = {0.5, 1.5};
    qkv_status status = lesson_state_read(&s, text, sizeof text - 1, &memory, &trouble);
    if (status == QKV_OK) status = lesson_state_set(&s, "n", "6", 1, &memory, &trouble);
    if (status != QKV_OK) return status;
    lesson_state_input(&s, 0, &in);
    status = lesson_run(&stages, &in, 0, &memory, NULL);
    const lesson_view view = {&in, &stages, &utf8_face, &sink, &memory};
    if (status == QKV_OK) status = maximum_make(&maximum, &view, 1);
    if (status == QKV_OK) status = blend_points(point, x, 2, &memory);
    if (status == QKV_OK) status = root_sample(&root, 8, 1, 0, &memory);
    if (status == QKV_OK) status = proof_causal_make(&causal, &memory);
    if (status == QKV_OK) status = proof_heads_make(&heads, &memory);
    if (status == QKV_OK) status = lesson_ask(&view, &s);
    if (status == QKV_OK) assert_true(bytes > 100);
    return status;
}

static void test_memory_of_figures_may_end_anywhere(void **state)
{
    (void)state;
    int refused = 0;
    for (int n = 0;; n++) {
        budget b = {.left = n};
        const qkv_status status = figures(&b);
        release(&b);
        if (status == QKV_OK) break;
        assert_int_equal(status, QKV_ENOMEM);
        refused++;
    }
    assert_true(refused > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captions_are_short),
        cmocka_unit_test(test_every_sign_has_ascii),
        cmocka_unit_test(test_sentences_are_filled),
        cmocka_unit_test(test_long_lines_are_cut_between_characters),
        cmocka_unit_test(test_preset_is_x_times_w),
        cmocka_unit_test(test_golden_values),
        cmocka_unit_test(test_memory_may_end_anywhere),
        cmocka_unit_test(test_memory_of_figures_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
