/* SPDX-License-Identifier: MIT */
/* blend.c - the figure "a blend, not a pick": the query slides from [1,0] to [1,2] past the lesson's
 * own keys, and the output is once the value of the best key, once the blend. The numbers are the
 * lesson's, whatever the reader changed elsewhere: the text beside the figure speaks of them.
 */
#include "lesson/figures.h"
#include "lesson/worked.h"

enum { D = 2 };

static qkv_status make_input(lesson_input *in, const double *x, int64_t count,
                             const lesson_memory *memory)
{
    qkv_error err = qkv_error_init();
    const qkv_status status = lesson_preset(in, memory, &err);
    if (status != QKV_OK) return status;
    double *const q = (double *)memory->take(memory->ctx, (size_t)count * D * sizeof *q);
    if (q == NULL) return QKV_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        q[i * D] = 1;
        q[i * D + 1] = x[i];
    }
    in->q = q;
    in->rows = in->row_end = count;
    in->token = 0;
    return QKV_OK;
}

qkv_status blend_input(lesson_input *in, double x, const lesson_memory *memory)
{
    const qkv_status status = make_input(in, &x, 1, memory);
    in->query_set = 1;
    return status;
}

static void fill(blend_point *p, const lesson_input *in, const lesson_stages *s, int64_t row)
{
    p->picked = 0;
    for (int64_t j = 0; j < in->keys; j++) {
        p->weight[j] = s->weight[row * s->keys + j];
        if (s->score[row * s->keys + j] > s->score[row * s->keys + p->picked]) p->picked = j;
    }
    for (int c = 0; c < D; c++) {
        p->pick[c] = in->v[p->picked * D + c];
        p->blend[c] = s->out[row * D + c];
    }
}

qkv_status blend_points(blend_point *point, const double *x, int64_t count,
                        const lesson_memory *memory)
{
    lesson_input in;
    lesson_stages s;
    qkv_error err = qkv_error_init();
    qkv_status status = make_input(&in, x, count, memory);
    if (status == QKV_OK) status = lesson_run(&s, &in, 0, memory, &err);
    if (status != QKV_OK) return status;
    for (int64_t i = 0; i < count; i++) {
        point[i].x = x[i];
        fill(&point[i], &in, &s, i);
    }
    return QKV_OK;
}

double blend_nudged(double x)
{
    const double hundredths = x * 100;
    const double whole = (double)(int64_t)(hundredths + 0.5);
    const double by = hundredths - whole;
    if (by < 1e-9 && by > -1e-9) return (whole + 10) / 100; /* 1.3 becomes the double 1.4 */
    return x + BLEND_NUDGE;
}

/* At most four decimals, no zeros at the end. */
static void line_short(lesson_line *line, double x)
{
    char text[LESSON_NUMBER_BYTES];
    size_t n = lesson_number_fixed(text, x, 4, lesson_flags(line->face, 0));
    while (n > 0 && text[n - 1] == '0') n--;
    if (n > 0 && text[n - 1] == '.') n--;
    text[n] = 0;
    line_text(line, text);
}

void line_blend_query(lesson_line *line, double x)
{
    line_text(line, "[1,");
    line_short(line, x);
    line_text(line, "]");
}

void line_blend_output(lesson_line *line, const blend_point *point, int blend)
{
    line_vector(line, blend ? point->blend : point->pick, D, D, 0);
}

void line_blend_change(lesson_line *line, const blend_point *from, const blend_point *to, int blend)
{
    line_text(line, "[");
    for (int c = 0; c < D; c++) {
        const double by = blend ? to->blend[c] - from->blend[c] : to->pick[c] - from->pick[c];
        lesson_line number;
        line_start(&number, line->face);
        line_number(&number, by, 0);
        double shown = 0; /* what rounds to 0 has no sign */
        lesson_number_parse(number.text, number.n, &shown, NULL);
        if (c > 0) line_text(line, ",");
        if (shown > 0) line_text(line, "+");
        line_text(line, number.text);
    }
    line_text(line, "]");
}

void line_blend_nudge(lesson_line *line, const blend_point *from, const blend_point *to)
{
    lesson_line pick, blend;
    line_start(&pick, line->face);
    line_start(&blend, line->face);
    line_blend_change(&pick, from, to, 0);
    line_blend_change(&blend, from, to, 1);
    line_say(line, LESSON_W_BLEND_NUDGED, pick.text, blend.text, NULL);
}

void line_blend_work(lesson_line *line, const blend_point *from, const blend_point *to, int blend,
                     int channel)
{
    const lesson_face *const face = line->face;
    const double a = blend ? to->blend[channel] : to->pick[channel];
    const double b = blend ? from->blend[channel] : from->pick[channel];
    const operand result = work_operand(face, a - b, face->digits, 0);
    operand x, y;
    for (int digits = face->digits;; digits++) {
        x = work_operand(face, a, digits, 0);
        y = work_operand(face, b, digits, 0);
        if (digits == ALL_DIGITS || work_gives(face, x.value - y.value, &result, face->digits, 0))
            break;
    }
    work_put(line, &x, 1, 'v');
    line_own(line, " − ");
    work_put(line, &y, 0, 'v');
    line_text(line, " = ");
    line_text(line, result.text);
}

void line_blend_works(lesson_line *line, const blend_point *from, const blend_point *to)
{
    line_word(line, LESSON_W_BLEND);
    line_text(line, ": ");
    line_blend_work(line, from, to, 1, 0);
    line_text(line, "; ");
    line_blend_work(line, from, to, 1, 1);
}
