/* SPDX-License-Identifier: MIT */
/* test_pieces.c - keys in pieces over all features at once: masks, biases, sinks, rules, dropout, packed
 * sequences, left padding and types, cut at any multiples of 4,096, each piece by another table and
 * another executor, fold to the bits of one run; and the largest of the pieces' row maxima is the
 * whole's.
 */
#include "everything.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 4 };

/* A random case whose keys reach over several spans and whose work stays small. */
static feature_case long_case(rng *r)
{
    feature_case c;
    for (;;) { /* packed sequences and padding come with sizes of their own */
        c = random_case(r, 4000000);
        if (c.base.keys > 4096) return c;
    }
}

static int32_t any_table(rng *r, const feature_case *c)
{
    int32_t isa[8];
    const int32_t id = isa[rng_range(r, 0, usable_isas(isa) - 1)];
    const int64_t bound = c->base.bits == 64 ? 40000 : 160000;
    const int slow = isa_is_slow(id, c->base.bits == 64 ? QKV_F64 : QKV_F32);
    return slow && case_work(c) > bound ? QKV_ISA_BEST : id;
}

/* best[i] = the larger of the two, NaN before all */
static void take_larger(const feature_case *c, void *best, const void *other)
{
    const int32_t dtype = c->base.bits == 64 ? QKV_F64 : QKV_F32;
    for (int64_t i = 0; i < feature_rows(c); i++) {
        const double x = get_at(best, dtype, i), y = get_at(other, dtype, i);
        if (y > x || y != y) put_at(best, dtype, i, y);
    }
}

static void run_piece(rng *r, const feature_case *c, const feature_tensors *t, qkv_partial *part,
                      void *best)
{
    feature_run f;
    qkv_error e = qkv_error_init();
    executor x;
    executor_init(&x, rng_range(r, 0, 1) ? EXEC_BACKWARDS : EXEC_FRESH, 3);
    if (feature_open(&f, c, any_table(r, c), 3, t, 0, &e) != QKV_OK) fail_msg("%s", e.text);
    f.args.threads = executor_threads(&x);
    f.args.row_max = best ? f.row_max : NULL;
    part->data_size = qkv_partial_size(f.plan, part->key_begin, part->key_end);
    part->data = malloc(part->data_size + 1);
    assert_non_null(part->data);
    memset(part->data, 0xA5, part->data_size + 1);
    if (qkv_run_partial(f.plan, &f.args, part, &e) != QKV_OK)
        fail_msg("%s: %s", e.text, case_text(c));
    assert_int_equal(((unsigned char *)part->data)[part->data_size], 0xA5);
    if (best) take_larger(c, best, f.row_max);
    executor_done(&x);
    feature_close(&f);
}

static int cut(rng *r, int64_t keys, qkv_partial part[MOST_PARTS])
{
    int n = 0;
    for (int64_t at = 0; at < keys; n++) {
        const int64_t spans = (keys - at + 4095) / 4096;
        const int64_t take = n == MOST_PARTS - 1 ? spans : rng_range(r, 1, spans);
        part[n] = qkv_partial_init();
        part[n].key_begin = at;
        part[n].key_end = at = at + take * 4096 < keys ? at + take * 4096 : keys;
    }
    return n;
}

static void compare(rng *r, const feature_case *c)
{
    const int64_t real = c->base.bits / 8, rows = feature_rows(c);
    const int with_max = rng_range(r, 0, 3) > 0;
    feature_tensors t;
    feature_run whole, f;
    qkv_error e = qkv_error_init();
    qkv_partial part[MOST_PARTS];
    feature_make(c, &t);
    if (feature_open(&whole, c, QKV_ISA_BEST, 1, &t, 0, &e) != QKV_OK) fail_msg("%s", e.text);
    whole.args.row_max = whole.row_max;
    if (qkv_run(whole.plan, &whole.args, &e) != QKV_OK) fail_msg("%s", e.text);
    void *const best = feature_output(rows * real, 0xff);
    for (int64_t i = 0; i < rows; i++)
        put_at(best, real == 8 ? QKV_F64 : QKV_F32, i, -(double)__builtin_inf());
    const int n = cut(r, c->base.keys, part);
    for (int i = n - 1; i >= 0; i--) run_piece(r, c, &t, part + i, with_max ? best : NULL);
    if (feature_open(&f, c, any_table(r, c), 1, &t, 0, &e) != QKV_OK) fail_msg("%s", e.text);
    /* a finish reads parts and sinks, no lengths and no tensor */
    f.args.q = f.args.k = f.args.v = f.args.mask = f.args.bias = f.args.slopes = NULL;
    f.args.cu_q = f.args.cu_k = f.args.kv_len = f.args.q_len = f.args.kv_start = NULL;
    f.args.q_offset = NULL;
    if (qkv_partial_finish(f.plan, &f.args, part, n, &e) != QKV_OK)
        fail_msg("%s: %s", e.text, case_text(c));
    const int64_t out = rows * c->base.d_v * feature_bytes(feature_type(c, c->out_type));
    if (memcmp(whole.out, f.out, (size_t)out) != 0 ||
        memcmp(whole.lse, f.lse, (size_t)(rows * real)) != 0)
        fail_msg("%d pieces change bits: %s", n, case_text(c));
    if (with_max && memcmp(whole.row_max, best, (size_t)(rows * real)) != 0)
        fail_msg("%d pieces' row maxima: %s", n, case_text(c));
    for (int i = 0; i < n; i++) free(part[i].data);
    free(best);
    feature_close(&f);
    feature_close(&whole);
    feature_free(&t);
}

static void pieces_of_all_features(void **state)
{
    (void)state;
    rng r = rng_from(601);
    feature_mix mix = {0};
    const int cases = effort(60);
    for (int i = 0; i < cases; i++) {
        const feature_case c = long_case(&r);
        compare(&r, &c);
        feature_mix_count(&mix, &c);
    }
    for (int i = 0; i < 24 && cases >= 40; i++)
        if (feature_done() >> i & 1 && mix.of[i] < 2) fail_msg("feature %d is rare", i);
}

/* Sequences that begin and end anywhere beside the spans of the tensor. */
static void packed_sequences_in_pieces(void **state)
{
    (void)state;
    rng r = rng_from(602);
    for (int i = 0; i < effort(12); i++) {
        feature_case c = long_case(&r);
        c.base.batch = 1;
        c.base.rows = 5;
        c.base.keys = 12000;
        c.base.d = c.base.d_v = 4;
        c.base.heads = c.base.kv_heads;
        c.with = (c.with | FEATURE_PACKED) &
                 ~(FEATURE_KV_LEN | FEATURE_Q_LEN | FEATURE_KV_START | FEATURE_OFFSETS);
        c.sequences = 3;
        c.cu_q[1] = rng_range(&r, 0, 3);
        c.cu_q[2] = rng_range(&r, c.cu_q[1], 5);
        c.cu_q[3] = 5;
        c.cu_k[1] = rng_range(&r, 4000, 5000);
        c.cu_k[2] = rng_range(&r, c.cu_k[1], 12000);
        c.cu_k[3] = 12000;
        c.bool_keys = c.bias_keys = 0;
        compare(&r, &c);
    }
}

/* Spans that a mask leaves empty for all rows, between others: their siblings stand for both. */
static void dead_spans_among_others(void **state)
{
    (void)state;
    enum { SPANS = 5, KEYS = SPANS * 4096 - 100 };
    rng r = rng_from(603);
    prob p = prob_new(QKV_F32, 1, 1, 1, 3, KEYS, 4, 4);
    prob_normal(&p, &r);
    p.use = QKV_USE_MASK;
    p.mask.bools = (pair_tensor){.dtype = QKV_BOOL, .dim = {1, 1, 1, KEYS}};
    p.mask.bools.x = calloc(KEYS, sizeof(double));
    assert_non_null(p.mask.bools.x);
    for (int live = 0; live < 1 << SPANS; live++) {
        for (int64_t j = 0; j < KEYS; j++) p.mask.bools.x[j] = live >> j / 4096 & j % 2;
        answer a = prob_run(&p, (how){.threads = 2});
        const row_error e = judge(&p, &a, 3, false);
        if (!(e.max < 2e-6 && e.lse < 1e-5)) fail_msg("live spans 0x%x: %g", live, e.max);
        answer_free(&a);
    }
    prob_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_of_all_features),
                                       cmocka_unit_test(packed_sequences_in_pieces),
                                       cmocka_unit_test(dead_spans_among_others)};
    return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}
