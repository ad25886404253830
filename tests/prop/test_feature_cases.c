/* SPDX-License-Identifier: MIT */
/* test_feature_cases.c - small problems on which other programs have gone wrong, with answers that
 * were worked out elsewhere: masks that leave nothing, biases that only look like masks, the order of
 * cap and mask, slopes in decoding, sinks, weights on request, all of it together.
 *
 * Each runs on the kernels in both types and on the reference.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40000 }; /* numbers of one tensor */

/* A problem in float64; dimensions of mask and bias that are 0 count as 1. */
typedef struct call {
    int64_t b, hq, hkv, sq, sk, d, dv;
    double *q, *k, *v;
    const unsigned char *mask;
    const double *bias, *slopes, *sinks;
    int64_t mask_dim[4], bias_dim[4];
    uint64_t use;
    double scale, softcap, dropout, max_bias;
    int64_t offset, left, right;
    int64_t kv_len[2];
    bool keep; /* weights and scores of all rows */
} call;

static double mem_q[MOST], mem_k[MOST], mem_v[MOST];
static double out[MOST], lse[2000], weight[MOST], scaled[100], capped[100], masked[100];

static call new_call(int64_t b, int64_t hq, int64_t hkv, int64_t sq, int64_t sk, int64_t d,
                     int64_t dv)
{
    call c = {.b = b, .hq = hq, .hkv = hkv, .sq = sq, .sk = sk, .d = d, .dv = dv};
    c.q = mem_q;
    c.k = mem_k;
    c.v = mem_v;
    assert_true(b * hq * sq * (d + dv) <= MOST && b * hkv * sk * (d + dv) <= MOST);
    return c;
}

static void gen(double *x, uint32_t seed, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = gen_value(seed, (uint32_t)i);
}

static void fill(call *c, uint32_t q, uint32_t k, uint32_t v)
{
    gen(c->q, q, c->b * c->hq * c->sq * c->d);
    gen(c->k, k, c->b * c->hkv * c->sk * c->d);
    gen(c->v, v, c->b * c->hkv * c->sk * c->dv);
}

static void *typed(const double *x, int64_t n, int32_t dtype)
{
    void *const y = malloc((size_t)n * 8 + 1);
    assert_non_null(y);
    for (int64_t i = 0; i < n && x; i++) put_at(y, dtype, i, x[i]);
    return y;
}

static qkv_shape pair_dims(int32_t dtype, const int64_t dim[4])
{
    return qkv_shape_dense(dtype, dim[0] ? dim[0] : 1, dim[1] ? dim[1] : 1, dim[2] ? dim[2] : 1,
                           dim[3]);
}

static qkv_params params_of(const call *c, int32_t dtype, int32_t isa)
{
    qkv_params p = qkv_params_init();
    p.isa = isa;
    p.q = qkv_shape_dense(dtype, c->b, c->hq, c->sq, c->d);
    p.k = qkv_shape_dense(dtype, c->b, c->hkv, c->sk, c->d);
    p.v = qkv_shape_dense(dtype, c->b, c->hkv, c->sk, c->dv);
    p.out = qkv_shape_dense(dtype, c->b, c->hq, c->sq, c->dv);
    p.use = c->use;
    if (c->mask) p.use |= QKV_USE_MASK;
    if (c->bias) p.use |= QKV_USE_BIAS;
    if (c->slopes || c->max_bias > 0) p.use |= QKV_USE_ALIBI;
    if (c->sinks) p.use |= QKV_USE_SINK;
    if (c->scale != 0) p.use |= QKV_USE_SCALE;
    if (c->softcap != 0) p.use |= QKV_USE_SOFTCAP;
    p.mask = pair_dims(QKV_BOOL, c->mask_dim);
    p.bias = pair_dims(dtype, c->bias_dim);
    p.scale = c->scale;
    p.softcap = c->softcap;
    p.dropout = c->dropout;
    p.alibi_max_bias = c->max_bias;
    p.q_offset = c->offset;
    p.window_left = c->left;
    p.window_right = c->right;
    return p;
}

static void untyped(double *x, const void *y, int64_t n, int32_t dtype)
{
    for (int64_t i = 0; i < n; i++) x[i] = get_at(y, dtype, i);
}

/* Runs it; results into out, lse and, if wanted, weight, scaled, capped, masked. */
static void run(const call *c, int32_t dtype, int32_t isa)
{
    const int64_t rows = c->b * c->hq * c->sq, nb = c->bias ? 1 : 0;
    const qkv_params p = params_of(c, dtype, isa);
    const int64_t bias_n = p.bias.dim[0] * p.bias.dim[1] * p.bias.dim[2] * p.bias.dim[3] * nb;
    qkv_run_args a = qkv_run_args_init();
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    void *const own[] = {typed(c->q, rows * c->d, dtype),
                         typed(c->k, c->b * c->hkv * c->sk * c->d, dtype),
                         typed(c->v, c->b * c->hkv * c->sk * c->dv, dtype),
                         typed(NULL, rows * c->dv, dtype),
                         typed(NULL, rows, dtype),
                         typed(c->bias, bias_n, dtype),
                         typed(c->slopes, c->hq, dtype),
                         typed(c->sinks, c->hq, dtype),
                         typed(NULL, 4 * rows * c->sk, dtype)};
    qkv_show show = {.size = sizeof show};
    char *const kept = own[8];
    const size_t part = (size_t)(rows * c->sk) * (dtype == QKV_F64 ? 8 : 4);
    show.weight = kept;
    show.scaled = kept + part;
    show.capped = kept + 2 * part;
    show.masked = kept + 3 * part;
    if (qkv_plan_create(&plan, &p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    a.q = own[0];
    a.k = own[1];
    a.v = own[2];
    a.out = own[3];
    a.lse = own[4];
    a.mask = c->mask;
    a.bias = c->bias ? own[5] : NULL;
    a.slopes = c->slopes ? own[6] : NULL;
    a.sinks = c->sinks ? own[7] : NULL;
    a.kv_len = c->use & QKV_USE_KV_LEN ? c->kv_len : NULL;
    a.show = c->keep ? &show : NULL;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    untyped(out, own[3], rows * c->dv, dtype);
    untyped(lse, own[4], rows, dtype);
    if (c->keep) {
        untyped(weight, show.weight, rows * c->sk, dtype);
        const int64_t few = rows * c->sk < 100 ? rows * c->sk : 0;
        untyped(scaled, show.scaled, few, dtype);
        untyped(capped, show.capped, few, dtype);
        untyped(masked, show.masked, few, dtype);
    }
    free(a.workspace);
    qkv_plan_destroy(plan);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) free(own[i]);
}

/* the three ways that each case runs */
static const struct {
    int32_t dtype, isa;
} ways[3] = {{QKV_F32, QKV_ISA_BEST}, {QKV_F64, QKV_ISA_BEST}, {QKV_F64, QKV_ISA_REFERENCE}};
#define EACH_WAY(w) for (int w = 0; w < 3; w++)

static void near_at(int line, double x, double want, int32_t dtype)
{
    const double bound = dtype == QKV_F32 ? 2e-6 + 2e-5 * fabs(want) : 2e-10 * (1 + fabs(want));
    if (x == want || fabs(x - want) <= bound) return;
    fail_msg("line %d: %.12g, wanted %.12g", line, x, want);
}
#define NEAR(x, want) near_at(__LINE__, x, want, ways[w].dtype)

static double probe_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * gen_value(777, (uint32_t)i);
    return sum;
}

static const double none = -(double)INFINITY;

static call c01(void)
{
    static const double q[4] = {1, 0, 0, 1}, k[6] = {1, 0, 0, 1, 1, 1}, v[6] = {1, 2, 3, 4, 5, 6};
    call c = new_call(1, 1, 1, 2, 3, 2, 2);
    memcpy(c.q, q, sizeof q);
    memcpy(c.k, k, sizeof k);
    memcpy(c.v, v, sizeof v);
    return c;
}

static void c01_a_row_that_a_mask_leaves_nothing(void **state)
{
    (void)state;
    static const unsigned char mask[6] = {1, 1, 0, 0, 0, 0};
    EACH_WAY(w)
    {
        call c = c01();
        c.mask = mask;
        c.mask_dim[2] = 2;
        c.mask_dim[3] = 3;
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(out[0], 1.6604769013);
        NEAR(out[1], 2.6604769013);
        assert_true(out[2] == 0 && out[3] == 0 && lse[1] == none);
        NEAR(lse[0], 1.1079403077);
        for (int j = 0; j < 3; j++) assert_true(weight[3 + j] == 0);
    }
}

static void c04_a_long_row_whose_first_blocks_are_masked(void **state)
{
    (void)state;
    enum { N = 640 };
    double *const bias = malloc(sizeof(double) * N * N);
    assert_non_null(bias);
    for (int i = 0; i < N * N; i++) bias[i] = i % N > i / N || i % N <= i / N - 10 ? none : 0;
    EACH_WAY(w)
    {
        call c = new_call(1, 1, 1, N, N, 4, 4);
        for (int i = 0; i < N * 4; i++) c.q[i] = c.k[i] = c.v[i] = 1;
        c.bias = bias;
        c.bias_dim[2] = c.bias_dim[3] = N;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int i = 0; i < N; i++) {
            for (int n = 0; n < 4; n++) assert_true(fabs(out[i * 4 + n] - 1) <= 16 * 0x1p-24);
            NEAR(lse[i], 2 + log(i < 9 ? i + 1 : 10));
        }
    }
    free(bias);
}

static void c05_c07_the_largest_negative_number_is_a_bias(void **state)
{
    (void)state;
    const double m = -0x1.fffffep+127;
    const double all[6] = {0, 0, 0, m, m, m}, mixed[6] = {none, m, m, 0, 0, none};
    EACH_WAY(w)
    {
        call c = c01();
        c.bias = all;
        c.bias_dim[2] = 2;
        c.bias_dim[3] = 3;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int i = 0; i < 4; i++) NEAR(out[i], 3 + i % 2);
        c.bias = mixed;
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        const double want[6] = {0, 0.5, 0.5, 0.3302384507, 0.6697615493, 0};
        for (int i = 0; i < 6; i++) NEAR(weight[i], want[i]);
        assert_true(weight[0] == 0 && weight[5] == 0);
        NEAR(out[0], 4);
        NEAR(out[1], 5);
        NEAR(out[2], 2.3395230987);
        NEAR(out[3], 3.3395230987);
    }
}

static void c12_a_padded_query_full_of_nan(void **state)
{
    (void)state;
    static const unsigned char mask[6] = {1, 1, 1, 0, 0, 0};
    static const double want[4] = {0.5233877558, -0.1307857157, 0.3086433623, -0.6168428545};
    EACH_WAY(w)
    {
        call c = new_call(1, 1, 1, 2, 3, 4, 4);
        fill(&c, 1, 2, 3);
        for (int n = 4; n < 8; n++) c.q[n] = (double)NAN;
        c.mask = mask;
        c.mask_dim[2] = 2;
        c.mask_dim[3] = 3;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int n = 0; n < 4; n++) {
            NEAR(out[n], want[n]);
            assert_true(out[4 + n] == 0);
        }
    }
}

static void c21_weights_far_below_are_zero(void **state)
{
    (void)state;
    static double bias[512];
    for (int j = 0; j < 512; j++) bias[j] = j % 4 ? -1e30 : 0;
    EACH_WAY(w)
    {
        call c = new_call(1, 1, 1, 1, 512, 64, 8);
        fill(&c, 1, 2, 3);
        c.bias = bias;
        c.bias_dim[3] = 512;
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        double sum = 0;
        for (int j = 0; j < 512; j++) {
            if (j % 4) assert_true(weight[j] == 0);
            sum += weight[j];
        }
        NEAR(sum, 1);
        double whole[8];
        memcpy(whole, out, sizeof whole);
        call live = new_call(1, 1, 1, 1, 128, 64, 8); /* the live columns alone */
        fill(&c, 1, 2, 3);
        for (int j = 1; j < 128; j++) {
            memmove(live.k + 64L * j, live.k + 256L * j, 64 * sizeof *live.k);
            memmove(live.v + 8L * j, live.v + 32L * j, 8 * sizeof *live.v);
        }
        run(&live, ways[w].dtype, ways[w].isa);
        for (int n = 0; n < 8; n++) NEAR(whole[n], out[n]);
    }
}

static void c23_activations_with_a_first_key_that_stands_out(void **state)
{
    (void)state;
    static double u[256];
    gen(u, 194, 256);
    EACH_WAY(w)
    {
        double whole = 0, sums = 0;
        const int64_t nq = 2L * 4 * 33 * 256, nk = 2L * 2 * 33 * 256;
        double *const q = malloc(sizeof *q * (size_t)nq), *const k = malloc(sizeof *k * (size_t)nk);
        double *const v = malloc(sizeof *v * (size_t)nk);
        assert_true(q && k && v);
        gen(q, 191, nq);
        gen(k, 192, nk);
        gen(v, 193, nk);
        for (int64_t n = 0; n < nq; n++) q[n] += u[n % 256];
        for (int64_t n = 0; n < nk; n++) {
            if (n / 256 % 33 == 0) k[n] = u[n % 256];
            if (n / 256 % 33 == 0) v[n] /= 16;
        }
        for (int64_t h = 0; h < 8; h++) { /* a head at a time: results stay small */
            call one = {.b = 1, .hq = 1, .hkv = 1, .sq = 33, .sk = 33, .d = 256, .dv = 256};
            one.q = q + h * 33 * 256;
            one.k = k + h / 2 * 33 * 256;
            one.v = v + h / 2 * 33 * 256;
            one.use = QKV_USE_CAUSAL;
            one.keep = true;
            run(&one, ways[w].dtype, ways[w].isa);
            for (int64_t n = 0; n < 33 * 256; n++)
                whole += out[n] * gen_value(777, (uint32_t)(h * 33 * 256 + n));
            for (int64_t n = 0; n < 33; n++)
                sums += lse[n] * gen_value(777, (uint32_t)(h * 33 + n));
            if (h == 0) NEAR(weight[32 * 33], 0.8719915196);
        }
        NEAR(whole, 3.0627331191);
        NEAR(sums, -35.2672254084);
        free(q);
        free(k);
        free(v);
    }
}

static call c24(void)
{
    call c = new_call(1, 1, 1, 2, 5, 4, 2);
    fill(&c, 11, 12, 13);
    c.use = QKV_USE_CAUSAL;
    c.offset = 3;
    return c;
}

static void c27_c29_c30_causal_with_a_mask_and_with_weights(void **state)
{
    (void)state;
    static const unsigned char mask[10] = {1, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static const unsigned char all[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const double zeros[10] = {0};
    static const double w27[10] = {.202256622,  .2565204005, .3240743108, .2171486667, 0,
                                   .1769905432, .1545435889, .1838389624, .2671904065, .2174364991};
    EACH_WAY(w)
    {
        double causal[4];
        call c = c24();
        run(&c, ways[w].dtype, ways[w].isa);
        memcpy(causal, out, sizeof causal);
        NEAR(causal[0], 0.2408980611);
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, causal, sizeof causal);
        for (int i = 0; i < 10; i++) NEAR(weight[i], w27[i]);
        assert_true(weight[4] == 0);
        c.use |= QKV_USE_DROPOUT; /* weights are those before it */
        c.dropout = 0.5;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int i = 0; i < 10; i++) NEAR(weight[i], w27[i]);
        assert_true(weight[4] == 0);
        c.use &= ~QKV_USE_DROPOUT;
        c.mask_dim[2] = c.bias_dim[2] = 2;
        c.mask_dim[3] = c.bias_dim[3] = 5;
        c.mask = all;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, causal, sizeof causal);
        c.mask = NULL;
        c.bias = zeros;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, causal, sizeof causal);
        c.bias = NULL;
        c.mask = mask;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(out[0], 0.2808860004);
        NEAR(out[1], -0.0654446587);
        NEAR(out[2], 0.2440485154);
        NEAR(lse[0], 1.1863255144);
        NEAR(lse[1], 1.7160339763);
    }
}

static void c31_keys_that_are_not_written_yet(void **state)
{
    (void)state;
    EACH_WAY(w)
    {
        double whole[10];
        call c = new_call(1, 1, 1, 5, 5, 4, 2);
        fill(&c, 11, 12, 13);
        c.use = QKV_USE_CAUSAL;
        run(&c, ways[w].dtype, ways[w].isa);
        memcpy(whole, out, sizeof whole);
        static const int64_t chunk[3] = {1, 2, 2};
        int64_t done = 0;
        for (int n = 0; n < 3; n++) { /* a cache of 8 slots, those beyond the length NaN */
            call part = new_call(1, 1, 1, chunk[n], 8, 4, 2);
            gen(part.q, 11, 20);
            memmove(part.q, part.q + done * 4, sizeof(double) * (size_t)chunk[n] * 4);
            gen(part.k, 12, 20);
            gen(part.v, 13, 10);
            const int64_t length = done + chunk[n];
            for (int64_t i = length * 4; i < 32; i++) part.k[i] = (double)NAN;
            for (int64_t i = length * 2; i < 16; i++) part.v[i] = (double)NAN;
            part.use = QKV_USE_CAUSAL | QKV_USE_KV_LEN;
            part.kv_len[0] = length;
            part.offset = done;
            run(&part, ways[w].dtype, ways[w].isa);
            assert_memory_equal(out, whole + done * 2, sizeof(double) * (size_t)chunk[n] * 2);
            done += chunk[n];
        }
    }
}

static void c37_c42_numbers_in_a_mask_are_added(void **state)
{
    (void)state;
    static const double ones[2] = {1, 0}, minus10[2] = {-10, 0};
    EACH_WAY(w)
    {
        call c = new_call(1, 1, 1, 1, 2, 2, 1);
        memcpy(c.q, (double[]){1, 0}, 16);
        memcpy(c.k, (double[]){1, 0, 0, 1}, 32);
        memcpy(c.v, (double[]){10, 20}, 16);
        c.bias = ones;
        c.bias_dim[3] = 2;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(out[0], 11.5353935621);
        c = new_call(1, 1, 1, 1, 2, 64, 1); /* and are not scaled */
        fill(&c, 1, 2, 3);
        for (int n = 0; n < 64; n++) c.q[n] = 0;
        memcpy(c.v, (double[]){1, 0}, 16);
        c.bias = minus10;
        c.bias_dim[3] = 2;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(out[0], 0.0000453979);
    }
}

static void c39_a_broadcast_mask_is_the_whole_one(void **state)
{
    (void)state;
    static double narrow[7], wide[2 * 3 * 4 * 7];
    for (int j = 0; j < 7; j++) narrow[j] = j == 2 ? none : gen_value(9, (uint32_t)j);
    for (int n = 0; n < 2 * 3 * 4 * 7; n++) wide[n] = narrow[n % 7];
    EACH_WAY(w)
    {
        double first[2 * 3 * 4 * 5];
        call c = new_call(2, 3, 3, 4, 7, 6, 5);
        fill(&c, 1, 2, 3);
        c.bias = narrow;
        c.bias_dim[3] = 7;
        run(&c, ways[w].dtype, ways[w].isa);
        memcpy(first, out, sizeof first);
        c.bias = wide;
        c.bias_dim[0] = 2;
        c.bias_dim[1] = 3;
        c.bias_dim[2] = 4;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, first, sizeof first);
    }
}

static void c46_c48_the_cap_comes_before_the_mask(void **state)
{
    (void)state;
    static const unsigned char mask[2] = {1, 0};
    static const double bias[2] = {0, -(double)INFINITY};
    EACH_WAY(w)
    {
        for (int by = 0; by < 3; by++) {
            call c = new_call(1, 1, 1, 1, 2, 1, 1);
            c.q[0] = 1;
            memcpy(c.k, (double[]){1, 3}, 16);
            memcpy(c.v, (double[]){1, 1000}, 16);
            c.scale = 1;
            c.softcap = 1;
            c.mask_dim[3] = c.bias_dim[3] = 2;
            if (by == 0) c.mask = mask;
            if (by == 1) c.bias = bias;
            if (by == 2) c.use |= QKV_USE_KV_LEN;
            c.kv_len[0] = 1;
            run(&c, ways[w].dtype, ways[w].isa);
            assert_true(out[0] == 1);
            NEAR(lse[0], 0.7615941560);
        }
        call c = new_call(1, 1, 1, 1, 2, 1, 1);
        c.q[0] = 1;
        memcpy(c.k, (double[]){1, 3}, 16);
        memcpy(c.v, (double[]){1, 1000}, 16);
        c.scale = 1;
        c.softcap = 2;
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(capped[0], 0.9242343145);
        NEAR(capped[1], 1.8102965073);
        NEAR(out[0], 708.3688025689);
    }
}

static void c49_c50_slopes_in_decoding(void **state)
{
    (void)state;
    static const double want[6] = {-0.0860928860, -0.0175555256, 0.4412088338,
                                   0.3477925208,  0.3718408231,  0.3149081542};
    static const double slopes[6] = {.25, .0625, .015625, .00390625, .5, .125};
    EACH_WAY(w)
    {
        double whole[6 * 4 * 4];
        call c = new_call(1, 6, 6, 4, 4, 8, 4);
        fill(&c, 51, 52, 53);
        c.use = QKV_USE_CAUSAL;
        c.slopes = slopes;
        run(&c, ways[w].dtype, ways[w].isa);
        memcpy(whole, out, sizeof whole);
        NEAR(probe_of(out, 6 * 4 * 4), 5.7972492207);
        for (int h = 0; h < 6; h++) NEAR(out[(h * 4 + 3) * 4], want[h]);
        c.slopes = NULL;
        c.max_bias = 8;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, whole, sizeof whole);
        for (int h = 0; h < 6; h++) memmove(c.q + h * 8, c.q + (h * 4 + 3) * 8, 64);
        c.sq = 1;
        c.offset = 3;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int h = 0; h < 6; h++) assert_memory_equal(out + h * 4, whole + (h * 4 + 3) * 4, 32);
    }
}

/* A slope as large as they get, times log2 e, is not infinite: at distance 0 it adds nothing, and what it
 * takes from all others leaves them no weight. */
static void the_largest_slope(void **state)
{
    (void)state;
    EACH_WAY(w)
    {
        const double slope = ways[w].dtype == QKV_F32 ? 0x1.fffffep+127 : 0x1.fffffffffffffp+1023;
        call c = new_call(1, 1, 1, 5, 5, 8, 4);
        fill(&c, 51, 52, 53);
        c.slopes = &slope;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int i = 0; i < 20; i++) NEAR(out[i], c.v[i]);
        for (int i = 0; i < 5; i++) {
            double s = 0;
            for (int n = 0; n < 8; n++) s += c.q[8 * i + n] * c.k[8 * i + n];
            NEAR(lse[i], s / sqrt(8));
        }
    }
}

static void c51_c52_c53_sinks(void **state)
{
    (void)state;
    static const double want[2][3] = {{1.2482550783, 2, 1.3932985200},
                                      {0.8750030929, 1.4019619998, 1.7485730167}};
    static unsigned char mask[300];
    mask[0] = mask[299] = 1;
    EACH_WAY(w)
    {
        for (int s = 0; s < 4; s++) {
            const double sink = s == 2 ? 100 : s == 3 ? none : s;
            call c = new_call(1, 1, 1, 1, 2, 2, 2);
            memcpy(c.q, (double[]){1, 0}, 16);
            memcpy(c.k, (double[]){1, 0, 0, 1}, 32);
            memcpy(c.v, (double[]){1, 2, 3, 4}, 32);
            c.sinks = &sink;
            run(&c, ways[w].dtype, ways[w].isa);
            for (int n = 0; n < 2 && s < 2; n++) NEAR(out[n], want[s][n]);
            if (s < 2) NEAR(lse[0], want[s][2]);
            if (s == 2) assert_true(fabs(out[0]) < 1e-40);
            if (s == 2) NEAR(lse[0], 100);
            if (s == 3) {
                const double o0 = out[0], l = lse[0];
                c.sinks = NULL;
                run(&c, ways[w].dtype, ways[w].isa);
                assert_true(out[0] == o0 && lse[0] == l);
            }
        }
        const double half = 0.5, one = 1, zero = 0;
        call c = new_call(1, 1, 1, 1, 2, 2, 2);
        memcpy(c.q, (double[]){1, 0}, 16);
        fill(&c, 1, 2, 3);
        c.use = QKV_USE_KV_LEN; /* of length 0 */
        c.sinks = &half;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_true(out[0] == 0 && out[1] == 0 && lse[0] == 0.5);
        for (int sign = -1; sign <= 1; sign += 2) {
            c = new_call(1, 1, 1, 1, 2, 2, 2);
            memcpy(c.q, (double[]){50.0 * sign, 0}, 16);
            memcpy(c.k, (double[]){1, 0, 1, 0}, 32);
            memcpy(c.v, (double[]){1, 2, 3, 4}, 32);
            c.scale = 1;
            c.sinks = &zero;
            run(&c, ways[w].dtype, ways[w].isa);
            if (sign > 0) NEAR(out[0], 2);
            if (sign < 0) assert_true(fabs(out[0] / 7.715e-22 - 1) < 1e-3);
            NEAR(lse[0], sign > 0 ? 50.6931471806 : 0);
        }
        c = new_call(1, 1, 1, 1, 300, 2, 2);
        memcpy(c.q, (double[]){1, 0}, 16);
        for (int j = 0; j < 600; j++) c.k[j] = c.v[j] = (double)NAN;
        memcpy(c.k, (double[]){1, 0}, 16);
        memcpy(c.k + 598, (double[]){0, 1}, 16);
        memcpy(c.v, (double[]){1, 2}, 16);
        memcpy(c.v + 598, (double[]){3, 4}, 16);
        c.mask = mask;
        c.mask_dim[3] = 300;
        c.sinks = &one;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int n = 0; n < 2; n++) NEAR(out[n], want[1][n]);
        NEAR(lse[0], want[1][2]);
    }
}

static void c92_dropout_at_its_ends(void **state)
{
    (void)state;
    EACH_WAY(w)
    {
        double plain[4];
        call c = new_call(1, 1, 1, 2, 4, 4, 2);
        fill(&c, 161, 162, 163);
        run(&c, ways[w].dtype, ways[w].isa);
        memcpy(plain, out, sizeof plain);
        c.use = QKV_USE_DROPOUT;
        run(&c, ways[w].dtype, ways[w].isa);
        assert_memory_equal(out, plain, sizeof plain);
        c.dropout = 1;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int n = 0; n < 4; n++) assert_true(out[n] == 0);
        for (int bad = 0; bad < 3; bad++) {
            qkv_plan *plan = NULL;
            qkv_params p = params_of(&c, ways[w].dtype, ways[w].isa);
            p.dropout = bad == 0 ? -0.1 : bad == 1 ? 1.1 : (double)NAN;
            assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_EARG);
        }
    }
}

static void c93_weights_of_two_heads(void **state)
{
    (void)state;
    static const double want[4] = {0.6697615493, 0.3302384507, 0.3302384507, 0.6697615493};
    EACH_WAY(w)
    {
        call c = new_call(1, 2, 1, 1, 2, 2, 1);
        memcpy(c.q, (double[]){1, 0, 0, 1}, 32);
        memcpy(c.k, (double[]){1, 0, 0, 1}, 32);
        memcpy(c.v, (double[]){1, 2}, 16);
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        for (int n = 0; n < 4; n++) NEAR(weight[n], want[n]);
        assert_true(fabs(weight[0] + weight[1] - 1) <= 4 * 0x1p-24);
    }
}

static void c95_everything_at_once(void **state)
{
    (void)state;
    static const double slopes[4] = {0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8};
    static double bias[30], sinks[4];
    gen(bias, 224, 30);
    gen(sinks, 225, 4);
    bias[7] = none;
    for (int j = 0; j < 5; j++) bias[25 + j] = none;
    EACH_WAY(w)
    {
        call c = new_call(2, 4, 2, 3, 5, 4, 3);
        fill(&c, 221, 222, 223);
        c.bias = bias;
        c.bias_dim[0] = 2;
        c.bias_dim[2] = 3;
        c.bias_dim[3] = 5;
        c.softcap = 1.5;
        c.slopes = slopes;
        c.sinks = sinks;
        c.use = QKV_USE_CAUSAL | QKV_USE_WINDOW | QKV_USE_KV_LEN;
        c.offset = 2;
        c.left = 3;
        c.kv_len[0] = 5;
        c.kv_len[1] = 4;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(probe_of(out, 2 * 4 * 3 * 3), -0.5416161984);
        for (int h = 0; h < 4; h++) assert_true(lse[(4 + h) * 3 + 2] == sinks[h]);
    }
}

static void c96_scores_and_weights_of_a_capped_biased_row(void **state)
{
    (void)state;
    static const double bias[2] = {0, -1};
    EACH_WAY(w)
    {
        call c = new_call(1, 1, 1, 1, 2, 4, 1);
        memcpy(c.q, (double[]){2, 0, 0, 0}, 32);
        memcpy(c.k, (double[]){1, 0, 0, 0, 3, 0, 0, 0}, 64);
        memcpy(c.v, (double[]){1, 5}, 16);
        c.softcap = 2;
        c.bias = bias;
        c.bias_dim[3] = 2;
        c.keep = true;
        run(&c, ways[w].dtype, ways[w].isa);
        NEAR(scaled[0], 1);
        NEAR(scaled[1], 3);
        NEAR(capped[0], 0.9242343145);
        NEAR(capped[1], 1.8102965073);
        NEAR(masked[0], 0.9242343145);
        NEAR(masked[1], 0.8102965073);
        NEAR(weight[0], 0.5284536767);
        NEAR(weight[1], 0.4715463233);
        NEAR(out[0], 2.8861852930);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c01_a_row_that_a_mask_leaves_nothing),
        cmocka_unit_test(c04_a_long_row_whose_first_blocks_are_masked),
        cmocka_unit_test(c05_c07_the_largest_negative_number_is_a_bias),
        cmocka_unit_test(c12_a_padded_query_full_of_nan),
        cmocka_unit_test(c21_weights_far_below_are_zero),
        cmocka_unit_test(c23_activations_with_a_first_key_that_stands_out),
        cmocka_unit_test(c27_c29_c30_causal_with_a_mask_and_with_weights),
        cmocka_unit_test(c31_keys_that_are_not_written_yet),
        cmocka_unit_test(c37_c42_numbers_in_a_mask_are_added),
        cmocka_unit_test(c39_a_broadcast_mask_is_the_whole_one),
        cmocka_unit_test(c46_c48_the_cap_comes_before_the_mask),
        cmocka_unit_test(c49_c50_slopes_in_decoding),
        cmocka_unit_test(the_largest_slope),
        cmocka_unit_test(c51_c52_c53_sinks),
        cmocka_unit_test(c92_dropout_at_its_ends),
        cmocka_unit_test(c93_weights_of_two_heads),
        cmocka_unit_test(c95_everything_at_once),
        cmocka_unit_test(c96_scores_and_weights_of_a_capped_biased_row),
    };
    return cmocka_run_group_tests_name("feature_cases", tests, NULL, NULL);
}
