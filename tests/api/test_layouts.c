/* SPDX-License-Identifier: MIT */
/* test_layouts.c - the same values lying elsewhere give the same bits: BSHD, transposed, channel
 * strides, negative and zero strides, packed QKV, odd byte addresses, nonsense in the stride of a
 * dimension of size 1, tensors that end where readable memory ends, strides past 2^31 elements.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const int32_t types[2] = {QKV_F32, QKV_F64};

typedef void each_fn(int32_t isa, int32_t dtype);

static void everywhere(each_fn *one)
{
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    for (int i = 0; i < 2 * n; i++) one(isa[i / 2], types[i % 2]);
}

static void known_layouts(int32_t isa, int32_t dtype)
{
    static const uint64_t layouts[] = {LAYOUT_GUARD_AFTER, LAYOUT_GUARD_BEFORE, LAYOUT_BSHD,
                                       LAYOUT_TRANSPOSED,  LAYOUT_EVERY_SECOND, LAYOUT_REVERSED};
    static const int64_t sizes[][6] = {/* b hq hkv s d dv */
                                       {1, 1, 1, 33, 8, 8},
                                       {2, 4, 2, 130, 5, 3},
                                       {1, 2, 1, 17, 64, 80}};
    for (size_t s = 0; s < (sanitized() ? 1 : 3); s++) {
        const int64_t *const z = sizes[s];
        prob p = prob_new(dtype, z[0], z[1], z[2], z[3], z[3], z[4], z[5]);
        prob_gen(&p, 141, 142, 143);
        prob_causal(&p, 0);
        answer dense = prob_run(&p, (how){.isa = isa});
        if (s == 0) { /* C69 is C68 with 33 positions */
            const double got = probe(dense.out, dtype, prob_nout(&p));
            assert_true(fabs(got + 0.9039632566) < (dtype == QKV_F64 ? 1e-9 : 2e-5));
        }
        for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
            answer a = prob_run(&p, (how){.isa = isa, .layout = layouts[i]});
            assert_same_answer(&dense, &a, "layout %d, case %zu", (int)layouts[i], s);
            answer_free(&a);
        }
        answer_free(&dense);
        prob_free(&p);
    }
}

static void random_layouts(int32_t isa, int32_t dtype)
{
    rng r = rng_from(0x1A700u + (uint64_t)dtype);
    const int64_t most = sanitized() ? 40 : 150; /* keys */
    for (int i = 0; i < effort(24); i++) {
        prob p = prob_new(dtype, rng_range(&r, 1, 3), 4, rng_range(&r, 0, 1) ? 2 : 1,
                          rng_range(&r, 1, 40), rng_range(&r, 1, most), rng_range(&r, 1, 20),
                          rng_range(&r, 1, 20));
        prob_normal(&p, &r);
        if (i % 2) prob_causal(&p, p.sk - p.sq);
        answer dense = prob_run(&p, (how){.isa = isa});
        const uint64_t layout = LAYOUT_RANDOM + rng_next(&r) % 1000000;
        answer a = prob_run(&p, (how){.isa = isa, .layout = layout});
        assert_same_answer(&dense, &a, "random layout %llu", (unsigned long long)layout);
        answer_free(&a);
        answer_free(&dense);
        prob_free(&p);
    }
}

/* C73 */
static void byte_addresses(int32_t isa, int32_t dtype)
{
    prob p = prob_new(dtype, 1, 2, 1, 35, 37, 19, 21);
    prob_gen(&p, 1, 2, 3);
    answer dense = prob_run(&p, (how){.isa = isa});
    for (size_t shift = 1; shift < 8; shift++) {
        for (int strided = 0; strided < 2; strided++) {
            answer a = prob_run(&p, (how){.isa = isa,
                                          .byte_shift = shift,
                                          .layout = strided ? LAYOUT_EVERY_SECOND : LAYOUT_DENSE});
            assert_same_answer(&dense, &a, "C73, byte %zu", shift);
            answer_free(&a);
        }
    }
    answer_free(&dense);
    prob_free(&p);
}

/* ---- by hand, where the views share memory --------------------------------------------------- */

/* Runs shapes upon pointers; out and lse dense. */
static void run_views(const qkv_params *p, const void *q, const void *k, const void *v, void *out,
                      void *lse)
{
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    qkv_run_args a = qkv_run_args_init();
    a.q = q;
    a.k = k;
    a.v = v;
    a.out = out;
    a.lse = lse;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    free(a.workspace);
    qkv_plan_destroy(plan);
}

/* C73 for lse, which has no strides */
static void lse_at_any_byte(int32_t isa, int32_t dtype)
{
    prob p = prob_new(dtype, 1, 2, 2, 53, 9, 5, 3);
    prob_gen(&p, 1, 2, 3);
    const qkv_params x = prob_params(&p, (how){.isa = isa});
    answer dense = prob_run(&p, (how){.isa = isa}), a = prob_run(&p, (how){.isa = isa});
    char lse[53 * 2 * 8 + 16];
    for (size_t shift = 0; shift < 8; shift++) {
        memset(lse, 0x5A, sizeof lse);
        run_views(&x, p.q, p.k, p.v, a.out, lse + shift);
        assert_memory_equal(lse + shift, dense.lse, dense.lse_bytes);
        for (size_t i = 0; i < sizeof lse; i++) {
            if (i < shift || i >= shift + dense.lse_bytes) assert_int_equal(lse[i], 0x5A);
        }
    }
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

/* C62: equal lengths of the head and the position axis; the layout is in the strides alone */
static void head_and_position_axes(int32_t isa, int32_t dtype)
{
    char x[256], k[256], v[256], out[256], lse[128];
    fill_gen(x, dtype, 32, 181);
    fill_gen(k, dtype, 32, 182);
    fill_gen(v, dtype, 32, 183);
    for (int bshd = 0; bshd < 2; bshd++) {
        qkv_params p = qkv_params_init();
        p.isa = isa;
        p.use = QKV_USE_CAUSAL;
        p.q = p.k = p.v = p.out = qkv_shape_dense(dtype, 1, 4, 4, 2);
        if (bshd) {
            p.q.stride[1] = p.k.stride[1] = p.v.stride[1] = p.out.stride[1] = 2;
            p.q.stride[2] = p.k.stride[2] = p.v.stride[2] = p.out.stride[2] = 8;
        }
        run_views(&p, x, k, v, out, lse);
        const double want = bshd ? -0.5612373845 : -0.1346360220;
        const double got = probe(out, dtype, 32);
        if (fabs(got - want) > (dtype == QKV_F64 ? 1e-9 : 1e-5)) fail_msg("C62: %.10g", got);
    }
}

/* [b, s, 3, h, d]: q, k and v interleaved, as many models keep them */
static void packed_qkv(int32_t isa, int32_t dtype)
{
    enum { S = 21, H = 3, D = 10 };
    const size_t n = type_size(dtype);
    prob p = prob_new(dtype, 2, H, H, S, S, D, D);
    prob_gen(&p, 1, 2, 3);
    char *const packed = malloc((size_t)(2 * S * 3 * H * D) * n);
    assert_non_null(packed);
    const void *const from[3] = {p.q, p.k, p.v};
    for (int64_t b = 0; b < 2; b++) {
        for (int64_t i = 0; i < S; i++) {
            for (int64_t t = 0; t < 3; t++) {
                for (int64_t h = 0; h < H; h++) {
                    memcpy(packed + (size_t)((((b * S + i) * 3 + t) * H + h) * D) * n,
                           (const char *)from[t] + (size_t)(((b * H + h) * S + i) * D) * n, D * n);
                }
            }
        }
    }
    answer dense = prob_run(&p, (how){.isa = isa});
    answer a = prob_run(&p, (how){.isa = isa});
    qkv_params x = prob_params(&p, (how){.isa = isa});
    qkv_shape *const s[3] = {&x.q, &x.k, &x.v};
    for (int t = 0; t < 3; t++) {
        s[t]->stride[0] = S * 3 * H * D;
        s[t]->stride[1] = D;
        s[t]->stride[2] = 3 * H * D;
    }
    run_views(&x, packed, packed + H * D * n, packed + 2 * H * D * n, a.out, a.lse);
    assert_same_answer(&dense, &a, "packed");
    free(packed);
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

/* Strides of zero repeat: one head of keys for all, one key for all positions. */
static void repeating_strides(int32_t isa, int32_t dtype)
{
    prob p = prob_new(dtype, 2, 4, 4, 5, 70, 6, 7);
    prob_gen(&p, 1, 2, 3);
    const size_t n = type_size(dtype), head_k = 70 * 6 * n, head_v = 70 * 7 * n;
    for (size_t bh = 1; bh < 8; bh++) {
        memcpy((char *)p.k + bh * head_k, p.k, head_k);
        memcpy((char *)p.v + bh * head_v, p.v, head_v);
    }
    answer dense = prob_run(&p, (how){.isa = isa});
    answer a = prob_run(&p, (how){.isa = isa});
    qkv_params x = prob_params(&p, (how){.isa = isa});
    x.k.stride[0] = x.k.stride[1] = x.v.stride[0] = x.v.stride[1] = 0;
    run_views(&x, p.q, p.k, p.v, a.out, a.lse);
    assert_same_answer(&dense, &a, "one head for all");
    /* every key is key 0: then out is value row 0 and lse is that score + ln 70 */
    x.k.stride[2] = x.v.stride[2] = 0;
    run_views(&x, p.q, p.k, p.v, a.out, a.lse);
    for (int c = 0; c < 7; c++) {
        const double want = get_at(p.v, dtype, c), got = get_at(a.out, dtype, c);
        assert_true(fabs(got - want) < (dtype == QKV_F64 ? 1e-14 : 4e-6));
    }
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

/* C71: reversed queries give reversed rows, bit for bit; reversed keys and values together the same
 * rows to rounding */
static void reversed_positions(int32_t isa, int32_t dtype)
{
    enum { SQ = 40, SK = 150, D = 9 };
    const size_t n = type_size(dtype), row = D * n;
    prob p = prob_new(dtype, 1, 2, 2, SQ, SK, D, D);
    prob_gen(&p, 1, 2, 3);
    answer dense = prob_run(&p, (how){.isa = isa});
    answer a = prob_run(&p, (how){.isa = isa});
    qkv_params x = prob_params(&p, (how){.isa = isa});
    x.q.stride[2] = -D;
    run_views(&x, (char *)p.q + (SQ - 1) * row, p.k, p.v, a.out, a.lse);
    for (size_t h = 0; h < 2; h++) {
        for (size_t i = 0; i < SQ; i++) {
            assert_memory_equal((char *)a.out + (h * SQ + i) * row,
                                (char *)dense.out + (h * SQ + SQ - 1 - i) * row, row);
        }
    }
    x.q.stride[2] = D;
    x.k.stride[2] = x.v.stride[2] = -D;
    run_views(&x, p.q, (char *)p.k + (SK - 1) * row, (char *)p.v + (SK - 1) * row, a.out, a.lse);
    for (int64_t i = 0; i < prob_nout(&p); i++) {
        const double diff = get_at(a.out, dtype, i) - get_at(dense.out, dtype, i);
        assert_true(fabs(diff) < (dtype == QKV_F64 ? 1e-14 : 2e-6));
    }
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

/* C74: a stride that is never used may be anything */
static void nonsense_strides(int32_t isa, int32_t dtype)
{
    prob p = prob_new(dtype, 1, 1, 1, 1, 1, 1, 1);
    prob_gen(&p, 1, 2, 3);
    answer dense = prob_run(&p, (how){.isa = isa});
    answer a = prob_run(&p, (how){.isa = isa});
    static const int64_t nonsense[] = {INT64_MAX, INT64_MIN, 0, -7};
    for (size_t i = 0; i < 4; i++) {
        qkv_params x = prob_params(&p, (how){.isa = isa});
        for (int c = 0; c < 4; c++) {
            x.q.stride[c] = x.k.stride[c] = x.v.stride[c] = x.out.stride[c] = nonsense[i];
        }
        run_views(&x, p.q, p.k, p.v, a.out, a.lse);
        assert_same_answer(&dense, &a, "C74, %lld", (long long)nonsense[i]);
    }
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

/* Keys and values 2^31 elements and more apart, in address space that is mostly not there. */
static void far_apart(int32_t isa, int32_t dtype)
{
    enum { SK = 3, D = 4 };
    const int64_t gap = (INT64_C(1) << 31) + 4099;
    const size_t n = type_size(dtype), size = (size_t)(gap * SK) * n;
    char *const sparse = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(sparse != MAP_FAILED);
    prob p = prob_new(dtype, 1, 1, 1, 2, SK, D, D);
    prob_gen(&p, 1, 2, 3);
    answer dense = prob_run(&p, (how){.isa = isa});
    answer a = prob_run(&p, (how){.isa = isa});
    for (int64_t j = 0; j < SK; j++) {
        memcpy(sparse + (size_t)(j * gap) * n, (char *)p.k + (size_t)(j * D) * n, D * n);
        memcpy(sparse + (size_t)(j * gap + 64) * n, (char *)p.v + (size_t)(j * D) * n, D * n);
    }
    qkv_params x = prob_params(&p, (how){.isa = isa});
    x.k.stride[2] = x.v.stride[2] = gap;
    run_views(&x, p.q, sparse, sparse + 64 * n, a.out, a.lse);
    assert_same_answer(&dense, &a, "2^31 elements apart");
    x.k.stride[2] = x.v.stride[2] = -gap;
    for (int64_t j = 0; j < SK; j++) {
        memcpy(sparse + (size_t)((SK - 1 - j) * gap) * n, (char *)p.k + (size_t)(j * D) * n, D * n);
        memcpy(sparse + (size_t)((SK - 1 - j) * gap + 64) * n, (char *)p.v + (size_t)(j * D) * n,
               D * n);
    }
    char *const last = sparse + (size_t)((SK - 1) * gap) * n;
    run_views(&x, p.q, last, last + 64 * n, a.out, a.lse);
    assert_same_answer(&dense, &a, "2^31 elements apart, backwards");
    munmap(sparse, size);
    answer_free(&a);
    answer_free(&dense);
    prob_free(&p);
}

typedef struct named {
    const char *name;
    each_fn *one;
} named;

static named all[] = {
    {"C69 known layouts", known_layouts},
    {"random layouts", random_layouts},
    {"C73 odd byte addresses", byte_addresses},
    {"C73 lse at odd byte addresses", lse_at_any_byte},
    {"C62 head and position axes", head_and_position_axes},
    {"packed QKV", packed_qkv},
    {"strides of zero", repeating_strides},
    {"C71 negative strides", reversed_positions},
    {"C74 nonsense strides", nonsense_strides},
    {"strides past 2^31 elements", far_apart},
};
enum { COUNT = sizeof all / sizeof all[0] };

static void run_named(void **state)
{
    everywhere(((const named *)*state)->one);
}

int main(void)
{
    struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++) {
        tests[i] = (struct CMUnitTest){all[i].name, run_named, NULL, NULL, &all[i]};
    }
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
