/* SPDX-License-Identifier: MIT */
/* test_merge.c - results over parts of the keys, merged, against one run over all of them: any number of
 * parts, empty ones, in place, every type; and what is refused.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* keys [from, from + n) of p */
static prob some_keys(const prob *p, int64_t from, int64_t n)
{
    prob c = prob_copy(p);
    const size_t e = type_size(p->dtype);
    for (int64_t h = 0; h < p->b * p->hkv; h++) {
        memmove((char *)c.k + (size_t)(h * n * p->d) * e,
                (char *)p->k + (size_t)((h * p->sk + from) * p->d) * e, (size_t)(n * p->d) * e);
        memmove((char *)c.v + (size_t)(h * n * p->dv) * e,
                (char *)p->v + (size_t)((h * p->sk + from) * p->dv) * e, (size_t)(n * p->dv) * e);
    }
    c.sk = n;
    return c;
}

static void parts_merge_to_the_whole(void **state)
{
    (void)state;
    rng r = rng_from(601);
    for (int i = 0; i < effort(60); i++) {
        const int32_t type = i % 2 ? QKV_F64 : QKV_F32;
        prob p = prob_new(type, 2, 2, 1, rng_range(&r, 1, 9), rng_range(&r, 5, 300), 8, 5);
        prob_normal(&p, &r);
        const int n = (int)rng_range(&r, 1, 5);
        answer part[5];
        const void *outs[5], *lses[5];
        int64_t at = 0;
        for (int k = 0; k < n; k++) {
            const int64_t keys = k + 1 == n ? p.sk - at : rng_range(&r, 0, (p.sk - at) / 2);
            prob some = some_keys(&p, at, keys);
            part[k] = prob_run(&some, (how){0});
            if (keys == 0) memset(part[k].out, 0xFF, part[k].out_bytes); /* nobody reads it */
            outs[k] = part[k].out;
            lses[k] = part[k].lse;
            at += keys;
            prob_free(&some);
        }
        answer whole = prob_run(&p, (how){0});
        const qkv_shape shape = qkv_shape_dense(type, p.b, p.hq, p.sq, p.dv);
        qkv_error e = qkv_error_init();
        /* in place: out and lse are the first part's */
        if (qkv_merge(&shape, outs, lses, n, part[0].out, part[0].lse, &e) != QKV_OK)
            fail_msg("%s", e.text);
        for (int64_t x = 0; x < prob_nlse(&p); x++) {
            double most = 0;
            const double unit = type == QKV_F64 ? 0x1p-52 : 0x1p-23;
            for (int64_t c = 0; c < p.dv; c++)
                most = fmax(most, fabs(get_at(whole.out, type, x * p.dv + c)));
            for (int64_t c = 0; c < p.dv; c++) {
                const double got = get_at(part[0].out, type, x * p.dv + c);
                /* both sides carry the kernels' own errors too */
                assert_true(fabs(got - get_at(whole.out, type, x * p.dv + c)) <= 30 * unit * most);
            }
            assert_true(fabs(get_at(part[0].lse, type, x) - get_at(whole.lse, type, x)) <=
                        20 * unit);
        }
        for (int k = 0; k < n; k++) answer_free(&part[k]);
        answer_free(&whole);
        prob_free(&p);
    }
}

/* C55 */
static void merged_numbers(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F64, 1, 2, 2, 2, 10, 8, 3);
    prob_gen(&p, 71, 72, 73);
    prob a = some_keys(&p, 0, 7), b = some_keys(&p, 7, 3);
    answer x = prob_run(&a, (how){0}), y = prob_run(&b, (how){0});
    static const double want[4] = {2.2745930606, 2.2695671446, 2.3056082880, 2.2986922053};
    const void *const outs[2] = {x.out, y.out}, *const lses[2] = {x.lse, y.lse};
    double out[12], lse[4];
    const qkv_shape shape = qkv_shape_dense(QKV_F64, 1, 2, 2, 3);
    assert_int_equal(qkv_merge(&shape, outs, lses, 2, out, lse, NULL), QKV_OK);
    assert_true(fabs(probe(out, QKV_F64, 12) + 0.3994515345) < 1e-9);
    for (int i = 0; i < 4; i++) assert_true(fabs(lse[i] - want[i]) < 1e-9);
    assert_int_equal(qkv_merge(&shape, outs, lses, 2, out, NULL, NULL), QKV_OK);
    answer_free(&x);
    answer_free(&y);
    prob_free(&a);
    prob_free(&b);
    prob_free(&p);
}

static void special_values_merge(void **state)
{
    (void)state;
    const float inf = INFINITY;
    const float a[4] = {1, 2, 3, 4}, la[4] = {0, -inf, 1000, 0};
    const float b[4] = {5, 6, 7, 8}, lb[4] = {0, -inf, -1000, NAN};
    const void *const outs[2] = {a, b}, *const lses[2] = {la, lb};
    const qkv_shape shape = qkv_shape_dense(QKV_F32, 1, 1, 4, 1);
    float out[4], lse[4];
    assert_int_equal(qkv_merge(&shape, outs, lses, 2, out, lse, NULL), QKV_OK);
    assert_true(out[0] == 3 && fabsf(lse[0] - 0.6931471806f) < 1e-6f);
    assert_true(is_plus_zero(out, QKV_F32, 1) && lse[1] == -inf);
    assert_true(out[2] == 3 && lse[2] == 1000);
    assert_true(isnan(out[3]) && isnan(lse[3]));
}

static void what_cannot_be_merged(void **state)
{
    (void)state;
    float a[16] = {0}, l[16] = {0}, c[16] = {0};
    const void *outs[2] = {a, a + 8}, *lses[2] = {l, l + 8};
    const qkv_shape good = qkv_shape_dense(QKV_F32, 1, 2, 2, 2);
    struct {
        qkv_shape shape;
        const void *const *outs, *const *lses;
        int64_t n;
        void *out, *lse;
        qkv_status status;
        const char *arg;
    } bad[] = {
        {good, outs, lses, 0, a, l, QKV_EARG, "nparts"},
        {good, outs, lses, 1025, a, l, QKV_EARG, "nparts"},
        {good, NULL, lses, 2, a, l, QKV_EARG, "outs"},
        {good, outs, NULL, 2, a, l, QKV_EARG, "lses"},
        {good, outs, lses, 2, NULL, l, QKV_EARG, "out"},
        {good, outs, lses, 2, a + 1, l, QKV_EARG, "out"},
        {good, outs, lses, 2, a, l + 1, QKV_EARG, "lse"},
        {good, outs, lses, 2, l + 1, NULL, QKV_EARG,
         "out"}, /* a result upon the other kind of part */
        {good, outs, lses, 2, c, a + 3, QKV_EARG, "lse"},
        {good, outs, lses, 2, c, c + 7, QKV_EARG, "lse"},
        {good, outs, lses, 2, (void *)outs, l, QKV_EARG, "out"},
        {good, outs, lses, 2, c, (void *)lses, QKV_EARG, "lse"},
        {qkv_shape_dense(QKV_BOOL, 1, 2, 2, 2), outs, lses, 2, a, l, QKV_EUNSUPPORTED,
         "shape.dtype"},
        {qkv_shape_dense(QKV_F32, 1, -2, 2, 2), outs, lses, 2, a, l, QKV_EARG, "shape.dim[1]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        qkv_error e = qkv_error_init();
        const qkv_status s = qkv_merge(&bad[i].shape, bad[i].outs, bad[i].lses, bad[i].n,
                                       bad[i].out, bad[i].lse, &e);
        if (s != bad[i].status || strcmp(e.arg, bad[i].arg) != 0)
            fail_msg("%d: status %d, %s: %s", (int)i, (int)s, e.arg, e.text);
    }
    qkv_shape repeats = good;
    repeats.stride[2] = 0;
    assert_int_equal(qkv_merge(&repeats, outs, lses, 2, a, l, NULL), QKV_EARG);
    assert_int_equal(qkv_merge(NULL, outs, lses, 2, a, l, NULL), QKV_EARG);
    const qkv_shape none = qkv_shape_dense(QKV_F32, 1, 0, 2, 2);
    assert_int_equal(qkv_merge(&none, outs, lses, 2, NULL, NULL, NULL), QKV_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_merge_to_the_whole),
        cmocka_unit_test(merged_numbers),
        cmocka_unit_test(special_values_merge),
        cmocka_unit_test(what_cannot_be_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
