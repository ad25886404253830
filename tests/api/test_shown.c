/* SPDX-License-Identifier: MIT */
/* test_shown.c - scores and weights of chosen rows, row maxima, key sums and dropout: against the taps,
 * the reference and each other, over random masks and everything that is added; and what is refused.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALED, CAPPED, MASKED, WEIGHT, SHOWN };

/* What one run keeps. */
typedef struct kept {
    void *out, *lse, *top, *sums, *shown[SHOWN];
    unsigned char *keep;
    int64_t nrows;
} kept;

static void *rubbish(int64_t bytes)
{
    void *const p = malloc((size_t)bytes + 1);
    assert_non_null(p);
    memset(p, 0xA5, (size_t)bytes + 1);
    return p;
}

static kept run_kept(const prob *p, int32_t isa, int32_t threads, const int64_t *rows,
                     int64_t nrows)
{
    const int64_t heads = p->b * p->hq, n = rows ? nrows : p->sq;
    const int64_t pairs = heads * n * p->sk * 8;
    qkv_params x = prob_params(p, (how){.isa = isa, .threads = threads});
    x.use |= QKV_USE_KEY_SUMS;
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    kept k = {rubbish(prob_nout(p) * 8),
              rubbish(prob_nlse(p) * 8),
              rubbish(prob_nlse(p) * 8),
              calloc((size_t)(heads * p->sk) + 1, 8),
              {NULL},
              rubbish(heads * n * p->sk),
              n};
    qkv_show show = qkv_show_init();
    for (int i = 0; i < SHOWN; i++) k.shown[i] = rubbish(pairs);
    show.rows = rows;
    show.nrows = nrows;
    show.scaled = k.shown[SCALED];
    show.capped = k.shown[CAPPED];
    show.masked = k.shown[MASKED];
    show.weight = k.shown[WEIGHT];
    show.keep = k.keep;
    executor ex;
    executor_init(&ex, threads > 1 ? EXEC_BACKWARDS : EXEC_NULL, threads);
    qkv_run_args a = qkv_run_args_init();
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = k.out;
    a.lse = k.lse;
    a.row_max = k.top;
    a.key_sums = k.sums;
    a.show = &show;
    a.seed = 77;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    a.threads = executor_threads(&ex);
    pair_memories pairs_of = prob_tensors(p, &a);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    pair_memories_free(&pairs_of);
    executor_done(&ex);
    free(a.workspace);
    qkv_plan_destroy(plan);
    return k;
}

static void kept_free(kept *k)
{
    free(k->out);
    free(k->lse);
    free(k->top);
    free(k->sums);
    free(k->keep);
    for (int i = 0; i < SHOWN; i++) free(k->shown[i]);
}

static prob random_shown(rng *r)
{
    prob p = prob_new(rng_range(r, 0, 1) ? QKV_F32 : QKV_F64, rng_range(r, 1, 2), 2, 1,
                      rng_range(r, 1, 60), rng_range(r, 1, 300), 8, 5);
    prob_normal(&p, r);
    prob_random_mask(&p, r);
    prob_random_added(&p, r);
    return p;
}

/* weights sum to 1 less the sink's part; the sums of a key are its weights'; the maximum is the largest
 * masked score; looking changes no bit of the result */
static void what_is_kept_fits_together(void **state)
{
    (void)state;
    rng r = rng_from(701);
    for (int i = 0; i < effort(50); i++) {
        prob p = random_shown(&r);
        const double unit = p.dtype == QKV_F64 ? 1e-13 : 1e-5;
        kept k = run_kept(&p, i % 3 ? QKV_ISA_BEST : QKV_ISA_REFERENCE, 1 + i % 3, NULL, 0);
        answer plain = prob_run(&p, (how){.isa = i % 3 ? QKV_ISA_BEST : QKV_ISA_REFERENCE});
        assert_memory_equal(plain.out, k.out, plain.out_bytes);
        assert_memory_equal(plain.lse, k.lse, plain.lse_bytes);
        double *const sums = calloc((size_t)(p.b * p.hq * p.sk) + 1, sizeof *sums);
        for (int64_t x = 0; x < prob_nlse(&p); x++) {
            const int64_t bh = x / p.sq;
            const double lse = get_at(k.lse, p.dtype, x);
            double total = 0, top = -(double)INFINITY;
            for (int64_t j = 0; j < p.sk; j++) {
                const double w = get_at(k.shown[WEIGHT], p.dtype, x * p.sk + j);
                const double s = get_at(k.shown[MASKED], p.dtype, x * p.sk + j);
                const bool sees = prob_sees(&p, bh / p.hq, bh % p.hq, x % p.sq, j);
                assert_true((s == -(double)INFINITY) == !sees);
                assert_true(sees || w == 0);
                if (sees) assert_true(fabs(w - exp(s - lse)) <= 20 * unit);
                total += w;
                top = fmax(top, s);
                sums[bh * p.sk + j] += w;
                assert_int_equal(k.keep[x * p.sk + j] <= 1, 1);
            }
            assert_true(total <= 1 + unit);
            assert_true(get_at(k.top, p.dtype, x) == top ||
                        fabs(get_at(k.top, p.dtype, x) - top) <= unit * fabs(top));
        }
        for (int64_t x = 0; x < p.b * p.hq * p.sk; x++)
            assert_true(fabs(get_at(k.sums, p.dtype, x) - sums[x]) <= 20 * unit);
        free(sums);
        answer_free(&plain);
        kept_free(&k);
        prob_free(&p);
    }
}

/* some rows, in any order and twice, hold what all rows hold; on every table */
static void chosen_rows_are_the_same(void **state)
{
    (void)state;
    rng r = rng_from(702);
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int i = 0; i < effort(40); i++) {
        prob p = random_shown(&r);
        p.use |= QKV_USE_DROPOUT;
        const int64_t count = rng_range(&r, 0, 9);
        int64_t rows[9];
        for (int64_t x = 0; x < count; x++) rows[x] = rng_range(&r, 0, p.sq - 1);
        kept all = run_kept(&p, QKV_ISA_BEST, 1, NULL, 0);
        kept some = run_kept(&p, isa[i % n], 2, rows, count);
        const size_t e = type_size(p.dtype), row = (size_t)p.sk * e;
        for (int64_t bh = 0; bh < p.b * p.hq; bh++)
            for (int64_t x = 0; x < count; x++) {
                const size_t from = (size_t)(bh * p.sq + rows[x]), to = (size_t)(bh * count + x);
                for (int s = 0; s < SHOWN; s++)
                    assert_memory_equal((char *)all.shown[s] + from * row,
                                        (char *)some.shown[s] + to * row, row);
                assert_memory_equal(all.keep + from * (size_t)p.sk, some.keep + to * (size_t)p.sk,
                                    (size_t)p.sk);
            }
        assert_memory_equal(all.out, some.out, (size_t)prob_nout(&p) * e);
        assert_memory_equal(all.top, some.top, (size_t)prob_nlse(&p) * e);
        assert_memory_equal(all.sums, some.sums, (size_t)(p.b * p.hq * p.sk) * e);
        kept_free(&all);
        kept_free(&some);
        prob_free(&p);
    }
}

/* about p of the weights go, the others grow by 1 / (1 - p): the mean stays. The bits of the keep-mask
 * are the ones that are used. */
static void dropout_drops_what_it_says(void **state)
{
    (void)state;
    rng r = rng_from(703);
    prob p = prob_new(QKV_F64, 1, 2, 2, 40, 500, 8, 3);
    prob_normal(&p, &r);
    p.use = QKV_USE_DROPOUT;
    p.mask.dropout = 0.3;
    kept k = run_kept(&p, QKV_ISA_BEST, 3, NULL, 0);
    int64_t gone = 0;
    for (int64_t x = 0; x < prob_nlse(&p); x++)
        for (int64_t c = 0; c < p.dv; c++) {
            double sum = 0;
            for (int64_t j = 0; j < p.sk; j++) {
                gone += c == 0 && !k.keep[x * p.sk + j];
                if (k.keep[x * p.sk + j])
                    sum += get_at(k.shown[WEIGHT], QKV_F64, x * p.sk + j) *
                           get_at(p.v, QKV_F64, (x / p.sq * p.sk + j) * p.dv + c);
            }
            assert_true(fabs(sum / 0.7 - get_at(k.out, QKV_F64, x * p.dv + c)) < 1e-13);
        }
    const double share = (double)gone / (double)(prob_nlse(&p) * p.sk);
    assert_true(share > 0.29 && share < 0.31);
    /* p = 1 gives 0, p = 0 what no dropout gives */
    p.mask.dropout = 1;
    kept none = run_kept(&p, QKV_ISA_BEST, 1, NULL, 0);
    for (int64_t x = 0; x < prob_nout(&p); x++) assert_true(is_plus_zero(none.out, QKV_F64, x));
    assert_memory_equal(none.lse, k.lse, (size_t)prob_nlse(&p) * 8);
    p.mask.dropout = 0;
    kept zero = run_kept(&p, QKV_ISA_BEST, 1, NULL, 0);
    p.use = 0;
    answer plain = prob_run(&p, (how){0});
    assert_memory_equal(zero.out, plain.out, plain.out_bytes);
    answer_free(&plain);
    kept_free(&zero);
    kept_free(&none);
    kept_free(&k);
    prob_free(&p);
}

static void refused(const prob *p, qkv_show *show, void *sums, const char *arg)
{
    qkv_params x = prob_params(p, (how){0});
    x.use |= QKV_USE_KEY_SUMS;
    qkv_plan *plan = NULL;
    qkv_error e = qkv_error_init();
    char out[512];
    assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
    qkv_run_args a = qkv_run_args_init();
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = out;
    a.show = show;
    a.key_sums = sums;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    pair_memories pairs = prob_tensors(p, &a);
    assert_true(qkv_run(plan, &a, &e) < 0);
    assert_string_equal(e.arg, arg);
    assert_non_null(strstr(e.text, arg));
    if (show == NULL && sums) { /* what is added goes through the other doors, too */
        char data[1024];
        qkv_partial part = qkv_partial_init();
        part.key_end = p->sk;
        part.data = data;
        part.data_size = sizeof data;
        qkv_plan_destroy(plan);
        x.use &= ~QKV_USE_KEY_SUMS;
        a.key_sums = NULL;
        assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
        assert_true(qkv_run_partial(plan, &a, &part, &e) < 0);
        assert_string_equal(e.arg, arg);
        if (p->use & QKV_USE_SINK) {
            assert_true(qkv_partial_finish(plan, &a, &part, 1, &e) < 0);
            assert_string_equal(e.arg, arg);
        }
    }
    pair_memories_free(&pairs);
    free(a.workspace);
    qkv_plan_destroy(plan);
}

static void what_cannot_be_shown(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 1, 1, 1, 4, 4, 4, 4);
    float x[64];
    const int64_t rows[2] = {0, 4}, before[1] = {-1};
    qkv_show show = qkv_show_init();
    show.weight = x;
    show.rows = rows;
    show.nrows = 2;
    refused(&p, &show, x + 32, "args.show.rows");
    show.rows = before;
    show.nrows = 1;
    refused(&p, &show, x + 32, "args.show.rows");
    show.nrows = -1;
    refused(&p, &show, x + 32, "args.show.nrows");
    show.rows = NULL;
    show.reserved = 1;
    refused(&p, &show, x + 32, "args.show.reserved");
    show.reserved = 0;
    refused(&p, &show, NULL, "args.key_sums");
    refused(&p, &show, x + 8, "args.show.weight"); /* they overlap */
    p.use = QKV_USE_SINK;
    p.mask.sink[0] = (double)NAN;
    prob_round_numbers(&p);
    refused(&p, NULL, x, "args.sinks");
    p.use = QKV_USE_ALIBI;
    p.mask.slope[0] = (double)INFINITY;
    prob_round_numbers(&p);
    refused(&p, NULL, x, "args.slopes");
    p.mask.slope[0] = (double)NAN;
    prob_round_numbers(&p);
    refused(&p, NULL, x, "args.slopes");
    p.use = QKV_USE_RULE;
    refused(&p, NULL, x, "args.rule");
    prob_free(&p);
}

/* Second passes have no place in a partial, and what a node does not hold none in a finish. */
static void what_partials_do_not_hold(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 1, 1, 1, 4, 4, 4, 4);
    float x[64], data[64], out[16], top[4];
    qkv_partial part = qkv_partial_init();
    part.key_end = 4;
    part.data = data;
    part.data_size = sizeof data;
    for (int sums = 0; sums < 2; sums++) {
        qkv_params q = prob_params(&p, (how){0});
        if (sums) q.use |= QKV_USE_KEY_SUMS;
        qkv_plan *plan = NULL;
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&plan, &q, NULL, NULL), QKV_OK);
        qkv_show show = qkv_show_init();
        show.weight = x;
        qkv_run_args a = qkv_run_args_init();
        a.q = p.q;
        a.k = p.k;
        a.v = p.v;
        a.out = out;
        a.workspace = workspace_new(plan);
        a.workspace_size = qkv_plan_workspace(plan);
        if (!sums) a.show = &show;
        const char *const arg = sums ? "plan" : "args.show";
        assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_EUNSUPPORTED);
        assert_string_equal(e.arg, arg);
        assert_int_equal(qkv_partial_finish(plan, &a, &part, 1, &e), QKV_EUNSUPPORTED);
        assert_string_equal(e.arg, arg);
        a.show = NULL;
        a.row_max = top;
        if (!sums) {
            assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_OK);
            assert_int_equal(qkv_partial_finish(plan, &a, &part, 1, &e), QKV_EUNSUPPORTED);
            assert_string_equal(e.arg, "args.row_max");
            assert_non_null(strstr(e.text, "partials do not hold"));
        }
        free(a.workspace);
        qkv_plan_destroy(plan);
    }
    prob_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_fits_together), cmocka_unit_test(chosen_rows_are_the_same),
        cmocka_unit_test(dropout_drops_what_it_says), cmocka_unit_test(what_cannot_be_shown),
        cmocka_unit_test(what_partials_do_not_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
