/* SPDX-License-Identifier: MIT */
/* test_taps.c - what a tap sees: stages in order, every key once, ascending; weights that sum to 1
 * and give the output; numbers for masked keys in SCALED, -inf in MASKED, +0 in WEIGHT; the result of
 * the run unchanged by looking.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Collects everything, as doubles, and checks the order while it comes. */
typedef struct notebook {
    const prob *p;
    uint32_t stages;
    int32_t x_type; /* what the values are */
    double *seen[6];
    int64_t next; /* values so far of the current (row, stage) */
    int64_t row, calls;
    int32_t stage;
} notebook;

static int64_t length_of(const notebook *n, int32_t stage)
{
    return stage == QKV_STAGE_OUT ? n->p->dv : n->p->sk;
}

static int note(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                const void *x, int64_t count)
{
    notebook *const n = ctx;
    const int64_t r = (batch * n->p->hq + head) * n->p->sq + row;
    assert_in_range(stage, 1, 5);
    assert_true(n->stages & 1u << stage);
    assert_true(batch < n->p->b && head < n->p->hq && row < n->p->sq);
    if (n->calls++ == 0 || r != n->row || stage != n->stage) {
        /* the one before is whole; rows in order, stages in order inside a row */
        if (n->calls > 1) {
            assert_int_equal(n->next, length_of(n, n->stage));
            assert_true(r > n->row || (r == n->row && stage > n->stage));
        }
        n->row = r;
        n->stage = stage;
        n->next = 0;
    }
    assert_int_equal(key, n->next);
    assert_true(count > 0);
    const int64_t len = length_of(n, stage);
    assert_true(key + count <= len);
    for (int64_t i = 0; i < count; i++) {
        n->seen[stage][r * len + key + i] = get_at(x, n->x_type, i);
    }
    n->next += count;
    return 0;
}

static notebook notebook_new(const prob *p, int32_t isa, uint32_t stages)
{
    notebook n = {.p = p, .stages = stages};
    n.x_type = isa == QKV_ISA_REFERENCE ? QKV_F64 : p->dtype;
    for (int32_t s = 1; s <= 5; s++) {
        const size_t count = (size_t)(prob_nlse(p) * length_of(&n, s)) + 1;
        n.seen[s] = malloc(count * sizeof(double));
        assert_non_null(n.seen[s]);
        for (size_t i = 0; i < count; i++) n.seen[s][i] = 12345;
    }
    return n;
}

static void notebook_free(notebook *n)
{
    for (int s = 1; s <= 5; s++) free(n->seen[s]);
}

static answer run_with_tap(const prob *p, int32_t isa, notebook *n)
{
    answer a = prob_run(p, (how){.isa = isa});
    const qkv_params x = prob_params(p, (how){.isa = isa});
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &x, NULL, &e), QKV_OK);
    answer seen = prob_run(p, (how){.isa = isa});
    memset(seen.out, 0x5A, seen.out_bytes);
    memset(seen.lse, 0x5A, seen.lse_bytes);
    qkv_tap tap = qkv_tap_init();
    tap.stages = n->stages;
    tap.row = note;
    tap.ctx = n;
    qkv_run_args r = qkv_run_args_init();
    r.q = p->q;
    r.k = p->k;
    r.v = p->v;
    r.out = seen.out;
    r.lse = seen.lse;
    r.workspace = workspace_new(plan);
    r.workspace_size = qkv_plan_workspace(plan);
    r.tap = &tap;
    if (qkv_run(plan, &r, &e) != QKV_OK) fail_msg("%s", e.text);
    assert_same_answer(&a, &seen, "looking changes nothing, isa %d", (int)isa);
    free(r.workspace);
    qkv_plan_destroy(plan);
    answer_free(&seen);
    return a;
}

static bool live(const prob *p, int64_t row, int64_t key)
{
    return !(p->use & QKV_USE_CAUSAL) || key <= row % p->sq + p->q_offset;
}

static double value_of(const prob *p, int64_t row, int64_t key, int64_t c)
{
    const int64_t b = row / (p->sq * p->hq), h = row / p->sq % p->hq;
    const int64_t kv = b * p->hkv + h / (p->hq / p->hkv);
    return get_at(p->v, p->dtype, (kv * p->sk + key) * p->dv + c);
}

static double score_of(const prob *p, int64_t row, int64_t key)
{
    const int64_t b = row / (p->sq * p->hq), h = row / p->sq % p->hq;
    const int64_t kv = b * p->hkv + h / (p->hq / p->hkv);
    double s = 0;
    for (int64_t c = 0; c < p->d; c++) {
        s += get_at(p->q, p->dtype, row * p->d + c) *
             get_at(p->k, p->dtype, (kv * p->sk + key) * p->d + c);
    }
    return s;
}

static void check_row(const notebook *n, const answer *a, int64_t row, double tolerance)
{
    const prob *const p = n->p;
    const double scale = p->use & QKV_USE_SCALE ? p->scale : 1 / sqrt((double)p->d);
    double sum = 0;
    int64_t seen = 0;
    for (int64_t j = 0; j < p->sk; j++) {
        const double *const at[6] = {NULL,
                                     &n->seen[1][row * p->sk + j],
                                     &n->seen[2][row * p->sk + j],
                                     &n->seen[3][row * p->sk + j],
                                     &n->seen[4][row * p->sk + j],
                                     NULL};
        const double s = score_of(p, row, j);
        if (n->stages & 1u << 1) assert_true(fabs(*at[1] - s) <= tolerance * 8);
        assert_true(fabs(*at[2] - s * scale) <= tolerance * (8 + fabs(s * scale)));
        if (n->stages & 1u << 3) {
            assert_true(*at[3] == (live(p, row, j) ? *at[2] : -(double)INFINITY));
        }
        if (!live(p, row, j)) {
            assert_true(*at[4] == 0 && !signbit(*at[4]));
            continue;
        }
        assert_true(*at[4] >= 0 && *at[4] <= 1);
        const double lse = get_at(a->lse, p->dtype, row);
        assert_true(fabs(*at[4] - exp(s * scale - lse)) <= 8 * tolerance * (1 + fabs(s)));
        sum += *at[4];
        seen++;
    }
    if (seen == 0) return;
    assert_true(fabs(sum - 1) <= tolerance * 4);
    if (seen == 1) assert_true(sum == 1); /* exactly */
    for (int64_t c = 0; c < p->dv; c++) {
        double out = 0;
        for (int64_t j = 0; j < p->sk; j++) {
            const double w = n->seen[4][row * p->sk + j];
            if (w > 0) out += w * value_of(p, row, j, c);
        }
        assert_true(fabs(out - get_at(a->out, p->dtype, row * p->dv + c)) <= tolerance * 4);
        if (n->stages & 1u << 5) {
            assert_true(fabs(out - n->seen[5][row * p->dv + c]) <= tolerance * 4);
        }
    }
}

static void look_at(int32_t isa, int32_t dtype)
{
    const uint32_t stages = isa == QKV_ISA_REFERENCE ? 0x3Eu : 1u << 2 | 1u << 4;
    static const int64_t sizes[][7] = {/* b hq hkv sq sk d dv */
                                       {1, 1, 1, 4, 4, 2, 2},
                                       {1, 4, 2, 3, 130, 9, 5},
                                       {1, 2, 1, 12, 270, 16, 8}};
    for (int i = 0; i < 6; i++) {
        const int64_t *const z = sizes[i / 2];
        prob p = prob_new(dtype, z[0], z[1], z[2], z[3], z[4], z[5], z[6]);
        prob_gen(&p, 21, 22, 23);
        if (i % 2) prob_causal(&p, i == 3 ? -2 : 0);
        if (i == 4) prob_scale(&p, -0.75);
        notebook n = notebook_new(&p, isa, stages);
        answer a = run_with_tap(&p, isa, &n);
        assert_int_equal(n.next, length_of(&n, n.stage)); /* the last one is whole too */
        assert_int_equal(n.row, prob_nlse(&p) - 1);
        for (int64_t row = 0; row < prob_nlse(&p); row++) {
            check_row(&n, &a, row, dtype == QKV_F64 ? 1e-14 : 1e-6);
        }
        answer_free(&a);
        notebook_free(&n);
        prob_free(&p);
    }
}

static void every_stage_is_shown_in_order(void **state)
{
    (void)state;
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    for (int i = 0; i < 2 * n; i++) look_at(isa[i / 2], i % 2 ? QKV_F64 : QKV_F32);
}

/* Only the stages asked for are shown, whichever they are. */
static void only_wanted_stages_are_shown(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 1, 2, 1, 3, 140, 4, 4);
    prob_gen(&p, 1, 2, 3);
    prob_causal(&p, 137);
    for (uint32_t set = 0; set < 64; set += 2) {
        const bool kernels = (set & ~(1u << 2 | 1u << 4)) == 0;
        for (int i = kernels ? 0 : 1; i < 2; i++) {
            const int32_t isa = i ? QKV_ISA_REFERENCE : QKV_ISA_BEST;
            notebook n = notebook_new(&p, isa, set);
            answer a = run_with_tap(&p, isa, &n);
            for (int s = 1; s <= 5; s++) {
                assert_true((n.seen[s][0] == 12345) == !(set & 1u << s));
            }
            answer_free(&a);
            notebook_free(&n);
        }
    }
    prob_free(&p);
}

/* The same weights from every table: bits. */
static void tables_show_the_same_bits(void **state)
{
    (void)state;
    int32_t isa[8];
    const int count = usable_isas(isa);
    for (int t = 0; t < 2; t++) {
        prob p = prob_new(t ? QKV_F64 : QKV_F32, 1, 1, 1, 20, 300, 20, 8);
        prob_gen(&p, 31, 32, 33);
        prob_causal(&p, 100);
        notebook first = notebook_new(&p, isa[0], 1u << 2 | 1u << 4);
        answer a = run_with_tap(&p, isa[0], &first);
        for (int i = 1; i < count; i++) {
            notebook n = notebook_new(&p, isa[i], 1u << 2 | 1u << 4);
            answer b = run_with_tap(&p, isa[i], &n);
            const size_t bytes = (size_t)(prob_nlse(&p) * p.sk) * sizeof(double);
            assert_memory_equal(first.seen[2], n.seen[2], bytes);
            assert_memory_equal(first.seen[4], n.seen[4], bytes);
            answer_free(&b);
            notebook_free(&n);
        }
        answer_free(&a);
        notebook_free(&first);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_is_shown_in_order),
        cmocka_unit_test(only_wanted_stages_are_shown),
        cmocka_unit_test(tables_show_the_same_bits),
    };
    return cmocka_run_group_tests_name("taps", tests, NULL, NULL);
}
