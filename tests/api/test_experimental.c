/* SPDX-License-Identifier: MIT */
/* test_experimental.c - qkv_ref_exp, qkv_ref_project, qkv_ref_attend, qkv_probe: right values, every
 * refusal. */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void exp_is_within_two_ulp(void **state)
{
    (void)state;
    rng r = rng_from(7);
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        const double x = i < 200000 ? (rng_unit(&r) - 0.5) * 4 : -708 + rng_unit(&r) * 1417;
        const long double want = expl((long double)x);
        const double got = qkv_ref_exp(x);
        const double ulp = nextafter((double)want, (double)INFINITY) - (double)want;
        const double error = (double)fabsl(((long double)got - want) / (long double)ulp);
        if (!(error <= worst)) worst = error;
    }
    if (!(worst <= 2)) fail_msg("%g ulp", worst);
}

static void exp_at_the_ends(void **state)
{
    (void)state;
    assert_true(qkv_ref_exp(0.0) == 1 && qkv_ref_exp(-0.0) == 1);
    assert_true(qkv_ref_exp((double)INFINITY) == (double)INFINITY);
    assert_true(qkv_ref_exp(709.9) == (double)INFINITY);
    assert_true(isfinite(qkv_ref_exp(709.7)));
    const double zero = qkv_ref_exp(-(double)INFINITY);
    assert_true(zero == 0 && !signbit(zero));
    assert_true(qkv_ref_exp(-745.3) == 0 && qkv_ref_exp(-1e300) == 0);
    assert_true(isnan(qkv_ref_exp((double)NAN)));
    assert_true(fabs(qkv_ref_exp(1) - 2.718281828459045) < 1e-15);
    const double sub = qkv_ref_exp(-740);
    assert_true(sub > 0 && fabs(sub / exp(-740) - 1) < 1e-3);
}

static void project_is_the_plain_sum(void **state)
{
    (void)state;
    enum { ROWS = 3, IN = 5, OUT = 4 };
    double x[ROWS * IN], w[IN * OUT], b[OUT], y[ROWS * OUT];
    fill_gen(x, QKV_F64, ROWS * IN, 1);
    fill_gen(w, QKV_F64, IN * OUT, 2);
    fill_gen(b, QKV_F64, OUT, 3);
    for (int bias = 0; bias < 2; bias++) {
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_ref_project(y, x, w, bias ? b : NULL, ROWS, IN, OUT, &e), QKV_OK);
        for (int i = 0; i < ROWS; i++) {
            for (int o = 0; o < OUT; o++) {
                double sum = 0;
                for (int c = 0; c < IN; c++) sum += x[i * IN + c] * w[c * OUT + o];
                if (bias) sum += b[o];
                assert_true(y[i * OUT + o] == sum); /* multiples of 2^-12: exact in any order */
            }
        }
    }
    /* no inputs: the bias, or +0 */
    assert_int_equal(qkv_ref_project(y, NULL, NULL, b, ROWS, 0, OUT, NULL), QKV_OK);
    assert_true(y[0] == b[0] && y[ROWS * OUT - 1] == b[OUT - 1]);
    assert_int_equal(qkv_ref_project(y, NULL, NULL, NULL, ROWS, 0, OUT, NULL), QKV_OK);
    for (int i = 0; i < ROWS * OUT; i++) assert_true(is_plus_zero(y, QKV_F64, i));
    assert_int_equal(qkv_ref_project(NULL, NULL, w, NULL, 0, IN, OUT, NULL), QKV_OK);
    assert_int_equal(qkv_ref_project(NULL, x, NULL, NULL, ROWS, IN, 0, NULL), QKV_OK);
}

static void assert_project(const char *arg, double *y, const double *x, const double *w,
                           int64_t rows, int64_t in, int64_t out)
{
    qkv_error e = qkv_error_init();
    const qkv_status s = qkv_ref_project(y, x, w, NULL, rows, in, out, &e);
    if (s != QKV_EARG || strcmp(e.arg, arg) != 0) fail_msg("%s: %s", arg, e.text);
    assert_non_null(strstr(e.text, arg));
    assert_true(strlen(e.text) < sizeof e.text - 1);
}

static void project_refuses(void **state)
{
    (void)state;
    double y[4] = {0}, x[4] = {0}, w[4] = {0};
    assert_project("y", NULL, x, w, 2, 2, 2);
    assert_project("x", y, NULL, w, 2, 2, 2);
    assert_project("w", y, x, NULL, 2, 2, 2);
    assert_project("rows", y, x, w, -1, 2, 2);
    assert_project("in", y, x, w, 2, -1, 2);
    assert_project("out", y, x, w, 2, 2, -3);
    /* sizes past 2^63 */
    const int64_t big = INT64_C(1) << 40;
    assert_true(qkv_ref_project(y, x, w, NULL, big, big, 2, NULL) < 0);
    assert_true(qkv_ref_project(y, x, w, NULL, 2, big, big, NULL) < 0);
    assert_true(qkv_ref_project(y, x, w, NULL, big, 1, big, NULL) < 0);
}

enum { KEYS = 7, D_K = 5, D_V = 3 };

typedef struct one_row {
    double q[D_K], k[KEYS * D_K], v[KEYS * D_V];
    double score[KEYS], scaled[KEYS], masked[KEYS], weight[KEYS], out[D_V];
    qkv_ref_row row;
} one_row;

static void row_make(one_row *x)
{
    rng r = rng_from(11);
    fill_normal(x->q, QKV_F64, D_K, &r);
    fill_normal(x->k, QKV_F64, (int64_t)KEYS * D_K, &r);
    fill_normal(x->v, QKV_F64, (int64_t)KEYS * D_V, &r);
    qkv_ref_row *const a = &x->row;
    *a = qkv_ref_row_init();
    a->keys = a->seen = KEYS;
    a->d_k = D_K;
    a->d_v = D_V;
    a->scale = 0.5;
    a->q = x->q;
    a->k = x->k;
    a->v = x->v;
    a->score = x->score;
    a->scaled = x->scaled;
    a->masked = x->masked;
    a->weight = x->weight;
    a->out = x->out;
}

/* the reference of a plan gives the same bits */
static void a_row_is_a_run(void **state)
{
    (void)state;
    one_row x;
    row_make(&x);
    for (int64_t seen = 0; seen <= KEYS; seen++) {
        double out[D_V], lse;
        qkv_params p = qkv_params_init();
        p.isa = QKV_ISA_REFERENCE;
        p.q = qkv_shape_dense(QKV_F64, 1, 1, 1, D_K);
        p.k = qkv_shape_dense(QKV_F64, 1, 1, seen, D_K);
        p.v = qkv_shape_dense(QKV_F64, 1, 1, seen, D_V);
        p.out = qkv_shape_dense(QKV_F64, 1, 1, 1, D_V);
        p.use = QKV_USE_SCALE;
        p.scale = 0.5;
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
        qkv_run_args a = qkv_run_args_init();
        a.q = x.q;
        a.k = x.k;
        a.v = x.v;
        a.out = out;
        a.lse = &lse;
        void *const workspace = workspace_new(plan);
        a.workspace = workspace;
        a.workspace_size = qkv_plan_workspace(plan);
        assert_int_equal(qkv_run(plan, &a, NULL), QKV_OK);
        free(workspace);
        qkv_plan_destroy(plan);
        x.row.seen = seen;
        assert_int_equal(qkv_ref_attend(&x.row, NULL), QKV_OK);
        assert_memory_equal(out, x.out, sizeof out);
        assert_memory_equal(&lse, &x.row.lse, sizeof lse);
        double sum = 0;
        for (int j = 0; j < KEYS; j++) {
            assert_true(x.scaled[j] == x.score[j] * 0.5);
            assert_true(j < seen ? x.masked[j] == x.scaled[j] : x.masked[j] == -(double)INFINITY);
            assert_true(j < seen ? x.weight[j] > 0 : is_plus_zero(x.weight, QKV_F64, j));
            sum += x.weight[j];
        }
        assert_true(seen == 0 ? sum == 0 : fabs(sum - 1) < 1e-15);
    }
}

static void assert_row(const char *arg, one_row *x)
{
    qkv_error e = qkv_error_init();
    const qkv_status s = qkv_ref_attend(&x->row, &e);
    if (s == QKV_OK || strcmp(e.arg, arg) != 0) fail_msg("%s: %s", arg, e.text);
    assert_non_null(strstr(e.text, arg));
    row_make(x);
}

static void a_row_refuses(void **state)
{
    (void)state;
    one_row x;
    row_make(&x);
    assert_true(qkv_ref_attend(NULL, NULL) == QKV_EARG);
    x.row.size = 8;
    assert_row("row.size", &x);
    x.row.reserved = 1;
    assert_row("row.reserved", &x);
    x.row.keys = -1;
    assert_row("row.keys", &x);
    x.row.d_k = 0;
    assert_row("row.d_k", &x);
    x.row.d_v = -1;
    assert_row("row.d_v", &x);
    x.row.seen = -1;
    assert_row("row.seen", &x);
    x.row.seen = KEYS + 1;
    assert_row("row.keys", &x);
    x.row.keys = INT64_C(1) << 60;
    assert_row("row.k", &x);
    x.row.v = NULL;
    assert_row("row.v", &x);
    x.row.masked = NULL;
    assert_row("row.masked", &x);
    x.row.out = NULL;
    assert_row("row.out", &x);
}

static qkv_status probe_with(int32_t kind, int32_t isa, int32_t variant, int64_t repeat,
                             const void *buffer, size_t size, double *amount, qkv_error *e)
{
    qkv_probe_args a = qkv_probe_args_init();
    a.kind = kind;
    a.isa = isa;
    a.variant = variant;
    a.repeat = repeat;
    a.buffer = buffer;
    a.buffer_size = size;
    *e = qkv_error_init();
    return qkv_probe(&a, amount, e);
}

static void the_probe_counts_its_work(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    void *const buffer = aligned_alloc(64, 65536);
    assert_non_null(buffer);
    memset(buffer, 0, 65536);
    qkv_error e;
    for (int i = 0; i < n; i++) {
        for (int32_t kind = QKV_PROBE_FMA_F32; kind <= QKV_PROBE_FED_F64; kind++) {
            int32_t variants = 0;
            double one, three;
            while (variants < 64 &&
                   probe_with(kind, isa[i], variants, 1, buffer, 65536, &one, &e) == QKV_OK) {
                assert_true(one > 0);
                assert_int_equal(probe_with(kind, isa[i], variants, 3, buffer, 65536, &three, &e),
                                 QKV_OK);
                assert_true(three == 3 * one);
                if (kind == QKV_PROBE_READ) assert_true(one == 65536);
                variants++;
            }
            assert_in_range(variants, 1, 63);
            assert_int_equal(probe_with(kind, isa[i], variants, 1, buffer, 65536, &one, &e),
                             QKV_EARG);
            assert_string_equal(e.arg, "args.variant");
        }
    }
    /* two threads do twice the arithmetic */
    executor x;
    executor_init(&x, EXEC_SERIAL, 2);
    qkv_probe_args a = qkv_probe_args_init();
    a.kind = QKV_PROBE_FMA_F32;
    a.repeat = 1;
    double one, two;
    assert_int_equal(qkv_probe(&a, &one, NULL), QKV_OK);
    a.threads = &x.threads;
    assert_int_equal(qkv_probe(&a, &two, NULL), QKV_OK);
    assert_true(two == 2 * one);
    free(buffer);
}

static void the_probe_refuses(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char mem[4096 + 64];
    double amount = -1;
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_probe(NULL, &amount, &e), QKV_EARG);
    assert_string_equal(e.arg, "args");
    assert_int_equal(probe_with(1, 0, 0, 1, NULL, 0, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "amount");
    static const struct {
        const char *arg;
        int32_t kind, isa, variant;
        int64_t repeat;
        int buffer; /* 0 NULL, 1 good, 2 misaligned */
    } bad[] = {
        {"args.kind", 0, 0, 0, 1, 1},     {"args.kind", 6, 0, 0, 1, 1},
        {"args.kind", -1, 0, 0, 1, 1},    {"args.isa", 1, 77, 0, 1, 1},
        {"args.isa", 1, -1, 0, 1, 1}, /* the reference has no loops */
        {"args.variant", 1, 0, -1, 1, 1}, {"args.variant", 1, 0, 1000, 1, 1},
        {"args.repeat", 1, 0, 0, 0, 1},   {"args.repeat", 1, 0, 0, -1, 1},
        {"args.buffer", 3, 0, 0, 1, 0},   {"args.buffer", 3, 0, 0, 1, 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const unsigned char *const buffer = bad[i].buffer ? mem + (bad[i].buffer == 2) : NULL;
        const qkv_status s = probe_with(bad[i].kind, bad[i].isa, bad[i].variant, bad[i].repeat,
                                        buffer, 4096, &amount, &e);
        if (s >= 0 || strcmp(e.arg, bad[i].arg) != 0) fail_msg("%s: %s", bad[i].arg, e.text);
        assert_non_null(strstr(e.text, bad[i].arg));
        assert_true(strlen(e.text) < sizeof e.text - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_two_ulp),
        cmocka_unit_test(exp_at_the_ends),
        cmocka_unit_test(project_is_the_plain_sum),
        cmocka_unit_test(project_refuses),
        cmocka_unit_test(a_row_is_a_run),
        cmocka_unit_test(a_row_refuses),
        cmocka_unit_test(the_probe_counts_its_work),
        cmocka_unit_test(the_probe_refuses),
    };
    return cmocka_run_group_tests_name("experimental", tests, NULL, NULL);
}
