/* SPDX-License-Identifier: MIT */
/* mask_bits.c - see mask_bits.h. Eight elements at a time where they are neighbours: a tile's bits cost
 * a few hundredths of its arithmetic.
 */
#include "mask/mask_bits.h"

/* bits [lo, hi) of word w of a row */
static uint64_t stretch(int32_t lo, int32_t hi, int32_t w)
{
    const int32_t a = lo - 64 * w, b = hi - 64 * w;
    if (b <= 0 || a >= 64 || a >= b) return 0;
    const uint64_t upto = b >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << b) - 1;
    return a <= 0 ? upto : upto & ~((UINT64_C(1) << a) - 1);
}

void qkvi_bits_ranges(qkvi_bits *b, const int32_t *lo, const int32_t *hi, int64_t rows,
                      int32_t keys)
{
    for (int64_t r = 0; r < rows; r++)
        for (int32_t w = 0; w < 2; w++)
            b->row[r][w] = lo ? stretch(lo[r], hi[r], w) : stretch(0, keys, w);
}

void qkvi_bits_first(qkvi_bits *b, int64_t rows, int64_t n)
{
    const int32_t some = n < 0 ? 0 : n > QKVI_BITS_KEYS ? QKVI_BITS_KEYS : (int32_t)n;
    for (int64_t r = 0; r < rows; r++)
        for (int32_t w = 0; w < 2; w++) b->row[r][w] &= stretch(0, some, w);
}

/* bit i is set where byte i of the eight at p is not 0 */
static uint64_t eight_bytes(const unsigned char *p)
{
    uint64_t x;
    __builtin_memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F);
    x = (x | ((x & low) + low)) >> 7 & UINT64_C(0x0101010101010101);
    return x * UINT64_C(0x0102040810204080) >> 56;
}

/* The bits of 64 bytes. Nearly always they are all 0, all 1, or a few pieces of both: whole words tell. */
static uint64_t sixty_four_bytes(const unsigned char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t w[8], any = 0, odd = 0, bits = 0;
    __builtin_memcpy(w, p, sizeof w);
    for (int i = 0; i < 8; i++) {
        any |= w[i];
        odd |= w[i] ^ ones;
    }
    if (any == 0) return 0;
    if (odd == 0) return ~UINT64_C(0);
    for (int i = 0; i < 8; i++) bits |= eight_bytes(p + 8 * i) << 8 * i;
    return bits;
}

/* eight bytes at any address */
typedef uint64_t any_eight __attribute__((aligned(1), may_alias));

qkvi_tile_kind qkvi_bools_kind(const qkvi_bools *x, int64_t rows, int32_t keys)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    if (x->packed || x->key_stride != 1 || keys != QKVI_BITS_KEYS || x->keys < keys)
        return QKVI_TILE_SOME;
    const unsigned char *p = (const unsigned char *)x->base + x->at;
    uint64_t any = 0, all = ~any;
    for (int64_t r = 0; r < rows; r++, p += x->row_stride) {
        const any_eight *const w = (const any_eight *)(const void *)p;
#pragma GCC unroll 16
        for (int i = 0; i < QKVI_BITS_KEYS / 8; i++) {
            any |= w[i];
            all &= w[i];
        }
        if (any && all != ones) return QKVI_TILE_SOME;
    }
    if (any == 0) return x->drops ? QKVI_TILE_ALL : QKVI_TILE_NONE;
    if (any != ones) return QKVI_TILE_SOME;
    return x->drops ? QKVI_TILE_NONE : QKVI_TILE_ALL;
}

static int element(const qkvi_bools *x, int64_t i)
{
    const unsigned char *const p = x->base;
    /* >> rounds down: elements before the base lie in bytes before it */
    return x->packed ? p[i >> 3] >> (i & 7) & 1 : p[i] != 0;
}

/* n <= 64 elements from number i on, key_stride apart */
static uint64_t take(const qkvi_bools *x, int64_t i, int32_t n)
{
    uint64_t bits = 0;
    int32_t j = 0;
    if (x->key_stride == 0) return element(x, i) ? stretch(0, n, 0) : 0;
    if (x->key_stride == 1 && x->packed) {
        /* bit by bit to the edge of a byte, then whole bytes */
        for (; j < n && (i + j) & 7; j++) bits |= (uint64_t)element(x, i + j) << j;
        for (; j + 8 <= n; j += 8)
            bits |= (uint64_t)((const unsigned char *)x->base)[(i + j) >> 3] << j;
    } else if (x->key_stride == 1 && n == 64) {
        return sixty_four_bytes((const unsigned char *)x->base + i);
    } else if (x->key_stride == 1) {
        for (; j + 8 <= n; j += 8) bits |= eight_bytes((const unsigned char *)x->base + i + j) << j;
    }
    for (; j < n; j++) bits |= (uint64_t)element(x, i + j * x->key_stride) << j;
    return bits;
}

void qkvi_bits_bools(qkvi_bits *b, const qkvi_bools *x, int64_t rows, int32_t keys)
{
    const int32_t n = x->keys < keys ? x->keys < 0 ? 0 : (int32_t)x->keys : keys;
    for (int64_t r = 0; r < rows; r++) {
        for (int32_t w = 0; w < 2; w++) {
            const int32_t left = n - 64 * w;
            const int32_t some = left < 0 ? 0 : left > 64 ? 64 : left;
            if (b->row[r][w] == 0) continue; /* nothing to take away, nothing to read */
            const uint64_t is =
                some ? take(x, x->at + r * x->row_stride + 64 * w * x->key_stride, some) : 0;
            b->row[r][w] &= (x->drops ? ~is : is) & stretch(0, some, 0);
        }
    }
}

/* 8 x 8 bits, byte i of x a row, to columns */
static uint64_t transpose8(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00AA00AA00AA00AA);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000CCCC0000CCCC);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000F0F0F0F0);
    return x ^ t ^ t << 28;
}

void qkvi_bits_by_key(const qkvi_bits *b, int64_t rows, uint64_t *live)
{
    for (int j = 0; j < QKVI_BITS_KEYS; j++) live[j] = 0;
    for (int64_t r = 0; r < rows; r += 8)
        for (int j = 0; j < QKVI_BITS_KEYS; j += 8) {
            uint64_t x = 0;
            for (int64_t i = 0; i < 8 && r + i < rows; i++)
                x |= (b->row[r + i][j / 64] >> j % 64 & 0xFF) << 8 * i;
            x = transpose8(x);
            for (int i = 0; i < 8; i++) live[j + i] |= (x >> 8 * i & 0xFF) << r;
        }
}

qkvi_tile_kind qkvi_bits_kind(const qkvi_bits *b, int64_t rows, int32_t keys, int32_t *lo,
                              int32_t *hi, uint64_t *live, int *scattered)
{
    const uint64_t full[2] = {stretch(0, keys, 0), stretch(0, keys, 1)};
    uint64_t any = 0, missing = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int w = 0; w < 2; w++) {
            any |= b->row[r][w];
            missing |= b->row[r][w] ^ full[w];
        }
    *scattered = 0;
    if (any == 0) return QKVI_TILE_NONE;
    if (missing == 0) return QKVI_TILE_ALL;
    for (int64_t r = 0; r < rows; r++) {
        const uint64_t a = b->row[r][0], z = b->row[r][1];
        lo[r] = a ? __builtin_ctzll(a) : z ? 64 + __builtin_ctzll(z) : 0;
        hi[r] = z ? 128 - __builtin_clzll(z) : a ? 64 - __builtin_clzll(a) : 0;
        *scattered |= a != stretch(lo[r], hi[r], 0) || z != stretch(lo[r], hi[r], 1);
    }
    if (*scattered) qkvi_bits_by_key(b, rows, live);
    return QKVI_TILE_SOME;
}
