/* SPDX-License-Identifier: MIT */
/* data.c - numbers for tests: a seeded generator, portable test data, types by tag, a byte hash.
 *
 * gen_value() is the generator whose expected results the cases quote; it may not change.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

int64_t rng_range(rng *r, int64_t low, int64_t high)
{
    return low + (int64_t)(rng_next(r) % (uint64_t)(high - low + 1));
}

double rng_unit(rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_normal(rng *r)
{
    const double u = 1.0 - rng_unit(r), v = rng_unit(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

rng rng_from(uint64_t seed)
{
    const char *const text = getenv("SEED");
    rng r = {seed};
    if (text != NULL && *text != '\0') {
        r.state ^= strtoull(text, NULL, 0) * UINT64_C(0xD1342543DE82EF95);
        print_message("# SEED=%s, stream 0x%llx\n", text, (unsigned long long)seed);
    }
    rng_next(&r);
    return r;
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED
#endif
#if __has_feature(thread_sanitizer)
#define SANITIZED_THREADS
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif

bool sanitized(void)
{
#if defined(SANITIZED)
    return true;
#else
    return false;
#endif
}

bool thread_sanitized(void)
{
#if defined(__SANITIZE_THREAD__) || defined(SANITIZED_THREADS)
    return true;
#else
    return false;
#endif
}

int effort(int n)
{
    const char *const text = getenv("TEST_EFFORT");
    const int times = text != NULL ? atoi(text) : 1;
    const int want = n * (times > 0 ? times : 1) / (sanitized() ? 4 : 1);
    return want > 0 ? want : 1;
}

size_t type_size(int32_t dtype)
{
    return dtype == QKV_F64 ? 8 : 4;
}

double get_at(const void *x, int32_t dtype, int64_t i)
{
    float f;
    double d;
    if (dtype == QKV_F64) {
        memcpy(&d, (const char *)x + 8 * i, 8);
        return d;
    }
    memcpy(&f, (const char *)x + 4 * i, 4);
    return (double)f;
}

void put_at(void *x, int32_t dtype, int64_t i, double value)
{
    const float f = (float)value;
    if (dtype == QKV_F64) {
        memcpy((char *)x + 8 * i, &value, 8);
    } else {
        memcpy((char *)x + 4 * i, &f, 4);
    }
}

void put_bits(void *x, int32_t dtype, int64_t i, uint32_t bits)
{
    if (dtype == QKV_F64) {
        /* sign, 8 exponent bits and 23 fraction bits become sign, 11 and 52: NaN stays NaN */
        const uint64_t sign = (uint64_t)(bits >> 31) << 63;
        const uint64_t rest = (uint64_t)(bits & 0x7FFFFFu) << 29;
        const uint64_t wide = sign | UINT64_C(0x7FF) << 52 | rest;
        memcpy((char *)x + 8 * i, &wide, 8);
    } else {
        memcpy((char *)x + 4 * i, &bits, 4);
    }
}

bool is_plus_zero(const void *x, int32_t dtype, int64_t i)
{
    static const char zero[8];
    const size_t n = type_size(dtype);
    return memcmp((const char *)x + n * (size_t)i, zero, n) == 0;
}

uint64_t bytes_hash(const void *x, size_t n)
{
    const unsigned char *const p = x;
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001B3);
    return h;
}

double gen_value(uint32_t seed, uint32_t index)
{
    uint32_t h = index + UINT32_C(0x9E3779B9) * seed + 1;
    h ^= h >> 16;
    h *= UINT32_C(0x85EBCA6B);
    h ^= h >> 13;
    h *= UINT32_C(0xC2B2AE35);
    h ^= h >> 16;
    return ((int32_t)(h >> 25) - 64) / 64.0;
}

void fill_gen(void *x, int32_t dtype, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) put_at(x, dtype, i, gen_value(seed, (uint32_t)i));
}

void fill_normal(void *x, int32_t dtype, int64_t n, rng *r)
{
    for (int64_t i = 0; i < n; i += 2) { /* two at a time, as the method gives them */
        const double radius = sqrt(-2.0 * log(1.0 - rng_unit(r)));
        const double angle = 6.283185307179586 * rng_unit(r);
        put_at(x, dtype, i, radius * cos(angle));
        if (i + 1 < n) put_at(x, dtype, i + 1, radius * sin(angle));
    }
}

double probe(const void *x, int32_t dtype, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += get_at(x, dtype, i) * gen_value(777, (uint32_t)i);
    return sum;
}
