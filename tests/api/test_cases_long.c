/* SPDX-License-Identifier: MIT */
/* test_cases_long.c - the two cases whose size is the point: more than 2^31 scores in one head, and
 * 32,768 positions within 64 MiB of extra memory. The best table only, with the pool. Under a
 * sanitizer only the rows that are looked at are computed.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* rows of p that are computed: all, or those around row */
static prob rows_near(const prob *p, int64_t row)
{
    return sanitized() ? prob_rows(p, row - 20, p->sq - row + 20 < 40 ? p->sq - row + 20 : 40)
                       : prob_copy(p);
}

/* row counts in the whole problem */
static void assert_values(const prob *p, const answer *a, int64_t row_of_all, const double out[3],
                          double lse)
{
    const int64_t row = row_of_all - p->q_offset, dv = p->dv;
    for (int64_t c = 0; c < 3; c++) {
        const double got = get_at(a->out, QKV_F32, row * dv + c);
        if (fabs(got - out[c]) > 2e-6) fail_msg("row %lld: %.9g", (long long)row, got);
    }
    const double got = get_at(a->lse, QKV_F32, row);
    if (fabs(got - lse) > 2e-6 + 2e-6 * fabs(lse))
        fail_msg("row %lld: lse %.9g", (long long)row, got);
}

static how pooled(void)
{
    return (how){.threads = qkv_pool_cpus(), .exec = EXEC_POOL};
}

static void c44(void **state)
{
    (void)state;
    const int64_t s = 46342; /* s * s > 2^31 */
    prob p = prob_new(QKV_F32, 1, 1, 1, s, s, 8, 8);
    prob_gen(&p, 204, 205, 206);
    prob_causal(&p, 0);
    static const struct {
        int64_t row;
        double out[3], lse;
    } want[] = {{23170, {-0.0094606625, -0.0089465208, -0.0145568708}, 10.1259337097},
                {46341, {-0.0085243128, -0.0095360004, -0.0097218553}, 10.7710337945}};
    for (int i = 0; i < 2; i++) {
        prob near = rows_near(&p, want[i].row);
        answer a = prob_run(&near, pooled());
        for (int j = 0; j < 2; j++) {
            if (j == i || !sanitized()) {
                assert_values(&near, &a, want[j].row, want[j].out, want[j].lse);
            }
        }
        answer_free(&a);
        prob_free(&near);
        if (!sanitized()) break; /* the first was the whole */
    }
    prob few = prob_rows(&p, 0, 40);
    few.use = 0;
    answer a = prob_run(&few, pooled());
    for (int c = 0; c < 3; c++) {
        static const double full[3] = {-0.0085575885, -0.0095304994, -0.0085664219};
        assert_true(fabs(get_at(a.out, QKV_F32, c) - full[c]) < 2e-6);
    }
    answer_free(&a);
    prob_free(&few);
    prob_free(&p);
}

static long peak_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* no feature asks for more than 2 MiB a thread, however many rows and keys there are */
static void no_feature_needs_scores(const qkv_params *usual)
{
    static const uint64_t uses[] = {QKV_USE_KV_LEN, QKV_USE_WINDOW, QKV_USE_MASK,
                                    QKV_USE_BIAS,   QKV_USE_ALIBI,  QKV_USE_DROPOUT};
    for (int i = 0; i < 12; i++) {
        qkv_params p = *usual;
        qkv_plan *plan = NULL;
        qkv_error e = qkv_error_init();
        p.use |= uses[i % 6];
        p.alibi_max_bias = 8;
        p.dropout = 0.1;
        p.mask = qkv_shape_dense(QKV_BOOL, 1, 1, 1, p.k.dim[2]);
        p.bias = qkv_shape_dense(QKV_F32, 1, 1, 1, p.k.dim[2]);
        if (i >= 6) { /* grouped heads */
            p.q.dim[1] = p.out.dim[1] = 4;
            p.q.stride[1] = p.out.stride[1] = p.q.stride[2] * p.q.dim[2];
        }
        if (qkv_plan_create(&plan, &p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
        assert_true(qkv_plan_workspace(plan) <= (size_t)p.max_threads << 21);
        qkv_plan_destroy(plan);
    }
}

static void c97(void **state)
{
    (void)state;
    const int64_t s = 32768, d = 64;
    prob all = prob_new(QKV_F32, 1, 1, 1, s, s, d, d);
    prob_gen(&all, 201, 202, 203);
    prob_causal(&all, 0);
    prob p = rows_near(&all, 32767);
    answer a = {.out_bytes = (size_t)prob_nout(&p) * 4, .lse_bytes = (size_t)prob_nlse(&p) * 4};
    a.out = malloc(a.out_bytes);
    a.lse = malloc(a.lse_bytes);
    assert_true(a.out != NULL && a.lse != NULL);
    memset(a.out, 1, a.out_bytes);
    memset(a.lse, 1, a.lse_bytes);
    /* from here on everything is extra: plan, workspace, pool, stacks */
    const long before = peak_kib();
    executor x;
    executor_init(&x, EXEC_POOL, qkv_pool_cpus());
    const qkv_params params = prob_params(&p, (how){.threads = x.threads.nthreads});
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &params, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    assert_true(qkv_plan_workspace(plan) <= (size_t)x.threads.nthreads << 21); /* 2 MiB a thread */
    no_feature_needs_scores(&params);
    qkv_run_args r = qkv_run_args_init();
    r.q = p.q;
    r.k = p.k;
    r.v = p.v;
    r.out = a.out;
    r.lse = a.lse;
    r.workspace = workspace_new(plan);
    r.workspace_size = qkv_plan_workspace(plan);
    r.threads = executor_threads(&x);
    if (qkv_run(plan, &r, &e) != QKV_OK) fail_msg("%s", e.text);
    free(r.workspace);
    qkv_plan_destroy(plan);
    executor_done(&x);
    const long extra = peak_kib() - before;
    print_message("# extra memory at the peak: %ld KiB\n", extra);
    assert_in_range(extra, 0, 64 * 1024 - 1);
    if (!sanitized()) {
        assert_values(&p, &a, 16384, (const double[]){-0.0174059165, -0.0070108963, -0.0074021086},
                      9.7554051177);
    }
    assert_values(&p, &a, 32767, (const double[]){-0.0121944496, -0.0087721818, -0.0124196030},
                  10.4441204392);
    answer_free(&a);
    prob_free(&p);
    prob_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"C97 memory for long sequences", c97, NULL, NULL, NULL},
        {"C44 more than 2^31 scores", c44, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests_name("cases_long", tests, NULL, NULL);
}
