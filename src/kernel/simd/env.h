/* SPDX-License-Identifier: MIT */
/* env.h - the floating-point environment of the calling thread (rule 0): nearest, subnormals kept,
 * exceptions masked. enter returns what was set, leave puts it back, on x86 and IBM z with the
 * exception flags.
 */
#ifndef QKVI_ENV_H
#define QKVI_ENV_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
static uint64_t env_enter(void)
{
    const uint64_t before = _mm_getcsr();
    _mm_setcsr(0x1F80);
    return before;
}
static void env_leave(uint64_t before)
{
    _mm_setcsr((uint32_t)before);
}
#elif defined(__aarch64__)
static uint64_t env_enter(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return before;
}
static void env_leave(uint64_t before)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#elif defined(__s390x__)
static uint64_t env_enter(void)
{
    uint32_t before;
    __asm__ volatile("efpc %0" : "=r"(before));
    __asm__ volatile("sfpc %0" : : "r"(UINT32_C(0)));
    return before;
}
static void env_leave(uint64_t before)
{
    __asm__ volatile("sfpc %0" : : "r"((uint32_t)before));
}
#else /* no such registers (wasm), or none that we know: the host must leave the defaults */
static uint64_t env_enter(void)
{
    return 0;
}
static void env_leave(uint64_t before)
{
    (void)before;
}
#endif

#endif
