/* SPDX-License-Identifier: MIT */
/* shapes.h - random problems with the mix that the promises of docs/numerics.md ask for: a third of
 * the head dimensions no multiple of 4, a fifth and more beyond one block of keys, some beyond one
 * span, causal with any offset, grouped heads, both types.
 */
#ifndef TEST_SHAPES_H
#define TEST_SHAPES_H

#include "helpers.h"

typedef struct mix {
    int cases, beyond_block, beyond_span, odd_d, causal, f64;
} mix;

/* N(0,1) data. most_work bounds FLOP / 2. */
prob random_prob(rng *r, double most_work);
/* 16,385 to 28,672 keys: five, six or seven spans */
prob random_long_prob(rng *r, int spans);
void mix_count(mix *m, const prob *p);
/* Fails unless the cases so far are the promised mix. */
void mix_check(const mix *m);

/* A bound on the work of one case on this table: software FMA is slow. */
double work_limit(int32_t isa, int32_t dtype);
const char *prob_text(const prob *p); /* for messages; a static buffer */

#endif
