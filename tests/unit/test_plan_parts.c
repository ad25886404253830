/* SPDX-License-Identifier: MIT */
/* test_plan_parts.c - what a plan decides, looked at from inside: masks as key ranges, tiles and items
 * that cover every row once, a workspace within 2 MiB a thread, the choice of kernels, the fold tree.
 *
 * The tree runs on kernels that write down what they fold instead of computing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cpu/cpu.h"
#include "kernel/kernels.h"
#include "mask/mask.h"
#include "plan/nodes.h"
#include "plan/plan.h"
#include "plan/tile.h"
#include "run/run.h"
#include "run/tree.h"

/* ---- masks ----------------------------------------------------------------------------------- */

static void causal_rows(void **state)
{
    (void)state;
    static const int64_t far = INT64_C(1) << 62;
    static const int64_t offsets[] = {-(INT64_C(1) << 62), -9, -3, -1, 0, 1, 4, 9,
                                      INT64_C(1) << 62};
    for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++) {
        for (int64_t keys = 0; keys < 8; keys++) {
            const qkvi_mask m = {.use = QKV_USE_CAUSAL, .keys = keys, .shift = offsets[o]};
            for (int64_t i = 0; i < 8; i++) {
                const qkvi_range r = qkvi_mask_row(&m, i);
                assert_true(0 <= r.lo && r.lo <= r.hi && r.hi <= keys);
                for (int64_t j = 0; j < keys; j++) {
                    assert_true((j >= r.lo && j < r.hi) == (j <= i + offsets[o]));
                }
            }
        }
    }
    /* no causal bit: everything, whatever the offset says */
    const qkvi_mask none = {.keys = 7, .shift = -far};
    assert_int_equal(qkvi_mask_row(&none, 3).hi, 7);
    /* the last row that a tensor can have, at the last offset */
    const qkvi_mask last = {.use = QKV_USE_CAUSAL, .keys = INT64_C(1) << 59, .shift = far};
    assert_true(qkvi_mask_row(&last, INT64_C(1) << 60).hi == INT64_C(1) << 59);
}

static void tiles_say_none_all_or_some(void **state)
{
    (void)state;
    uint32_t seed = 9;
    int kinds[3] = {0, 0, 0};
    for (int t = 0; t < 20000; t++) {
        qkvi_range rows[5];
        int32_t lo[5], hi[5];
        seed = seed * 1664525 + 1013904223;
        const int64_t n = 1 + (seed >> 8) % 5, key = 128 * ((seed >> 12) % 4);
        const int32_t keys = 1 + (int32_t)((seed >> 16) % 128);
        int any = 0, all = 1;
        for (int64_t r = 0; r < n; r++) {
            seed = seed * 1664525 + 1013904223;
            rows[r].lo = (seed >> 5) % 3 ? 0 : (seed >> 8) % 600;
            rows[r].hi = rows[r].lo + ((seed >> 5) % 5 ? (int64_t)((seed >> 12) % 700) : 0);
            for (int32_t j = 0; j < keys; j++) {
                const int live = key + j >= rows[r].lo && key + j < rows[r].hi;
                any |= live;
                all &= live;
            }
        }
        const qkvi_extent extent = qkvi_mask_extent(rows, n);
        const qkvi_tile_kind kind = qkvi_mask_tile(rows, n, &extent, key, keys, lo, hi);
        kinds[kind]++;
        assert_int_equal(kind, !any ? QKVI_TILE_NONE : all ? QKVI_TILE_ALL : QKVI_TILE_SOME);
        for (int64_t r = 0; r < n && kind == QKVI_TILE_SOME; r++) {
            assert_true(lo[r] >= 0 && hi[r] <= keys);
            for (int32_t j = 0; j < keys; j++) {
                const int live = key + j >= rows[r].lo && key + j < rows[r].hi;
                assert_true((j >= lo[r] && j < hi[r]) == live);
            }
        }
    }
    for (int k = 0; k < 3; k++) assert_true(kinds[k] > 100);
}

/* ---- tiles, items, workspace ----------------------------------------------------------------- */

static qkv_params params_of(int32_t isa, int32_t dtype, int64_t b, int64_t h, int64_t sq,
                            int64_t sk, int64_t d, int64_t dv)
{
    qkv_params p = qkv_params_init();
    p.isa = isa;
    p.q = qkv_shape_dense(dtype, b, h, sq, d);
    p.k = qkv_shape_dense(dtype, b, h, sk, d);
    p.v = qkv_shape_dense(dtype, b, h, sk, dv);
    p.out = qkv_shape_dense(dtype, b, h, sq, dv);
    return p;
}

static qkv_plan *plan_of(const qkv_params *p)
{
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    return plan;
}

static void items_cover_every_row_once(void **state)
{
    (void)state;
    static const int64_t rows[] = {0, 1, 5, 16, 47, 48, 49, 191, 192, 193, 256, 1000};
    static const int64_t dims[] = {1, 64, 500, 4000};
    for (int32_t i = -1; i < qkvi_kernels_count(); i++) {
        const int32_t isa = i < 0 ? QKV_ISA_REFERENCE : qkvi_kernels_at(i)->id;
        if (i >= 0 && !qkv_isa_usable(isa)) continue;
        for (int c = 0; c < 12 * 4; c++) {
            const int64_t n = rows[c % 12];
            const qkv_params x =
                params_of(isa, c % 2 ? QKV_F64 : QKV_F32, 2, 3, n, 5, dims[c / 12], dims[c / 12]);
            qkv_plan *const p = plan_of(&x);
            unsigned char *const seen = calloc((size_t)(6 * n) + 1, 1);
            for (int tap = 0; tap < 2; tap++) {
                qkv_tap t = qkv_tap_init();
                qkvi_job job = {.plan = p, .tap = tap ? &t : NULL};
                qkvi_job_choose(&job);
                int64_t last = -1;
                for (int64_t item = 0; item < qkvi_items(&job); item++) {
                    const qkvi_place at = qkvi_item_place(&job, item);
                    assert_true(at.rows >= 1 && at.rows <= p->item_rows);
                    assert_true(at.batch < 2 && at.head + job.heads <= 3 && at.row + at.rows <= n);
                    const int64_t first = (at.batch * 3 + at.head) * n + at.row;
                    if (tap) assert_true(first > last); /* with a tap they ascend */
                    last = first;
                    for (int64_t r = 0; r < at.rows * job.heads; r++) seen[first + r]++;
                }
            }
            for (int64_t r = 0; r < 6 * n; r++) assert_int_equal(seen[r], 2);
            assert_true(p->item_rows % p->tile_rows == 0);
            assert_true(p->item_tiles <= QKVI_ITEM_TILES);
            free(seen);
            qkv_plan_destroy(p);
        }
    }
}

static void the_workspace_stays_small(void **state)
{
    (void)state;
    for (int32_t i = 0; i < qkvi_kernels_count(); i++) {
        const int32_t isa = qkvi_kernels_at(i)->id;
        if (!qkv_isa_usable(isa)) continue;
        for (int64_t d = 1; d <= 256; d += d < 8 ? 1 : 31) {
            for (int64_t dv = 1; dv <= 256; dv += d < 8 ? 51 : 51) {
                for (int levels = 0; levels < 17; levels += 8) {
                    for (int how = 0; how < 8; how++) {
                        qkv_params x = params_of(isa, how & 1 ? QKV_F64 : QKV_F32, 1, 2, 500,
                                                 INT64_C(4096) << levels, d, dv);
                        memset(x.k.stride, 0, sizeof x.k.stride); /* one key, many times */
                        memset(x.v.stride, 0, sizeof x.v.stride);
                        x.k.stride[3] = x.v.stride[3] = how & 2 ? 2 : 1;
                        if (how & 4) {
                            x.use |= QKV_USE_MASK | QKV_USE_BIAS | QKV_USE_DROPOUT;
                            x.dropout = 0.5;
                            x.mask = qkv_shape_dense(QKV_BOOL, 1, 1, 500, x.k.dim[2]);
                            x.bias = qkv_shape_dense(QKV_F16, 1, 1, 500, x.k.dim[2]);
                            if (how & 2) x.k.dtype = x.v.dtype = how & 1 ? QKV_F32 : QKV_F16;
                        }
                        qkv_plan *const p = plan_of(&x);
                        if (qkv_plan_workspace(p) > (size_t)2 << 20) {
                            fail_msg("%s, d %d, d_v %d, 4096 << %d keys, %d: %zu bytes",
                                     p->kernels->name, (int)d, (int)dv, levels, how,
                                     qkv_plan_workspace(p));
                        }
                        qkv_plan_destroy(p);
                    }
                }
            }
        }
    }
}

static void tasks_are_bounded(void **state)
{
    (void)state;
    qkv_params x = params_of(QKV_ISA_BEST, QKV_F32, 1, 5, 10, 10, 8, 8);
    x.max_threads = 4;
    qkv_plan *const p = plan_of(&x);
    assert_int_equal(p->items, 5);
    assert_int_equal(qkvi_plan_tasks(p, 1), 1);
    assert_int_equal(qkvi_plan_tasks(p, 3), 3);
    assert_int_equal(qkvi_plan_tasks(p, 4), 4);
    assert_int_equal(qkvi_plan_tasks(p, 100), 4);
    qkv_plan_destroy(p);
    x.max_threads = 64;
    qkv_plan *const q = plan_of(&x);
    assert_int_equal(qkvi_plan_tasks(q, 64), 5);
    qkv_plan_destroy(q);
}

/* ---- which kernels --------------------------------------------------------------------------- */

static void the_best_kernels_meet_their_needs(void **state)
{
    (void)state;
    assert_int_equal(qkvi_kernels_best(0)->id, QKV_ISA_SCALAR);
    assert_int_equal(qkvi_kernels_best(QKVI_CPU_AVX2)->id, QKV_ISA_SCALAR); /* FMA is missing */
    assert_int_equal(qkvi_kernels_best(QKVI_CPU_FMA)->id, QKV_ISA_SCALAR);
    for (uint32_t cpu = 0; cpu < 8; cpu++) {
        const qkvi_kernels *const k = qkvi_kernels_best(cpu);
        assert_int_equal(k->needs & ~cpu, 0);
        assert_int_not_equal(k->id, QKV_ISA_WIDE16); /* by name only */
        for (int32_t i = 0; i < qkvi_kernels_count(); i++) {
            const qkvi_kernels *const other = qkvi_kernels_at(i);
            if (other->id == k->id) break; /* the rest of the list is faster */
            (void)other;
        }
    }
    for (int32_t i = 0; i < qkvi_kernels_count(); i++) {
        const qkvi_kernels *const k = qkvi_kernels_at(i);
        assert_ptr_equal(qkvi_kernels_by_id(k->id), k);
        assert_string_equal(qkv_isa_name(k->id), k->name);
        for (int32_t j = 0; j < i; j++) {
            /* tables have functions of their own */
            assert_true(k->f32.score != qkvi_kernels_at(j)->f32.score);
            assert_true(k->f64.blend != qkvi_kernels_at(j)->f64.blend);
            assert_true(k->f32.weigh != qkvi_kernels_at(j)->f32.weigh);
        }
    }
    assert_null(qkvi_kernels_by_id(0));
    assert_null(qkvi_kernels_by_id(-1));
    assert_null(qkvi_kernels_by_id(99));
}

/* ---- the fold tree --------------------------------------------------------------------------- */

/* A node's memory begins with its number here; a fold makes a text of its two sides. */
enum { TEXTS = 4096, TEXT_SIZE = 512 };
static char texts[TEXTS][TEXT_SIZE];
static int32_t texts_used;

static void fold_texts(void *oa, void *ma, void *la, const void *ob, const void *mb, const void *lb,
                       int64_t dv, int64_t width)
{
    (void)ma, (void)la, (void)mb, (void)lb, (void)dv, (void)width;
    const int32_t a = *(int32_t *)oa, b = *(const int32_t *)ob;
    assert_true(texts_used < TEXTS);
    char sum[TEXT_SIZE];
    snprintf(sum, TEXT_SIZE, "(%.250s %.250s)", texts[a], texts[b]);
    memcpy(texts[texts_used], sum, TEXT_SIZE);
    *(int32_t *)oa = texts_used++;
}

typedef struct nodes_seen {
    char text[TEXT_SIZE];
} nodes_seen;

static void see_node(void *ctx, const qkv_plan *plan, const qkvi_tile *tile, void *node)
{
    nodes_seen *const n = ctx;
    const size_t used = strlen(n->text);
    (void)plan, (void)tile;
    snprintf(n->text + used, TEXT_SIZE - used, "%s ", texts[*(int32_t *)node]);
}

/* Rule 9 written as it reads: node (k, i) is (k-1, 2i) folded with (k-1, 2i+1); a side that is not
 * there is skipped. Appends to out; returns whether there is anything. */
static int tree_text(int32_t k, int64_t i, int64_t spans, uint64_t dead, char *out)
{
    char left[TEXT_SIZE] = "", right[TEXT_SIZE] = "";
    if (k == 0) {
        if (i >= spans || dead >> i & 1) return 0;
        sprintf(out, "%d", (int)i);
        return 1;
    }
    const int has_left = tree_text(k - 1, 2 * i, spans, dead, left);
    const int has_right = tree_text(k - 1, 2 * i + 1, spans, dead, right);
    if (has_left && has_right) {
        snprintf(out, TEXT_SIZE, "(%.250s %.250s)", left, right);
    } else {
        strcpy(out, has_left ? left : right);
    }
    return has_left || has_right;
}

typedef struct tree_rig {
    qkv_plan *plan;
    qkvi_ops ops;
    qkvi_tile tile;
    char mem[QKVI_MAX_LEVELS + 1][1024];
} tree_rig;

static void rig_start(tree_rig *r, int64_t spans)
{
    memset(r, 0, sizeof *r);
    const qkv_params x =
        params_of(QKV_ISA_SCALAR, QKV_F32, 1, 1, 1, spans * 4096 > 0 ? spans * 4096 - 7 : 0, 1, 1);
    qkv_params y = x;
    memset(y.k.stride, 0, sizeof y.k.stride);
    memset(y.v.stride, 0, sizeof y.v.stride);
    r->plan = plan_of(&y);
    assert_int_equal(r->plan->spans, spans);
    r->ops = *r->plan->ops;
    r->ops.fold = fold_texts;
    r->plan->ops = &r->ops;
    r->tile.rows = r->tile.vectors = 1;
    r->tile.work = r->mem[0];
    for (int32_t l = 0; l < r->plan->levels; l++) r->tile.node[l] = r->mem[l + 1];
    texts_used = 0;
}

static void rig_push(tree_rig *r, int64_t span, int64_t begin, nodes_seen *seen)
{
    snprintf(texts[texts_used], TEXT_SIZE, "%d", (int)span);
    *(int32_t *)r->tile.work = texts_used++;
    qkvi_tree_push(r->plan, &r->tile, 0, span, begin, see_node, seen);
}

static void spans_fold_as_the_rule_says(void **state)
{
    (void)state;
    static tree_rig r;
    uint32_t seed = 1;
    for (int t = 0; t < 3000; t++) {
        seed = seed * 1664525 + 1013904223;
        const int64_t spans = t < 40 ? t : 1 + (int64_t)((seed >> 10) % 40);
        /* spans before and after a range are missing, or any at all */
        uint64_t dead = 0;
        seed = seed * 1664525 + 1013904223;
        const int64_t from = (seed >> 10) % 40, to = from + (seed >> 20) % 40;
        for (int64_t i = 0; i < spans && t >= 40; i++) {
            seed = seed * 1664525 + 1013904223;
            if (t % 2 ? i < from || i >= to : (seed >> 12) % 3 == 0) dead |= UINT64_C(1) << i;
        }
        rig_start(&r, spans);
        nodes_seen seen = {""};
        for (int64_t i = 0; i < spans; i++) {
            if (dead >> i & 1)
                qkvi_tree_skip(r.plan, &r.tile, i);
            else
                rig_push(&r, i, 0, &seen);
        }
        char want[TEXT_SIZE] = "";
        const int any = tree_text(7, 0, spans, dead, want);
        assert_int_equal(qkvi_tree_close(r.plan, &r.tile), any);
        if (any) assert_string_equal(texts[*(int32_t *)r.tile.work], want);
        assert_string_equal(seen.text, "");
        qkv_plan_destroy(r.plan);
    }
}

/* The largest nodes inside [from, to), in key order (docs/numerics.md, Partials). */
static void partial_text(int64_t spans, int64_t from, int64_t to, char *out)
{
    out[0] = '\0';
    while (from < to) {
        int32_t level = 0;
        for (int32_t k = 1; k < 7; k++) {
            const int64_t size = INT64_C(1) << k;
            const int64_t end = from + size < spans ? from + size : spans;
            if (from % size == 0 && end <= to && end - from > INT64_C(1) << level) level = k;
        }
        char one[TEXT_SIZE] = "";
        tree_text(level, from >> level, spans, 0, one);
        strcat(out, one);
        strcat(out, " ");
        from += INT64_C(1) << level;
    }
}

static void partials_hold_the_largest_nodes(void **state)
{
    (void)state;
    static tree_rig r;
    for (int64_t spans = 1; spans <= 12; spans++) {
        for (int64_t from = 0; from < spans; from++) {
            for (int64_t to = from + 1; to <= spans; to++) {
                rig_start(&r, spans);
                nodes_seen seen = {""};
                for (int64_t i = from; i < to; i++) rig_push(&r, i, from, &seen);
                if (to < spans) {
                    qkvi_tree_flush(r.plan, &r.tile, see_node, &seen);
                } else if (qkvi_tree_close(r.plan, &r.tile)) {
                    see_node(&seen, r.plan, &r.tile, r.tile.work);
                }
                char want[TEXT_SIZE];
                partial_text(spans, from, to, want);
                if (strcmp(seen.text, want) != 0) {
                    fail_msg("spans %d of %d..%d: \"%s\", wanted \"%s\"", (int)spans, (int)from,
                             (int)to, seen.text, want);
                }
                int64_t nodes = 0;
                int depth = 0;
                for (const char *c = want; *c; c++) {
                    depth += (*c == '(') - (*c == ')');
                    nodes += *c == ' ' && depth == 0;
                }
                assert_int_equal(qkvi_plan_nodes(r.plan, from, to), nodes);
                qkv_plan_destroy(r.plan);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causal_rows),
        cmocka_unit_test(tiles_say_none_all_or_some),
        cmocka_unit_test(items_cover_every_row_once),
        cmocka_unit_test(the_workspace_stays_small),
        cmocka_unit_test(tasks_are_bounded),
        cmocka_unit_test(the_best_kernels_meet_their_needs),
        cmocka_unit_test(spans_fold_as_the_rule_says),
        cmocka_unit_test(partials_hold_the_largest_nodes),
    };
    return cmocka_run_group_tests_name("plan_parts", tests, NULL, NULL);
}
