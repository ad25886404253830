/* SPDX-License-Identifier: MIT */
/* merge.h - results over disjoint sets of keys, as other programs give them, into one: in float64, with
 * the reference's exp and log (docs/numerics.md, Merging).
 */
#ifndef QKVI_MERGE_H
#define QKVI_MERGE_H

#include <qkv/types.h>

enum { QKVI_MERGE_PARTS = 1024 };

/* shape is clean; 1 <= n <= QKVI_MERGE_PARTS; lse may be NULL. The caller sets the environment of rule 0. */
void qkvi_merge(const qkv_shape *shape, const void *const *outs, const void *const *lses, int64_t n,
                void *out, void *lse);

#endif
