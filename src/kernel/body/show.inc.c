/* SPDX-License-Identifier: MIT */
/* show.inc.c - what is shown of one row in one block (rule 12): the score in natural units, the
 * weight; and the weights of all rows, summed key by key.
 */

/* sums of rows: one weight after another, never across lanes */
static void NAME(sum_weights)(const qkvi_step *t, const void *m_, const void *l_, void *sums_,
                              int64_t rows)
{
    const int64_t width = (int64_t)t->vectors * LANES;
    const real *const s = t->s, *const mb = t->mb;
    const real_u *const m = m_, *const l = l_;
    real_u *const sums = sums_;
    for (int64_t j = 0; j < t->keys; j++) {
        real x = sums[j];
        for (int64_t r = 0; r < rows; r++) {
            const int in = !t->lo || (j >= t->lo[r] && j < t->hi[r]);
            if (!in || (t->live && !(t->live[j] >> r & 1)) || NAME(is_dead)(mb[r])) continue;
            x = x + s[j * width + r] * NAME(power2_one)(mb[r] - m[r]) / l[r];
        }
        sums[j] = NAME(canonical)(x);
    }
}

static void NAME(show_top)(const void *top_, void *x_, int64_t rows)
{
    const real *const top = top_;
    real_u *const x = x_;
    for (int64_t r = 0; r < rows; r++) x[r] = NAME(canonical)(top[r] * LN2 + 0);
}

static void NAME(show_scaled)(const void *s_, void *x_, int64_t keys, int64_t r, int64_t width)
{
    const real *const s = s_;
    real_u *const x = x_;
    for (int64_t j = 0; j < keys; j++) x[j] = NAME(canonical)(s[j * width + r] * LN2);
}

static void NAME(show_weight)(const void *s_, const void *mb_, const void *m_, const void *l_,
                              void *x_, int64_t lo, int64_t hi, const uint64_t *live, int64_t keys,
                              int64_t r, int64_t width)
{
    const real *const s = s_, *const mb = mb_, *const m = m_, *const l = l_;
    real_u *const x = x_;
    const real f = lo < hi ? NAME(power2_one)(mb[r] - m[r]) : 0; /* else mb is another block's */
    for (int64_t j = 0; j < keys; j++)
        x[j] = j < lo || j >= hi || (live && !(live[j] >> r & 1)) || NAME(is_dead)(mb[r])
                   ? 0
                   : NAME(canonical)(s[j * width + r] * f / l[r]);
}
