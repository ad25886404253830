/* SPDX-License-Identifier: MIT */
/* rows.c - see rows.h. Memory of a tile is allocated as the library lays it out, 64-aligned; the
 * caller's tensors lie a few bytes off.
 */
#include "tests/kernel/rows.h"
#include <qkv/types.h>
#include <string.h>

typedef struct tile_memory {
    _Alignas(64) char qt[ROWS_D * ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char s[ROWS_KEYS * ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char o[ROWS_D * ROWS_MAX * ROWS_BYTES], o2[ROWS_D * ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char m[ROWS_MAX * ROWS_BYTES], l[ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char m2[ROWS_MAX * ROWS_BYTES], l2[ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char mb[ROWS_MAX * ROWS_BYTES], lb[ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char top[ROWS_MAX * ROWS_BYTES], bias[ROWS_KEYS * ROWS_MAX * ROWS_BYTES];
    _Alignas(64) char v[(ROWS_D + 8) * (ROWS_KEYS + 16) * ROWS_BYTES];
    int32_t lo[ROWS_MAX], hi[ROWS_MAX];
    uint64_t live[ROWS_KEYS], kept[ROWS_KEYS];
} tile_memory;

double rows_number(const void *x, int bytes)
{
    float f;
    double d;
    if (bytes == 8) {
        memcpy(&d, x, 8);
        return d;
    }
    memcpy(&f, x, 4);
    return (double)f;
}

static void put(char *x, int64_t i, int bytes, double value)
{
    const float f = (float)value;
    if (bytes == 8)
        memcpy(x + i * 8, &value, 8);
    else
        memcpy(x + i * 4, &f, 4);
}

static uint64_t draw(uint64_t *seed, uint64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % n;
}

static void fill(char *x, int64_t n, int bytes, uint64_t *seed, int ties)
{
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)draw(seed, 1 << 24) / (1 << 22) - 2;
        put(x, i, bytes, ties ? (double)(int)(u * 2) / 2 : u);
    }
}

void rows_fill(rows_case *c, uint64_t *seed, int ties)
{
    fill(c->q + c->offset, c->rows * c->d, c->bytes, seed, ties);
    fill(c->k + c->offset, c->keys * c->d, c->bytes, seed, ties);
    fill(c->v + c->offset, c->keys * c->dv, c->bytes, seed, ties);
}

void rows_poison(rows_case *c, uint64_t *seed, char *x, int64_t n)
{
    static const uint32_t bad32[] = {0x7FC00000, 0x7FC00001, 0x7F800001,
                                     0xFFFFFFFF, 0x7F800000, 0xFF800000};
    static const uint64_t bad64[] = {UINT64_C(0x7FF8000000000000), UINT64_C(0x7FF8000000000001),
                                     UINT64_C(0x7FF0000000000001), UINT64_C(0xFFFFFFFFFFFFFFFF),
                                     UINT64_C(0x7FF0000000000000), UINT64_C(0xFFF0000000000000)};
    for (uint64_t i = 0; i < 1 + draw(seed, 3); i++) {
        const int64_t at = (int64_t)draw(seed, (uint64_t)n);
        const uint64_t which = draw(seed, 6);
        memcpy(x + c->offset + at * c->bytes,
               c->bytes == 4 ? (const void *)&bad32[which] : (const void *)&bad64[which],
               (size_t)c->bytes);
    }
}

void rows_make_dead(rows_case *c, uint64_t *seed)
{
    /* k[.][0] > 0 and q[row][0] = -inf: every score of the row is -inf */
    for (int32_t j = 0; j < c->keys; j++) put(c->k + c->offset, j * c->d, c->bytes, 1);
    for (int64_t r = 0; r < c->rows; r++)
        if (draw(seed, 3) == 0)
            put(c->q + c->offset, r * c->d, c->bytes, -(double)__builtin_inff());
}

/* row r of a tile's [n][width] array, n numbers, to to[] */
static void row_of(char *to, const char *from, int64_t n, int64_t r, int64_t width, int bytes)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * bytes, from + (i * width + r) * bytes, (size_t)bytes);
}

/* The biases of the tile's rows, and which of them exclude. */
static void run_bias(const qkvi_ops *ops, const rows_case *c, rows_result *out, tile_memory *t,
                     int64_t first, int64_t rows, int64_t width)
{
    const int64_t row_stride = c->b_key_stride * ROWS_KEYS;
    const int b_bytes = c->b_dtype == QKV_F64 ? 8 : c->b_dtype == QKV_F32 ? 4 : 2;
    const char *const from = c->b + c->offset + first * row_stride * b_bytes;
    uint64_t seen[ROWS_MAX][2];
    memset(seen, 0xFF, sizeof seen);
    ops->bias_seen(from, c->b_dtype, row_stride, c->b_key_stride, rows, c->keys, seen);
    memcpy(out->bias_seen + first, seen, (size_t)rows * sizeof seen[0]);
    ops->bias(t->bias, from, c->b_dtype, row_stride, c->b_key_stride, rows, c->keys, width);
    for (int64_t r = 0; r < rows; r++)
        row_of(out->biases + (first + r) * ROWS_KEYS * c->bytes, t->bias, c->keys, r, width,
               c->bytes);
}

static void run_sink(const qkvi_ops *ops, const rows_case *c, rows_result *out, tile_memory *t,
                     int64_t first, int64_t rows, int64_t width)
{
    const int e = c->bytes;
    ops->sink(t->o, t->m, t->l, c->slope * 40, c->dv, width);
    for (int64_t r = 0; r < rows; r++) {
        row_of(out->sunk + (first + r) * c->dv * e, t->o, c->dv, r, width, e);
        row_of(out->sunk_m + (first + r) * e, t->m, 1, r, width, e);
        row_of(out->sunk_l + (first + r) * e, t->l, 1, r, width, e);
    }
}

/* Rows [first, first + rows) as one tile. */
static void run_tile(const qkvi_ops *ops, const rows_case *c, rows_result *out, tile_memory *t,
                     int64_t first, int64_t rows)
{
    const int e = c->bytes, vectors = (int)((rows + ops->lanes - 1) / ops->lanes);
    const int64_t width = (int64_t)vectors * ops->lanes, node_bytes = (c->dv + 2) * e;
    char *const node = out->node + first * node_bytes;
    ops->pack(t->qt, c->q + c->offset + first * c->d * e, c->d, 1, rows, c->d, width, c->factor);
    for (int64_t r = 0; r < width; r++) {
        t->lo[r] = r < rows ? c->lo[first + r] : 0;
        t->hi[r] = r < rows ? c->hi[first + r] : 0;
    }
    for (int64_t j = 0; j < ROWS_KEYS; j++) {
        t->live[j] = 0;
        for (int64_t r = 0; r < rows; r++)
            if (j >= c->lo[first + r] && j < c->hi[first + r])
                t->live[j] |= (c->seen[first + r][j / 64] >> j % 64 & 1) << r;
    }
    const uint64_t *const live = c->scattered ? t->live : NULL;
    qkvi_step s = {.qt = t->qt,
                   .k = c->k + c->offset,
                   .v = c->v + c->offset,
                   .k_stride = c->d,
                   .v_stride = c->dv,
                   .d = c->d,
                   .dv = c->dv,
                   .keys = c->keys,
                   .vectors = vectors,
                   .s = t->s,
                   .o = t->o,
                   .m = t->m,
                   .l = t->l,
                   .mb = t->mb,
                   .lb = t->lb,
                   .fresh = 1,
                   .v_finite = -1};
    if (c->strips) {
        ops->strips(t->v, s.v, c->dv, 1, c->keys, c->dv);
        s.v = t->v;
        s.v_strips = 1;
    }
    ops->score(&s);
    for (int64_t r = 0; r < rows; r++) {
        row_of(out->packed + (first + r) * c->d * e, t->qt, c->d, r, width, e);
        ops->show_scaled(t->s, out->scaled + (first + r) * ROWS_KEYS * e, c->keys, r, width);
    }
    s.lo = c->ranged ? t->lo : NULL;
    s.hi = c->ranged ? t->hi : NULL;
    s.live = live;
    if (c->b_dtype) run_bias(ops, c, out, t, first, rows, width);
    const qkvi_change change = {.cap = c->cap,
                                .alibi = c->alibi,
                                .cap_in = 2 / c->softcap,
                                .cap_out = c->softcap * 1.4426950408889634,
                                .slope = c->slope,
                                .position = c->position + first,
                                .key = c->key,
                                .bias = c->b_dtype ? t->bias : NULL,
                                .rows = rows};
    if (c->changed) {
        s.change = &change;
        ops->score(&s);
        for (int64_t r = 0; r < rows; r++)
            row_of(out->changed + (first + r) * ROWS_KEYS * e, t->s, c->keys, r, width, e);
        s.change = NULL;
    }
    memset(t->s, 0x5A, sizeof t->s); /* what is not written shows */
    ops->score(&s);
    for (int64_t r = 0; r < rows; r++)
        row_of(out->score + (first + r) * ROWS_KEYS * e, t->s, c->keys, r, width, e);
    if (c->changed) {
        s.change = &change;
        ops->change(&s);
    }
    for (int64_t r = 0; r < width; r++) put(t->top, r, e, -(double)__builtin_inff());
    s.top = t->top;
    ops->weigh(&s);
    ops->show_top(t->top, out->top + first * e, rows);
    for (int64_t r = 0; r < rows; r++) {
        row_of(out->weight + (first + r) * ROWS_KEYS * e, t->s, c->keys, r, width, e);
        row_of(out->mb + (first + r) * e, t->mb, 1, r, width, e);
        row_of(out->lb + (first + r) * e, t->lb, 1, r, width, e);
    }
    ops->blend(&s);
    memcpy(t->o2, t->o, sizeof t->o2); /* a first node for fold */
    memcpy(t->m2, t->m, sizeof t->m2);
    memcpy(t->l2, t->l, sizeof t->l2);
    for (int64_t r = 0; r < rows; r++)
        ops->show_weight(t->s, t->mb, t->m, t->l, out->shown + (first + r) * ROWS_KEYS * e,
                         c->lo[first + r], c->hi[first + r], live, c->keys, r, width);
    /* sums go over the tiles in turn; m and l of one row after another */
    ops->sum_weights(&s, t->m, t->l, out->sums, rows);
    const uint64_t *const all = s.live; /* every second row of every third key is dropped */
    for (int64_t j = 0; j < ROWS_KEYS; j++)
        t->kept[j] = (all ? all[j] : ~UINT64_C(0)) &
                     (j % 3 ? ~UINT64_C(0) : UINT64_C(0x5555555555555555) << first % 2);
    s.live = t->kept;
    ops->drop(&s);
    for (int64_t r = 0; r < rows; r++)
        row_of(out->dropped + (first + r) * ROWS_KEYS * e, t->s, c->keys, r, width, e);
    s.live = all;
    ops->score(&s); /* the same block again: a fold that is not the first */
    ops->weigh(&s);
    ops->blend(&s);
    for (int64_t r = 0; r < rows; r++) {
        row_of(out->o + (first + r) * c->dv * e, t->o, c->dv, r, width, e);
        row_of(out->m + (first + r) * e, t->m, 1, r, width, e);
        row_of(out->l + (first + r) * e, t->l, 1, r, width, e);
    }
    ops->fold(t->o2, t->m2, t->l2, t->o, t->m, t->l, c->dv, width);
    for (int64_t r = 0; r < rows; r++)
        row_of(out->folded + (first + r) * c->dv * e, t->o2, c->dv, r, width, e);
    run_sink(ops, c, out, t, first, rows, width);
    ops->finish(t->o2, t->m2, t->l2, 1.25, out->out + first * c->dv * e, c->dv, 1,
                out->lse + first * e, rows, c->dv, width);
    ops->store_node(t->o2, t->m2, t->l2, node, node_bytes, rows, c->dv, width);
    ops->load_node(t->o, t->m, t->l, node, node_bytes, rows, c->dv, width);
    ops->store_node(t->o, t->m, t->l, out->node_again + first * node_bytes, node_bytes, rows, c->dv,
                    width);
}

/* another exponent: from below the smallest f16 to beyond the largest, infinity and NaN */
static void scale_bits(char *x, int bytes, int64_t i)
{
    uint64_t wide;
    uint32_t single;
    const uint32_t step = (uint32_t)(i * 7 % 45) - 26;
    if (bytes == 8) {
        memcpy(&wide, x, 8);
        wide = (wide & UINT64_C(0x800fffffffffffff)) | (uint64_t)(1023 + (int32_t)step) << 52;
        if (i % 91 == 0) wide |= UINT64_C(0x7ff0000000000000);
        memcpy(x, &wide, 8);
    } else {
        memcpy(&single, x, 4);
        single = (single & 0x807fffff) | (127 + step) << 23;
        if (i % 91 == 0) single |= 0x7f800000;
        memcpy(x, &single, 4);
    }
}

enum { FEW_STATE = (ROWS_D + 16) * ROWS_BYTES, FEW_SPAN = 4096, FEW_BLOCKS = 32 };

/* the memory of few rows; `states` ends where o is aligned */
typedef struct few_memory {
    _Alignas(64) char s[QKVI_FEW_ROWS * FEW_SPAN * ROWS_BYTES], sums[QKVI_FEW_ROWS * FEW_STATE];
    _Alignas(64) char states[QKVI_FEW_ROWS * FEW_STATE], empty[FEW_STATE];
    char mb[QKVI_FEW_ROWS * FEW_BLOCKS * ROWS_BYTES], lb[QKVI_FEW_ROWS * FEW_BLOCKS * ROWS_BYTES];
    int32_t lo[QKVI_FEW_ROWS], hi[QKVI_FEW_ROWS];
} few_memory;

/* Rows [first, first + rows) as few rows that have met nothing yet. */
static qkvi_few few_rows(const qkvi_ops *ops, const rows_case *c, tile_memory *t, few_memory *f,
                         int64_t first, int64_t rows)
{
    const int e = c->bytes;
    const int64_t width = (rows + ops->lanes - 1) / ops->lanes * ops->lanes;
    char *const state = f->states + 64 - 2 * e;
    ops->pack(t->qt, c->q + c->offset + first * c->d * e, c->d, 1, rows, c->d, width, c->factor);
    ops->load_node(t->o, t->m, t->l, NULL, 0, 0, c->dv, width); /* all dead */
    ops->store_node(t->o, t->m, t->l, f->empty, (c->dv + 2) * e, 1, c->dv, width);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(state + r * FEW_STATE, f->empty, (size_t)((c->dv + 2) * e));
        f->lo[r] = c->ranged ? c->lo[first + r] : 0;
        f->hi[r] = c->ranged ? c->hi[first + r] : c->keys;
    }
    memset(f->s, 0x5A, sizeof f->s); /* what is not written shows */
    return (qkvi_few){.qt = t->qt,
                      .width = width,
                      .k = c->k + c->offset,
                      .v = c->v + c->offset,
                      .k_dtype = e == 4 ? QKV_F32 : QKV_F64,
                      .v_dtype = e == 4 ? QKV_F32 : QKV_F64,
                      .k_stride = c->d,
                      .v_stride = c->dv,
                      .d = c->d,
                      .dv = c->dv,
                      .rows = (int32_t)rows,
                      .keys = c->keys,
                      .lo = f->lo,
                      .hi = f->hi,
                      .s = f->s,
                      .mb = f->mb,
                      .lb = f->lb,
                      .sums = f->sums,
                      .state = state,
                      .sums_bytes = FEW_STATE,
                      .state_bytes = FEW_STATE};
}

/* The block twice, so that it also folds into something. */
static void run_few(const qkvi_ops *ops, const rows_case *c, rows_result *out, tile_memory *t,
                    int64_t first, int64_t rows)
{
    static few_memory memory;
    const int e = c->bytes;
    qkvi_few f = few_rows(ops, c, t, &memory, first, rows);
    for (int twice = 0; twice < 2; twice++) {
        memset(memory.s, 0x5A, sizeof memory.s);
        ops->few_score(&f);
        for (int64_t r = 0; r < rows; r++)
            memcpy(out->few_score + (first + r) * ROWS_KEYS * e, memory.s + r * FEW_SPAN * e,
                   (size_t)(c->keys * e));
        ops->few_weigh(&f);
        ops->few_blend(&f);
    }
    for (int64_t r = 0; r < rows; r++) {
        const int64_t at = first + r;
        const char *const state = (const char *)f.state + r * FEW_STATE;
        memcpy(out->few_weight + at * ROWS_KEYS * e, memory.s + r * FEW_SPAN * e,
               (size_t)(c->keys * e));
        memcpy(out->few_mb + at * e, memory.mb + r * FEW_BLOCKS * e, (size_t)e);
        memcpy(out->few_lb + at * e, memory.lb + r * FEW_BLOCKS * e, (size_t)e);
        memcpy(out->few_m + at * e, state, (size_t)e);
        memcpy(out->few_l + at * e, state + e, (size_t)e);
        memcpy(out->few_o + at * c->dv * e, state + 2 * e, (size_t)(c->dv * e));
    }
}

/* The bytes of keys and values as 16-bit numbers, which float tables read in place; and the same widened
 * before. */
static void run_few_halves(const qkvi_ops *ops, const rows_case *c, rows_result *out,
                           tile_memory *t, int64_t first, int64_t rows)
{
    static few_memory memory;
    static char k[sizeof c->k], v[sizeof c->v];
    const int32_t k_type = c->strips ? QKV_F16 : QKV_BF16, v_type = c->ranged ? QKV_F16 : QKV_BF16;
    for (int wide = 0; wide < 2; wide++) {
        qkvi_few f = few_rows(ops, c, t, &memory, first, rows);
        if (wide) {
            ops->widen(k, f.k, k_type, c->d, 1, c->keys, c->d);
            ops->widen(v, f.v, v_type, c->dv, 1, c->keys, c->dv);
            f.k = k;
            f.v = v;
        } else {
            f.k_dtype = k_type;
            f.v_dtype = v_type;
        }
        ops->few_score(&f);
        ops->few_weigh(&f);
        ops->few_blend(&f);
        for (int64_t r = 0; r < rows; r++)
            memcpy((wide ? out->few_widened : out->few_halves) + (first + r) * (c->dv + 2) * 4,
                   (const char *)f.state + r * FEW_STATE, (size_t)((c->dv + 2) * 4));
    }
}

/* the strips of a table, which differ in width, back to rows */
static void unstrip(const qkvi_ops *ops, const rows_case *c, char *to, const char *strips)
{
    const int64_t whole = c->dv / ops->strip;
    for (int64_t j = 0; j < c->keys; j++)
        for (int64_t i = 0; i < c->dv; i++) {
            const int64_t strip = i / ops->strip;
            const int64_t at = strip < whole
                                   ? strip * ops->strip_step + j * ops->strip + i % ops->strip
                                   : (whole + i - whole * ops->strip) * ops->strip_step + j;
            memcpy(to + (j * c->dv + i) * c->bytes, strips + at * c->bytes, (size_t)c->bytes);
        }
}

void rows_run(const qkvi_ops *ops, const rows_case *c, rows_result *r)
{
    static tile_memory t;
    const int64_t step = (int64_t)ops->lanes * QKVI_TILE_VECTORS;
    memset(r, 0, sizeof *r);
    for (int64_t first = 0; first < c->rows; first += step)
        run_tile(ops, c, r, &t, first, c->rows - first < step ? c->rows - first : step);
    const int64_t few = step < QKVI_FEW_ROWS ? step : QKVI_FEW_ROWS;
    for (int64_t first = 0; first < c->rows; first += few)
        run_few(ops, c, r, &t, first, c->rows - first < few ? c->rows - first : few);
    for (int64_t first = 0; first < c->rows && c->bytes == 4; first += few)
        run_few_halves(ops, c, r, &t, first, c->rows - first < few ? c->rows - first : few);
    /* values whose channels lie c->keys apart: strips take any stride too */
    ops->strips(t.v, c->v + c->offset, 1, c->keys, c->keys, c->dv);
    unstrip(ops, c, r->strips, t.v);
    /* keys as if their channels lay c->keys apart: any stride goes */
    ops->gather(r->gathered, c->k + c->offset, 1, c->keys, c->keys, c->d);
    /* either type with adjacent channels in half of the cases */
    const int32_t types[2] = {c->strips ? QKV_BF16 : QKV_F16, c->strips ? QKV_F16 : QKV_BF16};
    /* bytes of keys as 16-bit numbers: all kinds of them; channels adjacent, then keys */
    ops->widen(r->widened[0], c->k + c->offset, types[0], c->d, 1, c->keys, c->d);
    ops->widen(r->widened[1], c->k + c->offset, types[1], 1, c->keys, c->keys, c->d);
    char *const wide = r->wide; /* dense numbers for narrow; some subnormal, large or special */
    for (int64_t i = 0; i < c->rows * c->d; i++) {
        memcpy(wide + i * c->bytes, c->q + c->offset + i * c->bytes, (size_t)c->bytes);
        if (i % 3 == 0) scale_bits(wide + i * c->bytes, c->bytes, i);
    }
    ops->narrow(r->narrowed[0], wide, types[0], c->d, 1, c->rows, c->d);
    ops->narrow(r->narrowed[1], wide, types[1], 1, c->rows, c->rows, c->d);
}
