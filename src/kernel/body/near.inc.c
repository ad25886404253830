/* SPDX-License-Identifier: MIT */
/* near.inc.c - for few rows: numbers of keys and values as the caller has them, widened where they are
 * read (rule 14), and lines fetched ahead of the reading.
 *
 * Requests that come in bursts wait for each other, and hardware fetches along a page at best. So each
 * line has its own request, in the order of memory, spread over what is computed meanwhile.
 */

/* How far ahead of the reading, in bytes; more than the keys that are in work. */
enum { NAME(AHEAD) = 16384 };

/* The rows of `row` bytes, `stride` bytes apart, that lie AHEAD of p. */
INLINE qkvi_lines NAME(lines_after)(const char *p, int64_t row, int64_t stride)
{
    return (qkvi_lines){.at = p + (row ? (NAME(AHEAD) + row - 1) / row * stride : 0),
                        .row = row,
                        .left = row,
                        .jump = stride - (row + 63) / 64 * 64};
}

INLINE void NAME(fetch)(qkvi_lines *f)
{
    __builtin_prefetch(f->at, 0, 2);
    f->at += 64;
    f->left -= 64;
    if (f->left <= 0) {
        f->at += f->jump;
        f->left = f->row;
    }
}

#if REAL_BITS == 32
INLINE float NAME(number_at)(const void *p, const int32_t dtype)
{
    if (dtype == DTYPE) return *(const real_u *)p;
    return half_at(p, dtype);
}
INLINE f32v NAME(vector_at)(const void *p, const int32_t dtype)
{
    return dtype == DTYPE ? NAME(load_any)(p) : dtype == QKV_BF16 ? vbfloats32(p) : vhalves32(p);
}
INLINE void NAME(turn_pairs)(f32v *x, const int32_t dtype)
{
    if (dtype == QKV_F16)
        vturn_f16(x);
    else
        vturn32(x);
}
/* turned pairs of channels, the first of them where memory has it; of this type x itself. Not of f16 */
INLINE void NAME(widen_pair)(f32v x, f32v *first, f32v *second, const int32_t dtype)
{
    const u32v pair = (u32v)x, high = pair & 0xffff0000;
    *first = dtype == DTYPE ? x : FIRST_HALF_LOW ? (f32v)(pair << 16) : (f32v)high;
    *second = dtype == DTYPE ? x : FIRST_HALF_LOW ? (f32v)high : (f32v)(pair << 16);
}
/* the same from an aligned place, of every type */
INLINE void NAME(unpair)(const void *at, f32v *first, f32v *second, const int32_t dtype)
{
    if (dtype == QKV_F16)
        vpair_f16(at, first, second);
    else
        NAME(widen_pair)(NAME(load)(at), first, second, dtype);
}
#else
INLINE f64v NAME(vector_at)(const void *p, const int32_t dtype)
{
    (void)dtype;
    return NAME(load_any)(p);
}
INLINE double NAME(number_at)(const void *p, const int32_t dtype)
{
    (void)dtype;
    return *(const real_u *)p;
}
INLINE void NAME(turn_pairs)(f64v *x, const int32_t dtype)
{
    (void)dtype;
    vturn64(x);
}
/* no type of half the width is read in place */
INLINE void NAME(widen_pair)(f64v x, f64v *first, f64v *second, const int32_t dtype)
{
    (void)dtype;
    *first = *second = x;
}
INLINE void NAME(unpair)(const void *at, f64v *first, f64v *second, const int32_t dtype)
{
    NAME(widen_pair)(NAME(load)(at), first, second, dtype);
}
#endif

/* name(..., dtype) as one function for each type that is read, and name_of(), which chooses among them */
#define FEW_ONE(name, type, dtype, parameters, ...)                                                \
    NOINLINE void NAME(name##_##type) parameters                                                   \
    {                                                                                              \
        NAME(name)(__VA_ARGS__, dtype);                                                            \
    }
#if REAL_BITS == 32
#define FEW_TYPES(name, parameters, ...)                                                           \
    typedef void NAME(name##_fn) parameters;                                                       \
    FEW_ONE(name, plain, DTYPE, parameters, __VA_ARGS__)                                           \
    FEW_ONE(name, f16, QKV_F16, parameters, __VA_ARGS__)                                           \
    FEW_ONE(name, bf16, QKV_BF16, parameters, __VA_ARGS__)                                         \
    static NAME(name##_fn) * NAME(name##_of)(int32_t dtype)                                        \
    {                                                                                              \
        return dtype == QKV_F16    ? NAME(name##_f16)                                              \
               : dtype == QKV_BF16 ? NAME(name##_bf16)                                             \
                                   : NAME(name##_plain);                                           \
    }
#else
#define FEW_TYPES(name, parameters, ...)                                                           \
    typedef void NAME(name##_fn) parameters;                                                       \
    FEW_ONE(name, plain, DTYPE, parameters, __VA_ARGS__)                                           \
    static NAME(name##_fn) * NAME(name##_of)(int32_t dtype)                                        \
    {                                                                                              \
        (void)dtype;                                                                               \
        return NAME(name##_plain);                                                                 \
    }
#endif
