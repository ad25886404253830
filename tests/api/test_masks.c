/* SPDX-License-Identifier: MIT */
/* test_masks.c - everything that narrows the keys of a row, in random combinations: against the long
 * double oracle, which looks at every pair alone, and bit for bit against the same row by itself, the
 * same batch, the same sequence unpacked and unpadded, other tables, threads and layouts.
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const prob *p)
{
    static char t[256];
    const prob_mask *const m = &p->mask;
    snprintf(t, sizeof t,
             "type %d [%lld,%lld/%lld,%lld x %lld,%lld/%lld] use %llx offset %lld align %d window "
             "%lld %lld prefix %lld",
             (int)p->dtype, (long long)p->b, (long long)p->hq, (long long)p->hkv, (long long)p->sq,
             (long long)p->sk, (long long)p->d, (long long)p->dv, (unsigned long long)p->use,
             (long long)p->q_offset, (int)m->align, (long long)m->window_left,
             (long long)m->window_right, (long long)m->prefix);
    return t;
}

/* Mostly a block or a few; now and then more than a span. */
static prob random_masked(rng *r)
{
    const int32_t type = rng_range(r, 0, 2) ? QKV_F32 : QKV_F64;
    const int64_t kind = rng_range(r, 0, 11), hkv = rng_range(r, 1, 2);
    const int64_t sk = kind == 0   ? rng_range(r, 4097, 13000)
                       : kind == 1 ? rng_range(r, 0, 3)
                       : kind < 8  ? rng_range(r, 1, 300)
                                   : rng_range(r, 300, 900);
    const int64_t sq = kind == 0 ? rng_range(r, 1, 20) : rng_range(r, 1, 120);
    prob p = prob_new(type, kind == 0 ? 1 : rng_range(r, 1, 3), hkv * rng_range(r, 1, 2), hkv, sq,
                      sk, rng_range(r, 1, 20), rng_range(r, 1, 20));
    prob_normal(&p, r);
    prob_random_mask(&p, r);
    if (rng_range(r, 0, 1)) prob_random_added(&p, r);
    return p;
}

/* a table that is fast enough for this problem */
static int32_t table(const prob *p, int i)
{
    int32_t isa[8];
    const int n = usable_isas(isa);
    const int32_t id = isa[i % n];
    return isa_is_slow(id, p->dtype) && prob_work(p) > 1e6 ? QKV_ISA_BEST : id;
}

/* scores of far keys are large, and so is their rounding: half a unit of the last place */
static double rounding(const prob *p)
{
    if (!(p->use & QKV_USE_ALIBI)) return 0;
    return (double)(2 * p->sk + p->sq) * (p->dtype == QKV_F64 ? 0x1p-53 : 0x1p-24);
}

static void masks_match_the_oracle(void **state)
{
    (void)state;
    rng r = rng_from(501);
    int64_t used[64] = {0};
    for (int i = 0; i < effort(160); i++) {
        prob p = random_masked(&r);
        for (int b = 0; b < 64; b++) used[b] += (int64_t)(p.use >> b & 1);
        const int32_t isa = i % 4 == 3 ? QKV_ISA_REFERENCE : table(&p, i);
        answer a = prob_run(&p, (how){.isa = isa, .threads = 2, .exec = EXEC_BACKWARDS});
        const row_error e = judge(&p, &a, 40, true);
        const double limit = (p.dtype == QKV_F64 ? 2e-14 : 2e-6) + rounding(&p);
        if (!(e.max <= limit) || !(e.lse <= 4 * limit)) {
            fail_msg("case %d, isa %d: error %.3g, lse %.3g: %s", i, (int)isa, e.max, e.lse,
                     text(&p));
        }
        answer_free(&a);
        prob_free(&p);
    }
    for (int b = 1; b <= 13; b++)
        assert_true(used[b] > effort(160) / 20); /* every kind was there */
}

/* The same bits for every table, thread, layout; with poison wherever nobody looks. */
static void masks_keep_their_bits(void **state)
{
    (void)state;
    rng r = rng_from(502);
    int64_t poisoned = 0;
    for (int i = 0; i < effort(150); i++) {
        prob p = random_masked(&r);
        answer want = prob_run(&p, (how){0});
        poisoned += prob_poison_unseen(&p, i);
        int32_t isa[8];
        const int n = usable_isas(isa);
        for (int t = 0; t < n; t++) {
            if (isa_is_slow(isa[t], p.dtype) && prob_work(&p) > 1e6) continue;
            const how h = {.isa = isa[t],
                           .threads = (int32_t)rng_range(&r, 1, 4),
                           .exec = rng_range(&r, 0, 1) ? EXEC_BACKWARDS : EXEC_FRESH,
                           .layout = (uint64_t)rng_range(&r, 0, 120),
                           .byte_shift = (size_t)rng_range(&r, 0, 1)};
            answer a = prob_run(&p, h);
            assert_same_answer(&want, &a, "case %d, isa %d, layout %d: %s", i, (int)isa[t],
                               (int)h.layout, text(&p));
            answer_free(&a);
        }
        /* the reference touches no excluded key either */
        answer ref = prob_run(&p, (how){.isa = QKV_ISA_REFERENCE});
        for (int64_t x = 0; x < prob_nlse(&p); x++) {
            const double y = get_at(ref.lse, p.dtype, x), z = get_at(want.lse, p.dtype, x);
            assert_true(y == z || fabs(y - z) < 1e-5 + 4 * rounding(&p));
        }
        for (int64_t x = 0; x < prob_nout(&p); x++) {
            assert_true(fabs(get_at(ref.out, p.dtype, x) - get_at(want.out, p.dtype, x)) <
                        1e-5 + 4 * rounding(&p));
        }
        answer_free(&ref);
        answer_free(&want);
        prob_free(&p);
    }
    assert_true(poisoned > 1000);
}

/* rows [from, from + n) of every batch and head of a are the whole of b */
static void assert_rows(const prob *p, const answer *a, int64_t from, const prob *q,
                        const answer *b, const char *what)
{
    const size_t e = type_size(p->dtype), row = (size_t)p->dv * e;
    for (int64_t bh = 0; bh < q->b * q->hq; bh++) {
        const size_t at = (size_t)(bh * p->sq + from), to = (size_t)(bh * q->sq);
        if (memcmp((char *)a->out + at * row, (char *)b->out + to * row, (size_t)q->sq * row) ||
            memcmp((char *)a->lse + at * e, (char *)b->lse + to * e, (size_t)q->sq * e)) {
            fail_msg("%s, rows from %lld: %s", what, (long long)from, text(p));
        }
    }
}

static void a_row_alone_has_the_same_bits(void **state)
{
    (void)state;
    rng r = rng_from(503);
    for (int i = 0; i < effort(120); i++) {
        prob p = random_masked(&r);
        answer a = prob_run(&p, (how){.isa = table(&p, i)});
        for (int k = 0; k < 3 && !(p.use & QKV_USE_PACKED); k++) {
            const int64_t n = rng_range(&r, 1, p.sq < 9 ? p.sq : 9);
            const int64_t from = rng_range(&r, 0, p.sq - n);
            prob part = prob_rows(&p, from, n);
            answer b = prob_run(&part, (how){.isa = table(&p, i + k)});
            assert_rows(&p, &a, from, &part, &b, "rows alone");
            answer_free(&b);
            prob_free(&part);
        }
        for (int64_t s = 0; s < p.mask.sequences && p.use & QKV_USE_PACKED; s++) {
            prob part = prob_sequence(&p, s);
            answer b = prob_run(&part, (how){.isa = table(&p, i)});
            assert_rows(&p, &a, p.mask.cu_q[s], &part, &b, "sequence alone");
            answer_free(&b);
            prob_free(&part);
        }
        answer_free(&a);
        prob_free(&p);
    }
}

/* keys [from, from + n) of every head of batch 0, as a problem without padding */
static prob without_padding(const prob *p)
{
    const int64_t from = p->use & QKV_USE_KV_START ? p->mask.kv_start[0] : 0;
    const int64_t end = p->use & QKV_USE_KV_LEN ? p->mask.kv_len[0] : p->sk;
    const int64_t n = end > from ? end - from : 0;
    const size_t e = type_size(p->dtype);
    prob c = prob_new(p->dtype, 1, p->hq, p->hkv, p->sq, n, p->d, p->dv);
    c.use = p->use & ~(QKV_USE_KV_START | QKV_USE_KV_LEN | QKV_USE_Q_OFFSETS);
    c.mask = p->mask;
    c.mask.bools = pair_part(&p->mask.bools, 0, 0, p->sq, from, n);
    c.mask.bias = pair_part(&p->mask.bias, 0, 0, p->sq, from, n);
    c.mask.align = QKV_ALIGN_OFFSET;
    c.q_offset = prob_offset(p, 0) - from;
    memcpy(c.q, p->q, (size_t)prob_nq(p) * e);
    for (int64_t h = 0; h < p->hkv; h++) {
        const size_t to = (size_t)(h * n), at = (size_t)(h * p->sk + from);
        memcpy((char *)c.k + to * (size_t)p->d * e, (char *)p->k + at * (size_t)p->d * e,
               (size_t)(n * p->d) * e);
        memcpy((char *)c.v + to * (size_t)p->dv * e, (char *)p->v + at * (size_t)p->dv * e,
               (size_t)(n * p->dv) * e);
    }
    return c;
}

static void padding_changes_no_bit(void **state)
{
    (void)state;
    rng r = rng_from(504);
    for (int i = 0; i < effort(120); i++) {
        prob p = random_masked(&r);
        p.use |= QKV_USE_KV_LEN;
        if (p.use & QKV_USE_PACKED) {
            prob_free(&p);
            continue;
        }
        answer all = prob_run(&p, (how){.isa = table(&p, i), .threads = 3, .exec = EXEC_POOL});
        for (int64_t b = 0; b < p.b; b++) {
            prob one = prob_batch(&p, b), cut = without_padding(&one);
            answer x = prob_run(&one, (how){0}), y = prob_run(&cut, (how){0});
            assert_same_answer(&x, &y, "padding cut off, case %d: %s", i, text(&p));
            assert_memory_equal((char *)all.out + (size_t)b * x.out_bytes, x.out, x.out_bytes);
            assert_memory_equal((char *)all.lse + (size_t)b * x.lse_bytes, x.lse, x.lse_bytes);
            answer_free(&x);
            answer_free(&y);
            prob_free(&one);
            prob_free(&cut);
        }
        answer_free(&all);
        prob_free(&p);
    }
}

/* ---- what taps see --------------------------------------------------------------------------- */

typedef struct book {
    const prob *p;
    int32_t type;
    double *weight; /* [batch][head][row][key], -1: not shown */
} book;

static int note(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                const void *x, int64_t n)
{
    book *const to = ctx;
    const prob *const p = to->p;
    assert_int_equal(stage, QKV_STAGE_WEIGHT);
    double *const at = to->weight + ((batch * p->hq + head) * p->sq + row) * p->sk + key;
    assert_true(key >= 0 && n > 0 && key + n <= p->sk);
    for (int64_t j = 0; j < n; j++) {
        assert_true(at[j] == -1);
        at[j] = get_at(x, to->type, j);
    }
    return 0;
}

static void weights_of(const prob *p, int32_t isa, double *weight)
{
    const qkv_params x = prob_params(p, (how){.isa = isa});
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    book to = {p, isa == QKV_ISA_REFERENCE ? QKV_F64 : p->dtype, weight};
    for (int64_t i = 0; i < prob_nlse(p) * p->sk; i++) weight[i] = -1;
    qkv_tap tap = qkv_tap_init();
    tap.stages = 1u << QKV_STAGE_WEIGHT;
    tap.row = note;
    tap.ctx = &to;
    qkv_run_args a = qkv_run_args_init();
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    void *const out = malloc((size_t)prob_nout(p) * 8 + 1);
    assert_non_null(out);
    a.out = out;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    a.tap = &tap;
    pair_memories pairs = prob_tensors(p, &a);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    pair_memories_free(&pairs);
    free(a.workspace);
    free(out);
    qkv_plan_destroy(plan);
}

static void taps_see_the_masks(void **state)
{
    (void)state;
    rng r = rng_from(505);
    for (int i = 0; i < effort(40); i++) {
        prob p = random_masked(&r);
        if (p.sk > 1000) p.sk = 1000; /* the data's layout does not matter here */
        if (p.use & QKV_USE_PACKED || p.sk < 1) {
            p.use &= ~QKV_USE_PACKED;
            p.mask.q_len[0] = p.sq;
        }
        for (int64_t b = 0; b < p.b; b++) {
            if (p.mask.kv_len[b] > p.sk) p.mask.kv_len[b] = p.sk;
            if (p.mask.kv_start[b] > p.sk) p.mask.kv_start[b] = p.sk;
        }
        if (p.mask.bools.dim[3] > p.sk) p.use &= ~QKV_USE_MASK;
        if (p.mask.bias.dim[3] > p.sk) p.use &= ~QKV_USE_BIAS;
        double *const got = malloc((size_t)(prob_nlse(&p) * p.sk + 1) * sizeof *got);
        double *const want = malloc((size_t)(prob_nlse(&p) * p.sk + 1) * sizeof *want);
        assert_non_null(got);
        assert_non_null(want);
        weights_of(&p, table(&p, i), got);
        weights_of(&p, QKV_ISA_REFERENCE, want);
        for (int64_t x = 0; x < prob_nlse(&p) * p.sk; x++) {
            const int64_t row = x / p.sk, j = x % p.sk;
            const bool sees = prob_sees(&p, row / p.sq / p.hq, row / p.sq % p.hq, row % p.sq, j);
            assert_true(got[x] >= 0 && want[x] >= 0); /* shown, every key of it */
            if (!sees) assert_true(got[x] == 0 && want[x] == 0);
            assert_true(fabs(got[x] - want[x]) < 1e-5 + 4 * rounding(&p));
        }
        free(got);
        free(want);
        prob_free(&p);
    }
}

static int64_t pair_count(const pair_tensor *t)
{
    return t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}

/* What one run found out about masks and biases is forgotten by the next, in the same workspace. */
static void a_workspace_remembers_no_mask(void **state)
{
    (void)state;
    rng r = rng_from(506);
    int64_t changed = 0;
    for (int i = 0; i < effort(40); i++) {
        prob p = prob_new(QKV_F32, 2, 3, 1, rng_range(&r, 100, 300), rng_range(&r, 200, 700), 4, 4);
        prob_normal(&p, &r);
        prob_random_mask(&p, &r);
        prob_random_added(&p, &r);
        qkv_error e = qkv_error_init();
        const qkv_params params = prob_params(&p, (how){.isa = QKV_ISA_BEST});
        qkv_plan *plan = NULL;
        if (qkv_plan_create(&plan, &params, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
        const size_t bytes = (size_t)prob_nout(&p) * sizeof(float);
        char *const out[3] = {malloc(bytes), malloc(bytes), malloc(bytes)};
        qkv_run_args a = qkv_run_args_init();
        a.q = p.q;
        a.k = p.k;
        a.v = p.v;
        a.workspace = workspace_new(plan);
        a.workspace_size = qkv_plan_workspace(plan);
        for (int run = 0; run < 3; run++) { /* a mask, its opposite, the same with no past */
            if (run == 1) {
                for (int64_t x = 0; p.mask.bools.x && x < pair_count(&p.mask.bools); x++)
                    p.mask.bools.x[x] = !(p.mask.bools.x[x] != 0);
                for (int64_t x = 0; p.mask.bias.x && x < pair_count(&p.mask.bias); x++)
                    p.mask.bias.x[x] = isinf(p.mask.bias.x[x]) ? 0.5 : -(double)INFINITY;
            }
            if (run == 2) memset(a.workspace, 0, (size_t)a.workspace_size);
            assert_non_null(out[run]);
            a.out = out[run];
            pair_memories pairs = prob_tensors(&p, &a);
            if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
            pair_memories_free(&pairs);
        }
        changed += memcmp(out[0], out[1], bytes) != 0;
        if (memcmp(out[1], out[2], bytes) != 0) fail_msg("case %d: %s", i, text(&p));
        for (int run = 0; run < 3; run++) free(out[run]);
        free(a.workspace);
        qkv_plan_destroy(plan);
        prob_free(&p);
    }
    assert_true(changed > effort(40) / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_match_the_oracle),
        cmocka_unit_test(masks_keep_their_bits),
        cmocka_unit_test(a_row_alone_has_the_same_bits),
        cmocka_unit_test(padding_changes_no_bit),
        cmocka_unit_test(taps_see_the_masks),
        cmocka_unit_test(a_workspace_remembers_no_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
