/* SPDX-License-Identifier: MIT */
/* probe.inc.c - sequential reads of a buffer that do nothing else: the limit of everything that has
 * to come from memory. The fused multiply-adds, the other limit, are in probe_fma.inc.c. The caller
 * holds the clock.
 */

/* variant 0: the hardware's own prefetch; 1: ours as well, a few kilobytes ahead */
NOINLINE double probe_read(const void *mem, int64_t bytes, int64_t repeat, int32_t variant)
{
    enum { AT_ONCE = 8, AHEAD_BYTES = 4096 };
    const int64_t step = AT_ONCE * VBYTES, n = bytes / step;
    i32v sum[AT_ONCE];
    if (variant < 0 || variant > 1) return 0;
    for (int i = 0; i < AT_ONCE; i++) sum[i] = (i32v){0};
    for (int64_t k = 0; k < repeat; k++) {
        const char *p = mem;
        for (int64_t j = 0; j < n; j++, p += step) {
            for (int64_t b = 0; variant && b < step; b += 64)
                __builtin_prefetch(p + AHEAD_BYTES + b, 0, 3);
            UNROLL_ALL for (int i = 0; i < AT_ONCE; i++)
            {
                sum[i] += *(const i32v *)(const void *)(p + i * VBYTES);
                vkeep_bits(sum[i]);
            }
        }
    }
    return (double)repeat * (double)(n * step);
}
