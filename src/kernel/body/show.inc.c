/* SPDX-License-Identifier: MIT */
/* show.inc.c - what a tap sees of one row in one block (rule 12): the scaled score in natural
 * units, and the weight.
 */

static void NAME(show_top)(const void *top_, void *x_, int64_t rows)
{
    const real *const top = top_;
    real_u *const x = x_;
    for (int64_t r = 0; r < rows; r++) x[r] = NAME(canonical)(top[r] * LN2 + 0);
}

static void NAME(show_scaled)(const void *s_, void *x_, int64_t keys, int64_t r, int64_t width)
{
    const real *const s = s_;
    real *const x = x_;
    for (int64_t j = 0; j < keys; j++) x[j] = NAME(canonical)(s[j * width + r] * LN2);
}

static void NAME(show_weight)(const void *s_, const void *mb_, const void *m_, const void *l_,
                              void *x_, int64_t lo, int64_t hi, const uint64_t *live, int64_t keys,
                              int64_t r, int64_t width)
{
    const real *const s = s_, *const mb = mb_, *const m = m_, *const l = l_;
    real *const x = x_;
    const real f = NAME(power2_one)(mb[r] - m[r]);
    for (int64_t j = 0; j < keys; j++)
        x[j] = j < lo || j >= hi || (live && !(live[j] >> r & 1)) || NAME(is_dead)(mb[r])
                   ? 0
                   : NAME(canonical)(s[j * width + r] * f / l[r]);
}
