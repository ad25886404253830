/* SPDX-License-Identifier: MIT */
/* view_lab.c - see view_lab.h: rows, columns and cells of a map. Which value a stage shows is map.c's
 * to know; here it becomes text, and a length for bars.
 */
#include "lesson/view_lab.h"

#include "lesson/table.h"

static int is_weight(const lesson_view *view)
{
    return view->in->stage >= 3;
}

/* Are all visible values of the view's rows whole? Weights are never written so. */
static int all_whole(const lesson_view *view)
{
    if (is_weight(view)) return 0;
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++)
            if (!lesson_whole(map_value(view, i, j))) return 0;
    return 1;
}

static double largest(const lesson_view *view)
{
    double most = 0;
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++) {
            const double x = map_value(view, i, j), size = x < 0 ? -x : x;
            if (map_sees(view, i, j) && lesson_finite(x) && size > most) most = size;
        }
    return most;
}

/* ---- lists ------------------------------------------------------------------------------------- */

/* A row's keys or a column's rows: what is listed, in which order. */
typedef struct list {
    const lesson_view *view;
    int64_t n, fixed; /* how many; the row or the key, from the view's beginning */
    int column;
    int64_t *shown;
    int64_t count;
} list;

static int64_t row_of(const list *l, int64_t i)
{
    return l->column ? i : l->fixed;
}

static int64_t key_of(const list *l, int64_t i)
{
    return l->column ? l->fixed : i;
}

static double value_of(const list *l, int64_t i)
{
    return map_value(l->view, row_of(l, i), key_of(l, i));
}

static int sees(const list *l, int64_t i)
{
    return map_sees(l->view, row_of(l, i), key_of(l, i));
}

static int before(const list *l, int64_t a, int64_t b)
{
    if (!sees(l, b)) return sees(l, a);
    return sees(l, a) && value_of(l, a) > value_of(l, b);
}

/* All in their order, or the strongest, the strongest first. */
static int choose(list *l)
{
    const lesson_memory *const m = l->view->memory;
    const int all = l->n <= LAB_LISTED;
    l->count = 0;
    l->shown = (int64_t *)m->take(m->ctx, (LAB_LISTED + 1) * sizeof(int64_t));
    if (l->shown == NULL) return 0;
    for (int64_t i = 0; i < l->n; i++) {
        if (all) {
            l->shown[l->count++] = i;
            continue;
        }
        int64_t at = l->count;
        while (at > 0 && before(l, i, l->shown[at - 1])) at--;
        if (at >= LAB_STRONGEST) continue;
        if (l->count < LAB_STRONGEST) l->count++;
        for (int64_t k = l->count - 1; k > at; k--) l->shown[k] = l->shown[k - 1];
        l->shown[at] = i;
    }
    return 1;
}

static void list_name(view_json *json, const list *l, int64_t i)
{
    const lesson_input *const in = l->view->in;
    if (l->column)
        view_row(json, "name", in, in->row_begin + i, LAB_NAME_COLUMNS);
    else
        view_key(json, "name", in, in->key_begin + i, LAB_NAME_COLUMNS);
}

static void list_items(view_json *json, const list *l)
{
    const int whole = all_whole(l->view);
    const double most = is_weight(l->view) ? 1 : largest(l->view);
    view_open(json, "items", '[');
    for (int64_t k = 0; k < l->count; k++) {
        const int64_t i = l->shown[k];
        const double x = value_of(l, i);
        view_open(json, NULL, '{');
        view_integer(json, "at", i);
        list_name(json, l, i);
        if (sees(l, i)) {
            view_number(json, "text", x, whole);
            view_real(json, "w", most > 0 ? x / most : 0);
        } else {
            view_flag(json, "hidden", 1);
        }
        view_close(json, '}');
    }
    view_close(json, ']');
}

static void list_end(view_json *json, const list *l)
{
    double all = 0, listed = 0;
    for (int64_t i = 0; i < l->n; i++)
        if (sees(l, i)) all += value_of(l, i);
    for (int64_t k = 0; k < l->count; k++)
        if (sees(l, l->shown[k])) listed += value_of(l, l->shown[k]);
    if (l->n > l->count) {
        view_open(json, "rest", '{');
        line_say_numbers(json->line, LESSON_W_OTHERS, l->n - l->count, 0, NULL);
        view_line(json, "name");
        if (is_weight(l->view)) view_number(json, "text", all - listed, 0);
        view_close(json, '}');
    }
    if (is_weight(l->view)) view_number(json, "sum", all, 0);
}

qkv_status view_lab_row(view_json *json, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    list l = {view, view->stages->keys, in->token - in->row_begin, 0, NULL, 0};
    if (!choose(&l)) return QKV_ENOMEM;
    view_row(json, "who", in, in->token, LAB_NAME_COLUMNS);
    view_flag(json, "blind", lesson_seen(in, in->token) == 0);
    view_integer(json, "best", map_most(view, in->token - in->row_begin));
    list_items(json, &l);
    list_end(json, &l);
    return QKV_OK;
}

void view_lab_column_item(view_json *json, const lesson_view *view, int64_t key, double most)
{
    const lesson_input *const in = view->in;
    const double x = map_value(view, 0, key);
    view_open(json, NULL, '{');
    view_integer(json, "at", in->row_begin);
    view_row(json, "name", in, in->row_begin, LAB_NAME_COLUMNS);
    if (map_sees(view, 0, key)) {
        view_number(json, "text", x, all_whole(view));
        view_real(json, "w", most > 0 ? x / most : 0);
    } else {
        view_flag(json, "hidden", 1);
    }
    view_close(json, '}');
}

qkv_status view_lab_column(view_json *json, const lesson_view *view, int64_t key)
{
    list l = {view, view->stages->rows, key, 1, NULL, 0};
    if (!choose(&l)) return QKV_ENOMEM;
    view_key(json, "who", view->in, view->in->key_begin + key, LAB_NAME_COLUMNS);
    list_items(json, &l);
    list_end(json, &l);
    return QKV_OK;
}

/* ---- cells ------------------------------------------------------------------------------------- */

qkv_status view_lab_cells(view_json *json, const lesson_view *view, int in_map)
{
    const int whole = all_whole(view);
    lesson_face face = *view->face;
    if (in_map && !is_weight(view) && !whole) face.digits = largest(view) < 9.95 ? 1 : 0;
    json->line->face = &face;
    view_open(json, "cells", '[');
    for (int64_t i = 0; i < view->stages->rows; i++) {
        view_open(json, NULL, '[');
        for (int64_t j = 0; j < view->stages->keys; j++) {
            if (map_sees(view, i, j))
                view_number(json, NULL, map_value(view, i, j), whole);
            else
                view_text(json, NULL, "");
        }
        view_close(json, ']');
    }
    view_close(json, ']');
    json->line->face = view->face;
    return QKV_OK;
}

qkv_status view_lab_work(view_json *json, const lesson_view *view, int64_t key)
{
    const lesson_input *const in = view->in;
    int64_t *const at =
        (int64_t *)view->memory->take(view->memory->ctx, (size_t)in->keys * sizeof(int64_t));
    if (at == NULL) return QKV_ENOMEM;
    const lesson_worked how = {lesson_all_whole(view->stages->row_score, in->keys),
                               lesson_all_whole(view->stages->row_scaled, in->keys), 4096, at};
    if (in->stage >= 4)
        worked_output(json->line, view, &how);
    else if (lesson_sees(in, in->token, key))
        worked_key(json->line, view, &how, key);
    view_line_pieces(json, "work");
    return QKV_OK;
}

/* [CLS] and its kin mark places; they are no words. */
static int is_mark(const lesson_name *name)
{
    return name->bytes > 2 && name->text[0] == '[' && name->text[name->bytes - 1] == ']';
}

/* A pair of two different words: nearly every head looks most from a mark to itself. */
static int tells(const lesson_input *in, int64_t row, int64_t key)
{
    if (in->rows != in->keys) return !is_mark(&in->name[key]);
    return row != key && !is_mark(&in->name[row]) && !is_mark(&in->name[key]);
}

qkv_status view_lab_strongest(view_json *json, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    int64_t row = -1, key = -1;
    for (int64_t i = 0; i < view->stages->rows; i++)
        for (int64_t j = 0; j < view->stages->keys; j++) {
            const double x = map_value(view, i, j);
            if (!map_sees(view, i, j) || !tells(in, i, j) || !lesson_finite(x)) continue;
            if (row >= 0 && !(x > map_value(view, row, key))) continue;
            row = i;
            key = j;
        }
    if (row < 0) return QKV_OK;
    view_open(json, "pair", '[');
    view_row(json, NULL, in, in->row_begin + row, LAB_NAME_COLUMNS);
    view_key(json, NULL, in, in->key_begin + key, LAB_NAME_COLUMNS);
    view_number(json, NULL, map_value(view, row, key), all_whole(view));
    view_close(json, ']');
    return QKV_OK;
}

qkv_status view_lab_names(view_json *json, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    view_open(json, "names", '[');
    for (int64_t j = 0; j < in->keys; j++) {
        line_name(json->line, &in->name[j], LAB_NAME_COLUMNS);
        view_line(json, NULL);
    }
    view_close(json, ']');
    if (in->rows == in->keys) return QKV_OK;
    view_open(json, "rows", '[');
    for (int64_t i = 0; i < in->rows; i++) {
        view_row(json, NULL, in, i, LAB_NAME_COLUMNS);
    }
    view_close(json, ']');
    return QKV_OK;
}

qkv_status view_lab_numbers(view_json *json, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    view_open(json, "names", '[');
    for (int64_t j = 0; j < in->keys; j++)
        view_bytes(json, NULL, in->name[j].text, in->name[j].bytes);
    view_close(json, ']');
    view_table(json, "q", in->q, in->rows, in->d_k, 1);
    view_table(json, "k", in->k, in->keys, in->d_k, 1);
    view_table(json, "v", in->v, in->keys, in->d_v, 1);
    return QKV_OK;
}

/* ---- the token's table --------------------------------------------------------------------------- */

static void vector(view_json *json, const char *key, const double *x, int64_t n, int whole)
{
    view_line_vector(json->line, x, n, n <= LAB_VECTOR ? n : 3, whole);
    view_line(json, key);
}

/* The weight times the value, as many channels as are shown of a value. */
static void share(view_json *json, const lesson_view *view, int64_t key)
{
    const lesson_input *const in = view->in;
    double x[LAB_VECTOR];
    for (int64_t c = 0; c < in->d_v && c < LAB_VECTOR; c++)
        x[c] = view->stages->row_weight[key] * in->v[key * in->d_v + c];
    vector(json, "share", x, in->d_v, 0);
}

/* Are all numbers of a column whole? */
typedef struct whole {
    int key, value, score, scaled;
} whole;

static void table_row(view_json *json, const lesson_view *view, const whole *w, int64_t key)
{
    const lesson_input *const in = view->in;
    const lesson_stages *const s = view->stages;
    view_open(json, NULL, '{');
    view_integer(json, "at", key);
    view_key(json, "name", in, key, LAB_NAME_COLUMNS);
    vector(json, "key", in->k + key * in->d_k, in->d_k, w->key);
    vector(json, "value", in->v + key * in->d_v, in->d_v, w->value);
    if (!lesson_sees(in, in->token, key)) view_flag(json, "hidden", 1);
    if (in->stage >= 1) view_number(json, "score", s->row_score[key], w->score);
    if (in->stage >= 2) view_number(json, "scaled", s->row_scaled[key], w->scaled);
    if (in->stage >= 3) {
        view_number(json, "weight", s->row_weight[key], 0);
        view_real(json, "w", s->row_weight[key]);
    }
    if (in->stage >= 4) share(json, view, key);
    view_close(json, '}');
}

qkv_status view_lab_table(view_json *json, const lesson_view *view)
{
    const lesson_input *const in = view->in;
    view_row(json, "who", in, in->token, LAB_NAME_COLUMNS);
    vector(json, "query", in->q + in->token * in->d_k, in->d_k,
           lesson_all_whole(in->q + in->token * in->d_k, in->d_k));
    view_integer(json, "stage", in->stage);
    view_text(json, "caption", lesson_word_text(lesson_caption(in)));
    line_scale(json->line, in);
    view_line(json, "scale_head");
    view_open(json, "rows", '[');
    const whole w = {lesson_all_whole(in->k, in->keys * in->d_k),
                     lesson_all_whole(in->v, in->keys * in->d_v),
                     lesson_all_whole(view->stages->row_score, in->keys),
                     lesson_all_whole(view->stages->row_scaled, in->keys)};
    for (int64_t j = in->key_begin; j < in->key_end; j++) table_row(json, view, &w, j);
    view_close(json, ']');
    if (in->stage >= 3) {
        double sum = 0;
        for (int64_t j = 0; j < in->keys; j++) sum += view->stages->row_weight[j];
        view_number(json, "sum", sum, 0);
    }
    if (in->stage >= 4) vector(json, "output", view->stages->row_out, in->d_v, 0);
    return QKV_OK;
}
