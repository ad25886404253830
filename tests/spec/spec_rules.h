/* SPDX-License-Identifier: MIT */
/* spec_rules.h - the rules of docs/numerics.md that do not depend on the run's type: who sees whom
 * (rule 1), slopes (rule 3), log2 (rule 11), dropout's generator (rule 13), widening and narrowing
 * (rule 14), and the tree's shape. Written from that page alone; straight lines, no speed.
 */
#ifndef QKV_TESTS_SPEC_RULES_H
#define QKV_TESTS_SPEC_RULES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/golden/feature_data.h"

static const int64_t SPAN_KEYS = 4096; /* 32 blocks of 128 */

/* ---- rule 1 ---------------------------------------------------------------------------------- */

/* A row's place: indices in the tensors, and the numbers that rule 1 gives. */
typedef struct place {
    int64_t batch, head, row;
    int64_t sequence, begin, end; /* its keys are begin ... end - 1 of the tensor, padding first */
    int64_t own_row;              /* rows of its sequence before it */
    int64_t padding, position;    /* key number 0 is key begin + padding; P */
} place;

/* The offset that puts the sequence's last row beside its last key; lengths count, padding too. */
static int64_t last_beside_last(const feature_case *c, const place *at, int64_t rows)
{
    const int64_t last_key =
        (c->with & FEATURE_KV_LEN ? c->kv_len[at->sequence] : at->end - at->begin) - 1;
    const int64_t last_row = (c->with & FEATURE_Q_LEN ? c->q_len[at->sequence] : rows) - 1;
    return last_key - last_row;
}

static place place_of(const feature_case *c, int64_t batch, int64_t head, int64_t row)
{
    place at = {batch, head, row, batch, 0, c->base.keys, row, 0, 0};
    int64_t rows = c->base.rows;
    for (int64_t n = 0; c->with & FEATURE_PACKED && n < c->sequences; n++)
        if (c->cu_q[n] <= row && row < c->cu_q[n + 1]) {
            at.sequence = n;
            at.begin = c->cu_k[n];
            at.end = c->cu_k[n + 1];
            at.own_row = row - c->cu_q[n];
            rows = c->cu_q[n + 1] - c->cu_q[n];
        }
    if (c->with & FEATURE_KV_START) at.padding = c->kv_start[at.sequence];
    const int64_t offset = c->with & FEATURE_OFFSETS  ? c->offsets[at.sequence]
                           : c->align == TOP_LEFT     ? 0
                           : c->align == BOTTOM_RIGHT ? last_beside_last(c, &at, rows)
                                                      : c->offset;
    at.position = at.own_row - at.padding + offset;
    return at;
}

static int is_minus_infinity(uint64_t bits, int32_t type)
{
    switch (type) {
    case GOLDEN_F64:
        return bits == UINT64_C(0xfff0000000000000);
    case GOLDEN_F32:
        return bits == 0xff800000;
    case GOLDEN_BF16:
        return bits == 0xff80;
    default:
        return bits == 0xfc00;
    }
}

/* Is key number j of the row's sequence live for the row? */
static int is_live(const feature_case *c, const place *at, int64_t j)
{
    const int64_t p = at->position, index = at->begin + at->padding + j;
    if (j < 0 || index >= at->end) return 0;
    if ((c->with & FEATURE_Q_LEN) && at->own_row >= c->q_len[at->sequence]) return 0;
    if ((c->with & FEATURE_KV_LEN) && at->padding + j >= c->kv_len[at->sequence]) return 0;
    if (c->with & FEATURE_PREFIX) {
        if (j > p && j >= c->prefix) return 0;
    } else if (c->with & FEATURE_CAUSAL) {
        if (j > p) return 0;
    }
    if (c->with & FEATURE_WINDOW) {
        /* no sum of these overflows where it is compared: left and right may be the largest number */
        if (c->left >= 0 && p > j && p - j > c->left) return 0;
        if (c->right >= 0 && j > p && j - p > c->right) return 0;
    }
    if (c->with & FEATURE_BOOL) {
        if (index >= feature_bool_keys(c)) return 0;
        if (!feature_bool(c, at->batch, at->head, at->row, index)) return 0;
    }
    if (c->with & FEATURE_BIAS) {
        if (index >= feature_bias_keys(c)) return 0;
        const uint64_t stored = feature_bias(c, at->batch, at->head, at->row, index);
        if (is_minus_infinity(stored, feature_type(c, c->bias_type))) return 0;
    }
    return 1;
}

/* ---- rule 3 ---------------------------------------------------------------------------------- */

/* The reference's e^x, for |x| < 1. */
static double reference_exp(double x)
{
    const double n = rint(x * 0x1.71547652b82fep+0);
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double factorial[14] = {1}, y = 0;
    for (int k = 1; k <= 13; k++) factorial[k] = factorial[k - 1] * k;
    for (int k = 13; k >= 0; k--) y = y * r + 1 / factorial[k];
    return ldexp(y, (int)n);
}

/* The slope of head h of so many, by the rule for a largest bias. */
static double slope_of(double max_bias, int64_t h, int64_t heads)
{
    int64_t n = 1;
    while (n * 2 <= heads) n *= 2;
    const double x = -max_bias * (h < n ? (double)(h + 1) / (double)n
                                        : (double)(2 * (h - n) + 1) / (double)(2 * n));
    const double i = rint(x);
    return ldexp(reference_exp((x - i) * 0x1.62e42fefa39efp-1), (int)i);
}

/* ---- rule 9: the tree ------------------------------------------------------------------------ */

static int64_t spans_of(int64_t keys)
{
    return (keys + SPAN_KEYS - 1) / SPAN_KEYS;
}

/* The lowest level of the largest node that begins at span `at` and has no span in stop ... spans - 1;
 * what lies beyond the last span does not count. */
static int32_t largest_level(int64_t at, int64_t stop, int64_t spans)
{
    int32_t level = 0;
    int64_t covered = at + 1;
    for (int32_t k = 1; k < 40 && at % ((int64_t)1 << k) == 0; k++) {
        int64_t end = at + ((int64_t)1 << k);
        if (end > spans) end = spans;
        if (end > stop || end == covered) break;
        covered = end;
        level = k;
    }
    return level;
}

/* ---- rule 11: log2 of a normal x > 0 --------------------------------------------------------- */

static double spec_log2(double x)
{
    static const double a[11] = {0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1,
                                 0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2,
                                 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3, 0x1.5b9ac9b743f0dp-3,
                                 0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3};
    int exponent;
    double z = 2 * frexp(x, &exponent); /* 1 <= z < 2 */
    double k = exponent - 1;
    if (z > 0x1.6a09e667f3bcdp+0) {
        z = z / 2;
        k = k + 1;
    }
    const double s = (z - 1) / (z + 1);
    const double w = s * s;
    double r = a[10];
    for (int32_t i = 9; i >= 0; i--) r = r * w + a[i];
    return k + s * r;
}

/* ---- rule 13 --------------------------------------------------------------------------------- */

static uint32_t philox_word(const feature_case *c, const place *at, int64_t j)
{
    const uint64_t head = (uint64_t)(c->first_head + at->head);
    const uint64_t batch = (uint64_t)(c->first_batch + at->sequence);
    uint32_t x[4] = {(uint32_t)(j / 4), (uint32_t)(uint64_t)at->position, (uint32_t)head,
                     (uint32_t)batch};
    uint32_t k0 = (uint32_t)c->drop_seed, k1 = (uint32_t)(c->drop_seed >> 32);
    for (int32_t n = 0; n < 10; n++) {
        const uint64_t a = UINT64_C(0xD2511F53) * x[0], b = UINT64_C(0xCD9E8D57) * x[2];
        x[0] = (uint32_t)(b >> 32) ^ x[1] ^ k0;
        x[1] = (uint32_t)b;
        x[2] = (uint32_t)(a >> 32) ^ x[3] ^ k1;
        x[3] = (uint32_t)a;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return x[j % 4];
}

static int is_kept(const feature_case *c, const place *at, int64_t j)
{
    if (!(c->with & FEATURE_DROPOUT)) return 1;
    return (double)philox_word(c, at, j) >= floor(c->drop * 0x1p32);
}

/* ---- rule 14 --------------------------------------------------------------------------------- */

/* The number that bits of a type mean; a NaN is a NaN. */
static double widened(uint64_t bits, int32_t type)
{
    if (type == GOLDEN_F64) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    if (type == GOLDEN_F32 || type == GOLDEN_BF16) {
        const uint32_t bits32 = type == GOLDEN_F32 ? (uint32_t)bits : (uint32_t)bits << 16;
        float x;
        memcpy(&x, &bits32, sizeof x);
        return (double)x;
    }
    const int32_t e = (int32_t)(bits >> 10 & 31);
    const double digits = (double)(bits & 1023);
    double x = e == 0 ? digits * 0x1p-24 : ldexp(1024 + digits, e - 25);
    if (e == 31) x = digits > 0 ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -x : x;
}

/* The bits of x, rounded to the type; NaNs and zeros as rule 11 writes them. */
static uint64_t narrowed(double x, int32_t type)
{
    if (isnan(x))
        return type == GOLDEN_F64    ? UINT64_C(0x7ff8000000000000)
               : type == GOLDEN_F32  ? 0x7fc00000
               : type == GOLDEN_BF16 ? 0x7fc0
                                     : 0x7e00;
    uint64_t bits;
    if (type == GOLDEN_F64) {
        x = x + 0;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    if (type == GOLDEN_F32) {
        const float y = (float)x + 0;
        uint32_t bits32;
        memcpy(&bits32, &y, sizeof bits32);
        return bits32;
    }
    /* digits after the point and smallest exponent of the 16-bit type; multiples of one unit */
    const int32_t after = type == GOLDEN_F16 ? 10 : 7, lowest = type == GOLDEN_F16 ? -14 : -126;
    const int32_t highest = type == GOLDEN_F16 ? 15 : 127;
    const uint64_t sign = signbit(x) ? 0x8000 : 0, infinity = type == GOLDEN_F16 ? 0x7c00 : 0x7f80;
    const double size = fabs(x);
    if (isinf(size)) return sign | infinity;
    int32_t e = size > 0 ? ilogb(size) : lowest;
    if (e < lowest) e = lowest;
    const double units = rint(ldexp(size, after - e)); /* exact scaling, ties to even */
    if (ldexp(units, e - after) >= ldexp(1, highest + 1)) return sign | infinity;
    if (units == 0) return 0;
    /* units of the smallest exponent count from 0: a carry moves into the next exponent by itself */
    const uint64_t steps = (uint64_t)units;
    const uint64_t base = (uint64_t)(e - lowest) << after;
    return sign | (base + steps);
}

#endif /* QKV_TESTS_SPEC_RULES_H */
