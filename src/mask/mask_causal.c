/* SPDX-License-Identifier: MIT */
/* mask_causal.c - no row looks past its own position: key j is seen if j <= i + shift.
 *
 * A shift of 0 aligns the first row with the first key, keys - rows the last with the last. A row
 * whose position is before key 0 sees nothing.
 */
#include "mask/mask.h"

void qkvi_mask_causal(const qkvi_mask *m, int64_t i, qkvi_range *r)
{
    const int64_t position = i + m->shift;
    if (position < r->hi) qkvi_range_to(r, position + 1);
}
