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

/* The chains of a score (score.inc.c) with all that they read in the first-level cache: what a kernel can
 * do at best, since every one of them reads. */
static double NAME(probe_fed)(int64_t repeat, int32_t variant)
{
    enum { CHANNELS = 64 };
    vec q[CHANNELS * QKVI_TILE_VECTORS], a[BROADCASTS][QKVI_TILE_VECTORS];
    real k[BROADCASTS][CHANNELS];
    if (variant != 0) return 0;
    for (int c = 0; c < CHANNELS; c++) {
        for (int v = 0; v < QKVI_TILE_VECTORS; v++)
            q[c * QKVI_TILE_VECTORS + v] = NAME(all)((real)0.999);
        for (int r = 0; r < BROADCASTS; r++) k[r][c] = (real)0.001;
    }
    for (int64_t n = 0; n < repeat; n++) {
        const real *x = k[0];
        OPAQUE(x);
        UNROLL_ALL for (int r = 0; r < BROADCASTS; r++)
        {
            UNROLL_ALL for (int v = 0; v < QKVI_TILE_VECTORS; v++) a[r][v] = (vec){0};
        }
        UNROLL_STEPS
        for (const vec *p = q, *const end = q + CHANNELS * QKVI_TILE_VECTORS; p != end;
             p += QKVI_TILE_VECTORS, x++) {
            UNROLL_ALL for (int r = 0; r < BROADCASTS; r++)
            {
                const vec y = NAME(all)(x[r * CHANNELS]);
                UNROLL_ALL for (int v = 0; v < QKVI_TILE_VECTORS; v++) a[r][v] =
                    vfma(y, p[v], a[r][v]);
            }
        }
        UNROLL_ALL for (int r = 0; r < BROADCASTS; r++)
        {
            UNROLL_ALL for (int v = 0; v < QKVI_TILE_VECTORS; v++) vkeep(a[r][v]);
        }
    }
    return (double)repeat * CHANNELS * BROADCASTS * QKVI_TILE_VECTORS * LANES * 2.0;
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
