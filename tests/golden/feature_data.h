/* SPDX-License-Identifier: MIT */
/* feature_data.h - the golden cases with masks, biases, sinks, dropout, packing and other types, and
 * their data, for whoever writes the hashes (tests/spec) and whoever compares with them. Built on
 * case_data.h and as exact: integers and powers of two, the same bits on every machine.
 *
 * Invariant: what a function here returns depends on the case's lines in features.inc and on nothing
 * else. feature_sees() decides only where poison goes; the judge has its own idea of who sees whom.
 */
#ifndef QKV_TESTS_GOLDEN_FEATURE_DATA_H
#define QKV_TESTS_GOLDEN_FEATURE_DATA_H

#include "case_data.h"

enum { GOLDEN_F32 = 1, GOLDEN_F16 = 2, GOLDEN_BF16 = 3, GOLDEN_F64 = 4 };

/* What a case asks for. */
enum {
    FEATURE_CAUSAL = 1,
    FEATURE_SCALE = 2,
    FEATURE_OFFSETS = 4, /* offsets[], one for each sequence, in place of offset */
    FEATURE_PREFIX = 8,
    FEATURE_WINDOW = 16,
    FEATURE_KV_LEN = 32,
    FEATURE_Q_LEN = 64,
    FEATURE_KV_START = 128,
    FEATURE_PACKED = 256,
    FEATURE_BOOL = 512,
    FEATURE_BITS = 1024,  /* the bool mask is handed over bit by bit */
    FEATURE_DROPS = 2048, /* true drops: the mask is handed over inverted */
    FEATURE_BIAS = 4096,
    FEATURE_ALIBI = 8192,
    FEATURE_ALIBI_BATCH = 16384, /* slopes [sequence][head] */
    FEATURE_SOFTCAP = 32768,
    FEATURE_SINK = 65536,
    FEATURE_DROPOUT = 131072,
    FEATURE_RULE = 262144,   /* feature_rule() is the caller's own score rule */
    FEATURE_POISON = 524288, /* NaN and inf in every key, value and query that takes no part */
    FEATURE_LONG = 1048576   /* too much work for the slower ways of running */
};

/* How masks and biases look; which of batch, head and query they depend on. */
enum { LOOKS_RANDOM, LOOKS_TILES, LOOKS_LOWER, LOOKS_EMPTY_ROWS, LOOKS_COLUMNS, LOOKS_NONE };
enum { BIAS_GAUSS, BIAS_HUGE, BIAS_NAN, BIAS_POISON };
enum { BY_BATCH = 1, BY_HEAD = 2, BY_QUERY = 4, BY_ALL = 7 };
enum { AT_OFFSET, TOP_LEFT, BOTTOM_RIGHT };
enum { FEATURE_MAX_BATCH = 6 };

typedef struct feature_case {
    golden_case base;
    uint32_t with;
    int64_t offset, offsets[FEATURE_MAX_BATCH], prefix;
    int64_t kv_len[FEATURE_MAX_BATCH], q_len[FEATURE_MAX_BATCH], kv_start[FEATURE_MAX_BATCH];
    int64_t left, right;
    int64_t sequences, cu_q[FEATURE_MAX_BATCH + 1], cu_k[FEATURE_MAX_BATCH + 1];
    int32_t bool_by, bool_looks;
    int64_t bool_keys; /* the last dimension; 0: keys */
    int32_t bias_by, bias_looks, bias_values, bias_type;
    int64_t bias_keys;
    int32_t q_type, k_type, v_type, out_type; /* 0: the type that base.bits says */
    double softcap, drop, sink_scale;
    uint64_t drop_seed;
    int64_t first_head, first_batch; /* numbers of dropout's first head and batch */
    double max_bias; /* above 0: slopes by the rule for it, in place of feature_slope() */
    int32_t align;   /* a name in place of offset */
} feature_case;

#define FEATURE(name, bits, b, hq, hkv, sq, sk, d, dv, kind, seed, ...)                            \
    {{#name, bits, b, hq, hkv, sq, sk, d, dv, GOLDEN_FULL, 0, 0, GOLDEN_##kind, seed}, __VA_ARGS__},
static const feature_case feature_cases[] = {
#include "features.inc"
};
#undef FEATURE
enum { FEATURE_NCASES = sizeof feature_cases / sizeof feature_cases[0] };

static inline int32_t feature_type(const feature_case *c, int32_t type)
{
    if (type) return type;
    return c->base.bits == 32 ? GOLDEN_F32 : GOLDEN_F64;
}

static inline int32_t feature_bytes(int32_t type)
{
    return type == GOLDEN_F64 ? 8 : type == GOLDEN_F32 ? 4 : 2;
}

static inline int32_t feature_tensor_type(const feature_case *c, int32_t tensor)
{
    return feature_type(c, tensor == GOLDEN_Q   ? c->q_type
                           : tensor == GOLDEN_K ? c->k_type
                                                : c->v_type);
}

/* ---- numbers in each type --------------------------------------------------------------------- */

/* float bits cut to a 16-bit type, towards zero; a NaN stays one, infinities stay. */
static inline uint32_t feature_cut(uint32_t bits, int32_t type)
{
    const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    const int32_t is_nan = size > 0x7f800000;
    if (type == GOLDEN_BF16) return bits >> 16 | (is_nan ? 1U : 0U);
    if (is_nan) return sign | 0x7c00 | (size >> 13 & 0x3ff) | 1;
    if (size == 0x7f800000) return sign | 0x7c00;
    const int32_t e = (int32_t)(size >> 23) - 127;
    const uint32_t digits = (size & 0x7fffff) | 0x800000;
    if (e > 15) return sign | 0x7bff;
    if (e >= -14) return sign | ((uint32_t)(e + 15) << 10) | (digits >> 13 & 0x3ff);
    return e < -24 ? sign : sign | digits >> (-e - 1);
}

/* x in a type (cut for 16 bits, rounded for f32) */
static inline uint64_t feature_bits(int32_t type, double x)
{
    uint64_t wide;
    uint32_t bits;
    const float narrow = (float)x;
    memcpy(&wide, &x, sizeof wide);
    memcpy(&bits, &narrow, sizeof bits);
    return type == GOLDEN_F64 ? wide : type == GOLDEN_F32 ? bits : feature_cut(bits, type);
}

/* bits of the case's own type brought to another one */
static inline uint64_t feature_convert(const feature_case *c, uint64_t bits, int32_t type)
{
    if (type == feature_type(c, 0)) return bits;
    float narrow;
    uint32_t bits32 = (uint32_t)bits;
    if (c->base.bits == 64) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&bits32, &narrow, sizeof bits32);
    }
    if (type == GOLDEN_F32) return bits32;
    if (type != GOLDEN_F64) return feature_cut(bits32, type);
    memcpy(&narrow, &bits32, sizeof narrow);
    return feature_bits(GOLDEN_F64, (double)narrow);
}

static inline void feature_store(void *x, int64_t index, int32_t type, uint64_t bits)
{
    unsigned char *const at = (unsigned char *)x + index * feature_bytes(type);
    const uint32_t bits32 = (uint32_t)bits;
    const uint16_t bits16 = (uint16_t)bits;
    if (type == GOLDEN_F64)
        memcpy(at, &bits, 8);
    else if (type == GOLDEN_F32)
        memcpy(at, &bits32, 4);
    else
        memcpy(at, &bits16, 2);
}

/* A random number of a feature, at a place in an array of its own. */
static inline uint64_t feature_draw(const feature_case *c, int32_t array, uint64_t at)
{
    return golden_mix(c->base.seed, (uint64_t)(10 + array), at, 0);
}

/* In [-2, 2), multiples of 1/64. */
static inline double feature_number(const feature_case *c, int32_t array, uint64_t at)
{
    return (double)((int64_t)(feature_draw(c, array, at) % 256) - 128) / 64.0;
}

/* ---- masks, biases, slopes, sinks ------------------------------------------------------------- */

/* 1 where a mask of this look lets row i see key j; `group` is the batch and head that count. */
static inline int32_t feature_look(const feature_case *c, int32_t looks, int32_t array,
                                   uint64_t group, int64_t i, int64_t j)
{
    const uint64_t pair = ((group * 100003 + (uint64_t)i) << 24) + (uint64_t)j;
    const uint64_t tile = ((group * 100003 + (uint64_t)(i / 128)) << 24) + (uint64_t)(j / 128);
    if (looks == LOOKS_NONE) return 1;
    if (looks == LOOKS_LOWER) return j <= i + (int64_t)(group % 3) * 50;
    if (looks == LOOKS_COLUMNS) return feature_draw(c, array, group << 24 | (uint64_t)j) % 3 != 0;
    if (looks == LOOKS_EMPTY_ROWS && (i + (int64_t)group) % 3 == 1) return 0;
    if (looks == LOOKS_TILES && feature_draw(c, array, tile) % 2 == 0) return 0;
    if (looks == LOOKS_TILES && feature_draw(c, array, tile) % 3 == 0) return 1;
    return feature_draw(c, array, pair) % 2 == 0;
}

static inline uint64_t feature_group(const feature_case *c, int32_t by, int64_t b, int64_t h)
{
    return (uint64_t)((by & BY_BATCH ? b : 0) * c->base.heads + (by & BY_HEAD ? h : 0));
}

/* The bool mask's element for row i and key j of the tensors, j < bool_keys: may it be seen? */
static inline int32_t feature_bool(const feature_case *c, int64_t b, int64_t h, int64_t i,
                                   int64_t j)
{
    return feature_look(c, c->bool_looks, 0, feature_group(c, c->bool_by, b, h),
                        c->bool_by & BY_QUERY ? i : 0, j);
}

static inline int64_t feature_bool_keys(const feature_case *c)
{
    return c->bool_keys ? c->bool_keys : c->base.keys;
}

static inline int64_t feature_bias_keys(const feature_case *c)
{
    return c->bias_keys ? c->bias_keys : c->base.keys;
}

static inline int32_t feature_sees(const feature_case *c, int64_t b, int64_t h, int64_t i,
                                   int64_t j);

/* The bias's element, in bias_type, j < bias_keys. BIAS_POISON (by all): NaN or +inf where something
 * else keeps the pair apart. */
static inline uint64_t feature_bias(const feature_case *c, int64_t b, int64_t h, int64_t i,
                                    int64_t j)
{
    const int32_t type = feature_type(c, c->bias_type);
    const uint64_t group = feature_group(c, c->bias_by, b, h);
    const int64_t row = c->bias_by & BY_QUERY ? i : 0;
    const uint64_t at = ((group * 100003 + (uint64_t)row) << 24) + (uint64_t)j;
    const uint64_t z = feature_draw(c, 2, at);
    if (!feature_look(c, c->bias_looks, 1, group, row, j))
        return type == GOLDEN_F64    ? UINT64_C(0xfff0000000000000)
               : type == GOLDEN_F32  ? 0xff800000
               : type == GOLDEN_BF16 ? 0xff80
                                     : 0xfc00;
    if (c->bias_values == BIAS_HUGE) {
        static const uint64_t huge[4][4] = {
            {0xff7fffff, 0x7f7fffff, 0xce6e6b28, 0x7f800000},
            {0xfbff, 0x7bff, 0xfbfe, 0x7c00},
            {0xff7f, 0x7f7f, 0xce6e, 0x7f80},
            {UINT64_C(0xffefffffffffffff), UINT64_C(0x47efffffe0000000),
             UINT64_C(0xc1cdcd6500000000), UINT64_C(0x7ff0000000000000)}};
        /* the largest numbers of both signs, -1e9 or so, +inf in few rows */
        if (z % 7 < 2 && (row % 3 || z % 7 == 0)) return huge[type - 1][z % 7];
        if (z % 7 == 2) return huge[type - 1][2];
        if (row % 16 == 5 && j % 50 == 7) return huge[type - 1][3];
    }
    if (c->bias_values == BIAS_POISON && c->bias_by == BY_ALL && !feature_sees(c, b, h, i, j))
        return feature_convert(c, golden_special(&c->base, (int64_t)(z % 4)), type);
    if (c->bias_values == BIAS_NAN && row % 9 == 4 && j % 64 == 3)
        return feature_convert(c, golden_special(&c->base, (int64_t)(z % 3)), type);
    int64_t sum = -4 * 256;
    for (int32_t n = 0; n < 4; n++) sum += (int64_t)(z >> (10 * n) & 511);
    return feature_bits(type, (double)sum / 128.0);
}

static inline double feature_slope(const feature_case *c, int64_t sequence, int64_t h)
{
    const int64_t n = c->with & FEATURE_ALIBI_BATCH ? sequence : 0;
    const uint64_t at = (uint64_t)(n * c->base.heads + h);
    return feature_number(c, 3, at) / 16.0;
}

static inline double feature_sink(const feature_case *c, int64_t h)
{
    if (h % 4 == 3) return -golden_from_bits(UINT64_C(0x7ff0000000000000));
    return feature_number(c, 4, (uint64_t)h) * c->sink_scale;
}

/* The case's own rule on a score in natural units: s/2 less 0, 1/4 or 1/2; one rounding. */
static inline double feature_rule_less(int64_t head, int64_t key)
{
    return (double)((head + key) % 3) / 4.0;
}

/* ---- tensors ---------------------------------------------------------------------------------- */

/* The first row of a sequence of so many rows and keys in the tensors stands beside this key of it. */
static inline int64_t feature_offset(const feature_case *c, int64_t n, int64_t rows, int64_t keys)
{
    if (c->with & FEATURE_OFFSETS) return c->offsets[n];
    if (c->align == AT_OFFSET) return c->offset;
    if (c->align == TOP_LEFT) return 0;
    if (c->with & FEATURE_Q_LEN) rows = c->q_len[n];
    if (c->with & FEATURE_KV_LEN) keys = c->kv_len[n];
    return keys - rows;
}

/* Does row i of the tensor take part with key j of the tensor? Bool mask and bias included. */
static inline int32_t feature_sees(const feature_case *c, int64_t b, int64_t h, int64_t i,
                                   int64_t j)
{
    const uint32_t with = c->with;
    int64_t n = b, row = i, index = j, keys = c->base.keys, rows = c->base.rows;
    if (with & FEATURE_PACKED) {
        n = 0;
        while (i >= c->cu_q[n + 1]) n++;
        row = i - c->cu_q[n];
        index = j - c->cu_k[n];
        keys = c->cu_k[n + 1] - c->cu_k[n];
        rows = c->cu_q[n + 1] - c->cu_q[n];
    }
    const int64_t offset = feature_offset(c, n, rows, keys);
    const int64_t padding = with & FEATURE_KV_START ? c->kv_start[n] : 0;
    if (with & FEATURE_KV_LEN && c->kv_len[n] < keys) keys = c->kv_len[n];
    if (index < padding || index >= keys || (with & FEATURE_Q_LEN && row >= c->q_len[n])) return 0;
    const int64_t at = row - padding + offset;
    const int64_t key = index - padding;
    if (with & (FEATURE_CAUSAL | FEATURE_PREFIX) && key > at &&
        !(with & FEATURE_PREFIX && key < c->prefix))
        return 0;
    if (with & FEATURE_WINDOW && c->left >= 0 && key < at - c->left) return 0;
    if (with & FEATURE_WINDOW && c->right >= 0 && key > at + c->right) return 0;
    if (with & FEATURE_BOOL && (j >= feature_bool_keys(c) || !feature_bool(c, b, h, i, j)))
        return 0;
    if (!(with & FEATURE_BIAS)) return 1;
    return j < feature_bias_keys(c) &&
           feature_look(c, c->bias_looks, 1, feature_group(c, c->bias_by, b, h),
                        c->bias_by & BY_QUERY ? i : 0, j);
}

/* Does position pos (a row of q, a key of k and v) of a plane take part in nothing? */
static inline int32_t feature_idle(const feature_case *c, int32_t tensor, int64_t plane,
                                   int64_t pos)
{
    const golden_case *const g = &c->base;
    if (!(c->with & FEATURE_POISON)) return 0;
    if (tensor == GOLDEN_Q) {
        for (int64_t j = 0; j < g->keys; j++)
            if (feature_sees(c, plane / g->heads, plane % g->heads, pos, j)) return 0;
        return 1;
    }
    const int64_t group = g->heads / g->kv_heads;
    for (int64_t n = 0; n < group; n++)
        for (int64_t i = 0; i < g->rows; i++)
            if (feature_sees(c, plane / g->kv_heads, plane % g->kv_heads * group + n, i, pos))
                return 0;
    return 1;
}

/* Writes golden_count() elements of the tensor's type, dense, in the order of the dimensions. */
static inline void feature_fill(const feature_case *c, int32_t tensor, void *x)
{
    const golden_case *const g = &c->base;
    const int64_t positions = tensor == GOLDEN_Q ? g->rows : g->keys;
    const int64_t channels = tensor == GOLDEN_V ? g->d_v : g->d;
    const int64_t planes = g->batch * (tensor == GOLDEN_Q ? g->heads : g->kv_heads);
    const int32_t type = feature_tensor_type(c, tensor);
    for (int64_t n = 0; n < planes * positions; n++) {
        const int32_t idle = feature_idle(c, tensor, n / positions, n % positions);
        for (int64_t i = 0; i < channels; i++) {
            const golden_place p = {(uint64_t)tensor, (uint64_t)(n * channels + i), n % positions,
                                    i};
            const uint64_t bits = idle ? golden_special(g, n + i) : golden_element(g, &p);
            feature_store(x, n * channels + i, type, feature_convert(c, bits, type));
        }
    }
}

#endif /* QKV_TESTS_GOLDEN_FEATURE_DATA_H */
