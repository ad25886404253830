/* SPDX-License-Identifier: MIT */
/* test_host.c - programs around the library: floating-point environments of callers and of their
 * threads, several runs on one pool at once, eight threads that share one plan,
 * signals that raise the cancel flag.
 *
 * Bits are those of a quiet program, and the host's registers come back as they were (C22).
 */
#include "shapes.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- floating-point environments ------------------------------------------------------------- */

#if defined(__x86_64__)
static uint32_t control_get(void)
{
    uint32_t x;
    __asm__ volatile("stmxcsr %0" : "=m"(x));
    return x;
}

static void control_set(uint32_t x)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(x));
}

enum { USUAL = 0x1F80, FLUSH = 0x8000, DAZ = 0x0040 };
static const uint32_t hosts[] = {
    USUAL | FLUSH | DAZ, /* what -ffast-math programs set */
    USUAL | FLUSH,
    USUAL | DAZ,
    USUAL | 0x2000, /* downward */
    USUAL | 0x4000, /* upward */
    USUAL | 0x6000, /* towards zero */
    USUAL | 0x6000 | FLUSH | DAZ,
    0x1000,         /* every exception but "inexact" traps */
    0x0000,         /* every exception traps */
    USUAL | 0x003F, /* every sticky flag already raised */
};
enum { HOSTS = sizeof hosts / sizeof hosts[0] };
#else
static uint32_t control_get(void)
{
    return (uint32_t)fegetround();
}

static void control_set(uint32_t x)
{
    fesetround((int)x);
}

enum { USUAL = FE_TONEAREST };
static const uint32_t hosts[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
enum { HOSTS = 3 };
#endif

/* Subnormal, tiny and huge values beside usual ones: where a wrong environment shows. */
static prob delicate(rng *r, int32_t type)
{
    prob p = prob_new(type, 1, 4, 2, 9, 150, 8, 8);
    prob_normal(&p, r);
    for (int64_t i = 0; i < prob_nv(&p); i += 3) {
        put_at(p.v, type, i, type == QKV_F64 ? 3e-310 : 3e-40);
    }
    for (int64_t i = 0; i < prob_nk(&p); i += 7) {
        put_at(p.k, type, i, type == QKV_F64 ? 1e-312 : 1e-42);
    }
    for (int64_t i = 0; i < prob_nq(&p); i += 5) put_at(p.q, type, i, 60 * rng_normal(r));
    prob_causal(&p, 130);
    return p;
}

static void the_calling_thread(void **state)
{
    (void)state;
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    rng r = rng_from(601);
    for (int i = 0; i < 2 * n; i++) {
        prob p = delicate(&r, i % 2 ? QKV_F64 : QKV_F32);
        const qkv_params x = prob_params(&p, (how){.isa = isa[i / 2]});
        answer quiet = prob_run(&p, (how){.isa = isa[i / 2]});
        answer a = prob_run(&p, (how){.isa = isa[i / 2]});
        qkv_run_args args = qkv_run_args_init();
        args.q = p.q;
        args.k = p.k;
        args.v = p.v;
        args.out = a.out;
        args.lse = a.lse;
        for (int h = 0; h < HOSTS; h++) {
            memset(a.out, 0x5A, a.out_bytes);
            qkv_plan *plan = NULL;
            control_set(hosts[h]);
            const qkv_status made = qkv_plan_create(&plan, &x, NULL, NULL);
            const uint32_t after_create = control_get();
            control_set(USUAL);
            assert_int_equal(made, QKV_OK);
            assert_int_equal(after_create, hosts[h]);
            args.workspace = workspace_new(plan);
            args.workspace_size = qkv_plan_workspace(plan);
            control_set(hosts[h]);
            const qkv_status ran = qkv_run(plan, &args, NULL);
            const uint32_t after_run = control_get();
            char text[2048];
            const size_t length = qkv_plan_describe(plan, text, sizeof text);
            const uint32_t after_describe = control_get();
            control_set(USUAL);
            assert_int_equal(ran, QKV_OK);
            assert_int_equal(after_run, hosts[h]);
            assert_int_equal(after_describe, hosts[h]);
            char usual[2048];
            assert_int_equal(qkv_plan_describe(plan, usual, sizeof usual), length);
            assert_string_equal(usual, text);
            assert_same_answer(&quiet, &a, "environment 0x%x, isa %d", (unsigned)hosts[h],
                               (int)isa[i / 2]);
            free(args.workspace);
            qkv_plan_destroy(plan);
        }
        answer_free(&a);
        answer_free(&quiet);
        prob_free(&p);
    }
}

/* The caller's threads have environments of their own. */
typedef struct strange {
    void (*task)(void *arg, int32_t i);
    void *arg;
    int32_t i;
    uint32_t control, after;
} strange;

static void *strange_thread(void *arg)
{
    strange *const s = arg;
    control_set(s->control);
    s->task(s->arg, s->i);
    s->after = control_get();
    return NULL;
}

static void strange_for(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    const uint32_t *const control = ctx;
    strange s[8];
    pthread_t thread[8];
    assert_true(ntasks <= 8);
    for (int32_t i = 0; i < ntasks; i++) {
        s[i] = (strange){task, arg, i, *control, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, strange_thread, &s[i]), 0);
    }
    for (int32_t i = 0; i < ntasks; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(s[i].after, *control);
    }
}

static qkv_status run_on(const prob *p, int32_t isa, const qkv_threads *threads, answer *a)
{
    const qkv_params x = prob_params(p, (how){.isa = isa, .threads = threads->nthreads});
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
    qkv_run_args args = qkv_run_args_init();
    args.q = p->q;
    args.k = p->k;
    args.v = p->v;
    args.out = a->out;
    args.lse = a->lse;
    args.workspace = workspace_new(plan);
    args.workspace_size = qkv_plan_workspace(plan);
    args.threads = threads;
    const qkv_status s = qkv_run(plan, &args, NULL);
    free(args.workspace);
    qkv_plan_destroy(plan);
    return s;
}

static void the_callers_threads(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    rng r = rng_from(602);
    for (int i = 0; i < 2 * n; i++) {
        prob p = delicate(&r, i % 2 ? QKV_F64 : QKV_F32);
        answer quiet = prob_run(&p, (how){.isa = isa[i / 2]});
        answer a = prob_run(&p, (how){.isa = isa[i / 2]});
        for (int h = 0; h < HOSTS; h++) {
            uint32_t control = hosts[h];
            qkv_threads t = qkv_threads_init();
            t.nthreads = 3;
            t.parallel_for = strange_for;
            t.ctx = &control;
            memset(a.out, 0x5A, a.out_bytes);
            assert_int_equal(run_on(&p, isa[i / 2], &t, &a), QKV_OK);
            assert_same_answer(&quiet, &a, "threads with 0x%x, isa %d", (unsigned)control,
                               (int)isa[i / 2]);
        }
        answer_free(&a);
        answer_free(&quiet);
        prob_free(&p);
    }
}

/* A pool made in a strange environment, whose workers inherit it. */
static void the_pools_threads(void **state)
{
    (void)state;
    rng r = rng_from(603);
    prob p = delicate(&r, QKV_F32);
    answer quiet = prob_run(&p, (how){0}), a = prob_run(&p, (how){0});
    for (int h = 0; h < HOSTS; h++) {
        qkv_pool *pool = NULL;
        control_set(hosts[h]);
        const qkv_status s = qkv_pool_create(&pool, 4, NULL, NULL);
        control_set(USUAL);
        assert_int_equal(s, QKV_OK);
        memset(a.out, 0x5A, a.out_bytes);
        assert_int_equal(run_on(&p, QKV_ISA_BEST, qkv_pool_threads(pool), &a), QKV_OK);
        assert_same_answer(&quiet, &a, "a pool with 0x%x", (unsigned)hosts[h]);
        qkv_pool_destroy(pool);
    }
    answer_free(&a);
    answer_free(&quiet);
    prob_free(&p);
}

static void the_other_functions(void **state)
{
    (void)state;
    double x[6], w[6], y[4], quiet[4];
    fill_gen(x, QKV_F64, 6, 1);
    for (int i = 0; i < 6; i++) w[i] = 1e-310 * (i + 1);
    assert_int_equal(qkv_ref_project(quiet, x, w, NULL, 2, 3, 2, NULL), QKV_OK);
    const double e = qkv_ref_exp(-0.7), sub = qkv_ref_exp(-740.0);
    for (int h = 0; h < HOSTS; h++) {
        control_set(hosts[h]);
        const qkv_status s = qkv_ref_project(y, x, w, NULL, 2, 3, 2, NULL);
        const uint32_t after = control_get();
        const double e2 = qkv_ref_exp(-0.7), sub2 = qkv_ref_exp(-740.0);
        const uint32_t after_exp = control_get();
        control_set(USUAL);
        assert_int_equal(s, QKV_OK);
        assert_int_equal(after, hosts[h]);
        assert_int_equal(after_exp, hosts[h]);
        assert_memory_equal(y, quiet, sizeof y);
        assert_memory_equal(&e, &e2, sizeof e);
        assert_memory_equal(&sub, &sub2, sizeof sub);
    }
    /* plan, run, forget; and a refusal, which must give the registers back as well */
    prob p = prob_new(QKV_F32, 1, 1, 1, 3, 9, 4, 4);
    prob_gen(&p, 1, 2, 3);
    qkv_params params = prob_params(&p, (how){0});
    answer a = prob_run(&p, (how){0});
    float out[12];
    for (int h = 0; h < HOSTS; h++) {
        control_set(hosts[h]);
        const qkv_status s = qkv_attention(&params, p.q, p.k, p.v, out, NULL);
        const uint32_t after = control_get();
        params.use = QKV_USE_SCALE;
        params.scale = 1e-45;
        qkv_error err = qkv_error_init();
        const qkv_status refused = qkv_attention(&params, p.q, p.k, p.v, out, &err);
        const uint32_t after_refusal = control_get();
        control_set(USUAL);
        params.use = 0;
        assert_int_equal(s, QKV_OK);
        assert_int_equal(refused, QKV_EARG);
        assert_int_equal(after, hosts[h]);
        assert_int_equal(after_refusal, hosts[h]);
        assert_memory_equal(out, a.out, sizeof out);
    }
    answer_free(&a);
    prob_free(&p);
}

/* ---- many at once ---------------------------------------------------------------------------- */

typedef struct user {
    const prob *p;
    const qkv_plan *plan;
    const qkv_threads *threads;
    const answer *want;
    atomic_int *wrong;
} user;

static void *run_again(void *arg)
{
    const user *const u = arg;
    void *const out = malloc(u->want->out_bytes), *const lse = malloc(u->want->lse_bytes);
    qkv_run_args args = qkv_run_args_init();
    args.q = u->p->q;
    args.k = u->p->k;
    args.v = u->p->v;
    args.out = out;
    args.lse = lse;
    args.workspace = aligned_alloc(64, qkv_plan_workspace(u->plan));
    args.workspace_size = qkv_plan_workspace(u->plan);
    args.threads = u->threads;
    for (int i = 0; i < 12; i++) {
        const qkv_status s = qkv_run(u->plan, &args, NULL);
        if (s != QKV_OK || memcmp(out, u->want->out, u->want->out_bytes) != 0 ||
            memcmp(lse, u->want->lse, u->want->lse_bytes) != 0) {
            atomic_fetch_add(u->wrong, 1);
        }
    }
    free(args.workspace);
    free(out);
    free(lse);
    return NULL;
}

static void share(int users, bool pool)
{
    rng r = rng_from(604);
    prob p = prob_new(QKV_F32, 2, 4, 2, 100, 200, 24, 16);
    prob_normal(&p, &r);
    prob_causal(&p, 100);
    const qkv_params x = prob_params(&p, (how){.threads = 3});
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
    answer want = prob_run(&p, (how){0});
    executor e;
    executor_init(&e, pool ? EXEC_POOL : EXEC_NULL, 3);
    const qkv_threads *const threads = pool ? qkv_pool_threads(e.pool) : NULL;
    atomic_int wrong = 0;
    user u = {&p, plan, threads, &want, &wrong};
    pthread_t thread[8];
    for (int i = 0; i < users; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, run_again, &u), 0);
    }
    for (int i = 0; i < users; i++) pthread_join(thread[i], NULL);
    assert_int_equal(wrong, 0);
    executor_done(&e);
    qkv_plan_destroy(plan);
    answer_free(&want);
    prob_free(&p);
}

static void eight_threads_share_a_plan(void **state)
{
    (void)state;
    share(8, false);
}

static void runs_share_a_pool(void **state)
{
    (void)state;
    share(2, true);
    share(8, true);
}

/* ---- cancelling from outside ------------------------------------------------------------------ */

static void *raise_flag(void *arg)
{
    usleep(20000);
    __atomic_store_n((int32_t *)arg, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Work for hours: many items, or one item that meets 2^40 keys (all of them the same one). */
static void cancel_from_another_thread(void **state)
{
    (void)state;
    for (int one_item = 0; one_item < 2; one_item++) {
        prob p = prob_new(QKV_F32, 1, 8, 1, one_item ? 1 : 20000, 64, 64, 64);
        qkv_params x = prob_params(&p, (how){.threads = 2});
        x.k.dim[2] = x.v.dim[2] = INT64_C(1) << (one_item ? 40 : 20);
        memset(x.k.stride, 0, sizeof x.k.stride);
        memset(x.v.stride, 0, sizeof x.v.stride);
        x.k.stride[3] = x.v.stride[3] = 1;
        qkv_plan *plan = NULL;
        qkv_pool *pool = NULL;
        qkv_error e = qkv_error_init();
        if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
        assert_int_equal(qkv_pool_create(&pool, 2, NULL, NULL), QKV_OK);
        int32_t flag = 0;
        qkv_run_args args = qkv_run_args_init();
        args.q = p.q;
        args.k = p.k;
        args.v = p.v;
        args.out = malloc((size_t)prob_nout(&p) * sizeof(float));
        args.workspace = workspace_new(plan);
        args.workspace_size = qkv_plan_workspace(plan);
        args.threads = qkv_pool_threads(pool);
        args.cancel = &flag;
        pthread_t thread;
        struct timespec a, b;
        alarm(60); /* if nobody looks at the flag */
        assert_int_equal(pthread_create(&thread, NULL, raise_flag, &flag), 0);
        clock_gettime(CLOCK_MONOTONIC, &a);
        const qkv_status s = qkv_run(plan, &args, &e);
        clock_gettime(CLOCK_MONOTONIC, &b);
        alarm(0);
        pthread_join(thread, NULL);
        assert_int_equal(s, QKV_ESTOPPED);
        assert_string_equal(e.arg, "args.cancel");
        assert_true(b.tv_sec - a.tv_sec <= 2); /* a tile; slack for a busy machine */
        free(args.workspace);
        free(args.out);
        qkv_pool_destroy(pool);
        qkv_plan_destroy(plan);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calling_thread),         cmocka_unit_test(the_callers_threads),
        cmocka_unit_test(the_pools_threads),          cmocka_unit_test(the_other_functions),
        cmocka_unit_test(eight_threads_share_a_plan), cmocka_unit_test(runs_share_a_pool),
        cmocka_unit_test(cancel_from_another_thread),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
