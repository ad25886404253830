/* SPDX-License-Identifier: MIT */
/* file_bytes.h - .npy files made byte by byte for the tests of the readers, and memory that ends
 * where the bytes end: a read past them faults.
 */
#ifndef TESTS_UNIT_FILE_BYTES_H
#define TESTS_UNIT_FILE_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of n bytes that ends right before a page that cannot be read. */
typedef struct guarded {
    unsigned char *p;
    void *map;
    size_t map_bytes;
} guarded;

static inline guarded guarded_copy(const void *bytes, size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = (n + page - 1) / page * page;
    guarded g = {NULL, NULL, room + page};
    g.map = mmap(NULL, g.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect((char *)g.map + room, page, PROT_NONE), 0);
    g.p = (unsigned char *)g.map + room - n;
    if (n > 0) memcpy(g.p, bytes, n);
    return g;
}

static inline void guarded_free(guarded *g)
{
    munmap(g->map, g->map_bytes);
}

/* A header of that version around dict, padded with spaces so that the data starts at a multiple
 * of align; returns its length. */
static inline size_t npy_bytes(unsigned char *to, int version, const char *dict, size_t align)
{
    const size_t fixed = version == 1 ? 10 : 12, n = strlen(dict);
    const size_t total = (fixed + n + 1 + align - 1) / align * align;
    const size_t rest = total - fixed;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 8; i < fixed; i++) to[i] = (unsigned char)(rest >> (8 * (i - 8)) & 255);
    memset(to + fixed, ' ', rest);
    memcpy(to + fixed, dict, n);
    to[total - 1] = '\n';
    return total;
}

#endif /* TESTS_UNIT_FILE_BYTES_H */
