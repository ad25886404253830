/* SPDX-License-Identifier: MIT */
/* probe_fma.inc.c - independent chains of fused multiply-adds in registers: what this thread can
 * compute at best. Enough chains hide the latency; too many would leave the registers.
 */

enum { NAME(PROBE_STEPS) = 1000 };

INLINE double NAME(probe_chains)(int64_t repeat, const int chains)
{
    vec a[12];
    const vec x = NAME(all)((real)0.999), y = NAME(all)((real)0.001);
    UNROLL_ALL for (int i = 0; i < chains; i++) a[i] = NAME(all)((real)i);
    for (int64_t n = 0; n < repeat; n++)
        for (int k = 0; k < NAME(PROBE_STEPS); k++) UNROLL_ALL for (int i = 0; i < chains; i++)
            {
                a[i] = vfma(a[i], x, y);
                vkeep(a[i]);
            }
    return (double)repeat * NAME(PROBE_STEPS) * chains * LANES * 2.0;
}

NOINLINE double NAME(probe_12)(int64_t repeat)
{
    return NAME(probe_chains)(repeat, 12);
}
NOINLINE double NAME(probe_10)(int64_t repeat)
{
    return NAME(probe_chains)(repeat, 10);
}
NOINLINE double NAME(probe_8)(int64_t repeat)
{
    return NAME(probe_chains)(repeat, 8);
}

static double NAME(probe_fma)(int64_t repeat, int32_t variant)
{
    switch (variant) {
    case 0:
        return NAME(probe_12)(repeat);
    case 1:
        return NAME(probe_10)(repeat);
    case 2:
        return NAME(probe_8)(repeat);
    default:
        return 0;
    }
}
