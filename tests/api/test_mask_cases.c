/* SPDX-License-Identifier: MIT */
/* test_mask_cases.c - small inputs from public bug reports about windows, lengths and packed
 * sequences, each with the right numbers, and every refusal of the numbers that come with a run.
 *
 * Every case runs on every usable table and on the reference, in float32 and float64.
 */
#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t g_isa, g_dtype;

static void everywhere(void (*one)(void))
{
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    for (int i = 0; i < 2 * n; i++) {
        g_isa = isa[i / 2];
        g_dtype = i % 2 ? QKV_F64 : QKV_F32;
        one();
    }
}

static void close_at(int line, double got, double want)
{
    const double bound = g_dtype == QKV_F64 ? 1e-9 : 2e-5 + 2e-5 * fabs(want);
    if (got == want || fabs(got - want) <= bound) return;
    fail_msg("line %d, isa %d, type %d: %.12g, wanted %.12g", line, (int)g_isa, (int)g_dtype, got,
             want);
}
#define assert_close(got, want) close_at(__LINE__, got, want)

/* C11: what lies beyond a batch's keys in a preallocated cache does not exist */
static void c11(void)
{
    prob p = prob_new(g_dtype, 2, 2, 2, 3, 8, 4, 4);
    prob_gen(&p, 1, 2, 3);
    p.use = QKV_USE_KV_LEN;
    p.mask.kv_len[0] = 5;
    p.mask.kv_len[1] = 7;
    answer clean = prob_run(&p, (how){.isa = g_isa});
    assert_close(probe(clean.out, g_dtype, prob_nout(&p)), 0.1026997417);
    assert_close(probe(clean.lse, g_dtype, prob_nlse(&p)), -5.0354008291);
    assert_true(prob_poison_unseen(&p, 3) == 8); /* (3 + 1) keys x 2 heads */
    answer a = prob_run(&p, (how){.isa = g_isa});
    assert_same_answer(&clean, &a, "C11");
    answer_free(&a);
    answer_free(&clean);
    /* C13: nothing at all in one batch, everything in the other */
    prob_gen(&p, 1, 2, 3);
    p.mask.kv_len[0] = 0;
    p.mask.kv_len[1] = 8;
    a = prob_run(&p, (how){.isa = g_isa});
    for (int64_t i = 0; i < prob_nout(&p) / 2; i++) assert_true(is_plus_zero(a.out, g_dtype, i));
    for (int64_t i = 0; i < prob_nlse(&p) / 2; i++)
        assert_true(get_at(a.lse, g_dtype, i) == -(double)INFINITY);
    prob one = prob_batch(&p, 1);
    one.use = 0;
    answer b = prob_run(&one, (how){.isa = g_isa});
    assert_memory_equal((char *)a.out + a.out_bytes / 2, b.out, b.out_bytes);
    assert_memory_equal((char *)a.lse + a.lse_bytes / 2, b.lse, b.lse_bytes);
    answer_free(&a);
    answer_free(&b);
    prob_free(&one);
    prob_free(&p);
}

/* keys and queries 0, value of key j is j: the output is the mean of the keys seen */
static prob counting(int64_t rows, int64_t keys)
{
    prob p = prob_new(g_dtype, 1, 1, 1, rows, keys, 1, 1);
    for (int64_t j = 0; j < keys; j++) put_at(p.v, g_dtype, j, (double)j);
    return p;
}

static void row_is(const prob *p, int64_t row, double out, double count)
{
    answer a = prob_run(p, (how){.isa = g_isa});
    assert_close(get_at(a.out, g_dtype, row), out);
    assert_close(get_at(a.lse, g_dtype, row), count > 0 ? log(count) : -(double)INFINITY);
    answer_free(&a);
}

static void c32(void)
{
    prob p = counting(16, 16);
    static const struct {
        int64_t left, right;
        double out, count;
    } want[] = {{3, 0, 8.5, 4}, {4, 0, 8, 5},     {0, 0, 10, 1},     {16, 4, 7, 15},
                {-1, 0, 5, 11}, {0, -1, 12.5, 6}, {-1, -1, 7.5, 16}, {INT64_MAX, 0, 5, 11}};
    p.use = QKV_USE_WINDOW;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        p.mask.window_left = want[i].left;
        p.mask.window_right = want[i].right;
        row_is(&p, 10, want[i].out, want[i].count);
    }
    /* C35: one query at the last position */
    prob one = counting(1, 16);
    one.use = QKV_USE_WINDOW | QKV_USE_CAUSAL;
    one.mask.window_left = 3;
    one.mask.align = QKV_ALIGN_BOTTOM_RIGHT;
    row_is(&one, 0, 13.5, 4);
    prob_free(&one);
    /* C34: a window as long as the sequence is causal alone */
    prob few = counting(4, 4);
    prob_causal(&few, 0);
    answer a = prob_run(&few, (how){.isa = g_isa});
    few.use |= QKV_USE_WINDOW;
    few.mask.window_left = 7;
    few.mask.window_right = 0;
    answer b = prob_run(&few, (how){.isa = g_isa});
    assert_same_answer(&a, &b, "C34");
    for (int i = 0; i < 4; i++) assert_close(get_at(a.out, g_dtype, i), i / 2.0);
    answer_free(&a);
    answer_free(&b);
    prob_free(&few);
    prob_free(&p);
}

/* a prefix of 3: the first rows see it whole, later ones are causal; with or without that bit */
static void prefix_lm(void)
{
    prob p = counting(6, 6);
    p.use = QKV_USE_PREFIX;
    p.mask.prefix = 3;
    static const double out[6] = {1, 1, 1, 1.5, 2, 2.5};
    answer a = prob_run(&p, (how){.isa = g_isa});
    for (int i = 0; i < 6; i++) assert_close(get_at(a.out, g_dtype, i), out[i]);
    p.use |= QKV_USE_CAUSAL;
    answer b = prob_run(&p, (how){.isa = g_isa});
    assert_same_answer(&a, &b, "prefix and causal");
    answer_free(&a);
    answer_free(&b);
    /* a window takes the far part of the prefix away: row 5 sees keys 3, 4, 5 */
    p.use |= QKV_USE_WINDOW;
    p.mask.window_left = 2;
    p.mask.window_right = -1;
    row_is(&p, 5, 4, 3);
    /* the prefix counts from the end of the padding: row 0 sees keys 2, 3, 4 */
    p.use = QKV_USE_PREFIX | QKV_USE_KV_START;
    p.mask.kv_start[0] = 2;
    row_is(&p, 0, 3, 3);
    row_is(&p, 5, 3.5, 4);
    prob_free(&p);
}

/* the other names of one and the same place */
static void alignments(void)
{
    prob p = counting(3, 8);
    prob_causal(&p, 5);
    answer a = prob_run(&p, (how){.isa = g_isa});
    p.q_offset = 0;
    p.mask.align = QKV_ALIGN_BOTTOM_RIGHT;
    answer b = prob_run(&p, (how){.isa = g_isa});
    assert_same_answer(&a, &b, "bottom-right");
    answer_free(&b);
    p.mask.align = QKV_ALIGN_OFFSET;
    p.use |= QKV_USE_Q_OFFSETS;
    p.mask.q_offset[0] = 5;
    b = prob_run(&p, (how){.isa = g_isa});
    assert_same_answer(&a, &b, "offset of the batch");
    answer_free(&b);
    answer_free(&a);
    /* by its own lengths: 6 keys and 2 rows, so row 1 stands at key 5 */
    p.use = QKV_USE_CAUSAL | QKV_USE_KV_LEN | QKV_USE_Q_LEN;
    p.mask.align = QKV_ALIGN_BOTTOM_RIGHT;
    p.mask.kv_len[0] = 6;
    p.mask.q_len[0] = 2;
    row_is(&p, 0, 2, 5);
    row_is(&p, 1, 2.5, 6);
    row_is(&p, 2, 0, 0);
    prob_free(&p);
}

/* a mask of ones and zeros over [batches][heads][rows][keys] */
static void set_bools(prob *p, int64_t b, int64_t h, int64_t rows, int64_t keys, const int *x)
{
    pair_tensor *const t = &p->mask.bools;
    p->use |= QKV_USE_MASK;
    t->dtype = QKV_BOOL;
    t->dim[0] = b;
    t->dim[1] = h;
    t->dim[2] = rows;
    t->dim[3] = keys;
    t->x = malloc((size_t)(b * h * rows * keys + 1) * sizeof *t->x);
    assert_non_null(t->x);
    for (int64_t i = 0; i < b * h * rows * keys; i++) t->x[i] = x[i];
}

/* C36 and C41: what true means; a mask shorter than the keys */
static void c36(void)
{
    static const int keep_first[2] = {1, 0}, keep_both[2] = {1, 1};
    static const double k[6] = {1, 0, 0, 1, 5, 5};
    prob p = prob_new(g_dtype, 1, 1, 1, 1, 3, 2, 1);
    put_at(p.q, g_dtype, 0, 1);
    for (int i = 0; i < 6; i++) put_at(p.k, g_dtype, i, k[i]);
    for (int i = 0; i < 3; i++) put_at(p.v, g_dtype, i, 10 * (i + 1));
    set_bools(&p, 1, 1, 1, 2, keep_first);
    row_is(&p, 0, 10, 2.0281149816474726); /* e^(1 / sqrt 2) */
    p.mask.mask_drops = 1;                 /* the tail stays excluded */
    row_is(&p, 0, 20, 1);
    p.mask.mask_drops = 0;
    free(p.mask.bools.x);
    set_bools(&p, 1, 1, 1, 2, keep_both);
    row_is(&p, 0, 13.3023845067, 3.0281149816474726);
    p.mask.bools.dim[3] = 0; /* no element at all: nothing is seen, nothing read */
    row_is(&p, 0, 0, 0);
    prob_free(&p);
}

/* C10: NaN in a key that the mask excludes; C40: a mask for each query head */
static void c10(void)
{
    static const int first[4] = {1, 0, 1, 0};
    prob p = prob_new(g_dtype, 1, 1, 1, 2, 2, 4, 4);
    for (int i = 0; i < 8; i++) {
        put_at(p.q, g_dtype, i, i);
        put_at(p.k, g_dtype, i, i);
        put_at(p.v, g_dtype, i, i);
    }
    put_bits(p.k, g_dtype, 4, 0x7FC00000u);
    set_bools(&p, 1, 1, 2, 2, first);
    answer a = prob_run(&p, (how){.isa = g_isa});
    for (int i = 0; i < 8; i++) assert_true(get_at(a.out, g_dtype, i) == i % 4);
    assert_close(get_at(a.lse, g_dtype, 0), 7);
    assert_close(get_at(a.lse, g_dtype, 1), 19);
    answer_free(&a);
    prob_free(&p);

    static const double want[8] = {-0.578125, -0.15625, -0.765625, -0.171875,
                                   -0.640625, -0.40625, 0.046875,  0.84375};
    int by_head[24];
    for (int i = 0; i < 24; i++) by_head[i] = i % 3 == i / 6 % 3;
    p = prob_new(g_dtype, 1, 4, 2, 2, 3, 4, 2);
    prob_gen(&p, 61, 62, 63);
    set_bools(&p, 1, 4, 2, 3, by_head);
    a = prob_run(&p, (how){.isa = g_isa});
    for (int i = 0; i < 16; i++) assert_close(get_at(a.out, g_dtype, i), want[i / 4 * 2 + i % 2]);
    answer_free(&a);
    prob_free(&p);
}

/* C38: per head is not per batch, also when there are as many of one as of the other */
static void c38(void)
{
    static const int m[18] = {1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    prob p = prob_new(g_dtype, 2, 2, 2, 3, 4, 4, 2);
    p.sk = 3;
    prob_gen(&p, 31, 32, 33);
    set_bools(&p, 1, 2, 3, 3, m);
    answer a = prob_run(&p, (how){.isa = g_isa});
    assert_close(probe(a.out, g_dtype, prob_nout(&p)), 0.8361711707);
    answer_free(&a);
    p.mask.bools.dim[0] = 2;
    p.mask.bools.dim[1] = 1;
    a = prob_run(&p, (how){.isa = g_isa});
    assert_close(probe(a.out, g_dtype, prob_nout(&p)), 0.9162598068);
    answer_free(&a);
    prob_free(&p);
}

static void numbered_cases(void **state)
{
    (void)state;
    everywhere(c10);
    everywhere(c36);
    everywhere(c38);
    everywhere(c11);
    everywhere(c32);
    everywhere(prefix_lm);
    everywhere(alignments);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* p with something wrong: the run is refused with that argument, value and bound, and a sentence that
 * says both; nothing is written. */
static void refused(const prob *p, qkv_status status, const char *arg, int64_t got, int64_t want)
{
    const qkv_params x = prob_params(p, (how){0});
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    char out[4096], lse[1024];
    memset(out, 0x5A, sizeof out);
    assert_true((size_t)prob_nout(p) * type_size(p->dtype) <= sizeof out);
    qkv_run_args a = qkv_run_args_init();
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = out;
    a.lse = lse;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    prob_args(p, &a);
    if (strcmp(arg, "args.q_len") == 0 && got == 0 && want == 1) a.q_len = NULL;
    char data[8192];
    qkv_partial part = qkv_partial_init();
    part.key_end = p->sk;
    part.data = data;
    part.data_size = sizeof data;
    for (int door = 0; door < 2; door++) {
        e = qkv_error_init();
        const qkv_status s = door ? qkv_run_partial(plan, &a, &part, &e) : qkv_run(plan, &a, &e);
        if (s != status || strcmp(e.arg, arg) != 0 || e.got != got || e.want != want)
            fail_msg("door %d, status %d, %s, %lld, %lld: %s", door, (int)s, e.arg,
                     (long long)e.got, (long long)e.want, e.text);
        assert_non_null(strstr(e.text, arg));
    }
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(out[i], 0x5A);
    free(a.workspace);
    qkv_plan_destroy(plan);
}

static void lengths_out_of_their_bounds(void **state)
{
    (void)state;
    prob p = prob_new(QKV_F32, 2, 2, 1, 3, 5, 4, 4);
    prob_random_mask(&p, &(rng){7});
    p.use = QKV_USE_KV_LEN;
    p.mask.kv_len[0] = 5;
    p.mask.kv_len[1] = 6;
    refused(&p, QKV_EARG, "args.kv_len", 6, 5);
    p.mask.kv_len[1] = -1;
    refused(&p, QKV_EARG, "args.kv_len", -1, 0);
    p.mask.kv_len[1] = INT64_MAX;
    refused(&p, QKV_EARG, "args.kv_len", INT64_MAX, 5);
    p.use = QKV_USE_Q_LEN;
    p.mask.q_len[0] = 4;
    refused(&p, QKV_EARG, "args.q_len", 4, 3);
    refused(&p, QKV_EARG, "args.q_len", 0, 1); /* NULL */
    p.use = QKV_USE_KV_START;
    p.mask.kv_start[0] = 0;
    p.mask.kv_start[1] = 6;
    refused(&p, QKV_EARG, "args.kv_start", 6, 5);
    p.use = QKV_USE_Q_OFFSETS | QKV_USE_CAUSAL;
    p.mask.align = QKV_ALIGN_OFFSET;
    p.mask.q_offset[0] = 0;
    p.mask.q_offset[1] = INT64_MIN;
    refused(&p, QKV_EARG, "args.q_offset", INT64_MIN, INT64_C(1) << 62);
    prob_free(&p);
}

/* C89 */
static void edges_of_packed_sequences(void **state)
{
    (void)state;
    static const struct {
        int64_t cu[4], got, want;
        qkv_status status;
    } bad[] = {
        {{1, 2, 4, 6}, 1, 0, QKV_EARG},                 /* not from 0 */
        {{0, 4, 3, 6}, 3, 4, QKV_EARG},                 /* descending */
        {{0, 2, 4, 5}, 5, 6, QKV_ESHAPE},               /* rows left over */
        {{0, 2, 4, 7}, 7, 6, QKV_ESHAPE},               /* beyond the total */
        {{0, -1, 4, 6}, -1, 0, QKV_EARG},               /* negative */
        {{0, INT64_MAX, 4, 6}, 4, INT64_MAX, QKV_EARG}, /* too far, then back */
    };
    prob p = prob_new(QKV_F32, 1, 2, 1, 6, 6, 4, 4);
    p.use = QKV_USE_PACKED;
    p.mask.sequences = 3;
    static const int64_t good[4] = {0, 2, 2, 6};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(p.mask.cu_q, bad[i].cu, sizeof good);
        memcpy(p.mask.cu_k, good, sizeof good);
        refused(&p, bad[i].status, "args.cu_q", bad[i].got, bad[i].want);
        memcpy(p.mask.cu_q, good, sizeof good);
        memcpy(p.mask.cu_k, bad[i].cu, sizeof good);
        refused(&p, bad[i].status, "args.cu_k", bad[i].got, bad[i].want);
    }
    /* lengths are of the sequence, not of the tensor */
    memcpy(p.mask.cu_k, good, sizeof good);
    p.use |= QKV_USE_KV_LEN;
    p.mask.kv_len[0] = 2;
    p.mask.kv_len[1] = 1;
    p.mask.kv_len[2] = 4;
    refused(&p, QKV_EARG, "args.kv_len", 1, 0);
    prob_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbered_cases),
        cmocka_unit_test(lengths_out_of_their_bounds),
        cmocka_unit_test(edges_of_packed_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
