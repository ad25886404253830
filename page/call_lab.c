/* SPDX-License-Identifier: MIT */
/* call_lab.c - what the lab shows. Every request begins with a state, then which panel (0 is A, 1 is
 * B), head and row, a line each; what follows is said beside the call in calls.inc. Maps are computed
 * for the rows that are asked for, so that the page can cut a large one into small pieces.
 */
#include "lesson/map_rows.h"
#include "lesson/view_lab.h"
#include "page/lab_store.h"

typedef struct lab {
    lesson_state *state;
    lab_sizes sizes;
    int64_t head, row;
    int other;
    lesson_input in;
    lesson_stages stages;
    lesson_view view;
} lab;

static void say_no(lesson_word word)
{
    page_fail(lesson_word_text(word));
}

/* The next line as a whole number; fallback when it is none. */
static int64_t whole(page_request *rest, int64_t fallback)
{
    const page_request line = page_line(rest);
    int64_t x = fallback;
    lesson_number_parse_integer(line.text, line.bytes, &x);
    return x;
}

static int64_t between(int64_t x, int64_t least, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* The state, and where its numbers are; NULL after an answer. */
static lab *open_state(page_request *rest)
{
    lesson_trouble trouble;
    lesson_state *const state = page_state(rest, &trouble);
    lab *const l = (lab *)page_take(sizeof *l);
    if (state == NULL) return NULL;
    if (l == NULL) {
        say_no(LESSON_W_LAB_NO_MEMORY);
        return NULL;
    }
    l->state = state;
    l->view = (lesson_view){&l->in, &l->stages, &page_face, &page_answer, &page_memory};
    if (!lab_sizes_of(state, &l->sizes)) {
        say_no(state->data == DATA_MODEL ? LESSON_W_LAB_NO_MODEL : LESSON_W_LAB_NO_FILE);
        return NULL;
    }
    l->other = whole(rest, 0) != 0;
    l->head = between(whole(rest, 0), 0, l->sizes.heads - 1);
    l->row = between(whole(rest, 0), 0, l->sizes.rows - 1);
    return l;
}

/* The stage that a map shows: there is none of the vectors, and none of the outputs. */
static int32_t map_stage(const lesson_state *state)
{
    return state->stage < 1 ? 1 : state->stage > 3 ? 3 : state->stage;
}

/* Computes rows [begin, end) of one panel; 0 after an answer. */
static int compute(lab *l, int other, int64_t begin, int64_t end)
{
    qkv_error err = qkv_error_init();
    qkv_status status = lab_input(l->state, other, l->head, &l->sizes, &l->in);
    if (status == QKV_OK) {
        l->in.row_begin = between(begin, 0, l->sizes.rows - 1);
        l->in.row_end = between(end, l->in.row_begin + 1, l->sizes.rows);
        l->in.token = between(l->row, l->in.row_begin, l->in.row_end - 1);
        err.text[0] = 0;
        status = lesson_run(&l->stages, &l->in, 0, &page_memory, &err);
    }
    if (status == QKV_OK) return 1;
    if (status == QKV_ENOMEM || err.text[0] == 0)
        say_no(LESSON_W_LAB_NO_MEMORY);
    else
        page_fail(err.text);
    return 0;
}

/* blended: the output is wanted, too; else one channel of the values is the least. */
static lab *open_row(page_request *rest, int blended)
{
    lab *const l = open_state(rest);
    if (l != NULL && !blended) l->sizes.d_v = 1;
    return l != NULL && compute(l, l->other, l->row, l->row + 1) ? l : NULL;
}

static void begin(view_json *json)
{
    page_object(json, &page_face);
}

static void end(view_json *json, qkv_status status)
{
    if (status == QKV_OK)
        view_close(json, '}');
    else
        say_no(LESSON_W_LAB_NO_MEMORY);
}

/* ---- about what is shown ----------------------------------------------------------------------- */

void page_call_lab_model(page_request request)
{
    char *const mem = (char *)page_keep(PAGE_SLOT_MODEL, request.bytes);
    for (size_t i = 0; mem != NULL && i < request.bytes; i++) mem[i] = request.text[i];
    page_say("{}");
}

static void about_source(view_json *json, const lab *l)
{
    static const char *const sources[] = {"tokens", "model", "file"};
    char text[7][LESSON_NUMBER_BYTES];
    const int64_t head = l->state->data == DATA_MODEL ? l->state->model_head : l->head;
    const lab_sizes *const z = &l->sizes;
    const int64_t numbers[7] = {z->rows,  z->keys, z->d_k, z->d_v, l->state->model_layer,
                                z->heads, head};
    for (int i = 0; i < 7; i++) lesson_number_integer(text[i], numbers[i]);
    view_text(json, "data", sources[l->state->data]);
    view_integer(json, "rows", z->rows);
    view_integer(json, "keys", z->keys);
    view_integer(json, "dk", z->d_k);
    view_integer(json, "dv", z->d_v);
    view_integer(json, "heads", z->heads);
    view_integer(json, "layer", l->state->model_layer);
    view_text(json, "rows_text", text[0]);
    view_text(json, "dk_text", text[2]);
    view_text(json, "head_text", text[6]);
    view_integer(json, "head", head);
    view_integer(json, "row",
                 l->state->data == DATA_MODEL  ? l->state->model_row
                 : l->state->data == DATA_FILE ? l->row
                                               : l->state->token);
    if (l->state->data == DATA_MODEL)
        line_say(json->line, LESSON_W_LAB_ABOUT_MODEL, text[4], text[2], NULL);
    else if (l->state->data == DATA_FILE && z->rows != z->keys)
        line_say(json->line, LESSON_W_LAB_ABOUT_CROSS, text[0], text[1], text[2]);
    else
        line_say(json->line, LESSON_W_LAB_ABOUT_TOKENS, text[0], text[2], text[3]);
    view_line(json, "about");
}

static qkv_status about_panels(view_json *json, lab *l)
{
    lesson_input in[2];
    lesson_view view[2];
    for (int i = 0; i < 2; i++) {
        const qkv_status status = lab_input(l->state, i, l->head, &l->sizes, &in[i]);
        if (status != QKV_OK) return status;
        in[i].stage = map_stage(l->state);
        view[i] = l->view;
        view[i].in = &in[i];
        view_lab_choice(json, i ? "b" : "a", i ? &l->state->other : &l->state->choice);
    }
    line_map_caption(json->line, &view[0]);
    view_line(json, "caption");
    lesson_line *const shift = (lesson_line *)page_take(sizeof *shift);
    if (shift == NULL) return QKV_ENOMEM;
    line_start(shift, &page_face);
    line_exact(shift, (double)in[0].q_offset);
    line_map_mask(json->line, &view[0], shift->text);
    view_line(json, "mask");
    view_integer(json, "stage", l->state->stage);
    view_flag(json, "map", l->state->map);
    view_flag(json, "compare", l->state->compare);
    return view_lab_difference(json, l->state, &view[0], &view[1]);
}

void page_call_lab_about(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    begin(&json);
    about_source(&json, l);
    end(&json, about_panels(&json, l));
}

void page_call_lab_names(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    const qkv_status status = lab_input(l->state, 0, l->head, &l->sizes, &l->in);
    begin(&json);
    end(&json, status == QKV_OK ? view_lab_names(&json, &l->view) : status);
}

/* ---- maps -------------------------------------------------------------------------------------- */

/* Float32 of rows [begin, end): NaN where a key is hidden, Infinity where a number is not finite. */
void page_call_lab_values(page_request request)
{
    lab *const l = open_state(&request);
    if (l == NULL) return;
    const int64_t first = whole(&request, 0), last = whole(&request, l->sizes.rows);
    const int64_t begin = between(first, 0, l->sizes.rows), keys = l->sizes.keys;
    const int64_t n = (between(last, begin, l->sizes.rows) - begin) * keys;
    const qkv_status status = lab_input(l->state, l->other, l->head, &l->sizes, &l->in);
    float *const out = (float *)page_take((size_t)n * sizeof *out);
    double *const x = (double *)page_take((size_t)keys * sizeof *x);
    if (status != QKV_OK || out == NULL || x == NULL) {
        say_no(LESSON_W_LAB_NO_MEMORY);
        return;
    }
    for (int64_t i = 0; i < n / keys; i++) {
        const int64_t seen = lesson_seen(&l->in, begin + i);
        map_row(&l->in, begin + i, map_stage(l->state), x);
        for (int64_t j = 0; j < keys; j++)
            out[i * keys + j] = j >= seen             ? __builtin_nanf("")
                                : lesson_finite(x[j]) ? (float)x[j]
                                                      : __builtin_inff();
    }
    page_answer.write(page_answer.ctx, (const char *)out, (size_t)n * sizeof *out);
}

void page_call_lab_cells(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    const int64_t r0 = whole(&request, 0), r1 = whole(&request, l->sizes.rows);
    const int64_t k0 = whole(&request, 0), k1 = whole(&request, l->sizes.keys);
    const int in_map = whole(&request, 0) != 0;
    l->sizes.d_v = 1;
    if (!compute(l, l->other, r0, r1)) return;
    /* whole rows are computed, a part of their keys is told */
    lesson_stages part = l->stages;
    lesson_input in = l->in;
    in.stage = map_stage(l->state);
    in.key_begin = between(k0, 0, l->sizes.keys - 1);
    in.key_end = between(k1, in.key_begin + 1, l->sizes.keys);
    part.keys = in.key_end - in.key_begin;
    for (int64_t i = 0; i < part.rows; i++)
        for (int64_t j = 0; j < part.keys; j++) {
            const int64_t from = i * l->stages.keys + in.key_begin + j, to = i * part.keys + j;
            part.score[to] = l->stages.score[from];
            part.scaled[to] = l->stages.scaled[from];
            part.weight[to] = l->stages.weight[from];
        }
    lesson_view view = l->view;
    view.in = &in;
    view.stages = &part;
    begin(&json);
    end(&json, view_lab_cells(&json, &view, in_map));
}

/* ---- rows, columns, one cell ------------------------------------------------------------------- */

void page_call_lab_row(page_request request)
{
    lab *const l = open_row(&request, 0);
    view_json json;
    if (l == NULL) return;
    l->in.stage = map_stage(l->state);
    begin(&json);
    end(&json, view_lab_row(&json, &l->view));
}

/* The rows that the page chose from a long column, the strongest first. */
static void column_rows(lab *l, int64_t key, page_request *rows, view_json *json)
{
    double most = 0;
    int64_t listed = 0;
    view_open(json, "items", '[');
    while (rows->bytes > 0 && listed < LAB_STRONGEST) {
        const int64_t row = between(whole(rows, 0), 0, l->sizes.rows - 1);
        if (!compute(l, l->other, row, row + 1)) return;
        l->in.stage = map_stage(l->state);
        if (listed++ == 0) {
            const double first = map_value(&l->view, 0, key);
            most = l->in.stage >= 3 ? 1 : first < 0 ? -first : first;
        }
        view_lab_column_item(json, &l->view, key, most);
    }
    view_close(json, ']');
    view_key(json, "who", &l->in, key, LAB_NAME_COLUMNS);
    view_open(json, "rest", '{');
    line_say_numbers(json->line, LESSON_W_OTHERS, l->sizes.rows - listed, 0, NULL);
    view_line(json, "name");
    view_close(json, '}');
}

void page_call_lab_column(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    const int64_t key = between(whole(&request, 0), 0, l->sizes.keys - 1);
    l->sizes.d_v = 1;
    begin(&json);
    if (request.bytes > 0) {
        column_rows(l, key, &request, &json);
        end(&json, QKV_OK);
        return;
    }
    if (!compute(l, l->other, 0, l->sizes.rows)) return;
    l->in.stage = map_stage(l->state);
    end(&json, view_lab_column(&json, &l->view, key));
}

void page_call_lab_work(page_request request)
{
    lab *const l = open_row(&request, 1);
    view_json json;
    if (l == NULL) return;
    const int64_t key = between(whole(&request, 0), 0, l->sizes.keys - 1);
    if (l->state->map) l->in.stage = map_stage(l->state);
    begin(&json);
    end(&json, view_lab_work(&json, &l->view, key));
}

void page_call_lab_table(page_request request)
{
    lab *const l = open_row(&request, 1);
    view_json json;
    if (l == NULL) return;
    l->in.key_begin = between(whole(&request, 0), 0, l->sizes.keys - 1);
    l->in.key_end = between(whole(&request, l->sizes.keys), l->in.key_begin + 1, l->sizes.keys);
    begin(&json);
    end(&json, view_lab_table(&json, &l->view));
}

void page_call_lab_heads(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    begin(&json);
    view_open(&json, "heads", '[');
    l->sizes.d_v = 1;
    for (l->head = 0; l->head < l->sizes.heads; l->head++) {
        if (!compute(l, l->other, 0, l->sizes.rows)) return;
        l->in.stage = map_stage(l->state);
        view_open(&json, NULL, '{');
        if (view_lab_strongest(&json, &l->view) != QKV_OK) {
            say_no(LESSON_W_LAB_NO_MEMORY);
            return;
        }
        view_close(&json, '}');
    }
    view_close(&json, ']');
    end(&json, QKV_OK);
}

/* Of the state's own tokens only: tables that were opened are too large to edit. */
void page_call_lab_numbers(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    lesson_state_input(l->state, 0, &l->in);
    begin(&json);
    end(&json, view_lab_numbers(&json, &l->view));
}

/* What their Q, K and V come from, and the scores of the lab's own stage 1. */
void page_call_lab_weights(page_request request)
{
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL || !compute(l, 0, 0, l->sizes.rows)) return;
    begin(&json);
    end(&json, view_lab_weights(&json, l->state, &l->view));
}

/* The temperature of a stop of the slider. */
void page_call_lab_stop(page_request request)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_shortest(text, lesson_sharpness((int32_t)between(whole(&request, 0), 0, 9)));
    page_say(text);
}

/* What was typed, larger by a whole number; where it is no number, as it was. */
void page_call_lab_step(page_request request)
{
    const int64_t by = whole(&request, 0);
    const page_request typed = page_line(&request);
    lesson_line *const line = (lesson_line *)page_take(sizeof *line);
    double x = 0;
    if (line == NULL) return;
    line_start(line, &page_face);
    if (lesson_number_parse(typed.text, typed.bytes, &x, NULL) == LESSON_NUMBER_OK)
        line_exact(line, x + (double)by);
    else
        line_name(line, &(lesson_name){typed.text, typed.bytes}, 0);
    page_say(line->text);
}

/* ---- a later token changes --------------------------------------------------------------------- */

/* A copy of x with one row larger by 1. */
static const double *changed(const double *x, int64_t rows, int64_t columns, int64_t row)
{
    double *const y = (double *)page_take((size_t)(rows * columns) * sizeof(double));
    for (int64_t i = 0; y != NULL && i < rows * columns; i++)
        y[i] = x[i] + (i / columns == row ? 1 : 0);
    return y;
}

static qkv_status run_both(const lab *l, int causal, int64_t token, view_json *json,
                           const char *key)
{
    lesson_input before = l->in, after;
    lesson_stages a, b;
    qkv_error err = qkv_error_init();
    before.causal = causal;
    before.q_offset = causal ? l->in.q_offset : 0;
    before.padding = 0;
    before.wrong_way = 0;
    before.stage = 4;
    after = before;
    after.q = changed(before.q, before.rows, before.d_k, token);
    after.k = changed(before.k, before.keys, before.d_k, token);
    after.v = changed(before.v, before.keys, before.d_v, token);
    if (after.q == NULL || after.k == NULL || after.v == NULL) return QKV_ENOMEM;
    qkv_status status = lesson_run(&a, &before, 0, &page_memory, &err);
    if (status == QKV_OK) status = lesson_run(&b, &after, 0, &page_memory, &err);
    if (status != QKV_OK) return status;
    lesson_view x = l->view, y = l->view;
    x.in = &before;
    x.stages = &a;
    y.in = &after;
    y.stages = &b;
    view_open(json, key, '{');
    status = view_lab_causal(json, &x, &y);
    view_close(json, '}');
    return status;
}

void page_call_lab_causal(page_request request)
{
    enum { MOST = 64 };
    lab *const l = open_state(&request);
    view_json json;
    if (l == NULL) return;
    const int64_t rows = l->sizes.rows;
    if (rows != l->sizes.keys || rows > MOST || rows < 2) {
        say_no(LESSON_W_LAB_CAUSAL_SIZE);
        return;
    }
    const int64_t token = between(whole(&request, rows - 1), 0, rows - 1);
    qkv_status status = lab_input(l->state, 0, l->head, &l->sizes, &l->in);
    begin(&json);
    view_integer(&json, "token", token);
    if (status == QKV_OK) status = run_both(l, 1, token, &json, "causal");
    if (status == QKV_OK) status = run_both(l, 0, token, &json, "open");
    end(&json, status);
}

/* ---- files to keep ----------------------------------------------------------------------------- */

typedef struct lab_format {
    const char *name;
    qkv_status (*write)(const lesson_view *view);
    int map;      /* all rows, or the token's alone */
    int64_t most; /* cells */
} lab_format;

static const lab_format formats[] = {
    {"map.svg", lesson_svg_map, 1, 65536},     {"map.csv", lesson_csv_map, 1, 1048576},
    {"map.json", lesson_json, 1, 262144},      {"table.svg", lesson_svg_table, 0, 65536},
    {"table.csv", lesson_csv_table, 0, 65536}, {"table.json", lesson_json, 1, 262144},
};

static const lab_format *format_called(const page_request *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (text_is(name->text, name->bytes, formats[i].name)) return &formats[i];
    return NULL;
}

void page_call_lab_export(page_request request)
{
    lab *const l = open_state(&request);
    if (l == NULL) return;
    const page_request name = page_line(&request);
    const lab_format *const f = format_called(&name);
    const int64_t rows = f != NULL && f->map ? l->sizes.rows : 1;
    if (f == NULL || rows * l->sizes.keys > f->most) {
        say_no(LESSON_W_LAB_EXPORT_SIZE);
        return;
    }
    const int64_t first = f->map ? 0 : l->row;
    if (!compute(l, l->other, first, first + rows)) return;
    /* JSON is what the command writes for the state, whatever the map shows */
    if (f->map && f->write != lesson_json) l->in.stage = map_stage(l->state);
    if (f->write(&l->view) != QKV_OK) say_no(LESSON_W_LAB_NO_MEMORY);
}

/* ---- tables of the reader's own ---------------------------------------------------------------- */

static read_state *reading; /* in its slot, until the next one begins */

static void answer_reading(int64_t fields)
{
    lesson_line *const trouble = (lesson_line *)page_take(sizeof *trouble);
    view_json json;
    if (reading == NULL || trouble == NULL) {
        say_no(LESSON_W_LAB_NO_MEMORY);
        return;
    }
    line_start(trouble, &page_face);
    const read_status status = read_step(reading, fields, trouble);
    if (status == READ_REFUSED) {
        reading = NULL;
        page_fail(trouble->text);
        return;
    }
    begin(&json);
    view_flag(&json, "done", status == READ_DONE);
    view_integer(&json, "percent", read_percent(reading));
    end(&json, QKV_OK);
}

/* The table's bytes. */
void page_call_lab_read(page_request request)
{
    lesson_line *const trouble = (lesson_line *)page_take(sizeof *trouble);
    const size_t room = read_room(request.bytes);
    reading = NULL;
    if (room == 0 && trouble != NULL) {
        line_start(trouble, &page_face);
        line_say_numbers(trouble, LESSON_W_READ_TOO_LONG, (int64_t)request.bytes, READ_BYTES, NULL);
        page_fail(trouble->text);
        return;
    }
    void *const block = page_keep(PAGE_SLOT_READ, room);
    if (block != NULL) reading = read_begin(block, request.text, request.bytes);
    answer_reading(0);
}

/* Reads on, so many fields. */
void page_call_lab_more(page_request request)
{
    answer_reading(between(whole(&request, 1), 1, 1 << 24));
}

/* q, k, v, or a for all three: what was read becomes the lab's. */
void page_call_lab_take(page_request request)
{
    lesson_line *const trouble = (lesson_line *)page_take(sizeof *trouble);
    const char target = request.bytes > 0 ? request.text[0] : 'a';
    view_json json;
    if (reading == NULL || trouble == NULL) {
        say_no(LESSON_W_LAB_NO_MEMORY);
        return;
    }
    line_start(trouble, &page_face);
    if (!lab_store_take(reading, target, trouble)) {
        page_fail(trouble->text);
        return;
    }
    begin(&json);
    view_flag(&json, "header", read_header(reading));
    view_open(&json, "rows", '[');
    for (int i = 0; i < 3; i++) view_integer(&json, NULL, lab_store_table(i)->rows);
    view_close(&json, ']');
    for (int rows = 0; rows < 2; rows++) {
        view_open(&json, rows ? "rows_text" : "columns_text", '[');
        for (int i = 0; i < 3; i++) {
            const read_table *const t = lab_store_table(i);
            line_integer(json.line, rows ? t->rows : t->columns);
            view_line(&json, NULL);
        }
        view_close(&json, ']');
    }
    end(&json, QKV_OK);
}

void page_call_lab_drop(page_request request)
{
    (void)request;
    lab_store_drop();
    page_say("{}");
}
