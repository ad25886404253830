/* SPDX-License-Identifier: MIT */
/* test_describe.c - the text of a plan: a line "name: value" each, every name there, the length
 * returned as snprintf does, never a byte too many, the same under a comma locale; and the promise
 * that the workspace does not grow with rows, heads or batch.
 */
#include "helpers.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static qkv_plan *plan_of(const prob *p, how h)
{
    const qkv_params x = prob_params(p, h);
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    return plan;
}

static void every_line_is_there(void **state)
{
    (void)state;
    static const char *const names[] = {"libqkv", "contract", "kernel",  "types", "rows per item",
                                        "items",  "tasks",    "mask",    "scale", "workspace",
                                        "pages",  "strides",  "channels"};
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    prob p = prob_new(QKV_F32, 1, 2, 2, 300, 300, 64, 64);
    prob_causal(&p, 0);
    for (int i = 0; i < n; i++) {
        qkv_plan *const plan = plan_of(&p, (how){.isa = isa[i], .threads = 2});
        char value[256];
        for (size_t l = 0; l < sizeof names / sizeof names[0]; l++) {
            describe_line(plan, names[l], value, sizeof value);
            if (value[0] == '\0') fail_msg("no line \"%s: ...\"", names[l]);
        }
        describe_line(plan, "kernel", value, sizeof value);
        const char *const name = i < n - 1 ? qkv_isa_name(isa[i]) : "reference";
        if (strstr(value, name) == NULL) fail_msg("kernel %s, wanted %s", value, name);
        describe_line(plan, "contract", value, sizeof value);
        assert_string_equal(value, "1");
        describe_line(plan, "libqkv", value, sizeof value);
        assert_non_null(strstr(value, "0.1.0"));
        describe_line(plan, "mask", value, sizeof value);
        assert_non_null(strstr(value, "causal"));
        describe_line(plan, "scale", value, sizeof value);
        assert_int_equal(strncmp(value, "0.125", 5), 0);
        describe_line(plan, "workspace", value, sizeof value);
        assert_int_equal(strtoull(value, NULL, 10), qkv_plan_workspace(plan));
        qkv_plan_destroy(plan);
    }
    prob_free(&p);
}

/* What lies with its channels apart is copied, and the text says so; the bits are the same. */
static void copies_are_told(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 40; rows += 39) { /* few rows, and tiles */
        prob p = prob_new(QKV_F32, 1, 1, 1, rows, 50, 16, 16);
        qkv_params x = prob_params(&p, (how){0});
        char value[256];
        for (int apart = 0; apart < 16; apart++) {
            qkv_plan *plan = NULL;
            x.q.stride[3] = apart & 4 ? 2 : 1;
            x.out.stride[3] = apart & 8 ? 2 : 1;
            x.q.stride[2] = x.out.stride[2] = 32;
            x.k.stride[3] = apart & 1 ? 50 : 1;
            x.k.stride[2] = apart & 1 ? 1 : 16;
            x.v.stride[3] = apart & 2 ? 50 : 1;
            x.v.stride[2] = apart & 2 ? 1 : 16;
            assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
            describe_line(plan, "channels", value, sizeof value);
            assert_int_equal(strstr(value, "k copied") != NULL, apart & 1);
            const bool v =
                strstr(value, "v copied") != NULL || strstr(value, "v in strips") != NULL;
            if (apart & 2) assert_true(v);
            assert_int_equal(strstr(value, "q gathered") != NULL, (apart & 4) != 0);
            assert_int_equal(strstr(value, "out scattered") != NULL, (apart & 8) != 0);
            if (apart == 0 && rows == 1) assert_string_equal(value, "k in place, v in place");
            describe_line(plan, "pages", value, sizeof value);
            assert_non_null(strstr(value, "2 MiB"));
            qkv_plan_destroy(plan);
        }
        prob_free(&p);
    }
}

static void lengths_are_those_of_snprintf(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F64, 2, 2, 1, 5, 7, 3, 4);
    qkv_plan *const plan = plan_of(&p, (how){0});
    char whole[2048], part[2048];
    const size_t n = qkv_plan_describe(plan, whole, sizeof whole);
    assert_in_range(n, 50, sizeof whole - 1);
    assert_int_equal(strlen(whole), n);
    assert_int_equal(qkv_plan_describe(plan, NULL, 0), n);
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)whole[i];
        assert_true(c == '\n' || (c >= 32 && c < 127));
    }
    for (size_t size = 1; size <= n + 2; size++) {
        memset(part, 0x5A, sizeof part);
        assert_int_equal(qkv_plan_describe(plan, part, size), n);
        const size_t len = size - 1 < n ? size - 1 : n;
        assert_int_equal(strlen(part), len);
        assert_memory_equal(part, whole, len);
        for (size_t i = size; i < sizeof part; i++) assert_int_equal(part[i], 0x5A);
    }
    qkv_plan_destroy(plan);
    prob_free(&p);
}

static void the_same_plan_placed_or_created(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char mem[65536];
    prob p = prob_new(QKV_F32, 1, 2, 1, 50, 70, 30, 40);
    const qkv_params x = prob_params(&p, (how){.threads = 2});
    qkv_plan *const created = plan_of(&p, (how){.threads = 2});
    qkv_plan *placed = NULL;
    assert_true(qkv_plan_size() <= sizeof mem);
    assert_int_equal(qkv_plan_place(&placed, mem, sizeof mem, &x, NULL), QKV_OK);
    char a[2048], b[2048];
    qkv_plan_describe(created, a, sizeof a);
    qkv_plan_describe(placed, b, sizeof b);
    assert_string_equal(a, b);
    assert_int_equal(qkv_plan_workspace(created), qkv_plan_workspace(placed));
    qkv_plan_destroy(created);
    prob_free(&p);
}

static size_t workspace_of(int32_t isa, int32_t threads, int64_t b, int64_t h, int64_t s, int64_t d,
                           int64_t dv, int32_t dtype)
{
    qkv_params x = qkv_params_init();
    x.isa = isa;
    x.max_threads = threads;
    x.q = qkv_shape_dense(dtype, b, h, s, d);
    x.k = qkv_shape_dense(dtype, b, h, s, d);
    x.v = x.out = qkv_shape_dense(dtype, b, h, s, dv);
    qkv_plan *plan = NULL;
    qkv_error e = qkv_error_init();
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    const size_t n = qkv_plan_workspace(plan);
    qkv_plan_destroy(plan);
    assert_int_equal(n % 64, 0);
    return n;
}

static void the_workspace_does_not_grow_with_the_sequence(void **state)
{
    (void)state;
    static const int64_t dims[] = {1, 64, 80, 128, 200, 256};
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int i = 0; i < n; i++) {
        for (size_t j = 0; j < sizeof dims / sizeof dims[0]; j++) {
            for (int t = 0; t < 2; t++) {
                const int32_t type = t ? QKV_F64 : QKV_F32;
                const int64_t d = dims[j];
                const size_t small = workspace_of(isa[i], 1, 1, 1, 4096, d, d, type);
                if (small > (size_t)2 << 20) fail_msg("d %d: %zu bytes", (int)d, small);
                assert_true(workspace_of(isa[i], 1, 64, 16, 4096, d, d, type) <= small + 64);
                /* longer rows: at most one more node of the fold tree a level */
                const size_t far = workspace_of(isa[i], 1, 1, 1, INT64_C(1) << 30, d, d, type);
                if (far > (size_t)2 << 20) fail_msg("d %d, 2^30 keys: %zu bytes", (int)d, far);
                const size_t eight = workspace_of(isa[i], 8, 64, 16, 4096, d, d, type);
                assert_true(eight <= 8 * small + 4096);
            }
        }
    }
}

static void max_threads_bounds_the_tasks(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 2, 4, 4, 200, 60, 16, 16);
    prob_gen(&p, 1, 2, 3);
    for (int32_t most = 1; most <= 5; most++) {
        const qkv_params x = prob_params(&p, (how){.threads = most});
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &x, NULL, NULL), QKV_OK);
        for (int32_t have = 1; have <= 7; have += 3) {
            executor e;
            executor_init(&e, EXEC_BACKWARDS, have);
            qkv_run_args r = qkv_run_args_init();
            float *const out = malloc((size_t)prob_nout(&p) * sizeof(float));
            r.q = p.q;
            r.k = p.k;
            r.v = p.v;
            r.out = out;
            r.workspace = workspace_new(plan);
            r.workspace_size = qkv_plan_workspace(plan);
            r.threads = executor_threads(&e);
            assert_int_equal(qkv_run(plan, &r, NULL), QKV_OK);
            assert_true(e.most_tasks <= (most < have ? most : have));
            assert_true(e.calls <= 3);
            free(r.workspace);
            free(out);
        }
        qkv_plan_destroy(plan);
    }
    prob_free(&p);
}

/* Only the library's own number text may be used: a comma locale changes nothing. */
static void a_comma_locale_changes_no_text(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 1, 1, 1, 2, 2, 64, 64);
    qkv_plan *const plan = plan_of(&p, (how){0});
    char before[2048], after[2048];
    qkv_plan_describe(plan, before, sizeof before);
    const char *const got = setlocale(LC_ALL, "de_DE.UTF-8");
    const bool comma = got != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
    qkv_plan_describe(plan, after, sizeof after);
    prob_scale(&p, 1e-45);
    const qkv_params x = prob_params(&p, (how){0});
    qkv_plan *bad = NULL;
    qkv_error e = qkv_error_init();
    const qkv_status s = qkv_plan_create(&bad, &x, NULL, &e);
    setlocale(LC_ALL, "C");
    qkv_plan_destroy(plan);
    prob_free(&p);
    assert_string_equal(before, after);
    assert_int_equal(s, QKV_EARG);
    assert_non_null(strstr(e.text, "e-45"));
    if (!comma) fail_msg("no locale de_DE.UTF-8 in LOCPATH: is the package locales there?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_there),
        cmocka_unit_test(copies_are_told),
        cmocka_unit_test(lengths_are_those_of_snprintf),
        cmocka_unit_test(the_same_plan_placed_or_created),
        cmocka_unit_test(the_workspace_does_not_grow_with_the_sequence),
        cmocka_unit_test(max_threads_bounds_the_tasks),
        cmocka_unit_test(a_comma_locale_changes_no_text),
    };
    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
