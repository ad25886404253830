/* SPDX-License-Identifier: MIT */
/* tui_check.c - the last section's controls: questions with options and reasons, the eight generated
 * ones, and the recall exercise with its hints and its self-check. What was answered lives as long as
 * the lesson runs; nothing is stored.
 */
#include "cli/tui_app.h"
#include "lesson/quiz.h"
#include "lesson/recall.h"

#include <string.h>

_Static_assert((int)TUI_QUESTIONS >= (int)QUIZ_QUESTIONS && (int)TUI_OPEN >= (int)RECALL_POINTS,
               "room for answers");

/* ---- questions ------------------------------------------------------------------------------- */

static void write_option(tui_app *app, tui_doc *doc, const lesson_question *q, int i)
{
    const int given = app->answered[q->number];
    const bool chosen = given == i;
    char text[256];
    const char *const mark = !chosen         ? " "
                             : i == q->right ? (app->face.utf8 ? "✓" : "+")
                                             : (app->face.utf8 ? "✗" : "x");
    tui_para para;
    para_start(&para);
    if (!app->plain) para.id = (tui_id){CONTROL_ANSWER, (int16_t)q->number, (int16_t)i};
    snprintf(text, sizeof text, "%s %d  ", app->plain ? " " : mark, i + 1);
    para_put(&para, chosen ? TUI_STRONG : TUI_NORMAL, text, strlen(text));
    para_put(&para, chosen ? TUI_STRONG : TUI_NORMAL, q->option[i].text, strlen(q->option[i].text));
    para_end(doc, &para, 0, 5);
}

void question_write(tui_app *app, tui_doc *doc, int number)
{
    lesson_question *const q = app->picture.memory.take(&app->picture, sizeof *q);
    if (!q || lesson_question_make(q, number, app->state.quiz_seed, &app->face) != 0) return;
    doc_wrapped(doc, TUI_STRONG, q->text, 0, 0);
    for (int i = 0; i < q->options; i++) write_option(app, doc, q, i);
    const int given = app->answered[number];
    if (given < 0 || given >= q->options || app->plain) return;
    doc_wrapped(doc, given == q->right ? TUI_NORMAL : TUI_ALARM, q->option[given].reason, 2, 2);
    if (given != q->right) return;
    doc_wrapped(doc, TUI_NORMAL, q->worked, 2, 4);
    lesson_line line;
    char stage[LESSON_NUMBER_BYTES];
    lesson_number_integer(stage, q->stage);
    line_start(&line, &app->face);
    line_say(&line, LESSON_W_SEE_STAGE, stage, NULL, NULL);
    doc_to(doc, 2);
    button(app, doc, (tui_id){CONTROL_POINT, (int16_t)(100 + number), (int16_t)q->stage},
           line.text);
    doc_line(doc);
}

/* ---- the generated ones ---------------------------------------------------------------------- */

static int quiz_number(const tui_app *app)
{
    return app->state.quiz_question < QUIZ_LESSON ? QUIZ_LESSON : app->state.quiz_question;
}

static void quiz(tui_app *app, tui_doc *doc)
{
    const int first = app->plain ? QUIZ_LESSON : quiz_number(app);
    const int last = app->plain ? QUIZ_QUESTIONS - 1 : first;
    for (int number = first; number <= last; number++) {
        lesson_line line;
        char place[LESSON_NUMBER_BYTES], all[LESSON_NUMBER_BYTES];
        lesson_number_integer(place, number - QUIZ_LESSON + 1);
        lesson_number_integer(all, QUIZ_GENERATED);
        line_start(&line, &app->face);
        line_say(&line, LESSON_W_QUIZ_NUMBER, place, all, NULL);
        doc_wrapped(doc, TUI_QUIET, line.text, 0, 0);
        question_write(app, doc, number);
        doc_gap(doc);
    }
    if (app->plain) return;
    if (first > QUIZ_LESSON) {
        button(app, doc, (tui_id){CONTROL_QUIZ, 0, 0}, word_text(app, LESSON_W_BACK));
        doc_put(doc, TUI_NORMAL, " ");
    }
    button(app, doc, (tui_id){CONTROL_QUIZ, 0, 1},
           word_text(app, first + 1 < QUIZ_QUESTIONS ? LESSON_W_QUIZ_NEXT : LESSON_W_QUIZ_AGAIN));
    doc_line(doc);
}

static bool act_quiz(tui_app *app, int step)
{
    const int number = quiz_number(app) + (step ? 1 : -1);
    if (number < QUIZ_LESSON) return false;
    if (number < QUIZ_QUESTIONS) {
        app->state.quiz_question = number;
        if (number == QUIZ_LESSON) app->focus.column = 1; /* Back is gone there */
        return true;
    }
    app->state.quiz_seed++;
    app->state.quiz_question = QUIZ_LESSON;
    for (int i = QUIZ_LESSON; i < QUIZ_QUESTIONS; i++) app->answered[i] = -1;
    return true;
}

/* ---- recall ---------------------------------------------------------------------------------- */

static void hints(tui_app *app, tui_doc *doc)
{
    const int all = app->plain ? RECALL_HINTS : app->hints;
    for (int i = 0; i < all && i < RECALL_HINTS; i++) {
        const int word = recall_hint(i);
        if (word >= 0) say(app, doc, word, 2, 2);
    }
}

/* The points of the self-check, and how many the reader ticked. */
static void points(tui_app *app, tui_doc *doc)
{
    int ticked = 0;
    for (int i = 0; i < RECALL_POINTS; i++) {
        const int word = recall_point(i);
        if (word < 0) continue;
        tui_para para;
        para_start(&para);
        if (!app->plain) para.id = (tui_id){CONTROL_CHECK, (int16_t)i, 0};
        const char *const box = app->plain ? "- " : app->checked[i] ? "[x] " : "[ ] ";
        para_put(&para, TUI_NORMAL, box, strlen(box));
        say_into(app, &para, TUI_NORMAL, word, NULL, NULL, NULL);
        para_end(doc, &para, 0, (int)strlen(box));
        ticked += app->checked[i];
    }
    if (app->plain) return;
    lesson_line line;
    char some[LESSON_NUMBER_BYTES], all[LESSON_NUMBER_BYTES];
    lesson_number_integer(some, ticked);
    lesson_number_integer(all, RECALL_POINTS);
    line_start(&line, &app->face);
    line_say(&line, LESSON_W_RECALL_SCORE, some, all, NULL);
    doc_wrapped(doc, TUI_STRONG, line.text, 0, 0);
}

/* What was typed, made harmless; or a line to type on. */
static void typed(tui_app *app, tui_doc *doc)
{
    char text[2 * TUI_FIELD_BYTES];
    say_with(app, doc, TUI_QUIET, LESSON_W_RECALL_WRITE, NULL, NULL, NULL);
    app->face.safe(text, sizeof text, app->recall, strlen(app->recall), 0);
    tui_para para;
    para_start(&para);
    para.id = (tui_id){CONTROL_RECALL, 0, 0};
    const char *const shown_text = text[0] ? text : "____________________";
    para_put(&para, text[0] ? TUI_NORMAL : TUI_QUIET, shown_text, strlen(shown_text));
    para_end(doc, &para, 0, 0);
}

static void recall(tui_app *app, tui_doc *doc)
{
    if (!app->plain) {
        typed(app, doc);
        button(app, doc, (tui_id){CONTROL_RECALL, 1, 0}, word_text(app, LESSON_W_RECALL_HINT));
        doc_put(doc, TUI_NORMAL, " ");
        button(app, doc, (tui_id){CONTROL_RECALL, 2, 0}, word_text(app, LESSON_W_RECALL_COMPARE));
        doc_line(doc);
    }
    hints(app, doc);
    if (app->recall_shown || app->plain) {
        doc_gap(doc);
        points(app, doc);
    }
    doc_gap(doc);
    doc_wrapped(doc, TUI_QUIET,
                "qkv recall asks ten cards, and again after 1, 3, 7, 21 and 60 days.", 0, 0);
}

static bool act_recall(tui_app *app, int what)
{
    if (what == 1 && app->hints < RECALL_HINTS) app->hints++;
    if (what == 2) app->recall_shown = !app->recall_shown;
    return what > 0;
}

/* ---- which ----------------------------------------------------------------------------------- */

void check_write(tui_app *app, tui_doc *doc, int figure)
{
    if (figure == FIGURE_QUIZ)
        quiz(app, doc);
    else
        recall(app, doc);
}

bool check_act(tui_app *app, tui_id id, tui_act act)
{
    if (act != ACT_ENTER) return false;
    switch (id.kind) {
    case CONTROL_ANSWER:
        app->answered[id.row] = (int8_t)id.column;
        return true;
    case CONTROL_QUIZ:
        return act_quiz(app, id.column);
    case CONTROL_RECALL:
        return act_recall(app, id.row);
    case CONTROL_CHECK:
        app->checked[id.row] = !app->checked[id.row];
        return true;
    default:
        return false;
    }
}
