/* SPDX-License-Identifier: MIT */
/* test_oom_library.c - every public function with its n-th request for memory refused, for every n:
 * the right status, nothing leaked, nothing half-made, and the next call works. Most functions ask
 * for nothing at all; that is asserted too.
 */
#include "helpers.h"

#include "fail_nth.h"
#include <stdlib.h>
#include <string.h>

/* ---- through the caller's allocator: sizes and pairs are checked ------------------------------- */

typedef struct ledger {
    int calls, fail_at, open;
    size_t bytes_open;
} ledger;

static void *ledger_alloc(void *ctx, size_t bytes, size_t align)
{
    ledger *const l = ctx;
    if (++l->calls == l->fail_at) return NULL;
    assert_true(bytes > 0 && align > 0 && (align & (align - 1)) == 0);
    unsigned char *const p = aligned_alloc(align, (bytes + align - 1) / align * align);
    assert_non_null(p);
    memset(p, 0xA5, bytes); /* nobody may expect zeros */
    l->open++;
    l->bytes_open += bytes;
    return p;
}

static void ledger_release(void *ctx, void *mem, size_t bytes)
{
    ledger *const l = ctx;
    assert_non_null(mem);
    l->open--;
    l->bytes_open -= bytes; /* the size that was asked for comes back */
    free(mem);
}

static qkv_allocator ledger_of(ledger *l)
{
    qkv_allocator a = qkv_allocator_init();
    a.alloc = ledger_alloc;
    a.release = ledger_release;
    a.ctx = l;
    return a;
}

static prob small(void)
{
    prob p = prob_new(QKV_F32, 1, 2, 1, 5, 9, 4, 4);
    prob_gen(&p, 1, 2, 3);
    return p;
}

static void plans_through_an_allocator(void **state)
{
    (void)state;
    prob q = small();
    const qkv_params p = prob_params(&q, (how){0});
    int n = 1;
    for (;; n++) {
        ledger l = {.fail_at = n};
        const qkv_allocator a = ledger_of(&l);
        qkv_plan *plan = (qkv_plan *)(uintptr_t)64;
        qkv_error e = qkv_error_init();
        const qkv_status s = qkv_plan_create(&plan, &p, &a, &e);
        if (s == QKV_OK) {
            assert_true(l.calls < n);
            assert_true(l.open > 0);
            qkv_plan_destroy(plan);
            assert_int_equal(l.open, 0);
            assert_int_equal(l.bytes_open, 0);
            break;
        }
        assert_int_equal(s, QKV_ENOMEM);
        assert_null(plan);
        assert_int_equal(l.open, 0);
        assert_int_equal(e.status, QKV_ENOMEM);
        assert_true(e.got > 0); /* how much was asked for */
        assert_non_null(strstr(e.text, "memory"));
    }
    assert_true(n > 1);
    prob_free(&q);
}

static void pools_through_an_allocator(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 5; threads += 2) {
        int n = 1;
        for (;; n++) {
            ledger l = {.fail_at = n};
            const qkv_allocator a = ledger_of(&l);
            qkv_pool *pool = (qkv_pool *)(uintptr_t)64;
            qkv_error e = qkv_error_init();
            const qkv_status s = qkv_pool_create(&pool, threads, &a, &e);
            if (s == QKV_OK) qkv_pool_destroy(pool);
            assert_int_equal(l.open, 0);
            assert_int_equal(l.bytes_open, 0);
            if (l.calls < n) break;
            assert_int_equal(s, QKV_ENOMEM);
            assert_null(pool);
            assert_non_null(strstr(e.text, "memory"));
        }
        assert_true(n > 1);
    }
}

/* ---- through the C library ------------------------------------------------------------------- */

static void plans_and_runs_in_one_call(void **state)
{
    (void)state;
    int32_t isa[9];
    int count = usable_isas(isa);
    isa[count++] = QKV_ISA_REFERENCE;
    prob q = small();
    for (int i = 0; i < count; i++) {
        const qkv_params p = prob_params(&q, (how){.isa = isa[i]});
        float out[40];
        long n = 1;
        for (;; n++) {
            memset(out, 0x5A, sizeof out);
            qkv_error e = qkv_error_init();
            fail_nth(n);
            const qkv_status s = qkv_attention(&p, q.q, q.k, q.v, out, &e);
            const int happened = fail_nth_happened();
            fail_nth(0);
            if (!happened) {
                assert_int_equal(s, QKV_OK);
                break;
            }
            assert_int_equal(s, QKV_ENOMEM);
            assert_non_null(strstr(e.text, "memory"));
            for (size_t j = 0; j < sizeof out; j++) assert_int_equal(((char *)out)[j], 0x5A);
        }
        assert_true(n > 1);
    }
    prob_free(&q);
}

static void plans_from_the_c_library(void **state)
{
    (void)state;
    prob q = small();
    const qkv_params p = prob_params(&q, (how){0});
    qkv_plan *plan = NULL;
    fail_nth(1);
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_ENOMEM);
    assert_int_equal(fail_nth_happened(), 1);
    fail_nth(0);
    assert_null(plan);
    prob_free(&q);
}

static void each_thread_of_a_pool_may_fail(void **state)
{
    (void)state;
    prob q = prob_new(QKV_F32, 2, 4, 2, 50, 60, 8, 8);
    prob_gen(&q, 1, 2, 3);
    answer want = prob_run(&q, (how){0});
    const qkv_params p = prob_params(&q, (how){.threads = 4});
    for (long n = 1;; n++) {
        qkv_pool *pool = NULL;
        fail_nth(n);
        const qkv_status s = qkv_pool_create(&pool, 4, NULL, NULL);
        const int happened = fail_nth_happened();
        fail_nth(0);
        if (s != QKV_OK) { /* memory; a thread that does not start makes a smaller pool instead */
            assert_int_equal(s, QKV_ENOMEM);
            assert_null(pool);
            continue;
        }
        const qkv_threads *const t = qkv_pool_threads(pool);
        if (happened) {
            assert_in_range(t->nthreads, 1, 3);
        } else {
            assert_int_equal(t->nthreads, 4);
        }
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
        answer a = prob_run(&q, (how){0});
        memset(a.out, 0x5A, a.out_bytes);
        qkv_run_args r = qkv_run_args_init();
        r.q = q.q;
        r.k = q.k;
        r.v = q.v;
        r.out = a.out;
        r.lse = a.lse;
        r.workspace = workspace_new(plan);
        r.workspace_size = qkv_plan_workspace(plan);
        r.threads = t;
        assert_int_equal(qkv_run(plan, &r, NULL), QKV_OK);
        assert_same_answer(&want, &a, "a pool of %d", (int)t->nthreads);
        free(r.workspace);
        answer_free(&a);
        qkv_plan_destroy(plan);
        qkv_pool_destroy(pool);
        if (!happened) break;
    }
    answer_free(&want);
    prob_free(&q);
}

/* ---- those that may not ask for memory at all ------------------------------------------------- */

static int look(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                const void *x, int64_t n)
{
    (void)ctx, (void)stage, (void)batch, (void)head, (void)row, (void)key, (void)x, (void)n;
    return 0;
}

static void nothing_else_asks_for_memory(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char mem[65536], buffer[4096];
    prob q = prob_new(QKV_F32, 2, 4, 2, 60, 9000, 8, 8);
    prob_gen(&q, 1, 2, 3);
    qkv_params p = prob_params(&q, (how){.threads = 3});
    qkv_pool *pool = NULL;
    assert_int_equal(qkv_pool_create(&pool, 3, NULL, NULL), QKV_OK);
    const qkv_threads *const warm = qkv_pool_threads(pool);
    answer a = prob_run(&q, (how){0});
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_place(&plan, mem, sizeof mem, &p, NULL), QKV_OK);
    qkv_run_args r = qkv_run_args_init();
    r.q = q.q;
    r.k = q.k;
    r.v = q.v;
    r.out = a.out;
    r.lse = a.lse;
    r.workspace = workspace_new(plan);
    r.workspace_size = qkv_plan_workspace(plan);
    qkv_partial part[2] = {qkv_partial_init(), qkv_partial_init()};
    part[0].key_end = part[1].key_begin = 4096;
    part[1].key_end = 9000;
    for (int i = 0; i < 2; i++) {
        part[i].data_size = qkv_partial_size(plan, part[i].key_begin, part[i].key_end);
        part[i].data = malloc(part[i].data_size);
    }
    qkv_tap tap = qkv_tap_init();
    tap.row = look;
    tap.stages = 1u << QKV_STAGE_WEIGHT;
    qkv_probe_args probe_args = qkv_probe_args_init();
    probe_args.kind = QKV_PROBE_READ;
    probe_args.repeat = 1;
    probe_args.buffer = buffer;
    probe_args.buffer_size = sizeof buffer;
    char text[2048];
    double y[4], x[4] = {0}, amount;
    qkv_error e = qkv_error_init();

    fail_nth(1);
    int ok = qkv_plan_place(&plan, mem, sizeof mem, &p, &e) == QKV_OK;
    ok &= qkv_plan_describe(plan, text, sizeof text) > 0 && qkv_plan_size() > 0;
    for (int t = 0; t < 3; t++) {
        r.threads = t == 1 ? warm : NULL;
        r.tap = t == 2 ? &tap : NULL;
        ok &= qkv_run(plan, &r, &e) == QKV_OK;
        r.tap = NULL;
        ok &= qkv_run_partial(plan, &r, &part[0], &e) == QKV_OK;
        ok &= qkv_run_partial(plan, &r, &part[1], &e) == QKV_OK;
        ok &= qkv_partial_finish(plan, &r, part, 2, &e) == QKV_OK;
    }
    ok &= qkv_ref_project(y, x, x, NULL, 2, 2, 2, &e) == QKV_OK && qkv_ref_exp(0.0) > 0;
    ok &= qkv_probe(&probe_args, &amount, &e) == QKV_OK;
    ok &= qkv_isa_count() > 0 && qkv_isa_usable(QKV_ISA_SCALAR) == 1 && qkv_version() > 0;
    p.k.dim[3] = 5; /* a refusal */
    ok &= qkv_plan_place(&plan, mem, sizeof mem, &p, &e) == QKV_ESHAPE;
    const int happened = fail_nth_happened();
    const long calls = fail_nth_calls();
    fail_nth(0);
    if (happened || !ok) fail_msg("%ld requests for memory; %s", calls, e.text);
    assert_int_equal(calls, 0);

    for (int i = 0; i < 2; i++) free(part[i].data);
    free(r.workspace);
    qkv_pool_destroy(pool);
    answer_free(&a);
    prob_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_through_an_allocator),
        cmocka_unit_test(pools_through_an_allocator),
        cmocka_unit_test(plans_and_runs_in_one_call),
        cmocka_unit_test(plans_from_the_c_library),
        cmocka_unit_test(each_thread_of_a_pool_may_fail),
        cmocka_unit_test(nothing_else_asks_for_memory),
    };
    return cmocka_run_group_tests_name("oom_library", tests, NULL, NULL);
}
