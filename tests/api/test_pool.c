/* SPDX-License-Identifier: MIT */
/* test_pool.c - the thread pool as an executor: each index exactly once, one run at a time without
 * waiting, small and silly sizes, signals left to the program's own threads, the caller's CPU to the
 * caller.
 */
#include "helpers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static qkv_pool *pool_of(int32_t n)
{
    qkv_error e = qkv_error_init();
    qkv_pool *pool = NULL;
    if (qkv_pool_create(&pool, n, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    assert_non_null(pool);
    return pool;
}

static void sizes_are_checked(void **state)
{
    (void)state;
    qkv_pool *pool = (qkv_pool *)(uintptr_t)64;
    static const int32_t bad[] = {-1, INT32_MIN, 1025, INT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        qkv_error e = qkv_error_init();
        pool = (qkv_pool *)(uintptr_t)64;
        assert_int_equal(qkv_pool_create(&pool, bad[i], NULL, &e), QKV_EARG);
        assert_null(pool);
        assert_string_equal(e.arg, "nthreads");
        assert_int_equal(e.got, bad[i]);
        assert_non_null(strstr(e.text, "nthreads"));
        assert_non_null(strstr(e.text, bad[i] < 0 ? "0" : "1024"));
    }
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_pool_create(NULL, 1, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "pool");
    qkv_pool_destroy(NULL);
    assert_null(qkv_pool_threads(NULL));
    for (int32_t n = 0; n <= 9; n += 3) {
        pool = pool_of(n);
        const qkv_threads *const t = qkv_pool_threads(pool);
        assert_int_equal(t->size, sizeof(qkv_threads));
        assert_in_range(t->nthreads, 1, n > 0 ? n : qkv_pool_cpus());
        qkv_pool_destroy(pool);
    }
}

static void cpus_follow_the_affinity_mask(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    const int32_t n = qkv_pool_cpus();
    assert_in_range(n, 1, CPU_COUNT(&before));
    int first = 0;
    while (!CPU_ISSET(first, &before)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(qkv_pool_cpus(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(qkv_pool_cpus(), n);
}

typedef struct tally {
    atomic_int count[64];
    atomic_int threads_seen;
    pthread_t caller;
} tally;

static void count_one(void *arg, int32_t i)
{
    tally *const t = arg;
    atomic_fetch_add(&t->count[i], 1);
    if (!pthread_equal(pthread_self(), t->caller)) atomic_fetch_add(&t->threads_seen, 1);
    usleep(50);
}

static void assert_counts(qkv_pool *pool, int32_t ntasks)
{
    tally t = {.caller = pthread_self()};
    const qkv_threads *const x = qkv_pool_threads(pool);
    x->parallel_for(x->ctx, ntasks, count_one, &t);
    for (int i = 0; i < 64; i++) assert_int_equal(t.count[i], i < ntasks ? 1 : 0);
}

static void each_index_runs_once(void **state)
{
    (void)state;
    for (int32_t n = 1; n <= 8; n++) {
        qkv_pool *const pool = pool_of(n);
        for (int32_t ntasks = 0; ntasks <= qkv_pool_threads(pool)->nthreads; ntasks++) {
            for (int again = 0; again < 20; again++) assert_counts(pool, ntasks);
        }
        assert_counts(pool, 64); /* more than promised by the library is still right */
        qkv_pool_destroy(pool);
    }
}

static void workers_do_some_of_it(void **state)
{
    (void)state;
    qkv_pool *const pool = pool_of(4);
    tally t = {.caller = pthread_self()};
    const qkv_threads *const x = qkv_pool_threads(pool);
    for (int i = 0; i < 200 && t.threads_seen == 0; i++) {
        x->parallel_for(x->ctx, x->nthreads, count_one, &t);
    }
    assert_true(x->nthreads == 1 || t.threads_seen > 0);
    qkv_pool_destroy(pool);
}

typedef struct nest {
    qkv_pool *pool;
    tally inner;
    atomic_int outer;
} nest;

static void go_deeper(void *arg, int32_t i)
{
    nest *const n = arg;
    const qkv_threads *const x = qkv_pool_threads(n->pool);
    (void)i;
    atomic_fetch_add(&n->outer, 1);
    x->parallel_for(x->ctx, 3, count_one, &n->inner);
}

/* A task that uses its own pool: that is a second run, which goes serially and does not deadlock. */
static void a_run_inside_a_run(void **state)
{
    (void)state;
    nest n = {.pool = pool_of(4)};
    const qkv_threads *const x = qkv_pool_threads(n.pool);
    x->parallel_for(x->ctx, x->nthreads, go_deeper, &n);
    assert_int_equal(n.outer, x->nthreads);
    for (int i = 0; i < 3; i++) assert_int_equal(n.inner.count[i], x->nthreads);
    qkv_pool_destroy(n.pool);
}

static void *use_pool(void *arg)
{
    for (int i = 0; i < 200; i++) assert_counts(arg, 3);
    return NULL;
}

static void many_callers_of_one_pool(void **state)
{
    (void)state;
    qkv_pool *const pool = pool_of(3);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, use_pool, pool), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    qkv_pool_destroy(pool);
}

/* A child that only destroys the pool it inherited, or that does not touch it, must not hang. */
static void a_fork_that_only_destroys(void **state)
{
    (void)state;
    qkv_pool *const pool = pool_of(4);
    assert_counts(pool, 4);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        qkv_pool_destroy(pool);
        _exit(0);
    }
    int end = 0;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    qkv_pool_destroy(pool);
}

typedef struct masks {
    atomic_int seen, open;
    pthread_t caller;
} masks;

static void look_at_mask(void *arg, int32_t i)
{
    masks *const m = arg;
    sigset_t set;
    (void)i;
    usleep(100);
    if (pthread_equal(pthread_self(), m->caller)) return;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    atomic_fetch_add(&m->seen, 1);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD};
    for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) {
        if (!sigismember(&set, signals[s])) atomic_fetch_add(&m->open, 1);
    }
}

static void workers_block_signals(void **state)
{
    (void)state;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    qkv_pool *const pool = pool_of(4);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int s = 1; s < 32; s++) assert_int_equal(sigismember(&before, s), sigismember(&after, s));
    masks m = {.caller = pthread_self()};
    const qkv_threads *const x = qkv_pool_threads(pool);
    for (int i = 0; i < 200 && m.seen == 0; i++) {
        x->parallel_for(x->ctx, x->nthreads, look_at_mask, &m);
    }
    assert_true(x->nthreads == 1 || m.seen > 0);
    assert_int_equal(m.open, 0);
    qkv_pool_destroy(pool);
}

/* Workers sleep: an idle pool uses no processor time. */
static void an_idle_pool_uses_no_time(void **state)
{
    (void)state;
    qkv_pool *const pool = pool_of(4);
    assert_counts(pool, 4);
    struct timespec a, b;
    usleep(20000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    usleep(200000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    const double used = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    if (used > 0.05) fail_msg("%g s of processor time in 0.2 s of waiting", used);
    qkv_pool_destroy(pool);
}

typedef struct places {
    pthread_t caller;
    pthread_barrier_t all; /* so that each thread has one index */
    cpu_set_t worker;
} places;

static void see_place(void *arg, int32_t i)
{
    places *const p = arg;
    (void)i;
    pthread_barrier_wait(&p->all);
    if (!pthread_equal(pthread_self(), p->caller))
        sched_getaffinity(0, sizeof p->worker, &p->worker);
}

/* A caller that moves from CPU to CPU has each to itself, and its own mask stays. */
static void workers_keep_off_the_callers_cpu(void **state)
{
    (void)state;
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    qkv_pool *const pool = pool_of(2);
    const qkv_threads *const x = qkv_pool_threads(pool);
    for (int cpu = 0; cpu < CPU_SETSIZE && x->nthreads == 2; cpu++) {
        cpu_set_t one;
        if (!CPU_ISSET(cpu, &before)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        places p = {.caller = pthread_self()};
        pthread_barrier_init(&p.all, NULL, 2);
        x->parallel_for(x->ctx, 2, see_place, &p);
        pthread_barrier_destroy(&p.all);
        cpu_set_t others = before;
        if (CPU_COUNT(&before) > 1) CPU_CLR(cpu, &others); /* one CPU is everybody's */
        assert_true(CPU_EQUAL(&p.worker, &others));
        assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
        assert_true(CPU_EQUAL(&after, &one));
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    qkv_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(cpus_follow_the_affinity_mask),
        cmocka_unit_test(each_index_runs_once),
        cmocka_unit_test(workers_do_some_of_it),
        cmocka_unit_test(a_run_inside_a_run),
        cmocka_unit_test(many_callers_of_one_pool),
        cmocka_unit_test(a_fork_that_only_destroys),
        cmocka_unit_test(workers_block_signals),
        cmocka_unit_test(an_idle_pool_uses_no_time),
        cmocka_unit_test(workers_keep_off_the_callers_cpu),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
