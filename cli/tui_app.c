/* SPDX-License-Identifier: MIT */
/* tui_app.c - the loop of the full-screen lesson: lay out, draw, wait for a key, move the focus or
 * hand the key to the control that has it.
 *
 * Tab goes from control to control, arrows move inside one; an arrow that its control has no use
 * for scrolls. The focus is an id, not a place, so it survives every change of layout. The line of
 * the focus is always on the screen, and the real cursor stands on it.
 */
#include "cli/tui_app.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_WIDTH = 76, BESIDE_TEXT = 62, BESIDE_FROM = 148, FIGURES_WIDTH = 80, GAP = 6 };

void app_notice(tui_app *app, const char *text)
{
    snprintf(app->notice, sizeof app->notice, "%s", text);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static int field_rows(const tui_app *app)
{
    if (!app->field.open) return app->notice[0] != 0;
    return app->trouble.kind != TROUBLE_NONE ? 3 : 1;
}

static void start_doc(tui_app *app, tui_doc *doc, int width)
{
    app->face.width = width;
    doc_start(doc, &app->picture, &app->face, width);
    doc->wanted = app->focus;
}

static void lay_out(tui_app *app)
{
    tui_pool_empty(&app->picture);
    app->computed = app_compute(app);
    tui_screen_size(&app->rows, &app->columns);
    const bool rules = app->rows >= 16;
    app->body_top = rules ? 2 : 1;
    app->body_rows = app->rows - app->body_top - (rules ? 2 : 1) - field_rows(app);
    if (app->body_rows < 1) app->body_rows = 1;
    app->beside = app->columns >= BESIDE_FROM && !app->help;
    const int margin = app->columns >= 60 ? 2 : 0;
    const int room = app->columns - 2 * margin;
    const int text = app->beside ? BESIDE_TEXT : room < TEXT_WIDTH ? room : TEXT_WIDTH;
    const int all = app->beside ? text + GAP + FIGURES_WIDTH : text;
    app->text_left = (app->columns - all) / 2;
    app->figures_left = app->text_left + text + GAP;
    start_doc(app, &app->text, text);
    if (app->help)
        app_write_help(app, &app->text);
    else
        app_write_section(app, &app->text, app->beside ? PART_TEXT : PART_ALL);
    if (app->beside) {
        start_doc(app, &app->figures, FIGURES_WIDTH);
        app_write_section(app, &app->figures, PART_FIGURES);
    } else {
        app->figures.target_count = app->figures.line_count = 0;
    }
}

/* ---- the focus ------------------------------------------------------------------------------- */

static int32_t target_count(const tui_app *app)
{
    return app->text.target_count + app->figures.target_count;
}

/* Side by side, the figures come behind the title, before what follows it in the text. Where target
 * i of that order is: true for the text, *local is its place in its document. */
static bool locate(const tui_app *app, int32_t i, int32_t *local)
{
    const tui_id title = {CONTROL_TITLE, 0, 0};
    const int32_t figures = app->figures.target_count;
    const int32_t first = doc_find(&app->text, title) + 1;
    *local = i < first ? i : i < first + figures ? i - first : i - figures;
    return i < first || i >= first + figures;
}

static const tui_target *target_at(const tui_app *app, int32_t i)
{
    int32_t local = 0;
    const bool text = locate(app, i, &local);
    return text ? &app->text.targets[local] : &app->figures.targets[local];
}

static int32_t focus_index(const tui_app *app)
{
    for (int32_t i = 0; i < target_count(app); i++)
        if (tui_same(target_at(app, i)->id, app->focus)) return i;
    return TUI_NO_TARGET;
}

/* One Tab goes past a whole group. */
static bool same_group(tui_id a, tui_id b)
{
    if (a.kind != b.kind) return false;
    const bool by_row = a.kind == CONTROL_ANSWER || a.kind == CONTROL_DETAILS ||
                        a.kind == CONTROL_TEACHER || a.kind == CONTROL_RECALL ||
                        a.kind == CONTROL_POINT;
    return !by_row || a.row == b.row;
}

static bool is_chosen(const tui_app *app, int32_t i)
{
    int32_t local = 0;
    const tui_doc *const doc = locate(app, i, &local) ? &app->text : &app->figures;
    for (int32_t s = 0; s < doc->span_count; s++)
        if (doc->spans[s].target == local) return doc->spans[s].chosen;
    return false;
}

/* Into the group of target i: to what is chosen there, else to its first. */
static void enter_group(tui_app *app, int32_t i)
{
    const tui_id id = target_at(app, i)->id;
    int32_t first = TUI_NO_TARGET;
    for (int32_t j = 0; j < target_count(app); j++) {
        if (!same_group(target_at(app, j)->id, id)) continue;
        if (first == TUI_NO_TARGET) first = j;
        if (!is_chosen(app, j)) continue;
        first = j;
        break;
    }
    app->focus = target_at(app, first)->id;
}

/* Where Tab starts when nothing has the focus: before the first target on the screen, or behind
 * the last. */
static int32_t tab_start(const tui_app *app, int step)
{
    const int32_t n = target_count(app);
    int32_t i = step > 0 ? 0 : n - 1, local = 0;
    while (i >= 0 && i < n) {
        const int line = target_at(app, i)->line - app->text_top;
        if (!locate(app, i, &local) || (step > 0 ? line >= 0 : line < app->body_rows)) break;
        i += step;
    }
    return i - step;
}

static void tab(tui_app *app, int step)
{
    const int32_t n = target_count(app), from = focus_index(app);
    if (n == 0) return;
    int32_t i = from == TUI_NO_TARGET ? tab_start(app, step) : from;
    for (int32_t tries = 0; tries < n; tries++) {
        i = (i + step + n) % n;
        if (from == TUI_NO_TARGET || !same_group(target_at(app, i)->id, target_at(app, from)->id))
            break;
    }
    enter_group(app, i);
}

/* A row of choices that may have been wrapped: its order is that of reading. */
static bool is_row(int kind)
{
    return kind == CONTROL_TOKEN || kind == CONTROL_STAGE || kind == CONTROL_REFRESHER ||
           kind == CONTROL_PART || kind == CONTROL_PREDICT || kind == CONTROL_RESTORE ||
           kind == CONTROL_ASK || kind == CONTROL_STEP || kind == CONTROL_SAMPLE;
}

/* The one behind or before in a row of choices. */
static int32_t next_in_row(const tui_app *app, int32_t from, int step)
{
    const int32_t to = from + step;
    if (!is_row(app->focus.kind) || to < 0 || to >= target_count(app)) return TUI_NO_TARGET;
    return same_group(target_at(app, from)->id, target_at(app, to)->id) ? to : TUI_NO_TARGET;
}

/* The nearest target of the same group in a direction; TUI_NO_TARGET. */
static int32_t neighbour(const tui_app *app, int key)
{
    const int32_t from = focus_index(app);
    if (from == TUI_NO_TARGET) return TUI_NO_TARGET;
    const tui_target *const a = target_at(app, from);
    int32_t best = TUI_NO_TARGET;
    int best_distance = INT32_MAX;
    for (int32_t i = 0; i < target_count(app); i++) {
        const tui_target *const b = target_at(app, i);
        if (i == from || !same_group(a->id, b->id)) continue;
        const int down = b->line - a->line, right = b->column - a->column;
        int distance = INT32_MAX;
        if (key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT) {
            const int along = key == TUI_KEY_RIGHT ? right : -right;
            if (down == 0 && along > 0) distance = along;
        } else {
            const int along = key == TUI_KEY_DOWN ? down : -down;
            const int aside = right < 0 ? -right : right;
            if (along > 0) distance = along * 1000 + aside;
        }
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = i;
    }
    if (best == TUI_NO_TARGET && key == TUI_KEY_RIGHT) return next_in_row(app, from, 1);
    if (best == TUI_NO_TARGET && key == TUI_KEY_LEFT) return next_in_row(app, from, -1);
    return best;
}

/* ---- scrolling ------------------------------------------------------------------------------- */

static void clamp(int *top, const tui_doc *doc, int rows)
{
    const int most = doc->line_count > rows ? doc->line_count - rows : 0;
    if (*top > most) *top = most;
    if (*top < 0) *top = 0;
}

static void show_line(int *top, int line, int rows, int context)
{
    if (context > rows / 3) context = rows / 3;
    if (line < *top + context) *top = line - context;
    if (line >= *top + rows - context) *top = line - rows + 1 + context;
}

/* The focus' figure whole where it fits, else its line with some around it. */
static void follow_focus(tui_app *app)
{
    const int32_t i = focus_index(app);
    if (i != TUI_NO_TARGET && app->moved) {
        int32_t local = 0;
        const bool left = locate(app, i, &local);
        const tui_doc *const doc = left ? &app->text : &app->figures;
        int *const top = left ? &app->text_top : &app->figures_top;
        if (doc->figure_first >= 0 && doc->figure_last - doc->figure_first < app->body_rows) {
            show_line(top, doc->figure_last, app->body_rows, 0);
            show_line(top, doc->figure_first, app->body_rows, 0);
        } else {
            show_line(top, target_at(app, i)->line, app->body_rows, 2);
        }
    }
    clamp(&app->text_top, &app->text, app->body_rows);
    clamp(&app->figures_top, &app->figures, app->body_rows);
}

/* The reader scrolls: a focus that leaves the screen is given up, so that no key acts unseen. */
static void scroll(tui_app *app, int lines)
{
    app->moved = false;
    app->text_top += lines;
    clamp(&app->text_top, &app->text, app->body_rows);
    const int32_t from = focus_index(app);
    int32_t local = 0;
    if (from == TUI_NO_TARGET || !locate(app, from, &local)) return;
    const int line = app->text.targets[local].line;
    if (line < app->text_top || line >= app->text_top + app->body_rows)
        app->focus = (tui_id){CONTROL_NONE, 0, 0};
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void draw_doc(const tui_app *app, const tui_doc *doc, int left, int top, int32_t focus)
{
    for (int i = 0; i < app->body_rows && top + i < doc->line_count; i++)
        tui_screen_line(app->body_top + i, left, app->columns - left, doc, top + i, focus);
}

static void draw_header(tui_app *app)
{
    lesson_line place;
    char number[LESSON_NUMBER_BYTES];
    line_start(&place, &app->face);
    lesson_number_integer(number, app->state.section + 1);
    line_say(&place, LESSON_W_PLACE, number, NULL, NULL);
    const int columns = tui_columns(place.text, strlen(place.text));
    const int left = app->text_left, right = app->columns - app->text_left;
    tui_screen_text(0, left, right - left - columns - 2, TUI_QUIET, own(app, "qkv lesson"));
    tui_screen_text(0, right - columns, columns, TUI_QUIET, place.text);
}

/* "12 more lines", at the right of the row above the footer. */
static void draw_more(const tui_app *app, int row, int below)
{
    if (below <= 0) return;
    char text[64];
    snprintf(text, sizeof text, "%d more line%s%s", below, cli_s(below),
             app->face.utf8 ? " ↓" : "");
    const int columns = tui_columns(text, strlen(text));
    tui_screen_text(row, app->columns - app->text_left - columns, columns, TUI_QUIET, text);
}

/* Controls that left and right change; everywhere else an arrow only moves. */
static bool is_slider(int kind)
{
    return kind == CONTROL_TITLE || kind == CONTROL_SHARPNESS || kind == CONTROL_BLEND ||
           kind == CONTROL_CHANNELS;
}

/* The keys of what has the focus. */
static const char *const *keys_now(tui_app *app)
{
    static const char *const typing[] = {"Enter take", "Esc leave as it was", NULL};
    static const char *const helping[] = {"Esc back to the lesson", "arrows scroll", NULL};
    static const char *const number[] = {"? help",      "q quit",      "Enter type a number",
                                         "+ - by one",  "arrows move", "Tab next control",
                                         "s scale",     "m mask",      "u r undo, redo",
                                         "n p section", NULL};
    static const char *const slider[] = {"? help",           "q quit",     "left right change it",
                                         "Tab next control", "Space page", "n p section",
                                         "u r undo, redo",   NULL};
    static const char *const title[] = {
        "? help",  "q quit", "Tab next control", "Space page", "left right other section",
        "1 ... 8", NULL};
    static const char *const other[] = {"? help",      "q quit",         "Tab next control",
                                        "arrows move", "Enter act",      "Space page",
                                        "n p section", "u r undo, redo", NULL};
    char text[TUI_FIELD_BYTES];
    if (app->field.open) return typing;
    if (app->help) return helping;
    if (app->focus.kind == CONTROL_TITLE) return title;
    if (is_slider(app->focus.kind)) return slider;
    if (app->focus.kind != CONTROL_RECALL && figure_field(app, app->focus, text, sizeof text))
        return number;
    return other;
}

/* As many of them as fit; the first two always do. */
static void draw_footer(tui_app *app)
{
    const char *const *const keys = keys_now(app);
    char text[256] = "";
    size_t n = 0;
    int room = app->columns - 2 * app->text_left;
    for (int i = 0; keys[i]; i++) {
        const int columns = (int)strlen(keys[i]) + (n ? 3 : 0);
        if (columns > room) break;
        room -= columns;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? "   " : "", keys[i]);
    }
    tui_screen_text(app->rows - 1, app->text_left, app->columns - app->text_left, TUI_QUIET, text);
}

/* The field with its label; returns where the cursor is. */
static void draw_field(tui_app *app, int *row, int *column)
{
    const int left = app->text_left, width = app->columns - 2 * left;
    *row = app->body_top + app->body_rows;
    char shown[TUI_FIELD_BYTES * 2];
    const int label = tui_columns(app->field_label, strlen(app->field_label));
    const int room = width - label - 2 > 8 ? width - label - 2 : 8;
    const int at = field_view(&app->field, shown, sizeof shown, room, &app->face);
    tui_screen_text(*row, left, label, TUI_STRONG, app->field_label);
    tui_screen_text(*row, left + label + 1, room, TUI_NORMAL, shown);
    *column = left + label + 1 + at;
    if (app->trouble.kind == TROUBLE_NONE) return;
    tui_doc doc;
    start_doc(app, &doc, width);
    doc_wrapped(&doc, TUI_ALARM, own(app, app->trouble.text), 0, 0);
    for (int i = 0; i < 2 && i < doc.line_count; i++)
        tui_screen_line(*row + 1 + i, left, width, &doc, i, TUI_NO_TARGET);
}

static void draw(tui_app *app)
{
    const int32_t focus = focus_index(app);
    int32_t local = TUI_NO_TARGET;
    const bool in_figures = focus != TUI_NO_TARGET && !locate(app, focus, &local);
    int row = app->body_top, column = app->text_left;
    tui_screen_clear();
    draw_header(app);
    draw_doc(app, &app->text, app->text_left, app->help ? app->help_top : app->text_top,
             in_figures ? TUI_NO_TARGET : local);
    if (app->beside)
        draw_doc(app, &app->figures, app->figures_left, app->figures_top,
                 in_figures ? local : TUI_NO_TARGET);
    if (app->body_top == 2)
        draw_more(app, app->rows - 2,
                  app->text.line_count - app->body_rows -
                      (app->help ? app->help_top : app->text_top));
    draw_footer(app);
    if (focus != TUI_NO_TARGET && !app->help) {
        const tui_target *const target = target_at(app, focus);
        row += target->line - (in_figures ? app->figures_top : app->text_top);
        column = (in_figures ? app->figures_left : app->text_left) + target->column;
    }
    if (app->field.open)
        draw_field(app, &row, &column);
    else if (app->notice[0])
        tui_screen_text(app->body_top + app->body_rows, app->text_left,
                        app->columns - 2 * app->text_left, TUI_ALARM, app->notice);
    tui_screen_show(row, column);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool open_field(tui_app *app, int first_key)
{
    char text[TUI_FIELD_BYTES] = "";
    if (!figure_field(app, app->focus, text, sizeof text)) return false;
    app->trouble.kind = TROUBLE_NONE;
    app->field_of = app->focus;
    field_open(&app->field, text,
               app->focus.kind == CONTROL_RECALL ? TUI_FIELD_BYTES : STATE_NAME_BYTES);
    if (app->focus.kind == CONTROL_RECALL) app->field.fresh = false;
    if (first_key) field_key(&app->field, first_key);
    return true;
}

static void key_in_field(tui_app *app, int key)
{
    if (field_key(&app->field, key)) return;
    if (key == TUI_KEY_ESCAPE) app->field.open = false;
    if (key != TUI_KEY_ENTER && key != TUI_KEY_TAB) return;
    app->trouble.kind = TROUBLE_NONE;
    if (!figure_take(app, app->field_of, app->field.text, app->field.n)) return;
    app->field.open = false;
    if (key == TUI_KEY_TAB) {
        const int32_t right = neighbour(app, TUI_KEY_RIGHT);
        if (right != TUI_NO_TARGET) app->focus = target_at(app, right)->id;
    }
}

static void key_in_help(tui_app *app, int key)
{
    const int page = app->body_rows - 2;
    if (key == TUI_KEY_DOWN)
        app->help_top++;
    else if (key == TUI_KEY_UP)
        app->help_top--;
    else if (key == TUI_KEY_PAGE_DOWN || key == ' ')
        app->help_top += page;
    else if (key == TUI_KEY_PAGE_UP)
        app->help_top -= page;
    else
        app->help = false;
    clamp(&app->help_top, &app->text, app->body_rows);
}

static void arrow(tui_app *app, int key)
{
    const bool sideways = key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT;
    const int32_t to = neighbour(app, key);
    if (to != TUI_NO_TARGET) {
        app->focus = target_at(app, to)->id;
        figure_act(app, app->focus, ACT_FOCUS);
        return;
    }
    if (sideways && is_slider(app->focus.kind))
        figure_act(app, app->focus, key == TUI_KEY_RIGHT ? ACT_MORE : ACT_LESS);
    else if (!sideways)
        scroll(app, key == TUI_KEY_DOWN ? 1 : -1);
}

/* Home and End: first and last of the group. */
static void far_end(tui_app *app, bool last)
{
    tui_id to = app->focus;
    for (int32_t i = 0; i < target_count(app); i++) {
        const tui_id id = target_at(app, i)->id;
        if (!same_group(id, app->focus)) continue;
        to = id;
        if (!last) break;
    }
    if (tui_same(to, app->focus)) return;
    app->focus = to;
    figure_act(app, to, ACT_FOCUS);
}

static bool number_key(int key)
{
    return (key >= '0' && key <= '9') || key == '.' || key == '-';
}

/* The next scale, the next mask: for the calculator, where they are seen to work. */
static void next_setting(tui_app *app, int key)
{
    static const char *const scales[] = {"sqrt", "none", "dk"};
    const lesson_choice *const c = &app->state.choice;
    char notice[80];
    if (app->state.section != SECTION_CALCULATOR && app->state.section != SECTION_FORMULA) {
        app_notice(app, "Scale and mask belong to the calculator: section 4.");
        return;
    }
    const char *const value =
        key == 'm' ? (c->mask == MASK_NONE ? "causal" : "none") : scales[(c->scale_kind + 1) % 3];
    if (!change(app, key == 'm' ? "mask" : "scale", value)) return;
    snprintf(notice, sizeof notice, "%s: %s", key == 'm' ? "mask" : "scale", value);
    app_notice(app, notice);
}

static void letter(tui_app *app, int key)
{
    switch (key) {
    case 'q':
        app->quit = true;
        break;
    case '?':
        app->help = true;
        app->help_top = 0;
        break;
    case 'n':
        app_go(app, app->state.section + 1);
        break;
    case 'p':
        app_go(app, app->state.section - 1);
        break;
    case 's':
    case 'm':
        next_setting(app, key);
        break;
    case 'u':
        if (!app_undo(app)) app_notice(app, "There is nothing to undo.");
        break;
    case 'r':
        if (!app_redo(app)) app_notice(app, "There is nothing to redo.");
        break;
    case '+':
    case '=':
        figure_act(app, app->focus, ACT_MORE);
        break;
    default:
        if (key == '-' && app->focus.kind == CONTROL_CELL) {
            figure_act(app, app->focus, ACT_LESS);
        } else if (number_key(key) && open_field(app, key)) {
            break;
        } else if (key == '-') {
            figure_act(app, app->focus, ACT_LESS);
        } else if (key >= '1' && key <= '8') {
            app_go(app, key - '1');
        }
    }
}

static void key_in_lesson(tui_app *app, int key)
{
    switch (key) {
    case TUI_KEY_TAB:
        tab(app, 1);
        break;
    case TUI_KEY_BACK_TAB:
        tab(app, -1);
        break;
    case TUI_KEY_UP:
    case TUI_KEY_DOWN:
    case TUI_KEY_LEFT:
    case TUI_KEY_RIGHT:
        arrow(app, key);
        break;
    case TUI_KEY_HOME:
        far_end(app, false);
        break;
    case TUI_KEY_END:
        far_end(app, true);
        break;
    case TUI_KEY_ENTER:
        if (!open_field(app, 0)) figure_act(app, app->focus, ACT_ENTER);
        break;
    case TUI_KEY_PAGE_UP:
        scroll(app, 1 - app->body_rows);
        break;
    case ' ':
    case TUI_KEY_PAGE_DOWN:
        scroll(app, app->body_rows - 1);
        break;
    case 12:
        tui_screen_redraw();
        break; /* Ctrl-L */
    default:
        letter(app, key);
    }
}

int app_run(tui_app *app)
{
    app->focus = (tui_id){CONTROL_TITLE, 0, 0};
    app->moved = true;
    while (!app->quit) {
        lay_out(app);
        if (app->picture.lost) app_notice(app, "There is no memory to show all of this section.");
        follow_focus(app);
        app->moved = true;
        draw(app);
        const int key = tui_screen_key();
        if (key == TUI_KEY_END_INPUT) break;
        if (key == TUI_KEY_RESIZE) continue;
        if (!app->field.open) app->notice[0] = 0;
        if (app->field.open)
            key_in_field(app, key);
        else if (app->help)
            key_in_help(app, key);
        else
            key_in_lesson(app, key);
    }
    return CLI_DONE;
}
