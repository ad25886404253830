/* SPDX-License-Identifier: MIT */
/* test_map_rows.c - the quick rows of large maps are the reference's, bit by bit: random inputs, all
 * scales and masks, every stage.
 */
#include "lesson/map.h"
#include "lesson/map_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void *block[64];
static int blocks;

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    assert_true(blocks < 64);
    return block[blocks++] = aligned_alloc(64, (bytes + 127) / 64 * 64);
}

static const lesson_memory memory = {take, NULL};

static uint64_t seed = 20;

static double any(double size)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(seed >> 11) * 0x1p-53 - 0.5) * size;
}

static double *numbers(int64_t n, double size)
{
    double *const x = take(NULL, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) x[i] = any(size);
    return x;
}

static void compare(const lesson_input *in)
{
    lesson_stages s;
    qkv_error err = qkv_error_init();
    double *const x = take(NULL, (size_t)in->keys * sizeof(double));
    assert_int_equal(lesson_run(&s, in, 0, &memory, &err), QKV_OK);
    const double *const stage[] = {NULL, s.score, s.scaled, s.weight};
    for (int64_t i = 0; i < in->rows; i++)
        for (int32_t n = 1; n <= 3; n++) {
            map_row(in, i, n, x);
            for (int64_t j = 0; j < in->keys; j++) {
                const double want = stage[n][i * in->keys + j];
                if (want != want)
                    assert_true(x[j] != x[j]);
                else
                    assert_memory_equal(&x[j], &want, sizeof want);
            }
        }
}

static void test_bits(void **state)
{
    (void)state;
    for (int n = 0; n < 300; n++) {
        lesson_input in = {0};
        in.rows = 1 + n % 7;
        in.keys = 1 + n % 23;
        in.d_k = 1 + n % 11;
        in.d_v = 1 + n % 3;
        const double size = n % 10 == 9 ? 1e160 : n % 3 == 0 ? 40 : 3;
        in.q = numbers(in.rows * in.d_k, size);
        in.k = numbers(in.keys * in.d_k, size);
        in.v = numbers(in.keys * in.d_v, 2);
        in.engine_dtype = QKV_F64;
        in.row_end = in.rows;
        in.key_end = in.keys;
        in.scale_kind = n % 4;
        in.scale_value = any(4);
        in.temperature = n % 5 == 0 ? 0.3 : 1;
        in.causal = n % 2;
        in.q_offset = in.causal ? n % 5 - 2 : 0;
        in.padding = n % 6 == 5 ? in.keys / 2 : 0;
        in.wrong_way = n % 8 >= 6 && (in.causal || in.padding > 0);
        compare(&in);
        while (blocks > 0) free(block[--blocks]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests_name("map_rows", tests, NULL, NULL);
}
