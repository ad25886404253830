/* SPDX-License-Identifier: MIT */
/* golden_report.h - what the tests of golden bits share, whatever their cases are: an executor that runs
 * backwards and counts, the comparison of hashes, a line of TAP for each way of running, kernels by name.
 */
#ifndef QKV_TESTS_GOLDEN_REPORT_H
#define QKV_TESTS_GOLDEN_REPORT_H

#include <inttypes.h>
#include <qkv/qkv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOLDEN_SHOWN = 8 };

/* One test point: an instruction set, a way of running. */
typedef struct golden_point {
    int32_t cases, failed, most_tasks;
    char first[GOLDEN_SHOWN][240];
} golden_point;

/* What one run of a case gave. */
typedef struct golden_result {
    uint64_t of[16];
    uint32_t computed; /* a bit for each hash that this way of running has */
    int32_t tasks;
    const char *sentence; /* why there are no hashes to compare; NULL: there are */
} golden_result;

typedef struct golden_tasks {
    int32_t most;
} golden_tasks;

static inline void golden_backwards(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i),
                                    void *arg)
{
    golden_tasks *const seen = (golden_tasks *)ctx;
    if (ntasks > seen->most) seen->most = ntasks;
    for (int32_t i = ntasks - 1; i >= 0; i--) task(arg, i);
}

static inline qkv_threads golden_threads(golden_tasks *seen)
{
    qkv_threads threads = qkv_threads_init();
    threads.nthreads = 3;
    threads.parallel_for = golden_backwards;
    threads.ctx = seen;
    return threads;
}

/* Counts the case; where a hash is not the wanted one, keeps its name and value. */
static inline void golden_judge(golden_point *p, const char *name, const golden_result *r,
                                const uint64_t *want, const char *const *names, int32_t n)
{
    char text[200] = "";
    p->cases++;
    if (r->tasks > p->most_tasks) p->most_tasks = r->tasks;
    if (r->sentence)
        snprintf(text, sizeof text, "%s", r->sentence);
    else
        for (int32_t i = 0; i < n; i++)
            if (r->computed >> i & 1 && r->of[i] != want[i]) {
                const size_t used = strlen(text);
                snprintf(text + used, sizeof text - used, " %s is %016" PRIx64, names[i], r->of[i]);
            }
    if (!r->sentence && text[0] == 0) return;
    if (p->failed < GOLDEN_SHOWN)
        snprintf(p->first[p->failed], sizeof p->first[0], "%.40s: %.190s", name, text);
    p->failed++;
}

/* One line of TAP; 1 when it failed. many: some case must have been cut into two tasks. */
static inline int golden_report(int32_t number, const char *what, const char *way, int many,
                                const golden_point *p)
{
    const int idle = many && p->most_tasks < 2;
    const int ok = p->failed == 0 && p->cases > 0 && !idle;
    printf("%sok %d - %s %s (%d cases)\n", ok ? "" : "not ", number, what, way, p->cases);
    for (int32_t i = 0; i < p->failed && i < GOLDEN_SHOWN; i++) printf("# %s\n", p->first[i]);
    if (p->failed > GOLDEN_SHOWN) printf("# and %d cases more\n", p->failed - GOLDEN_SHOWN);
    if (idle) printf("# no case was cut into more than %d tasks\n", p->most_tasks);
    return !ok;
}

static inline int32_t golden_isa(const char *program, const char *name)
{
    for (int32_t i = 0; i < qkv_isa_count(); i++)
        if (strcmp(qkv_isa_name(qkv_isa_id(i)), name) == 0) return qkv_isa_id(i);
    fprintf(stderr, "%s: no kernel is called %s\n", program, name);
    exit(2);
}

#endif /* QKV_TESTS_GOLDEN_REPORT_H */
