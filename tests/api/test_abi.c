/* SPDX-License-Identifier: MIT */
/* test_abi.c - what a program compiled against another version of the header relies on: numbers that
 * never change, sizes of structs, and the growth rule (older and smaller: widened with zeros; newer
 * and larger: accepted when the part we do not know is zero).
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

static void numbers_are_pinned(void **state)
{
    (void)state;
    assert_int_equal(QKV_OK, 0);
    assert_int_equal(QKV_EARG, -1);
    assert_int_equal(QKV_ESHAPE, -2);
    assert_int_equal(QKV_EUNSUPPORTED, -3);
    assert_int_equal(QKV_ENOMEM, -4);
    assert_int_equal(QKV_EWORKSPACE, -5);
    assert_int_equal(QKV_EABI, -9);
    assert_int_equal(QKV_ESTOPPED, -10);
    assert_int_equal(QKV_F32, 1);
    assert_int_equal(QKV_F64, 4);
    assert_int_equal(QKV_ISA_REFERENCE, -1);
    assert_int_equal(QKV_ISA_BEST, 0);
    assert_int_equal(QKV_ISA_SCALAR, 1);
    assert_int_equal(QKV_ISA_WIDE16, 2);
    assert_int_equal(QKV_ISA_AVX2, 3);
    assert_int_equal(QKV_ISA_AVX512, 4);
    assert_int_equal(QKV_ISA_NEON, 5);
    assert_int_equal(QKV_USE_SCALE, 1);
    assert_int_equal(QKV_USE_CAUSAL, 2);
    assert_int_equal(QKV_STAGE_SCORE, 1);
    assert_int_equal(QKV_STAGE_SCALED, 2);
    assert_int_equal(QKV_STAGE_MASKED, 3);
    assert_int_equal(QKV_STAGE_WEIGHT, 4);
    assert_int_equal(QKV_STAGE_OUT, 5);
    assert_int_equal(QKV_PROBE_FMA_F32, 1);
    assert_int_equal(QKV_PROBE_FMA_F64, 2);
    assert_int_equal(QKV_PROBE_READ, 3);
    assert_int_equal(QKV_PARTIAL_KEYS, 4096);
}

static void structs_have_their_sizes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(void *), 8);     /* the supported machines */
    assert_int_equal(sizeof(qkv_shape), 72); /* frozen */
    assert_int_equal(sizeof(qkv_error), 256);
    assert_int_equal(offsetof(qkv_error, text), 72);
    assert_int_equal(sizeof(qkv_allocator), 32);
    assert_int_equal(sizeof(qkv_threads), 24);
    assert_int_equal(sizeof(qkv_params), 544);
    assert_int_equal(offsetof(qkv_params, q), 16);
    assert_int_equal(offsetof(qkv_params, scale), 304);
    assert_int_equal(offsetof(qkv_params, max_threads), 320);
    assert_int_equal(sizeof(qkv_tap), 24);
    assert_int_equal(sizeof(qkv_run_args), 224);
    assert_int_equal(offsetof(qkv_run_args, q), 8);
    assert_int_equal(offsetof(qkv_run_args, workspace), 48);
    assert_int_equal(offsetof(qkv_run_args, tap), 80);
    assert_int_equal(sizeof(qkv_partial), 40);
    assert_int_equal(sizeof(qkv_probe_args), 48);
    assert_int_equal(sizeof(qkv_status), 4);
}

static void starting_values_are_zero_but_for_the_size(void **state)
{
    (void)state;
    qkv_params p = qkv_params_init();
    assert_int_equal(p.size, sizeof p);
    p.size = 0;
    for (size_t i = 0; i < sizeof p; i++) assert_int_equal(((unsigned char *)&p)[i], 0);
    assert_int_equal(qkv_error_init().size, sizeof(qkv_error));
    assert_int_equal(qkv_allocator_init().size, sizeof(qkv_allocator));
    assert_int_equal(qkv_threads_init().size, sizeof(qkv_threads));
    assert_int_equal(qkv_tap_init().size, sizeof(qkv_tap));
    assert_int_equal(qkv_run_args_init().size, sizeof(qkv_run_args));
    assert_int_equal(qkv_partial_init().size, sizeof(qkv_partial));
    assert_int_equal(qkv_probe_args_init().size, sizeof(qkv_probe_args));
}

static void the_library_says_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(qkv_version(),
                     QKV_VERSION_MAJOR << 16 | QKV_VERSION_MINOR << 8 | QKV_VERSION_PATCH);
    assert_int_equal(qkv_contract(), 1);
    assert_string_equal(qkv_status_name(QKV_OK), "QKV_OK");
    assert_string_equal(qkv_status_name(QKV_EARG), "QKV_EARG");
    assert_string_equal(qkv_status_name(QKV_ESHAPE), "QKV_ESHAPE");
    assert_string_equal(qkv_status_name(QKV_EUNSUPPORTED), "QKV_EUNSUPPORTED");
    assert_string_equal(qkv_status_name(QKV_ENOMEM), "QKV_ENOMEM");
    assert_string_equal(qkv_status_name(QKV_EWORKSPACE), "QKV_EWORKSPACE");
    assert_string_equal(qkv_status_name(QKV_EABI), "QKV_EABI");
    assert_string_equal(qkv_status_name(QKV_ESTOPPED), "QKV_ESTOPPED");
    static const int unknown[] = {1, -6, -7, -8, -11, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_string_equal(qkv_status_name((qkv_status)unknown[i]), "unknown status");
    }
}

static void kernels_are_listed(void **state)
{
    (void)state;
    static const struct {
        int32_t id;
        const char *name;
    } known[] = {{1, "scalar"}, {2, "wide16"}, {3, "avx2"}, {4, "avx512"}, {5, "neon"}};
    const int32_t n = qkv_isa_count();
    assert_in_range(n, 2, 4); /* scalar and wide16 everywhere */
    assert_int_equal(qkv_isa_id(-1), 0);
    assert_int_equal(qkv_isa_id(n), 0);
    assert_int_equal(qkv_isa_id(INT32_MAX), 0);
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = qkv_isa_id(i);
        assert_in_range(id, 1, 5);
        assert_string_equal(qkv_isa_name(id), known[id - 1].name);
        for (int32_t j = 0; j < i; j++) assert_int_not_equal(id, qkv_isa_id(j));
    }
    assert_int_equal(qkv_isa_usable(QKV_ISA_SCALAR), 1);
    assert_int_equal(qkv_isa_usable(QKV_ISA_WIDE16), 1);
    assert_null(qkv_isa_name(99));
    assert_null(qkv_isa_name(INT32_MIN));
    assert_int_equal(qkv_isa_usable(99), 0);
    assert_int_equal(qkv_isa_usable(-7), 0);
}

/* ---- growth --------------------------------------------------------------------------------- */

typedef struct newer_params {
    qkv_params known;
    unsigned char later[64];
} newer_params;

static qkv_params small_params(void)
{
    qkv_params p = qkv_params_init();
    p.q = p.out = qkv_shape_dense(QKV_F32, 1, 1, 2, 4);
    p.k = p.v = qkv_shape_dense(QKV_F32, 1, 1, 3, 4);
    return p;
}

static qkv_status create_with(const qkv_params *p, qkv_error *e)
{
    qkv_plan *plan = NULL;
    *e = qkv_error_init();
    const qkv_status s = qkv_plan_create(&plan, p, NULL, e);
    assert_true((s == QKV_OK) == (plan != NULL));
    qkv_plan_destroy(plan);
    return s;
}

static void params_from_a_newer_program(void **state)
{
    (void)state;
    newer_params n;
    qkv_error e;
    memset(&n, 0, sizeof n);
    n.known = small_params();
    n.known.size = (uint32_t)sizeof n;
    assert_int_equal(create_with(&n.known, &e), QKV_OK);
    for (size_t i = 0; i < sizeof n.later; i += 21) {
        n.later[i] = 1;
        assert_int_equal(create_with(&n.known, &e), QKV_EABI);
        assert_string_equal(e.arg, "params.size");
        assert_int_equal(e.got, sizeof(qkv_params) + i); /* the byte; and how many are known */
        assert_int_equal(e.want, sizeof(qkv_params));
        n.later[i] = 0;
    }
    /* one byte more is a size that no version can have, or an acceptable tail of zero */
    n.known.size = (uint32_t)sizeof(qkv_params) + 1;
    n.later[0] = 7;
    assert_int_equal(create_with(&n.known, &e), QKV_EABI);
}

static void params_from_an_older_program(void **state)
{
    (void)state;
    qkv_error e;
    qkv_params p = small_params();
    /* The first version is the smallest that ever was: less is refused and nothing past size is
     * read, however little that is. */
    static const uint32_t sizes[] = {0, 1, 4, 8, 16, 72, 304, 327};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        p.size = sizes[i];
        assert_int_equal(create_with(&p, &e), QKV_EABI);
        assert_string_equal(e.arg, "params.size");
        assert_int_equal(e.got, sizes[i]);
    }
    p.size = 328; /* the first version: what came later counts as 0, whatever lies there */
    p.window_left = p.prefix = p.reserved2 = -77;
    assert_int_equal(create_with(&p, &e), QKV_OK);
    p.size = UINT32_MAX;
    /* size says 4 GiB: refused by the size alone, before a byte behind the struct is read */
    assert_int_equal(create_with(&p, &e), QKV_EABI);
}

/* Runs a small case through args of the given struct. */
static qkv_status run_with(const qkv_run_args *args, const qkv_threads *threads, const qkv_tap *tap,
                           qkv_error *e)
{
    static const float x[12];
    float out[8];
    const qkv_params p = small_params();
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
    union {
        qkv_run_args args;
        unsigned char bytes[256];
    } a;
    memset(&a, 0, sizeof a);
    memcpy(&a, args, args->size < sizeof a ? args->size : sizeof a);
    a.args.q = a.args.k = a.args.v = x;
    a.args.out = out;
    a.args.workspace = workspace_new(plan);
    a.args.workspace_size = qkv_plan_workspace(plan);
    a.args.threads = threads;
    a.args.tap = tap;
    *e = qkv_error_init();
    const qkv_status s = qkv_run(plan, &a.args, e);
    void *const ws = a.args.workspace;
    free(ws);
    qkv_plan_destroy(plan);
    return s;
}

typedef struct newer_args {
    qkv_run_args known;
    unsigned char later[32];
} newer_args;

static void run_args_of_other_versions(void **state)
{
    (void)state;
    newer_args n;
    qkv_error e;
    memset(&n, 0, sizeof n);
    n.known = qkv_run_args_init();
    assert_int_equal(run_with(&n.known, NULL, NULL, &e), QKV_OK);
    n.known.size = (uint32_t)sizeof n;
    assert_int_equal(run_with(&n.known, NULL, NULL, &e), QKV_OK);
    n.later[31] = 1;
    assert_int_equal(run_with(&n.known, NULL, NULL, &e), QKV_EABI);
    assert_string_equal(e.arg, "args.size");
    n.later[31] = 0;
    static const uint32_t sizes[] = {0, 4, 8, 16};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        n.known.size = sizes[i];
        assert_int_equal(run_with(&n.known, NULL, NULL, &e), QKV_EABI);
        assert_string_equal(e.arg, "args.size");
    }
}

static void serial_for(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    (void)ctx;
    for (int32_t i = 0; i < ntasks; i++) task(arg, i);
}

static int look(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                const void *x, int64_t n)
{
    (void)ctx, (void)stage, (void)batch, (void)head, (void)row, (void)key, (void)x, (void)n;
    return 0;
}

static void threads_and_taps_of_other_versions(void **state)
{
    (void)state;
    struct {
        qkv_threads known;
        unsigned char later[16];
    } t;
    struct {
        qkv_tap known;
        unsigned char later[16];
    } w;
    qkv_error e;
    memset(&t, 0, sizeof t);
    memset(&w, 0, sizeof w);
    t.known = qkv_threads_init();
    t.known.nthreads = 1;
    t.known.parallel_for = serial_for;
    w.known = qkv_tap_init();
    w.known.row = look;
    w.known.stages = 1u << QKV_STAGE_WEIGHT;
    const qkv_run_args args = qkv_run_args_init();
    assert_int_equal(run_with(&args, &t.known, &w.known, &e), QKV_OK);
    t.known.size = (uint32_t)sizeof t;
    w.known.size = (uint32_t)sizeof w;
    assert_int_equal(run_with(&args, &t.known, &w.known, &e), QKV_OK);
    t.later[5] = 1;
    assert_int_equal(run_with(&args, &t.known, NULL, &e), QKV_EABI);
    assert_string_equal(e.arg, "args.threads.size");
    t.later[5] = 0;
    w.later[5] = 1;
    assert_int_equal(run_with(&args, NULL, &w.known, &e), QKV_EABI);
    assert_string_equal(e.arg, "args.tap.size");
    w.later[5] = 0;
    t.known.size = w.known.size = 8;
    assert_int_equal(run_with(&args, &t.known, NULL, &e), QKV_EABI);
    assert_int_equal(run_with(&args, NULL, &w.known, &e), QKV_EABI);
    t.known.size = w.known.size = 0;
    assert_int_equal(run_with(&args, &t.known, NULL, &e), QKV_EABI);
    assert_int_equal(run_with(&args, NULL, &w.known, &e), QKV_EABI);
}

static void allocators_of_other_versions(void **state)
{
    (void)state;
    qkv_allocator a = qkv_allocator_init();
    const qkv_params p = small_params();
    qkv_plan *plan = NULL;
    qkv_pool *pool = NULL;
    static const uint32_t sizes[] = {0, 4, 8, 16};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        a.size = sizes[i];
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&plan, &p, &a, &e), QKV_EABI);
        assert_string_equal(e.arg, "alloc.size");
        assert_null(plan);
        assert_int_equal(qkv_pool_create(&pool, 2, &a, NULL), QKV_EABI);
        assert_null(pool);
    }
}

static void an_error_struct_of_another_version(void **state)
{
    (void)state;
    struct {
        qkv_error known;
        unsigned char later[32];
    } n;
    qkv_params p = small_params();
    qkv_plan *plan = NULL;
    p.k.dim[3] = 5;
    memset(&n, 0xEE, sizeof n);
    n.known.size = (uint32_t)sizeof n;
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, &n.known), QKV_ESHAPE);
    assert_int_equal(n.known.status, QKV_ESHAPE);
    assert_string_equal(n.known.arg, "params.k.dim[3]");
    for (size_t i = 0; i < sizeof n.later; i++) assert_int_equal(n.later[i], 0xEE);
    /* one that we cannot write to is not written to, and the caller's call still fails */
    static const uint32_t sizes[] = {0, 4, 8, 72, 255};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&n, 0xEE, sizeof n);
        n.known.size = sizes[i];
        assert_true(qkv_plan_create(&plan, &p, NULL, &n.known) < 0);
        assert_null(plan);
        for (size_t j = 4; j < sizeof n; j++) {
            assert_int_equal(((unsigned char *)&n)[j], 0xEE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pinned),
        cmocka_unit_test(structs_have_their_sizes),
        cmocka_unit_test(starting_values_are_zero_but_for_the_size),
        cmocka_unit_test(the_library_says_what_it_is),
        cmocka_unit_test(kernels_are_listed),
        cmocka_unit_test(params_from_a_newer_program),
        cmocka_unit_test(params_from_an_older_program),
        cmocka_unit_test(run_args_of_other_versions),
        cmocka_unit_test(threads_and_taps_of_other_versions),
        cmocka_unit_test(allocators_of_other_versions),
        cmocka_unit_test(an_error_struct_of_another_version),
    };
    return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
