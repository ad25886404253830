/* SPDX-License-Identifier: MIT */
/* case_data.h - the golden cases and their data, for whoever writes golden hashes (tests/spec) and
 * whoever compares with them. Integers and exact powers of two only, no C library arithmetic: every
 * machine makes the same bits. Not the expected values: those are in hashes.txt.
 *
 * Invariant: golden_fill() depends on the case's line in cases.inc and on nothing else. To change
 * what a kind makes is to change existing hashes; add a new kind instead.
 */
#ifndef QKV_TESTS_GOLDEN_CASE_DATA_H
#define QKV_TESTS_GOLDEN_CASE_DATA_H

#include <stdint.h>
#include <string.h>

enum { GOLDEN_FULL = 0, GOLDEN_CAUSAL = 1, GOLDEN_SCALE = 2, GOLDEN_BOTH = 3 };
enum { GOLDEN_Q = 0, GOLDEN_K = 1, GOLDEN_V = 2 };
enum { GOLDEN_SPAN_KEYS = 4096, GOLDEN_MAX_PARTS = 3 };

/* What the numbers look like; "c0" is channel 0. Golden scores are in log2 units where the scale of
 * the case is LN2. */
enum golden_kind {
    GOLDEN_GAUSS,    /* about N(0,1): twelve uniforms */
    GOLDEN_GRID,     /* multiples of 1/64 in [-1, 1): many exact ties */
    GOLDEN_SHARP,    /* gauss, q times 40 */
    GOLDEN_HUGE,     /* gauss, each query row times another power of two: |m| up to 2^90 (2^900) */
    GOLDEN_BIGM,     /* c0 alone: scores near 2^20 .. 2^24 (2^49 .. 2^53), multiples of 1/8 apart */
    GOLDEN_TINY,     /* q and v subnormal, k near the largest power of two */
    GOLDEN_EQUAL,    /* every key the same */
    GOLDEN_HALF,     /* c0 alone: scores are multiples of 1/2, up to 150 apart */
    GOLDEN_NEARHALF, /* c0 alone: a few ulp around half-integers, under an integer maximum */
    GOLDEN_CUTOFF,   /* c0 alone: around the last weight that is not +0 */
    GOLDEN_RAMP,     /* each block of keys at another height: every fold factor */
    GOLDEN_WIDE,     /* random exponents in all three */
    GOLDEN_NINF,     /* live scores of -inf, a whole block of them */
    GOLDEN_NINFV,    /* the same, with inf in their value rows */
    GOLDEN_QINF,     /* query rows with -inf and +inf */
    GOLDEN_NANLIVE,  /* NaN in a key that some rows see, and in some query rows */
    GOLDEN_PINF,     /* +inf in a key */
    GOLDEN_POISON,   /* NaN and inf in every key and value that no row sees */
    GOLDEN_LATE,     /* the same where early rows do not look but late ones do */
    GOLDEN_VINF,     /* inf and NaN in live values */
    GOLDEN_NEGZERO,  /* zeros of both signs, products that underflow */
    GOLDEN_VHUGE,    /* values near the largest number: sums overflow */
    GOLDEN_VAST, /* gauss, query rows times 2^100 and more: the largest bias takes scores beyond */
    GOLDEN_SMALL /* gauss, k and v times 2^-16 and q times 2^12: subnormal halves that count */
};

typedef struct golden_case {
    const char *name;
    int32_t bits; /* 32 or 64 */
    int64_t batch, heads, kv_heads, rows, keys, d, d_v;
    int32_t use; /* GOLDEN_FULL ... */
    int64_t q_offset;
    double scale;
    int32_t kind; /* a golden_kind */
    uint64_t seed;
} golden_case;

#define LN2 0x1.62e42fefa39efp-1
static const golden_case golden_cases[] = {
#define CASE(name, bits, b, hq, hkv, sq, sk, d, dv, use, offset, scale, kind, seed)                \
    {#name, bits, b, hq, hkv, sq, sk, d, dv, GOLDEN_##use, offset, scale, GOLDEN_##kind, seed},
#include "cases.inc"
#undef CASE
};
#undef LN2
enum { GOLDEN_NCASES = sizeof golden_cases / sizeof golden_cases[0] };

/* How much is run: all; little (under a sanitizer, or where an emulator computes multiply-adds in
 * software); or, in an emulator whose processor has them, the best kernels on every case one way and on
 * the middle ones every way, the other kernels a little. */
typedef enum golden_effort { GOLDEN_ALL, GOLDEN_LITTLE, GOLDEN_EMULATED } golden_effort;

/* FNV-1a, 64 bits, over the little-endian bytes of the elements' bit patterns. */
#define GOLDEN_FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t golden_fnv(uint64_t hash, uint64_t bits, int32_t width)
{
    for (int32_t i = 0; i < width; i += 8)
        hash = (hash ^ ((bits >> i) & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

/* n elements of `width` bits in the machine's own byte order. */
static inline uint64_t golden_fnv_array(uint64_t hash, const void *x, int64_t n, int32_t width)
{
    const unsigned char *const bytes = (const unsigned char *)x;
    for (int64_t i = 0; i < n; i++) {
        uint32_t narrow = 0;
        uint64_t bits = 0;
        if (width == 32)
            memcpy(&narrow, bytes + 4 * i, 4);
        else
            memcpy(&bits, bytes + 8 * i, 8);
        hash = golden_fnv(hash, width == 32 ? narrow : bits, width);
    }
    return hash;
}

/* The key ranges whose partials are hashed: part i covers cut[i] ... cut[i + 1]. Returns how many;
 * none without keys. */
static inline int32_t golden_parts(int64_t keys, int64_t cut[GOLDEN_MAX_PARTS + 1])
{
    const int64_t spans = (keys + GOLDEN_SPAN_KEYS - 1) / GOLDEN_SPAN_KEYS;
    const int64_t middle = (spans + 1) / 2;
    int32_t n = 0;
    cut[0] = 0;
    if (spans > 1) cut[++n] = GOLDEN_SPAN_KEYS;
    if (middle > 1 && middle < spans) cut[++n] = middle * GOLDEN_SPAN_KEYS;
    if (spans > 0) cut[++n] = keys;
    return n;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* splitmix64's finish over a position in a tensor; `draw` numbers the draws at that position. */
static inline uint64_t golden_mix(uint64_t seed, uint64_t tensor, uint64_t at, uint64_t draw)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + at * UINT64_C(0xd1342543de82ef95);
    z += (tensor * 64 + draw + 1) * UINT64_C(0xaf251af3b0f025b5);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double golden_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^e for -1022 <= e <= 1023. */
static inline double golden_pow2(int32_t e)
{
    return golden_from_bits((uint64_t)(e + 1023) << 52);
}

/* The element's bit pattern in the case's type; x is rounded to it (to nearest, ties to even). */
static inline uint64_t golden_bits(const golden_case *c, double x)
{
    if (c->bits == 32) {
        const float narrow = (float)x;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* NaNs quiet, with payload, signalling, negative; both infinities. */
static inline uint64_t golden_special(const golden_case *c, int64_t i)
{
    static const uint32_t narrow[6] = {0x7fc00000, 0x7f800001, 0xffffffff,
                                       0x7f800000, 0xff800000, 0x7fc00001};
    static const uint64_t wide[6] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0xffffffffffffffff), UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000001)};
    return c->bits == 32 ? narrow[i % 6] : wide[i % 6];
}

enum { GOLDEN_QNAN = 0, GOLDEN_SNAN = 1, GOLDEN_NNAN = 2, GOLDEN_PLUSINF = 3, GOLDEN_MINUSINF = 4 };

/* One element's place: tensor, position in the tensor's order, row or key, channel. */
typedef struct golden_place {
    uint64_t tensor, at;
    int64_t pos, channel;
} golden_place;

static inline uint64_t golden_draw(const golden_case *c, const golden_place *p, uint64_t draw)
{
    return golden_mix(c->seed, p->tensor, p->at, draw);
}

static inline int64_t golden_int(const golden_case *c, const golden_place *p, uint64_t draw,
                                 int64_t low, int64_t high)
{
    return low + (int64_t)(golden_draw(c, p, draw) % (uint64_t)(high - low + 1));
}

static inline double golden_gauss(const golden_case *c, const golden_place *p)
{
    const int32_t digits = c->bits == 32 ? 20 : 49; /* twelve of them fit the type's mantissa */
    int64_t sum = -6 * ((int64_t)1 << digits);
    for (uint64_t i = 0; i < 12; i++) sum += (int64_t)(golden_draw(c, p, i) >> (64 - digits));
    return (double)sum * golden_pow2(-digits);
}

static inline double golden_grid(const golden_case *c, const golden_place *p)
{
    return (double)golden_int(c, p, 0, -64, 63) / 64.0;
}

/* +-(1 + fraction) * 2^e, the fraction with all the bits of the type. */
static inline double golden_power(const golden_case *c, const golden_place *p, int32_t e)
{
    const uint64_t z = golden_draw(c, p, 40);
    const int32_t digits = c->bits == 32 ? 23 : 52;
    const double x = 1.0 + (double)(int64_t)(z >> (64 - digits)) * golden_pow2(-digits);
    return (z & 1 ? -x : x) * golden_pow2(e);
}

/* A subnormal of the type (or 0), either sign. */
static inline uint64_t golden_subnormal(const golden_case *c, const golden_place *p)
{
    const uint64_t z = golden_draw(c, p, 0);
    if (c->bits == 32) return (z >> 41) | (z & 1) << 31;
    return (z >> 12) | (z & 1) << 63;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* k[.][0] of the kinds that score through c0 alone (q[.][0] is 1, or -1 for odd rows of BIGM). */
static inline double golden_c0_key(const golden_case *c, const golden_place *p)
{
    const int32_t f32 = c->bits == 32;
    const int64_t nth = p->pos / 128; /* block */
    if (c->kind == GOLDEN_HALF) return (double)golden_int(c, p, 0, -150, 150) / 2.0;
    if (c->kind == GOLDEN_BIGM) {
        static const double base[8] = {0x1p20,        0x1p21 - 64.0, 0x1p21 + 64.0, 0x1p22,
                                       0x1p23 - 50.0, 0x1p23 + 50.0, 0x1p24,        -0x1p22};
        static const double wide[8] = {0x1p49,         0x1p50 - 512.0, 0x1p50 + 512.0, 0x1p51,
                                       0x1p52 - 400.0, 0x1p52 + 400.0, 0x1p53,         -0x1p51};
        const int64_t which = (nth + (int64_t)c->seed) % 8;
        if (f32) return base[which] + (double)golden_int(c, p, 0, -1024, 1023) / 8.0;
        return wide[which] + (double)golden_int(c, p, 0, -8192, 8191) / 8.0;
    }
    if (c->kind == GOLDEN_NEARHALF) {
        if (p->pos % 128 == 7) return (double)(100 + nth);
        const double half = (double)golden_int(c, p, 0, -20, 20) + 0.5;
        const double off = (double)golden_int(c, p, 1, -4, 4) * golden_pow2(f32 ? -23 : -52);
        return half + half * off;
    }
    /* CUTOFF */
    const double last = f32 ? 127.0 : 1023.0;
    const double top[4] = {0.0, 1.0, last, 0.25};
    const double height = top[(nth + (int64_t)c->seed) % 4];
    if (p->pos % 128 == 5) return height;
    if (p->pos % 128 == 9) return golden_pow2(-100);
    const int32_t fine = (f32 ? -17 : -43) + (int32_t)golden_int(c, p, 1, 0, 2) * (f32 ? 6 : 16);
    return height - last + (double)golden_int(c, p, 0, -63, 63) * golden_pow2(fine);
}

static inline uint64_t golden_c0_element(const golden_case *c, const golden_place *p)
{
    if (p->tensor == GOLDEN_V) {
        if (c->kind != GOLDEN_CUTOFF) return golden_bits(c, golden_gauss(c, p));
        if (p->pos % 128 == 5) return 0; /* so that the smallest weights reach the output */
        return golden_bits(c, golden_gauss(c, p) * golden_pow2(c->bits == 32 ? 100 : 900));
    }
    if (p->channel != 0) return 0;
    if (p->tensor == GOLDEN_K) return golden_bits(c, golden_c0_key(c, p));
    return golden_bits(c, c->kind == GOLDEN_BIGM && p->pos % 2 == 1 ? -1.0 : 1.0);
}

/* Finite kinds in which every channel takes part. */
static inline uint64_t golden_finite_element(const golden_case *c, const golden_place *p)
{
    const int32_t f32 = c->bits == 32;
    const int32_t is_q = p->tensor == GOLDEN_Q, is_k = p->tensor == GOLDEN_K;
    if (c->kind == GOLDEN_GRID) return golden_bits(c, golden_grid(c, p));
    if (c->kind == GOLDEN_TINY) {
        if (!is_k) return golden_subnormal(c, p);
        return golden_bits(c, golden_power(c, p, f32 ? 125 : 1021));
    }
    if (c->kind == GOLDEN_WIDE) {
        const int32_t reach = f32 ? (is_q || is_k ? 40 : 100) : (is_q || is_k ? 300 : 900);
        return golden_bits(c, golden_power(c, p, (int32_t)golden_int(c, p, 1, -reach, reach)));
    }
    if (c->kind == GOLDEN_VHUGE && !is_q && !is_k)
        return golden_bits(c,
                           golden_power(c, p, (f32 ? 127 : 1023) - (int32_t)(p->channel % 4) * 3));
    const double x = golden_gauss(c, p);
    if (c->kind == GOLDEN_SHARP && is_q) return golden_bits(c, x * 40.0);
    if (c->kind == GOLDEN_EQUAL && is_k) {
        const golden_place first = {p->tensor, (uint64_t)p->channel, 0, p->channel};
        return golden_bits(c, golden_gauss(c, &first));
    }
    if (c->kind == GOLDEN_HUGE && is_q) {
        static const int32_t narrow[8] = {0, 10, 18, 20, 22, 24, 60, 90};
        static const int32_t wide[8] = {0, 20, 48, 50, 52, 53, 300, 900};
        return golden_bits(c, x * golden_pow2((f32 ? narrow : wide)[p->pos % 8]));
    }
    if (c->kind == GOLDEN_VAST && is_q)
        return golden_bits(c, x * golden_pow2((f32 ? 98 : 966) + (int32_t)(p->pos % 8) * 3));
    if (c->kind == GOLDEN_SMALL) return golden_bits(c, x * golden_pow2(is_q ? 12 : -16));
    if (c->kind == GOLDEN_RAMP && p->channel == 0) {
        if (is_q) return golden_bits(c, 4.0);
        const uint64_t height = golden_mix(c->seed, 3, (uint64_t)(p->pos / 128), 0) % 256;
        if (is_k) return golden_bits(c, (double)((int64_t)height - 128) * (f32 ? 1.0 : 8.0));
    }
    if (c->kind == GOLDEN_NEGZERO) {
        if (is_k) return golden_bits(c, x * golden_pow2(f32 ? -60 : -600));
        if (is_q && p->pos % 3 == 0) return golden_bits(c, x < 0 ? -0.0 : 0.0);
        if (is_q && p->pos % 3 == 1) return golden_bits(c, x * golden_pow2(f32 ? -100 : -600));
        if (is_q) return golden_bits(c, x * golden_pow2(f32 ? 63 : 603));
        if (p->channel == 0) return golden_bits(c, -0.0);
        return golden_bits(c, -0.0) * (golden_draw(c, p, 0) & 1) + (golden_draw(c, p, 1) & 1);
    }
    return golden_bits(c, x);
}

/* Infinities and NaNs at a few places of data that is otherwise gauss. */
static inline uint64_t golden_special_element(const golden_case *c, const golden_place *p)
{
    const int32_t q = p->tensor == GOLDEN_Q, k = p->tensor == GOLDEN_K, v = p->tensor == GOLDEN_V;
    const int64_t pos = p->pos, channel = p->channel, keys = c->keys;
    const int64_t first_unseen = c->rows + c->q_offset; /* by every row, when causal */
    const double positive = 1.0 + (double)golden_int(c, p, 20, 0, 63) / 64.0;
    if (c->kind == GOLDEN_NINF || c->kind == GOLDEN_NINFV) {
        const int64_t plane =
            (int64_t)(p->at / (uint64_t)((v ? c->d_v : c->d) * (q ? c->rows : keys)));
        const int32_t hit = pos / 128 == 1 || pos == 0 || (pos * 7 + plane) % 5 == 0;
        if (q && channel == 0) return golden_bits(c, positive);
        if (k && channel == 0 && hit) return golden_special(c, GOLDEN_MINUSINF);
        if (v && c->kind == GOLDEN_NINFV && pos / 128 == 1 && channel == 0)
            return golden_special(c, GOLDEN_PLUSINF);
        if (v && c->kind == GOLDEN_NINFV && pos == 0 && channel == 1)
            return golden_special(c, GOLDEN_PLUSINF);
    }
    if (c->kind == GOLDEN_QINF && channel == 0) {
        if (q && pos % 4 == 1) return golden_special(c, GOLDEN_MINUSINF);
        if (q && pos % 4 == 2) return golden_special(c, GOLDEN_PLUSINF);
        if (k) return golden_bits(c, pos == 200 ? 0.0 : positive); /* 0 x inf in block 1 */
    }
    if (c->kind == GOLDEN_NANLIVE) {
        if (k && pos == keys / 2 && channel == c->d - 1) return golden_special(c, GOLDEN_SNAN);
        if (q && pos % 5 == 3 && channel == 0) return golden_special(c, GOLDEN_NNAN);
    }
    if (c->kind == GOLDEN_PINF && k && pos == keys / 2 && channel == 0)
        return golden_special(c, GOLDEN_PLUSINF);
    if (c->kind == GOLDEN_POISON && !q && pos >= first_unseen)
        return golden_special(c, pos + channel);
    if (c->kind == GOLDEN_LATE && k && pos >= first_unseen - c->rows / 2)
        return golden_special(c, pos + channel);
    if (c->kind == GOLDEN_LATE && v && pos >= first_unseen - c->rows * 3 / 4)
        return golden_special(c, pos + channel);
    if (c->kind == GOLDEN_VINF && v) {
        if (pos == 3 && channel == 0) return golden_special(c, GOLDEN_PLUSINF);
        if (pos == 4 && channel == 1) return golden_special(c, GOLDEN_MINUSINF);
        if (pos == 130 && channel == 1) return golden_special(c, GOLDEN_PLUSINF);
        if (pos == 5 && channel == 2) return golden_special(c, 5);
        if (pos == 6 && channel == 3) return golden_special(c, GOLDEN_SNAN);
    }
    return golden_bits(c, golden_gauss(c, p) * (q && c->kind == GOLDEN_VINF ? 40.0 : 1.0));
}

static inline uint64_t golden_element(const golden_case *c, const golden_place *p)
{
    if (c->kind >= GOLDEN_NINF && c->kind <= GOLDEN_VINF) return golden_special_element(c, p);
    if (c->kind == GOLDEN_BIGM || c->kind == GOLDEN_HALF || c->kind == GOLDEN_NEARHALF ||
        c->kind == GOLDEN_CUTOFF)
        return golden_c0_element(c, p);
    return golden_finite_element(c, p);
}

/* Elements of a tensor: q [batch][heads][rows][d], k [batch][kv_heads][keys][d], v the same of d_v. */
static inline int64_t golden_count(const golden_case *c, int32_t tensor)
{
    if (tensor == GOLDEN_Q) return c->batch * c->heads * c->rows * c->d;
    return c->batch * c->kv_heads * c->keys * (tensor == GOLDEN_K ? c->d : c->d_v);
}

/* Writes golden_count() elements of the case's type, dense, in the order of the dimensions. */
static inline void golden_fill(const golden_case *c, int32_t tensor, void *x)
{
    const int64_t positions = tensor == GOLDEN_Q ? c->rows : c->keys;
    const int64_t channels = tensor == GOLDEN_V ? c->d_v : c->d;
    unsigned char *const bytes = (unsigned char *)x;
    const int64_t n = golden_count(c, tensor);
    for (int64_t i = 0; i < n; i++) {
        const golden_place p = {(uint64_t)tensor, (uint64_t)i, i / channels % positions,
                                i % channels};
        const uint64_t bits = golden_element(c, &p);
        const uint32_t narrow = (uint32_t)bits;
        if (c->bits == 32)
            memcpy(bytes + 4 * i, &narrow, 4);
        else
            memcpy(bytes + 8 * i, &bits, 8);
    }
}

#endif /* QKV_TESTS_GOLDEN_CASE_DATA_H */
