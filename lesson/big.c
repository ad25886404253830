/* SPDX-License-Identifier: MIT */
/* big.c - see big.h. Limbs are little-endian; every loop ends at the limbs in use. Nothing checks
 * the capacity: the callers' largest needs are written down at BIG_LIMBS.
 */
#include "lesson/big.h"

void big_set(big *a, uint64_t x)
{
    a->n = 0;
    for (; x != 0; x >>= 32) a->limb[a->n++] = (uint32_t)x;
}

void big_copy(big *a, const big *b)
{
    a->n = b->n;
    for (int i = 0; i < b->n; i++) a->limb[i] = b->limb[i];
}

/* a = a * m + c */
void big_mul_small(big *a, uint32_t m, uint32_t c)
{
    uint64_t carry = c;
    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->limb[i] * m;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) a->limb[a->n++] = (uint32_t)carry;
    while (a->n > 0 && a->limb[a->n - 1] == 0) a->n--;
}

void big_mul_pow10(big *a, int e)
{
    for (; e >= 9; e -= 9) big_mul_small(a, 1000000000u, 0);
    for (; e > 0; e--) big_mul_small(a, 10u, 0);
}

void big_shift_left(big *a, int bits)
{
    if (a->n == 0 || bits == 0) return;
    const int words = bits / 32;
    const int rest = bits % 32;
    const int n = a->n;
    a->limb[n + words] = 0;
    for (int i = n - 1; i >= 0; i--) {
        const uint64_t x = (uint64_t)a->limb[i] << rest;
        if (rest != 0) a->limb[i + words + 1] |= (uint32_t)(x >> 32);
        a->limb[i + words] = (uint32_t)x;
    }
    for (int i = 0; i < words; i++) a->limb[i] = 0;
    a->n = n + words + (rest != 0 && a->limb[n + words] != 0);
}

void big_halve(big *a)
{
    uint32_t high = 0;
    for (int i = a->n - 1; i >= 0; i--) {
        const uint32_t x = a->limb[i];
        a->limb[i] = x >> 1 | high << 31;
        high = x & 1u;
    }
    if (a->n > 0 && a->limb[a->n - 1] == 0) a->n--;
}

int big_compare(const big *a, const big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* a = a - b, for b <= a */
void big_subtract(big *a, const big *b)
{
    int64_t borrow = 0;
    for (int i = 0; i < a->n; i++) {
        const int64_t x = (int64_t)a->limb[i] - (i < b->n ? (int64_t)b->limb[i] : 0) + borrow;
        a->limb[i] = (uint32_t)x;
        borrow = x >> 63; /* 0 or -1 */
    }
    while (a->n > 0 && a->limb[a->n - 1] == 0) a->n--;
}

void big_add(big *a, const big *b)
{
    uint64_t carry = 0;
    const int n = a->n > b->n ? a->n : b->n;
    for (int i = 0; i < n; i++) {
        carry += (uint64_t)(i < a->n ? a->limb[i] : 0) + (i < b->n ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->n = n;
    if (carry != 0) a->limb[a->n++] = (uint32_t)carry;
}

uint32_t big_divide_small(big *a, uint32_t m)
{
    uint64_t rest = 0;
    for (int i = a->n - 1; i >= 0; i--) {
        rest = rest << 32 | a->limb[i];
        a->limb[i] = (uint32_t)(rest / m);
        rest %= m;
    }
    while (a->n > 0 && a->limb[a->n - 1] == 0) a->n--;
    return (uint32_t)rest;
}

int big_bits(const big *a)
{
    if (a->n == 0) return 0;
    int bits = (a->n - 1) * 32;
    for (uint32_t top = a->limb[a->n - 1]; top != 0; top >>= 1) bits++;
    return bits;
}

/* a = a / 2^bits, rounded half to even */
void big_shift_right_even(big *a, int bits)
{
    if (bits == 0 || a->n == 0) return;
    const int half = bits - 1; /* index of the bit that is worth one half */
    const int up = half / 32 < a->n && (a->limb[half / 32] >> (half % 32) & 1u) != 0;
    int rest = 0; /* any bit below it */
    for (int i = 0; i < a->n && i < half / 32; i++) rest |= a->limb[i] != 0;
    if (half / 32 < a->n && half % 32 != 0)
        rest |= (a->limb[half / 32] & ((1u << (half % 32)) - 1u)) != 0;
    const int words = bits / 32;
    const int shift = bits % 32;
    int n = 0;
    for (int i = words; i < a->n; i++) {
        const uint64_t high = i + 1 < a->n ? a->limb[i + 1] : 0;
        a->limb[n++] = (uint32_t)((high << 32 | a->limb[i]) >> shift);
    }
    while (n > 0 && a->limb[n - 1] == 0) n--;
    a->n = n;
    if (up && (rest || (n > 0 && (a->limb[0] & 1u) != 0))) {
        big one;
        big_set(&one, 1);
        big_add(a, &one);
    }
}

/* Decimal digits of a, which becomes 0; the most significant first. */
int big_digits(big *a, char *digit)
{
    char back[BIG_LIMBS * 10];
    int n = 0;
    while (a->n > 0) {
        uint32_t part = big_divide_small(a, 1000000000u);
        for (int i = 0; i < 9 && (part != 0 || a->n > 0); i++, part /= 10)
            back[n++] = (char)('0' + part % 10);
    }
    for (int i = 0; i < n; i++) digit[i] = back[n - 1 - i];
    return n;
}
