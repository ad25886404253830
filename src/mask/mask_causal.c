/* SPDX-License-Identifier: MIT */
/* mask_causal.c - no row looks past its own position: key j is seen if j <= i + q_offset.
 *
 * q_offset 0 aligns the first row with the first key, keys - rows the last with the last. A row
 * whose position is before key 0 sees nothing.
 */
#include "mask/mask.h"

void qkvi_mask_causal(const qkvi_mask *m, int64_t i, qkvi_range *r)
{
    /* |q_offset| <= 2^62 and i < 2^62: the sum cannot wrap */
    const int64_t end = i + m->q_offset + 1;
    if (end < r->hi) r->hi = end < r->lo ? r->lo : end;
}
