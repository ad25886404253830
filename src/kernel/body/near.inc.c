/* SPDX-License-Identifier: MIT */
/* near.inc.c - for few rows: keys and values from the caller's memory into the first-level cache, each
 * byte read once, while lines further on are fetched. Keys come turned, so
 * that the lanes of a vector are keys; values come as they lie. Both come widened (rule 14), so what
 * computes knows one type only.
 */

/* How far ahead of the reading a line is fetched, in bytes: hardware fetches along a page at best, and
 * drops requests that come faster than memory answers, so there is one request for each line read. */
enum { NAME(AHEAD) = 8192 };

/* From a number that is read to the one to fetch, in bytes: the same channel of a later key. */
INLINE int64_t NAME(ahead_of)(int64_t stride, int64_t row)
{
    return row ? (NAME(AHEAD) + row - 1) / row * stride : 0;
}

/* bytes [at, at + step) of a row are read at p: fetches the line that begins there, `ahead` bytes on */
INLINE void NAME(fetch)(const char *p, int64_t at, int64_t step, int64_t ahead)
{
    if (step >= 64 || at % 64 == 0) __builtin_prefetch(p + ahead, 0, 2);
}

#if REAL_BITS == 32
INLINE float NAME(number_at)(const void *p, const int32_t dtype)
{
    if (dtype == DTYPE) return *(const real_u *)p;
    return half_at(p, dtype);
}
INLINE f32v NAME(vector_at)(const void *p, const int32_t dtype)
{
    return dtype == DTYPE ? NAME(load_any)(p) : dtype == QKV_BF16 ? bf16_lanes(p) : vhalves32(p);
}
/* two channels in each lane, the first of them where memory has it */
INLINE void NAME(unpair)(f32v x, f32v *first, f32v *second, const int32_t dtype)
{
    const u32v pair = (u32v)x;
    if (dtype == QKV_BF16) {
        *first = FIRST_HALF_LOW ? (f32v)(pair << 16) : (f32v)(pair & 0xffff0000);
        *second = FIRST_HALF_LOW ? (f32v)(pair & 0xffff0000) : (f32v)(pair << 16);
    } else {
        vhalf_pairs32(pair, FIRST_HALF_LOW ? first : second, FIRST_HALF_LOW ? second : first);
    }
}
#else
INLINE double NAME(number_at)(const void *p, const int32_t dtype)
{
    (void)dtype;
    return *(const real_u *)p;
}
INLINE void NAME(unpair)(f64v x, f64v *first, f64v *second, const int32_t dtype)
{
    (void)dtype;
    *first = *second = x; /* never: no type of half the width is read in place */
}
#endif

/* to[c][j] = channel c of key j, for LANES keys and all channels; k: the first, `stride` bytes from one to
 * the next; the rows of `to` are two vectors long */
HOT void NAME(turn)(real *to, const char *k, int64_t stride, int64_t channels, int64_t ahead,
                    const int32_t dtype)
{
    enum { TO = 2 * LANES };
    /* of half as wide numbers a vector holds pairs of channels */
    const int64_t size = dtype == DTYPE ? (int64_t)sizeof(real) : 2,
                  pair = (int64_t)sizeof(real) / size, step = pair * LANES;
    for (int64_t c = 0; c < channels && channels >= step; c += step) {
        if (c + step > channels) c = channels - step; /* some again */
        vec x[LANES];
        const char *p = k + c * size;
        UNROLL_ALL for (int j = 0; j < LANES; j++, p += stride)
        {
            x[j] = NAME(load_any)(p);
            NAME(fetch)(p, c * size, LANES * (int64_t)sizeof(real), ahead);
        }
        vturn(x);
        UNROLL_ALL for (int j = 0; j < LANES; j++)
        {
            real *const at = to + (c + pair * j) * TO;
            vec first = x[j], second;
            if (pair == 2) NAME(unpair)(x[j], &first, &second, dtype);
            NAME(store)(at, first);
            if (pair == 2) NAME(store)(at + TO, second);
        }
    }
    for (int64_t c = 0; c < channels && channels < step; c++)
        for (int j = 0; j < LANES; j++)
            to[c * TO + j] = NAME(number_at)(k + j * stride + c * size, dtype);
}

#define NEAR_PARAMETERS_TURN                                                                       \
    (real * to, const char *k, int64_t stride, int64_t channels, int64_t ahead)
#define NEAR_PARAMETERS_BRING                                                                      \
    (real * to, int64_t to_stride, const char *v, int64_t stride, int64_t n, int64_t channels,     \
     int64_t ahead)
typedef void NAME(turn_fn) NEAR_PARAMETERS_TURN;
typedef void NAME(bring_fn) NEAR_PARAMETERS_BRING;

NOINLINE void NAME(turn_plain) NEAR_PARAMETERS_TURN
{
    NAME(turn)(to, k, stride, channels, ahead, DTYPE);
}
#if REAL_BITS == 32
NOINLINE void NAME(turn_f16) NEAR_PARAMETERS_TURN
{
    NAME(turn)(to, k, stride, channels, ahead, QKV_F16);
}
NOINLINE void NAME(turn_bf16) NEAR_PARAMETERS_TURN
{
    NAME(turn)(to, k, stride, channels, ahead, QKV_BF16);
}
/* to[j][c] = channel c of key j, for n keys; the rows of `to` are `to_stride` numbers apart */
HOT void NAME(bring)(real *to, int64_t to_stride, const char *v, int64_t stride, int64_t n,
                     int64_t channels, int64_t ahead, const int32_t dtype)
{
    const int64_t size = dtype == DTYPE ? (int64_t)sizeof(real) : 2;
    for (int64_t j = 0; j < n; j++, to += to_stride, v += stride) {
        for (int64_t c = 0; c + LANES <= channels; c += LANES) {
            const char *const p = v + c * size;
            NAME(fetch)(p, c * size, LANES * size, ahead);
            NAME(store)(to + c, NAME(vector_at)(p, dtype));
        }
        for (int64_t c = channels / LANES * LANES; c < channels; c++)
            to[c] = NAME(number_at)(v + c * size, dtype);
    }
}

NOINLINE void NAME(bring_f16) NEAR_PARAMETERS_BRING
{
    NAME(bring)(to, to_stride, v, stride, n, channels, ahead, QKV_F16);
}
NOINLINE void NAME(bring_bf16) NEAR_PARAMETERS_BRING
{
    NAME(bring)(to, to_stride, v, stride, n, channels, ahead, QKV_BF16);
}
static NAME(turn_fn) * NAME(turn_of)(int32_t dtype)
{
    return dtype == QKV_F16    ? NAME(turn_f16)
           : dtype == QKV_BF16 ? NAME(turn_bf16)
                               : NAME(turn_plain);
}
/* NULL: read in place */
static NAME(bring_fn) * NAME(bring_of)(int32_t dtype)
{
    return dtype == QKV_F16 ? NAME(bring_f16) : dtype == QKV_BF16 ? NAME(bring_bf16) : NULL;
}
#else
static NAME(turn_fn) * NAME(turn_of)(int32_t dtype)
{
    (void)dtype;
    return NAME(turn_plain);
}
static NAME(bring_fn) * NAME(bring_of)(int32_t dtype)
{
    (void)dtype;
    return NULL;
}
#endif
#undef NEAR_PARAMETERS_TURN
#undef NEAR_PARAMETERS_BRING
