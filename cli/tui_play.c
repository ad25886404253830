/* SPDX-License-Identifier: MIT */
/* tui_play.c - the figures before the calculator: the soft lookup with its plane, the three projections,
 * the formula with its parts; and small parts that all figures share.
 *
 * Geometry (where a mark stands, how long a bar is) is worked out here from the state's numbers; a
 * number that is shown is a string of lesson/.
 */
#include "cli/tui_app.h"
#include "lesson/figures.h"

#include <string.h>

/* ---- small parts, for the other figures too -------------------------------------------------- */

lesson_view plain_view(tui_app *app, int width)
{
    static const lesson_sink none = {NULL, NULL};
    app->face.width = width;
    return (lesson_view){&app->in, &app->stages, &app->face, &none, &app->picture.memory};
}

const char *exact(tui_app *app, double x)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_exact(&line, x);
    return own(app, line.text);
}

const char *shown(tui_app *app, double x)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_number(&line, x, 0);
    return own(app, line.text);
}

const char *key_name(tui_app *app, int64_t key)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_key(&line, &app->in, key, TUI_NAME);
    return keep(app, line.text);
}

int name_column(tui_app *app, int least)
{
    int most = least;
    for (int64_t j = 0; j < app->in.keys && j < 16; j++) {
        const char *const name = key_name(app, j);
        const int columns = tui_columns(name, strlen(name)) + 1;
        if (columns > most) most = columns;
    }
    return most;
}

void slider(tui_app *app, tui_doc *doc, tui_id id, const char *low, const char *high, int stop,
            int stops)
{
    const int cells = stops <= 16 ? 2 * stops - 1 : stops;
    const int at = stops <= 16 ? 2 * stop : stop;
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

void put_line(tui_doc *doc, const lesson_line *line)
{
    tui_para para;
    para_start(&para);
    para_marked(&para, line->text);
    para_end(doc, &para, doc->column, 0);
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
static void answer_row(tui_app *app, tui_doc *doc, int64_t j)
{
    const lesson_input *const in = &app->in;
    lesson_line key;
    const int left = name_column(app, 6);
    doc_put(doc, TUI_NORMAL, key_name(app, j));
    doc_to(doc, left);
    line_start(&key, &app->face);
    line_vector(&key, in->k + j * in->d_k, in->d_k, in->d_k < 4 ? in->d_k : 4,
                lesson_all_whole(in->k + j * in->d_k, in->d_k));
    doc_put(doc, TUI_K, key.text);
    doc_to(doc, left + 7);
    doc_put(doc, TUI_NORMAL, " ");
    doc_put(doc, TUI_NORMAL, shown(app, app->stages.row_weight[j]));
    doc_put(doc, TUI_NORMAL, " ");
    const int room = doc->width - doc->column;
    if (!app->plain) bar_line(app, doc, app->stages.row_weight[j], room < BARS ? room : BARS);
    doc_line(doc);
}

/* What both lookups say. */
static void answers(tui_app *app, tui_doc *doc)
{
    const lesson_view view = plain_view(app, doc->width);
    lesson_line line;
    line_start(&line, &app->face);
    line_lookup_exact(&line, &view);
    put_line(doc, &line);
    line_start(&line, &app->face);
    line_lookup_soft(&line, &view);
    put_line(doc, &line);
    for (int64_t j = 0; j < app->in.keys && j < 8; j++) answer_row(app, doc, j);
    line_start(&line, &app->face);
    line_lookup_answer(&line, &view);
    put_line(doc, &line);
}

static void sharpness(tui_app *app, tui_doc *doc)
{
    lesson_line line;
    doc_put(doc, TUI_NORMAL, word_text(app, LESSON_W_SHARPNESS));
    doc_put(doc, TUI_NORMAL, " ");
    slider(app, doc, (tui_id){CONTROL_SHARPNESS, 0, 0}, word_text(app, LESSON_W_PICK),
           word_text(app, LESSON_W_BLEND), lesson_sharpness_stop(app->state.choice.temperature),
           STATE_STOPS);
    line_start(&line, &app->face);
    line_lookup_sharpness(&line, &app->face, app->state.choice.temperature);
    if (doc->column + 2 + line_columns(&line) > doc->width) doc_line(doc);
    doc_put(doc, TUI_NORMAL, "  ");
    doc_put(doc, TUI_QUIET, line.text);
    doc_line(doc);
}

static void lookup(tui_app *app, tui_doc *doc)
{
    if (app->plain) {
        answers(app, doc);
        return;
    }
    token_row(app, doc);
    ask_row(app, doc);
    sharpness(app, doc);
    doc_gap(doc);
    if (app->in.d_k != 2 || doc->width < 60) {
        answers(app, doc);
        return;
    }
    plane p;
    tui_doc side;
    fill_plane(app, &p);
    doc_start(&side, doc->pool, doc->face, doc->width - PLANE_COLUMNS - 4);
    answers(app, &side);
    app->face.width = doc->width;
    for (int r = 0; r < PLANE_ROWS || r < side.line_count - 1; r++) {
        if (r < PLANE_ROWS) write_plane_row(app, doc, &p, r);
        doc_copy_line(doc, &side, r, PLANE_COLUMNS + 4);
        doc_line(doc);
    }
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

enum { FEATURES_SHOWN = 4, CHANNELS_SHOWN = 2 }; /* of X and of the matrices, side by side */

static int at_most(int n, int most)
{
    return n < most ? n : most;
}

static const char *and_more(const tui_app *app, int n, int most)
{
    return n <= most ? "" : app->face.utf8 ? " …" : " ..";
}

/* The first of n numbers in brackets, each as wide as `width`. */
static void numbers(tui_app *app, tui_doc *doc, tui_style style, const double *x, int n, int most,
                    int width)
{
    doc_put(doc, TUI_QUIET, "[");
    for (int c = 0; c < at_most(n, most); c++) {
        const char *const text = exact(app, x[c]);
        const int columns = tui_columns(text, strlen(text));
        doc_to(doc, doc->column + (c ? 1 : 0) + (width > columns ? width - columns : 0));
        doc_put(doc, style, text);
    }
    doc_put(doc, TUI_QUIET, and_more(app, n, most));
    doc_put(doc, TUI_QUIET, "]");
}

static const tui_style role_style[3] = {TUI_Q, TUI_K, TUI_V};

/* X and the three matrices, row by row: a row of X meets the columns of a W. */
static void project_given(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    static const char *const name[3] = {"W^Q", "W^K", "W^V"};
    const bool narrow = doc->width < 52;
    const int left = name_column(app, narrow ? 4 : 7), step = narrow ? 8 : 10;
    const int first = left + 2 * at_most(s->features, FEATURES_SHOWN) + (narrow ? 2 : 7);
    doc_to(doc, left);
    doc_put(doc, TUI_STRONG, "X");
    for (int m = 0; m < 3; m++) {
        doc_to(doc, first + m * step);
        doc_put(doc, role_style[m], name[m]);
    }
    doc_line(doc);
    const int rows = s->tokens > s->features ? s->tokens : s->features;
    for (int i = 0; i < rows && i < 16; i++) {
        if (i < s->tokens) {
            doc_put(doc, TUI_NORMAL, key_name(app, i));
            doc_to(doc, left);
            numbers(app, doc, TUI_NORMAL, s->embedding.x + (int64_t)i * s->features, s->features,
                    FEATURES_SHOWN, 1);
        }
        for (int m = 0; m < 3 && i < s->features; m++) {
            const state_matrix *const w = &s->w[m];
            doc_to(doc, first + m * step);
            numbers(app, doc, role_style[m], w->x + (int64_t)i * w->columns, w->columns,
                    CHANNELS_SHOWN, 2);
        }
        doc_line(doc);
    }
}

/* Q, K and V, every number with the cursor's place. */
static void project_made(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    static const char *const name[3] = {"Q = X W^Q", "K = X W^K", "V = X W^V"};
    const bool narrow = doc->width < 52;
    const int first = name_column(app, narrow ? 4 : 7), step = narrow ? 11 : 14;
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
            for (int c = 0; c < at_most(y->columns, CHANNELS_SHOWN); c++) {
                const int16_t place = (int16_t)(m * STATE_CHANNELS + c);
                const bool now = m == s->project && i == s->project_row && c == s->project_channel;
                if (c) doc_put(doc, TUI_QUIET, ", ");
                doc_target(doc, (tui_id){CONTROL_PROJECT, (int16_t)i, place}, role_style[m], now,
                           exact(app, y->x[(int64_t)i * y->columns + c]));
            }
            doc_put(doc, TUI_QUIET, and_more(app, y->columns, CHANNELS_SHOWN));
            doc_put(doc, TUI_QUIET, "]");
        }
        doc_line(doc);
    }
}

static void project_worked(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    const lesson_view view = plain_view(app, doc->width);
    lesson_line line;
    line_start(&line, &app->face);
    line_project(&line, &view, s, s->project, s->project_row, s->project_channel);
    put_line(doc, &line);
}

static void project_plain(tui_app *app, tui_doc *doc)
{
    const lesson_state *const s = &app->state;
    const lesson_view view = plain_view(app, doc->width);
    lesson_line line;
    for (int i = 0; i < s->tokens && i < 16; i++)
        for (int m = 0; m < 3; m++)
            for (int c = 0; c < s->qkv[m].columns && c < 4; c++) {
                line_start(&line, &app->face);
                line_project(&line, &view, s, m, i, c);
                put_line(doc, &line);
            }
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

/* ---- which ----------------------------------------------------------------------------------- */

void play_write(tui_app *app, tui_doc *doc, int figure)
{
    if (figure == FIGURE_LOOKUP)
        lookup(app, doc);
    else
        project(app, doc);
}

bool play_act(tui_app *app, tui_id id, tui_act act)
{
    const bool taken = act == ACT_ENTER || act == ACT_FOCUS;
    return id.kind == CONTROL_PROJECT && taken && act_project(app, id);
}
