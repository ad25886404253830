/* SPDX-License-Identifier: MIT */
/* test_base.c - src/base: checked arithmetic, shapes against brute force, numbers as text, error
 * sentences, memory through the caller's allocator.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/shape.h"
#include "base/text.h"
#include "page_flags.h"

static uint64_t next(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s >> 33;
}

static void sums_and_products_report_overflow(void **state)
{
    (void)state;
    int64_t r;
    assert_int_equal(qkvi_mul(INT64_C(1) << 31, INT64_C(1) << 31, &r), 0);
    assert_true(r == INT64_C(1) << 62);
    assert_true(qkvi_mul(INT64_C(1) << 32, INT64_C(1) << 31, &r));
    assert_true(qkvi_mul(INT64_MIN, -1, &r));
    assert_int_equal(qkvi_mul(INT64_MIN, 1, &r), 0);
    assert_int_equal(qkvi_mul(INT64_MAX, 0, &r), 0);
    assert_int_equal(r, 0);
    assert_true(qkvi_add(INT64_MAX, 1, &r));
    assert_true(qkvi_add(INT64_MIN, -1, &r));
    assert_int_equal(qkvi_add(INT64_MAX, INT64_MIN, &r), 0);
    assert_int_equal(r, -1);
    assert_int_equal(qkvi_round64(0), 0);
    assert_int_equal(qkvi_round64(1), 64);
    assert_int_equal(qkvi_round64(64), 64);
    assert_int_equal(qkvi_round64(65), 128);
    assert_true(qkvi_round64(INT64_MAX - 63) == INT64_MAX - 63);
}

static qkv_shape shape_of(int32_t dtype, const int64_t *dim, const int64_t *stride)
{
    qkv_shape s;
    memset(&s, 0, sizeof s);
    s.dtype = dtype;
    memcpy(s.dim, dim, sizeof s.dim);
    memcpy(s.stride, stride, sizeof s.stride);
    return s;
}

/* Small shapes, every address looked at. */
static void spans_and_meeting_elements(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int apart = 0;
    for (int t = 0; t < 60000; t++) {
        int64_t dim[4], stride[4];
        for (int i = 0; i < 4; i++) {
            dim[i] = (int64_t)(next(&seed) % 4);
            stride[i] = (int64_t)(next(&seed) % 25) - 12;
        }
        const qkv_shape s = shape_of(t % 2 ? QKV_F64 : QKV_F32, dim, stride);
        const int64_t bytes = qkvi_dtype_bytes(s.dtype);
        int64_t low = 0, high = 0, at[81], n = 0, got_low, got_high, elems;
        for (int64_t i = 0; i < dim[0] * dim[1] * dim[2] * dim[3]; i++) {
            const int64_t c = i % dim[3], p = i / dim[3] % dim[2], h = i / dim[3] / dim[2] % dim[1];
            const int64_t b = i / dim[3] / dim[2] / dim[1];
            at[n] = b * stride[0] + h * stride[1] + p * stride[2] + c * stride[3];
            if (at[n] * bytes < low) low = at[n] * bytes;
            if (at[n] * bytes + bytes > high) high = at[n] * bytes + bytes;
            n++;
        }
        int meet = 0;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++) meet |= at[i] == at[j];
        }
        assert_int_equal(qkvi_shape_overflows(&s, &elems), 0);
        assert_int_equal(elems, n);
        qkvi_shape_span(&s, &got_low, &got_high);
        assert_int_equal(got_low, low);
        assert_int_equal(got_high, high);
        /* never "apart" when two meet; exact where the dimensions nest */
        if (meet) assert_int_equal(qkvi_shape_injective(&s), 0);
        apart += qkvi_shape_injective(&s);
        if (n <= 1) assert_int_equal(qkvi_shape_injective(&s), 1);
        /* the strides of dimensions of size 0 and 1 are never looked at */
        qkv_shape clean = qkvi_shape_clean(&s);
        for (int i = 0; i < 4; i++) {
            if (dim[i] <= 1) assert_int_equal(clean.stride[i], 0);
            if (dim[i] <= 1) clean.stride[i] = INT64_MAX;
        }
        qkvi_shape_span(&clean, &got_low, &got_high);
        assert_int_equal(got_low, low);
        assert_int_equal(got_high, high);
        assert_int_equal(qkvi_shape_injective(&clean), qkvi_shape_injective(&s));
    }
    assert_true(apart > 10000);
}

/* Each permutation of a dense tensor, padded or not, is injective. */
static void nested_layouts_are_injective(void **state)
{
    (void)state;
    static const int64_t dim[4] = {2, 3, 4, 5};
    for (int order = 0; order < 256; order++) {
        int seen = 0, o[4];
        for (int i = 0; i < 4; i++) seen |= 1 << (o[i] = order >> 2 * i & 3);
        if (seen != 15) continue;
        for (int pad = 0; pad < 3; pad++) {
            int64_t stride[4], run = 1;
            for (int i = 0; i < 4; i++) {
                stride[o[i]] = (i & 1) && pad == 2 ? -run : run;
                run = run * dim[o[i]] + pad;
            }
            const qkv_shape s = shape_of(QKV_F32, dim, stride);
            assert_int_equal(qkvi_shape_injective(&s), 1);
            qkv_shape t = s;
            t.stride[o[3]] -= t.stride[o[3]] < 0 ? -1 - pad : 1 + pad; /* now the outermost meets */
            if (pad == 0) assert_int_equal(qkvi_shape_injective(&t), 0);
        }
    }
}

static void large_shapes_are_found(void **state)
{
    (void)state;
    static const struct {
        int64_t dim[4], stride[4];
        int over;
    } s[] = {
        {{INT64_C(1) << 31, INT64_C(1) << 31, 2, 2}, {0, 0, 0, 0}, 1},
        {{INT64_C(1) << 30, INT64_C(1) << 30, 1, 1}, {0, 0, 0, 0}, 1}, /* 2^60 * 8 bytes */
        {{INT64_C(1) << 29, INT64_C(1) << 30, 1, 1}, {0, 0, 0, 0}, 0},
        {{1, 1, 2, 1}, {0, 0, INT64_MAX, 1}, 1},
        {{1, 1, 2, 1}, {0, 0, INT64_MIN, 1}, 1},
        {{1, 1, 1, 1}, {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}, 0},
        {{0, INT64_MAX, INT64_MAX, INT64_MAX}, {1, 1, 1, 1}, 0},
        {{2, 2, 1, 1},
         {INT64_C(1) << 60, -(INT64_C(1) << 60), 0, 0},
         1}, /* 2^60 each way, in bytes */
        {{2, 2, 1, 1}, {INT64_C(1) << 58, -(INT64_C(1) << 58), 0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof s / sizeof s[0]; i++) {
        const qkv_shape x = shape_of(QKV_F64, s[i].dim, s[i].stride);
        int64_t n;
        if (qkvi_shape_overflows(&x, &n) != s[i].over) fail_msg("row %zu", i);
    }
}

static void expect_int(int64_t x)
{
    char want[32], got[32];
    qkvi_text t = {got, sizeof got, 0};
    snprintf(want, sizeof want, "%lld", (long long)x);
    qkvi_text_int(&t, x);
    assert_string_equal(got, want);
    assert_int_equal(t.len, strlen(want));
}

/* Read back by the C library: six digits, so within 5e-6, most often half of that. */
static void expect_real(double x)
{
    char got[64];
    qkvi_text t = {got, sizeof got, 0};
    qkvi_text_real(&t, x);
    assert_true(t.len < sizeof got);
    char *end;
    const double back = strtod(got, &end);
    if (*end != '\0' || !(fabs(back - x) <= 1.1e-5 * fabs(x))) fail_msg("%s for %.17g", got, x);
    if (strchr(got, 'e') != NULL) assert_true(fabs(x) < 1.1e-4 || fabs(x) > 9e15);
}

static void numbers_become_text(void **state)
{
    (void)state;
    static const int64_t ints[] = {0, 1, -1, 9, 10, -10, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) expect_int(ints[i]);
    static const struct {
        double x;
        const char *text;
    } reals[] = {{0, "0"},
                 {0.125, "0.125"},
                 {-0.5, "-0.5"},
                 {1, "1"},
                 {100, "100"},
                 {0.0883883476, "0.0883883"},
                 {1.25e-40, "1.25e-40"},
                 {(double)INFINITY, "inf"},
                 {-(double)INFINITY, "-inf"},
                 {(double)NAN, "NaN"},
                 {1e15, "1000000000000000"},
                 {123456, "123456"},
                 {1234.5, "1234.5"},
                 {0.0001, "0.0001"}};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        char got[64];
        qkvi_text t = {got, sizeof got, 0};
        qkvi_text_real(&t, reals[i].x);
        assert_string_equal(got, reals[i].text);
    }
    uint64_t seed = 3;
    for (int i = 0; i < 100000; i++) {
        const double x = ldexp(1 + (double)next(&seed) * 0x1p-31, (int)(next(&seed) % 2040) - 1020);
        expect_real(i % 2 ? x : -x);
    }
    expect_real(0x1.fffffffffffffp+1023);
    expect_real(0x1p-1022);
    expect_real(0x1p-1040);
}

static void text_that_does_not_fit_is_counted(void **state)
{
    (void)state;
    for (size_t size = 0; size < 12; size++) {
        char mem[16];
        memset(mem, 'x', sizeof mem);
        if (size > 0) mem[0] = '\0'; /* as every caller does */
        qkvi_text t = {mem, size, 0};
        qkvi_text_add(&t, "abc");
        qkvi_text_int(&t, -42);
        qkvi_text_add(&t, "!");
        assert_int_equal(t.len, 7);
        if (size > 0) assert_int_equal(strncmp(mem, "abc-42!", size - 1), 0);
        if (size > 0) assert_int_equal(mem[size < 8 ? size - 1 : 7], 0);
        for (size_t i = size > 0 ? size : 1; i < sizeof mem; i++) assert_int_equal(mem[i], 'x');
    }
}

static void errors_are_filled(void **state)
{
    (void)state;
    qkv_error e = qkv_error_init();
    const qkv_status s =
        qkvi_fail(&e, QKV_ESHAPE, "params.k.dim[1]", 3, 8,
                  QKVI_SAY(QKVI_S("k heads is "), QKVI_I(3), QKVI_S(", scale "), QKVI_X(0.5)));
    assert_int_equal(s, QKV_ESHAPE);
    assert_int_equal(e.status, QKV_ESHAPE);
    assert_string_equal(e.arg, "params.k.dim[1]");
    assert_string_equal(e.text, "k heads is 3, scale 0.5");
    assert_int_equal(e.got, 3);
    assert_int_equal(e.want, 8);
    assert_int_equal(qkvi_fail(NULL, QKV_EARG, "x", 0, 0, QKVI_SAY(QKVI_S("x"))), QKV_EARG);
    /* too long: cut, ended by 0, nothing behind it */
    struct {
        qkv_error e;
        char after[8];
    } box;
    memset(&box, 0x77, sizeof box);
    box.e = qkv_error_init();
    char longer[400];
    memset(longer, 'y', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    qkvi_fail(&box.e, QKV_EARG, longer, 0, 0, QKVI_SAY(QKVI_S(longer), QKVI_S(longer)));
    assert_int_equal(strlen(box.e.text), sizeof box.e.text - 1);
    assert_int_equal(strlen(box.e.arg), sizeof box.e.arg - 1);
    for (size_t i = 0; i < sizeof box.after; i++) assert_int_equal(box.after[i], 0x77);
}

typedef struct counted {
    size_t bytes, align, released;
    int refuse;
    void *mem;
} counted;

static void *count_alloc(void *ctx, size_t bytes, size_t align)
{
    counted *const c = ctx;
    c->bytes = bytes;
    c->align = align;
    return c->mem = c->refuse ? NULL : aligned_alloc(align, bytes);
}

static void count_release(void *ctx, void *mem, size_t bytes)
{
    counted *const c = ctx;
    assert_ptr_equal(mem, c->mem);
    c->released = bytes;
    free(mem);
}

static void memory_comes_from_the_caller(void **state)
{
    (void)state;
    counted c = {0};
    qkv_allocator a = qkv_allocator_init();
    a.alloc = count_alloc;
    a.release = count_release;
    a.ctx = &c;
    for (size_t n = 1; n < 200; n += 33) {
        void *const p = qkvi_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        assert_int_equal(c.align, 64);
        assert_true(c.bytes >= n && c.bytes % 64 == 0);
        memset(p, 1, n);
        qkvi_release(&a, p, n);
        assert_int_equal(c.released, c.bytes); /* the size that was asked for */
    }
    c.refuse = 1;
    assert_null(qkvi_alloc(&a, 100));
    assert_null(qkvi_alloc(&a, SIZE_MAX - 10));
    qkvi_release(&a, NULL, 100);
    void *const p = qkvi_alloc(NULL, 100);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    qkvi_release(NULL, p, 100);
    qkvi_release(NULL, NULL, 100);
    assert_null(qkvi_alloc(NULL, SIZE_MAX - 10));
}

/* From 4 MiB on, and not before; the caller's allocator knows by itself. */
static void large_memory_asks_for_huge_pages(void **state)
{
    (void)state;
    void *const large = qkvi_alloc(NULL, QKVI_LARGE + 5), *const small = qkvi_alloc(NULL, 1 << 20);
    assert_non_null(large);
    assert_non_null(small);
    memset(large, 1, QKVI_LARGE + 5);
    memset(small, 1, 1 << 20);
    if (huge_pages_at(large) < 0)
        print_message("# this system has no huge pages to ask for\n");
    else
        assert_int_equal(huge_pages_at(large), 1);
    if (huge_pages_at(small) >= 0) assert_int_equal(huge_pages_at(small), 0);
    qkvi_release(NULL, large, QKVI_LARGE + 5);
    qkvi_release(NULL, small, 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_report_overflow),
        cmocka_unit_test(spans_and_meeting_elements),
        cmocka_unit_test(nested_layouts_are_injective),
        cmocka_unit_test(large_shapes_are_found),
        cmocka_unit_test(numbers_become_text),
        cmocka_unit_test(text_that_does_not_fit_is_counted),
        cmocka_unit_test(errors_are_filled),
        cmocka_unit_test(memory_comes_from_the_caller),
        cmocka_unit_test(large_memory_asks_for_huge_pages),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
