/* SPDX-License-Identifier: MIT */
/* wide.c - the three helpers for 128-bit whole numbers that clang calls by name on wasm32, where a
 * compiler runtime would otherwise have to be linked. They use 64-bit halves only, or they would
 * call themselves. Shifts are 0 ... 127, as the language demands.
 */
#include <stdint.h>

typedef __int128 wide;

typedef union halves {
    wide all;
    struct {
        uint64_t low, high;
    } half;
} halves;

wide __multi3(wide a, wide b);
wide __ashlti3(wide a, int shift);
wide __lshrti3(wide a, int shift);

/* The whole 128-bit product of two 64-bit numbers, from four products of 32 bits. */
static halves product(uint64_t a, uint64_t b)
{
    const uint64_t mask = UINT32_MAX;
    const uint64_t low = (a & mask) * (b & mask);
    const uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
    const uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
    halves r;
    r.half.low = other << 32 | (low & mask);
    r.half.high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    return r;
}

wide __multi3(wide a, wide b)
{
    halves x, y;
    x.all = a;
    y.all = b;
    halves r = product(x.half.low, y.half.low);
    r.half.high += x.half.low * y.half.high + x.half.high * y.half.low;
    return r.all;
}

wide __ashlti3(wide a, int shift)
{
    halves x;
    x.all = a;
    if (shift >= 64) {
        x.half.high = x.half.low << (shift - 64);
        x.half.low = 0;
    } else if (shift > 0) {
        x.half.high = x.half.high << shift | x.half.low >> (64 - shift);
        x.half.low <<= shift;
    }
    return x.all;
}

wide __lshrti3(wide a, int shift)
{
    halves x;
    x.all = a;
    if (shift >= 64) {
        x.half.low = x.half.high >> (shift - 64);
        x.half.high = 0;
    } else if (shift > 0) {
        x.half.low = x.half.low >> shift | x.half.high << (64 - shift);
        x.half.high >>= shift;
    }
    return x.all;
}
