/* SPDX-License-Identifier: MIT */
/* drop.inc.c - dropout between weights and values (rule 13): a dropped weight is +0 from here on, and
 * the bits in t->live tell blend to skip its value where that may hold anything.
 */

static void NAME(drop)(qkvi_step *t)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    const NAME(edges) e = NAME(find_edges)(t);
    ivec bit = {0};
    for (int r = 0; r < LANES; r++) bit[r] = (ireal)1 << r;
    for (int v = 0; v < t->vectors; v++) {
        real *const s = (real *)t->s + v * LANES;
        for (int32_t j = e.lo[v]; j < e.hi[v]; j++) {
            const ivec rows = (ivec){0} + (ireal)(t->live[j] >> v * LANES);
            real *const p = s + j * width;
            NAME(store)(p, NAME(select)((rows & bit) == bit, NAME(load)(p), (vec){0}));
        }
    }
    t->slow = 1;
}
