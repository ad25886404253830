/* SPDX-License-Identifier: MIT */
/* fail_nth.c - linked in front of the C library with --wrap: every function that takes memory (or a
 * stream, a mapping, a thread) is counted, and the n-th call fails as the real one would.
 *
 * A program arms it with fail_nth(n); the command is armed by FAIL_NTH=n in the environment and
 * then writes one byte to the descriptor FAIL_NTH_FD when the failure has happened. FAIL_NTH_CLOCK=x
 * lets the clock run x times as fast, so that a benchmark has soon measured for long enough.
 */
#include "fail_nth.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls, wanted;
static atomic_int failed;
static int report_to = -1;
static long clock_factor = 1;
static struct timespec clock_start;

long fail_nth_calls(void)
{
    return calls;
}

int fail_nth_happened(void)
{
    return failed;
}

void fail_nth(long n)
{
    calls = 0;
    failed = 0;
    wanted = n;
}

static __attribute__((constructor)) void arm_from_environment(void)
{
    const char *const n = getenv("FAIL_NTH"), *const fd = getenv("FAIL_NTH_FD");
    const char *const factor = getenv("FAIL_NTH_CLOCK");
    clock_gettime(CLOCK_MONOTONIC, &clock_start);
    if (factor != NULL) clock_factor = atol(factor);
    if (fd != NULL) report_to = atoi(fd);
    if (n != NULL) fail_nth(atol(n));
}

/* 1: this call is the one that fails */
static int now(void)
{
    if (atomic_fetch_add(&calls, 1) + 1 != wanted) return 0;
    failed = 1;
    if (report_to >= 0 && write(report_to, "x", 1) != 1) abort();
    errno = ENOMEM;
    return 1;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return now() ? NULL : __real_malloc(n);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return now() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    return now() ? NULL : __real_realloc(p, n);
}

void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return now() ? NULL : __real_aligned_alloc(align, n);
}

int __real_posix_memalign(void **p, size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    return now() ? ENOMEM : __real_posix_memalign(p, align, n);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
    return now() ? NULL : __real_strdup(s);
}

char *__real_strndup(const char *s, size_t n);
char *__wrap_strndup(const char *s, size_t n);
char *__wrap_strndup(const char *s, size_t n)
{
    return now() ? NULL : __real_strndup(s, n);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    return now() ? NULL : __real_fopen(path, mode);
}

FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode)
{
    return now() ? NULL : __real_fdopen(fd, mode);
}

FILE *__real_open_memstream(char **p, size_t *n);
FILE *__wrap_open_memstream(char **p, size_t *n);
FILE *__wrap_open_memstream(char **p, size_t *n)
{
    return now() ? NULL : __real_open_memstream(p, n);
}

ssize_t __real_getline(char **line, size_t *n, FILE *f);
ssize_t __wrap_getline(char **line, size_t *n, FILE *f);
ssize_t __wrap_getline(char **line, size_t *n, FILE *f)
{
    return now() ? -1 : __real_getline(line, n, f);
}

void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    return now() ? MAP_FAILED : __real_mmap(p, n, prot, flags, fd, at);
}

char *__real_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to);
char *__wrap_realpath(const char *path, char *to)
{
    return now() ? NULL : __real_realpath(path, to);
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return now() ? NULL : __real_opendir(path);
}

typedef void *thread_main(void *);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, thread_main *f, void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, thread_main *f, void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, thread_main *f, void *arg)
{
    return now() ? EAGAIN : __real_pthread_create(t, a, f, arg);
}

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    const int code = __real_clock_gettime(id, t);
    if (code != 0 || clock_factor == 1 || id != CLOCK_MONOTONIC) return code;
    const int64_t past =
        (t->tv_sec - clock_start.tv_sec) * INT64_C(1000000000) + t->tv_nsec - clock_start.tv_nsec;
    t->tv_sec = clock_start.tv_sec + past * clock_factor / 1000000000;
    t->tv_nsec = past * clock_factor % 1000000000;
    return code;
}
