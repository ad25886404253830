/* SPDX-License-Identifier: MIT */
/* maximum.c - the figure of the code's one new step: softmax with and without subtracting the
 * largest score, on the token's row as it is and times 1,000. Exponentials are the reference's, so
 * the naive form fails here exactly as float64 fails.
 */
#include "lesson/figures.h"
#include "lesson/worked.h"

static void finish(maximum_form *form, const double *x, int64_t n)
{
    form->sum = 0;
    for (int64_t j = 0; j < n; j++) {
        form->e[j] = qkv_ref_exp(x[j] - form->most);
        form->sum += form->e[j];
    }
    form->survives = n > 0;
    for (int64_t j = 0; j < n; j++) {
        form->weight[j] = form->e[j] / form->sum;
        if (!lesson_finite(form->weight[j]) || !lesson_finite(form->sum)) form->survives = 0;
    }
}

qkv_status maximum_make(maximum_figure *f, const lesson_view *view, int large)
{
    const lesson_input *const in = view->in;
    const int64_t n = lesson_seen(in, in->token);
    double **const part[] = {&f->scaled, &f->naive.e, &f->naive.weight, &f->safe.e,
                             &f->safe.weight};
    *f = (maximum_figure){0};
    f->keys = n;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        *part[i] =
            (double *)view->memory->take(view->memory->ctx, (size_t)(n + 1) * sizeof(double));
        if (*part[i] == NULL) return QKV_ENOMEM;
    }
    for (int64_t j = 0; j < n; j++) {
        f->scaled[j] = view->stages->row_scaled[j] * (large ? 1000 : 1);
        if (j == 0 || f->scaled[j] > f->safe.most) f->safe.most = f->scaled[j];
    }
    finish(&f->naive, f->scaled, n);
    finish(&f->safe, f->scaled, n);
    return QKV_OK;
}

void line_maximum_number(lesson_line *line, double x)
{
    if (x != x)
        line_word(line, LESSON_W_MAXIMUM_NO_NUMBER);
    else if (!lesson_finite(x))
        line_word(line, LESSON_W_MAXIMUM_TOO_LARGE);
    else
        line_number(line, x, 0);
}

void line_maximum_verdict(lesson_line *line, const maximum_figure *f, int safe)
{
    lesson_line most;
    if (safe) {
        line_word(line, LESSON_W_MAXIMUM_KEPT);
        return;
    }
    if (f->naive.survives) {
        line_word(line, LESSON_W_MAXIMUM_SAME);
        return;
    }
    if (f->naive.sum == 0) {
        line_word(line, LESSON_W_MAXIMUM_UNDER);
        return;
    }
    line_start(&most, line->face);
    line_number(&most, f->safe.most, LESSON_KEEP_INTEGER);
    line_say(line, LESSON_W_MAXIMUM_LOST, most.text, NULL, NULL);
}

/* "e^0.71" or "e^(0.71 − 2.83)" with the fewest digits that give e as it is printed. */
static void line_power(lesson_line *line, const maximum_form *form, double x, const operand *e,
                       int digits)
{
    const lesson_face *const face = line->face;
    const int shifted = form->most != 0;
    for (int more = face->digits;; more++) {
        const operand a = work_operand(face, x, more, LESSON_KEEP_INTEGER);
        const operand m = work_operand(face, form->most, more, LESSON_KEEP_INTEGER);
        if (more < ALL_DIGITS &&
            !work_gives(face, qkv_ref_exp(shifted ? a.value - m.value : a.value), e, digits, 0))
            continue;
        line_text(line, shifted ? "e^(" : "e^");
        line_text(line, a.text);
        if (!shifted) return;
        line_own(line, " − ");
        work_put(line, &m, 0, 0);
        line_text(line, ")");
        return;
    }
}

void line_maximum_work(lesson_line *line, const maximum_figure *f, int safe, int64_t j)
{
    const maximum_form *const form = safe ? &f->safe : &f->naive;
    const lesson_face *const face = line->face;
    if (j < 0 || j >= f->keys) return;
    if (!form->survives) {
        line_maximum_verdict(line, f, safe);
        return;
    }
    const operand result = work_operand(face, form->weight[j], face->digits, 0);
    operand e, sum;
    int digits = face->digits;
    for (;; digits++) {
        e = work_operand(face, form->e[j], digits, 0);
        sum = work_operand(face, form->sum, digits, 0);
        if (digits == ALL_DIGITS ||
            (sum.value > 0 && work_gives(face, e.value / sum.value, &result, face->digits, 0)))
            break;
    }
    line_power(line, form, f->scaled[j], &e, digits);
    line_text(line, " = ");
    line_text(line, e.text);
    line_text(line, "; ");
    line_text(line, e.text);
    line_own(line, " ÷ ");
    line_text(line, sum.text);
    line_text(line, " = ");
    line_text(line, result.text);
}
