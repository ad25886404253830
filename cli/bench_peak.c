/* SPDX-License-Identifier: MIT */
/* bench_peak.c - the machine's limits for `qkv bench`: fused multiply-adds in registers and plain
 * reads of memory, each the maximum over all usable kernels and variants of the library's loops.
 *
 * The library does a stated amount of work; the clock is here.
 */
#include "cli/bench_rows.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const size_t huge_page = (size_t)2 << 20;

static size_t whole_pages(size_t bytes)
{
    return (bytes + huge_page - 1) / huge_page * huge_page;
}

void *bench_alloc(size_t bytes)
{
    /* one page more than needed, the ends given back: mmap aligns to 4 KiB only */
    const size_t size = whole_pages(bytes) + huge_page;
    unsigned char *const raw =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return NULL;
    const size_t front = (huge_page - (uintptr_t)raw % huge_page) % huge_page;
    if (front) munmap(raw, front);
    if (front < huge_page) munmap(raw + size - (huge_page - front), huge_page - front);
    madvise(raw + front, size - huge_page, MADV_HUGEPAGE); /* a wish; 4 KiB pages are slower */
    memset(raw + front, 0, size - huge_page);
    return raw + front;
}

void bench_free(void *memory, size_t bytes)
{
    if (memory) munmap(memory, whole_pages(bytes));
}

/* One run of a loop; 10^9 per second, or a negative number past the last variant. */
static double speed(const qkv_probe_args *args)
{
    double amount = 0;
    const double start = bench_now();
    if (qkv_probe(args, &amount, NULL) != QKV_OK) return -1;
    const double t = bench_now() - start;
    return t > 0 ? 1e-9 * amount / t : 0;
}

/* Best of `runs` runs that last about `seconds` each. */
static double best_speed(qkv_probe_args *args, double seconds, int runs)
{
    args->repeat = 1;
    for (;;) { /* the length of a run is not known before */
        const double start = bench_now();
        if (speed(args) < 0) return -1;
        const double t = bench_now() - start;
        if (t > seconds / 3 || args->repeat > INT64_C(1) << 40) {
            const double factor = t > 0 ? seconds / t : 1;
            args->repeat = (int64_t)((double)args->repeat * factor) + 1;
            break;
        }
        args->repeat *= 2;
    }
    double best = 0;
    for (int i = 0; i < runs; i++) {
        const double x = speed(args);
        if (x > best) best = x;
    }
    return best;
}

static qkv_probe_args fma_args(const bench_machine *m, bool wide, int all)
{
    qkv_probe_args args = qkv_probe_args_init();
    args.kind = wide ? QKV_PROBE_FMA_F64 : QKV_PROBE_FMA_F32;
    args.isa = m->isa[wide];
    args.variant = m->variant[wide];
    args.threads = m->threads[all];
    return args;
}

static double *peak_of(bench_limits *limits, bool wide, int all)
{
    return wide ? &limits->peak_f64[all] : &limits->peak_f32[all];
}

/* `from` ... `to`: the part of the whole work that this is. */
static void find_peak(bench_machine *m, bool wide, double from, double to)
{
    const int32_t count = qkv_isa_count();
    for (int all = 0; all < 2; all++) {
        double *const peak = peak_of(&m->limits, wide, all);
        for (int32_t i = 0; i < count; i++) {
            if (!qkv_isa_usable(qkv_isa_id(i))) continue;
            qkv_probe_args args = fma_args(m, wide, all);
            args.isa = qkv_isa_id(i);
            for (args.variant = 0;; args.variant++) {
                cli_progress(from + (to - from) * (all * count + i) / (2 * count),
                             "measuring the peak");
                const double x = best_speed(&args, 3e-3, 5);
                if (x < 0) break;
                if (x <= *peak) continue;
                *peak = x;
                if (all == 0) {
                    m->isa[wide] = args.isa;
                    m->variant[wide] = args.variant;
                }
            }
        }
    }
    /* one thread of many can always do what one thread can */
    double *const one = peak_of(&m->limits, wide, 0), *const all = peak_of(&m->limits, wide, 1);
    if (*all < *one) *all = *one;
}

/* The same with operands that are read, by the kernels that reached the peak. */
static void find_fed(bench_machine *m, bool wide)
{
    for (int all = 0; all < 2; all++) {
        qkv_probe_args args = fma_args(m, wide, all);
        args.kind = wide ? QKV_PROBE_FED_F64 : QKV_PROBE_FED_F32;
        args.variant = 0;
        (wide ? m->limits.fed_f64 : m->limits.fed_f32)[all] = best_speed(&args, 3e-3, 5);
    }
}

static void find_read(bench_machine *m, const void *buffer, size_t bytes)
{
    for (int all = 0; all < 2; all++) {
        for (int32_t i = 0; i < qkv_isa_count(); i++) {
            if (!qkv_isa_usable(qkv_isa_id(i))) continue;
            qkv_probe_args args = qkv_probe_args_init();
            args.kind = QKV_PROBE_READ;
            args.isa = qkv_isa_id(i);
            args.threads = m->threads[all];
            args.buffer = buffer;
            args.buffer_size = bytes;
            args.repeat = 1;
            for (args.variant = 0;; args.variant++) {
                cli_progress(0.12, "measuring reads");
                double x = 0;
                for (int run = 0; run < 3 && x >= 0; run++) {
                    x = speed(&args);
                    if (x <= m->limits.read[all]) continue;
                    m->limits.read[all] = x;
                    m->read_isa[all] = args.isa;
                    m->read_variant[all] = args.variant;
                }
                if (x < 0) break;
            }
        }
    }
    m->limits.read_bytes = bytes;
}

void bench_find_peaks(bench_machine *m)
{
    find_peak(m, false, 1, 1);
    find_peak(m, true, 1, 1);
}

int bench_find_limits(bench_machine *m, size_t read_bytes)
{
    find_peak(m, false, 0, 0.06);
    find_peak(m, true, 0.06, 0.12);
    find_fed(m, false);
    find_fed(m, true);
    void *const buffer = bench_alloc(read_bytes);
    if (!buffer) return cli_failed("no memory for %zu bytes to read", read_bytes);
    find_read(m, buffer, read_bytes);
    bench_free(buffer, read_bytes);
    if (m->limits.peak_f32[0] <= 0 || m->limits.peak_f64[0] <= 0)
        return cli_failed("the library measures no peak on this machine");
    return CLI_DONE;
}

double bench_peak_now(bench_machine *m, bool wide, int all)
{
    double *const peak = peak_of(&m->limits, wide, all);
    qkv_probe_args args = fma_args(m, wide, all);
    args.repeat = 1;
    double amount = 0;
    qkv_probe(&args, &amount, NULL);
    /* 1 ms each, from the peak: no search for the length in the middle of a round */
    if (amount > 0) args.repeat = (int64_t)(*peak * 1e9 * 1e-3 / amount) + 1;
    double best = 0;
    for (int i = 0; i < 3; i++) {
        const double x = speed(&args);
        if (x > best) best = x;
    }
    if (best > *peak) *peak = best;
    return best;
}

double bench_read_now(const bench_machine *m, const void *buffer, size_t bytes, int all)
{
    qkv_probe_args args = qkv_probe_args_init();
    args.kind = QKV_PROBE_READ;
    args.isa = m->read_isa[all];
    args.variant = m->read_variant[all];
    args.threads = m->threads[all];
    args.buffer = buffer;
    args.buffer_size = bytes;
    args.repeat = 1;
    return speed(&args);
}
