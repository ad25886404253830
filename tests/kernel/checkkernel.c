/* SPDX-License-Identifier: MIT */
/* checkkernel.c - every kernel table against the scalar one, function by function, by equality of
 * bits, on random tiles: all sizes up to the table's tile, ranges of live keys, special values, any
 * byte address. The same program measures: checkkernel --bench.
 *
 * A tile of a wide table holds more rows than a scalar one, so each table runs the same rows in tiles
 * of its own; results are compared row by row. What no row may look at is not compared.
 */
#include "base/half.h"
#include "cpu/cpu.h"
#include "tests/kernel/bench.h"
#include "tests/kernel/rows.h"
#include <fenv.h>
#include <qkv/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint64_t draw(uint64_t n) /* 0 ... n - 1 */
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* ---- one comparison ------------------------------------------------------------------------------ */

static char where[256]; /* the case at hand, for the message */
static int differ;      /* differences of the function at hand */

/* Bits of n numbers of `bytes` each; `loose`: NaNs are alike, and so are the zeros (both are made equal
 * before anything leaves the library). */
static void same(const char *what, const void *a, const void *b, int64_t n, int bytes, int loose)
{
    for (int64_t i = 0; i < n; i++) {
        const char *const x = (const char *)a + i * bytes, *const y = (const char *)b + i * bytes;
        if (memcmp(x, y, (size_t)bytes) == 0) continue;
        const double u = rows_number(x, bytes), v = rows_number(y, bytes);
        if (loose && ((u != u && v != v) || (u == 0 && v == 0))) continue;
        if (differ++ < 3)
            printf("# %s: %s[%lld] is %.17g, scalar has %.17g\n", where, what, (long long)i, v, u);
    }
}

/* ---- one check a function: a is the scalar table's result, b the other's --------------------------- */

static void check_pack(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("qt", a->packed, b->packed, c->rows * c->d, c->bytes, 0);
}
static void check_gather(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("gathered", a->gathered, b->gathered, c->keys * c->d, c->bytes, 0);
}
static void check_strips(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("strips", a->strips, b->strips, c->keys * c->dv, c->bytes, 0);
}
/* These two are the same code in every table, so base/half.h judges them. a goes unused. */
static void check_widen(const rows_case *c, const rows_result *a, const rows_result *b)
{
    static char want[sizeof b->widened[0]];
    (void)a;
    for (int i = 0; i < 2; i++) {
        for (int64_t n = 0; n < c->keys * c->d; n++) {
            uint16_t h;
            const int64_t key = n / c->d, channel = n % c->d;
            memcpy(&h, c->k + c->offset + 2 * (i ? channel * c->keys + key : n), 2);
            const float x = i == c->strips ? qkvi_f16_widen(h) : qkvi_bf16_widen(h);
            const double wide = (double)x;
            memcpy(want + n * c->bytes, c->bytes == 4 ? (const void *)&x : (const void *)&wide,
                   (size_t)c->bytes);
        }
        same("widened", want, b->widened[i], c->keys * c->d, c->bytes, c->bytes == 8);
    }
}
static void check_narrow(const rows_case *c, const rows_result *a, const rows_result *b)
{
    (void)a;
    for (int i = 0; i < 2; i++)
        for (int64_t n = 0; n < c->rows * c->d; n++) {
            const double x = rows_number(b->wide + n * c->bytes, c->bytes);
            const uint16_t h = i == c->strips ? qkvi_f16_narrow(x) : qkvi_bf16_narrow(x);
            const int64_t at = i ? n % c->d * c->rows + n / c->d : n;
            uint16_t got;
            memcpy(&got, b->narrowed[i] + 2 * at, 2);
            if (got != (h == 0x8000 ? 0 : h) && differ++ < 3)
                printf("# %s: narrowed[%lld] is %04x, half.h has %04x\n", where, (long long)n, got,
                       h);
        }
}
static void check_bias_seen(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows && c->b_dtype; r++)
        if (memcmp(a->bias_seen[r], b->bias_seen[r], sizeof a->bias_seen[r]) != 0 && differ++ < 3)
            printf("# %s: row %lld sees other biases\n", where, (long long)r);
}
static void check_bias(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows && c->b_dtype; r++)
        same("bias", rows_at(a->biases, r * ROWS_KEYS, c->bytes),
             rows_at(b->biases, r * ROWS_KEYS, c->bytes), c->keys, c->bytes, 1);
}
static void check_change(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows && c->changed; r++)
        same("changed", rows_at(a->changed, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->changed, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r], c->bytes,
             1);
}
static void check_sink(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("sunk o", a->sunk, b->sunk, c->rows * c->dv, c->bytes, 1);
    same("sunk m", a->sunk_m, b->sunk_m, c->rows, c->bytes, 1);
    same("sunk l", a->sunk_l, b->sunk_l, c->rows, c->bytes, 1);
}
static void check_drop(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("dropped", rows_at(a->dropped, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->dropped, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r], c->bytes,
             1);
}
static void check_sum_weights(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("sum of weights", a->sums, b->sums, c->keys, c->bytes, 1);
}
static void check_show_top(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("top", a->top, b->top, c->rows, c->bytes, 0);
}
static void check_score(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("s", rows_at(a->score, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->score, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r], c->bytes,
             1);
}
static void check_weigh(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("p", rows_at(a->weight, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->weight, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r], c->bytes,
             1);
    same("mb", a->mb, b->mb, c->rows, c->bytes, 1);
    same("lb", a->lb, b->lb, c->rows, c->bytes, 1);
}
static void check_blend(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("o", a->o, b->o, c->rows * c->dv, c->bytes, 1);
    same("m", a->m, b->m, c->rows, c->bytes, 1);
    same("l", a->l, b->l, c->rows, c->bytes, 1);
}
/* few rows: against the scalar table's tiles, so that both forms are one */
static void check_few_score(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("few s", rows_at(a->score, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->few_score, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r],
             c->bytes, 1);
}
static void check_few_weigh(const rows_case *c, const rows_result *a, const rows_result *b)
{
    if (c->scattered || c->changed) return; /* few rows see ranges, and plain scores */
    for (int64_t r = 0; r < c->rows; r++)
        same("few p", rows_at(a->weight, r * ROWS_KEYS + c->lo[r], c->bytes),
             rows_at(b->few_weight, r * ROWS_KEYS + c->lo[r], c->bytes), c->hi[r] - c->lo[r],
             c->bytes, 1);
    same("few mb", a->mb, b->few_mb, c->rows, c->bytes, 1);
    same("few lb", a->lb, b->few_lb, c->rows, c->bytes, 1);
}
static void check_few_blend(const rows_case *c, const rows_result *a, const rows_result *b)
{
    if (c->bytes == 4) { /* keys and values in 16 bits */
        same("few halves", b->few_widened, b->few_halves, c->rows * (c->dv + 2), 4, 1);
        same("few halves", a->few_halves, b->few_halves, c->rows * (c->dv + 2), 4, 1);
    }
    if (c->scattered || c->changed) return; /* few rows see ranges, and plain scores */
    same("few o", a->o, b->few_o, c->rows * c->dv, c->bytes, 1);
    same("few m", a->m, b->few_m, c->rows, c->bytes, 1);
    same("few l", a->l, b->few_l, c->rows, c->bytes, 1);
}
static void check_fold(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("folded o", a->folded, b->folded, c->rows * c->dv, c->bytes, 1);
}
static void check_finish(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("out", a->out, b->out, c->rows * c->dv, c->bytes, 0);
    same("lse", a->lse, b->lse, c->rows, c->bytes, 0);
}
static void check_store_node(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("node", a->node, b->node, c->rows * (c->dv + 2), c->bytes, 0);
}
static void check_load_node(const rows_case *c, const rows_result *a, const rows_result *b)
{
    same("node again", a->node, b->node_again, c->rows * (c->dv + 2), c->bytes, 0);
}
static void check_show_scaled(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("scaled", rows_at(a->scaled, r * ROWS_KEYS, c->bytes),
             rows_at(b->scaled, r * ROWS_KEYS, c->bytes), c->keys, c->bytes, 0);
}
static void check_show_weight(const rows_case *c, const rows_result *a, const rows_result *b)
{
    for (int64_t r = 0; r < c->rows; r++)
        same("weight", rows_at(a->shown, r * ROWS_KEYS, c->bytes),
             rows_at(b->shown, r * ROWS_KEYS, c->bytes), c->keys, c->bytes, 0);
}

typedef void check_fn(const rows_case *c, const rows_result *a, const rows_result *b);
static const struct {
    const char *name;
    check_fn *check;
} checks[] = {
#define QKVI_OP(name, parameters) {#name, check_##name},
#include "kernel/ops.inc"
#undef QKVI_OP
};
enum { NCHECKS = sizeof checks / sizeof checks[0] };

/* ---- cases --------------------------------------------------------------------------------------- */

/* what a case is about; the first is the commonest */
static const char *const kinds[] = {"plain",  "edges", "sharp", "huge",      "wild k",
                                    "wild v", "dead",  "ties",  "scattered", "changed"};
enum { NKINDS = sizeof kinds / sizeof kinds[0] };

/* softcap, ALiBi, biases: with numbers that are large, infinite or NaN among them */
static void make_changes(rows_case *c, int kind)
{
    static const int32_t types[] = {0, QKV_F32, QKV_F16, QKV_BF16, QKV_F64};
    static const double caps[] = {1, 30, 0.01, 1e4};
    c->changed = kind == 9 || draw(5) == 0;
    c->cap = (int)draw(2);
    c->softcap = caps[draw(4)];
    c->alibi = (int)draw(2);
    c->slope = (double)draw(64) / 64 - 0.25;
    c->position = draw(4) ? (int64_t)draw(300) - 100 : (int64_t)(draw(1 << 30) << 32);
    c->key = 128 * (int64_t)draw(3);
    c->b_dtype = types[draw(5)];
    c->b_key_stride = 1 + (int64_t)(draw(3) == 0);
    const uint64_t much = draw(6); /* 0: all of it; 5: none */
    for (size_t i = 0; i < sizeof c->b; i++) c->b[i] = (char)draw(256);
    for (int64_t i = 0; i < ROWS_MAX * ROWS_KEYS * 2 && c->b_dtype; i++) {
        if (draw(6) < much) continue; /* random bits: some are huge, some NaN */
        static const double minus_inf64 = -(double)__builtin_inff();
        static const float minus_inf32 = -__builtin_inff();
        static const uint16_t minus_inf16 = 0xFC00, minus_inf_b = 0xFF80;
        char *const to = c->b + c->offset;
        if (c->b_dtype == QKV_F64) memcpy(to + 8 * i, &minus_inf64, 8);
        if (c->b_dtype == QKV_F32) memcpy(to + 4 * i, &minus_inf32, 4);
        if (c->b_dtype == QKV_F16) memcpy(to + 2 * i, &minus_inf16, 2);
        if (c->b_dtype == QKV_BF16) memcpy(to + 2 * i, &minus_inf_b, 2);
    }
}

static void make_case(rows_case *c, int bytes, int kind, int64_t max_rows)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64, 65, 127, 128, 129, 200};
    c->bytes = bytes;
    c->rows = 1 + (int64_t)draw((uint64_t)max_rows);
    c->keys = draw(3) ? ROWS_KEYS : 1 + (int32_t)draw(ROWS_KEYS);
    c->d = sizes[draw(17)];
    c->dv = sizes[draw(17)];
    c->offset = (int)draw(8); /* bytes that every tensor of the caller lies off */
    c->factor = kind == 2 ? 30 : kind == 3 ? (draw(2) ? 3e6 : 1e30) : 1 / (1 + (double)draw(4));
    c->strips = (int)draw(2);
    c->ranged = kind == 1 || kind == 4 || kind == 5 ? 1 : (int)draw(2);
    const int slope = (int)draw(3); /* a diagonal, a window, or anything */
    const int32_t start = (int32_t)draw(ROWS_KEYS), width = 1 + (int32_t)draw(40);
    for (int64_t r = 0; r < c->rows; r++) {
        int32_t lo = 0, hi = c->keys;
        if (c->ranged) {
            hi = slope == 2 ? (int32_t)draw(ROWS_KEYS + 1) : start + (int32_t)r + 1;
            lo = slope == 1 ? hi - width : slope == 2 ? (int32_t)draw(ROWS_KEYS) : 0;
            hi = hi > c->keys ? c->keys : hi;
            lo = lo < 0 ? 0 : lo > hi ? hi : lo;
        }
        c->lo[r] = lo;
        c->hi[r] = hi;
    }
    c->scattered = kind == 8 || (c->ranged && draw(4) == 0);
    if (c->scattered) c->ranged = 1; /* bits come with ranges, if need be of all keys */
    for (int64_t r = 0; r < ROWS_MAX; r++)
        for (int i = 0; i < ROWS_KEYS / 64; i++) {
            const uint64_t any = draw(1 << 30) << 34 ^ draw(1 << 30) << 12 ^ draw(1 << 12);
            c->seen[r][i] = draw(3) ? any : draw(2) ? any & any >> 7 & any << 9 : 0;
        }
    make_changes(c, kind);
    rows_fill(c, &seed, kind == 7);
    if (kind == 4) rows_poison(c, &seed, c->k, c->keys * c->d);
    if (kind == 5) rows_poison(c, &seed, c->v, c->keys * c->dv);
    if (kind == 6) rows_make_dead(c, &seed);
}

/* All functions of one table and type, against scalar. */
static void check_table(const qkvi_kernels *k, int bytes, int ncases, int *number)
{
    const qkvi_kernels *const scalar = qkvi_kernels_by_id(QKV_ISA_SCALAR);
    const qkvi_ops *const a = bytes == 4 ? &scalar->f32 : &scalar->f64;
    const qkvi_ops *const b = bytes == 4 ? &k->f32 : &k->f64;
    static rows_case c;
    static rows_result ra, rb;
    int bad[NCHECKS] = {0};
    seed = (uint64_t)bytes * 1000 + 7;
    for (int n = 0; n < ncases; n++) {
        const int kind = n % NKINDS;
        make_case(&c, bytes, kind, (int64_t)b->lanes * QKVI_TILE_VECTORS);
        snprintf(where, sizeof where, "%s f%d case %d (%s): %lld rows, %d keys, d %lld, dv %lld",
                 k->name, bytes * 8, n, kinds[kind], (long long)c.rows, c.keys, (long long)c.d,
                 (long long)c.dv);
        rows_run(a, &c, &ra);
        rows_run(b, &c, &rb);
        for (int i = 0; i < NCHECKS; i++) {
            differ = 0;
            checks[i].check(&c, &ra, &rb);
            bad[i] += differ;
        }
    }
    for (int i = 0; i < NCHECKS; i++)
        printf("%sok %d - %s %s f%d\n", bad[i] ? "not " : "", ++*number, k->name, checks[i].name,
               bytes * 8);
}

/* The environment: entered and left by every table, whatever the host had set. */
static void check_environment(const qkvi_kernels *k, int *number)
{
    const int usual = fegetround();
    fesetround(FE_UPWARD);
    const uint64_t host = k->env_enter();
    const uint64_t inside = k->env_enter(); /* what env_enter set */
    k->env_leave(inside);
    volatile float tiny = 0x1p-126f;
    tiny *= 0.5f;           /* a subnormal survives inside */
    volatile float one = 1; /* rounds down to nearest, whatever the host had */
    one += 0x1p-30f;
    const int kept = tiny > 0 && one <= 1;
    k->env_leave(host);
    one += 0x1p-30f;
    const int upward = fegetround() == FE_UPWARD && one > 1;
    fesetround(usual);
    printf("%sok %d - %s environment\n", kept && upward ? "" : "not ", ++*number, k->name);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) return bench_tables();
    const char *const again = getenv("SEED"); /* more of other cases */
    const int fast = 480, slow = 96;
    int number = 0;
    if (again) seed = strtoull(again, NULL, 10);
    for (int32_t i = 0; i < qkvi_kernels_count(); i++) {
        const qkvi_kernels *const k = qkvi_kernels_at(i);
        if (k->needs & ~qkvi_cpu()) {
            printf("ok %d - %s # SKIP NOT RUN: this CPU lacks it\n", ++number, k->name);
            continue;
        }
        check_environment(k, &number);
        if (k->id == QKV_ISA_SCALAR) continue;
        const int ncases = k->id == QKV_ISA_WIDE16 ? slow : fast;
        check_table(k, 4, ncases, &number);
        check_table(k, 8, ncases, &number);
    }
    printf("1..%d\n", number);
    return 0;
}
