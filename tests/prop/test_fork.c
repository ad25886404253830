/* SPDX-License-Identifier: MIT */
/* test_fork.c - a process that forks after it has used a pool: the child has only the forking thread,
 * makes new workers at its first use, and computes the same bits; so does a grandchild; the parent
 * goes on. A deadlock ends by alarm.
 *
 * Prints TAP by itself, because a skip of cmocka's counts as a failure for Meson: the thread
 * sanitizer cannot follow threads that a forked child starts.
 */
#include "helpers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct rig {
    prob p;
    qkv_plan *plan;
    qkv_pool *pool;
    qkv_run_args args;
    answer want, got;
    atomic_int elsewhere; /* tasks on other threads than the first */
    pthread_t first;
} rig;

static void note_thread(void *arg, int32_t i)
{
    rig *const r = arg;
    (void)i;
    usleep(100);
    if (!pthread_equal(pthread_self(), r->first)) atomic_fetch_add(&r->elsewhere, 1);
}

/* 1: the pool has workers, and a run on it gives the right bits, again and again */
static int works(rig *r)
{
    const qkv_threads *const t = qkv_pool_threads(r->pool);
    int ok = 1;
    r->first = pthread_self();
    r->elsewhere = 0;
    for (int i = 0; i < 300 && r->elsewhere == 0; i++) {
        t->parallel_for(t->ctx, t->nthreads, note_thread, r);
    }
    ok &= t->nthreads == 1 || r->elsewhere > 0;
    for (int i = 0; i < 10; i++) {
        memset(r->got.out, 0x5A, r->got.out_bytes);
        ok &= qkv_run(r->plan, &r->args, NULL) == QKV_OK;
        ok &= memcmp(r->got.out, r->want.out, r->want.out_bytes) == 0;
        ok &= memcmp(r->got.lse, r->want.lse, r->want.lse_bytes) == 0;
    }
    return ok;
}

static rig rig_new(void)
{
    rig r = {.p = prob_new(QKV_F32, 2, 4, 2, 64, 200, 24, 16)};
    prob_gen(&r.p, 1, 2, 3);
    const qkv_params x = prob_params(&r.p, (how){.threads = 4});
    if (qkv_plan_create(&r.plan, &x, NULL, NULL) != QKV_OK) abort();
    if (qkv_pool_create(&r.pool, 4, NULL, NULL) != QKV_OK) abort();
    r.want = prob_run(&r.p, (how){0});
    r.got = prob_run(&r.p, (how){0});
    r.args = qkv_run_args_init();
    r.args.q = r.p.q;
    r.args.k = r.p.k;
    r.args.v = r.p.v;
    r.args.out = r.got.out;
    r.args.lse = r.got.lse;
    r.args.workspace = workspace_new(r.plan);
    r.args.workspace_size = qkv_plan_workspace(r.plan);
    r.args.threads = qkv_pool_threads(r.pool);
    return r;
}

static void rig_free(rig *r)
{
    qkv_pool_destroy(r->pool);
    qkv_plan_destroy(r->plan);
    free(r->args.workspace);
    answer_free(&r->want);
    answer_free(&r->got);
    prob_free(&r->p);
}

/* generations of children, each of which works before and after it has forked */
static int generations(rig *r, int n)
{
    int ok = works(r);
    if (n == 0) return ok;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        const int fine = generations(r, n - 1);
        rig_free(r);
        _exit(fine ? 0 : 1);
    }
    ok &= works(r);
    int end = 1;
    ok &= child > 0 && waitpid(child, &end, 0) == child && end == 0;
    return ok;
}

/* The first use in the child by several threads at the same moment. */
static void *use(void *arg)
{
    const rig *const r = arg;
    rig own = rig_new();
    qkv_run_args args = own.args;
    args.threads = qkv_pool_threads(r->pool);
    int ok = 1;
    for (int i = 0; i < 10; i++) {
        ok &= qkv_run(own.plan, &args, NULL) == QKV_OK;
        ok &= memcmp(own.got.out, own.want.out, own.want.out_bytes) == 0;
    }
    rig_free(&own);
    return ok ? arg : NULL;
}

static int many_first_users(rig *r)
{
    int ok = works(r);
    for (int round = 0; round < 5; round++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            pthread_t thread[3];
            int fine = 1;
            for (int i = 0; i < 3; i++) fine &= pthread_create(&thread[i], NULL, use, r) == 0;
            for (int i = 0; i < 3; i++) {
                void *result = NULL;
                pthread_join(thread[i], &result);
                fine &= result != NULL;
            }
            rig_free(r);
            _exit(fine ? 0 : 1);
        }
        int end = 1;
        ok &= child > 0 && waitpid(child, &end, 0) == child && end == 0;
    }
    return ok && works(r);
}

int main(void)
{
    static const char *const names[2] = {"children and grandchildren",
                                         "many first users in a child"};
    int failed = 0;
    printf("1..2\n");
    for (int i = 0; i < 2; i++) {
        if (thread_sanitized()) {
            printf("ok %d - %s # SKIP threads of a forked child\n", i + 1, names[i]);
            continue;
        }
        fflush(stdout);
        rig r = rig_new();
        const int ok = i == 0 ? generations(&r, 2) : many_first_users(&r);
        rig_free(&r);
        printf("%s %d - %s\n", ok ? "ok" : "not ok", i + 1, names[i]);
        failed |= !ok;
    }
    return failed;
}
