/* SPDX-License-Identifier: MIT */
/* call_view.c - calls that show a state and change nothing: the view models of lesson/view_*.c, and
 * the faces of `qkv explain`, byte for byte.
 */
#include "page/page.h"

#include "lesson/figures.h"

typedef struct opened {
    lesson_state *state;
    lesson_input in;
    lesson_stages stages;
    lesson_face face;
    lesson_view view;
} opened;

static void fail(qkv_status status, const char *text)
{
    page_fail(status == QKV_ENOMEM ? "There is no memory for this." : text);
}

/* Reads the state, computes it; NULL after an answer. */
static opened *open_view(page_request *rest)
{
    lesson_trouble trouble;
    qkv_error err = qkv_error_init();
    lesson_state *const state = page_state(rest, &trouble);
    opened *const o = (opened *)page_take(sizeof *o);
    if (state == NULL) return NULL;
    if (o == NULL) {
        fail(QKV_ENOMEM, "");
        return NULL;
    }
    lesson_state_input(state, 0, &o->in);
    const qkv_status status = lesson_run(&o->stages, &o->in, 0, &page_memory, &err);
    if (status != QKV_OK) {
        fail(status, err.text);
        return NULL;
    }
    o->face = page_marked_face;
    o->face.digits = state->digits;
    const lesson_view view = {&o->in, &o->stages, &o->face, &page_answer, &page_memory};
    o->state = state;
    o->view = view;
    return o;
}

typedef qkv_status (*model)(view_json *json, const view_of *of);

static void answer_model(page_request request, model write)
{
    const opened *const o = open_view(&request);
    if (o == NULL) return;
    const view_of of = {o->state, &o->view};
    view_json json;
    page_object(&json, &o->face);
    if (write(&json, &of) != QKV_OK) {
        fail(QKV_ENOMEM, "");
        return;
    }
    view_close(&json, '}');
}

void page_call_calc(page_request request)
{
    answer_model(request, view_calc);
}

void page_call_lookup(page_request request)
{
    answer_model(request, view_lookup);
}

void page_call_project(page_request request)
{
    answer_model(request, view_project);
}

void page_call_blend(page_request request)
{
    answer_model(request, view_blend);
}

void page_call_root(page_request request)
{
    answer_model(request, view_root);
}

void page_call_code(page_request request)
{
    answer_model(request, view_code);
}

void page_call_maximum(page_request request)
{
    answer_model(request, view_maximum);
}

/* ---- the command's faces --------------------------------------------------------------------- */

static void answer_face(page_request request, qkv_status (*write)(const lesson_view *view))
{
    opened *const o = open_view(&request);
    if (o != NULL) o->face.color = 0;
    if (o != NULL && write(&o->view) != QKV_OK) fail(QKV_ENOMEM, "");
}

void page_call_json(page_request request)
{
    answer_face(request, lesson_json);
}

void page_call_plain(page_request request)
{
    answer_face(request, lesson_plain_table);
}

void page_call_predict(page_request request)
{
    answer_model(request, view_predict);
}

void page_call_symmetry(page_request request)
{
    answer_model(request, view_symmetry);
}

static qkv_status program_numpy(const lesson_view *view)
{
    return lesson_program(view, LISTING_NUMPY);
}

static qkv_status program_c(const lesson_view *view)
{
    return lesson_program(view, LISTING_C);
}

void page_call_numpy(page_request request)
{
    answer_face(request, program_numpy);
}

void page_call_c(page_request request)
{
    answer_face(request, program_c);
}

void page_call_csv(page_request request)
{
    answer_face(request, lesson_csv_table);
}

void page_call_svg(page_request request)
{
    answer_face(request, lesson_svg_table);
}
