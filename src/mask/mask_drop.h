/* SPDX-License-Identifier: MIT */
/* mask_drop.h - dropout (rule 13): which weights stay, from a counter-based generator. What a pair's
 * bit is depends on seed, head, batch, position and key alone: not on the order of work.
 */
#ifndef QKVI_MASK_DROP_H
#define QKVI_MASK_DROP_H

#include "mask/mask_bits.h"

typedef struct qkvi_dropout {
    uint64_t seed;
    uint64_t from; /* a word below this drops; 2^32 drops all */
    int64_t head, batch;
} qkvi_dropout;

/* Bits of `rows` rows from `position` on and of `keys` keys from own key `key` on, a multiple of 4:
 * set where the weight stays. */
void qkvi_drop_bits(qkvi_bits *b, const qkvi_dropout *d, int64_t position, int64_t rows,
                    int64_t key, int32_t keys);

#endif
