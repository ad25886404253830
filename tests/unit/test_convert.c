/* SPDX-License-Identifier: MIT */
/* test_convert.c - element conversion, checked against arithmetic that shares nothing with it, and
 * the window walk, checked element by element for every cut into pieces.
 */
#include "files/parse/convert.h"
#include "tests/unit/file_bytes.h"

#include <math.h>

/* A float16 by its definition. */
static double half_value(uint16_t h)
{
    const double sign = h >> 15 ? -1.0 : 1.0;
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 0) return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static void test_all_halves(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        const uint32_t bits = convert_f2((uint16_t)h);
        float x;
        memcpy(&x, &bits, sizeof x);
        if ((h >> 10 & 31) == 31) {
            if ((h & 1023) == 0) {
                assert_int_equal(bits, (h >> 15 ? 0xff800000u : 0x7f800000u));
            } else {
                assert_int_equal(bits, (h & 0x8000u) << 16 | 0x7fc00000u | (h & 1023u) << 13);
            }
        } else {
            assert_true((double)x == half_value((uint16_t)h));
            assert_int_equal(signbit(x) != 0, h >> 15);
        }
    }
}

static void test_c112_bfloat16(void **state)
{
    (void)state;
    static const unsigned char little[] = {0x80, 0x3f, 0x49, 0xc0, 0x80, 0x7f, 0xc0,
                                           0x7f, 0x01, 0x00, 0x00, 0x80, 0xcd, 0x3d};
    static const uint32_t want[7] = {0x3f800000, 0xc0490000, 0x7f800000, 0x7fc00000,
                                     0x00010000, 0x80000000, 0x3dcd0000};
    uint32_t bits[7];
    convert_elements(bits, little, 7, NPY_BF2, 0);
    for (int i = 0; i < 7; i++) assert_int_equal(bits[i], want[i]);
    assert_int_equal(convert_type(NPY_BF2), NPY_F4);
    assert_int_equal(convert_bytes(NPY_BF2), 2);
}

static void test_c99_elements(void **state)
{
    (void)state;
    static const unsigned char big4[] = {0x3f, 0x80, 0, 0, 0x40, 0,    0, 0, 0x40, 0x40, 0, 0,
                                         0x40, 0x80, 0, 0, 0x40, 0xa0, 0, 0, 0x40, 0xc0, 0, 0};
    static const unsigned char little2[] = {0, 0x3c, 0xff, 0x7b, 1, 0, 0, 0xfc};
    float x[6];
    convert_elements(x, big4, 6, NPY_F4, 1);
    for (int i = 0; i < 6; i++) assert_true(x[i] == (float)(i + 1));

    unsigned char raw[8 * 8 + 1], back[8 * 8];
    double y[8];
    for (int i = 0; i < 8; i++) {
        const double value = ldexp(1.0 + i / 16.0, i * 37 - 100);
        uint64_t bits;
        memcpy(&bits, &value, 8);
        for (int n = 0; n < 8; n++) raw[1 + 8 * i + n] = (unsigned char)(bits >> (56 - 8 * n));
    }
    convert_elements(y, raw + 1, 8, NPY_F8, 1); /* from an odd address */
    for (int i = 0; i < 8; i++) assert_true(y[i] == ldexp(1.0 + i / 16.0, i * 37 - 100));
    convert_elements(back, raw + 1, 8, NPY_F8, 1);
    convert_elements(back, back, 8, NPY_F8, 0); /* in place, nothing changes */
    assert_memory_equal(back, y, sizeof y);

    convert_elements(x, little2, 4, NPY_F2, 0);
    assert_true(x[0] == 1.0f && x[1] == 65504.0f && x[2] == 0x1p-24f && isinf(x[3]) && x[3] < 0);
    assert_int_equal(convert_type(NPY_F2), NPY_F4);
    assert_int_equal(convert_type(NPY_F8), NPY_F8);
    assert_int_equal(convert_bytes(NPY_B1), 1);

    static const unsigned char little4[] = {3, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff},
                               big8[] = {0, 0, 0, 0, 0, 0, 1, 2};
    int64_t z[2];
    convert_elements(z, little4, 2, NPY_I4, 0);
    assert_true(z[0] == 3 && z[1] == -2);
    convert_elements(z, big8, 1, NPY_I8, 1);
    assert_int_equal(z[0], 258);
    assert_int_equal(convert_type(NPY_I4), NPY_I8);
    assert_int_equal(convert_bytes(NPY_I8), 8);
    assert_int_equal(convert_bytes(convert_type(NPY_U1)), 1);
}

/* Element number i of the file carries the value i; what arrives at a place is then the number of
 * the element that belongs there. */
static void check_window(const npy_header *h, const convert_window *w, int64_t cut)
{
    unsigned char file[256 * 2];
    float out[256];
    int64_t wanted = 1;
    for (int32_t a = 0; a < h->rank; a++) wanted *= w->count[a];
    assert_true(h->elems <= 256);
    for (int64_t i = 0; i < h->elems; i++) { /* whole numbers up to 2,048 are halves */
        static uint16_t half;
        half = i == 0 ? 0 : half;
        while (half_value(half) < (double)i) half++;
        file[2 * i] = (unsigned char)(half >> 8);
        file[2 * i + 1] = (unsigned char)half;
    }
    for (int i = 0; i < 256; i++) out[i] = -1.0f;
    for (int64_t first = 0; first < h->elems; first += cut) {
        const int64_t n = h->elems - first < cut ? h->elems - first : cut;
        convert_piece(out, w, h, first, n, file + 2 * first);
    }
    for (int64_t i = 0; i < wanted; i++) {
        int64_t rest = i, at[4], number = 0;
        for (int32_t a = h->rank - 1; a >= 0; a--) {
            at[a] = rest % w->count[a] + w->begin[a];
            rest /= w->count[a];
        }
        for (int32_t a = 0; a < h->rank; a++) {
            const int32_t axis = h->fortran ? h->rank - 1 - a : a;
            number = number * h->dim[axis] + at[axis];
        }
        assert_true(out[i] == (float)number);
    }
    for (int64_t i = wanted; i < 256; i++) assert_true(out[i] == -1.0f);
}

static void test_c98_windows(void **state)
{
    (void)state;
    for (int fortran = 0; fortran < 2; fortran++) {
        npy_header h = {.type = NPY_F2,
                        .elem_bytes = 2,
                        .big_endian = 1,
                        .fortran = fortran,
                        .rank = 4,
                        .dim = {2, 3, 4, 5},
                        .elems = 120};
        convert_window w = {.rank = 4, .begin = {0, 0, 0, 0}, .count = {2, 3, 4, 5}};
        for (int64_t cut = 1; cut <= 120; cut += cut < 8 ? 1 : 13) check_window(&h, &w, cut);
        w.begin[0] = 1;
        w.count[0] = 1;
        w.begin[1] = 2;
        w.count[1] = 1;
        for (int64_t cut = 1; cut <= 120; cut += 7) check_window(&h, &w, cut);
        w.begin[2] = 1;
        w.count[2] = 2;
        w.begin[3] = 2;
        w.count[3] = 3;
        for (int64_t cut = 1; cut <= 120; cut += 7) check_window(&h, &w, cut);
        h.rank = w.rank = 1;
        h.elems = 2;
        w.count[0] = 1;
        check_window(&h, &w, 2);
        h.rank = w.rank = 0;
        h.elems = 1;
        check_window(&h, &w, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_halves),
        cmocka_unit_test(test_c112_bfloat16),
        cmocka_unit_test(test_c99_elements),
        cmocka_unit_test(test_c98_windows),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
