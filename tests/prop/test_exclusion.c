/* SPDX-License-Identifier: MIT */
/* test_exclusion.c - an excluded key may hold anything; a live NaN or infinity shows in the rows that
 * see it and in no other; every NaN that is written is the quiet one without sign or payload.
 */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t poison[] = {0x7FC00000u, 0x7FC00001u, 0x7F800001u, 0xFFFFFFFFu,
                                  0x7F800000u, 0xFF800000u, 0xFFC00000u};
enum { POISONS = 7 };

static bool is_canonical_nan(const void *x, int32_t dtype, int64_t i)
{
    if (dtype == QKV_F64) {
        uint64_t bits;
        memcpy(&bits, (const char *)x + 8 * i, 8);
        return bits == UINT64_C(0x7FF8000000000000);
    }
    uint32_t bits;
    memcpy(&bits, (const char *)x + 4 * i, 4);
    return bits == 0x7FC00000u;
}

static int32_t table_of(const prob *p, int i)
{
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    const int32_t id = isa[i % n];
    return prob_work(p) <= work_limit(id, p->dtype) ? id : QKV_ISA_BEST;
}

/* All keys that no row sees are poisoned: nothing changes. */
static void keys_that_no_row_sees(void **state)
{
    (void)state;
    rng r = rng_from(401);
    mix m = {0};
    int poisoned = 0;
    for (int i = 0; i < effort(140); i++) {
        prob p = random_prob(&r, 2.5e5);
        prob_causal(&p, rng_range(&r, -p.sq, p.sk - 1));
        mix_count(&m, &p);
        const int32_t isa = table_of(&p, i);
        answer clean = prob_run(&p, (how){.isa = isa});
        int64_t seen = p.sq - 1 + p.q_offset + 1;
        if (seen < 0) seen = 0;
        for (int64_t bh = 0; bh < p.b * p.hkv; bh++) {
            for (int64_t j = seen; j < p.sk; j++) {
                for (int64_t c = 0; c < p.d; c++) {
                    put_bits(p.k, p.dtype, (bh * p.sk + j) * p.d + c,
                             poison[(i + j + c) % POISONS]);
                }
                for (int64_t c = 0; c < p.dv; c++) {
                    put_bits(p.v, p.dtype, (bh * p.sk + j) * p.dv + c, poison[(i + j) % POISONS]);
                }
                poisoned++;
            }
        }
        answer a = prob_run(&p, (how){.isa = isa, .threads = 2, .exec = EXEC_BACKWARDS});
        assert_same_answer(&clean, &a, "case %d: %s", i, prob_text(&p));
        answer_free(&a);
        answer_free(&clean);
        prob_free(&p);
    }
    mix_check(&m);
    assert_true(poisoned > 0);
}

/* One key is poisoned that some rows see: the rows before it keep their bits. */
static void keys_that_some_rows_see(void **state)
{
    (void)state;
    rng r = rng_from(402);
    for (int i = 0; i < effort(160); i++) {
        const int32_t type = i % 3 == 2 ? QKV_F64 : QKV_F32;
        const int64_t sq = rng_range(&r, 2, 60);
        prob p = prob_new(type, 1, 2, 1, sq, sq + rng_range(&r, 0, 200), rng_range(&r, 1, 20),
                          rng_range(&r, 1, 20));
        prob_normal(&p, &r);
        prob_causal(&p, p.sk - p.sq);
        const int32_t isa = table_of(&p, i);
        answer clean = prob_run(&p, (how){.isa = isa});
        const int64_t bad = p.q_offset + rng_range(&r, 1, sq - 1); /* seen from that row on */
        const uint32_t bits = poison[i % POISONS];
        const bool in_k = (i / 2) % 2 != 0;
        const int64_t c = rng_range(&r, 0, (in_k ? p.d : p.dv) - 1);
        if (in_k) {
            put_bits(p.k, type, bad * p.d + c, bits);
        } else {
            put_bits(p.v, type, bad * p.dv + c, bits);
        }
        answer a = prob_run(&p, (how){.isa = isa});
        const size_t n = type_size(type), row = (size_t)p.dv * n;
        for (int64_t h = 0; h < 2; h++) {
            for (int64_t q = 0; q < sq; q++) {
                const int64_t at = h * sq + q;
                const bool sees = q + p.q_offset >= bad;
                const void *const x = (char *)a.out + (size_t)at * row;
                const void *const y = (char *)clean.out + (size_t)at * row;
                if (!sees && memcmp(x, y, row) != 0) {
                    fail_msg("row %d sees key %d, case %d, isa %d: %s", (int)q, (int)bad, i,
                             (int)isa, prob_text(&p));
                }
                if (!sees || !in_k) { /* values are no part of lse */
                    assert_memory_equal((char *)a.lse + (size_t)at * n,
                                        (char *)clean.lse + (size_t)at * n, n);
                }
                for (int64_t k = 0; sees && !in_k && k < p.dv; k++) {
                    /* only the poisoned channel of the output shows it */
                    const double got = get_at(a.out, type, at * p.dv + k);
                    if (k != c) {
                        assert_memory_equal((const char *)x + (size_t)k * n,
                                            (const char *)y + (size_t)k * n, n);
                    } else {
                        assert_true(!isfinite(got));
                        if (isnan(got)) assert_true(is_canonical_nan(a.out, type, at * p.dv + k));
                    }
                }
            }
        }
        answer_free(&a);
        answer_free(&clean);
        prob_free(&p);
    }
}

/* A NaN score makes the whole row NaN; so does +inf. One in q reaches its own row only. */
static void a_live_nan_shows_in_its_row(void **state)
{
    (void)state;
    rng r = rng_from(403);
    for (int i = 0; i < effort(120); i++) {
        const int32_t type = i % 3 == 2 ? QKV_F64 : QKV_F32;
        prob p = prob_new(type, 1, 2, 2, rng_range(&r, 2, 70), rng_range(&r, 1, 300),
                          rng_range(&r, 1, 20), rng_range(&r, 1, 20));
        prob_normal(&p, &r);
        const int32_t isa = table_of(&p, i);
        answer clean = prob_run(&p, (how){.isa = isa});
        const int64_t bad = rng_range(&r, 0, 2 * p.sq - 1);
        put_bits(p.q, type, bad * p.d + rng_range(&r, 0, p.d - 1), poison[i % 4]);
        answer a = prob_run(&p, (how){.isa = isa});
        for (int64_t row = 0; row < 2 * p.sq; row++) {
            if (row != bad) {
                assert_true(get_at(a.lse, type, row) == get_at(clean.lse, type, row));
                continue;
            }
            assert_true(is_canonical_nan(a.lse, type, row));
            for (int64_t c = 0; c < p.dv; c++) {
                assert_true(is_canonical_nan(a.out, type, row * p.dv + c));
            }
        }
        const size_t bytes = (size_t)p.dv * type_size(type);
        if (bad > 0) assert_memory_equal(a.out, clean.out, (size_t)bad * bytes);
        assert_memory_equal((char *)a.out + (size_t)(bad + 1) * bytes,
                            (char *)clean.out + (size_t)(bad + 1) * bytes,
                            (size_t)(2 * p.sq - bad - 1) * bytes);
        answer_free(&a);
        answer_free(&clean);
        prob_free(&p);
    }
}

/* Infinite scores: +inf makes the row NaN, -inf is a weight of +0, all -inf an empty row. */
static void infinite_scores(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        const int32_t type = t ? QKV_F64 : QKV_F32;
        for (int i = 0; i < 6; i++) {
            prob p = prob_new(type, 1, 1, 1, 1, 300, 1, 1);
            prob_scale(&p, 1);
            put_at(p.q, type, 0, 1);
            for (int64_t j = 0; j < 300; j++) put_at(p.v, type, j, 1 + (double)j);
            const int32_t isa = table_of(&p, i);
            put_bits(p.k, type, 200, 0xFF800000u); /* -inf among zeros */
            answer a = prob_run(&p, (how){.isa = isa});
            const double mean = (300.0 * 301 / 2 - 201) / 299;
            assert_true(fabs(get_at(a.out, type, 0) / mean - 1) < 2e-6);
            assert_true(fabs(get_at(a.lse, type, 0) - log(299)) < 2e-6);
            answer_free(&a);
            put_bits(p.v, type, 200,
                     0x7F800000u); /* weight +0 times inf: a live key is not skipped */
            a = prob_run(&p, (how){.isa = isa});
            assert_true(is_canonical_nan(a.out, type, 0));
            assert_true(fabs(get_at(a.lse, type, 0) - log(299)) < 2e-6);
            answer_free(&a);
            for (int64_t j = 0; j < 300; j++) put_bits(p.k, type, j, 0xFF800000u);
            a = prob_run(&p, (how){.isa = isa});
            assert_true(is_plus_zero(a.out, type, 0));
            assert_true(get_at(a.lse, type, 0) == -(double)INFINITY);
            answer_free(&a);
            put_bits(p.k, type, 7, 0x7F800000u); /* +inf */
            a = prob_run(&p, (how){.isa = isa});
            assert_true(is_canonical_nan(a.out, type, 0));
            assert_true(is_canonical_nan(a.lse, type, 0));
            answer_free(&a);
            prob_free(&p);
        }
    }
}

/* Whole spans and blocks whose scores are all -inf contribute nothing, wherever they lie. */
static void dead_spans(void **state)
{
    (void)state;
    rng r = rng_from(405);
    for (int i = 0; i < effort(24); i++) {
        const int32_t type = i % 3 == 2 ? QKV_F64 : QKV_F32;
        const int64_t piece = i % 2 ? 4096 : 128, pieces = i % 2 ? 6 : 40;
        prob p = prob_new(type, 1, 1, 1, 2, piece * pieces, 1, 2);
        prob_normal(&p, &r);
        put_at(p.q, type, 0, 0.5); /* both positive: -inf stays -inf */
        put_at(p.q, type, 1, 1.5);
        const uint64_t dead = rng_next(&r) & rng_next(&r);
        int64_t kept = 0;
        for (int64_t j = 0; j < p.sk; j++) kept += !(dead >> j / piece & 1);
        prob live = prob_new(type, 1, 1, 1, 2, kept, 1, 2);
        memcpy(live.q, p.q, 2 * type_size(type));
        for (int64_t j = 0, to = 0; j < p.sk; j++) {
            if (dead >> j / piece & 1) {
                put_bits(p.k, type, j, 0xFF800000u);
            } else {
                put_at(live.k, type, to, get_at(p.k, type, j));
                for (int64_t c = 0; c < 2; c++) {
                    put_at(live.v, type, 2 * to + c, get_at(p.v, type, 2 * j + c));
                }
                to++;
            }
        }
        answer a = prob_run(&p, (how){.isa = table_of(&p, i)});
        const row_error e = judge(&live, &a, 2, true);
        if (!(e.max <= (type == QKV_F64 ? 1e-14 : 1.5e-6) &&
              e.lse <= (type == QKV_F64 ? 1e-14 : 2e-6))) {
            fail_msg("case %d: error %.3g, lse %.3g", i, e.max, e.lse);
        }
        answer_free(&a);
        prob_free(&live);
        prob_free(&p);
    }
}

/* Every table does the same with every kind of poison anywhere. */
static void tables_agree_on_poison(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    rng r = rng_from(404);
    for (int i = 0; i < effort(200); i++) {
        prob p = random_prob(&r, 2e5);
        for (int64_t x = rng_range(&r, 1, 6); x > 0; x--) {
            const int64_t kind = rng_range(&r, 0, 2);
            void *const where = kind == 0 ? p.q : kind == 1 ? p.k : p.v;
            const int64_t size = kind == 0 ? prob_nq(&p) : kind == 1 ? prob_nk(&p) : prob_nv(&p);
            const int64_t at = rng_range(&r, 0, size - 1);
            if (rng_range(&r, 0, 2)) {
                put_bits(where, p.dtype, at, poison[rng_range(&r, 0, POISONS - 1)]);
            } else {
                const double large = p.dtype == QKV_F64 ? 1e307 : 3e38;
                put_at(where, p.dtype, at, rng_range(&r, 0, 1) ? large : -large);
            }
        }
        answer base = prob_run(&p, (how){.isa = isa[n - 1]});
        for (int t = 0; t < n - 1; t++) {
            if (prob_work(&p) > work_limit(isa[t], p.dtype)) continue;
            answer a = prob_run(&p, (how){.isa = isa[t]});
            assert_true(strcmp(a.kernel, base.kernel) != 0);
            assert_same_answer(&base, &a, "case %d: %s", i, prob_text(&p));
            answer_free(&a);
        }
        answer_free(&base);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_no_row_sees),
        cmocka_unit_test(keys_that_some_rows_see),
        cmocka_unit_test(a_live_nan_shows_in_its_row),
        cmocka_unit_test(infinite_scores),
        cmocka_unit_test(dead_spans),
        cmocka_unit_test(tables_agree_on_poison),
    };
    return cmocka_run_group_tests_name("exclusion", tests, NULL, NULL);
}
