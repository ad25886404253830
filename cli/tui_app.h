/* SPDX-License-Identifier: MIT */
/* tui_app.h - the lesson on the screen: the state, what of it is shown, and what each control does.
 *
 * A picture is made from the state alone: app_compute() fills the values, the blocks and figures
 * write documents, app_draw() shows them. A key changes the state through app_act() or the field,
 * and the next picture follows. Every number shown is a string that lesson/ made.
 */
#ifndef QKV_CLI_TUI_APP_H
#define QKV_CLI_TUI_APP_H

#include "cli/tui.h"
#include "lesson/compose.h"
#include "lesson/course.h"
#include "lesson/state.h"

/* What a target is: tui_id.kind. row and column are the control's own. */
typedef enum tui_control {
    CONTROL_NONE = 0,
    CONTROL_TITLE,     /* the section: left and right turn the pages */
    CONTROL_REFRESHER, /* row: as of CONTROL_DETAILS */
    CONTROL_DETAILS,   /* row: which of the section's; opens and closes */
    CONTROL_TOKEN,     /* column: the token */
    CONTROL_STAGE,     /* column: the stage */
    CONTROL_STEP,      /* column 0 Back, 1 Next */
    CONTROL_CELL,      /* row, column: see tui_calculator.c */
    CONTROL_RESTORE,   /* column 0: the lesson's numbers, 1 ... 3: Q, K, V from X W again */
    CONTROL_PREDICT,   /* column: an answer */
    CONTROL_SHARPNESS,
    CONTROL_ASK,     /* column: a number of the query, in the soft lookup */
    CONTROL_PART,    /* column: a part of the formula */
    CONTROL_PROJECT, /* row: token; column: matrix * STATE_CHANNELS + channel */
    CONTROL_BLEND,
    CONTROL_NUDGE,
    CONTROL_CHANNELS, /* d_k of the samples */
    CONTROL_SAMPLE,   /* another sample */
    CONTROL_LANGUAGE, /* column 0 NumPy, 1 C */
    CONTROL_PROGRAM,
    CONTROL_CODE,    /* row: a line of the listing */
    CONTROL_LARGE,   /* scores times 1000, off and on */
    CONTROL_ANSWER,  /* row: question, column: option */
    CONTROL_QUIZ,    /* column 0: the question before, 1: the next one */
    CONTROL_RECALL,  /* row 0: the text; 1: hint; 2: check */
    CONTROL_CHECK,   /* row: a point of the self-check */
    CONTROL_POINT,   /* row: a point to lock in: goes to the stage that proves it */
    CONTROL_TEACHER, /* row: a question for a teacher: opens its answer */
    CONTROL_SECTION, /* column 0: the section before, 1: the next one */
    CONTROL_KINDS
} tui_control;

typedef enum tui_act {
    ACT_FOCUS, /* the focus moved here by an arrow, inside its group */
    ACT_ENTER,
    ACT_LESS, /* left, or minus */
    ACT_MORE  /* right, or plus */
} tui_act;

enum { TUI_UNDO = 50, TUI_OPEN = 24, TUI_QUESTIONS = 16, TUI_STAGES = 5, TUI_NAME = 10 };

typedef struct tui_app {
    tui_means means;
    int digits;
    tui_pool picture, kept; /* of one picture; of the state */
    lesson_face face;       /* width: of the document that is being written */
    lesson_state state;
    lesson_input in;
    lesson_stages stages;
    bool computed; /* in and stages are those of the state */

    int rows, columns;     /* of the screen */
    bool beside;           /* two documents side by side */
    tui_doc text, figures; /* figures: empty unless beside */
    int text_left, text_top, figures_left, figures_top, body_top, body_rows;
    tui_id focus;
    bool moved; /* by the last key, other than by scrolling: the view follows the focus */

    tui_field field;
    tui_id field_of;
    char field_label[128];
    lesson_trouble trouble; /* beside the field */
    char notice[600];       /* one line above the footer, until the next key */
    bool help;
    int help_top;

    char *undo[TUI_UNDO]; /* texts of states, oldest first */
    int undo_count, undo_at;

    bool open[STATE_SECTIONS][TUI_OPEN]; /* details that are open */
    int8_t predicted[TUI_STAGES];        /* the answer given before a stage, -1: none */
    int8_t answered[TUI_QUESTIONS];      /* the option chosen, -1: none */
    bool checked[TUI_OPEN];              /* points of the self-check */
    int hints;                           /* of the recall exercise, so many are shown */
    bool program;                        /* the whole program is shown */
    bool nudged;                         /* the blend figure shows the change */
    bool recall_shown;                   /* the self-check is open */
    char recall[TUI_FIELD_BYTES];        /* what was typed */
    bool plain;                          /* sentences instead of figures, everything open */
    bool quit;
} tui_app;

/* ---- tui_app.c: the loop --------------------------------------------------------------------- */

/* Runs until the reader leaves; the terminal is sane again. An exit code. */
int app_run(tui_app *app);
void app_notice(tui_app *app, const char *text);

/* ---- tui_state.c: changes of the state ------------------------------------------------------- */

/* Starts the state from its text (NULL: the lesson's start). An exit code; a message was printed. */
int app_open(tui_app *app, const char *state_text);
void app_close(tui_app *app);
/* Everything the picture needs from the state; false without memory. */
bool app_compute(tui_app *app);
/* Remembers the state before a change of numbers, so that undo can return to it. */
void app_remember(tui_app *app);
bool app_undo(tui_app *app);
bool app_redo(tui_app *app);
void app_go(tui_app *app, int section);
/* The whole state as text; NULL without memory. The caller frees it. */
char *app_state_text(const tui_app *app);

/* ---- tui_blocks.c: a section as documents ---------------------------------------------------- */

/* What part of a section a document takes. */
typedef enum tui_part { PART_ALL, PART_TEXT, PART_FIGURES } tui_part;
void app_write_section(tui_app *app, tui_doc *doc, tui_part part);
void app_write_help(tui_app *app, tui_doc *doc);

/* A sentence of the lesson with its marks, a, b, c filled in; wrapped. */
void say(tui_app *app, tui_doc *doc, int word, int indent, int hang);
void say_with(tui_app *app, tui_doc *doc, tui_style style, int word, const char *a, const char *b,
              const char *c);
/* Fills a paragraph with such a sentence. */
void say_into(tui_app *app, tui_para *para, tui_style style, int word, const char *a, const char *b,
              const char *c);
/* Our own UTF-8 as the face can show it, in the picture's pool. */
const char *own(tui_app *app, const char *utf8);
/* A copy of harmless text there. */
const char *keep(tui_app *app, const char *text);
/* The same of a word of the course, without its marks. */
const char *word_text(tui_app *app, int word);
/* One of several: "[label]" when chosen, else " label ". */
void option(tui_doc *doc, tui_id id, tui_style style, bool chosen, const char *label);
/* Something to press. */
void button(tui_app *app, tui_doc *doc, tui_id id, const char *label);

/* ---- tui_plain.c: line by line --------------------------------------------------------------- */

/* Prints the section of the state, or from there to the end. An exit code. */
int lesson_plain(tui_app *app, bool one_section);
void plain_calculator(tui_app *app, tui_doc *doc);

/* ---- figures: each writes itself, and acts on its controls ----------------------------------- */

void figure_write(tui_app *app, tui_doc *doc, int figure, int argument);
/* True when the state or what is shown has changed. */
bool figure_act(tui_app *app, tui_id id, tui_act act);
/* The text a field starts with when Enter or a digit is pressed there; false: no field. */
bool figure_field(tui_app *app, tui_id id, char *text, size_t size);
/* Takes the field's text; false: app->trouble says what is wrong. */
bool figure_take(tui_app *app, tui_id id, const char *text, size_t bytes);

void calculator_write(tui_app *app, tui_doc *doc);
void token_row(tui_app *app, tui_doc *doc);
/* The number that a CONTROL_CELL is. */
lesson_focus calculator_focus(tui_id id);
/* Sets a key of the state's text, remembered for undo; a refusal becomes a notice. */
bool change(tui_app *app, const char *key, const char *value);
/* The two lookups and the projections (tui_play.c), the blend and the samples (tui_curves.c), the
 * listings and the maximum (tui_code.c), questions and recall (tui_check.c); proofs of the teacher's answers (tui_proof.c). */
void play_write(tui_app *app, tui_doc *doc, int figure);
bool play_act(tui_app *app, tui_id id, tui_act act);
void curves_write(tui_app *app, tui_doc *doc, int figure);
bool curves_act(tui_app *app, tui_id id, tui_act act);
void code_write(tui_app *app, tui_doc *doc, int figure);
bool code_act(tui_app *app, tui_id id, tui_act act);
void check_write(tui_app *app, tui_doc *doc, int figure);
bool check_act(tui_app *app, tui_id id, tui_act act);
void proof_write(tui_app *app, tui_doc *doc, int figure);
/* The view of the present picture, for line functions; its sink takes nothing. */
lesson_view plain_view(tui_app *app, int width);
/* Numbers as text in the picture's pool: rounded, and the shortest that is the number itself. */
const char *shown(tui_app *app, double x);
const char *exact(tui_app *app, double x);
const char *key_name(tui_app *app, int64_t key);
/* Where what stands behind the names starts, at least there. */
int name_column(tui_app *app, int least);
/* "low -----O---- high": the knob is the target. */
void slider(tui_app *app, tui_doc *doc, tui_id id, const char *low, const char *high, int stop,
            int stops);
/* A line of lesson/, operands in their roles' styles, wrapped. */
void put_line(tui_doc *doc, const lesson_line *line);
void formula_write(tui_app *app, tui_doc *doc);
/* Query, table, output and worked line alone. */
void calculator_table(tui_app *app, tui_doc *doc);
void question_write(tui_app *app, tui_doc *doc, int question);

#endif /* QKV_CLI_TUI_APP_H */
