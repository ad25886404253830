/* SPDX-License-Identifier: MIT */
/* mask_q_len.c - a batch with fewer rows than the tensor holds: those beyond its last see nothing,
 * whatever their query holds.
 */
#include "mask/mask.h"

void qkvi_mask_q_len(const qkvi_mask *m, int64_t i, qkvi_range *r)
{
    if (i >= m->rows) r->hi = r->lo;
}
