/* SPDX-License-Identifier: MIT */
/* test_everything.c - the promises of docs/numerics.md over all features at once: masks of every kind,
 * biases, slopes, caps, sinks, rules, dropout, packed sequences, left padding, types and grouped
 * heads, drawn together. Whatever takes no part holds NaN or infinity. Results are judged by plain
 * float64 that shares nothing with the library, and what may not change a bit is compared bit by bit.
 */
#include "guard.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct answers {
    void *out, *lse;
    int64_t out_bytes, lse_bytes;
} answers;

static answers answers_for(const feature_case *c)
{
    answers a;
    a.out_bytes = feature_rows(c) * c->base.d_v * feature_bytes(feature_type(c, c->out_type));
    a.lse_bytes = feature_rows(c) * c->base.bits / 8;
    a.out = feature_output(a.out_bytes, 0xa5);
    a.lse = feature_output(a.lse_bytes, 0xa5);
    return a;
}

static void answers_free(answers *a)
{
    free(a->out);
    free(a->lse);
}

static void assert_same(const feature_case *c, const answers *a, const answers *b, const char *what)
{
    if (memcmp(a->out, b->out, (size_t)a->out_bytes) == 0 &&
        memcmp(a->lse, b->lse, (size_t)a->lse_bytes) == 0)
        return;
    fail_msg("%s changes bits: %s", what, case_text(c));
}

/* Any table that is fast enough for the case. */
static int32_t table_for(rng *r, const feature_case *c)
{
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int tries = 0; tries < 4; tries++) {
        const int32_t id = isa[rng_range(r, 0, n - 1)];
        const int64_t bound = c->base.bits == 64 ? 20000 : 80000;
        if (!isa_is_slow(id, c->base.bits == 64 ? QKV_F64 : QKV_F32) || case_work(c) <= bound)
            return id;
    }
    return QKV_ISA_BEST;
}

/* A third on the caller's thread, the rest backwards there or each task on a thread of its own. */
static void run_hostile(rng *r, const feature_case *c, const feature_tensors *t, const part *p,
                        int32_t isa, void *out, void *lse)
{
    static const exec_kind kinds[4] = {EXEC_NULL, EXEC_BACKWARDS, EXEC_FRESH, EXEC_BACKWARDS};
    executor e;
    executor_init(&e, kinds[rng_range(r, 0, 3)], (int32_t)rng_range(r, 2, 5));
    part_run(c, t, p, isa, executor_threads(&e), out, lse);
    executor_done(&e);
}

static void all_features_at_once(void **state)
{
    (void)state;
    rng r = rng_from(501);
    feature_mix mix = {0};
    const int cases = effort(2000);
    for (int i = 0; i < cases; i++) {
        const feature_case c = random_case(&r, i % 8 ? 150000 : 2000000);
        feature_tensors t;
        feature_make(&c, &t);
        answers a = answers_for(&c);
        const part whole = part_whole(&c);
        run_hostile(&r, &c, &t, &whole, table_for(&r, &c), a.out, a.lse);
        judge_case(&c, &t, a.out, a.lse, "kernels");
        if (i % 5 == 0) {
            part_run(&c, &t, &whole, QKV_ISA_REFERENCE, NULL, a.out, a.lse);
            judge_case(&c, &t, a.out, a.lse, "reference");
        }
        feature_mix_count(&mix, &c);
        answers_free(&a);
        feature_free(&t);
    }
    for (int i = 0; i < 24; i++)
        if (feature_done() >> i & 1 && mix.of[i] * 20 < cases) fail_msg("feature %d is rare", i);
    assert_true(mix.poisoned * 4 > cases * 3 && mix.wild * 20 > cases);
    assert_true(mix.beyond_block * 6 > cases && mix.grouped * 2 > cases && mix.half * 10 > cases);
    assert_true(mix.named * 8 > cases);
}

/* Another table, other threads, another place in memory. */
static void ways_change_nothing(void **state)
{
    (void)state;
    rng r = rng_from(502);
    const int cases = effort(500);
    for (int i = 0; i < cases; i++) {
        const feature_case c = random_case(&r, i % 8 ? 150000 : 2000000);
        feature_tensors t;
        feature_make(&c, &t);
        answers a = answers_for(&c), b = answers_for(&c);
        part p = part_whole(&c);
        part_run(&c, &t, &p, QKV_ISA_BEST, NULL, a.out, a.lse);
        run_hostile(&r, &c, &t, &p, table_for(&r, &c), b.out, b.lse);
        assert_same(&c, &a, &b, "table or executor");
        p.layout = rng_next(&r) | 1;
        run_hostile(&r, &c, &t, &p, table_for(&r, &c), b.out, b.lse);
        assert_same(&c, &a, &b, "layout");
        answers_free(&a);
        answers_free(&b);
        feature_free(&t);
    }
}

/* Some rows, one batch, one packed sequence by itself. */
static void parts_are_those_of_the_whole(void **state)
{
    (void)state;
    rng r = rng_from(503);
    const int cases = effort(800);
    int rows = 0, batches = 0, sequences = 0;
    for (int i = 0; i < cases; i++) {
        const feature_case c = random_case(&r, 150000);
        if (c.base.rows < 2) continue;
        feature_tensors t;
        feature_make(&c, &t);
        answers a = answers_for(&c), b = answers_for(&c);
        part p = part_whole(&c);
        part_run(&c, &t, &p, QKV_ISA_BEST, NULL, a.out, a.lse);
        const char *what = "rows in chunks";
        if (c.with & FEATURE_PACKED) {
            p.sequence = rng_range(&r, 0, c.sequences - 1);
            p.rows = c.cu_q[p.sequence + 1] - c.cu_q[p.sequence];
            what = "a packed sequence alone";
        } else if (i % 2 && c.base.batch > 1) {
            p.batch = rng_range(&r, 0, c.base.batch - 1);
            p.batches = 1;
            what = "a batch alone";
        } else {
            p.row = rng_range(&r, 0, c.base.rows - 1);
            p.rows = rng_range(&r, 1, c.base.rows - p.row);
        }
        if (part_possible(&c, &p)) {
            run_hostile(&r, &c, &t, &p, table_for(&r, &c), b.out, b.lse);
            part_same(&c, &p, a.out, a.lse, b.out, b.lse, what);
            rows += p.rows < c.base.rows && p.sequence < 0;
            batches += p.batches < c.base.batch;
            sequences += p.sequence >= 0;
        }
        answers_free(&a);
        answers_free(&b);
        feature_free(&t);
    }
    assert_true(rows * 8 > cases && batches * 14 > cases && sequences * 30 > cases);
}

/* ---- the ends of tensors ----------------------------------------------------------------------- */

static int64_t pairs(const qkv_shape *x)
{
    return x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3];
}

/* All memory of one run, each piece of exactly its size between or beside pages. */
typedef struct guards {
    guarded held[24];
    int n, before;
} guards;

static void *put_guarded(guards *g, const void *x, int64_t bytes)
{
    assert_true(g->n < 24);
    return guard(&g->held[g->n++], x, bytes, g->before);
}

static feature_tensors guard_inputs(guards *g, const feature_case *c, const feature_tensors *t)
{
    const qkv_params p = feature_params(c, QKV_ISA_BEST, 1);
    const golden_case *const b = &c->base;
    const int64_t real = b->bits / 8, bits = c->with & FEATURE_BITS;
    const int64_t sequences = c->with & FEATURE_PACKED ? c->sequences : b->batch;
    const int64_t slopes = c->with & FEATURE_ALIBI_BATCH ? sequences * b->heads : b->heads;
    const int64_t masks = bits ? (pairs(&p.mask) + 7) / 8 : pairs(&p.mask);
    feature_tensors u;
    u.q = put_guarded(g, t->q, golden_count(b, GOLDEN_Q) * feature_bytes(p.q.dtype));
    u.k = put_guarded(g, t->k, golden_count(b, GOLDEN_K) * feature_bytes(p.k.dtype));
    u.v = put_guarded(g, t->v, golden_count(b, GOLDEN_V) * feature_bytes(p.v.dtype));
    u.mask = put_guarded(g, t->mask, masks);
    u.bias = put_guarded(g, t->bias, pairs(&p.bias) * feature_bytes(p.bias.dtype));
    u.slopes = put_guarded(g, t->slopes, slopes * real);
    u.sinks = put_guarded(g, t->sinks, b->heads * real);
    return u;
}

static void guard_numbers(guards *g, const feature_case *c, part *p)
{
    const int packed = (c->with & FEATURE_PACKED) != 0;
    const int64_t n = packed ? c->sequences : c->base.batch;
    const int64_t *const own[6] = {c->kv_len, c->q_len, c->kv_start, c->offsets, c->cu_q, c->cu_k};
    for (int i = 0; i < (packed ? 6 : 4); i++)
        p->numbers[i] = put_guarded(g, own[i], (n + (i >= 4)) * 8);
}

/* Nothing before the first byte of a tensor or an array is touched, and nothing after the last. */
static void no_byte_beside_a_tensor_is_touched(void **state)
{
    (void)state;
    rng r = rng_from(505);
    const int cases = effort(300);
    for (int i = 0; i < cases; i++) {
        const feature_case c = random_case(&r, 60000);
        const int64_t real = c.base.bits / 8, rows = feature_rows(&c);
        const int64_t planes = c.base.batch * c.base.heads, row = rng_range(&r, 0, c.base.rows - 1);
        feature_tensors t;
        guards g = {.n = 0, .before = i % 2};
        feature_make(&c, &t);
        answers a = answers_for(&c), b = answers_for(&c);
        part whole = part_whole(&c);
        part_run(&c, &t, &whole, QKV_ISA_BEST, NULL, a.out, a.lse);
        const feature_tensors u = guard_inputs(&g, &c, &t);
        guard_numbers(&g, &c, &whole);
        void *const out = put_guarded(&g, b.out, b.out_bytes);
        void *const lse = put_guarded(&g, b.lse, b.lse_bytes);
        void *const room = feature_output(planes * (c.base.keys + rows) * real, 0);
        qkv_show show = {.size = sizeof show, .nrows = 1};
        if (i % 3) { /* these keep the kernels of few rows from their turn */
            whole.row_max = put_guarded(&g, room, rows * real);
            whole.key_sums = put_guarded(&g, room, planes * c.base.keys * real);
            show.rows = put_guarded(&g, &row, sizeof row);
            show.scaled = put_guarded(&g, room, planes * c.base.keys * real);
            show.masked = put_guarded(&g, room, planes * c.base.keys * real);
            show.weight = put_guarded(&g, room, planes * c.base.keys * real);
            if (c.with & FEATURE_DROPOUT) show.keep = put_guarded(&g, room, planes * c.base.keys);
            whole.show = &show;
        }
        run_hostile(&r, &c, &u, &whole, table_for(&r, &c), out, lse);
        if (out) memcpy(b.out, out, (size_t)b.out_bytes);
        if (lse) memcpy(b.lse, lse, (size_t)b.lse_bytes);
        assert_same(&c, &a, &b, "an end of memory");
        for (int n = 0; n < g.n; n++) guard_free(&g.held[n]);
        free(room);
        answers_free(&a);
        answers_free(&b);
        feature_free(&t);
    }
}

/* ---- what a run can keep beside its result ---------------------------------------------------- */

/* numbers of the run's type, all the same, or those of another array */
static void *numbers(const feature_case *c, int64_t n, double value)
{
    void *const x = feature_output(n * c->base.bits / 8, 0);
    for (int64_t i = 0; i < n; i++) put_at(x, c->base.bits == 32 ? QKV_F32 : QKV_F64, i, value);
    return x;
}

/* sums[plane][key] += the row's weight, one after another, as rule 12 says */
static void add_weights(const feature_case *c, const void *weight, void *sums)
{
    const golden_case *const g = &c->base;
    for (int64_t n = 0; n < feature_rows(c); n++) {
        const int64_t end = feature_end_key(c, n % g->rows);
        for (int64_t j = feature_first_key(c, n % g->rows); j < end; j++) {
            const int64_t from = n * g->keys + j, to = n / g->rows * g->keys + j;
            if (g->bits == 32) {
                float *const sum = (float *)sums + to;
                *sum = *sum + ((const float *)weight)[from];
            } else {
                double *const sum = (double *)sums + to;
                *sum = *sum + ((const double *)weight)[from];
            }
        }
    }
}

/* NaN is written in one form, and these sums are made here: any NaN is like any other. */
static void assert_same_numbers(const feature_case *c, const void *a, const void *b, int64_t n,
                                const char *what)
{
    const int32_t dtype = c->base.bits == 32 ? QKV_F32 : QKV_F64;
    for (int64_t i = 0; i < n; i++) {
        const double x = get_at(a, dtype, i), y = get_at(b, dtype, i);
        if (x == y || (x != x && y != y)) continue;
        fail_msg("%s [%lld]: %.17g and %.17g: %s", what, (long long)i, x, y, case_text(c));
    }
}

static void check_chosen_rows(rng *r, const feature_case *c, const feature_tensors *t,
                              const void *weight, answers *b)
{
    const golden_case *const g = &c->base;
    const int64_t real = g->bits / 8,
                  row[2] = {rng_range(r, 0, g->rows - 1), rng_range(r, 0, g->rows - 1)};
    qkv_show show = {.size = sizeof show, .rows = row, .nrows = row[0] == row[1] ? 1 : 2};
    const int64_t planes = g->batch * g->heads;
    show.weight = feature_output(planes * 2 * g->keys * real, 0xa5);
    part p = part_whole(c);
    p.show = &show;
    part_run(c, t, &p, table_for(r, c), NULL, b->out, b->lse);
    for (int64_t n = 0; n < planes * show.nrows; n++) {
        const int64_t i = row[n % show.nrows], first = feature_first_key(c, i);
        const int64_t all = (n / show.nrows * g->rows + i) * g->keys + first;
        if (memcmp((const char *)show.weight + (n * g->keys + first) * real,
                   (const char *)weight + all * real,
                   (size_t)((feature_end_key(c, i) - first) * real)) != 0)
            fail_msg("weights of row %lld alone: %s", (long long)i, case_text(c));
    }
    free(show.weight);
}

static void what_is_shown_and_kept(void **state)
{
    (void)state;
    rng r = rng_from(504);
    const int cases = effort(300);
    for (int i = 0; i < cases; i++) {
        const feature_case c = random_case(&r, 60000);
        const golden_case *const g = &c.base;
        const int64_t sums = g->batch * g->heads * g->keys;
        const double start = i % 3 ? 0 : 0.75;
        feature_tensors t;
        feature_make(&c, &t);
        answers a = answers_for(&c), b = answers_for(&c);
        part p = part_whole(&c);
        part_run(&c, &t, &p, QKV_ISA_BEST, NULL, a.out, a.lse);
        qkv_show show = {.size = sizeof show};
        show.weight = numbers(&c, feature_rows(&c) * g->keys, 9);
        p.show = &show;
        p.row_max = numbers(&c, feature_rows(&c), 9);
        p.key_sums = numbers(&c, sums, start);
        run_hostile(&r, &c, &t, &p, table_for(&r, &c), b.out, b.lse);
        assert_same(&c, &a, &b, "to look");
        void *const chain = numbers(&c, sums, start);
        add_weights(&c, show.weight, chain);
        assert_same_numbers(&c, p.key_sums, chain, sums, "key sums");
        check_chosen_rows(&r, &c, &t, show.weight, &b);
        if (g->rows > 1 && !(c.with & FEATURE_PACKED)) { /* two chunks of rows, one after another */
            part q = part_whole(&c);
            q.key_sums = numbers(&c, sums, start);
            const int64_t rows = rng_range(&r, 1, g->rows - 1);
            for (int half = 0; half < 2; half++) {
                q.row = half ? rows : 0;
                q.rows = half ? g->rows - rows : rows;
                if (part_possible(&c, &q))
                    run_hostile(&r, &c, &t, &q, table_for(&r, &c), b.out, b.lse);
                else
                    half = 2;
                if (half == 1) assert_same_numbers(&c, q.key_sums, p.key_sums, sums, "in chunks");
            }
            free(q.key_sums);
        }
        free(chain);
        free(show.weight);
        free(p.row_max);
        free(p.key_sums);
        answers_free(&a);
        answers_free(&b);
        feature_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_features_at_once),
                                       cmocka_unit_test(ways_change_nothing),
                                       cmocka_unit_test(parts_are_those_of_the_whole),
                                       cmocka_unit_test(no_byte_beside_a_tensor_is_touched),
                                       cmocka_unit_test(what_is_shown_and_kept)};
    return cmocka_run_group_tests_name("everything", tests, NULL, NULL);
}
