/* SPDX-License-Identifier: MIT */
/* test_run_errors.c - everything that qkv_run() refuses, and what stops a run: missing pointers,
 * workspace, overlapping memory, a tap, the cancel flag, executors that do not do their work.
 *
 * A refused run writes nothing: out and lse keep the bytes that they had.
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, HQ = 4, HKV = 2, SQ = 3, SK = 5, D = 8, DV = 8 };
enum { NQ = B * HQ * SQ * D, NK = B * HKV * SK * D, NOUT = B * HQ * SQ * DV, NLSE = B * HQ * SQ };

/* Everything that a run touches lies in one arena, so that overlaps can be made on purpose. */
typedef struct rig {
    float *arena; /* q, k, v, out, lse, one after another */
    qkv_plan *plan;
    void *workspace;
    qkv_run_args args;
} rig;

enum { AT_Q = 0, AT_K = NQ, AT_V = AT_K + NK, AT_OUT = AT_V + NK, AT_LSE = AT_OUT + NOUT };
enum { ARENA = AT_LSE + NLSE };

static qkv_params rig_params(void)
{
    qkv_params p = qkv_params_init();
    p.q = qkv_shape_dense(QKV_F32, B, HQ, SQ, D);
    p.k = qkv_shape_dense(QKV_F32, B, HKV, SK, D);
    p.v = qkv_shape_dense(QKV_F32, B, HKV, SK, DV);
    p.out = qkv_shape_dense(QKV_F32, B, HQ, SQ, DV);
    return p;
}

static rig rig_new(const qkv_params *p)
{
    rig r = {0};
    r.arena = malloc(ARENA * sizeof(float));
    assert_non_null(r.arena);
    fill_gen(r.arena, QKV_F32, AT_OUT, 5);
    memset(r.arena + AT_OUT, 0x5A, (NOUT + NLSE) * sizeof(float));
    qkv_error e = qkv_error_init();
    if (qkv_plan_create(&r.plan, p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    r.workspace = workspace_new(r.plan);
    r.args = qkv_run_args_init();
    r.args.q = r.arena + AT_Q;
    r.args.k = r.arena + AT_K;
    r.args.v = r.arena + AT_V;
    r.args.out = r.arena + AT_OUT;
    r.args.lse = r.arena + AT_LSE;
    r.args.workspace = r.workspace;
    r.args.workspace_size = qkv_plan_workspace(r.plan);
    return r;
}

static void rig_free(rig *r)
{
    qkv_plan_destroy(r->plan);
    free(r->workspace);
    free(r->arena);
}

static bool untouched(const rig *r)
{
    const unsigned char *const p = (const unsigned char *)(r->arena + AT_OUT);
    for (size_t i = 0; i < (NOUT + NLSE) * sizeof(float); i++) {
        if (p[i] != 0x5A) return false;
    }
    return true;
}

static qkv_error assert_run(rig *r, qkv_status status, const char *arg)
{
    qkv_error e = qkv_error_init();
    const qkv_status s = qkv_run(r->plan, &r->args, &e);
    if (s != status || e.status != s) {
        fail_msg("%s: status %s, wanted %s; %s", arg, qkv_status_name(s), qkv_status_name(status),
                 e.text);
    }
    if (strcmp(e.arg, arg) != 0) fail_msg("arg \"%s\", wanted \"%s\"; %s", e.arg, arg, e.text);
    if (strstr(e.text, arg) == NULL) fail_msg("\"%s\" does not name %s", e.text, arg);
    if (strlen(e.text) >= sizeof e.text - 1) fail_msg("too long: %s", e.text);
    for (const char *c = e.text; *c; c++) assert_true((unsigned char)*c >= 32);
    assert_int_equal(qkv_run(r->plan, &r->args, NULL), status);
    return e;
}

static void a_good_run_works_and_writes_no_error(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_run(r.plan, &r.args, &e), QKV_OK);
    assert_int_equal(e.status, 0);
    assert_int_equal(e.text[0], 0);
    assert_false(untouched(&r));
    rig_free(&r);
}

static void missing_pointers_are_refused(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    const qkv_run_args good = r.args;
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_run(NULL, &r.args, &e), QKV_EARG);
    assert_string_equal(e.arg, "plan");
    assert_int_equal(qkv_run(r.plan, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "args");
    assert_int_equal(qkv_run(NULL, NULL, NULL), QKV_EARG);
    r.args.q = NULL;
    assert_run(&r, QKV_EARG, "args.q");
    r.args = good;
    r.args.k = NULL;
    assert_run(&r, QKV_EARG, "args.k");
    r.args = good;
    r.args.v = NULL;
    assert_run(&r, QKV_EARG, "args.v");
    r.args = good;
    r.args.out = NULL;
    assert_run(&r, QKV_EARG, "args.out");
    r.args = good;
    r.args.reserved = 1;
    e = assert_run(&r, QKV_EARG, "args.reserved");
    assert_int_equal(e.got, 1);
    assert_int_equal(e.want, 0);
    r.args = good;
    assert_true(untouched(&r));
    r.args.lse = NULL; /* not wanted: fine */
    assert_int_equal(qkv_run(r.plan, &r.args, &e), QKV_OK);
    rig_free(&r);
}

static void workspace_is_checked(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    const size_t need = qkv_plan_workspace(r.plan);
    assert_true(need > 0);
    qkv_error e;
    r.args.workspace_size = need - 1;
    e = assert_run(&r, QKV_EWORKSPACE, "args.workspace_size");
    assert_int_equal(e.got, need - 1);
    assert_int_equal(e.want, need);
    char digits[32];
    snprintf(digits, sizeof digits, "%zu", need);
    assert_non_null(strstr(e.text, digits));
    r.args.workspace_size = 0;
    assert_run(&r, QKV_EWORKSPACE, "args.workspace_size");
    r.args.workspace_size = need;
    r.args.workspace = NULL;
    assert_run(&r, QKV_EWORKSPACE, "args.workspace");
    for (size_t shift = 1; shift < 64; shift += shift) {
        r.args.workspace = (char *)r.workspace + shift;
        e = assert_run(&r, QKV_EWORKSPACE, "args.workspace");
        assert_non_null(strstr(e.text, "64"));
    }
    assert_true(untouched(&r));
    rig_free(&r);
}

static void bad_threads_are_refused(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    executor x;
    executor_init(&x, EXEC_SERIAL, 1);
    r.args.threads = &x.threads;
    static const int32_t counts[] = {0, -1, INT32_MIN};
    for (size_t i = 0; i < 3; i++) {
        x.threads.nthreads = counts[i];
        const qkv_error e = assert_run(&r, QKV_EARG, "args.threads.nthreads");
        assert_int_equal(e.got, counts[i]);
    }
    x.threads.nthreads = 2; /* one thread needs no function */
    x.threads.parallel_for = NULL;
    assert_run(&r, QKV_EARG, "args.threads.parallel_for");
    assert_true(untouched(&r));
    rig_free(&r);
}

/* C75: out or lse upon every input, upon each other, upon the workspace; touching is fine. */
static void overlapping_memory_is_refused(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    const qkv_run_args good = r.args;
    static const struct {
        const char *name;
        int out, lse; /* element in the arena, -1 for the good place */
        const char *arg;
    } o[] = {
        {"out upon q", AT_Q, -1, "args.out"},
        {"out upon the last element of q", AT_K - 1, -1, "args.out"},
        {"out upon v", AT_V, -1, "args.out"},
        {"out upon half of k", AT_K + NK / 2, -1, "args.out"},
        {"out upon lse", AT_LSE - NOUT + 1, -1, NULL},
        {"lse upon q", -1, AT_Q + 7, "args.lse"},
        {"lse upon the end of k", -1, AT_V - 1, "args.lse"},
        {"lse upon v", -1, AT_V, "args.lse"},
        {"lse upon out", -1, AT_OUT + 3, NULL},
    };
    float *const before = malloc(ARENA * sizeof(float));
    memcpy(before, r.arena, ARENA * sizeof(float));
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) {
        r.args = good;
        if (o[i].out >= 0) r.args.out = r.arena + o[i].out;
        if (o[i].lse >= 0) r.args.lse = r.arena + o[i].lse;
        qkv_error e = qkv_error_init();
        const qkv_status s = qkv_run(r.plan, &r.args, &e);
        if (s != QKV_EARG) fail_msg("%s: %s", o[i].name, qkv_status_name(s));
        if (o[i].arg != NULL && strcmp(e.arg, o[i].arg) != 0) fail_msg("%s: %s", o[i].name, e.text);
        assert_non_null(strstr(e.text, e.arg));
        assert_memory_equal(before, r.arena, ARENA * sizeof(float));
    }
    /* the workspace is an output of its own kind */
    r.args = good;
    r.args.out = r.workspace;
    if (r.args.workspace_size >= NOUT * sizeof(float)) {
        assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_EARG);
    }
    r.args = good;
    r.args.q = r.workspace;
    if (r.args.workspace_size >= NQ * sizeof(float)) {
        assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_EARG);
    }
    /* neighbours that only touch are fine, and so are inputs upon each other */
    r.args = good;
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
    r.args.v = r.args.k;
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
    free(before);
    rig_free(&r);
}

/* The extent of a strided output is what counts, also with strides below zero. */
static void overlap_follows_the_strides(void **state)
{
    (void)state;
    qkv_params p = rig_params();
    for (int i = 0; i < 3; i++) p.out.stride[i] = -p.out.stride[i];
    rig r = rig_new(&p);
    const int reach = NOUT - DV; /* element 0 lies in the last row */
    r.args.out = r.arena + AT_OUT + reach;
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
    r.args.out = r.arena + AT_OUT + reach - 1; /* now row -1 touches v */
    assert_run(&r, QKV_EARG, "args.out");
    r.args.out = r.arena + AT_OUT + reach + 1; /* now the last channel is lse[0] */
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_EARG);
    rig_free(&r);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void the_cancel_flag_stops(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    int32_t flag = 1;
    r.args.cancel = &flag;
    assert_run(&r, QKV_ESTOPPED, "args.cancel");
    flag = -5;
    assert_run(&r, QKV_ESTOPPED, "args.cancel");
    flag = 0;
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
    qkv_params ref = rig_params();
    ref.isa = QKV_ISA_REFERENCE;
    rig s = rig_new(&ref);
    flag = 1;
    s.args.cancel = &flag;
    assert_run(&s, QKV_ESTOPPED, "args.cancel");
    rig_free(&s);
    rig_free(&r);
}

typedef struct watcher {
    int calls, stop_at;
    int32_t last_stage;
    int32_t *cancel;
} watcher;

static int watch(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                 const void *x, int64_t n)
{
    watcher *const w = ctx;
    (void)batch, (void)head, (void)row, (void)key;
    assert_non_null(x);
    assert_true(n > 0);
    w->last_stage = stage;
    if (w->cancel != NULL) *w->cancel = 1;
    return ++w->calls == w->stop_at ? 7 : 0;
}

static void a_tap_stops(void **state)
{
    (void)state;
    static const int32_t isas[2] = {QKV_ISA_BEST, QKV_ISA_REFERENCE};
    for (int i = 0; i < 2; i++) {
        qkv_params p = rig_params();
        p.isa = isas[i];
        rig r = rig_new(&p);
        for (int stop = 1; stop < 6; stop++) {
            watcher w = {0, stop, 0, NULL};
            qkv_tap tap = qkv_tap_init();
            tap.row = watch;
            tap.ctx = &w;
            tap.stages = 1u << QKV_STAGE_SCALED | 1u << QKV_STAGE_WEIGHT;
            r.args.tap = &tap;
            qkv_error e = qkv_error_init();
            assert_int_equal(qkv_run(r.plan, &r.args, &e), QKV_ESTOPPED);
            assert_int_equal(w.calls, stop); /* not one call more */
            assert_string_equal(e.arg, "args.tap");
        }
        /* a flag that the tap itself raises is seen at the next tile */
        int32_t flag = 0;
        watcher w = {0, -1, 0, &flag};
        qkv_tap tap = qkv_tap_init();
        tap.row = watch;
        tap.ctx = &w;
        tap.stages = 1u << QKV_STAGE_WEIGHT;
        r.args.tap = &tap;
        r.args.cancel = &flag;
        assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_ESTOPPED);
        assert_true(w.calls < NLSE);
        rig_free(&r);
    }
}

static void a_wrong_tap_is_refused(void **state)
{
    (void)state;
    const qkv_params p = rig_params();
    rig r = rig_new(&p);
    qkv_tap tap = qkv_tap_init();
    r.args.tap = &tap;
    tap.stages = 1u << QKV_STAGE_WEIGHT;
    assert_run(&r, QKV_EARG, "args.tap.row");
    tap.row = watch;
    /* score, masked and out come from the reference only; the last three from nowhere */
    static const uint32_t refused[] = {1u << 1, 1u << 3, 1u << 5, 1u, 1u << 6, 1u << 31};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        tap.stages = refused[i];
        qkv_error e = qkv_error_init();
        const qkv_status s = qkv_run(r.plan, &r.args, &e);
        assert_true(s == QKV_EARG || s == QKV_EUNSUPPORTED);
        assert_string_equal(e.arg, "args.tap.stages");
        assert_non_null(strstr(e.text, "args.tap.stages"));
    }
    assert_true(untouched(&r));
    rig_free(&r);
}

static void an_executor_that_skips_is_noticed(void **state)
{
    (void)state;
    int32_t isa[8];
    const int n = usable_isas(isa);
    for (int i = 0; i <= n; i++) {
        /* many rows, so that there is more than one task */
        prob p = prob_new(QKV_F32, 2, 4, 2, 130, 40, 8, 8);
        prob_gen(&p, 1, 2, 3);
        const int32_t id = i < n ? isa[i] : QKV_ISA_REFERENCE;
        answer whole = prob_run(&p, (how){.isa = id, .threads = 3, .exec = EXEC_SERIAL});
        if (id != QKV_ISA_REFERENCE) assert_true(whole.tasks >= 2);
        answer a = prob_try(&p, (how){.isa = id, .threads = 3, .exec = EXEC_SKIP_ALL});
        assert_int_equal(a.status, QKV_ESTOPPED);
        assert_string_equal(a.err.arg, "args.threads");
        answer_free(&a);
        a = prob_try(&p, (how){.isa = id, .threads = 3, .exec = EXEC_SKIP_LAST});
        assert_int_equal(a.status, QKV_ESTOPPED);
        assert_string_equal(a.err.arg, "args.threads");
        answer_free(&a);
        /* an index run twice, one after the other, finds nothing left to do or is refused */
        a = prob_try(&p, (how){.isa = id, .threads = 3, .exec = EXEC_TWICE});
        if (a.status == QKV_OK) {
            assert_same_answer(&whole, &a, "each index twice, isa %d", (int)id);
        } else {
            assert_int_equal(a.status, QKV_ESTOPPED);
        }
        answer_free(&a);
        answer_free(&whole);
        prob_free(&p);
    }
}

/* A pointer whose feature the plan does not have would be passed over in silence. */
static void what_nobody_would_look_at_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arg;
        size_t offset;
    } unused[] = {{"args.kv_len", offsetof(qkv_run_args, kv_len)},
                  {"args.q_len", offsetof(qkv_run_args, q_len)},
                  {"args.kv_start", offsetof(qkv_run_args, kv_start)},
                  {"args.q_offset", offsetof(qkv_run_args, q_offset)},
                  {"args.cu_q", offsetof(qkv_run_args, cu_q)},
                  {"args.cu_k", offsetof(qkv_run_args, cu_k)},
                  {"args.mask", offsetof(qkv_run_args, mask)},
                  {"args.bias", offsetof(qkv_run_args, bias)},
                  {"args.slopes", offsetof(qkv_run_args, slopes)},
                  {"args.sinks", offsetof(qkv_run_args, sinks)},
                  {"args.rule", offsetof(qkv_run_args, rule)},
                  {"args.key_sums", offsetof(qkv_run_args, key_sums)}};
    static double something[64];
    const void *const given = something;
    qkv_params p = rig_params();
    rig r = rig_new(&p);
    const qkv_run_args good = r.args;
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++) {
        r.args = good;
        memcpy((char *)&r.args + unused[i].offset, &given, sizeof given);
        const qkv_error e = assert_run(&r, QKV_EARG, unused[i].arg);
        assert_non_null(strstr(e.text, "QKV_USE_"));
    }
    assert_true(untouched(&r));
    rig_free(&r);
    p.use = QKV_USE_ALIBI;
    p.alibi_max_bias = 8; /* two answers to one question */
    r = rig_new(&p);
    r.args.slopes = something;
    assert_run(&r, QKV_EARG, "args.slopes");
    r.args.slopes = NULL;
    assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
    rig_free(&r);
}

/* Padding that reaches beyond the keys leaves none: empty rows. */
static void padding_beyond_the_keys_leaves_none(void **state)
{
    (void)state;
    static const int64_t start[B] = {4, 0}, length[B] = {2, SK};
    static const int32_t align[2] = {QKV_ALIGN_OFFSET, QKV_ALIGN_BOTTOM_RIGHT};
    for (int i = 0; i < 2; i++) {
        qkv_params p = rig_params();
        p.use = QKV_USE_KV_START | QKV_USE_KV_LEN | QKV_USE_CAUSAL;
        p.align = align[i];
        rig r = rig_new(&p);
        r.args.kv_start = start;
        r.args.kv_len = length;
        assert_int_equal(qkv_run(r.plan, &r.args, NULL), QKV_OK);
        for (int n = 0; n < NLSE / B; n++) assert_true(r.arena[AT_LSE + n] == -(float)INFINITY);
        for (int n = 0; n < NOUT / B; n++) assert_true(is_plus_zero(r.arena + AT_OUT, QKV_F32, n));
        assert_true(r.arena[AT_LSE + NLSE - 1] > -(float)INFINITY);
        rig_free(&r);
    }
}

static void partial_arguments_are_checked(void **state)
{
    (void)state;
    prob q = prob_new(QKV_F32, 1, 1, 1, 2, 10000, 4, 4);
    prob_gen(&q, 1, 2, 3);
    const qkv_params p = prob_params(&q, (how){0});
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
    qkv_run_args a = qkv_run_args_init();
    a.q = q.q;
    a.k = q.k;
    a.v = q.v;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    static const int64_t bad[][2] = {{-4096, 4096}, {1, 4096},      {0, 4095},
                                     {4096, 0},     {0, 12288},     {4096, 10001},
                                     {128, 4096},   {INT64_MIN, 0}, {0, INT64_MAX}};
    char *const data = malloc(65536);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        qkv_partial part = qkv_partial_init();
        part.key_begin = bad[i][0];
        part.key_end = bad[i][1];
        part.data = data;
        part.data_size = 65536;
        qkv_error e = qkv_error_init();
        const qkv_status s = qkv_run_partial(plan, &a, &part, &e);
        if (s != QKV_EARG)
            fail_msg("keys %lld..%lld: %s", (long long)bad[i][0], (long long)bad[i][1],
                     qkv_status_name(s));
        if (strncmp(e.arg, "part.key_", 9) != 0) fail_msg("%s", e.text);
        assert_non_null(strstr(e.text, e.arg));
        assert_int_equal(qkv_partial_size(plan, bad[i][0], bad[i][1]), 0);
    }
    qkv_partial part = qkv_partial_init();
    part.key_end = 8192;
    part.data = data;
    const size_t need = qkv_partial_size(plan, 0, 8192);
    assert_int_equal(need, 2 * (2 + 4) * sizeof(float)); /* one node a row: m, l, o[4] */
    part.data_size = need - 1;
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_EWORKSPACE);
    assert_string_equal(e.arg, "part.data_size");
    assert_int_equal(e.got, need - 1);
    assert_int_equal(e.want, need);
    part.data_size = need;
    part.data = NULL;
    assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_EARG);
    assert_string_equal(e.arg, "part.data");
    part.data = data;
    part.reserved = 1;
    assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_EARG);
    assert_string_equal(e.arg, "part.reserved");
    part.reserved = 0;
    part.size = 8;
    assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_EABI);
    assert_string_equal(e.arg, "part.size");
    assert_int_equal(qkv_run_partial(plan, &a, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "part");
    part.size = (uint32_t)sizeof part;
    memset(data, 0x5A, 65536);
    assert_int_equal(qkv_run_partial(plan, &a, &part, &e), QKV_OK);
    for (size_t i = need; i < 65536; i++) assert_int_equal(data[i], 0x5A);
    /* finish: one part does not cover the keys; the same part twice does not either */
    float out[8], lse[2];
    memset(out, 0x5A, sizeof out);
    a.out = out;
    a.lse = lse;
    assert_int_equal(qkv_partial_finish(plan, &a, &part, 1, &e), QKV_EARG);
    const qkv_partial twice[2] = {part, part};
    assert_int_equal(qkv_partial_finish(plan, &a, twice, 2, &e), QKV_EARG);
    assert_non_null(strstr(e.text, "parts"));
    assert_int_equal(qkv_partial_finish(plan, &a, NULL, 2, &e), QKV_EARG);
    assert_string_equal(e.arg, "parts");
    assert_int_equal(qkv_partial_finish(plan, &a, &part, -1, &e), QKV_EARG);
    assert_string_equal(e.arg, "nparts");
    assert_int_equal(qkv_partial_finish(plan, &a, &part, 0, &e), QKV_EARG);
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((char *)out)[i], 0x5A);
    free(data);
    free(a.workspace);
    qkv_plan_destroy(plan);
    prob_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_run_works_and_writes_no_error),
        cmocka_unit_test(missing_pointers_are_refused),
        cmocka_unit_test(workspace_is_checked),
        cmocka_unit_test(bad_threads_are_refused),
        cmocka_unit_test(overlapping_memory_is_refused),
        cmocka_unit_test(overlap_follows_the_strides),
        cmocka_unit_test(the_cancel_flag_stops),
        cmocka_unit_test(a_tap_stops),
        cmocka_unit_test(a_wrong_tap_is_refused),
        cmocka_unit_test(an_executor_that_skips_is_noticed),
        cmocka_unit_test(what_nobody_would_look_at_is_refused),
        cmocka_unit_test(padding_beyond_the_keys_leaves_none),
        cmocka_unit_test(partial_arguments_are_checked),
    };
    return cmocka_run_group_tests_name("run_errors", tests, NULL, NULL);
}
