/* SPDX-License-Identifier: MIT */
/* view_blend.c - models of "A blend, not a pick" and "Why divide": curves, bars and bins as geometry,
 * every number that is read as a line of blend.c and root.c.
 */
#include "lesson/figures.h"
#include "lesson/view.h"

enum { CURVE = 81 };

static void outputs(view_json *json, const char *key, const blend_point *at,
                    const blend_point *then, int blend)
{
    view_open(json, key, '[');
    line_blend_output(json->line, at, blend);
    view_line_pieces(json, NULL);
    line_blend_output(json->line, then, blend);
    view_line_pieces(json, NULL);
    line_blend_change(json->line, at, then, blend);
    view_line_pieces(json, NULL);
    view_close(json, ']');
}

static void query_at(view_json *json, const char *key, double x)
{
    line_blend_query(json->line, x);
    view_line_pieces(json, key);
}

static void reals(view_json *json, const char *key, const double *x, int n)
{
    view_open(json, key, '[');
    for (int i = 0; i < n; i++) view_real(json, NULL, x[i]);
    view_close(json, ']');
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
    query_at(json, "from", BLEND_FROM);
    query_at(json, "to", BLEND_TO);
    query_at(json, "here", here);
    query_at(json, "there", then->x);
    view_exact(json, "next", then->x);
    outputs(json, "picks", at, then, 0);
    outputs(json, "blends", at, then, 1);
    line_blend_nudge(json->line, at, then);
    view_line(json, "nudge");
    line_blend_works(json->line, at, then);
    view_line_pieces(json, "work");
    return QKV_OK;
}

/* ---- why divide ------------------------------------------------------------------------------ */

static void row(view_json *json, const char *key, const root_row *r)
{
    view_open(json, key, '{');
    reals(json, "weight", r->weight, ROOT_ROW_KEYS);
    reals(json, "nudged", r->nudged, ROOT_ROW_KEYS);
    view_number(json, "most", r->most, 0);
    view_number(json, "moved", r->moved, 0);
    view_close(json, '}');
}

qkv_status view_root(view_json *json, const view_of *of)
{
    const lesson_memory *const memory = of->view->memory;
    const lesson_state *const s = of->state;
    root_figure *const f = (root_figure *)memory->take(memory->ctx, sizeof *f);
    if (f == NULL) return QKV_ENOMEM;
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
    row(json, "plain", &f->plain);
    row(json, "scaled", &f->scaled);
    line_root_spread(json->line, f);
    view_line_pieces(json, "spread");
    line_root_stuck(json->line, f);
    view_line_pieces(json, "stuck");
    line_root_moved(json->line, f);
    view_line_pieces(json, "moves");
    line_root_work(json->line, f);
    view_line_pieces(json, "work");
    return QKV_OK;
}
