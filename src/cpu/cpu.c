/* SPDX-License-Identifier: MIT */
/* cpu.c - asks the processor once. cpuid traps in virtual machines (about 10 us each), so the
 * answer is kept: the one mutable static of the library, written with the same value by whoever
 * comes first.
 */
#include "cpu/cpu.h"

#define ASKED UINT32_C(0x80000000)

#if defined(__x86_64__)
#include <cpuid.h>

/* no name of its own in clang 14; AVX2 tells that the system saves its registers */
static int has_f16c(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static uint32_t ask(void)
{
    uint32_t bits = 0;
    __builtin_cpu_init();
    /* by feature, not by level: clang 14 knows no levels. These tests include the system's support
     */
    if (__builtin_cpu_supports("avx2")) bits |= QKVI_CPU_AVX2;
    if (has_f16c()) bits |= QKVI_CPU_F16C;
    if (__builtin_cpu_supports("fma")) bits |= QKVI_CPU_FMA;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        bits |= QKVI_CPU_AVX512;
    return bits;
}
#else
static uint32_t ask(void)
{
    return 0;
}
#endif

uint32_t qkvi_cpu(void)
{
    static uint32_t known;
    uint32_t bits = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!(bits & ASKED)) {
        bits = ask() | ASKED;
        __atomic_store_n(&known, bits, __ATOMIC_RELAXED);
    }
    return bits & ~ASKED;
}
