/* SPDX-License-Identifier: MIT */
/* test_equal_bits.c - what may not change a bit: threads and executors, the instruction set, the
 * batch around a sequence, how rows are cut into calls, how the tensors lie in memory.
 *
 * Each comparison shows that its two sides really went different ways: another kernel by describe,
 * or two tasks and more as the executor saw them.
 */
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

/* The fast tables first, so that the slow ones meet only small problems. */
static int32_t table_for(const prob *p, int i)
{
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int tries = 0; tries < n; tries++) {
        const int32_t id = isa[(i + tries) % n];
        if (prob_work(p) <= work_limit(id, p->dtype)) return id;
    }
    return QKV_ISA_BEST;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const exec_kind kinds[] = {EXEC_SERIAL, EXEC_BACKWARDS, EXEC_FRESH, EXEC_POOL};
    rng r = rng_from(101);
    mix m = {0};
    int split = 0;
    const int cases = effort(240);
    for (int i = 0; i < cases; i++) {
        prob p = random_prob(&r, i % 4 ? 6e5 : 1e7);
        mix_count(&m, &p);
        const int32_t isa =
            i % 9 == 8 && prob_work(&p) < 2e6 ? QKV_ISA_REFERENCE : table_for(&p, i);
        answer one = prob_run(&p, (how){.isa = isa});
        const int32_t n = (int32_t)rng_range(&r, 2, 8);
        answer many = prob_run(&p, (how){.isa = isa, .threads = n, .exec = kinds[i % 4]});
        assert_same_answer(&one, &many, "%d threads, case %d: %s", (int)n, i, prob_text(&p));
        split += many.tasks >= 2;
        if (p.b * p.hq > 1) assert_true(many.tasks >= 2);
        answer_free(&one);
        answer_free(&many);
        prob_free(&p);
    }
    mix_check(&m);
    assert_true(split * 2 > cases);
}

/* C78: 33 positions, batches and heads 1 to 4, up to 64 threads. */
static void c78_thread_counts(void **state)
{
    (void)state;
    static const int32_t counts[] = {2, 3, 4, 8, 64};
    for (int64_t b = 1; b <= 4; b++) {
        for (int64_t h = 1; h <= 4; h++) {
            prob p = prob_new(QKV_F32, b, h, h, 33, 33, 8, 8);
            prob_gen(&p, 141, 142, 143);
            prob_causal(&p, 0);
            answer one = prob_run(&p, (how){.threads = 1, .exec = EXEC_POOL});
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                answer many = prob_run(&p, (how){.threads = counts[i], .exec = EXEC_POOL});
                assert_same_answer(&one, &many, "C78, %d threads, %d x %d", (int)counts[i], (int)b,
                                   (int)h);
                if (b * h > 1) assert_true(many.tasks >= 2);
                answer_free(&many);
            }
            answer_free(&one);
            prob_free(&p);
        }
    }
}

static void tables_change_nothing(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    assert_true(n >= 2); /* scalar and wide16 run anywhere */
    rng r = rng_from(102);
    mix m = {0};
    int compared[8] = {0};
    for (int i = 0; i < effort(260); i++) {
        prob p = random_prob(&r, i % 3 ? 2.5e5 : 2e6);
        mix_count(&m, &p);
        answer base = {0};
        for (int t = n - 1; t >= 0; t--) {
            if (prob_work(&p) > work_limit(isa[t], p.dtype)) continue;
            answer a = prob_run(&p, (how){.isa = isa[t]});
            compared[t]++;
            if (base.out == NULL) {
                base = a;
                continue;
            }
            assert_true(strcmp(base.kernel, a.kernel) != 0);
            assert_same_answer(&base, &a, "case %d: %s", i, prob_text(&p));
            answer_free(&a);
        }
        answer_free(&base);
        prob_free(&p);
    }
    mix_check(&m);
    for (int t = 0; t < n; t++) assert_true(compared[t] >= m.cases / 3);
}

static void a_batch_changes_nothing(void **state)
{
    (void)state;
    rng r = rng_from(103);
    for (int i = 0; i < effort(80); i++) {
        prob p = random_prob(&r, 1e6);
        const int32_t isa = table_for(&p, i);
        answer all = prob_run(&p, (how){.isa = isa, .threads = 3, .exec = EXEC_BACKWARDS});
        if (p.b * p.hq > 1) assert_true(all.tasks >= 2);
        const int64_t at = rng_range(&r, 0, p.b - 1);
        prob one = prob_batch(&p, at);
        answer a = prob_run(&one, (how){.isa = isa});
        assert_memory_equal((char *)all.out + (size_t)at * a.out_bytes, a.out, a.out_bytes);
        assert_memory_equal((char *)all.lse + (size_t)at * a.lse_bytes, a.lse, a.lse_bytes);
        answer_free(&a);
        answer_free(&all);
        prob_free(&one);
        prob_free(&p);
    }
}

/* Compares rows [from, from + n) of every head of whole with the answer to those rows alone. */
static void assert_rows(const prob *p, const answer *whole, const answer *part, int64_t from,
                        int64_t n, int i)
{
    const size_t size = type_size(p->dtype), row = (size_t)p->dv * size;
    for (int64_t bh = 0; bh < p->b * p->hq; bh++) {
        const char *const a = (const char *)whole->out + (size_t)(bh * p->sq + from) * row;
        const char *const b = (const char *)part->out + (size_t)(bh * n) * row;
        const char *const c = (const char *)whole->lse + (size_t)(bh * p->sq + from) * size;
        const char *const d = (const char *)part->lse + (size_t)(bh * n) * size;
        if (memcmp(a, b, (size_t)n * row) != 0 || memcmp(c, d, (size_t)n * size) != 0) {
            fail_msg("rows %lld+%lld, case %d: %s", (long long)from, (long long)n, i, prob_text(p));
        }
    }
}

/* Rows cut anywhere, each piece at its own offset: chunked prefill, and decoding row by row. */
static void cutting_rows_changes_nothing(void **state)
{
    (void)state;
    rng r = rng_from(104);
    mix m = {0};
    for (int i = 0; i < effort(130); i++) {
        prob p = random_prob(&r, 1e6);
        mix_count(&m, &p);
        const int32_t isa = table_for(&p, i);
        answer whole = prob_run(&p, (how){.isa = isa, .threads = 2, .exec = EXEC_BACKWARDS});
        const int64_t longest = i % 2 ? 3 : p.sq;
        int pieces = 0;
        for (int64_t at = 0, n; at < p.sq && pieces < 12; at += n, pieces++) {
            n = rng_range(&r, 1, longest);
            if (n > p.sq - at) n = p.sq - at;
            prob part = prob_rows(&p, at, n);
            answer a = prob_run(&part, (how){.isa = table_for(&part, i + pieces)});
            assert_rows(&p, &whole, &a, at, n, i);
            answer_free(&a);
            prob_free(&part);
        }
        answer_free(&whole);
        prob_free(&p);
    }
    mix_check(&m);
}

/* A causal row sees keys up to its position: the same as fewer keys without a mask. */
static void causal_is_a_shorter_sequence(void **state)
{
    (void)state;
    rng r = rng_from(105);
    for (int i = 0; i < effort(60); i++) {
        const int32_t type = i % 2 ? QKV_F64 : QKV_F32;
        const int64_t sk = rng_range(&r, 1, i % 10 == 9 ? 5000 : 500);
        const int64_t d = rng_range(&r, 1, 40), seen = rng_range(&r, 1, sk);
        prob p = prob_new(type, 1, 1, 1, 1, sk, d, d);
        prob_normal(&p, &r);
        prob_causal(&p, seen - 1);
        prob fewer = prob_new(type, 1, 1, 1, 1, seen, d, d);
        memcpy(fewer.q, p.q, (size_t)d * type_size(type));
        memcpy(fewer.k, p.k, (size_t)(seen * d) * type_size(type));
        memcpy(fewer.v, p.v, (size_t)(seen * d) * type_size(type));
        const int32_t isa = table_for(&p, i);
        answer a = prob_run(&p, (how){.isa = isa});
        answer b = prob_run(&fewer, (how){.isa = isa});
        assert_same_answer(&a, &b, "%d of %d keys", (int)seen, (int)sk);
        answer_free(&a);
        answer_free(&b);
        prob_free(&fewer);
        prob_free(&p);
    }
}

static void places_change_nothing(void **state)
{
    (void)state;
    rng r = rng_from(106);
    mix m = {0};
    for (int i = 0; i < effort(160); i++) {
        prob p = random_prob(&r, 1e6);
        mix_count(&m, &p);
        const int32_t isa = table_for(&p, i);
        answer dense = prob_run(&p, (how){.isa = isa});
        const how h = {.isa = isa,
                       .threads = 3,
                       .exec = EXEC_BACKWARDS,
                       .layout = i % 8 < 7 ? LAYOUT_RANDOM + rng_next(&r) % 100000000
                                           : (uint64_t)(i / 8 % 7),
                       .byte_shift = rng_next(&r) % 8};
        answer a = prob_run(&p, h);
        assert_same_answer(&dense, &a, "layout %llu, case %d: %s", (unsigned long long)h.layout, i,
                           prob_text(&p));
        answer_free(&a);
        answer_free(&dense);
        prob_free(&p);
    }
    mix_check(&m);
}

/* Five, six and seven spans: leftovers fold smallest first, whoever does it. */
static void long_sequences(void **state)
{
    (void)state;
    rng r = rng_from(107);
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int i = 0; i < effort(21); i++) {
        prob p = random_long_prob(&r, 5 + i % 3);
        answer base = prob_run(&p, (how){.isa = isa[n - 1]});
        for (int t = 0; t < n - 1; t++) {
            if (prob_work(&p) > work_limit(isa[t], p.dtype)) continue;
            answer a = prob_run(&p, (how){.isa = isa[t], .threads = 2, .exec = EXEC_BACKWARDS});
            assert_true(strcmp(base.kernel, a.kernel) != 0);
            assert_same_answer(&base, &a, "case %d: %s", i, prob_text(&p));
            answer_free(&a);
        }
        prob row = prob_rows(&p, p.sq - 1, 1);
        answer a = prob_run(&row, (how){.isa = isa[n - 1]});
        assert_rows(&p, &base, &a, p.sq - 1, 1, i);
        answer_free(&a);
        answer_free(&base);
        prob_free(&row);
        prob_free(&p);
    }
}

/* Heads so wide that one tile is more than a slot's share of the cache. */
static void very_wide_heads(void **state)
{
    (void)state;
    rng r = rng_from(108);
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int i = 0; i < 3; i++) {
        const int64_t d = i == 0 ? 3001 : i == 1 ? 129 : 1, dv = i == 0 ? 2 : i == 1 ? 6000 : 40000;
        prob p =
            prob_new(i == 1 ? QKV_F64 : QKV_F32, 1, 2, 1, i == 1 ? 2 : 20, i == 0 ? 130 : 7, d, dv);
        prob_normal(&p, &r);
        answer base = prob_run(&p, (how){.isa = isa[n - 1], .threads = 3, .exec = EXEC_FRESH});
        for (int t = 0; t < n - 1; t++) {
            answer a = prob_run(&p, (how){.isa = isa[t], .layout = LAYOUT_RANDOM + 5});
            assert_true(strcmp(base.kernel, a.kernel) != 0);
            assert_same_answer(&base, &a, "%s", prob_text(&p));
            answer_free(&a);
        }
        answer_free(&base);
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(c78_thread_counts),
        cmocka_unit_test(tables_change_nothing),
        cmocka_unit_test(a_batch_changes_nothing),
        cmocka_unit_test(cutting_rows_changes_nothing),
        cmocka_unit_test(causal_is_a_shorter_sequence),
        cmocka_unit_test(places_change_nothing),
        cmocka_unit_test(long_sequences),
        cmocka_unit_test(very_wide_heads),
    };
    return cmocka_run_group_tests_name("equal_bits", tests, NULL, NULL);
}
