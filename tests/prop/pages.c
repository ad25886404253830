/* SPDX-License-Identifier: MIT */
/* pages.c - see pages.h. A run that touches a shut page is left by a jump out of the signal's handler:
 * what it held of the caller's memory stays the caller's, and the library has nothing to give back.
 */
#include "pages.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int64_t element_bytes(int32_t dtype)
{
    return dtype == QKV_F64 ? 8 : dtype == QKV_F32 ? 4 : dtype == QKV_BOOL ? 1 : 2;
}

/* multiples of 1/64 in [-1, 1) */
static void put_element(void *at, int32_t dtype, double x)
{
    uint16_t half = signbit(x) ? 0x8000 : 0;
    int e;
    if (dtype == QKV_BOOL) {
        *(unsigned char *)at = x != 0;
    } else if (dtype == QKV_F32 || dtype == QKV_F64) {
        put_at(at, dtype, 0, x);
    } else {
        const double m = frexp(fabs(x), &e); /* |x| = m 2^e, m in [1/2, 1) */
        const int fraction = dtype == QKV_F16 ? 10 : 7, middle = dtype == QKV_F16 ? 15 : 127;
        if (m != 0)
            half |= (uint16_t)((e - 1 + middle) * (1 << fraction) +
                               (int)((2 * m - 1) * (1 << fraction)));
        memcpy(at, &half, 2);
    }
}

static int64_t page_bytes(void)
{
    return (int64_t)sysconf(_SC_PAGESIZE);
}

static void set_strides(qkv_shape *s, lie lies)
{
    const int64_t page = page_bytes() / element_bytes(s->dtype);
    if (lies == LIE_BSHD) {
        s->stride[1] = s->dim[3];
        s->stride[2] = s->dim[1] * s->dim[3];
    } else if (lies != LIE_DENSE) {
        s->stride[3] = lies == LIE_EVERY_SECOND ? 2 : 1;
        s->stride[2] = lies == LIE_BACKWARDS ? -page : page;
        s->stride[1] = page * s->dim[2];
        s->stride[0] = s->stride[1] * s->dim[1];
    }
}

static char *element_at(const pages *m, int64_t b, int64_t h, int64_t j, int64_t c)
{
    const int64_t *const s = m->shape.stride;
    return m->base + (b * s[0] + h * s[1] + j * s[2] + c * s[3]) * element_bytes(m->shape.dtype);
}

/* Opens the pages of keys that are live (NULL: of all) and counts those that stay shut. */
static void open_pages(pages *m, const bool *live)
{
    const int64_t *const dim = m->shape.dim, page = page_bytes(), all = (int64_t)m->size / page;
    const int64_t last = element_bytes(m->shape.dtype) - 1;
    char *const open = calloc((size_t)all, 1);
    assert_non_null(open);
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        if (live && !live[row]) continue;
        const int64_t b = row / dim[2] / dim[1], h = row / dim[2] % dim[1], j = row % dim[2];
        const int64_t from = element_at(m, b, h, j, 0) - m->map;
        const int64_t to = element_at(m, b, h, j, dim[3] - 1) + last - m->map;
        memset(open + from / page, 1, (size_t)(to / page - from / page + 1));
    }
    for (int64_t i = 0, n; i < all; i += n) {
        for (n = 1; i + n < all && open[i + n] == open[i];) n++;
        const size_t bytes = (size_t)(n * page);
        if (open[i])
            assert_int_equal(mprotect(m->map + i * page, bytes, PROT_READ | PROT_WRITE), 0);
        else
            m->shut += n;
    }
    free(open);
}

pages pages_new(const qkv_shape *dense, const void *x, lie lies, const bool *live)
{
    pages m = {.shape = *dense};
    set_strides(&m.shape, lies);
    const int64_t page = page_bytes(), e = element_bytes(dense->dtype), *const s = m.shape.stride;
    const int64_t *const dim = dense->dim, jump = s[2] * (dim[2] - 1), back = jump < 0 ? -jump : 0;
    const int64_t reach = back + (dim[0] - 1) * s[0] + (dim[1] - 1) * s[1] + (jump > 0 ? jump : 0) +
                          (dim[3] - 1) * s[3] + 1;
    m.size = (size_t)((reach * e + page - 1) / page * page);
    m.map = mmap(NULL, m.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(m.map != MAP_FAILED);
    m.base = m.map + back * e;
    open_pages(&m, live);
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++)
        for (int64_t c = 0; c < dim[3] && (!live || live[row]); c++)
            put_element(
                element_at(&m, row / dim[2] / dim[1], row / dim[2] % dim[1], row % dim[2], c),
                dense->dtype, get_at(x, QKV_F32, row * dim[3] + c));
    return m;
}

void pages_free(pages *m)
{
    munmap(m->map, m->size);
}

/* ---- a run that may be stopped by a page ----------------------------------------------------- */

static sigjmp_buf before_run;
static char *volatile touched;

static void on_touch(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    touched = info->si_addr;
    siglongjmp(before_run, 1);
}

bool pages_run(const qkv_plan *plan, const qkv_run_args *args, qkv_status *status, qkv_error *err)
{
    struct sigaction old[2], mine;
    memset(&mine, 0, sizeof mine);
    mine.sa_sigaction = on_touch;
    mine.sa_flags = SA_SIGINFO;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGSEGV, &mine, &old[0]);
    sigaction(SIGBUS, &mine, &old[1]);
    const bool whole = sigsetjmp(before_run, 1) == 0;
    if (whole) *status = qkv_run(plan, args, err);
    sigaction(SIGSEGV, &old[0], NULL);
    sigaction(SIGBUS, &old[1], NULL);
    return whole;
}

bool pages_touched(const pages *m, const char *name, char *text, size_t size)
{
    const int64_t e = element_bytes(m->shape.dtype), *const dim = m->shape.dim;
    if (touched < m->map || touched >= m->map + m->size) return false;
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        const int64_t b = row / dim[2] / dim[1], h = row / dim[2] % dim[1], j = row % dim[2];
        const char *const at = element_at(m, b, h, j, 0);
        if (touched < at || touched > element_at(m, b, h, j, dim[3] - 1) + e - 1) continue;
        snprintf(text, size, "%s[%d][%d][%d]", name, (int)b, (int)h, (int)j);
        return true;
    }
    snprintf(text, size, "%s, between elements", name);
    return true;
}
