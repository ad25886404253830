/* SPDX-License-Identifier: MIT */
/* view_check.c - models of "Check and recall": a question with its options and reasons, the prediction
 * before a stage, and the proof that scores without projections are symmetric.
 */
#include "lesson/course.h"
#include "lesson/figures.h"
#include "lesson/quiz.h"
#include "lesson/view.h"

qkv_status view_question(view_json *json, int32_t number, uint32_t seed, const lesson_face *face,
                         const lesson_memory *memory)
{
    lesson_question *const q = (lesson_question *)memory->take(memory->ctx, sizeof *q);
    if (q == NULL) return QKV_ENOMEM;
    if (lesson_question_make(q, number, seed, face) != 0) return QKV_EARG;
    view_integer(json, "number", q->number);
    view_integer(json, "right", q->right);
    view_integer(json, "stage", q->stage);
    view_pieces(json, "text", q->text);
    view_pieces(json, "worked", q->worked);
    view_open(json, "options", '[');
    for (int32_t i = 0; i < q->options; i++) {
        view_open(json, NULL, '{');
        view_pieces(json, "text", q->option[i].text);
        view_pieces(json, "reason", q->option[i].reason);
        view_close(json, '}');
    }
    view_close(json, ']');
    return QKV_OK;
}

/* The question before the stage that comes next, with its answers; nothing where there is none. */
qkv_status view_predict(view_json *json, const view_of *of)
{
    const lesson_input *const in = of->view->in;
    const int stage = in->stage + 1;
    const course_prediction *const p = stage <= 4 ? lesson_prediction(stage) : NULL;
    if (p == NULL) return QKV_OK;
    const int64_t right = lesson_prediction_right(stage, in, of->view->stages);
    if (right < 0) return QKV_OK;
    view_integer(json, "stage", stage);
    view_integer(json, "right", right);
    view_text(json, "question", lesson_word_text((lesson_word)p->question));
    view_open(json, "answers", '[');
    for (int64_t i = 0; i < (p->answers > 0 ? p->answers : in->keys); i++) {
        if (p->answers > 0)
            line_word(json->line, (lesson_word)p->answer[i]);
        else
            line_key(json->line, in, i, LESSON_NAME_COLUMNS);
        view_line(json, NULL);
    }
    view_close(json, ']');
    return QKV_OK;
}

qkv_status view_symmetry(view_json *json, const view_of *of)
{
    const lesson_input *const in = of->view->in;
    const lesson_memory *const memory = of->view->memory;
    const size_t cells = (size_t)in->keys * (size_t)in->keys;
    double *const x = (double *)memory->take(memory->ctx, cells * sizeof *x);
    if (x == NULL) return QKV_ENOMEM;
    project_without(of->state, x);
    view_names(json, in);
    view_table(json, "without", x, in->keys, in->keys, 0);
    view_flag(json, "without_symmetric", project_symmetric(x, in->keys));
    view_table(json, "with", of->view->stages->score, in->keys, in->keys, 0);
    view_flag(json, "with_symmetric", project_symmetric(of->view->stages->score, in->keys));
    return QKV_OK;
}
