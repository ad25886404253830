/* SPDX-License-Identifier: MIT */
/* test_plan_errors.c - everything that qkv_plan_create() refuses, one row a rule: the status, the
 * argument as the caller wrote it, its value, the bound, and a sentence that holds all three.
 *
 * Start is always a good set of params with one or two members changed; *plan must come back NULL
 * and nothing may be allocated for longer.
 */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { B = 2, HQ = 4, HKV = 2, SQ = 3, SK = 5, D = 8, DV = 6 };

static qkv_params good(void)
{
    qkv_params p = qkv_params_init();
    p.q = qkv_shape_dense(QKV_F32, B, HQ, SQ, D);
    p.k = qkv_shape_dense(QKV_F32, B, HKV, SK, D);
    p.v = qkv_shape_dense(QKV_F32, B, HKV, SK, DV);
    p.out = qkv_shape_dense(QKV_F32, B, HQ, SQ, DV);
    return p;
}

static void assert_sentence(const char *what, const qkv_error *e)
{
    const size_t n = strlen(e->text);
    if (n == 0 || n >= sizeof e->text - 1) fail_msg("%s: text of %zu bytes: %s", what, n, e->text);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)e->text[i] < 32) fail_msg("%s: control character in text", what);
    }
    if (strstr(e->text, e->arg) == NULL)
        fail_msg("%s: \"%s\" does not name %s", what, e->text, e->arg);
}

static void assert_holds_number(const char *what, const qkv_error *e, int64_t number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    if (strstr(e->text, digits) == NULL) fail_msg("%s: \"%s\" lacks %s", what, e->text, digits);
}

/* Bound in got and want, both visible in the sentence. */
static void assert_refused(const char *what, const qkv_params *p, qkv_status status,
                           const char *arg, int64_t got, int64_t want)
{
    qkv_error e = qkv_error_init();
    qkv_plan *plan = (qkv_plan *)(uintptr_t)64; /* must be overwritten */
    const qkv_status s = qkv_plan_create(&plan, p, NULL, &e);
    if (s != status || e.status != s) {
        fail_msg("%s: status %s, wanted %s; %s", what, qkv_status_name(s), qkv_status_name(status),
                 e.text);
    }
    assert_null(plan);
    if (strcmp(e.arg, arg) != 0)
        fail_msg("%s: arg \"%s\", wanted \"%s\"; %s", what, e.arg, arg, e.text);
    if (e.got != got || e.want != want) {
        fail_msg("%s: got %lld want %lld, wanted %lld and %lld; %s", what, (long long)e.got,
                 (long long)e.want, (long long)got, (long long)want, e.text);
    }
    assert_sentence(what, &e);
    assert_holds_number(what, &e, got);
    assert_holds_number(what, &e, want);
    /* the same without anyone to tell */
    plan = (qkv_plan *)(uintptr_t)64;
    assert_int_equal(qkv_plan_create(&plan, p, NULL, NULL), status);
    assert_null(plan);
}

static void good_params_are_accepted(void **state)
{
    (void)state;
    const qkv_params p = good();
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, &e), QKV_OK);
    assert_int_equal(e.status, 0); /* written only on failure */
    assert_int_equal(e.text[0], 0);
    qkv_plan_destroy(plan);
    qkv_plan_destroy(NULL);
}

/* One member set to one value. */
typedef struct rule {
    const char *name;
    size_t offset;
    int bytes;
    int64_t value;
    qkv_status status;
    const char *arg;
    int64_t want; /* got is the value */
} rule;

#define AT(member) offsetof(qkv_params, member)
#define R4(m, v, s, w)                                                                             \
    {                                                                                              \
#m " = " #v, AT(m), 4, v, s, "params." #m, w                                               \
    }
#define R8(m, v, s, w)                                                                             \
    {                                                                                              \
#m " = " #v, AT(m), 8, v, s, "params." #m, w                                               \
    }

static const rule rules[] = {
    R4(reserved, 1, QKV_EARG, 0),
    R4(reserved, -1, QKV_EARG, 0),
    R4(q.reserved, 1, QKV_EARG, 0),
    R4(k.reserved, 1, QKV_EARG, 0),
    R4(v.reserved, 1, QKV_EARG, 0),
    R4(out.reserved, 1, QKV_EARG, 0),
    R4(max_threads, -1, QKV_EARG, 1024),
    R4(max_threads, 1025, QKV_EARG, 1024),
    R4(max_threads, INT32_MIN, QKV_EARG, 1024),
    R4(reserved2, 1, QKV_EARG, 0),
    R4(align, -1, QKV_EARG, QKV_ALIGN_BOTTOM_RIGHT),
    R4(align, 3, QKV_EARG, QKV_ALIGN_BOTTOM_RIGHT),
    /* negative sizes */
    R8(q.dim[0], -1, QKV_EARG, 0),
    R8(q.dim[1], -1, QKV_EARG, 0),
    R8(q.dim[2], -1, QKV_EARG, 0),
    R8(q.dim[2], INT64_MIN, QKV_EARG, 0),
    R8(q.dim[3], -1, QKV_EARG, 1),
    R8(k.dim[0], -1, QKV_EARG, 0),
    R8(k.dim[1], -1, QKV_EARG, 0),
    R8(k.dim[2], -1, QKV_EARG, 0),
    R8(v.dim[3], -1, QKV_EARG, 0),
    R8(out.dim[3], -1, QKV_EARG, 0),
    /* d = 0: nothing to multiply */
    R8(q.dim[3], 0, QKV_EARG, 1),
    /* pairs that do not fit; C67 */
    R8(k.dim[0], 3, QKV_ESHAPE, B),
    R8(v.dim[0], 1, QKV_ESHAPE, B),
    R8(out.dim[0], 3, QKV_ESHAPE, B),
    R8(v.dim[1], 1, QKV_ESHAPE, HKV), /* C61: K and V of different head counts */
    R8(out.dim[1], 2, QKV_ESHAPE, HQ),
    R8(v.dim[2], 6, QKV_ESHAPE, SK),
    R8(v.dim[2], 4, QKV_ESHAPE, SK),
    R8(out.dim[2], 4, QKV_ESHAPE, SQ),
    R8(k.dim[3], 7, QKV_ESHAPE, D),
    R8(k.dim[3], 0, QKV_EARG, 1),
    R8(out.dim[3], 5, QKV_ESHAPE, DV),
    R8(out.dim[3], D, QKV_ESHAPE, DV),
    R4(k.dtype, QKV_F64, QKV_ESHAPE, QKV_F32),
    R4(v.dtype, QKV_F64, QKV_ESHAPE, QKV_F32),
    R4(v.dtype, 5, QKV_EUNSUPPORTED, QKV_F32),
    R4(out.dtype, 0, QKV_EUNSUPPORTED, QKV_F32),
};

static void each_rule_names_argument_value_and_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const rule *const r = &rules[i];
        qkv_params p = good();
        const int32_t narrow = (int32_t)r->value;
        memcpy((char *)&p + r->offset, r->bytes == 4 ? (const void *)&narrow : &r->value,
               (size_t)r->bytes);
        assert_refused(r->name, &p, r->status, r->arg, r->value, r->want);
    }
}

static void heads_that_do_not_divide_are_refused(void **state)
{
    (void)state; /* C60: (q heads, kv heads) */
    static const int64_t heads[][2] = {{3, 2}, {33, 2}, {2, 4}, {4, 0}, {4, 3}, {0, 3}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        const int64_t q = heads[i][0], kv = heads[i][1];
        qkv_params p = good();
        p.q = qkv_shape_dense(QKV_F32, B, q, SQ, D);
        p.k = qkv_shape_dense(QKV_F32, B, kv, SK, D);
        p.v = qkv_shape_dense(QKV_F32, B, kv, SK, DV);
        p.out = qkv_shape_dense(QKV_F32, B, q, SQ, DV);
        if (q == 0) { /* no query heads: any number of key heads divides nothing: empty */
            qkv_plan *plan = NULL;
            assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
            qkv_plan_destroy(plan);
            continue;
        }
        assert_refused("heads", &p, QKV_ESHAPE, "params.k.dim[1]", kv, q);
    }
}

static void unknown_types_are_refused(void **state)
{
    (void)state;
    static const int32_t types[] = {0, 5, 6, 99, -1};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        qkv_params p = good();
        p.q.dtype = p.k.dtype = p.v.dtype = p.out.dtype = types[i];
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        const qkv_status s = qkv_plan_create(&plan, &p, NULL, &e);
        assert_true(s == QKV_EARG || s == QKV_EUNSUPPORTED);
        assert_string_equal(e.arg, "params.q.dtype");
        assert_int_equal(e.got, types[i]);
        assert_sentence("dtype", &e);
        assert_holds_number("dtype", &e, types[i]);
    }
}

static void unknown_use_bits_are_refused(void **state)
{
    (void)state;
    for (int bit = 17; bit < 64; bit++) {
        qkv_params p = good();
        p.use = UINT64_C(1) << bit | QKV_USE_CAUSAL;
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, &e), QKV_EUNSUPPORTED);
        assert_null(plan);
        assert_string_equal(e.arg, "params.use");
        assert_sentence("use", &e);
        assert_true(e.got == (int64_t)p.use);
        assert_holds_number("use", &e, e.got);
    }
}

/* use bits, then one member that no longer fits them */
static void options_out_of_their_bounds_are_refused(void **state)
{
    (void)state;
    static const rule bounds[] = {
        R8(window_left, -2, QKV_EARG, -1),  R8(window_left, INT64_MIN, QKV_EARG, -1),
        R8(window_right, -2, QKV_EARG, -1), R8(prefix, -1, QKV_EARG, 0),
        R8(sequences, 0, QKV_EARG, 1),      R8(sequences, -5, QKV_EARG, 1),
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const rule *const r = &bounds[i];
        qkv_params p = good();
        memcpy((char *)&p + r->offset, &r->value, 8);
        /* without its bit nobody reads it */
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
        qkv_plan_destroy(plan);
        p.use = QKV_USE_WINDOW | QKV_USE_PREFIX;
        if (strstr(r->name, "sequences") != NULL) p.use |= QKV_USE_PACKED;
        assert_refused(r->name, &p, r->status, r->arg, r->value, r->want);
    }
    qkv_params p = good();
    p.use = QKV_USE_PACKED;
    p.sequences = 2; /* packed sequences lie in one batch */
    assert_refused("packed", &p, QKV_ESHAPE, "params.q.dim[0]", B, 1);
    p = good();
    p.use = QKV_USE_CAUSAL;
    p.align = QKV_ALIGN_BOTTOM_RIGHT;
    p.q_offset = 1;
    assert_refused("align", &p, QKV_ESHAPE, "params.align", QKV_ALIGN_BOTTOM_RIGHT, 0);
    p.q_offset = 0;
    p.use |= QKV_USE_Q_OFFSETS;
    assert_refused("align", &p, QKV_ESHAPE, "params.align", QKV_ALIGN_BOTTOM_RIGHT, 0);
    p = good();
    p.q = qkv_shape_dense(QKV_F32, 1, HQ, SQ, D);
    p.out = qkv_shape_dense(QKV_F32, 1, HQ, SQ, DV);
    p.k.dim[0] = p.v.dim[0] = 1;
    p.use = QKV_USE_PACKED;
    p.sequences = INT64_MAX; /* no memory holds their edges */
    assert_refused("sequences", &p, QKV_EARG, "params.sequences", INT64_MAX, INT64_MAX);
}

static void masks_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const rule bounds[] = {
        R8(mask.dim[0], 3, QKV_ESHAPE, B),
        R8(mask.dim[0], 0, QKV_ESHAPE, B),
        R8(mask.dim[1], HKV, QKV_ESHAPE, HQ),
        R8(mask.dim[2], SQ + 1, QKV_ESHAPE, SQ),
        R8(mask.dim[3], SK + 1, QKV_ESHAPE, SK),
        R8(mask.dim[3], -1, QKV_ESHAPE, SK),
        R4(mask.dtype, QKV_F32, QKV_EUNSUPPORTED, QKV_BOOL),
        R4(mask_drops, 2, QKV_EARG, 1),
        R4(mask_drops, -1, QKV_EARG, 1),
    };
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const rule *const r = &bounds[i];
        qkv_params p = good();
        const int32_t narrow = (int32_t)r->value;
        p.mask = qkv_shape_dense(QKV_BOOL, B, HQ, 1, SK);
        memcpy((char *)&p + r->offset, r->bytes == 4 ? (const void *)&narrow : &r->value,
               (size_t)r->bytes);
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK); /* nobody reads it */
        qkv_plan_destroy(plan);
        p.use = QKV_USE_MASK;
        assert_refused(r->name, &p, r->status, r->arg, r->value, r->want);
    }
    qkv_params p = good();
    p.use = QKV_USE_MASK;
    p.mask = qkv_shape_dense(QKV_BITS, 1, 1, 1, SK);
    p.mask.reserved = 9;
    assert_refused("mask", &p, QKV_EARG, "params.mask", 9, 0);
    p.mask = qkv_shape_dense(QKV_BITS, B, 1, SQ, SK);
    p.mask.stride[2] = INT64_MAX / 2;
    assert_refused("mask's strides", &p, QKV_EARG, "params.mask", INT64_MAX / 2, INT64_MAX);
}

static void what_is_added_has_bounds(void **state)
{
    (void)state;
    static const double caps[] = {
        0.0, -1, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e-40, 1e40, 1e300};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        qkv_params p = good();
        p.use = QKV_USE_SOFTCAP;
        p.softcap = caps[i];
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&(qkv_plan *){NULL}, &p, NULL, &e), QKV_EARG);
        assert_string_equal(e.arg, "params.softcap");
        assert_sentence("softcap", &e);
    }
    static const double biases[] = {-1, (double)NAN, (double)INFINITY, 1001};
    for (size_t i = 0; i < sizeof biases / sizeof biases[0]; i++) {
        qkv_params p = good();
        p.use = QKV_USE_ALIBI;
        p.alibi_max_bias = biases[i];
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&(qkv_plan *){NULL}, &p, NULL, &e), QKV_EARG);
        assert_string_equal(e.arg, "params.alibi_max_bias");
        assert_sentence("alibi", &e);
    }
    static const double drops[] = {-0.001, 1.001, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
        qkv_params p = good();
        p.use = QKV_USE_DROPOUT;
        p.dropout = drops[i];
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&(qkv_plan *){NULL}, &p, NULL, &e), QKV_EARG);
        assert_string_equal(e.arg, "params.dropout");
        assert_sentence("dropout", &e);
    }
    qkv_params p = good();
    p.use = QKV_USE_ALIBI;
    p.slopes_by_batch = 2;
    assert_refused("slopes", &p, QKV_EARG, "params.slopes_by_batch", 2, 1);
    p = good();
    p.use = QKV_USE_BIAS;
    p.bias = qkv_shape_dense(QKV_BOOL, B, HQ, SQ, SK);
    assert_refused("bias", &p, QKV_EUNSUPPORTED, "params.bias.dtype", QKV_BOOL, QKV_F32);
    p.bias = qkv_shape_dense(QKV_BF16, B, HKV, SQ, SK);
    assert_refused("bias", &p, QKV_ESHAPE, "params.bias.dim[1]", HKV, HQ);
    p.bias = qkv_shape_dense(QKV_F64, B, HQ, SQ, SK + 3);
    assert_refused("bias", &p, QKV_ESHAPE, "params.bias.dim[3]", SK + 3, SK);
}

static void kernels_that_are_not_there_are_refused(void **state)
{
    (void)state;
    static const int32_t unknown[] = {6, 99, -2, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        qkv_params p = good();
        p.isa = unknown[i];
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        const qkv_status s = qkv_plan_create(&plan, &p, NULL, &e);
        assert_true(s == QKV_EARG || s == QKV_EUNSUPPORTED);
        assert_string_equal(e.arg, "params.isa");
        assert_int_equal(e.got, unknown[i]);
        assert_sentence("isa", &e);
        assert_holds_number("isa", &e, unknown[i]);
    }
    for (int32_t isa = QKV_ISA_SCALAR; isa <= QKV_ISA_NEON; isa++) {
        qkv_params p = good();
        p.isa = isa;
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        const qkv_status s = qkv_plan_create(&plan, &p, NULL, &e);
        assert_int_equal(s, qkv_isa_usable(isa) ? QKV_OK : QKV_EUNSUPPORTED);
        if (s != QKV_OK) assert_string_equal(e.arg, "params.isa");
        qkv_plan_destroy(plan);
    }
}

static void assert_scale(double scale, bool accepted, int32_t dtype)
{
    qkv_params p = good();
    p.q.dtype = p.k.dtype = p.v.dtype = p.out.dtype = dtype;
    p.use = QKV_USE_SCALE;
    p.scale = scale;
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    const qkv_status s = qkv_plan_create(&plan, &p, NULL, &e);
    if (accepted != (s == QKV_OK)) fail_msg("scale %a of type %d: %s", scale, (int)dtype, e.text);
    if (!accepted) {
        assert_int_equal(s, QKV_EARG);
        assert_string_equal(e.arg, "params.scale");
        assert_sentence("scale", &e);
        assert_null(plan);
    }
    qkv_plan_destroy(plan);
    /* without the bit the member is not read; another type of run does not mind */
    p.use = 0;
    assert_int_equal(qkv_plan_create(&plan, &p, NULL, &e), QKV_OK);
    qkv_plan_destroy(plan);
}

static void the_scale_must_be_usable(void **state)
{
    (void)state;
    const double log2e = 1.4426950408889634;
    for (int i = 0; i < 2; i++) {
        const int32_t dtype = i ? QKV_F64 : QKV_F32;
        const double tiny = i ? 0x1p-1022 : 0x1p-126; /* the smallest normal */
        const double huge = i ? 0x1.fffffffffffffp+1023 : 0x1.fffffep+127;
        assert_scale((double)NAN, false, dtype);
        assert_scale((double)INFINITY, false, dtype);
        assert_scale(-(double)INFINITY, false, dtype);
        assert_scale(0.0, true, dtype);
        assert_scale(-0.0, true, dtype);
        assert_scale(-1.0, true, dtype);
        assert_scale(tiny, true, dtype);
        assert_scale(tiny / log2e * 1.0000001, true, dtype); /* f is just normal */
        assert_scale(tiny / log2e * 0.9999, false, dtype);   /* f is subnormal */
        assert_scale(-tiny / log2e * 0.9999, false, dtype);
        assert_scale(tiny * 0x1p-20, false, dtype);
        assert_scale(huge / log2e * 0.9999999, true, dtype); /* f is just finite */
        assert_scale(huge, false, dtype);                    /* f is infinite */
    }
    /* so small that f is 0 in float32: zero is fine, as a scale of 0 is */
    assert_scale(1e-60, true, QKV_F32);
    assert_scale(1e-60, true, QKV_F64);
}

static void the_row_offset_has_a_bound(void **state)
{
    (void)state;
    const int64_t bound = INT64_C(1) << 62;
    static const int sign[2] = {1, -1};
    for (int i = 0; i < 2; i++) {
        qkv_params p = good();
        p.use = QKV_USE_CAUSAL;
        p.q_offset = sign[i] * bound;
        qkv_plan *plan = NULL;
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, NULL), QKV_OK);
        qkv_plan_destroy(plan);
        p.q_offset += sign[i];
        qkv_error e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&plan, &p, NULL, &e), QKV_EARG);
        assert_string_equal(e.arg, "params.q_offset");
        assert_true(e.got == p.q_offset);
        assert_sentence("q_offset", &e);
        assert_holds_number("q_offset", &e, p.q_offset);
    }
    qkv_params p = good();
    p.use = QKV_USE_CAUSAL;
    p.q_offset = INT64_MIN;
    assert_int_equal(qkv_plan_create(&(qkv_plan *){NULL}, &p, NULL, NULL), QKV_EARG);
    p.use = 0; /* it has no bit of its own: a bound is a bound */
    assert_int_equal(qkv_plan_create(&(qkv_plan *){NULL}, &p, NULL, NULL), QKV_EARG);
}

static void sizes_beyond_64_bits_are_refused(void **state)
{
    (void)state; /* C45 */
    qkv_params p = good();
    const int64_t big = INT64_C(1) << 31, len = INT64_C(1) << 20;
    qkv_shape *const s[4] = {&p.q, &p.k, &p.v, &p.out};
    for (int i = 0; i < 4; i++) {
        s[i]->dim[0] = s[i]->dim[1] = big;
        s[i]->dim[2] = len;
        memset(s[i]->stride, 0, sizeof s[i]->stride);
    }
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    qkv_status st = qkv_plan_create(&plan, &p, NULL, &e);
    assert_true(st == QKV_EARG || st == QKV_ESHAPE);
    assert_null(plan);
    assert_sentence("C45", &e);
    /* 2^31 keys at a distance of 2^33 elements: 2^64 elements from first to last */
    p = good();
    p.k.dim[2] = p.v.dim[2] = big;
    p.k.stride[2] = INT64_C(1) << 33;
    p.v.stride[2] = 0;
    e = qkv_error_init();
    st = qkv_plan_create(&plan, &p, NULL, &e);
    assert_true(st == QKV_EARG || st == QKV_ESHAPE);
    assert_non_null(strstr(e.arg, "params.k"));
    assert_sentence("stride", &e);
    /* INT64_MIN has no absolute value */
    for (int i = 0; i < 4; i++) {
        p = good();
        qkv_shape *const t[4] = {&p.q, &p.k, &p.v, &p.out};
        t[i]->stride[2] = INT64_MIN;
        e = qkv_error_init();
        st = qkv_plan_create(&plan, &p, NULL, &e);
        assert_true(st == QKV_EARG || st == QKV_ESHAPE);
        assert_sentence("stride", &e);
    }
    /* with strides of zero a tensor of 2^40 elements lies in one float: that is fine */
    p = good();
    p.k.dim[2] = p.v.dim[2] = INT64_C(1) << 40;
    memset(p.k.stride, 0, sizeof p.k.stride);
    memset(p.v.stride, 0, sizeof p.v.stride);
    e = qkv_error_init();
    if (qkv_plan_create(&plan, &p, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    assert_true(qkv_plan_workspace(plan) < (size_t)2 << 20);
    qkv_plan_destroy(plan);
}

/* Sizes of 0 make tensors empty, not the arrays beside them. */
static void arrays_beside_empty_tensors_are_counted(void **state)
{
    (void)state;
    const int64_t huge = INT64_C(1) << 62;
    for (int w = 0; w < 4; w++) {
        qkv_params p = good();
        qkv_shape *const s[4] = {&p.q, &p.k, &p.v, &p.out};
        for (int i = 0; i < 4; i++) memset(s[i]->stride, 0, sizeof s[i]->stride);
        p.out.stride[3] = 1;
        p.use = w == 0 ? QKV_USE_SINK : w == 1 ? QKV_USE_ALIBI : QKV_USE_KEY_SUMS;
        p.q.dim[0] = p.k.dim[0] = p.v.dim[0] = p.out.dim[0] = w == 2;
        p.q.dim[1] = p.out.dim[1] = w == 3 ? 1 : huge / (w == 2 ? 4 : 1);
        p.k.dim[1] = p.v.dim[1] = 1;
        p.q.dim[2] = p.out.dim[2] = w == 3;
        if (w == 3) {
            p.q.dim[0] = p.k.dim[0] = p.v.dim[0] = p.out.dim[0] = 1;
            p.k.dim[2] = p.v.dim[2] = huge / 4;
            p.v.dim[3] = p.out.dim[3] = 0;
        }
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        const qkv_status st = qkv_plan_create(&plan, &p, NULL, &e);
        if (st != QKV_EARG) fail_msg("%d: %s %s", w, qkv_status_name(st), e.text);
        assert_null(plan);
        assert_sentence("arrays", &e);
    }
}

static void outputs_whose_elements_meet_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t stride[4];
        bool accepted;
    } s[] = {
        {"dense", {72, 18, 6, 1}, true},       {"permuted", {72, 1, 24, 4}, true},
        {"negative", {-72, 18, -6, 1}, true},  {"padded", {1000, 100, 10, 1}, true},
        {"channel 0", {72, 18, 6, 0}, false},  {"row 0", {72, 18, 0, 1}, false},
        {"head 0", {72, 0, 6, 1}, false},      {"batch 0", {0, 18, 6, 1}, false},
        {"rows meet", {72, 18, 5, 1}, false},  {"rows meet backwards", {72, 18, -5, 1}, false},
        {"heads meet", {72, 12, 6, 1}, false}, {"batches meet", {71, 18, 6, 1}, false},
    };
    for (size_t i = 0; i < sizeof s / sizeof s[0]; i++) {
        qkv_params p = good();
        memcpy(p.out.stride, s[i].stride, sizeof p.out.stride);
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        const qkv_status st = qkv_plan_create(&plan, &p, NULL, &e);
        if ((st == QKV_OK) != s[i].accepted) fail_msg("%s: %s", s[i].name, e.text);
        if (!s[i].accepted) {
            assert_int_equal(st, QKV_EARG);
            assert_non_null(strstr(e.arg, "params.out.stride"));
            assert_sentence(s[i].name, &e);
        }
        qkv_plan_destroy(plan);
    }
    /* a dimension of size 1 has no stride that matters: C74 */
    qkv_params p = good();
    p.q.dim[0] = p.k.dim[0] = p.v.dim[0] = p.out.dim[0] = 1;
    static const int64_t nonsense[] = {INT64_MAX, INT64_MIN, 0, -7};
    for (size_t i = 0; i < 4; i++) {
        p.q.stride[0] = p.k.stride[0] = p.v.stride[0] = p.out.stride[0] = nonsense[i];
        qkv_error e = qkv_error_init();
        qkv_plan *plan = NULL;
        if (qkv_plan_create(&plan, &p, NULL, &e) != QKV_OK) fail_msg("C74: %s", e.text);
        qkv_plan_destroy(plan);
    }
}

static void missing_pointers_are_refused(void **state)
{
    (void)state;
    const qkv_params p = good();
    qkv_plan *plan = NULL;
    qkv_error e = qkv_error_init();
    assert_int_equal(qkv_plan_create(NULL, &p, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "plan");
    assert_sentence("plan", &e);
    e = qkv_error_init();
    plan = (qkv_plan *)(uintptr_t)64;
    assert_int_equal(qkv_plan_create(&plan, NULL, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "params");
    assert_null(plan);
    assert_int_equal(qkv_plan_create(NULL, NULL, NULL, NULL), QKV_EARG);
    /* an allocator without its functions */
    for (int i = 0; i < 3; i++) {
        qkv_allocator a = qkv_allocator_init();
        if (i == 1) a.alloc = (void *(*)(void *, size_t, size_t))(uintptr_t)1;
        if (i == 2) a.release = (void (*)(void *, void *, size_t))(uintptr_t)1;
        e = qkv_error_init();
        assert_int_equal(qkv_plan_create(&plan, &p, &a, &e), QKV_EARG);
        assert_non_null(strstr(e.arg, "alloc"));
        assert_sentence("allocator", &e);
    }
    /* questions about nothing are answered with nothing */
    assert_int_equal(qkv_plan_workspace(NULL), 0);
    char text[8] = "xxxxxxx";
    assert_int_equal(qkv_plan_describe(NULL, text, sizeof text), 0);
    assert_int_equal(qkv_partial_size(NULL, 0, 4096), 0);
}

static void placing_a_plan_checks_the_memory(void **state)
{
    (void)state;
    const qkv_params p = good();
    const size_t need = qkv_plan_size();
    assert_in_range(need, 1, 65536);
    static _Alignas(64) unsigned char mem[65536 + 64];
    qkv_plan *plan = NULL;
    qkv_error e = qkv_error_init();
    memset(mem, 0xA5, sizeof mem);
    assert_int_equal(qkv_plan_place(&plan, mem, need, &p, &e), QKV_OK);
    assert_non_null(plan);
    assert_true((unsigned char *)plan >= mem && (unsigned char *)plan < mem + need);
    for (size_t i = need; i < sizeof mem; i++) assert_int_equal(mem[i], 0xA5);

    assert_int_equal(qkv_plan_place(&plan, mem, need - 1, &p, &e), QKV_EWORKSPACE);
    assert_null(plan);
    assert_string_equal(e.arg, "mem_size");
    assert_int_equal(e.got, need - 1);
    assert_int_equal(e.want, need);
    assert_sentence("mem_size", &e);
    assert_holds_number("mem_size", &e, (int64_t)need);
    for (size_t shift = 1; shift < 64; shift += shift) {
        e = qkv_error_init();
        assert_int_equal(qkv_plan_place(&plan, mem + shift, need, &p, &e), QKV_EWORKSPACE);
        assert_null(plan);
        assert_string_equal(e.arg, "mem");
        assert_sentence("mem", &e);
        assert_holds_number("mem", &e, 64);
    }
    e = qkv_error_init();
    assert_int_equal(qkv_plan_place(&plan, NULL, need, &p, &e), QKV_EARG);
    assert_string_equal(e.arg, "mem");
    e = qkv_error_init();
    assert_int_equal(qkv_plan_place(NULL, mem, need, &p, &e), QKV_EARG);
    assert_string_equal(e.arg, "plan");
    e = qkv_error_init();
    assert_int_equal(qkv_plan_place(&plan, mem, need, NULL, &e), QKV_EARG);
    assert_string_equal(e.arg, "params");
    /* a refused shape is refused here too, with the function's own name */
    qkv_params bad = good();
    bad.k.dim[3] = 7;
    e = qkv_error_init();
    assert_int_equal(qkv_plan_place(&plan, mem, need, &bad, &e), QKV_ESHAPE);
    assert_null(plan);
    assert_string_equal(e.arg, "params.k.dim[3]");
}

static void attention_in_one_call_refuses_the_same(void **state)
{
    (void)state;
    static float q[B * HQ * SQ * D], k[B * HKV * SK * D], v[B * HKV * SK * DV],
        out[B * HQ * SQ * DV];
    qkv_error e = qkv_error_init();
    qkv_params p = good();
    assert_int_equal(qkv_attention(&p, q, k, v, out, &e), QKV_OK);
    assert_int_equal(qkv_attention(NULL, q, k, v, out, &e), QKV_EARG);
    assert_string_equal(e.arg, "params");
    static const char *const names[4] = {"q", "k", "v", "out"};
    for (int i = 0; i < 4; i++) {
        e = qkv_error_init();
        assert_int_equal(qkv_attention(&p, i == 0 ? NULL : q, i == 1 ? NULL : k, i == 2 ? NULL : v,
                                       i == 3 ? NULL : out, &e),
                         QKV_EARG);
        assert_string_equal(e.arg, names[i]);
        assert_sentence(names[i], &e);
    }
    p.v.dim[2] = 6;
    memset(out, 0x11, sizeof out);
    assert_int_equal(qkv_attention(&p, q, k, v, out, &e), QKV_ESHAPE);
    assert_string_equal(e.arg, "params.v.dim[2]");
    for (size_t i = 0; i < sizeof out; i++) assert_int_equal(((unsigned char *)out)[i], 0x11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_params_are_accepted),
        cmocka_unit_test(each_rule_names_argument_value_and_bound),
        cmocka_unit_test(heads_that_do_not_divide_are_refused),
        cmocka_unit_test(unknown_types_are_refused),
        cmocka_unit_test(unknown_use_bits_are_refused),
        cmocka_unit_test(options_out_of_their_bounds_are_refused),
        cmocka_unit_test(masks_that_do_not_fit_are_refused),
        cmocka_unit_test(what_is_added_has_bounds),
        cmocka_unit_test(kernels_that_are_not_there_are_refused),
        cmocka_unit_test(the_scale_must_be_usable),
        cmocka_unit_test(the_row_offset_has_a_bound),
        cmocka_unit_test(sizes_beyond_64_bits_are_refused),
        cmocka_unit_test(arrays_beside_empty_tensors_are_counted),
        cmocka_unit_test(outputs_whose_elements_meet_are_refused),
        cmocka_unit_test(missing_pointers_are_refused),
        cmocka_unit_test(placing_a_plan_checks_the_memory),
        cmocka_unit_test(attention_in_one_call_refuses_the_same),
    };
    return cmocka_run_group_tests_name("plan_errors", tests, NULL, NULL);
}
