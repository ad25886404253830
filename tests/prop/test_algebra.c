/* SPDX-License-Identifier: MIT */
/* test_algebra.c - what attention is, apart from any implementation: the order of the keys does not
 * matter, a shift of all scores does not, it is linear in V, a key far ahead takes all, two equal keys
 * share, a weighted mean stays between its values.
 */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t table_of(const prob *p, int i)
{
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    const int32_t id = isa[i % n];
    return prob_work(p) <= work_limit(id, p->dtype) ? id : QKV_ISA_BEST;
}

static double tolerance(const prob *p)
{
    return p->dtype == QKV_F64 ? 2e-14 : 6e-6; /* N(0,1) values: a row's |w v| sums to about 1 */
}

static void assert_near(const prob *p, const answer *a, const answer *b, double lse_shift, int i)
{
    for (int64_t j = 0; j < prob_nout(p); j++) {
        const double x = get_at(a->out, p->dtype, j), y = get_at(b->out, p->dtype, j);
        if (!(fabs(x - y) <= tolerance(p) * (1 + fabs(x)))) {
            fail_msg("%.17g and %.17g, case %d: %s", x, y, i, prob_text(p));
        }
    }
    for (int64_t j = 0; j < prob_nlse(p); j++) {
        const double x = get_at(a->lse, p->dtype, j), y = get_at(b->lse, p->dtype, j);
        if (x == y) continue;
        if (!(fabs(x + lse_shift - y) <= tolerance(p) * (1 + fabs(x) + fabs(lse_shift)))) {
            fail_msg("lse %.17g and %.17g, case %d: %s", x, y, i, prob_text(p));
        }
    }
}

/* No mask: keys and their values in any order give the same, to rounding. */
static void the_order_of_keys(void **state)
{
    (void)state;
    rng r = rng_from(501);
    for (int i = 0; i < effort(80); i++) {
        prob p = random_prob(&r, 2.5e5);
        p.use = 0;
        prob q = prob_copy(&p);
        const size_t n = type_size(p.dtype), krow = (size_t)p.d * n, vrow = (size_t)p.dv * n;
        for (int64_t bh = 0; bh < p.b * p.hkv; bh++) {
            const int64_t shift = rng_range(&r, 0, p.sk - 1);
            for (int64_t j = 0; j < p.sk; j++) {
                /* reversed, then rotated */
                const int64_t to = bh * p.sk + (p.sk - 1 - j + shift) % p.sk, from = bh * p.sk + j;
                memcpy((char *)q.k + (size_t)to * krow, (char *)p.k + (size_t)from * krow, krow);
                memcpy((char *)q.v + (size_t)to * vrow, (char *)p.v + (size_t)from * vrow, vrow);
            }
        }
        const int32_t isa = table_of(&p, i);
        answer a = prob_run(&p, (how){.isa = isa}), b = prob_run(&q, (how){.isa = isa});
        assert_near(&p, &a, &b, 0, i);
        answer_free(&a);
        answer_free(&b);
        prob_free(&q);
        prob_free(&p);
    }
}

/* One channel more, 1 in every query and c in every key: each score rises by c. */
static void a_shift_of_all_scores(void **state)
{
    (void)state;
    rng r = rng_from(502);
    static const double shift[] = {1, -1, 5.5, -40, 64};
    for (int i = 0; i < effort(60); i++) {
        prob p = random_prob(&r, 2e5);
        prob_scale(&p, 1 / sqrt((double)p.d));
        prob q = prob_new(p.dtype, p.b, p.hq, p.hkv, p.sq, p.sk, p.d + 1, p.dv);
        q.use = p.use;
        q.scale = p.scale;
        q.q_offset = p.q_offset;
        const double s = shift[i % 5];
        for (int64_t row = 0; row < p.b * p.hq * p.sq; row++) {
            for (int64_t c = 0; c <= p.d; c++) {
                put_at(q.q, q.dtype, row * q.d + c,
                       c < p.d ? get_at(p.q, p.dtype, row * p.d + c) : 1);
            }
        }
        for (int64_t row = 0; row < p.b * p.hkv * p.sk; row++) {
            for (int64_t c = 0; c <= p.d; c++) {
                put_at(q.k, q.dtype, row * q.d + c,
                       c < p.d ? get_at(p.k, p.dtype, row * p.d + c) : s / p.scale);
            }
        }
        memcpy(q.v, p.v, (size_t)prob_nv(&p) * type_size(p.dtype));
        const int32_t isa = table_of(&q, i);
        answer a = prob_run(&p, (how){.isa = isa}), b = prob_run(&q, (how){.isa = isa});
        /* scores up to |s| carry |s| ulp: 64 * 2^-24 in float32 */
        for (int64_t j = 0; j < prob_nout(&p); j++) {
            const double x = get_at(a.out, p.dtype, j), y = get_at(b.out, p.dtype, j);
            const double bound = tolerance(&p) * (1 + fabs(s)) * (1 + fabs(x));
            if (!(fabs(x - y) <= bound))
                fail_msg("shift %g: %.9g, %.9g: %s", s, x, y, prob_text(&p));
        }
        for (int64_t j = 0; j < prob_nlse(&p); j++) {
            const double x = get_at(a.lse, p.dtype, j), y = get_at(b.lse, p.dtype, j);
            if (!isinf(x)) assert_true(fabs(x + s - y) <= tolerance(&p) * (2 + 2 * fabs(s)));
            if (isinf(x)) assert_true(y == x);
        }
        answer_free(&a);
        answer_free(&b);
        prob_free(&q);
        prob_free(&p);
    }
}

/* V times a power of two, or negated: out is so too, every bit (a zero stays +0). */
static void linear_in_v(void **state)
{
    (void)state;
    rng r = rng_from(503);
    for (int i = 0; i < effort(80); i++) {
        prob p = random_prob(&r, 2.5e5), q = prob_copy(&p);
        const double factor = i % 2 ? -0x1p-3 : 0x1p+4;
        for (int64_t j = 0; j < prob_nv(&p); j++) {
            put_at(q.v, p.dtype, j, get_at(p.v, p.dtype, j) * factor);
        }
        const int32_t isa = table_of(&p, i);
        answer a = prob_run(&p, (how){.isa = isa}), b = prob_run(&q, (how){.isa = isa});
        for (int64_t j = 0; j < prob_nout(&p); j++) {
            const double x = get_at(a.out, p.dtype, j) * factor, y = get_at(b.out, p.dtype, j);
            if (!(x == y)) fail_msg("%.17g, %.17g, case %d: %s", x, y, i, prob_text(&p));
            if (y == 0) assert_true(is_plus_zero(b.out, p.dtype, j));
        }
        assert_memory_equal(a.lse, b.lse, a.lse_bytes);
        answer_free(&a);
        answer_free(&b);
        prob_free(&q);
        prob_free(&p);
    }
}

/* One key ahead of all others by more than the type can see: its value row, to the bit. */
static void one_key_takes_all(void **state)
{
    (void)state;
    rng r = rng_from(504);
    for (int i = 0; i < effort(80); i++) {
        prob p = random_prob(&r, 2e5);
        p.use = 0;
        prob_scale(&p, 1);
        const int64_t winner = rng_range(&r, 0, p.sk - 1);
        for (int64_t row = 0; row < p.b * p.hq * p.sq; row++) {
            for (int64_t c = 0; c < p.d; c++) put_at(p.q, p.dtype, row * p.d + c, c == 0 ? 1 : 0);
        }
        for (int64_t row = 0; row < p.b * p.hkv * p.sk; row++) {
            put_at(p.k, p.dtype, row * p.d, row % p.sk == winner ? 1000 : -1000);
        }
        const int32_t isa = table_of(&p, i);
        answer a = prob_run(&p, (how){.isa = isa});
        for (int64_t j = 0; j < prob_nout(&p); j++) {
            const int64_t row = j / p.dv, h = row / p.sq % p.hq, b = row / (p.sq * p.hq);
            const int64_t kv = (b * p.hkv + h / (p.hq / p.hkv)) * p.sk + winner;
            const double want = get_at(p.v, p.dtype, kv * p.dv + j % p.dv);
            const double got = get_at(a.out, p.dtype, j);
            const double ulp = p.dtype == QKV_F64 ? 0x1p-52 : 0x1p-23;
            if (!(fabs(got - want) <= ulp * fabs(want))) {
                fail_msg("%.17g, wanted %.17g, case %d: %s", got, want, i, prob_text(&p));
            }
        }
        answer_free(&a);
        prob_free(&p);
    }
}

/* Every output lies between the smallest and the largest value of its channel, to rounding. */
static void a_mean_stays_between(void **state)
{
    (void)state;
    rng r = rng_from(505);
    for (int i = 0; i < effort(60); i++) {
        prob p = random_prob(&r, 2e5);
        p.use = 0;
        const int32_t isa = table_of(&p, i);
        answer a = prob_run(&p, (how){.isa = isa});
        for (int64_t j = 0; j < prob_nout(&p); j++) {
            const int64_t row = j / p.dv, h = row / p.sq % p.hq, b = row / (p.sq * p.hq);
            const int64_t kv = (b * p.hkv + h / (p.hq / p.hkv)) * p.sk;
            double low = (double)INFINITY, high = -(double)INFINITY;
            for (int64_t k = 0; k < p.sk; k++) {
                const double v = get_at(p.v, p.dtype, (kv + k) * p.dv + j % p.dv);
                low = fmin(low, v);
                high = fmax(high, v);
            }
            const double got = get_at(a.out, p.dtype, j), slack = tolerance(&p) * (1 + high - low);
            assert_true(got >= low - slack && got <= high + slack);
        }
        answer_free(&a);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_keys),    cmocka_unit_test(a_shift_of_all_scores),
        cmocka_unit_test(linear_in_v),          cmocka_unit_test(one_key_takes_all),
        cmocka_unit_test(a_mean_stays_between),
    };
    return cmocka_run_group_tests_name("algebra", tests, NULL, NULL);
}
