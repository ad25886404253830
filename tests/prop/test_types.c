/* SPDX-License-Identifier: MIT */
/* test_types.c - what the types of q, k, v and out may and may not change. A type is only how numbers
 * are held: the same numbers in another one give the same bits, at any address; the error against
 * float64 does not grow with 16 bits in the cache, at 4,096 keys or at 65,536; and the cases that
 * break programs which compute in 16 bits.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t dtypes[4] = {QKV_F32, QKV_F16, QKV_BF16, QKV_F64};
static const char *const names[4] = {"f32", "f16", "bf16", "f64"};

static size_t bytes_of(int32_t dtype)
{
    return dtype == QKV_F64 ? 8 : dtype == QKV_F32 ? 4 : 2;
}

/* Towards zero: what is stored only has to be the same for all who read it. */
static uint16_t half_bits(int32_t dtype, double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (dtype == QKV_BF16) return (uint16_t)(bits >> 16);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    int exponent;
    const double part = frexp(fabs(x), &exponent); /* x = part 2^exponent, part in [1/2, 1) */
    if (fabs(x) < 0x1p-24) return sign;
    if (exponent < -13) return (uint16_t)(sign | (int)ldexp(fabs(x), 24));
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)ldexp(part, 11) & 1023));
}

static void store(void *x, int32_t dtype, int64_t i, double value)
{
    const float f = (float)value;
    const uint16_t h = half_bits(dtype, value);
    const size_t n = bytes_of(dtype);
    memcpy((char *)x + (size_t)i * n,
           dtype == QKV_F64   ? (const void *)&value
           : dtype == QKV_F32 ? (const void *)&f
                              : (const void *)&h,
           n);
}

static double load(const void *x, int32_t dtype, int64_t i)
{
    double value = 0;
    float f = 0;
    uint16_t h = 0;
    const char *const at = (const char *)x + (size_t)i * bytes_of(dtype);
    if (dtype == QKV_F64) {
        memcpy(&value, at, 8);
        return value;
    }
    if (dtype == QKV_F32) {
        memcpy(&f, at, 4);
        return (double)f;
    }
    memcpy(&h, at, 2);
    if (dtype == QKV_BF16) {
        const uint32_t bits = (uint32_t)h << 16;
        memcpy(&f, &bits, 4);
        return (double)f;
    }
    const int exponent = h >> 10 & 31;
    value = exponent ? ldexp(1024 + (h & 1023), exponent - 25) : ldexp(h & 1023, -24);
    if (exponent == 31) value = h & 1023 ? (double)NAN : (double)INFINITY;
    return h & 0x8000 ? -value : value;
}

/* One head, no batch. Memory of each tensor begins `odd` bytes off. */
typedef struct task {
    int32_t q_type, k_type, v_type, out_type, isa;
    int64_t rows, keys, d, dv;
    double scale; /* 0: the default */
    void *q, *k, *v, *out, *lse;
    int odd;
    void *mem[5];
    qkv_shape bias;
    const void *bias_data; /* NULL: none */
} task;

static void *take(task *t, int which, int64_t n, int32_t dtype)
{
    const size_t size = (size_t)n * bytes_of(dtype);
    t->mem[which] = malloc(size + (size_t)t->odd + 1);
    assert_non_null(t->mem[which]);
    memset(t->mem[which], 0x5a, size + (size_t)t->odd + 1);
    return (char *)t->mem[which] + t->odd;
}

static void task_take(task *t)
{
    t->q = take(t, 0, t->rows * t->d, t->q_type);
    t->k = take(t, 1, t->keys * t->d, t->k_type);
    t->v = take(t, 2, t->keys * t->dv, t->v_type);
    t->out = take(t, 3, t->rows * t->dv, t->out_type);
    t->lse = take(t, 4, t->rows, QKV_F64);
}

static void task_free(task *t)
{
    for (int i = 0; i < 5; i++) free(t->mem[i]);
}

static void task_run(task *t)
{
    qkv_params p = qkv_params_init();
    qkv_run_args a = qkv_run_args_init();
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    p.isa = t->isa;
    p.q = qkv_shape_dense(t->q_type, 1, 1, t->rows, t->d);
    p.k = qkv_shape_dense(t->k_type, 1, 1, t->keys, t->d);
    p.v = qkv_shape_dense(t->v_type, 1, 1, t->keys, t->dv);
    p.out = qkv_shape_dense(t->out_type, 1, 1, t->rows, t->dv);
    if (t->scale != 0) p.use |= QKV_USE_SCALE;
    p.scale = t->scale;
    if (t->bias_data) p.use |= QKV_USE_BIAS;
    p.bias = t->bias;
    if (qkv_plan_create(&plan, &p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    a.q = t->q;
    a.k = t->k;
    a.v = t->v;
    a.out = t->out;
    a.lse = t->lse;
    a.bias = t->bias_data;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    free(a.workspace);
    qkv_plan_destroy(plan);
}

static double lse_of(const task *t, int64_t row)
{
    return load(t->lse, t->q_type == QKV_F64 ? QKV_F64 : QKV_F32, row);
}

static void fill(task *t, uint64_t seed)
{
    rng r = rng_from(seed);
    for (int64_t i = 0; i < t->rows * t->d; i++) store(t->q, t->q_type, i, rng_normal(&r));
    for (int64_t i = 0; i < t->keys * t->d; i++) store(t->k, t->k_type, i, rng_normal(&r));
    for (int64_t i = 0; i < t->keys * t->dv; i++) store(t->v, t->v_type, i, rng_normal(&r));
}

/* ---- accuracy -------------------------------------------------------------------------------- */

/* The largest error of a row of float32 against the float64 reference on the same numbers. */
static double row_error_at(int32_t kv, int64_t rows, int64_t keys)
{
    task t = {.q_type = QKV_F32,
              .k_type = kv,
              .v_type = kv,
              .out_type = QKV_F64,
              .rows = rows,
              .keys = keys,
              .d = 64,
              .dv = 64};
    task_take(&t);
    fill(&t, 601);
    task_run(&t);
    double *const got = malloc(sizeof(double) * (size_t)rows * 64);
    assert_non_null(got);
    memcpy(got, t.out, sizeof(double) * (size_t)rows * 64);
    t.isa = QKV_ISA_REFERENCE;
    task_run(&t);
    double worst = 0;
    for (int64_t r = 0; r < rows; r++) {
        double size = 0, off = 0;
        for (int64_t c = 0; c < 64; c++) {
            const double want = load(t.out, QKV_F64, r * 64 + c);
            size = fmax(size, fabs(want));
            off = fmax(off, fabs(got[r * 64 + c] - want));
        }
        worst = fmax(worst, off / size);
    }
    free(got);
    task_free(&t);
    return worst;
}

/* float64 against long double: the reference, a plain softmax, would be the larger part of the error. */
static double f64_error_at(int64_t rows, int64_t keys)
{
    prob p = prob_new(QKV_F64, 1, 1, 1, rows, keys, 64, 64);
    rng r = rng_from(601);
    prob_normal(&p, &r);
    answer a = prob_run(&p, (how){0});
    const row_error e = judge(&p, &a, rows, false);
    answer_free(&a);
    prob_free(&p);
    return e.max;
}

static void error_at_4096_and_65536_keys(void **state)
{
    (void)state;
    static const int64_t keys[2] = {4096, 65536}, rows[2] = {1, 32}; /* few rows, and tiles */
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < 4; n++) {
            if (n >= 2 && sanitized()) continue; /* the arithmetic is the same */
            const int wide = dtypes[i] == QKV_F64;
            const double e = wide ? f64_error_at(rows[n % 2], keys[n / 2])
                                  : row_error_at(dtypes[i], rows[n % 2], keys[n / 2]);
            print_message("# keys and values in %s, %lld keys, %lld row%s: row %.2g\n", names[i],
                          (long long)keys[n / 2], (long long)rows[n % 2], n % 2 ? "s" : "", e);
            assert_true(e <= (wide ? 3e-15 : 1.5e-6));
        }
}

/* ---- the same numbers, the same bits ----------------------------------------------------------- */

static void a_type_changes_no_bit(void **state)
{
    (void)state;
    rng r = rng_from(602);
    for (int i = 0; i < effort(60); i++) {
        const int32_t kv[2] = {dtypes[rng_range(&r, 0, 2)], dtypes[rng_range(&r, 0, 2)]};
        task narrow = {.q_type = dtypes[rng_range(&r, 0, 2)],
                       .k_type = kv[0],
                       .v_type = kv[1],
                       .out_type = QKV_F32,
                       .rows = rng_range(&r, 1, 60),
                       .keys = rng_range(&r, 1, 300),
                       .d = rng_range(&r, 1, 70),
                       .dv = rng_range(&r, 1, 70),
                       .odd = (int)rng_range(&r, 0, 5)}; /* C73: any byte address */
        task plain = narrow;
        plain.q_type = plain.k_type = plain.v_type = QKV_F32;
        plain.odd = 0;
        task_take(&narrow);
        task_take(&plain);
        fill(&narrow, rng_next(&r));
        for (int64_t n = 0; n < plain.rows * plain.d; n++)
            store(plain.q, QKV_F32, n, load(narrow.q, narrow.q_type, n));
        for (int64_t n = 0; n < plain.keys * plain.d; n++)
            store(plain.k, QKV_F32, n, load(narrow.k, narrow.k_type, n));
        for (int64_t n = 0; n < plain.keys * plain.dv; n++)
            store(plain.v, QKV_F32, n, load(narrow.v, narrow.v_type, n));
        task_run(&narrow);
        task_run(&plain);
        assert_memory_equal(narrow.out, plain.out, (size_t)(plain.rows * plain.dv) * 4);
        assert_memory_equal(narrow.lse, plain.lse, (size_t)plain.rows * 4);
        task_free(&narrow);
        task_free(&plain);
    }
}

/* ---- cases ------------------------------------------------------------------------------------ */

static void same_type(task *t, int32_t dtype)
{
    t->q_type = t->k_type = t->v_type = t->out_type = dtype;
}

/* C06: the smallest f16 as a bias, and scores below it */
static void c06_the_smallest_f16_and_a_negative_score(void **state)
{
    (void)state;
    static const double q[2] = {4, 4}, k[4] = {-2.5, -2.5, -2.625, -2.5}, v[2] = {1, 2};
    static const uint16_t bias[2] = {0xfbff, 0xfbff};
    task t = {.rows = 1,
              .keys = 2,
              .d = 2,
              .dv = 1,
              .scale = 1,
              .bias_data = bias,
              .bias = qkv_shape_dense(QKV_F16, 1, 1, 1, 2)};
    same_type(&t, QKV_F16);
    t.out_type = QKV_F32;
    task_take(&t);
    for (int i = 0; i < 2; i++) store(t.q, QKV_F16, i, q[i]);
    for (int i = 0; i < 4; i++) store(t.k, QKV_F16, i, k[i]);
    for (int i = 0; i < 2; i++) store(t.v, QKV_F16, i, v[i]);
    task_run(&t);
    /* float32 holds -65524 to 1/128, so the difference of the scores is off by so much */
    assert_true(fabs(load(t.out, QKV_F32, 0) - 1.3775406688) <= 2e-3);
    assert_true(fabs(lse_of(&t, 0) + 65523.5259230158) <= 0.01);
    task_free(&t);
}

/* C14: dot products beyond the largest f16 */
static void c14_dot_products_above_65504(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        const int64_t d = second ? 64 : 128;
        task t = {.rows = 1, .keys = 2, .d = d, .dv = 1};
        same_type(&t, QKV_F16);
        t.out_type = QKV_F32;
        task_take(&t);
        for (int64_t c = 0; c < d; c++) {
            store(t.q, QKV_F16, c, second ? 64 : 200);
            store(t.k, QKV_F16, c, second ? 64 : 200);
            store(t.k, QKV_F16, d + c, second ? (c ? 64 : 63.875) : 199);
        }
        store(t.v, QKV_F16, 0, 1);
        store(t.v, QKV_F16, 1, 0);
        task_run(&t);
        const double out = second ? 0.7310585786 : 1,
                     lse = second ? 32768.3132616875 : 452548.3399593904;
        assert_true(fabs(load(t.out, QKV_F32, 0) - out) <= 3e-3);
        assert_true(fabs(lse_of(&t, 0) - lse) <= lse * 2e-5);
        task_free(&t);
    }
}

/* C17: a long row of equal scores: sums in 16 bits would stop at 2,048 or at 256 */
static void c17_a_long_row_of_equal_scores(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        task t = {.rows = 1, .keys = 4096, .d = 8, .dv = 8};
        same_type(&t, dtypes[i]);
        task_take(&t);
        fill(&t, 603);
        for (int64_t n = 0; n < 8; n++) store(t.q, dtypes[i], n, 0);
        for (int64_t n = 0; n < 4096 * 8; n++) store(t.v, dtypes[i], n, 1);
        task_run(&t);
        for (int64_t c = 0; c < 8; c++)
            assert_true(fabs(load(t.out, dtypes[i], c) - 1) <= (i ? 0 : 16 * 0x1p-24));
        assert_true(fabs(lse_of(&t, 0) - 8.3177661667) <= 2e-6);
        task_free(&t);
    }
}

/* C20: one key gives its value, in 16 bits exactly */
static void c20_one_key(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        task t = {.rows = 3, .keys = 1, .d = 5, .dv = 40};
        same_type(&t, dtypes[i]);
        task_take(&t);
        fill(&t, 604);
        task_run(&t);
        const double ulp = dtypes[i] == QKV_F64 ? 0x1p-52 : dtypes[i] == QKV_F32 ? 0x1p-23 : 0;
        for (int64_t n = 0; n < 3 * 40; n++) {
            const double want = load(t.v, dtypes[i], n % 40);
            assert_true(fabs(load(t.out, dtypes[i], n) - want) <= fabs(want) * ulp);
        }
        task_free(&t);
    }
}

/* Results too large for 16 bits are infinite, and those too small zero, never -0. */
static void outputs_overflow_and_vanish(void **state)
{
    (void)state;
    static const double v[4] = {65519.99, 65520, -1e-30, -3e-8};
    static const uint16_t f16[4] = {0x7bff, 0x7c00, 0, 0x8001};
    task t = {.rows = 1, .keys = 1, .d = 1, .dv = 4};
    same_type(&t, QKV_F32);
    t.out_type = QKV_F16;
    task_take(&t);
    store(t.q, QKV_F32, 0, 0);
    store(t.k, QKV_F32, 0, 0);
    for (int i = 0; i < 4; i++) store(t.v, QKV_F32, i, v[i]);
    task_run(&t);
    assert_memory_equal(t.out, f16, sizeof f16);
    task_free(&t);
}

/* A finite score and a bias at the end of the numbers stay finite together: one key is one key. */
static void scores_and_biases_saturate(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int wide = i / 2, below = i % 2;
        const double largest = wide ? (double)__DBL_MAX__ : (double)__FLT_MAX__;
        const double end = below ? -largest : largest,
                     score = ldexp(below ? -1 : 1, wide ? 1000 : 120);
        char bias[8];
        task t = {.rows = 1,
                  .keys = 1,
                  .d = 1,
                  .dv = 1,
                  .scale = 1,
                  .bias_data = bias,
                  .bias = qkv_shape_dense(wide ? QKV_F64 : QKV_F32, 1, 1, 1, 1)};
        same_type(&t, wide ? QKV_F64 : QKV_F32);
        store(bias, t.q_type, 0, end);
        task_take(&t);
        store(t.q, t.q_type, 0, 1);
        store(t.k, t.q_type, 0, score);
        store(t.v, t.q_type, 0, 3);
        task_run(&t);
        assert_true(load(t.out, t.q_type, 0) == 3);
        assert_true(isfinite(lse_of(&t, 0)));
        task_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_at_4096_and_65536_keys),
        cmocka_unit_test(a_type_changes_no_bit),
        cmocka_unit_test(c06_the_smallest_f16_and_a_negative_score),
        cmocka_unit_test(c14_dot_products_above_65504),
        cmocka_unit_test(c17_a_long_row_of_equal_scores),
        cmocka_unit_test(c20_one_key),
        cmocka_unit_test(outputs_overflow_and_vanish),
        cmocka_unit_test(scores_and_biases_saturate),
    };
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
