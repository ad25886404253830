/* SPDX-License-Identifier: MIT */
/* view_lab_choice.c - what the lab's controls stand on, what parts the two panels of a comparison, and
 * the proof that a causal mask keeps earlier outputs bit by bit.
 */
#include "lesson/table.h"
#include "lesson/view_lab.h"

static lesson_line *new_line(const lesson_view *view)
{
    return (lesson_line *)view->memory->take(view->memory->ctx, sizeof(lesson_line));
}

static const char *scale_id(const lesson_choice *c)
{
    static const char *const ids[] = {"sqrt", "none", "dk", "times"};
    return ids[c->scale_kind];
}

static const char *mask_id(const lesson_choice *c)
{
    static const char *const ids[] = {"none", "causal", "padding"};
    return ids[c->mask];
}

void view_lab_choice(view_json *json, const char *key, const lesson_choice *choice)
{
    view_open(json, key, '{');
    view_text(json, "scale", scale_id(choice));
    view_exact(json, "times", choice->scale_kind == LESSON_SCALE_VALUE ? choice->scale_value : 1);
    view_text(json, "mask", mask_id(choice));
    view_integer(json, "padding", choice->padding);
    line_integer(json->line, choice->padding);
    view_line(json, "padding_text");
    view_integer(json, "shift", choice->shift);
    view_flag(json, "wrong", choice->wrong_way);
    view_exact(json, "T", choice->temperature);
    view_integer(json, "stop", lesson_sharpness_stop(choice->temperature));
    view_close(json, '}');
}

/* ---- how the two differ -------------------------------------------------------------------------- */

typedef struct difference {
    int scale, temperature, mask, wrong_way;
} difference;

static difference compare(const lesson_choice *a, const lesson_choice *b)
{
    difference d;
    d.scale = a->scale_kind != b->scale_kind ||
              (a->scale_kind == LESSON_SCALE_VALUE && !(a->scale_value == b->scale_value));
    d.temperature = !(a->temperature == b->temperature);
    d.mask = a->mask != b->mask || (a->mask == MASK_CAUSAL && a->shift != b->shift) ||
             (a->mask == MASK_PADDING && a->padding != b->padding);
    d.wrong_way = a->wrong_way != b->wrong_way;
    return d;
}

static void part(lesson_line *line, const char *text)
{
    if (line->n > 0) line_own(line, " · ");
    line_own(line, text);
}

static void line_choice(lesson_line *line, const lesson_choice *c, const difference *d,
                        const lesson_view *view, lesson_line *scratch)
{
    line_start(scratch, view->face);
    if (d->scale || d->temperature) {
        line_scale(scratch, view->in);
        part(line, scratch->text);
    }
    if (d->temperature) {
        line_start(scratch, view->face);
        line_own(scratch, "T = ");
        line_exact(scratch, c->temperature);
        part(line, scratch->text);
    }
    if (d->mask || d->wrong_way) {
        const lesson_word word = c->mask == MASK_CAUSAL    ? LESSON_W_LAB_MASK_CAUSAL
                                 : c->mask == MASK_PADDING ? LESSON_W_LAB_MASK_PADDING
                                                           : LESSON_W_LAB_MASK_NONE;
        line_start(scratch, view->face);
        line_say(scratch, LESSON_W_LAB_PART_MASK, lesson_word_text(word), NULL, NULL);
        part(line, scratch->text);
    }
    if (d->wrong_way)
        part(line,
             lesson_word_text(c->wrong_way ? LESSON_W_LAB_PART_WRONG : LESSON_W_LAB_PART_RIGHT));
}

qkv_status view_lab_difference(view_json *json, const lesson_state *state, const lesson_view *a,
                               const lesson_view *b)
{
    const difference d = compare(&state->choice, &state->other);
    lesson_line *const scratch = new_line(a);
    if (scratch == NULL) return QKV_ENOMEM;
    view_open(json, "parts", '[');
    line_choice(json->line, &state->choice, &d, a, scratch);
    view_line(json, NULL);
    line_choice(json->line, &state->other, &d, b, scratch);
    view_line(json, NULL);
    view_close(json, ']');
    view_integer(json, "changed", d.scale + d.temperature + d.mask + d.wrong_way);
    return QKV_OK;
}

/* ---- earlier outputs ----------------------------------------------------------------------------- */

static int same_bits(const double *a, const double *b, int64_t n)
{
    typedef uint64_t word __attribute__((may_alias));
    const word *const x = (const word *)(const void *)a, *const y = (const word *)(const void *)b;
    for (int64_t i = 0; i < n; i++)
        if (x[i] != y[i]) return 0;
    return 1;
}

static void exact(view_json *json, const char *key, const double *x, int64_t n)
{
    view_open(json, key, '[');
    for (int64_t c = 0; c < n; c++) view_real(json, NULL, x[c]);
    view_close(json, ']');
}

qkv_status view_lab_causal(view_json *json, const lesson_view *before, const lesson_view *after)
{
    const lesson_input *const in = before->in;
    int64_t same = 0;
    view_open(json, "rows", '[');
    for (int64_t i = 0; i < before->stages->rows; i++) {
        const double *const a = before->stages->out + i * in->d_v;
        const double *const b = after->stages->out + i * in->d_v;
        const int equal = same_bits(a, b, in->d_v);
        same += equal;
        view_open(json, NULL, '{');
        view_row(json, "name", in, in->row_begin + i, LAB_NAME_COLUMNS);
        view_line_vector(json->line, a, in->d_v, in->d_v <= 3 ? in->d_v : 2, 0);
        view_line(json, "before");
        view_line_vector(json->line, b, in->d_v, in->d_v <= 3 ? in->d_v : 2, 0);
        view_line(json, "after");
        exact(json, "x", a, in->d_v);
        exact(json, "y", b, in->d_v);
        view_flag(json, "same", equal);
        view_close(json, '}');
    }
    view_close(json, ']');
    view_integer(json, "same", same);
    return QKV_OK;
}
