/* SPDX-License-Identifier: MIT */
/* test_rule.c - the caller's own function of a score, between masks, lengths, packed sequences, slopes,
 * caps, sinks, dropout, grouped heads and types: the kernels against the float64 reference, which calls
 * the same function row by row; every table and executor to the same bits; and what the function is
 * told is true, on whatever thread it is called.
 */
#include "everything.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the function checks beside its work; wrong is set from any thread. */
typedef struct watch {
    const feature_case *c;
    int calls, wrong;
} watch;

/* Depends on all that it is told. In eighths: exact in every type. */
static double own_rule(int64_t batch, int64_t head, int64_t position, int64_t key)
{
    const int64_t place = (position % 16 + 16) % 16;
    return (double)((batch * 7 + head * 5 + place * 3 + key) % 11) / 8;
}

static int is_true(const feature_case *c, int64_t batch, int64_t head, int64_t position,
                   int64_t key, int64_t rows, int64_t keys, int64_t stride)
{
    const int packed = (c->with & FEATURE_PACKED) != 0;
    if (batch < 0 || batch >= (packed ? c->sequences : c->base.batch)) return 0;
    if (head < 0 || head >= c->base.heads || rows < 1 || keys < 1 || stride < rows) return 0;
    const int64_t own_keys = packed ? c->cu_k[batch + 1] - c->cu_k[batch] : c->base.keys;
    const int64_t own_rows = packed ? c->cu_q[batch + 1] - c->cu_q[batch] : c->base.rows;
    const int64_t padding = c->with & FEATURE_KV_START ? c->kv_start[batch] : 0;
    const int64_t offset = case_offset(c, batch);
    /* also of keys in the padding (below 0) and beyond kv_len, which nobody sees */
    if (key < -padding || key + keys > own_keys - padding) return 0;
    return position >= offset - padding && position + rows <= own_rows + offset - padding;
}

static void rule(void *ctx, int64_t batch, int64_t head, int64_t position, int64_t key,
                 int64_t rows, int64_t keys, void *s, int64_t stride)
{
    watch *const w = ctx;
    __atomic_fetch_add(&w->calls, 1, __ATOMIC_RELAXED);
    if (!is_true(w->c, batch, head, position, key, rows, keys, stride))
        __atomic_store_n(&w->wrong, 1, __ATOMIC_RELAXED);
    for (int64_t j = 0; j < keys; j++)
        for (int64_t i = 0; i < rows; i++) {
            const double less = own_rule(batch, head, position + i, key + j);
            float *const x = (float *)s + j * stride + i;
            double *const y = (double *)s + j * stride + i;
            if (w->c->base.bits == 32)
                *x = *x * 0.5F - (float)less;
            else
                *y = *y * 0.5 - less;
        }
}

static feature_case rule_case(rng *r)
{
    static const int32_t kinds[3] = {GOLDEN_GAUSS, GOLDEN_GRID, GOLDEN_EQUAL};
    feature_case c = random_case(r, 60000);
    c.with |= FEATURE_RULE;
    c.with &= ~FEATURE_BIAS; /* one that absorbs scores leaves nothing to compare */
    c.base.kind = kinds[rng_range(r, 0, 2)];
    c.out_type = 0;
    return c;
}

static void run(const feature_case *c, const feature_tensors *t, int32_t isa, executor *e,
                void *out, void *lse, int *calls)
{
    feature_run f;
    qkv_error err = qkv_error_init();
    watch w = {.c = c};
    const qkv_threads *const threads = e ? executor_threads(e) : NULL;
    if (feature_open(&f, c, isa, threads ? threads->nthreads : 1, t, 0, &err) != QKV_OK)
        fail_msg("%s", err.text);
    f.rule.score = rule;
    f.rule.ctx = &w;
    f.args.threads = threads;
    f.args.out = out;
    f.args.lse = lse;
    if (qkv_run(f.plan, &f.args, &err) != QKV_OK) fail_msg("%s: %s", err.text, case_text(c));
    if (w.wrong) fail_msg("the function was told what is not so: %s", case_text(c));
    *calls += w.calls;
    feature_close(&f);
}

static void the_reference_agrees(void **state)
{
    (void)state;
    rng r = rng_from(801);
    int calls = 0, judged = 0;
    for (int i = 0; i < effort(400); i++) {
        const feature_case c = rule_case(&r);
        const int32_t dtype = c.base.bits == 64 ? QKV_F64 : QKV_F32;
        const int64_t rows = feature_rows(&c), n = rows * c.base.d_v, real = c.base.bits / 8;
        feature_tensors t;
        feature_make(&c, &t);
        void *const a = feature_output(n * real, 0xa5), *const b = feature_output(n * real, 0x5a);
        void *const la = feature_output(rows * real, 0xa5), *const lb =
                                                                feature_output(rows * real, 0);
        run(&c, &t, QKV_ISA_BEST, NULL, a, la, &calls);
        run(&c, &t, QKV_ISA_REFERENCE, NULL, b, lb, &calls);
        double largest = 1;
        for (int64_t k = 0; k < n; k++) {
            const double x = get_at(a, dtype, k), y = get_at(b, dtype, k);
            largest = fabs(y) > largest && isfinite(y) ? fabs(y) : largest;
            if ((x != x) != (y != y)) fail_msg("%.17g and %.17g: %s", x, y, case_text(&c));
        }
        const double bound = (dtype == QKV_F64 ? 1e-12 : 2e-4) * largest;
        for (int64_t k = 0; k < n; k++) {
            const double x = get_at(a, dtype, k), y = get_at(b, dtype, k);
            if (fabs(x - y) > bound) fail_msg("%.17g and %.17g: %s", x, y, case_text(&c));
        }
        for (int64_t k = 0; k < rows; k++) {
            const double x = get_at(la, dtype, k), y = get_at(lb, dtype, k);
            if (x == y || (x != x && y != y)) continue;
            if (!(fabs(x - y) <= (dtype == QKV_F64 ? 1e-12 : 1e-5) * (1 + fabs(y))))
                fail_msg("lse %.17g and %.17g: %s", x, y, case_text(&c));
        }
        judged += n > 0;
        free(a);
        free(b);
        free(la);
        free(lb);
        feature_free(&t);
    }
    assert_true(calls > judged && judged * 2 > effort(400));
}

static void every_way_gives_the_same_bits(void **state)
{
    (void)state;
    static const exec_kind kinds[3] = {EXEC_BACKWARDS, EXEC_FRESH, EXEC_POOL};
    int32_t isa[8];
    const int tables = usable_isas(isa);
    rng r = rng_from(802);
    int calls = 0;
    for (int i = 0; i < effort(200); i++) {
        feature_case c = rule_case(&r);
        const int64_t rows = feature_rows(&c), real = c.base.bits / 8;
        const int64_t bytes = rows * c.base.d_v * real;
        feature_tensors t;
        if (i % 2) c.with |= FEATURE_POISON;
        feature_make(&c, &t);
        void *const a = feature_output(bytes, 0xa5), *const b = feature_output(bytes, 0x5a);
        void *const la = feature_output(rows * real, 0xa5), *const lb =
                                                                feature_output(rows * real, 0);
        int32_t id = isa[rng_range(&r, 0, tables - 1)];
        if (isa_is_slow(id, real == 8 ? QKV_F64 : QKV_F32) && case_work(&c) > 40000)
            id = QKV_ISA_BEST;
        executor e;
        executor_init(&e, kinds[i % 3], (int32_t)rng_range(&r, 2, 4));
        run(&c, &t, QKV_ISA_BEST, NULL, a, la, &calls);
        run(&c, &t, id, &e, b, lb, &calls);
        executor_done(&e);
        if (memcmp(a, b, (size_t)bytes) != 0 || memcmp(la, lb, (size_t)(rows * real)) != 0)
            fail_msg("table %d changes bits: %s", (int)id, case_text(&c));
        free(a);
        free(b);
        free(la);
        free(lb);
        feature_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_reference_agrees),
                                       cmocka_unit_test(every_way_gives_the_same_bits)};
    return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
