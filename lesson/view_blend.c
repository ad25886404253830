/* SPDX-License-Identifier: MIT */
/* view_blend.c - models of "A blend, not a pick" and "Why divide": curves, bars and bins as geometry,
 * every number that is read as a line of blend.c and root.c.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

enum { CURVE = 81 };

static void outputs(view_json *json, const char *key, const view_of *of, const blend_point *at,
                    const blend_point *then, int blend)
{
    const lesson_face *const face = of->view->face;
    lesson_line line;
    view_open(json, key, '[');
    line_start(&line, face);
    line_blend_output(&line, at, blend);
    view_pieces(json, NULL, line.text);
    line_start(&line, face);
    line_blend_output(&line, then, blend);
    view_pieces(json, NULL, line.text);
    line_start(&line, face);
    line_blend_change(&line, at, then, blend);
    view_pieces(json, NULL, line.text);
    view_close(json, ']');
}

static void query_at(view_json *json, const char *key, const view_of *of, double x)
{
    lesson_line line;
    line_start(&line, of->view->face);
    line_blend_query(&line, x);
    view_pieces(json, key, line.text);
}

qkv_status view_blend(view_json *json, const view_of *of)
{
    const lesson_memory *const memory = of->view->memory;
    const double here = of->state->blend;
    blend_point *const point =
        (blend_point *)memory->take(memory->ctx, (CURVE + 2) * sizeof *point);
    double x[CURVE + 2];
    if (point == NULL) return QKV_ENOMEM;
    for (int i = 0; i < CURVE; i++)
        x[i] = BLEND_FROM + (BLEND_TO - BLEND_FROM) * i / (double)(CURVE - 1);
    x[CURVE] = here;
    x[CURVE + 1] = blend_nudged(here);
    const qkv_status status = blend_points(point, x, CURVE + 2, memory);
    if (status != QKV_OK) return status;
    const blend_point *const at = &point[CURVE], *const then = &point[CURVE + 1];
    view_open(json, "curve", '[');
    for (int i = 0; i < CURVE; i++) view_real(json, NULL, point[i].blend[0]);
    view_close(json, ']');
    view_real(json, "x", here);
    view_real(json, "flip", BLEND_FLIP);
    view_real(json, "before", point[0].pick[0]);
    view_real(json, "after", point[CURVE - 1].pick[0]);
    view_real(json, "pick", at->pick[0]);
    view_real(json, "blend", at->blend[0]);
    query_at(json, "from", of, BLEND_FROM);
    query_at(json, "to", of, BLEND_TO);
    query_at(json, "here", of, here);
    query_at(json, "there", of, then->x);
    lesson_line line;
    line_start(&line, of->view->face);
    line_exact(&line, then->x);
    view_text(json, "next", line.text);
    outputs(json, "picks", of, at, then, 0);
    outputs(json, "blends", of, at, then, 1);
    line_start(&line, of->view->face);
    line_blend_nudge(&line, at, then);
    view_text(json, "nudge", line.text);
    line_start(&line, of->view->face);
    line_blend_works(&line, at, then);
    view_pieces(json, "work", line.text);
    return QKV_OK;
}

/* ---- why divide ------------------------------------------------------------------------------ */

static void row(view_json *json, const char *key, const view_of *of, const root_row *r)
{
    lesson_line line;
    view_open(json, key, '{');
    view_open(json, "weight", '[');
    for (int i = 0; i < ROOT_ROW_KEYS; i++) view_real(json, NULL, r->weight[i]);
    view_close(json, ']');
    view_open(json, "nudged", '[');
    for (int i = 0; i < ROOT_ROW_KEYS; i++) view_real(json, NULL, r->nudged[i]);
    view_close(json, ']');
    line_start(&line, of->view->face);
    line_number(&line, r->most, 0);
    view_text(json, "most", line.text);
    line_start(&line, of->view->face);
    line_number(&line, r->moved, 0);
    view_text(json, "moved", line.text);
    view_close(json, '}');
}

qkv_status view_root(view_json *json, const view_of *of)
{
    const lesson_memory *const memory = of->view->memory;
    const lesson_state *const s = of->state;
    root_figure *const f = (root_figure *)memory->take(memory->ctx, sizeof *f);
    lesson_line *const line = (lesson_line *)memory->take(memory->ctx, sizeof *line);
    if (f == NULL || line == NULL) return QKV_ENOMEM;
    const qkv_status status = root_sample(f, s->root_channels, s->root_seed, s->root_times, memory);
    if (status != QKV_OK) return status;
    view_integer(json, "channels", f->channels);
    view_integer(json, "times", s->root_times);
    view_integer(json, "seed", s->root_seed);
    view_real(json, "root", f->root);
    view_integer(json, "low", ROOT_LOW);
    view_open(json, "bins", '[');
    for (int i = 0; i < ROOT_BINS; i++) view_integer(json, NULL, f->bin[i]);
    view_close(json, ']');
    row(json, "plain", of, &f->plain);
    row(json, "scaled", of, &f->scaled);
    line_start(line, of->view->face);
    line_root_spread(line, f);
    view_pieces(json, "spread", line->text);
    line_start(line, of->view->face);
    line_root_stuck(line, f);
    view_pieces(json, "stuck", line->text);
    line_start(line, of->view->face);
    line_root_moved(line, f);
    view_pieces(json, "moves", line->text);
    line_start(line, of->view->face);
    line_root_work(line, f);
    view_pieces(json, "work", line->text);
    return QKV_OK;
}
