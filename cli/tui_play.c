/* SPDX-License-Identifier: MIT */
/* tui_play.c - the figures to play with before the calculator and after it: the soft lookup with its
 * plane, the three projections, the formula with its parts, the blend along a line, the samples.
 *
 * Geometry (where a mark stands, how long a bar is) is worked out here from the state's numbers; a
 * number that is shown is a string of lesson/.
 */
#include "cli/tui_app.h"

#include <string.h>

/* ---- small parts ----------------------------------------------------------------------------- */

static const char *shown(tui_app *app, double x)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_number(&line, x, 0);
    return own(app, line.text);
}

static const char *exact(tui_app *app, double x)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_exact(&line, x);
    return own(app, line.text);
}

static const char *vector_text(tui_app *app, const double *x, int64_t n)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_vector(&line, x, n, n < 6 ? n : 6, lesson_all_whole(x, n));
    return own(app, line.text);
}

static const char *key_name(tui_app *app, int64_t key)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_key(&line, &app->in, key, LESSON_NAME_COLUMNS);
    return own(app, line.text);
}

/* "pick -----o---- blend": one target, left and right move it. */
static void slider(tui_app *app, tui_doc *doc, tui_id id, const char *low, const char *high,
                   int stop, int stops)
{
    const int cells = stops <= 12 ? 2 * stops - 1 : stops;
    const int at = stops <= 12 ? 2 * stop : stop;
    const char *const track = app->face.utf8 ? "─" : "-";
    doc_put(doc, TUI_QUIET, low);
    doc_put(doc, TUI_NORMAL, " ");
    for (int i = 0; i < cells; i++) {
        if (i == at)
            doc_target(doc, id, TUI_STRONG, false, app->face.utf8 ? "●" : "O");
        else
            doc_put(doc, TUI_QUIET, track);
    }
    doc_put(doc, TUI_NORMAL, " ");
    doc_put(doc, TUI_QUIET, high);
}

/* ---- 1: the lookup --------------------------------------------------------------------------- */

enum { PLANE_ROWS = 7, PLANE_COLUMNS = 23, BARS = 20 };

typedef struct plane {
    char sign[PLANE_ROWS][PLANE_COLUMNS]; /* 0, K or Q, . for the origin */
    char mark[PLANE_ROWS][PLANE_COLUMNS]; /* the first letter of a key's name may follow */
    double x0, y0, x_step, y_step;
} plane;

static void range(const lesson_input *in, int channel, double *low, double *high)
{
    *low = 0;
    *high = 1;
    for (int64_t j = -1; j < in->keys; j++) {
        const double x =
            j < 0 ? in->q[in->token * in->d_k + channel] : in->k[j * in->d_k + channel];
        if (x < *low) *low = x;
        if (x > *high) *high = x;
    }
}

static void put_mark(plane *p, double x, double y, char sign, char letter)
{
    const double column = (x - p->x0) / p->x_step, row = (y - p->y0) / p->y_step;
    if (!(column > -0.5 && column < PLANE_COLUMNS - 0.5 && row > -0.5 && row < PLANE_ROWS - 0.5))
        return;
    const int c = (int)(column + 0.5), r = PLANE_ROWS - 1 - (int)(row + 0.5);
    p->sign[r][c] = sign;
    if (c + 1 < PLANE_COLUMNS && letter) p->mark[r][c + 1] = letter;
}

/* Keys and the query in the plane of their two numbers. */
static void fill_plane(const tui_app *app, plane *p)
{
    const lesson_input *const in = &app->in;
    double x1, y1;
    memset(p, 0, sizeof *p);
    range(in, 0, &p->x0, &x1);
    range(in, 1, &p->y0, &y1);
    p->x_step = (x1 - p->x0) / (PLANE_COLUMNS - 3);
    p->y_step = (y1 - p->y0) / (PLANE_ROWS - 1);
    put_mark(p, 0, 0, '+', 0);
    for (int64_t j = 0; j < in->keys; j++) {
        const char first = in->name[j].bytes ? in->name[j].text[0] : 0;
        const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
        put_mark(p, in->k[2 * j], in->k[2 * j + 1], 'K', letter ? first : 0);
    }
    put_mark(p, in->q[2 * in->token], in->q[2 * in->token + 1], 'Q', 0);
}

static void write_plane_row(const tui_app *app, tui_doc *doc, const plane *p, int r)
{
    const bool utf8 = app->face.utf8;
    for (int c = 0; c < PLANE_COLUMNS; c++) {
        const char sign = p->sign[r][c], letter[2] = {p->mark[r][c], 0};
        if (sign == 'K')
            doc_put(doc, TUI_K, utf8 ? "□" : "#");
        else if (sign == 'Q')
            doc_put(doc, TUI_Q, utf8 ? "○" : "Q");
        else if (letter[0])
            doc_put(doc, TUI_K, letter);
        else if (sign == '+')
            doc_put(doc, TUI_QUIET, "+");
        else
            doc_put(doc, TUI_QUIET, c % 4 == 0 ? (utf8 ? "·" : ".") : " ");
    }
}

/* The key that is exactly the query, -1: none. */
static int64_t exact_key(const lesson_input *in)
{
    for (int64_t j = 0; j < in->keys; j++) {
        int64_t same = 0;
        for (int64_t c = 0; c < in->d_k; c++)
            same += in->k[j * in->d_k + c] == in->q[in->token * in->d_k + c];
        if (same == in->d_k) return j;
    }
    return -1;
}

static void bar_line(tui_app *app, tui_doc *doc, double w, int columns)
{
    if (!(w > 0)) return;
    const int full = (int)((w < 1 ? w : 1) * columns + 0.5);
    for (int i = 0; i < full; i++) doc_put(doc, TUI_NORMAL, app->face.utf8 ? "█" : "#");
}

static void ask_row(tui_app *app, tui_doc *doc)
{
    const lesson_input *const in = &app->in;
    lesson_line name;
    line_start(&name, &app->face);
    line_row(&name, in, in->token, LESSON_NAME_COLUMNS);
    char label[256];
    snprintf(label, sizeof label, "%s", word_text(app, LESSON_W_QUERY_FOR));
    char *const hole = strstr(label, "{0}");
    if (hole) *hole = 0;
    doc_put(doc, TUI_Q, label);
    doc_put(doc, TUI_Q, name.text);
    doc_put(doc, TUI_QUIET, " = [");
    for (int64_t c = 0; c < in->d_k && c < 8; c++) {
        if (c) doc_put(doc, TUI_QUIET, ", ");
        doc_target(doc, (tui_id){CONTROL_ASK, 0, (int16_t)c}, TUI_Q, false,
                   exact(app, in->q[in->token * in->d_k + c]));
    }
    doc_put(doc, TUI_QUIET, "]");
    doc_line(doc);
}

/* One row of the answers: name, key, weight, bar. */
static void answer_row(tui_app *app, tui_doc *doc, int left, int64_t j)
{
    const lesson_input *const in = &app->in;
    doc_to(doc, left);
    doc_put(doc, TUI_NORMAL, key_name(app, j));
    doc_to(doc, left + 6);
    doc_put(doc, TUI_K, vector_text(app, in->k + j * in->d_k, in->d_k));
    doc_to(doc, left + 13);
    doc_put(doc, TUI_NORMAL, shown(app, app->stages.row_weight[j]));
    doc_put(doc, TUI_NORMAL, " ");
    const int room = doc->width - doc->column;
    bar_line(app, doc, app->stages.row_weight[j], room < BARS ? room : BARS);
}

static void answers(tui_app *app, tui_doc *doc, int left, int line)
{
    const lesson_input *const in = &app->in;
    const int64_t same = exact_key(in);
    doc_to(doc, left);
    if (line == 0) {
        doc_put(doc, TUI_QUIET, "exact lookup: ");
        doc_put(doc, TUI_STRONG, same < 0 ? "nothing" : key_name(app, same));
    } else if (line == 1) {
        doc_put(doc, TUI_QUIET, "soft lookup:");
    } else if (line - 2 < in->keys && line - 2 < 4) {
        answer_row(app, doc, left, line - 2);
    } else if (line - 2 == (in->keys < 4 ? in->keys : 4)) {
        doc_put(doc, TUI_STRONG, word_text(app, LESSON_W_OUTPUT));
        doc_put(doc, TUI_STRONG, vector_text(app, app->stages.row_out, in->d_v));
    }
}

static void lookup_plain(tui_app *app, tui_doc *doc);

static void lookup(tui_app *app, tui_doc *doc)
{
    if (app->plain) {
        lookup_plain(app, doc);
        return;
    }
    token_row(app, doc);
    ask_row(app, doc);
    doc_put(doc, TUI_NORMAL, word_text(app, LESSON_W_SHARPNESS));
    doc_put(doc, TUI_NORMAL, " ");
    slider(app, doc, (tui_id){CONTROL_SHARPNESS, 0, 0}, word_text(app, LESSON_W_PICK),
           word_text(app, LESSON_W_BLEND), lesson_sharpness_stop(app->state.choice.temperature),
           STATE_STOPS);
    doc_line(doc);
    doc_gap(doc);
    const bool drawn = app->in.d_k == 2;
    const bool narrow = doc->width < 64;
    plane p;
    if (drawn) fill_plane(app, &p);
    for (int r = 0; r < PLANE_ROWS && drawn; r++) {
        write_plane_row(app, doc, &p, r);
        if (!narrow) answers(app, doc, PLANE_COLUMNS + 4, r);
        doc_line(doc);
    }
    if (narrow || !drawn)
        for (int r = 0; r < PLANE_ROWS; r++) {
            answers(app, doc, 0, r);
            doc_line(doc);
        }
}

/* The same in sentences. */
static void lookup_plain(tui_app *app, tui_doc *doc)
{
    const lesson_input *const in = &app->in;
    const int64_t same = exact_key(in);
    char line[256];
    snprintf(line, sizeof line, "%s asks with %s.", key_name(app, in->token),
             vector_text(app, in->q + in->token * in->d_k, in->d_k));
    doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
    snprintf(line, sizeof line, "Exact lookup: %s.", same < 0 ? "nothing" : key_name(app, same));
    doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
    for (int64_t j = 0; j < in->keys && j < 16; j++) {
        snprintf(line, sizeof line, "Soft lookup: %s has the key %s and gets the share %s.",
                 key_name(app, j), vector_text(app, in->k + j * in->d_k, in->d_k),
                 shown(app, app->stages.row_weight[j]));
        doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
    }
    snprintf(line, sizeof line, "%s%s", word_text(app, LESSON_W_OUTPUT),
             vector_text(app, app->stages.row_out, in->d_v));
    doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
}

/* ---- 3: the formula -------------------------------------------------------------------------- */

void formula_write(tui_app *app, tui_doc *doc)
{
    static const char *const formula[2] = {"Attention(Q, K, V) = softmax(Q Kᵀ / √dₖ) V",
                                           "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V"};
    doc_to(doc, 2);
    doc_put(doc, TUI_STRONG, formula[!app->face.utf8]);
    doc_line(doc);
    if (app->plain) return;
    doc_gap(doc);
    int now = -1;
    for (int i = 0; i < COURSE_PARTS; i++) {
        const course_part *const part = lesson_formula_part(i);
        if (part->stage == app->state.stage) now = i;
        option(doc, (tui_id){CONTROL_PART, 0, (int16_t)i}, TUI_NORMAL,
               part->stage == app->state.stage, word_text(app, part->name));
    }
    doc_line(doc);
    if (now >= 0)
        say_with(app, doc, TUI_QUIET, lesson_formula_part(now)->words, NULL, NULL, NULL);
    else
        doc_line(doc);
}

/* ---- 2: the projections ---------------------------------------------------------------------- */

enum { PROJECT_FEATURES = 8 };

/* A row of numbers in brackets, each as wide as `width`. */
static void numbers(tui_app *app, tui_doc *doc, tui_style style, const double *x, int n, int width)
{
    doc_put(doc, TUI_QUIET, "[");
    for (int c = 0; c < n; c++) {
        const char *const text = exact(app, x[c]);
        const int columns = tui_columns(text, strlen(text));
        doc_to(doc, doc->column + (c ? 1 : 0) + (width > columns ? width - columns : 0));
        doc_put(doc, style, text);
    }
    doc_put(doc, TUI_QUIET, "]");
}

static const tui_style role_style[3] = {TUI_Q, TUI_K, TUI_V};

/* X and the three matrices, row by row: a row of X meets the columns of a W. */
static void project_given(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    static const char *const name[3] = {"W^Q", "W^K", "W^V"};
    doc_to(doc, 7);
    doc_put(doc, TUI_STRONG, "X");
    const int first = 7 + 3 * s->features + 3;
    for (int m = 0; m < 3; m++) {
        doc_to(doc, first + m * 10);
        doc_put(doc, role_style[m], name[m]);
    }
    doc_line(doc);
    const int rows = s->tokens > s->features ? s->tokens : s->features;
    for (int i = 0; i < rows && i < 16; i++) {
        if (i < s->tokens) {
            doc_put(doc, TUI_NORMAL, key_name(app, i));
            doc_to(doc, 7);
            numbers(app, doc, TUI_NORMAL, s->embedding.x + (int64_t)i * s->features, s->features,
                    1);
        }
        for (int m = 0; m < 3 && i < s->features; m++) {
            const state_matrix *const w = &s->w[m];
            doc_to(doc, first + m * 10);
            numbers(app, doc, role_style[m], w->x + (int64_t)i * w->columns, w->columns, 2);
        }
        doc_line(doc);
    }
}

/* Q, K and V, every number with the cursor's place. */
static void project_made(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    static const char *const name[3] = {"Q = X W^Q", "K = X W^K", "V = X W^V"};
    const int first = 7, step = doc->width >= 52 ? 14 : 11;
    for (int m = 0; m < 3; m++) {
        doc_to(doc, first + m * step);
        doc_put_n(doc, role_style[m], name[m], step > 12 ? strlen(name[m]) : 1);
    }
    doc_line(doc);
    for (int i = 0; i < s->tokens && i < 16; i++) {
        doc_put(doc, TUI_NORMAL, key_name(app, i));
        for (int m = 0; m < 3; m++) {
            const state_matrix *const y = &s->qkv[m];
            doc_to(doc, first + m * step);
            doc_put(doc, TUI_QUIET, "[");
            for (int c = 0; c < y->columns && c < 4; c++) {
                const int16_t place = (int16_t)(m * STATE_CHANNELS + c);
                const bool now = m == s->project && i == s->project_row && c == s->project_channel;
                if (c) doc_put(doc, TUI_QUIET, ", ");
                doc_target(doc, (tui_id){CONTROL_PROJECT, (int16_t)i, place}, role_style[m], now,
                           exact(app, y->x[(int64_t)i * y->columns + c]));
            }
            doc_put(doc, TUI_QUIET, "]");
        }
        doc_line(doc);
    }
}

/* "Q of sat, number 2: 0·1 + 0·1 + 1·2 + 0·−1 = 2" */
static void project_worked(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    const state_matrix *const w = &s->w[s->project], *const y = &s->qkv[s->project];
    lesson_line line;
    char label[96];
    line_start(&line, &app->face);
    snprintf(label, sizeof label, "%c, %s, %d: ", "QKV"[s->project], key_name(app, s->project_row),
             (int)s -> project_channel + 1);
    line_text(&line, label);
    for (int f = 0; f < s->features && f < PROJECT_FEATURES; f++) {
        if (f) line_text(&line, " + ");
        line_exact(&line, s->embedding.x[(int64_t)s->project_row * s->features + f]);
        line_own(&line, "·");
        line_exact(&line, w->x[(int64_t)f * w->columns + s->project_channel]);
    }
    if (s->features > PROJECT_FEATURES) line_own(&line, " + …");
    line_text(&line, " = ");
    line_exact(&line, y->x[(int64_t)s->project_row * y->columns + s->project_channel]);
    doc_wrapped(doc, TUI_NORMAL, line.text, 0, 2);
}

static void project_plain(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    for (int i = 0; i < s->tokens && i < 16; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s: x %s, query %s, key %s, value %s.", key_name(app, i),
                 vector_text(app, s->embedding.x + (int64_t)i * s->features, s->features),
                 vector_text(app, s->qkv[0].x + (int64_t)i * s->d_k, s->d_k),
                 vector_text(app, s->qkv[1].x + (int64_t)i * s->d_k, s->d_k),
                 vector_text(app, s->qkv[2].x + (int64_t)i * s->d_v, s->d_v));
        doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
    }
    project_worked(app, doc);
}

static void project(tui_app *app, tui_doc *doc)
{
    if (app->plain) {
        project_plain(app, doc);
        return;
    }
    project_given(app, doc);
    doc_gap(doc);
    project_made(app, doc);
    doc_gap(doc);
    project_worked(app, doc);
}

static bool act_project(tui_app *app, tui_id id)
{
    app->state.project = id.column / STATE_CHANNELS;
    app->state.project_row = id.row;
    app->state.project_channel = id.column % STATE_CHANNELS;
    return true;
}

/* ---- 5: the blend ---------------------------------------------------------------------------- */

enum { BLEND_STOPS = 41, BLEND_ROWS = 9 };

/* First the whole row: what a query [1, x] gives as a blend and as a pick. */
typedef struct blend_point {
    double blend[2], pick[2];
} blend_point;

static bool blend_at(tui_app *app, double x, blend_point *out)
{
    qkv_error err = qkv_error_init();
    const double query[2] = {1, x};
    lesson_input in = app->in;
    lesson_stages stages;
    in.q = query;
    in.rows = in.row_end = 1;
    in.row_begin = in.token = 0;
    in.causal = 0;
    if (lesson_run(&stages, &in, 0, &app->picture.memory, &err) != QKV_OK) return false;
    int64_t best = 0;
    for (int64_t j = 1; j < in.keys; j++)
        if (stages.row_score[j] > stages.row_score[best]) best = j;
    for (int c = 0; c < 2; c++) {
        out->blend[c] = stages.row_out[c];
        out->pick[c] = in.v[best * 2 + c];
    }
    return true;
}

static void graph(tui_app *app, tui_doc *doc, const blend_point *points, int now)
{
    double high = points[0].pick[0], low = 0;
    for (int i = 0; i < BLEND_STOPS; i++) {
        if (points[i].pick[0] > high) high = points[i].pick[0];
        if (points[i].pick[0] < low) low = points[i].pick[0];
    }
    const double step = high > low ? (high - low) / (BLEND_ROWS - 1) : 1;
    const bool utf8 = app->face.utf8;
    for (int r = BLEND_ROWS - 1; r >= 0; r--) {
        if (r == BLEND_ROWS - 1 || r == 0) doc_put(doc, TUI_QUIET, exact(app, r ? high : low));
        doc_to(doc, 5);
        for (int i = 0; i < BLEND_STOPS; i++) {
            const bool blend = (int)((points[i].blend[0] - low) / step + 0.5) == r;
            const bool pick = (int)((points[i].pick[0] - low) / step + 0.5) == r;
            const tui_style style = i == now ? TUI_STRONG : TUI_V;
            if (blend)
                doc_put(doc, style, utf8 ? "●" : "*");
            else if (pick)
                doc_put(doc, i == now ? TUI_STRONG : TUI_NORMAL, utf8 ? "─" : "-");
            else
                doc_put(doc, TUI_QUIET, i == now ? (utf8 ? "┊" : ":") : " ");
        }
        doc_line(doc);
    }
}

static void change_line(tui_app *app, tui_doc *doc, const char *label, const double *now,
                        const double *next)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_text(&line, label);
    line_vector(&line, now, 2, 2, 0);
    if (next) {
        line_own(&line, " → ");
        line_vector(&line, next, 2, 2, 0);
    }
    doc_wrapped(doc, TUI_NORMAL, line.text, 0, 2);
}

static void blend_plain(tui_app *app, tui_doc *doc)
{
    for (int i = 0; i <= 4; i++) {
        const double x = 0.5 * i;
        blend_point point;
        char line[256];
        if (!blend_at(app, x, &point)) return;
        snprintf(line, sizeof line, "q = [1,%s]: the pick is %s, the blend %s.", exact(app, x),
                 vector_text(app, point.pick, 2), vector_text(app, point.blend, 2));
        doc_wrapped(doc, TUI_NORMAL, line, 0, 0);
    }
}

static void blend(tui_app *app, tui_doc *doc)
{
    if (app->in.d_k != 2 || app->in.d_v != 2) {
        doc_wrapped(doc, TUI_QUIET, "This figure needs keys and values of two numbers each.", 0, 0);
        return;
    }
    if (app->plain) {
        blend_plain(app, doc);
        return;
    }
    blend_point points[BLEND_STOPS], now, next;
    const double x = app->state.blend;
    for (int i = 0; i < BLEND_STOPS; i++)
        if (!blend_at(app, 2.0 * i / (BLEND_STOPS - 1), &points[i])) return;
    if (!blend_at(app, x, &now) || !blend_at(app, x + 0.1, &next)) return;
    const int stop = (int)(x / 2 * (BLEND_STOPS - 1) + 0.5);
    doc_put(doc, TUI_QUIET, "the first number of the output: ");
    doc_put(doc, TUI_V, app->face.utf8 ? "● " : "* ");
    doc_put(doc, TUI_NORMAL, word_text(app, LESSON_W_BLEND));
    doc_put(doc, TUI_NORMAL, app->face.utf8 ? "  ─ " : "  - ");
    doc_put(doc, TUI_NORMAL, word_text(app, LESSON_W_PICK));
    doc_line(doc);
    graph(app, doc, points, stop);
    slider(app, doc, (tui_id){CONTROL_BLEND, 0, 0}, "[1,0", "[1,2]", stop, BLEND_STOPS);
    doc_line(doc);
    doc_put(doc, TUI_Q, "q = [1,");
    doc_put(doc, TUI_Q, exact(app, x));
    doc_put(doc, TUI_Q, "]  ");
    button(app, doc, (tui_id){CONTROL_NUDGE, 0, 0},
           app->nudged ? "take the nudge back" : "nudge q by 0.1");
    doc_line(doc);
    change_line(app, doc, "pick:  ", now.pick, app->nudged ? next.pick : NULL);
    change_line(app, doc, "blend: ", now.blend, app->nudged ? next.blend : NULL);
}

static bool act_blend(tui_app *app, int by)
{
    double x = (double)(int64_t)(app->state.blend * 20 + 0.5) / 20 + 0.05 * by;
    x = (double)(int64_t)(x * 100 + 0.5) / 100;
    if (x < 0 || x > 2) return false;
    app->state.blend = x;
    return true;
}

/* ---- which ----------------------------------------------------------------------------------- */

void play_write(tui_app *app, tui_doc *doc, int figure)
{
    switch (figure) {
    case FIGURE_LOOKUP:
        lookup(app, doc);
        break;
    case FIGURE_PROJECT:
        project(app, doc);
        break;
    case FIGURE_BLEND:
        blend(app, doc);
        break;
    default:
        break;
    }
}

bool play_act(tui_app *app, tui_id id, tui_act act)
{
    const int by = act == ACT_MORE ? 1 : act == ACT_LESS ? -1 : 0;
    switch (id.kind) {
    case CONTROL_PROJECT:
        return by == 0 && act_project(app, id);
    case CONTROL_BLEND:
        app->nudged = false;
        return by && act_blend(app, by);
    case CONTROL_NUDGE:
        if (act == ACT_ENTER) app->nudged = !app->nudged;
        return act == ACT_ENTER;
    default:
        return false;
    }
}
