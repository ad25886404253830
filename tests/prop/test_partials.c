/* SPDX-License-Identifier: MIT */
/* test_partials.c - keys in pieces, folded to the bits of one run: ranges that end at any multiples
 * of 4,096, parts in any order, from different tables and task counts, dead and NaN rows, two to
 * seven spans.
 */
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 8 };

typedef struct pieces {
    qkv_partial part[MOST_PARTS];
    int n;
} pieces;

/* Cuts [0, sk) at random multiples of 4,096. */
static pieces cut(rng *r, int64_t sk)
{
    pieces p = {.n = 0};
    for (int64_t at = 0; at < sk;) { /* no keys: no parts */
        const int64_t spans = (sk - at + 4095) / 4096;
        const int64_t take = p.n == MOST_PARTS - 1 ? spans : rng_range(r, 1, spans);
        qkv_partial *const x = &p.part[p.n++];
        *x = qkv_partial_init();
        x->key_begin = at;
        x->key_end = at + take * 4096 < sk ? at + take * 4096 : sk;
        at = x->key_end;
    }
    return p;
}

static void shuffle(rng *r, pieces *p)
{
    for (int i = p->n - 1; i > 0; i--) {
        const int j = (int)rng_range(r, 0, i);
        const qkv_partial swap = p->part[i];
        p->part[i] = p->part[j];
        p->part[j] = swap;
    }
}

typedef struct session {
    qkv_plan *plan;
    qkv_run_args args;
    int32_t threads;
} session;

static session session_new(const prob *p, int32_t isa, int32_t threads)
{
    session s = {0};
    const qkv_params x = prob_params(p, (how){.isa = isa, .threads = threads});
    qkv_error e = qkv_error_init();
    if (qkv_plan_create(&s.plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    s.threads = threads;
    s.args = qkv_run_args_init();
    s.args.q = p->q;
    s.args.k = p->k;
    s.args.v = p->v;
    s.args.workspace = workspace_new(s.plan);
    s.args.workspace_size = qkv_plan_workspace(s.plan);
    return s;
}

static void session_free(session *s)
{
    free(s->args.workspace);
    qkv_plan_destroy(s->plan);
}

/* Each part from a table and a thread count of its own; finished by yet another. */
static answer in_pieces(const prob *p, rng *r, pieces *c, size_t misalign)
{
    int32_t isa[8];
    const int n = usable_isas(isa);
    qkv_error e = qkv_error_init();
    void *mem[MOST_PARTS];
    for (int i = 0; i < c->n; i++) {
        int32_t id = isa[rng_range(r, 0, n - 1)];
        if (prob_work(p) > work_limit(id, p->dtype)) id = QKV_ISA_BEST;
        session s = session_new(p, id, (int32_t)rng_range(r, 1, 3));
        executor each;
        executor_init(&each, EXEC_BACKWARDS, s.threads);
        s.args.threads = &each.threads;
        qkv_partial *const x = &c->part[i];
        x->data_size = qkv_partial_size(s.plan, x->key_begin, x->key_end);
        mem[i] = malloc(x->data_size + misalign + 1);
        assert_non_null(mem[i]);
        memset(mem[i], 0xA5, x->data_size + misalign + 1);
        x->data = (char *)mem[i] + misalign;
        if (qkv_run_partial(s.plan, &s.args, x, &e) != QKV_OK) fail_msg("%s", e.text);
        assert_int_equal(((unsigned char *)mem[i])[x->data_size + misalign], 0xA5);
        session_free(&s);
    }
    shuffle(r, c);
    answer a = {.out_bytes = (size_t)prob_nout(p) * type_size(p->dtype),
                .lse_bytes = (size_t)prob_nlse(p) * type_size(p->dtype)};
    a.out = malloc(a.out_bytes + 1);
    a.lse = malloc(a.lse_bytes + 1);
    session s = session_new(p, isa[rng_range(r, 0, n - 1)], (int32_t)rng_range(r, 1, 3));
    executor exec;
    executor_init(&exec, EXEC_BACKWARDS, s.threads);
    s.args.threads = &exec.threads;
    s.args.q = s.args.k = s.args.v = NULL; /* finish reads parts only */
    s.args.out = a.out;
    s.args.lse = a.lse;
    if (qkv_partial_finish(s.plan, &s.args, c->part, c->n, &e) != QKV_OK) fail_msg("%s", e.text);
    session_free(&s);
    for (int i = 0; i < c->n; i++) free(mem[i]);
    return a;
}

static void compare(const prob *p, rng *r, int i)
{
    pieces c = cut(r, p->sk);
    answer whole = prob_run(p, (how){0});
    answer parts = in_pieces(p, r, &c, (size_t)rng_range(r, 0, 7));
    assert_same_answer(&whole, &parts, "%d parts, case %d: %s", c.n, i, prob_text(p));
    answer_free(&parts);
    answer_free(&whole);
}

static void two_to_seven_spans(void **state)
{
    (void)state;
    rng r = rng_from(201);
    for (int i = 0; i < effort(42); i++) {
        prob p = random_long_prob(&r, 2 + i % 6);
        compare(&p, &r, i);
        prob_free(&p);
    }
}

static void one_span_and_less(void **state)
{
    (void)state;
    rng r = rng_from(202);
    for (int i = 0; i < effort(40); i++) {
        prob p = random_prob(&r, 1e6);
        compare(&p, &r, i);
        prob_free(&p);
    }
    /* no channels, no rows, no batch: nodes without values, nothing at all */
    static const int64_t empty[3][4] = {{1, 3, 9000, 0}, {1, 0, 5000, 4}, {0, 3, 5000, 4}};
    for (int i = 0; i < 3; i++) {
        const int64_t *const z = empty[i];
        prob p = prob_new(i ? QKV_F64 : QKV_F32, z[0], 2, 1, z[1], z[2], 4, z[3]);
        prob_normal(&p, &r);
        compare(&p, &r, -2 - i);
        prob_free(&p);
    }
    prob none = prob_new(QKV_F32, 1, 2, 1, 3, 0, 4, 4);
    prob_normal(&none, &r);
    compare(&none, &r, -1);
    prob_free(&none);
}

/* Rows that are dead in some parts or in all, and rows that are NaN. */
static void dead_and_nan_rows(void **state)
{
    (void)state;
    rng r = rng_from(203);
    for (int i = 0; i < effort(16); i++) {
        const int32_t type = i % 2 ? QKV_F64 : QKV_F32;
        prob p = prob_new(type, 1, 2, 1, 7, 4096 * 5 + 77, 3, 5);
        prob_normal(&p, &r);
        prob_causal(&p, 4096 * rng_range(&r, 0, 5) - 3); /* some rows end before a span begins */
        if (i % 4 >= 2) {
            put_bits(p.q, type, rng_range(&r, 0, prob_nq(&p) - 1), 0x7F800001u);
            put_bits(p.k, type, rng_range(&r, 0, prob_nk(&p) - 1), 0xFFFFFFFFu);
            put_bits(p.v, type, rng_range(&r, 0, prob_nv(&p) - 1), 0x7F800000u);
            put_bits(p.v, type, rng_range(&r, 0, prob_nv(&p) - 1), 0xFFC01234u);
        }
        compare(&p, &r, i);
        prob_free(&p);
    }
}

/* The data of a partial has its documented form: m integer, the nodes' count, dead nodes. */
static void nodes_are_as_documented(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 1, 1, 1, 2, 4096 * 7 - 5, 2, 3);
    rng r = rng_from(204);
    prob_normal(&p, &r);
    prob_causal(&p, 4096 * 4 - 1); /* row 0 sees the first four spans; row 1 one key more */
    session s = session_new(&p, QKV_ISA_BEST, 1);
    static const struct {
        int from, to, nodes;
    } want[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 1}, {0, 7, 1}, {1, 4, 2}, {1, 7, 3},
                {2, 7, 2}, {3, 7, 2}, {4, 7, 1}, {5, 6, 1}, {5, 7, 2}, {6, 7, 1}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const int64_t end = want[i].to == 7 ? p.sk : 4096 * want[i].to;
        const size_t n = qkv_partial_size(s.plan, 4096 * want[i].from, end);
        if (n != (size_t)want[i].nodes * 2 * 5 * sizeof(float)) {
            fail_msg("spans %d..%d: %zu bytes", want[i].from, want[i].to, n);
        }
    }
    float node[10];
    qkv_partial x = qkv_partial_init();
    x.key_begin = 4096 * 4;
    x.key_end = p.sk;
    x.data = node;
    x.data_size = sizeof node;
    qkv_error e = qkv_error_init();
    if (qkv_run_partial(s.plan, &s.args, &x, &e) != QKV_OK) fail_msg("%s", e.text);
    assert_true(get_at(node, QKV_F32, 0) == -(double)__builtin_inf()); /* dead: -inf, +0, +0 ... */
    for (int i = 1; i < 5; i++) assert_true(is_plus_zero(node, QKV_F32, i));
    const double m = get_at(node, QKV_F32, 5);
    assert_true(m == (double)(int)m);
    for (int c = 0; c < 3; c++) { /* one key: o / l is its value */
        const double got = get_at(node, QKV_F32, 7 + c) / get_at(node, QKV_F32, 6);
        const double want_v = get_at(p.v, QKV_F32, 4096 * 4 * 3 + c);
        assert_true(__builtin_fabs(got - want_v) <= 1e-6 * __builtin_fabs(want_v));
    }
    session_free(&s);
    prob_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_to_seven_spans),
        cmocka_unit_test(one_span_and_less),
        cmocka_unit_test(dead_and_nan_rows),
        cmocka_unit_test(nodes_are_as_documented),
    };
    return cmocka_run_group_tests_name("partials", tests, NULL, NULL);
}
