/* SPDX-License-Identifier: MIT */
/* render_plain.c - the calculator for a screen reader: one sentence a step, up to the input's
 * stage. No signs, bars or columns; a negative number says "minus".
 */
#include "lesson/map.h"
#include "lesson/table.h"

static void plain_number(lesson_line *line, double x, int whole)
{
    char text[LESSON_NUMBER_BYTES];
    if (!lesson_finite(x)) {
        line_word(line, LESSON_W_PLAIN_NO_NUMBER);
        return;
    }
    lesson_number_show(text, x, line->face->digits, whole ? LESSON_KEEP_INTEGER : 0);
    if (text[0] == '-') line_word(line, LESSON_W_PLAIN_MINUS);
    line_text(line, text[0] == '-' ? text + 1 : text);
}

/* Every digit, of a number that the reader chose. */
static void plain_exact(lesson_line *line, double x)
{
    lesson_face ascii = *line->face;
    lesson_line exact;
    ascii.utf8 = 0;
    line_start(&exact, &ascii);
    line_exact(&exact, x < 0 ? -x : x);
    if (x < 0) line_word(line, LESSON_W_PLAIN_MINUS);
    line_text(line, exact.text);
}

/* "1, 2 and 20 more" */
static void plain_vector(lesson_line *line, const double *x, int64_t n)
{
    enum { NUMBERS_MOST = 8 };
    const int whole = lesson_all_whole(x, n);
    for (int64_t c = 0; c < n && c < NUMBERS_MOST; c++) {
        if (c > 0) line_text(line, ", ");
        plain_number(line, x[c], whole);
    }
    if (n <= NUMBERS_MOST) return;
    line_text(line, " ");
    line_say_numbers(line, LESSON_W_PLAIN_REST, n - NUMBERS_MOST, 0, NULL);
}

static void end(const lesson_view *view, const lesson_line *line)
{
    sink_text(view, line->text);
    sink_text(view, "\n");
}

static void more(lesson_line *line, int64_t count)
{
    if (count <= 0) return;
    line_text(line, ", ");
    line_say_numbers(line, LESSON_W_PLAIN_REST, count, 0, NULL);
}

/* "the 1, cat 4, sat 2, mat 3." */
static void values(lesson_line *line, const lesson_view *view, const lesson_table *table,
                   const double *x, int whole)
{
    for (int64_t i = 0; i < table->shown; i++) {
        if (i > 0) line_text(line, ", ");
        line_key(line, view->in, table->key[i], LESSON_NAME_COLUMNS);
        line_text(line, " ");
        plain_number(line, x[table->key[i]], whole);
        if (lesson_sees(view->in, view->in->token, table->key[i])) continue;
        line_text(line, " ");
        line_word(line, LESSON_W_HIDDEN);
    }
    more(line, table->others);
    line_text(line, ".");
}

/* "; the causal mask hides every key after cat" */
static void mask(lesson_line *line, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    const int64_t seen = lesson_seen(in, in->token);
    lesson_line last;
    if (in->padding > 0) {
        line_start(&last, view->face);
        line_count_keys(&last, in->padding);
        line_text(line, "; ");
        line_say(line, LESSON_W_PLAIN_PADDING, last.text, NULL, NULL);
    }
    if (in->wrong_way) {
        line_text(line, "; ");
        line_word(line, LESSON_W_PLAIN_WRONG);
    }
    if (!in->causal) return;
    line_start(&last, view->face);
    if (seen > 0) line_key(&last, in, seen - 1, LESSON_NAME_COLUMNS);
    line_text(line, "; ");
    line_say(line,
             seen == 0          ? LESSON_W_PLAIN_CAUSAL_NONE
             : seen == in->keys ? LESSON_W_PLAIN_CAUSAL_ALL
                                : LESSON_W_PLAIN_CAUSAL_SOME,
             last.text, NULL, NULL);
}

static void step_vectors(const lesson_view *view, const lesson_table *table, const char *who)
{
    const lesson_input *const in = view->in;
    lesson_line line, a, b;
    line_start(&a, view->face);
    plain_vector(&a, in->q + in->token * in->d_k, in->d_k);
    line_start(&line, view->face);
    line_say(&line, LESSON_W_PLAIN_0, who, a.text, NULL);
    for (int64_t i = 0; i < table->shown; i++) {
        const int64_t j = table->key[i];
        lesson_line name;
        line_start(&name, view->face);
        line_start(&a, view->face);
        line_start(&b, view->face);
        line_key(&name, in, j, LESSON_NAME_COLUMNS);
        plain_vector(&a, in->k + j * in->d_k, in->d_k);
        plain_vector(&b, in->v + j * in->d_v, in->d_v);
        line_text(&line, "; ");
        line_say(&line, LESSON_W_PLAIN_0_TOKEN, name.text, a.text, b.text);
    }
    more(&line, table->others);
    mask(&line, view);
    line_text(&line, ".");
    end(view, &line);
}

static void step_scaled(const lesson_view *view, const lesson_table *table)
{
    static const lesson_word word[] = {LESSON_W_PLAIN_2_SQRT, LESSON_W_PLAIN_2_NONE,
                                       LESSON_W_PLAIN_2_DK, LESSON_W_PLAIN_2_TIMES};
    const lesson_input *const in = view->in;
    lesson_line line, by;
    line_start(&line, view->face);
    line_start(&by, view->face);
    if (in->scale_kind == LESSON_SCALE_VALUE)
        plain_exact(&by, in->scale_value);
    else
        line_integer(&by, in->d_k);
    if (in->temperature != 1) {
        lesson_line t;
        line_start(&t, view->face);
        plain_exact(&t, in->temperature);
        line_text(&by, " ");
        line_say(&by, LESSON_W_PLAIN_2_T, t.text, NULL, NULL);
    }
    line_say(&line, word[in->scale_kind], by.text, NULL, NULL);
    values(&line, view, table, view->stages->row_scaled, table->whole_scaled);
    end(view, &line);
}

/* The strongest key: -1 when the row sees none. */
static int no_weights(const lesson_view *view, int64_t strongest)
{
    return strongest >= 0 && !lesson_finite(view->stages->row_weight[strongest]);
}

static void step_weights(const lesson_view *view, const lesson_table *table, const char *who,
                         int64_t strongest)
{
    lesson_line line;
    line_start(&line, view->face);
    if (strongest < 0) {
        line_say(&line, LESSON_W_PLAIN_BLIND, who, NULL, NULL);
    } else if (no_weights(view, strongest)) {
        line_word(&line, LESSON_W_PLAIN_NO_WEIGHTS);
    } else {
        line_word(&line, view->in->wrong_way ? LESSON_W_PLAIN_3_WRONG : LESSON_W_PLAIN_3);
        values(&line, view, table, view->stages->row_weight, 0);
    }
    end(view, &line);
}

qkv_status lesson_plain_table(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    lesson_table table;
    const qkv_status status = table_make(&table, view, 80);
    if (status != QKV_OK) return status;
    const int64_t strongest = lesson_strongest(in, view->stages);
    lesson_line who, line;
    line_start(&who, view->face);
    line_row(&who, in, in->token, LESSON_NAME_COLUMNS);
    step_vectors(view, &table, who.text);
    if (in->stage >= 1) {
        line_start(&line, view->face);
        line_word(&line, LESSON_W_PLAIN_1);
        values(&line, view, &table, view->stages->row_score, table.whole_score);
        end(view, &line);
    }
    if (in->stage >= 2) step_scaled(view, &table);
    if (in->stage >= 3) step_weights(view, &table, who.text, strongest);
    if (in->stage >= 4) {
        lesson_line out;
        line_start(&out, view->face);
        line_start(&line, view->face);
        plain_vector(&out, view->stages->row_out, in->d_v);
        line_say(&line,
                 strongest < 0                 ? LESSON_W_PLAIN_BLIND_OUT
                 : no_weights(view, strongest) ? LESSON_W_PLAIN_NO_WEIGHTS_OUT
                                               : LESSON_W_PLAIN_4,
                 out.text, NULL, NULL);
        end(view, &line);
    }
    return QKV_OK;
}

/* "cat", or "cat and 2 more" */
static void strongest_name(lesson_line *line, const lesson_view *view, int64_t row, int64_t key)
{
    const int64_t tied = map_tied(view, row, key);
    lesson_line name;
    char count[LESSON_NUMBER_BYTES];
    line_start(&name, view->face);
    line_key(&name, view->in, view->in->key_begin + key, LESSON_NAME_COLUMNS);
    lesson_number_integer(count, tied);
    if (tied == 0)
        line_text(line, name.text);
    else
        line_say(line, LESSON_W_MOST_TIED, name.text, count, NULL);
}

static void map_mask(const lesson_view *view)
{
    if (!view->in->causal && view->in->padding == 0) return;
    lesson_line line, shift;
    line_start(&shift, view->face);
    plain_exact(&shift, (double)view->in->q_offset);
    line_start(&line, view->face);
    line_map_mask(&line, view, shift.text);
    end(view, &line);
}

qkv_status lesson_plain_map(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    map_mask(view);
    for (int64_t i = 0; i < view->stages->rows; i++) {
        lesson_line line, who, whom, x;
        const int64_t key = map_most(view, i);
        line_start(&line, view->face);
        line_start(&who, view->face);
        line_start(&whom, view->face);
        line_start(&x, view->face);
        line_row(&who, in, in->row_begin + i, LESSON_NAME_COLUMNS);
        if (key >= 0) {
            strongest_name(&whom, view, i, key);
            plain_number(&x, map_value(view, i, key), 0);
        }
        const int is_nan = key >= 0 && map_value(view, i, key) != map_value(view, i, key);
        line_say(&line,
                 key < 0          ? LESSON_W_PLAIN_NONE_SEEN
                 : is_nan         ? LESSON_W_PLAIN_NOT_FINITE
                 : in->stage >= 3 ? LESSON_W_PLAIN_SEEN
                                  : LESSON_W_PLAIN_HIGHEST,
                 who.text, whom.text, x.text);
        end(view, &line);
    }
    return QKV_OK;
}
