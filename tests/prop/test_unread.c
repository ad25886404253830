/* SPDX-License-Identifier: MIT */
/* test_unread.c - excluded tiles are skipped, not computed. Keys and values of blocks that no row sees lie
 * in pages that may not be touched: a run that reads one is stopped there, and the test says which key it
 * was. That a tile is not computed either, where its block is another tile's, the caller's rule shows:
 * it is called for every tile that is computed.
 */
#include "pages.h"
#include "shapes.h"
#include "unread_masks.h"

#include <stdlib.h>
#include <string.h>

/* ---- one case -------------------------------------------------------------------------------- */

typedef enum extra { NOTHING, CHANGED, DROPPED, COUNTED, EXTRAS } extra;

/* q's type, and those of keys and values */
static const int32_t types[][3] = {{QKV_F32, QKV_F32, QKV_F32},  {QKV_F64, QKV_F64, QKV_F64},
                                   {QKV_F32, QKV_F16, QKV_F16},  {QKV_F32, QKV_BF16, QKV_BF16},
                                   {QKV_F32, QKV_F16, QKV_F32},  {QKV_F64, QKV_F32, QKV_F16},
                                   {QKV_F32, QKV_F32, QKV_BF16}, {QKV_F16, QKV_BF16, QKV_F16}};
enum { TYPES = 8 };

typedef struct way {
    int32_t isa, type, threads;
    lie lies;
    extra more;
} way;

typedef struct result {
    char *mem; /* out, lse, row_max, key_sums */
    int64_t bytes;
    int64_t shut;
    char read[64]; /* what was touched; "": nothing */
} result;

static void set_extra(qkv_params *x, extra more)
{
    if (more == CHANGED) x->use |= QKV_USE_SOFTCAP | QKV_USE_ALIBI | QKV_USE_SINK;
    if (more == DROPPED) x->use |= QKV_USE_DROPOUT;
    if (more == COUNTED) x->use |= QKV_USE_KEY_SUMS;
}

static result run_with(const prob *p, const way *w, const qkv_params *x, pages *m, qkv_run_args *a)
{
    const int64_t real = element_bytes(x->q.dtype == QKV_F64 ? QKV_F64 : QKV_F32);
    const int64_t rows = p->b * p->hq * p->sq, out = rows * p->dv * real;
    result r = {.bytes = out + 2 * rows * real + p->b * p->hq * p->sk * real};
    qkv_error err = qkv_error_init();
    qkv_plan *plan = NULL;
    qkv_status status = QKV_OK;
    executor e;
    if (qkv_plan_create(&plan, x, NULL, &err) != QKV_OK) fail_msg("%s", err.text);
    executor_init(&e, w->threads > 1 ? EXEC_BACKWARDS : EXEC_NULL, w->threads);
    r.mem = calloc((size_t)r.bytes, 1);
    assert_non_null(r.mem);
    a->q = m[0].base;
    a->k = m[1].base;
    a->v = m[2].base;
    a->out = r.mem;
    a->lse = r.mem + out;
    if (w->more == COUNTED) {
        a->row_max = r.mem + out + rows * real;
        a->key_sums = r.mem + out + 2 * rows * real;
    }
    a->workspace = workspace_new(plan);
    a->workspace_size = qkv_plan_workspace(plan);
    a->threads = executor_threads(&e);
    if (!pages_run(plan, a, &status, &err)) {
        static const char *const names[] = {"q", "k", "v"};
        bool known = false;
        for (int i = 0; i < 3 && !known; i++)
            known = pages_touched(&m[i], names[i], r.read, sizeof r.read);
        if (!known) fail_msg("a fault in no tensor");
    }
    if (status != QKV_OK) fail_msg("%s", err.text);
    free(a->workspace);
    executor_done(&e);
    qkv_plan_destroy(plan);
    return r;
}

static result run(const prob *p, const way *w, const bool *live)
{
    const int32_t *const t = types[w->type];
    prob wide = *p; /* sinks and slopes in the run's type */
    wide.dtype = t[0] == QKV_F64 ? QKV_F64 : QKV_F32;
    prob_round_numbers(&wide);
    if (w->more == CHANGED) wide.use |= QKV_USE_SINK | QKV_USE_ALIBI;
    qkv_params x = prob_params(&wide, (how){.isa = w->isa, .threads = w->threads});
    x.q.dtype = t[0];
    x.k.dtype = t[1];
    x.v.dtype = t[2];
    pages m[3] = {pages_new(&x.q, p->q, LIE_DENSE, NULL), pages_new(&x.k, p->k, w->lies, live),
                  pages_new(&x.v, p->v, w->lies, live)};
    qkv_run_args a = qkv_run_args_init();
    pair_memories pairs = prob_tensors(&wide, &a);
    set_extra(&x, w->more);
    x.q = m[0].shape;
    x.k = m[1].shape;
    x.v = m[2].shape;
    result r = run_with(p, w, &x, m, &a);
    r.shut = m[1].shut < m[2].shut ? m[1].shut : m[2].shut;
    pair_memories_free(&pairs);
    for (int i = 0; i < 3; i++) pages_free(&m[i]);
    return r;
}

/* ---- which cases ----------------------------------------------------------------------------- */

static const unread_sizes sizes[] = {{2, 4, 2, 300, 1024, 32, 48}, /* tiles */
                                     {2, 2, 1, 1, 640, 32, 48},    /* one row of each head */
                                     {2, 4, 2, 5, 640, 16, 32},    /* few rows */
                                     {1, 2, 1, 24, 640, 8, 8}};    /* tiles, for slow tables */
enum { SIZES = 4 };

typedef struct tally {
    int runs, failed;
    int64_t shut;
    int of_table[16];
} tally;

static void compare(const prob *p, int kind, const way *w, const bool *live, const result *plain,
                    tally *t)
{
    const result r = run(p, w, live);
    const bool same = r.read[0] || memcmp(r.mem, plain->mem, (size_t)r.bytes) == 0;
    t->runs++;
    t->shut += r.shut;
    if (r.read[0] || !same) {
        t->failed++;
        print_message("# %s, table %d, types %d, memory %d, extra %d, threads %d, %s: %s%s\n",
                      unread_kind_name(kind), (int)w->isa, w->type, (int)w->lies, (int)w->more,
                      (int)w->threads, prob_text(p), r.read[0] ? "reads " : "other bits", r.read);
    }
    if (w->lies >= LIE_APART) assert_true(r.shut > 0);
    assert_int_equal(r.bytes, plain->bytes);
    free(r.mem);
}

/* each table, and of the types as many as there is time for; where keys lie and what is done to scores
 * take turns */
static void one_problem(const prob *p, int kind, int salt, tally *t)
{
    result plain[2][EXTRAS];
    int32_t isa[8];
    const int n = usable_isas(isa);
    bool *const live = unread_live(p);
    for (int i = 0; i < 2 * EXTRAS; i++) {
        const way w = {QKV_ISA_BEST, i / EXTRAS, 1, LIE_DENSE, (extra)(i % EXTRAS)};
        plain[i / EXTRAS][i % EXTRAS] = run(p, &w, NULL);
    }
    for (int i = 0; i < n * TYPES; i++) {
        const int type = i % TYPES;
        const bool wide = types[type][0] == QKV_F64, slow = isa_is_slow(isa[i / TYPES], p->dtype);
        if (prob_work(p) > work_limit(isa[i / TYPES], wide ? QKV_F64 : QKV_F32) * (slow ? 1 : 10))
            continue;
        const int every = sanitized() ? 6 : slow ? 4 : p->sq > 100 ? 2 : 1;
        if ((i + i / TYPES + salt) % every) continue;
        for (int again = 0; again < (slow ? 1 : 2); again++) {
            const way w = {isa[i / TYPES], type, again ? 3 : 1,
                           (lie)((i + i / TYPES + salt + 2 * again) % LIES),
                           again ? (extra)((i + salt) % EXTRAS) : NOTHING};
            compare(p, kind, &w, live, &plain[wide][w.more], t);
            t->of_table[i / TYPES]++;
        }
    }
    for (int i = 0; i < 2 * EXTRAS; i++) free(plain[i / EXTRAS][i % EXTRAS].mem);
    free(live);
}

static void keys_that_no_row_sees_are_not_read(void **state)
{
    (void)state;
    tally t = {0};
    int32_t isa[8];
    for (int kind = 0; kind < unread_kinds(); kind++)
        for (int s = sanitized() && kind % 4; s < SIZES; s++) {
            prob p = unread_problem(&sizes[s], kind);
            one_problem(&p, kind, 3 * kind + s, &t);
            prob_free(&p);
        }
    print_message("# %d runs, %lld pages shut\n", t.runs, (long long)t.shut);
    for (int i = 0; i < usable_isas(isa); i++) assert_true(t.of_table[i] > 0);
    assert_int_equal(t.failed, 0);
}

/* One row and more keys than a span, so that threads take a span each. */
static void spans_that_no_row_sees_are_not_read(void **state)
{
    (void)state;
    tally t = {0};
    int32_t isa[8];
    const int n = usable_isas(isa);
    const unread_sizes z = {1, 2, 2, 1, 3 * 4096, 8, 8};
    for (int i = 0; i < 4 * n; i++) {
        const int side = i % 2;
        prob p = unread_problem(&z, 0);
        p.use = QKV_USE_WINDOW;
        p.q_offset = side ? 9000 : 4100;
        p.mask.window_left = side ? 300 : -1;
        p.mask.window_right = 10;
        bool *const live = unread_live(&p);
        const way usual = {QKV_ISA_BEST, i / 2 % 2, 1, LIE_DENSE, NOTHING};
        const way w = {isa[i / 4], i / 2 % 2, 2 + side, side ? LIE_APART : LIE_DENSE, NOTHING};
        const result plain = run(&p, &usual, NULL);
        compare(&p, 3, &w, live, &plain, &t);
        free(plain.mem);
        free(live);
        prob_free(&p);
    }
    assert_int_equal(t.failed, 0);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef struct seen_tiles {
    const prob *p;
    int64_t calls, dead; /* tiles that were computed, and those of them that no row sees */
    int64_t pairs;       /* of all tiles that were computed */
} seen_tiles;

static void look_at_tile(void *ctx, int64_t batch, int64_t head, int64_t position, int64_t key,
                         int64_t rows, int64_t keys, void *s, int64_t stride)
{
    seen_tiles *const t = ctx;
    const prob *const p = t->p;
    const unread_own own = unread_sequence(p, batch);
    const int64_t start = p->use & QKV_USE_KV_START ? p->mask.kv_start[batch] : 0;
    const int64_t row = own.row + position - (prob_offset(p, batch) - start);
    const int64_t b = p->use & QKV_USE_PACKED ? 0 : batch;
    bool any = false;
    (void)s;
    (void)stride;
    for (int64_t i = row; i < row + rows && !any; i++)
        for (int64_t j = 0; j < keys && !any; j++)
            any = prob_sees(p, b, head, i, own.key + key + j);
    t->calls++;
    t->pairs += rows * keys;
    t->dead += !any;
}

static void tiles_that_no_row_sees_are_not_computed(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    int64_t calls = 0;
    for (int i = 0; i < n * unread_kinds() * 2; i++) {
        const int kind = i / 2 % unread_kinds();
        const int32_t table = isa[i / 2 / unread_kinds()];
        const bool slow = isa_is_slow(table, QKV_F32);
        prob p = unread_problem(&sizes[slow || sanitized() ? 3 : 0], kind);
        seen_tiles t = {.p = &p};
        qkv_rule rule = qkv_rule_init();
        rule.score = look_at_tile;
        rule.ctx = &t;
        prob q = i % 2 ? prob_as(&p, QKV_F64) : prob_copy(&p);
        qkv_params x = prob_params(&q, (how){.isa = table});
        qkv_run_args a = qkv_run_args_init();
        pair_memories pairs = prob_tensors(&q, &a);
        qkv_error err = qkv_error_init();
        qkv_plan *plan = NULL;
        x.use |= QKV_USE_RULE;
        if (qkv_plan_create(&plan, &x, NULL, &err) != QKV_OK) fail_msg("%s", err.text);
        a.q = q.q;
        a.k = q.k;
        a.v = q.v;
        a.out = malloc((size_t)prob_nout(&q) * 8);
        a.rule = &rule;
        a.workspace = workspace_new(plan);
        a.workspace_size = qkv_plan_workspace(plan);
        if (qkv_run(plan, &a, &err) != QKV_OK) fail_msg("%s", err.text);
        if (t.dead > 0)
            fail_msg("%s, table %d: %d of %d tiles are nobody's", unread_kind_name(kind),
                     (int)table, (int)t.dead, (int)t.calls);
        assert_true(t.pairs < p.b * p.hq * p.sq * p.sk);
        calls += t.calls;
        free(a.out);
        free(a.workspace);
        qkv_plan_destroy(plan);
        pair_memories_free(&pairs);
        prob_free(&q);
        prob_free(&p);
    }
    print_message("# %lld tiles\n", (long long)calls);
    assert_true(calls > 0);
}

/* ---- tensors over pairs ---------------------------------------------------------------------- */

/* The problem with a tensor beside its ranges that leaves all as it is, readable where ranges leave a row
 * something of the block. Number n: bytes, bits, biases of two types. */
static void beside_a_tensor(const prob *p, int32_t table, int n, int kind, const void *plain)
{
    static const int32_t memory[4] = {QKV_BOOL, QKV_BOOL, QKV_F32, QKV_F64};
    const int64_t count = p->sq * p->sk, bytes = prob_nout(p) * 4;
    float *const x = malloc((size_t)count * sizeof *x);
    bool *const live = unread_live(p), *const each = malloc((size_t)count * sizeof *each);
    void *const out = malloc((size_t)bytes);
    assert_true(x && each && out);
    for (int64_t i = 0; i < count; i++) {
        x[i] = n < 2; /* true, or 0 */
        each[i] = live[i % p->sk];
    }
    const qkv_shape dense = qkv_shape_dense(memory[n], 1, p->sq, p->sk, 1);
    pages m = pages_new(&dense, x, LIE_APART, each);
    qkv_params params = prob_params(p, (how){.isa = table});
    qkv_shape *const s = n < 2 ? &params.mask : &params.bias;
    const int64_t scale = n == 1 ? 8 : 1; /* bits are counted one by one */
    *s = qkv_shape_dense(n == 1 ? QKV_BITS : memory[n], 1, 1, p->sq, p->sk);
    s->stride[2] = m.shape.stride[1] * scale;
    s->stride[3] = m.shape.stride[2] * scale;
    params.use |= n < 2 ? QKV_USE_MASK : QKV_USE_BIAS;
    qkv_run_args a = qkv_run_args_init();
    qkv_error err = qkv_error_init();
    qkv_plan *plan = NULL;
    qkv_status status = QKV_OK;
    char read[64] = "";
    prob_args(p, &a);
    if (qkv_plan_create(&plan, &params, NULL, &err) != QKV_OK) fail_msg("%s", err.text);
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = out;
    *(n < 2 ? &a.mask : &a.bias) = m.base;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    if (!pages_run(plan, &a, &status, &err) && !pages_touched(&m, "pair", read, sizeof read))
        fail_msg("a fault in no tensor");
    if (status != QKV_OK) fail_msg("%s", err.text);
    if (read[0])
        fail_msg("%s, table %d, tensor %d: reads %s", unread_kind_name(kind), table, n, read);
    assert_true(m.shut > 0);
    assert_memory_equal(out, plain, (size_t)bytes);
    free(a.workspace);
    qkv_plan_destroy(plan);
    pages_free(&m);
    free(x);
    free(live);
    free(each);
    free(out);
}

static void tensors_are_not_read_where_ranges_leave_nothing(void **state)
{
    (void)state;
    const unread_sizes z = {1, 2, 1, 10, 640, 8, 8};
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int kind = 0; kind < unread_kinds(); kind++) {
        prob p = unread_problem(&z, kind);
        if (!(p.use & (QKV_USE_MASK | QKV_USE_BIAS))) {
            answer plain = prob_run(&p, (how){0});
            for (int i = 0; i < 4 * n; i++)
                if (!sanitized() || (i + kind) % 4 == 0)
                    beside_a_tensor(&p, isa[i / 4], i % 4, kind, plain.out);
            answer_free(&plain);
        }
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_no_row_sees_are_not_read),
        cmocka_unit_test(spans_that_no_row_sees_are_not_read),
        cmocka_unit_test(tiles_that_no_row_sees_are_not_computed),
        cmocka_unit_test(tensors_are_not_read_where_ranges_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
