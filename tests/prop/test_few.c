/* SPDX-License-Identifier: MIT */
/* test_few.c - few rows (a decoding step) have kernels and a way through the library of their own. Their
 * bits are those of the tiles: the same rows are run whole, by spans on several threads, by another
 * table, and with a tap, which looks at tiles.
 */
#include "guard.h"
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

static int see_nothing(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t position,
                       int64_t key, const void *x, int64_t n)
{
    (void)ctx, (void)stage, (void)batch, (void)head, (void)position, (void)key, (void)x, (void)n;
    return 0;
}

/* Runs p; describe must contain `says`. With a tap if tapped. Out, then lse: free it. */
static char *run(const prob *p, int32_t isa, int32_t threads, int tapped, const char *says)
{
    const qkv_params x = prob_params(p, (how){.isa = isa, .threads = threads});
    qkv_error e = qkv_error_init();
    qkv_plan *plan;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    char text[4096];
    qkv_plan_describe(plan, text, sizeof text);
    if (strstr(text, says) == NULL) fail_msg("no \"%s\" in: %s", says, text);
    const size_t out = (size_t)(p->b * p->hq * p->sq * p->dv) * type_size(p->dtype);
    const size_t lse = (size_t)(p->b * p->hq * p->sq) * type_size(p->dtype);
    char *const result = malloc(out + lse + 1);
    qkv_tap tap = qkv_tap_init();
    tap.row = see_nothing;
    executor exec;
    executor_init(&exec, EXEC_BACKWARDS, threads);
    qkv_run_args a = qkv_run_args_init();
    prob_args(p, &a);
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = result;
    a.lse = result + out;
    a.workspace_size = qkv_plan_workspace(plan);
    a.workspace = aligned_alloc(64, a.workspace_size + 64 - a.workspace_size % 64);
    a.threads = executor_threads(&exec);
    a.tap = tapped ? &tap : NULL;
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s: %s", prob_text(p), e.text);
    executor_done(&exec);
    free(a.workspace);
    qkv_plan_destroy(plan);
    return result;
}

static void expect_same(const prob *p, const char *what, char *want, char *got)
{
    const size_t n = (size_t)(p->b * p->hq * p->sq * (p->dv + 1)) * type_size(p->dtype);
    if (memcmp(want, got, n)) fail_msg("%s is not the tiles': %s", what, prob_text(p));
    free(got);
}

static void the_same_bits_as_tiles(void **state)
{
    (void)state;
    rng r = rng_from(77);
    int apart = 0, grouped = 0, narrow = 0;
    for (int i = 0; i < effort(60); i++) {
        const int32_t type = rng_range(&r, 0, 2) ? QKV_F32 : QKV_F64;
        const int64_t hkv = rng_range(&r, 1, 2), group = rng_range(&r, 1, 3);
        const int64_t rows = rng_range(&r, 0, 1) ? 1 : rng_range(&r, 2, 3);
        const int64_t keys = i % 6 == 0 ? rng_range(&r, 4097, 13000) : rng_range(&r, 0, 700);
        prob p = prob_new(type, rng_range(&r, 1, 2), hkv * group, hkv, rows, keys,
                          rng_range(&r, 1, 150), rng_range(&r, 1, 150));
        prob_normal(&p, &r);
        if (i % 2) prob_random_mask(&p, &r);
        if (p.use & (QKV_USE_MASK | QKV_USE_PACKED)) { /* these take tiles */
            prob_free(&p);
            continue;
        }
        if (i % 4 == 1) prob_poison_unseen(&p, i);
        char *const want = run(&p, QKV_ISA_BEST, 1, 1, "few rows");
        expect_same(&p, "one thread", want, run(&p, QKV_ISA_BEST, 1, 0, "few rows"));
        expect_same(&p, "eight threads", want, run(&p, QKV_ISA_BEST, 8, 0, "few rows"));
        if ((double)keys * (double)(p.d + p.dv) < 1e5)
            expect_same(&p, "scalar", want, run(&p, QKV_ISA_SCALAR, 1, 0, "few rows"));
        apart += keys > 4096;
        grouped += group > 1 && rows == 1;
        narrow += p.use != 0;
        free(want);
        prob_free(&p);
    }
    if (!sanitized()) assert_true(apart >= 3 && grouped >= 10 && narrow >= 10);
}

static void spans_are_done_apart(void **state)
{
    (void)state;
    rng r = rng_from(78);
    prob p = prob_new(QKV_F32, 1, 1, 1, 1, 5 * 4096 + 5, 16, 16);
    prob_normal(&p, &r);
    free(run(&p, QKV_ISA_BEST, 1, 0, "tasks: 1\n"));
    free(run(&p, QKV_ISA_BEST, 4, 0, "items: 6\ntasks: 4\n")); /* one head, one row: six spans */
    prob_free(&p);
}

/* Keys and values of every type, of which the last byte is the last that may be read. */
static void keys_end_where_memory_ends(void **state)
{
    static const int32_t types[3] = {QKV_F32, QKV_F16, QKV_BF16};
    (void)state;
    rng r = rng_from(79);
    for (int i = 0; i < effort(60); i++) {
        const int32_t type = i % 4 ? QKV_F32 : QKV_F64;
        prob p = prob_new(type, 1, 2, 1, rng_range(&r, 1, 3), rng_range(&r, 1, 300),
                          rng_range(&r, 1, 150), rng_range(&r, 1, 150));
        prob_normal(&p, &r);
        qkv_params x = prob_params(&p, (how){.isa = i % 5 ? QKV_ISA_BEST : QKV_ISA_SCALAR});
        if (type == QKV_F32) { /* the same bytes, other numbers */
            x.k.dtype = types[rng_range(&r, 0, 2)];
            x.v.dtype = types[rng_range(&r, 0, 2)];
        }
        const size_t bytes = (size_t)(2 * p.sq * p.dv) * type_size(type);
        char *const want = malloc(2 * bytes), *const got = want + bytes;
        guarded k, v;
        qkv_error e = qkv_error_init();
        const void *const k_end = guard(&k, p.k, p.sk * p.d * (int64_t)type_size(x.k.dtype), 0);
        const void *const v_end = guard(&v, p.v, p.sk * p.dv * (int64_t)type_size(x.v.dtype), 0);
        if (qkv_attention(&x, p.q, p.k, p.v, want, &e)) fail_msg("%s", e.text);
        if (qkv_attention(&x, p.q, k_end, v_end, got, &e)) fail_msg("%s", e.text);
        if (memcmp(want, got, bytes)) fail_msg("%s", prob_text(&p));
        guard_free(&k);
        guard_free(&v);
        free(want);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_as_tiles),
        cmocka_unit_test(spans_are_done_apart),
        cmocka_unit_test(keys_end_where_memory_ends),
    };
    return cmocka_run_group_tests_name("few", tests, NULL, NULL);
}
