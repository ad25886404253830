/* SPDX-License-Identifier: MIT */
/* mask_prefix.c - prefix-LM: every row sees the keys of the prefix, wherever it stands; past the
 * prefix no row looks beyond its own position. A plan with this kind does not ask for causal: alone,
 * it would hide the prefix again.
 */
#include "mask/mask.h"

void qkvi_mask_prefix(const qkvi_mask *m, int64_t i, qkvi_range *r)
{
    const int64_t position = i + m->shift;
    if (position < r->hi) qkvi_range_to(r, position >= m->prefix ? position + 1 : m->prefix);
}
