/* SPDX-License-Identifier: MIT */
/* tui_figures.c - which figure writes itself where, and what each control does to the state.
 *
 * A change of numbers is remembered for undo first; a change that the state refuses leaves both as
 * they were, and its sentence stands beside the field. Moves (section, stage, token, cursor) are not
 * changes of numbers and are not undone.
 */
#include "cli/tui_app.h"

#include <stdlib.h>
#include <string.h>

/* ---- changes --------------------------------------------------------------------------------- */

/* After a refusal: the state is the one before, so nothing is to be undone. */
static void forget_last(tui_app *app)
{
    if (app->undo_at == 0) return;
    app->undo_at--;
    app->undo_count = app->undo_at;
    free(app->undo[app->undo_at]);
}

/* Sets a key of the state's text, remembered for undo. */
bool change(tui_app *app, const char *key, const char *value)
{
    lesson_trouble trouble = {.kind = TROUBLE_NONE};
    app_remember(app);
    if (lesson_state_set(&app->state, key, value, strlen(value), &app->kept.memory, &trouble) ==
        QKV_OK)
        return true;
    forget_last(app);
    app_notice(app, trouble.text);
    return false;
}

/* The cell's matrix, row and column of the state; false: not a number that can be typed. */
static bool cell_place(const tui_app *app, tui_id id, char *which, int32_t *row, int32_t *column)
{
    const lesson_focus focus = calculator_focus(id);
    *row = focus.key;
    *column = focus.channel;
    if (focus.kind == FOCUS_QUERY) *row = app->state.token;
    *which = focus.kind == FOCUS_QUERY   ? 'Q'
             : focus.kind == FOCUS_KEY   ? 'K'
             : focus.kind == FOCUS_VALUE ? 'V'
                                         : 0;
    return *which != 0;
}

static double cell_value(const tui_app *app, char which, int32_t row, int32_t column)
{
    const state_matrix *const m = &app->state.qkv[which == 'Q' ? 0 : which == 'K' ? 1 : 2];
    return m->x[(int64_t)row * m->columns + column];
}

static bool edit(tui_app *app, char which, int32_t row, int32_t column, const char *text,
                 size_t bytes, lesson_trouble *trouble)
{
    app_remember(app);
    if (lesson_state_edit(&app->state, which, row, column, text, bytes, &app->kept.memory,
                          trouble) == QKV_OK)
        return true;
    forget_last(app);
    if (trouble->kind == TROUBLE_NONE || trouble->kind == TROUBLE_MEMORY) {
        trouble->kind = TROUBLE_REFUSED;
        snprintf(trouble->text, sizeof trouble->text, "There is no memory for that.");
    }
    return false;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The cell of a control, in whichever figure it stands. */
static bool editable(const tui_app *app, tui_id id, char *which, int32_t *row, int32_t *column)
{
    if (id.kind == CONTROL_CELL) return cell_place(app, id, which, row, column);
    *which = 'Q';
    *row = app->state.token;
    *column = id.column;
    return id.kind == CONTROL_ASK;
}

bool figure_field(tui_app *app, tui_id id, char *text, size_t size)
{
    char which = 0;
    int32_t row = 0, column = 0;
    if (id.kind == CONTROL_RECALL && id.row == 0) {
        snprintf(text, size, "%s", app->recall);
        snprintf(app->field_label, sizeof app->field_label, "Your words:");
        return true;
    }
    if (!editable(app, id, &which, &row, &column)) return false;
    lesson_line line, name;
    line_start(&line, &app->face);
    line_exact(&line, cell_value(app, which, row, column));
    snprintf(text, size, "%s", line.text);
    line_start(&name, &app->face);
    line_key(&name, &app->in, row, LESSON_NAME_COLUMNS);
    static const char *const role[] = {"Query", "Key", "Value"};
    snprintf(app->field_label, sizeof app->field_label, "%s of %.80s, number %d:",
             role[which == 'Q'   ? 0
                  : which == 'K' ? 1
                                 : 2],
             name.text, (int)column + 1);
    return true;
}

bool figure_take(tui_app *app, tui_id id, const char *text, size_t bytes)
{
    char which = 0;
    int32_t row = 0, column = 0;
    if (id.kind == CONTROL_RECALL) {
        snprintf(app->recall, sizeof app->recall, "%s", text);
        return true;
    }
    if (!editable(app, id, &which, &row, &column)) return true;
    return edit(app, which, row, column, text, bytes, &app->trouble);
}

/* ---- acts ------------------------------------------------------------------------------------ */

static bool step_cell(tui_app *app, tui_id id, double by)
{
    char which = 0;
    int32_t row = 0, column = 0;
    if (!editable(app, id, &which, &row, &column)) return false;
    lesson_line line;
    lesson_trouble trouble = {.kind = TROUBLE_NONE};
    line_start(&line, &app->face);
    line_exact(&line, cell_value(app, which, row, column) + by);
    if (edit(app, which, row, column, line.text, line.n, &trouble)) return true;
    app_notice(app, trouble.text);
    return false;
}

static bool set_stage(tui_app *app, int stage)
{
    if (stage < 0 || stage > 4 || stage == app->state.stage) return false;
    app->state.stage = stage;
    return true;
}

static bool act_step(tui_app *app, tui_id id)
{
    const int stage = app->state.stage + (id.column ? 1 : -1);
    if (!set_stage(app, stage)) return false;
    /* Back is gone at stage 0, Next at 4: the focus goes to the one that is left */
    if (stage == 0) app->focus.column = 1;
    if (stage == 4) app->focus.column = 0;
    return true;
}

static bool act_token(tui_app *app, int token)
{
    if (token < 0 || token >= app->state.tokens) return false;
    app->state.token = token;
    memset(app->predicted, -1, sizeof app->predicted);
    return true;
}

static bool act_restore(tui_app *app, int what)
{
    app_remember(app);
    const qkv_status status = what == 0
                                  ? lesson_state_lesson_numbers(&app->state, &app->kept.memory)
                                  : lesson_state_reconnect(&app->state, "QKV"[what - 1]);
    if (status != QKV_OK) forget_last(app);
    app->focus = (tui_id){CONTROL_TITLE, 0, 0};
    return status == QKV_OK;
}

static bool act_sharpness(tui_app *app, int by)
{
    const int32_t stop = lesson_sharpness_stop(app->state.choice.temperature) + by;
    if (stop < 0 || stop >= STATE_STOPS) return false;
    lesson_line line;
    line_start(&line, &app->face);
    line_exact(&line, lesson_sharpness(stop));
    return change(app, "T", line.text);
}

static bool act_open(tui_app *app, tui_id id)
{
    bool *const open = &app->open[app->state.section][id.row];
    *open = !*open;
    return true;
}

/* A point's stage, in the calculator. */
static bool act_point(tui_app *app, tui_id id)
{
    app_go(app, SECTION_CALCULATOR);
    set_stage(app, id.column);
    app->focus = (tui_id){CONTROL_STAGE, 0, (int16_t)app->state.stage};
    return true;
}

/* The part of the formula shows its stage in the calculator below. */
static bool act_part(tui_app *app, int part)
{
    const course_part *const p = lesson_formula_part(part);
    return p && set_stage(app, p->stage);
}

bool figure_act(tui_app *app, tui_id id, tui_act act)
{
    const int by = act == ACT_MORE ? 1 : act == ACT_LESS ? -1 : 0;
    const bool enter = act == ACT_ENTER;
    switch (id.kind) {
    case CONTROL_TITLE:
        if (by) app_go(app, app->state.section + by);
        return by != 0;
    case CONTROL_SECTION:
        if (enter) app_go(app, app->state.section + (id.column ? 1 : -1));
        return enter;
    case CONTROL_REFRESHER:
    case CONTROL_DETAILS:
    case CONTROL_TEACHER:
        return enter && act_open(app, id);
    case CONTROL_TOKEN:
        return (enter || act == ACT_FOCUS) && act_token(app, id.column);
    case CONTROL_STAGE:
        return (enter || act == ACT_FOCUS) && set_stage(app, id.column);
    case CONTROL_STEP:
        return enter && act_step(app, id);
    case CONTROL_CELL:
        if (by) return step_cell(app, id, by);
        app->state.focus = calculator_focus(id);
        return true;
    case CONTROL_ASK:
        return by && step_cell(app, id, by);
    case CONTROL_RESTORE:
        return enter && act_restore(app, id.column);
    case CONTROL_PREDICT:
        if (enter) app->predicted[id.row] = (int8_t)id.column;
        return enter;
    case CONTROL_SHARPNESS:
        return by && act_sharpness(app, by);
    case CONTROL_PART:
        return act_part(app, id.column);
    case CONTROL_POINT:
        return enter && act_point(app, id);
    default:
        return play_act(app, id, act) || curves_act(app, id, act) || code_act(app, id, act) ||
               check_act(app, id, act);
    }
}

/* ---- which figure ---------------------------------------------------------------------------- */

void figure_write(tui_app *app, tui_doc *doc, int figure, int argument)
{
    (void)argument;
    if (!app->computed) {
        doc_wrapped(doc, TUI_ALARM, "There is no memory to show this figure.", 0, 0);
        return;
    }
    switch (figure) {
    case FIGURE_CALCULATOR:
        if (app->plain)
            plain_calculator(app, doc);
        else
            calculator_write(app, doc);
        break;
    case FIGURE_LOOKUP:
    case FIGURE_PROJECT:
        play_write(app, doc, figure);
        break;
    case FIGURE_BLEND:
    case FIGURE_ROOT:
        curves_write(app, doc, figure);
        break;
    case FIGURE_LISTING:
    case FIGURE_MAXIMUM:
        code_write(app, doc, figure);
        break;
    case FIGURE_QUIZ:
    case FIGURE_RECALL:
        check_write(app, doc, figure);
        break;
    default:
        proof_write(app, doc, figure);
    }
}
