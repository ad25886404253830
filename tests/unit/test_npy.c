/* SPDX-License-Identifier: MIT */
/* test_npy.c - the .npy header parser: what it accepts, every sentence it refuses with, and that it
 * never reads past its bytes (each input stands before a page that faults).
 */
#include "files/parse/npy.h"
#include "tests/unit/file_bytes.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned char room[1 << 21];

static npy_status parse_guarded(const void *bytes, size_t n, npy_header *h, npy_error *err,
                                char *text, size_t size)
{
    guarded g = guarded_copy(bytes, n);
    const npy_status s = npy_parse(g.p, n, h, err);
    text[0] = 0;
    if (s == NPY_BAD) npy_error_text(text, size, g.p, err);
    guarded_free(&g);
    return s;
}

static npy_header parse_dict(int version, const char *dict, size_t align)
{
    npy_header h;
    npy_error err;
    char text[512];
    const size_t n = npy_bytes(room, version, dict, align);
    if (parse_guarded(room, n, &h, &err, text, sizeof text) != NPY_OK) fail_msg("%s", text);
    assert_int_equal(h.data_offset, n);
    return h;
}

static void refuse_dict(const char *dict, const char *sentence)
{
    npy_header h;
    npy_error err;
    char text[512];
    const size_t n = npy_bytes(room, 1, dict, 64);
    assert_int_equal(parse_guarded(room, n, &h, &err, text, sizeof text), NPY_BAD);
    assert_string_equal(text, sentence);
}

#define PLAIN(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }"
#define TYPE(descr) "{'descr': '" descr "', 'fortran_order': False, 'shape': (2, 3), }"

static void test_plain(void **state)
{
    (void)state;
    const npy_header h = parse_dict(1, PLAIN("(2, 3)"), 64);
    assert_int_equal(h.version, 1);
    assert_int_equal(h.type, NPY_F4);
    assert_int_equal(h.elem_bytes, 4);
    assert_int_equal(h.big_endian, 0);
    assert_int_equal(h.fortran, 0);
    assert_int_equal(h.rank, 2);
    assert_int_equal(h.dim[0], 2);
    assert_int_equal(h.dim[1], 3);
    assert_int_equal(h.elems, 6);
    assert_int_equal(h.data_bytes, 24);
}

static void test_c98_fortran_order(void **state)
{
    (void)state;
    const npy_header h =
        parse_dict(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 64);
    assert_int_equal(h.fortran, 1);
}

static void test_c99_types(void **state)
{
    (void)state;
    static const struct {
        const char *dict;
        int32_t type, big, bytes;
    } row[] = {
        {TYPE("<f2"), NPY_F2, 0, 2},  {TYPE(">f2"), NPY_F2, 1, 2}, {TYPE("<f4"), NPY_F4, 0, 4},
        {TYPE(">f4"), NPY_F4, 1, 4},  {TYPE("=f4"), NPY_F4, 0, 4}, {TYPE("<f8"), NPY_F8, 0, 8},
        {TYPE(">f8"), NPY_F8, 1, 8},  {TYPE("=f8"), NPY_F8, 0, 8}, {TYPE("|b1"), NPY_B1, 0, 1},
        {TYPE("<V2"), NPY_BF2, 0, 2}, {TYPE(">V2"), NPY_BF2, 1, 2}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const npy_header h = parse_dict(1, row[i].dict, 64);
        const int native = row[i].dict[11] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        assert_int_equal(h.type, row[i].type);
        assert_int_equal(h.big_endian, row[i].big || native);
        assert_int_equal(h.elem_bytes, row[i].bytes);
        assert_int_equal(h.data_bytes, 6 * row[i].bytes);
    }
}

/* Integers, and bytes of bits, are taken only where they are asked for, and nothing else then. */
static void test_what_is_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *dict;
        int32_t type, big, bytes; /* 0: refused */
        npy_use use;
    } row[] = {{TYPE("<i4"), NPY_I4, 0, 4, NPY_INTEGERS}, {TYPE(">i8"), NPY_I8, 1, 8, NPY_INTEGERS},
               {TYPE("=i8"), NPY_I8, 0, 8, NPY_INTEGERS}, {TYPE("<u8"), 0, 0, 0, NPY_INTEGERS},
               {TYPE("<f8"), 0, 0, 0, NPY_INTEGERS},      {TYPE("|b1"), 0, 0, 0, NPY_INTEGERS},
               {TYPE("|i4"), 0, 0, 0, NPY_INTEGERS},      {TYPE(""), 0, 0, 0, NPY_INTEGERS},
               {TYPE("|u1"), NPY_U1, 0, 1, NPY_BYTES},    {TYPE("|b1"), 0, 0, 0, NPY_BYTES},
               {TYPE("<f4"), 0, 0, 0, NPY_BYTES},         {TYPE("<u2"), NPY_BF2, 0, 2, NPY_WORDS},
               {TYPE("<i4"), 0, 0, 0, NPY_WORDS},         {TYPE("|u1"), 0, 0, 0, NPY_NUMBERS}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        unsigned char bytes[256];
        npy_header h;
        npy_error err;
        const size_t n = npy_bytes(bytes, 1, row[i].dict, 64);
        const npy_status s = npy_parse_as(bytes, n, row[i].use, &h, &err);
        assert_int_equal(s, row[i].bytes ? NPY_OK : NPY_BAD);
        if (!row[i].bytes) continue;
        const int native = row[i].dict[11] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        assert_int_equal(h.type, row[i].type);
        assert_int_equal(h.big_endian, row[i].big || native);
        assert_int_equal(h.elem_bytes, row[i].bytes);
    }
}

static void test_c100_versions_and_spelling(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        const npy_header h = parse_dict(version, PLAIN("(3,)"), 64);
        assert_int_equal(h.version, version);
        assert_int_equal(h.elems, 3);
    }
    assert_int_equal(parse_dict(1, PLAIN("(3,)"), 4096).data_offset, 4096);
    assert_int_equal(parse_dict(1, PLAIN("(3,)"), 65535).data_offset, 65535);
    assert_int_equal(parse_dict(2, PLAIN("(3,)"), NPY_MAX_HEADER).data_offset, NPY_MAX_HEADER);
    static const char *const spelling[] = {
        "{'shape': (3,), 'fortran_order': False, 'descr': '<f4'}",
        "{'descr':'<f4','fortran_order':False,'shape':(3,)}",
        "  {  'descr'  :  '<f4'  ,  'fortran_order'  :  False  ,  'shape'  :  (  3  ,  )  ,  }  ",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (3,)}",
    };
    for (size_t i = 0; i < sizeof spelling / sizeof spelling[0]; i++) {
        const npy_header h = parse_dict(1, spelling[i], 64);
        assert_int_equal(h.rank, 1);
        assert_int_equal(h.dim[0], 3);
    }
    assert_int_equal(parse_dict(1, PLAIN("(2,3,)"), 64).rank, 2);
}

static void test_c101_small_shapes(void **state)
{
    (void)state;
    npy_header h = parse_dict(1, PLAIN("()"), 64);
    assert_int_equal(h.rank, 0);
    assert_int_equal(h.elems, 1);
    assert_int_equal(h.data_bytes, 4);
    h = parse_dict(1, PLAIN("(5,)"), 64);
    assert_int_equal(h.elems, 5);
    h = parse_dict(1, PLAIN("(0, 4)"), 64);
    assert_int_equal(h.rank, 2);
    assert_int_equal(h.elems, 0);
    assert_int_equal(h.dim[1], 4);
    h = parse_dict(1, PLAIN("(2, 0, 3)"), 64);
    assert_int_equal(h.rank, 3);
    assert_int_equal(h.data_bytes, 0);
}

static void test_rank_limit(void **state)
{
    (void)state;
    char dict[400] = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < 32; i++) strcat(dict, "1,");
    strcat(dict, ")}");
    assert_int_equal(parse_dict(1, dict, 64).rank, 32);
    dict[strlen(dict) - 2] = 0;
    strcat(dict, "1)}");
    refuse_dict(dict, "the number of dimensions is 33; at most 32 are accepted");
}

/* Every prefix of a whole file asks for more, with a number that ends: header, then data. */
static void test_c102_prefixes(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        const size_t n = npy_bytes(room, version, PLAIN("(2, 3)"), 64);
        for (size_t k = 0; k < n; k++) {
            npy_header h;
            npy_error err;
            char text[512];
            assert_int_equal(parse_guarded(room, k, &h, &err, text, sizeof text), NPY_MORE);
            assert_true(err.need > (int64_t)k && err.need <= (int64_t)n);
        }
    }
    npy_header h;
    npy_error err;
    char text[512];
    memcpy(room,
           "\x93NUMPY\1\0\xf8\xff"
           "0123456789",
           20);
    assert_int_equal(parse_guarded(room, 20, &h, &err, text, sizeof text), NPY_MORE);
    assert_int_equal(err.need, 10 + 0xfff8);
}

#define ONLY "only float16, bfloat16, float32 and float64"
#define SYMBOLS "this type is not supported, only <f2 <f4 <f8, or > or = in place of <"

static void test_c102_c104_types_refused(void **state)
{
    (void)state;
    refuse_dict(TYPE("<ixy"), "descr is '<ixy'; integers are not supported, " ONLY);
    refuse_dict(TYPE(""), "descr is ''; " SYMBOLS);
    refuse_dict(TYPE("f"), "descr is 'f'; " SYMBOLS);
    refuse_dict(TYPE("<f3"), "descr is '<f3'; " SYMBOLS);
    refuse_dict(TYPE("<f16"), "descr is '<f16'; " SYMBOLS);
    refuse_dict(TYPE("|f4"), "descr is '|f4'; " SYMBOLS);
    refuse_dict(TYPE("<i4"), "descr is '<i4'; integers are not supported, " ONLY);
    refuse_dict(TYPE("|u1"), "descr is '|u1'; integers are not supported, " ONLY);
    refuse_dict(TYPE("|O"), "descr is '|O'; object arrays are not supported, " ONLY);
    refuse_dict(TYPE("<U8"), "descr is '<U8'; strings are not supported, " ONLY);
    refuse_dict(TYPE("|S3"), "descr is '|S3'; strings are not supported, " ONLY);
    refuse_dict(TYPE("<c8"), "descr is '<c8'; complex numbers are not supported, " ONLY);
    refuse_dict(TYPE("<M8[s]"), "descr is '<M8[s]'; dates and times are not supported, " ONLY);
    refuse_dict(TYPE("<u2"), "descr is '<u2'; integers are not supported, " ONLY);
    refuse_dict(TYPE("<V3"), "descr is '<V3'; raw and structured types are not supported, " ONLY);
    refuse_dict(TYPE("|V8"), "descr is '|V8'; raw and structured types are not supported, " ONLY);
    refuse_dict("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}",
                "descr is '[('x''; structured types are not supported, " ONLY);
    refuse_dict("{'descr': 4, 'fortran_order': False, 'shape': (2,)}",
                "descr is '4'; it must be a string such as '<f4'");
}

static void test_c102_c103_shapes_refused(void **state)
{
    (void)state;
    refuse_dict(PLAIN("(-1, 3)"), "dimension 0 of the shape is '-1'; it must be 0 or more");
    refuse_dict(PLAIN("(3.0,)"),
                "dimension 0 of the shape is '3.0'; it must be a whole number, 0 or more");
    refuse_dict(PLAIN("(2, 'a')"),
                "dimension 1 of the shape is 'a'; it must be a whole number, 0 or more");
    refuse_dict(PLAIN("(2, 03)"),
                "dimension 1 of the shape is '03'; it must be a whole number, 0 or more");
    refuse_dict(PLAIN("(((1,),),)"),
                "dimension 0 of the shape is '((1'; it must be a whole number, 0 or more");
    refuse_dict(PLAIN("5"),
                "shape is '5'; it must be a tuple of whole numbers such as (13, 32) or (5,)");
    refuse_dict(PLAIN("(5)"),
                "shape is '(5)'; it must be a tuple of whole numbers such as (13, 32) or (5,)");
    refuse_dict(PLAIN("[5, 6]"),
                "shape is '[5'; it must be a tuple of whole numbers such as (13, 32) or (5,)");
    refuse_dict(PLAIN("(4294967296, 4294967296)"),
                "shape is '(4294967296, 4294967296)'; its bytes must stay below 2^63");
    refuse_dict(PLAIN("(9223372036854775807, 2)"),
                "shape is '(9223372036854775807, 2)'; its bytes must stay below 2^63");
    refuse_dict(PLAIN("(0, 4294967296, 4294967296)"),
                "shape is '(0, 4294967296, 4294967296)'; its bytes must stay below 2^63");
    refuse_dict(PLAIN("(2305843009213693951,)"),
                "shape is '(2305843009213693951,)'; its bytes must stay below 2^63");
    refuse_dict(PLAIN("(9223372036854775808,)"),
                "dimension 0 of the shape is '9223372036854775808'; it must be below 2^63");
}

static void test_c103_giant_headers(void **state)
{
    (void)state;
    npy_header h;
    npy_error err;
    char text[512];
    assert_int_equal(
        parse_guarded("\x93NUMPY\2\0\xf0\xff\xff\xff", 12, &h, &err, text, sizeof text), NPY_BAD);
    assert_string_equal(text,
                        "the header's length is 4294967292; at most 1048576 bytes are accepted");

    assert_int_equal(parse_guarded("\x93NUMPY\2\0\xf5\xff\x0f\0", 12, &h, &err, text, sizeof text),
                     NPY_BAD); /* one byte more than the largest, which test_c100 reads */
    assert_string_equal(text, "the header's length is 1048577; at most 1048576 bytes are accepted");

    char *const dict = malloc(300000);
    strcpy(dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    char *to = dict + strlen(dict);
    for (int i = 0; i < 100000; i++) to = stpcpy(to, "1,");
    strcpy(to, ")}");
    const size_t n = npy_bytes(room, 2, dict, 64);
    free(dict);
    assert_int_equal(parse_guarded(room, n, &h, &err, text, sizeof text), NPY_BAD);
    assert_string_equal(text, "the number of dimensions is 100000; at most 32 are accepted");

    /* as deep as a header allows, at the cost of one pass */
    memset(room, '(', sizeof room);
    memcpy(room, "\x93NUMPY\2\0\xf4\xff\x0f\0{'descr': ", 22);
    assert_int_equal(parse_guarded(room, 12 + 0xffff4, &h, &err, text, sizeof text), NPY_BAD);
}

static void test_keys_refused(void **state)
{
    (void)state;
    refuse_dict("{'descr': '<f4', 'shape': (2,)}",
                "the number of keys is 2; 3 are needed, fortran_order is missing");
    refuse_dict("{'fortran_order': False, 'shape': (2,)}",
                "the number of keys is 2; 3 are needed, descr is missing");
    refuse_dict("{'descr': '<f4', 'fortran_order': False}",
                "the number of keys is 2; 3 are needed, shape is missing");
    refuse_dict("{}", "the number of keys is 0; 3 are needed, descr is missing");
    refuse_dict("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
                "a second key of the header is 'descr'; each may stand only once");
    refuse_dict(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
        "a key of the header is 'extra'; only descr, fortran_order and shape may stand there");
    refuse_dict("{'descr': '<f4', 'fortran_order': __import__('os').system('true'), 'shape': (2,)}",
                "fortran_order is '__import__('os''; it must be True or False");
    refuse_dict("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
                "fortran_order is '0'; it must be True or False");
    refuse_dict("{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
                "the header's dict is 'fortran_order'; a comma or } was expected");
    refuse_dict("{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}",
                "the header's dict is '<f4'; a colon was expected");
    refuse_dict("{descr: '<f4', 'fortran_order': False, 'shape': (2,)}",
                "the header's dict is 'descr'; a key in quotes was expected");
    refuse_dict("[1, 2]", "the header is '[1'; it must be a dict in { }");
    refuse_dict(PLAIN("(2,)") " + {}",
                "the text after the header's dict is '+'; only spaces and a newline may follow");
    refuse_dict("{'descr': '<f\\x34', 'fortran_order': False, 'shape': (2,)}",
                "descr is '<f\\x34'; it must be a string such as '<f4'");
}

static void test_ends_early(void **state)
{
    (void)state;
    npy_header h;
    npy_error err;
    char text[512];
    const char *const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}";
    for (size_t k = 0; k < strlen(dict); k++) { /* whole headers that hold half a dict */
        memcpy(room, "\x93NUMPY\1\0", 8);
        room[8] = (unsigned char)k;
        room[9] = 0;
        memcpy(room + 10, dict, k);
        assert_int_equal(
            parse_guarded(room, k + 10 < 12 ? 12 : k + 10, &h, &err, text, sizeof text), NPY_BAD);
        assert_true(strlen(text) > 10);
    }
    memcpy(room, "\x93NUMPY\1\0\4\0{'a'", 14);
    room[8] = 1;
    assert_int_equal(parse_guarded(room, 12, &h, &err, text, sizeof text), NPY_BAD);
    assert_string_equal(
        text, "the header's dict ends too early, at byte 11; a key in quotes was expected");
}

static void test_c113_something_else(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *sentence;
    } row[] = {
        {"version https://git-lfs.github.com/spec/v1\n",
         "the file's beginning is 'version https://git-lfs.'; a .npy file starts with \\x93NUMPY; "
         "this looks like a Git LFS pointer"},
        {"<!DOCTYPE html>\n<p>", "the file's beginning is '<!DOCTYPE html>'; a .npy file starts "
                                 "with \\x93NUMPY; this looks "
                                 "like a web page"},
        {"PK\3\4\24", "the file's beginning is 'PK\\x03\\x04\\x14'; a .npy file starts with "
                      "\\x93NUMPY; this looks like a zip archive or .npz"},
        {"\x93NUMPX", "the file's beginning is '\x93NUMPX'; a .npy file starts with \\x93NUMPY"},
        {"\x93NUMPY\4\0\2\0{}", "the .npy version is 4; 1, 2 and 3 are accepted"},
        {"\x93NUMPY\1\7\2\0{}", "the minor part of the .npy version is 7; it must be 0"},
        {"\n", "the file's beginning is '\\x0a'; a .npy file starts with \\x93NUMPY"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        npy_header h;
        npy_error err;
        char text[512];
        const size_t n = i == 4 || i == 5 ? 12 : strlen(row[i].bytes);
        assert_int_equal(parse_guarded(row[i].bytes, n, &h, &err, text, sizeof text), NPY_BAD);
        assert_string_equal(text, row[i].sentence);
        char small[8]; /* a sentence is cut, never past its room */
        memset(small, 'x', sizeof small);
        assert_int_equal(npy_error_text(small, 7, (const unsigned char *)row[i].bytes, &err), 6);
        assert_int_equal(small[6], 0);
        assert_int_equal(small[7], 'x');
    }
}

static void test_write(void **state)
{
    (void)state;
    const int64_t dim[] = {2, 3};
    npy_header h;
    npy_error err;
    unsigned char bytes[1024];
    const size_t n = npy_header_write(bytes, sizeof bytes, NPY_F4, 2, dim);
    assert_int_equal(n, 128);
    assert_memory_equal(bytes,
                        "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(2, 3), }  ",
                        70);
    assert_int_equal(bytes[127], '\n');
    for (int32_t rank = 0; rank <= 32; rank++) {
        int64_t big[32];
        for (int32_t i = 0; i < rank; i++) big[i] = i == 0 ? 0 : INT64_MAX;
        const size_t m = npy_header_write(bytes, sizeof bytes, NPY_F8, rank, big);
        assert_true(m > 0 && m % 64 == 0);
        if (rank > 2) continue; /* beyond, its own bytes would overflow */
        assert_int_equal(npy_parse(bytes, m, &h, &err), rank < 2 ? NPY_OK : NPY_BAD);
        if (rank < 2) assert_int_equal(h.rank, rank);
    }
    assert_int_equal(npy_header_write(bytes, 127, NPY_F4, 2, dim), 0);
    assert_int_equal(npy_header_write(bytes, sizeof bytes, NPY_B1, 2, dim), 128);
    assert_memory_equal(bytes + 10, "{'descr': '|b1', ", 17);
    assert_int_equal(npy_header_write(bytes, sizeof bytes, NPY_U1, 2, dim), 0);
    assert_int_equal(npy_header_write(bytes, sizeof bytes, NPY_F4, 33, dim), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_c98_fortran_order),
        cmocka_unit_test(test_c99_types),
        cmocka_unit_test(test_what_is_wanted),
        cmocka_unit_test(test_c100_versions_and_spelling),
        cmocka_unit_test(test_c101_small_shapes),
        cmocka_unit_test(test_rank_limit),
        cmocka_unit_test(test_c102_prefixes),
        cmocka_unit_test(test_c102_c104_types_refused),
        cmocka_unit_test(test_c102_c103_shapes_refused),
        cmocka_unit_test(test_c103_giant_headers),
        cmocka_unit_test(test_keys_refused),
        cmocka_unit_test(test_ends_early),
        cmocka_unit_test(test_c113_something_else),
        cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
