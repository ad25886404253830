/* SPDX-License-Identifier: MIT */
/* view_calc.c - the calculator: its table up to the present stage, what the worked line says, and at
 * the last stage the strip of weights and the plane of values.
 *
 * The columns never move: how digits are shown follows from all stages, not from the present one.
 */
#include "lesson/view.h"
#include "lesson/worked.h"

enum { CHANNELS_WHOLE = 3, CHANNELS_CUT = 2 }; /* of a vector in a cell; the lab shows all */

typedef struct calc {
    view_json *json;
    const view_of *of;
    const lesson_input *in;
    const lesson_stages *s;
    int whole_q, whole_k, whole_v, whole_score, whole_scaled;
} calc;

/* ["1", "0"], an ellipsis at the end where channels are left out */
static void vector(const calc *c, const char *key, const double *x, int64_t n, int whole)
{
    const int64_t shown = n <= CHANNELS_WHOLE ? n : CHANNELS_CUT;
    view_open(c->json, key, '[');
    for (int64_t i = 0; i < shown; i++) view_number(c->json, NULL, x[i], whole);
    if (shown < n) view_text(c->json, NULL, "…");
    view_close(c->json, ']');
}

/* The same with every digit: what a text field holds. */
static void exact(const calc *c, const char *key, const double *x, int64_t n)
{
    const int64_t shown = n <= CHANNELS_WHOLE ? n : CHANNELS_CUT;
    view_open(c->json, key, '[');
    for (int64_t i = 0; i < shown; i++) view_exact(c->json, NULL, x[i]);
    view_close(c->json, ']');
}

static void share(const calc *c, int64_t key)
{
    double x[CHANNELS_WHOLE];
    const int64_t n = c->in->d_v;
    for (int64_t i = 0; i < n && i < CHANNELS_WHOLE; i++)
        x[i] = c->s->row_weight[key] * c->in->v[key * n + i];
    vector(c, "share", x, n, 0);
}

static void row(const calc *c, int64_t key)
{
    const lesson_input *const in = c->in;
    const int sees = lesson_sees(in, in->token, key);
    view_open(c->json, NULL, '{');
    view_key(c->json, "name", in, key, LESSON_NAME_COLUMNS);
    vector(c, "key", in->k + key * in->d_k, in->d_k, c->whole_k);
    vector(c, "value", in->v + key * in->d_v, in->d_v, c->whole_v);
    exact(c, "exact_k", in->k + key * in->d_k, in->d_k);
    exact(c, "exact_v", in->v + key * in->d_v, in->d_v);
    if (!sees) view_flag(c->json, "hidden", 1);
    if (in->stage >= 1) view_number(c->json, "score", c->s->row_score[key], c->whole_score);
    if (in->stage >= 2) view_number(c->json, "scaled", c->s->row_scaled[key], c->whole_scaled);
    if (in->stage >= 3) {
        view_number(c->json, "weight", c->s->row_weight[key], 0);
        view_real(c->json, "w", c->s->row_weight[key]);
    }
    if (in->stage >= 4) share(c, key);
    view_close(c->json, '}');
}

/* What is the same at every stage. */
static void about(const calc *c)
{
    static const char *const scales[] = {"sqrt", "none", "dk", "times"};
    const lesson_input *const in = c->in;
    const double *const q = in->q + in->token * in->d_k;
    view_integer(c->json, "stage", in->stage);
    view_integer(c->json, "token", in->token);
    view_text(c->json, "scale", scales[in->scale_kind]);
    line_scale(c->json->line, in);
    view_line(c->json, "scale_head");
    view_flag(c->json, "scale_plain", in->temperature == 1);
    view_row(c->json, "who", in, in->token, LESSON_NAME_COLUMNS);
    vector(c, "query", q, in->d_k, c->whole_q);
    exact(c, "exact_q", q, in->d_k);
    view_text(c->json, "caption", lesson_word_text(lesson_caption(in)));
    line_mask(c->json->line, c->of->view);
    if (c->json->line->n > 0) view_line(c->json, "mask");
}

/* What the scores are divided by, between the two columns. */
static void divisor(const calc *c)
{
    const lesson_input *const in = c->in;
    if (in->scale_kind == LESSON_SCALE_VALUE) {
        line_text(c->json->line, "× ");
        line_number(c->json->line, c->s->scale, LESSON_KEEP_INTEGER);
    } else {
        line_text(c->json->line, "÷ ");
        line_number(c->json->line, 1 / c->s->scale, LESSON_KEEP_INTEGER);
    }
    view_line(c->json, "divisor");
}

static void points(const calc *c)
{
    const lesson_input *const in = c->in;
    if (in->d_v != 2) return;
    view_open(c->json, "plane", '[');
    for (int64_t j = 0; j < in->keys * 2; j++) view_real(c->json, NULL, in->v[j]);
    for (int i = 0; i < 2; i++) view_real(c->json, NULL, c->s->row_out[i]);
    view_close(c->json, ']');
}

static void sums(const calc *c)
{
    const lesson_input *const in = c->in;
    double sum = 0;
    for (int64_t j = 0; j < in->keys; j++) sum += c->s->row_weight[j];
    if (in->stage >= 3) view_number(c->json, "sum", sum, 0);
    if (in->stage >= 4) {
        vector(c, "output", c->s->row_out, in->d_v, 0);
        points(c);
    }
}

/* ---- how wide the columns must be, at every stage ------------------------------------------- */

/* The longer of two numbers as text, digits written as 8: it tells no number of a later stage. */
static void longer(const calc *c, double x, int whole)
{
    lesson_line *const most = c->json->line;
    lesson_line line;
    line_start(&line, most->face);
    line_number(&line, x, whole ? LESSON_KEEP_INTEGER : 0);
    if (line_columns(&line) <= line_columns(most)) return;
    *most = line;
    for (size_t i = 0; i < most->n; i++)
        if (most->text[i] >= '0' && most->text[i] <= '9') most->text[i] = '8';
}

/* The widest number of each channel that is shown; own: one more vector, or NULL. weight: of the
 * shares, or NULL. */
static void vector_shape(const calc *c, const char *name, const double *x, const double *weight,
                         const double *own, int64_t n, int whole, int own_whole)
{
    const int64_t shown = n <= CHANNELS_WHOLE ? n : CHANNELS_CUT;
    view_open(c->json, name, '[');
    for (int64_t i = 0; i < shown; i++) {
        for (int64_t j = 0; j < c->in->keys; j++)
            longer(c, (weight != NULL ? weight[j] : 1) * x[j * n + i], whole);
        if (own != NULL) longer(c, own[i], own_whole);
        view_line(c->json, NULL);
    }
    if (shown < n) view_text(c->json, NULL, "…");
    view_close(c->json, ']');
}

static void number_shape(const calc *c, const char *name, const double *x, int whole)
{
    for (int64_t j = 0; j < c->in->keys; j++) longer(c, x[j], whole);
    view_line(c->json, name);
}

static void shapes(const calc *c)
{
    const lesson_input *const in = c->in;
    const double *const q = in->q + in->token * in->d_k;
    view_open(c->json, "shapes", '{');
    vector_shape(c, "key", in->k, NULL, q, in->d_k, c->whole_k, c->whole_q);
    vector_shape(c, "value", in->v, NULL, NULL, in->d_v, c->whole_v, 0);
    number_shape(c, "score", c->s->row_score, c->whole_score);
    number_shape(c, "scaled", c->s->row_scaled, c->whole_scaled);
    number_shape(c, "weight", c->s->row_weight, 0);
    vector_shape(c, "share", in->v, c->s->row_weight, c->s->row_out, in->d_v, 0, 0);
    view_close(c->json, '}');
}

/* Whose line it is: the token's name, which number of the output, or nothing. */
static void work_label_of(const calc *c, const lesson_focus *focus, int64_t band)
{
    static const lesson_word number_of[] = {LESSON_W_FIRST, LESSON_W_SECOND, LESSON_W_THIRD};
    if (focus->kind == FOCUS_OUTPUT && focus->channel < 3)
        line_word(c->json->line, number_of[focus->channel]);
    else if (band >= 0)
        line_name(c->json->line, &c->in->name[band], LESSON_NAME_COLUMNS);
    view_line(c->json, "label");
}

/* The line begins with "name: ", which the page shows as a label. */
static size_t label_bytes(const lesson_line *line, const char *name)
{
    size_t n = 0;
    while (name[n] != 0 && line->text[n] == name[n]) n++;
    return name[n] == 0 && line->text[n] == ':' && line->text[n + 1] == ' ' ? n + 2 : 0;
}

/* The line under the table, and the row that it speaks of: -1 the sum, -2 the query. At the last
 * stage the page shows one number of the output at a time. */
static void work(const calc *c, int64_t *scratch)
{
    const lesson_worked how = {c->whole_score, c->whole_scaled, 4096, scratch};
    static const lesson_focus first = {FOCUS_OUTPUT, 0, 0};
    const lesson_focus *const focus =
        c->in->stage == 4 && c->in->focus.kind == FOCUS_NONE ? &first : &c->in->focus;
    lesson_line name;
    const int64_t band = worked_focus(c->json->line, c->of->view, &how, focus);
    line_start(&name, c->of->view->face);
    if (band >= 0) line_name(&name, &c->in->name[band], LESSON_NAME_COLUMNS);
    const size_t skip = band >= 0 ? label_bytes(c->json->line, name.text) : 0;
    view_integer(c->json, "band", band);
    view_pieces(c->json, "work", c->json->line->text + skip);
    lesson_line odd;
    line_start(&odd, c->of->view->face);
    worked_odd(&odd, c->of->view, c->json->line);
    if (odd.n > 0) view_text(c->json, "odd", odd.text);
    line_start(c->json->line, c->of->view->face);
    if (skip > 0 || band == -1) work_label_of(c, focus, band);
}

qkv_status view_calc(view_json *json, const view_of *of)
{
    const lesson_input *const in = of->view->in;
    const lesson_memory *const memory = of->view->memory;
    int64_t *const scratch =
        (int64_t *)memory->take(memory->ctx, (size_t)in->keys * sizeof *scratch);
    if (scratch == NULL) return QKV_ENOMEM;
    calc c = {json, of, in, of->view->stages, 0, 0, 0, 0, 0};
    c.whole_q = lesson_all_whole(in->q + in->token * in->d_k, in->d_k);
    c.whole_k = lesson_all_whole(in->k, in->keys * in->d_k);
    c.whole_v = lesson_all_whole(in->v, in->keys * in->d_v);
    c.whole_score = lesson_all_whole(c.s->row_score, in->keys);
    c.whole_scaled = lesson_all_whole(c.s->row_scaled, in->keys);
    about(&c);
    view_open(json, "rows", '[');
    for (int64_t j = 0; j < in->keys; j++) row(&c, j);
    view_close(json, ']');
    if (in->stage >= 2) divisor(&c);
    sums(&c);
    shapes(&c);
    work(&c, scratch);
    return QKV_OK;
}
