/* SPDX-License-Identifier: MIT */
/* big.h - exact whole numbers of up to BIG_LIMBS * 32 bits, just the operations that turning
 * doubles into decimal text and back needs. No allocation, no C library.
 */
#ifndef QKV_LESSON_BIG_H
#define QKV_LESSON_BIG_H

#include <stdint.h>

enum { BIG_LIMBS = 168 }; /* 5376 bits; the largest need is 10^1132 (3761 bits) times 2^64 */

typedef struct big {
    int n; /* limbs in use, the last one not 0; 0 limbs is the number 0 */
    uint32_t limb[BIG_LIMBS];
} big;

void big_set(big *a, uint64_t x);
void big_copy(big *a, const big *b);
/* a = a * m + c */
void big_mul_small(big *a, uint32_t m, uint32_t c);
void big_mul_pow10(big *a, int e);
void big_shift_left(big *a, int bits);
void big_halve(big *a);
int big_compare(const big *a, const big *b);
/* a = a - b, for b <= a */
void big_subtract(big *a, const big *b);
void big_add(big *a, const big *b);
uint32_t big_divide_small(big *a, uint32_t m);
int big_bits(const big *a);
/* a = a / 2^bits, rounded half to even */
void big_shift_right_even(big *a, int bits);
/* Decimal digits of a, which becomes 0; the most significant first. */
int big_digits(big *a, char *digit);

#endif /* QKV_LESSON_BIG_H */
