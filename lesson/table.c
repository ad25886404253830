/* SPDX-License-Identifier: MIT */
/* table.c - see table.h. Where room is short, channels go first (the larger of K and V), then the
 * bar, then the columns V and K, and channels come back where there is room after all; what went is
 * said by the face that draws the table.
 */
#include "lesson/table.h"

void line_scale(lesson_line *line, const lesson_input *in)
{
    lesson_line x;
    line_start(&x, line->face);
    if (in->scale_kind == LESSON_SCALE_SQRT) line_word(&x, LESSON_W_SCALE_SQRT);
    if (in->scale_kind == LESSON_SCALE_NONE) line_word(&x, LESSON_W_SCALE_NONE);
    if (in->scale_kind == LESSON_SCALE_DK) line_word(&x, LESSON_W_SCALE_DK);
    if (in->scale_kind == LESSON_SCALE_VALUE) {
        lesson_line number;
        line_start(&number, line->face);
        line_exact(&number, in->scale_value);
        line_say(&x, LESSON_W_SCALE_TIMES, number.text, NULL, NULL);
    }
    if (in->temperature == 1)
        line_text(line, x.text);
    else
        line_say(line, LESSON_W_SCALE_TEMPERATURE, x.text, NULL, NULL);
}

void table_head(lesson_line *line, const lesson_view *view, lesson_column column)
{
    switch (column) {
    case COLUMN_TOKEN:
        line_word(line, LESSON_W_HEAD_TOKEN);
        break;
    case COLUMN_KEY:
        line_word(line, LESSON_W_HEAD_KEY);
        break;
    case COLUMN_VALUE:
        line_word(line, LESSON_W_HEAD_VALUE);
        break;
    case COLUMN_SCORE:
        line_word(line, LESSON_W_HEAD_SCORE);
        break;
    case COLUMN_SCALED:
        line_scale(line, view->in);
        break;
    case COLUMN_WEIGHT:
        line_word(line, LESSON_W_HEAD_WEIGHT);
        break;
    case LESSON_COLUMNS:
        break;
    }
}

int table_has_others(const lesson_view *view, const lesson_table *table)
{
    return table->others > 0 && view->in->stage >= 3;
}

static void other_cell(lesson_line *line, const lesson_view *view, const lesson_table *table,
                       int sum, lesson_column column)
{
    if (column == COLUMN_TOKEN && sum) line_word(line, LESSON_W_SUM);
    if (column == COLUMN_TOKEN && !sum)
        line_say_numbers(line, LESSON_W_OTHERS, table->others, 0, NULL);
    if (column == COLUMN_WEIGHT && view->in->stage >= 3)
        line_number(line, sum ? table->sum : table->others_weight, 0);
}

void table_cell(lesson_line *line, const lesson_view *view, const lesson_table *table, int64_t i,
                lesson_column column)
{
    const lesson_input *const in = view->in;
    if (i >= table->shown) {
        other_cell(line, view, table, i > table->shown, column);
        return;
    }
    const int64_t j = table->key[i];
    const unsigned keep = LESSON_KEEP_INTEGER;
    switch (column) {
    case COLUMN_TOKEN:
        line_name(line, &in->name[j], LESSON_NAME_COLUMNS);
        break;
    case COLUMN_KEY:
        line_vector(line, in->k + j * in->d_k, in->d_k, table->channels_k, table->whole_k);
        break;
    case COLUMN_VALUE:
        line_vector(line, in->v + j * in->d_v, in->d_v, table->channels_v, table->whole_v);
        break;
    case COLUMN_SCORE:
        if (in->stage >= 1)
            line_number(line, view->stages->row_score[j], table->whole_score ? keep : 0);
        break;
    case COLUMN_SCALED:
        if (in->stage >= 2)
            line_number(line, view->stages->row_scaled[j], table->whole_scaled ? keep : 0);
        break;
    case COLUMN_WEIGHT:
        if (in->stage >= 3) line_number(line, view->stages->row_weight[j], 0);
        break;
    case LESSON_COLUMNS:
        break;
    }
}

/* ---- which keys ------------------------------------------------------------------------------ */

/* Keys in the order of the reader's interest: visible ones by weight, then hidden ones; at stage 0
 * there is no weight yet, the order is that of the tokens. Ties by index. */
static int before(const lesson_view *view, int64_t a, int64_t b)
{
    const lesson_input *const in = view->in;
    if (in->stage > 0) {
        const int see_a = lesson_sees(in, in->token, a);
        const int see_b = lesson_sees(in, in->token, b);
        if (see_a != see_b) return see_a;
        const double w_a = view->stages->row_weight[a];
        const double w_b = view->stages->row_weight[b];
        if (w_a > w_b || w_a < w_b) return w_a > w_b;
    }
    return a < b;
}

static void sort_ascending(int64_t *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = i; k > 0 && x[k - 1] > x[k]; k--) {
            const int64_t t = x[k];
            x[k] = x[k - 1];
            x[k - 1] = t;
        }
}

static void pick_keys(lesson_table *table, const lesson_view *view, int64_t room)
{
    const lesson_input *const in = view->in;
    table->shown = 0;
    for (int64_t j = in->key_begin; j < in->key_end; j++) {
        if (in->keys_chosen || in->keys <= room) {
            table->key[table->shown++] = j;
            continue;
        }
        int64_t at = table->shown; /* kept sorted by interest while picking */
        while (at > 0 && before(view, j, table->key[at - 1])) at--;
        if (at == room) continue;
        if (table->shown < room) table->shown++;
        for (int64_t k = table->shown - 1; k > at; k--) table->key[k] = table->key[k - 1];
        table->key[at] = j;
    }
    if (!in->keys_chosen && in->keys > room) sort_ascending(table->key, table->shown);
}

static void sum_weights(lesson_table *table, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    int64_t next = 0;
    table->sum = table->others_weight = 0;
    table->others = in->keys - table->shown;
    table->worked = -1;
    for (int64_t j = 0; j < in->keys; j++) {
        const double w = view->stages->row_weight[j];
        table->sum += w;
        if (next == table->shown || table->key[next] != j) {
            table->others_weight += w;
            continue;
        }
        next++;
        if (!lesson_sees(in, in->token, j)) continue;
        if (table->worked < 0 || w > view->stages->row_weight[table->worked]) table->worked = j;
    }
    if (table->worked < 0 && table->shown > 0 && in->stage < 3) table->worked = table->key[0];
}

/* ---- how wide -------------------------------------------------------------------------------- */

enum { ROWS_MEASURED = 200 }; /* a longer table may lose its alignment further down, not its time */

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Width of a column as it will be at the last stage. */
static int measure(const lesson_view *view, const lesson_table *table, lesson_column column)
{
    lesson_input last = *view->in;
    last.stage = 4;
    lesson_view full = *view;
    full.in = &last;
    lesson_line line;
    line_start(&line, view->face);
    table_head(&line, view, column);
    int width = column == COLUMN_WEIGHT ? 0 : line_columns(&line); /* that head spans the bar */
    for (int64_t i = 0; i < table->shown + 2; i++) {
        if (i == ROWS_MEASURED && table->shown > i) i = table->shown;
        if (i == table->shown && table->others == 0) continue;
        line_start(&line, view->face);
        table_cell(&line, &full, table, i, column);
        width = most(width, line_columns(&line));
    }
    return width;
}

static int total_width(const lesson_table *table)
{
    int total = 0;
    for (int c = 0; c < LESSON_COLUMNS; c++) {
        if (c == COLUMN_KEY && table->channels_k == 0) continue;
        if (c == COLUMN_VALUE && table->channels_v == 0) continue;
        total += table->width[c] + (c > 0 ? 2 : 0);
    }
    const int bar = table->bar > 0 ? 1 + table->bar : 0;
    return total + most(bar, table->weight_head - table->width[COLUMN_WEIGHT]);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { CHANNELS_FEW = 8 };

/* Channels come back into room that is left: all of them may take no more of it than one and an
 * ellipsis, and few are worth more than a long bar. */
static void grow(lesson_table *table, const lesson_view *view, int width, lesson_column column,
                 int64_t *channels, int64_t all)
{
    const int64_t kept = *channels;
    if (kept == 0 || all > CHANNELS_FEW) return;
    for (*channels = all; *channels > kept; --*channels) {
        table->width[column] = measure(view, table, column);
        if (total_width(table) <= width) return;
    }
    table->width[column] = measure(view, table, column);
}

static void fit(lesson_table *table, const lesson_view *view, int width)
{
    enum { BAR_MOST = 24, BAR_LEAST = 4 };
    const lesson_input *const in = view->in;
    table->channels_k = least(in->d_k, width / 2);
    table->channels_v = least(in->d_v, width / 2);
    /* two of 32 channels say no more than one: there the bar is worth more */
    table->bar = in->d_k > CHANNELS_FEW || in->d_v > CHANNELS_FEW ? BAR_MOST : BAR_MOST / 2;
    lesson_line head;
    line_start(&head, view->face);
    table_head(&head, view, COLUMN_WEIGHT);
    table->weight_head = line_columns(&head);
    for (int c = 0; c < LESSON_COLUMNS; c++)
        table->width[c] = measure(view, table, (lesson_column)c);
    while (total_width(table) > width && (table->channels_k > 1 || table->channels_v > 1)) {
        const int k =
            table->channels_k > 1 &&
            (table->channels_v <= 1 || table->width[COLUMN_KEY] >= table->width[COLUMN_VALUE]);
        if (k)
            table->channels_k--;
        else
            table->channels_v--;
        const lesson_column c = k ? COLUMN_KEY : COLUMN_VALUE;
        table->width[c] = measure(view, table, c);
    }
    while (total_width(table) > width && table->bar > 0) table->bar--;
    if (table->bar < BAR_LEAST) table->bar = 0;
    if (total_width(table) > width) table->channels_v = 0;
    if (total_width(table) > width) table->channels_k = 0;
    grow(table, view, width, COLUMN_KEY, &table->channels_k, in->d_k);
    grow(table, view, width, COLUMN_VALUE, &table->channels_v, in->d_v);
    while (total_width(table) < width && table->bar > 0 && table->bar < BAR_MOST) table->bar++;
}

qkv_status table_make(lesson_table *table, const lesson_view *view, int width)
{
    const lesson_input *const in = view->in;
    const int64_t range = in->key_end - in->key_begin;
    const int64_t room = in->keys_chosen ? range : LESSON_KEYS_SHOWN;
    table->key =
        (int64_t *)view->memory->take(view->memory->ctx, (size_t)(room + 1) * sizeof table->key[0]);
    table->at = (int64_t *)view->memory->take(view->memory->ctx,
                                              (size_t)(in->keys + 1) * sizeof table->at[0]);
    if (table->key == NULL || table->at == NULL) return QKV_ENOMEM;
    pick_keys(table, view, room);
    sum_weights(table, view);
    table->whole_k = table->whole_v = table->whole_score = table->whole_scaled = 1;
    for (int64_t i = 0; i < table->shown; i++) {
        const int64_t j = table->key[i];
        table->whole_k &= lesson_all_whole(in->k + j * in->d_k, in->d_k);
        table->whole_v &= lesson_all_whole(in->v + j * in->d_v, in->d_v);
        table->whole_score &= lesson_whole(view->stages->row_score[j]);
        table->whole_scaled &= lesson_whole(view->stages->row_scaled[j]);
    }
    fit(table, view, width);
    return QKV_OK;
}

/* ---- lines around the table ------------------------------------------------------------------ */

void line_mask(lesson_line *line, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    if (!in->causal && in->padding == 0) return;
    const int64_t seen = lesson_seen(in, in->token);
    const lesson_word id = in->padding == in->keys ? LESSON_W_PADDING_NONE
                           : in->padding > 0       ? LESSON_W_PADDING_SOME
                           : seen == 0             ? LESSON_W_CAUSAL_NONE
                           : seen == in->keys      ? LESSON_W_CAUSAL_ALL
                                                   : LESSON_W_CAUSAL_SOME;
    lesson_line who, last, keys;
    char hidden[LESSON_NUMBER_BYTES];
    line_start(&who, view->face);
    line_start(&last, view->face);
    line_row(&who, in, in->token, LESSON_NAME_COLUMNS);
    if (seen > 0) line_key(&last, in, seen - 1, LESSON_NAME_COLUMNS);
    lesson_number_integer(hidden, in->keys - seen);
    line_start(&keys, view->face);
    line_count_keys(&keys, in->padding);
    line_say(line, id, who.text, last.text, in->padding > 0 ? keys.text : hidden);
    if (!in->wrong_way) return;
    lesson_line sum;
    line_start(&sum, view->face);
    if (in->stage >= 3) {
        double total = 0;
        for (int64_t j = 0; j < in->keys; j++) total += view->stages->row_weight[j];
        line_number(&sum, total, 0);
    }
    line_text(line, " ");
    line_say(line, in->stage >= 3 ? LESSON_W_WRONG_WAY_SUM : LESSON_W_WRONG_WAY, sum.text, NULL,
             NULL);
}

int64_t line_query(lesson_line *line, const lesson_view *view, int columns)
{
    const lesson_input *const in = view->in;
    const double *const q = in->q + in->token * in->d_k;
    const int whole = lesson_all_whole(q, in->d_k);
    lesson_line name, vector;
    line_start(&name, view->face);
    line_row(&name, in, in->token, LESSON_NAME_COLUMNS);
    for (int64_t shown = least(in->d_k, columns / 2);; shown--) {
        line_start(&vector, view->face);
        line_vector(&vector, q, in->d_k, shown, whole);
        line_start(line, view->face);
        line_say(line, LESSON_W_QUERY, name.text, vector.text, NULL);
        if (in->query_set) {
            line_text(line, " ");
            line_word(line, LESSON_W_QUERY_SET);
        }
        if (shown <= 1 || line_columns(line) <= columns) return shown;
    }
}

int64_t line_output(lesson_line *line, const lesson_view *view, int columns)
{
    const lesson_input *const in = view->in;
    for (int64_t shown = least(in->d_v, columns / 2);; shown--) {
        line_start(line, view->face);
        line_word(line, LESSON_W_OUTPUT);
        line_vector(line, view->stages->row_out, in->d_v, shown, 0);
        if (shown <= 1 || line_columns(line) <= columns) return shown;
    }
}

static void left(lesson_line *list, lesson_word id, int64_t shown, int64_t all)
{
    if (shown >= all) return;
    if (list->n > 0) line_text(list, ", ");
    line_say_numbers(list, id, all - shown, all, NULL);
}

static void line_left(lesson_line *line, const lesson_line *list, int columns)
{
    lesson_line see;
    if (list->n == 0) return;
    line_start(&see, line->face);
    line_word(&see, LESSON_W_LEFT_SEE);
    line_say(line, LESSON_W_LEFT_OUT, list->text, NULL, NULL);
    line_text(line, line_columns(line) + line_columns(&see) <= columns ? see.text : ".");
}

void line_left_keys(lesson_line *line, int64_t shown, int64_t all, int columns)
{
    lesson_line list;
    line_start(&list, line->face);
    left(&list, LESSON_W_LEFT_KEYS, shown, all);
    line_left(line, &list, columns);
}

void line_left_out(lesson_line *line, const lesson_view *view, const lesson_table *table, int64_t q,
                   int64_t out, int columns)
{
    const lesson_input *const in = view->in;
    lesson_line list;
    line_start(&list, view->face);
    left(&list, LESSON_W_LEFT_KEYS, table->shown, in->keys);
    const size_t before = list.n;
    left(&list, LESSON_W_LEFT_QUERY, q, in->d_k);
    if (table->channels_k == table->channels_v && in->d_k == in->d_v) {
        left(&list, LESSON_W_LEFT_BOTH, table->channels_k, in->d_k);
    } else {
        left(&list, LESSON_W_LEFT_KEY, table->channels_k, in->d_k);
        left(&list, LESSON_W_LEFT_VALUE, table->channels_v, in->d_v);
    }
    left(&list, LESSON_W_LEFT_OUTPUT, out, in->d_v);
    if (list.n > before) line_word(&list, LESSON_W_LEFT_NUMBERS);
    line_left(line, &list, columns);
}
