/* SPDX-License-Identifier: MIT */
/* guard.h - memory of exactly a size, beside a page that may not be touched: a byte read or written beyond
 * it ends the test.
 */
#ifndef TEST_GUARD_H
#define TEST_GUARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct guarded {
    char *map;
    size_t size;
} guarded;

/* A copy whose last byte (or first) touches a page that may not be touched. */
static inline void *guard(guarded *g, const void *x, int64_t bytes, int before)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)bytes;
    const size_t inside = (n + page - 1) / page * page;
    *g = (guarded){NULL, inside + page};
    if (x == NULL || n == 0) return NULL;
    g->map = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g->map != MAP_FAILED);
    assert_int_equal(mprotect(g->map + (before ? 0 : inside), page, PROT_NONE), 0);
    return memcpy(before ? g->map + page : g->map + inside - n, x, n);
}

static inline void guard_free(guarded *g)
{
    if (g->map) munmap(g->map, g->size);
}

#endif
