/* SPDX-License-Identifier: MIT */
/* mask_drop.c - see mask_drop.h: Philox 4x32 with ten rounds, one call for four keys of a row.
 */
#include "mask/mask_drop.h"

typedef struct words {
    uint32_t x[4];
} words;

static words philox(words c, uint64_t seed)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < 10; i++) {
        const uint64_t a = UINT64_C(0xD2511F53) * c.x[0], b = UINT64_C(0xCD9E8D57) * c.x[2];
        c = (words){{(uint32_t)(b >> 32) ^ c.x[1] ^ k0, (uint32_t)b,
                     (uint32_t)(a >> 32) ^ c.x[3] ^ k1, (uint32_t)a}};
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    return c;
}

void qkvi_drop_bits(qkvi_bits *b, const qkvi_dropout *d, int64_t position, int64_t rows,
                    int64_t key, int32_t keys)
{
    for (int64_t r = 0; r < rows; r++) {
        b->row[r][0] = b->row[r][1] = 0;
        for (int32_t j = 0; j < keys; j += 4) {
            const words at = {{(uint32_t)(uint64_t)((key + j) / 4),
                               (uint32_t)((uint64_t)position + (uint64_t)r),
                               (uint32_t)(uint64_t)d->head, (uint32_t)(uint64_t)d->batch}};
            const words w = philox(at, d->seed);
            for (int32_t i = 0; i < 4 && j + i < keys; i++)
                b->row[r][j / 64] |= (uint64_t)(w.x[i] >= d->from) << (j + i) % 64;
        }
    }
}
