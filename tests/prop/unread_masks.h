/* SPDX-License-Identifier: MIT */
/* unread_masks.h - problems whose masks leave whole blocks of 128 keys to nobody, one for each kind of
 * mask, and which keys a run may read at all. Knows the header's idea of who sees whom, no ranges.
 */
#ifndef TEST_UNREAD_MASKS_H
#define TEST_UNREAD_MASKS_H

#include "helpers.h"

/* b, q heads, kv heads, rows, keys (a multiple of 128), d, d_v */
typedef struct unread_sizes {
    int64_t b, hq, hkv, sq, sk, d, dv;
} unread_sizes;

int unread_kinds(void);
const char *unread_kind_name(int kind);
/* Values are multiples of 1/64 in [-1, 1): every type holds them. */
prob unread_problem(const unread_sizes *z, int kind);

/* Which sequence the row (the key) belongs to, and its first row and key of its own. */
typedef struct unread_own {
    int64_t row, key,
        keys; /* of the tensors: the first row, the first key behind padding; keys of its own */
} unread_own;
unread_own unread_sequence(const prob *p, int64_t s);

/* For each [batch][kv head][key]: 1 where a run may read it, since it is there and some row sees a key
 * of its block of 128, counted from the first of its own. */
bool *unread_live(const prob *p);

#endif
