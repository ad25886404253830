/* SPDX-License-Identifier: MIT */
/* test_input.c - reading tensors from files and pipes: every form gives the same numbers, a part
 * equals that part of the whole and costs no more memory, and a file that changes is noticed.
 */
#include "files/file_io.h"
#include "tests/unit/file_bytes.h"
#include "tests/unit/page_flags.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A sanitizer owns the address space: limiting it stops the sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

static char folder[64];

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/qkv-input-XXXXXX");
    return !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") != 0 || rmdir(folder) != 0;
}

static void put_file(const char *name, const void *head, size_t n, const void *data, size_t m)
{
    FILE *const f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(head, 1, n, f), n);
    assert_int_equal(fwrite(data, 1, m, f), m);
    assert_int_equal(fclose(f), 0);
}

/* [2, 3, 4, 5]: element number i in C order is i - 30, which every type holds exactly. */
enum { COUNT = 120 };
static const int64_t dims[4] = {2, 3, 4, 5};

/* The tensor's bytes in a file form; returns their number. */
static size_t make_data(unsigned char *to, int size, int big, int fortran)
{
    for (int place = 0; place < COUNT; place++) {
        int number = place;
        if (fortran) {
            int at[4], rest = place;
            for (int a = 0; a < 4; a++) {
                at[a] = rest % (int)dims[a];
                rest /= (int)dims[a];
            }
            number = ((at[0] * 3 + at[1]) * 4 + at[2]) * 5 + at[3];
        }
        const float x = (float)(number - 30);
        uint32_t f4;
        uint64_t bits;
        memcpy(&f4, &x, 4);
        if (size == 2) {
            const uint32_t exponent = f4 >> 23 & 255;
            bits = (f4 >> 16 & 0x8000) |
                   (exponent == 0 ? 0 : (exponent - 112) << 10 | (f4 >> 13 & 1023));
        } else if (size == 4) {
            bits = f4;
        } else {
            const double y = (double)x;
            memcpy(&bits, &y, 8);
        }
        for (int i = 0; i < size; i++) {
            to[place * size + i] = (unsigned char)(bits >> 8 * (big ? size - 1 - i : i));
        }
    }
    return (size_t)(COUNT * size);
}

static size_t make_file(unsigned char *to, int size, int big, int fortran)
{
    char dict[128];
    snprintf(dict, sizeof dict, "{'descr': '%cf%d', 'fortran_order': %s, 'shape': (2, 3, 4, 5), }",
             big ? '>' : '<', size, fortran ? "True" : "False");
    const size_t n = npy_bytes(to, 1, dict, 64);
    return n + make_data(to + n, size, big, fortran);
}

static double value_at(const files_tensor *t, int64_t i)
{
    return t->type == NPY_F8 ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

static void check_part(const files_tensor *t, const files_slice *s)
{
    int64_t i = 0;
    for (int64_t a = 0; a < s->count[0]; a++)
        for (int64_t b = 0; b < s->count[1]; b++)
            for (int64_t c = 0; c < s->count[2]; c++)
                for (int64_t d = 0; d < s->count[3]; d++, i++) {
                    const int64_t number =
                        (((s->begin[0] + a) * 3 + s->begin[1] + b) * 4 + s->begin[2] + c) * 5 +
                        s->begin[3] + d;
                    assert_true(value_at(t, i) == (double)(number - 30));
                }
    for (int a = 0; a < 4; a++) assert_int_equal(t->dim[a], s->count[a]);
}

static const files_slice parts[] = {{{0, 0, 0, 0}, {2, 3, 4, 5}}, {{1, 0, 0, 0}, {1, 3, 4, 5}},
                                    {{0, 2, 0, 0}, {2, 1, 4, 5}}, {{1, 1, 0, 0}, {1, 1, 4, 5}},
                                    {{0, 1, 1, 2}, {2, 2, 2, 3}}, {{0, 0, 0, 4}, {2, 3, 4, 1}},
                                    {{0, 0, 2, 0}, {2, 3, 0, 5}}};

/* Standard input becomes a pipe that holds those bytes and ends. */
static void pipe_in(const unsigned char *bytes, size_t n)
{
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(write(fd[1], bytes, n), n);
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
}

static void test_forms_and_parts(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    for (int form = 0; form < 12; form++) {
        const size_t n = make_file(bytes, 2 << form % 3, form / 3 % 2, form / 6);
        put_file("x.npy", bytes, n, "", 0);
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
            for (int way = 0; way < 3; way++) { /* read, mapped where possible, pipe */
                files_input *in;
                files_tensor t;
                files_error err;
                if (way == 2) pipe_in(bytes, n);
                if (files_open(&in, way == 2 ? "-" : "x.npy", &err) != 0) fail_msg("%s", err.text);
                assert_string_equal(files_name(in), way == 2 ? "standard input" : "x.npy");
                if (file_read_above(in, &parts[p], &t, way == 1 ? 0 : FILE_MAP_ABOVE, &err) != 0) {
                    fail_msg("%s", err.text);
                }
                if (way != 1) assert_false(t.mapped);
                if (form == 1 && p < 2 && way == 1) assert_true(t.mapped);
                check_part(&t, &parts[p]);
                files_close(in); /* tensors stay */
                check_part(&t, &parts[p]);
                files_tensor_free(&t);
            }
        }
    }
    unlink("x.npy");
}

static void refused(const char *path, int exit_status, const char *sentence)
{
    files_input *in = NULL;
    files_tensor t;
    files_error err = {0, ""};
    int status = files_open(&in, path, &err);
    if (status == 0) {
        const files_slice all = files_slice_all(in);
        status = files_read(in, &all, &t, &err);
    }
    assert_string_equal(err.text, sentence);
    assert_int_equal(status, exit_status);
    assert_int_equal(err.exit_status, exit_status);
    files_close(in);
}

static void test_wrong_lengths(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    const size_t n = make_file(bytes, 4, 0, 0);
    for (size_t k = 0; k <= n + 1; k++) { /* each prefix, and one byte more */
        files_input *in = NULL;
        files_error err;
        bytes[n] = 0;
        if (k == n) continue;
        put_file("x.npy", bytes, k, "", 0);
        assert_int_equal(files_open(&in, "x.npy", &err), 2);
        assert_null(in);
    }
    put_file("x.npy", bytes, n - 1, "", 0);
    refused("x.npy", 2, "x.npy has 607 bytes; its header asks for exactly 608");
    put_file("x.npy", bytes, n + 1, "", 0);
    refused("x.npy", 2, "x.npy has 609 bytes; its header asks for exactly 608");
    put_file("x.npy", bytes, 0, "", 0);
    refused("x.npy", 2,
            "x.npy ends after 0 bytes; a .npy header of at least 12 bytes was expected");
    put_file("x.npy", bytes, 30, "", 0);
    refused("x.npy", 2,
            "x.npy ends after 30 bytes; a .npy header of at least 128 bytes was expected");
    pipe_in(bytes, n - 1);
    refused("-", 2, "standard input has 607 bytes; its header asks for exactly 608");
    pipe_in(bytes, n + 1);
    refused("-", 2, "standard input has more than 608 bytes; its header asks for exactly that");
    unlink("x.npy");
    refused("x.npy", 2, "x.npy cannot be opened: No such file or directory");
    refused("", 2, "(empty name) cannot be opened: No such file or directory");
    refused("/", 2, "/ is a directory; a tensor file was expected");
}

static void test_name_is_cut(void **state)
{
    (void)state;
    char path[2000];
    files_input *in = NULL;
    files_error err;
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_int_equal(files_open(&in, path, &err), 2);
    assert_true(strlen(err.text) < FILE_NAME_SHOWN + 60);
    assert_non_null(strstr(err.text, "x...x"));
    assert_non_null(strstr(err.text, "File name too long"));
}

/* [2^30 + 8, 1] float32, all a hole but the last 8 rows. */
static void test_c106_part_of_a_huge_file(void **state)
{
    (void)state;
    unsigned char head[256];
    const size_t n = npy_bytes(
        head, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1073741832, 1), }", 64);
    const float rows[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t at = (int64_t)n + (INT64_C(1) << 32);
    put_file("huge.npy", head, n, "", 0);
    const int fd = open("huge.npy", O_WRONLY);
    assert_int_equal(pwrite(fd, rows, sizeof rows, at), sizeof rows);
    close(fd);

    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    files_input *in;
    files_tensor t;
    files_error err;
    files_slice s = {{INT64_C(1) << 30, 0}, {8, 1}};
    if (files_open(&in, "huge.npy", &err) != 0) fail_msg("%s", err.text);
    assert_int_equal(files_read_bytes(in, &s), 32);
    assert_int_equal(files_read(in, &s, &t, &err), 0);
    assert_memory_equal(t.data, rows, sizeof rows);
    files_tensor_free(&t);
    s = files_slice_all(in); /* mapped: no memory of its own */
    assert_int_equal(files_read_bytes(in, &s), 0);
    assert_int_equal(files_read(in, &s, &t, &err), 0);
    assert_true(t.mapped);
    assert_memory_equal((const char *)t.data + (INT64_C(1) << 32), rows, sizeof rows);
    files_tensor_free(&t);
    files_close(in);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 * 1024); /* KiB */
    unlink("huge.npy");
}

static void test_shrinks_while_read(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    const size_t n = make_file(bytes, 4, 0, 0);
    for (int fortran = 0; fortran < 2; fortran++) {
        files_input *in;
        files_tensor t;
        files_error err;
        make_file(bytes, 4, 0, fortran);
        put_file("x.npy", bytes, n, "", 0);
        assert_int_equal(files_open(&in, "x.npy", &err), 0);
        assert_int_equal(truncate("x.npy", 300), 0);
        const files_slice all = files_slice_all(in);
        assert_int_equal(files_read(in, &all, &t, &err), 1);
        assert_string_equal(err.text,
                            "x.npy changed while it was read: it ended at byte 300 of 608");
        files_close(in);
    }
    unlink("x.npy");
}

static void line(char *out, size_t size, const char *sentence)
{
    snprintf(out, size, "qkv test: %s\n", sentence);
}

/* Runs f in a child with stderr in text; returns its wait status. */
static int in_child(void (*f)(void), char *text, size_t size)
{
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(fd[1], STDERR_FILENO);
        f();
        _exit(99);
    }
    close(fd[1]);
    const ssize_t n = file_read_full(fd[0], text, size - 1, -1);
    text[n > 0 ? n : 0] = 0;
    close(fd[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void touch_shrunk_mapping(void)
{
    files_input *in;
    files_tensor t;
    files_error err;
    files_signals(line);
    if (files_open(&in, "big.npy", &err) != 0) _exit(98);
    const files_slice all = files_slice_all(in);
    if (file_read_above(in, &all, &t, 0, &err) != 0 || !t.mapped) _exit(97);
    if (truncate("big.npy", 4096) != 0) _exit(96);
    volatile const char *const p = t.data;
    if (p[60000] == 0) _exit(95); /* beyond the new end: never comes back */
}

static void test_mapped_file_shrinks(void **state)
{
    (void)state;
    unsigned char head[256];
    char text[2000];
    const size_t n =
        npy_bytes(head, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (16384,), }", 64);
    put_file("big.npy", head, n, "", 0);
    assert_int_equal(truncate("big.npy", (off_t)n + 65536), 0);
    const int status = in_child(touch_shrunk_mapping, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_string_equal(text, "qkv test: big.npy changed while it was read\n");
    unlink("big.npy");
}

static void read_without_memory(void)
{
    files_input *in;
    files_tensor t;
    files_error err;
    if (files_open(&in, "big.npy", &err) != 0) _exit(98);
    const struct rlimit little = {300 << 20, 300 << 20};
    if (setrlimit(RLIMIT_AS, &little) != 0) _exit(97);
    const files_slice all = files_slice_all(in);
    const int status = file_read_above(in, &all, &t, INT64_MAX, &err);
    fprintf(stderr, "%s", err.text);
    _exit(status);
}

static void test_no_memory(void **state)
{
    (void)state;
    unsigned char head[256];
    char text[2000];
    assert_null(files_alloc(-1));
    assert_null(files_alloc(INT64_MAX));
    void *const p = files_alloc(0);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    free(p);
    if (SANITIZED) return;
    const size_t n =
        npy_bytes(head, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (268435456,), }", 64);
    put_file("big.npy", head, n, "", 0);
    assert_int_equal(truncate("big.npy", (off_t)n + (INT64_C(1) << 30)), 0);
    const int status = in_child(read_without_memory, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_string_equal(text, "big.npy: no memory for 1073741824 bytes");
    assert_int_equal(WEXITSTATUS(status), 1);
    unlink("big.npy");
}

static void tokens_refused(const char *json, size_t n, const char *sentence)
{
    files_tokens t;
    files_error err;
    put_file("t.json", json, n, "", 0);
    assert_int_equal(files_tokens_read(&t, "t.json", &err), 2);
    assert_string_equal(err.text, sentence);
    unlink("t.json");
}

static void test_tokens(void **state)
{
    (void)state;
    files_tokens t;
    files_error err;
    const char json[] = "[\"the\", \"\", \"\\u0000x\", \"\\ud83d\", \"caf\\u00e9\"]\n";
    put_file("t.json", json, strlen(json), "", 0);
    assert_int_equal(files_tokens_read(&t, "t.json", &err), 0);
    assert_int_equal(t.count, 5);
    assert_string_equal(t.name[0], "the");
    assert_int_equal(t.length[1], 0);
    assert_int_equal(t.length[2], 2);
    assert_memory_equal(t.name[2], "\0x", 3);
    assert_string_equal(t.name[3], "\xef\xbf\xbd");
    assert_string_equal(t.name[4], "caf\xc3\xa9");
    files_tokens_free(&t);
    files_tokens_free(&t);
    pipe_in((const unsigned char *)"[]", 2);
    assert_int_equal(files_tokens_read(&t, "-", &err), 0);
    assert_int_equal(t.count, 0);
    files_tokens_free(&t);

    tokens_refused("{}", 2, "t.json holds an object; an array of strings was expected");
    tokens_refused("[\"a\", 1]", 8, "t.json: element 1 is a number; a string was expected");
    tokens_refused("[[]]", 4, "t.json: element 0 is an array; a string was expected");
    tokens_refused("[\"a\"", 4,
                   "t.json: byte 4 of the JSON text is something else where a comma or "
                   "the closing bracket was expected; an array of strings was expected");
    tokens_refused("[\"\xff\"]", 5,
                   "t.json: byte 2 of the JSON text is bytes that are not UTF-8; an "
                   "array of strings was expected");
    tokens_refused("", 0,
                   "t.json: byte 0 of the JSON text is the end of the text where a value was "
                   "expected; an array of strings was expected");
    assert_int_equal(files_tokens_read(&t, "none.json", &err), 2);
    assert_string_equal(err.text, "none.json cannot be opened: No such file or directory");
    assert_int_equal(files_tokens_read(&t, "/", &err), 2);
    assert_string_equal(err.text, "/ is a directory; a JSON file was expected");
}

static void large_buffers_ask_for_huge_pages(void **state)
{
    (void)state;
    char *const memory = files_alloc(5 << 20);
    assert_non_null(memory);
    memset(memory, 1, 5 << 20);
    if (huge_pages_at(memory) < 0)
        print_message("# this system has no huge pages to ask for\n");
    else
        assert_int_equal(huge_pages_at(memory + (5 << 20) - 1), 1);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_buffers_ask_for_huge_pages),
        cmocka_unit_test(test_forms_and_parts),
        cmocka_unit_test(test_wrong_lengths),
        cmocka_unit_test(test_name_is_cut),
        cmocka_unit_test(test_c106_part_of_a_huge_file),
        cmocka_unit_test(test_shrinks_while_read),
        cmocka_unit_test(test_mapped_file_shrinks),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests_name("input", tests, enter_folder, leave_folder);
}
