/* SPDX-License-Identifier: MIT */
/* mask_window.c - a row at position p sees keys p - left ... p + right, both ends included; a side
 * of -1 is open.
 *
 * A sum that does not fit int64 lies beyond every key: that side hides nothing.
 */
#include "mask/mask.h"

void qkvi_mask_window(const qkvi_mask *m, int64_t i, qkvi_range *r)
{
    const int64_t position = i + m->shift;
    int64_t first, last;
    if (m->window_left >= 0 && !__builtin_sub_overflow(position, m->window_left, &first))
        qkvi_range_from(r, first);
    if (m->window_right >= 0 && !__builtin_add_overflow(position, m->window_right, &last) &&
        last < r->hi)
        qkvi_range_to(r, last + 1);
}
