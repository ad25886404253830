/* SPDX-License-Identifier: MIT */
/* bench_list.c - the rows of `qkv bench`: which shapes are measured, with how many threads, and what
 * a row says to the library.
 *
 * A row whose feature the library refuses as unsupported is left out by the caller, so the list may
 * be ahead of the library. Work is counted in pairs that are seen: 2 d operations for the score and
 * 2 d for the value.
 */
#include "cli/bench_rows.h"

enum { ONE = 1, ALL = 2, BOTH = 3 }; /* threads: sums */

typedef struct writer {
    bench_row *rows;
    int n;
    bool quick;
    int has; /* that this machine has: ONE or BOTH */
} writer;

static void add(writer *w, bench_row row, int wanted)
{
    if (!row.kv_heads) row.kv_heads = row.heads;
    if (!row.rows) row.rows = row.s;
    const double pairs = bench_row_pairs(&row);
    row.flops = 4 * pairs * (double)row.heads * (double)row.d;
    if (!row.calls) row.calls = 1;
    for (int all = 0; all < 2; all++) {
        if (!(wanted & w->has & (all ? ALL : ONE)) || w->n == BENCH_MAX_ROWS) continue;
        row.all = all;
        w->rows[w->n++] = row;
    }
}

static void add_prefill(writer *w)
{
    static const int64_t lengths[] = {256, 512, 2048};
    for (int si = 0; si < 3; si++)
        for (int64_t d = 64; d <= 128; d += 64)
            for (int causal = 0; causal < 2; causal++) {
                bench_row row = {.what = "prefill",
                                 .dtype = QKV_F32,
                                 .heads = BENCH_HEADS,
                                 .s = lengths[si],
                                 .d = d,
                                 .mask = causal ? BENCH_CAUSAL : BENCH_FULL};
                add(w, row, BOTH);
                if (row.s < 2048 || causal) continue;
                row.what = "prefill strided";
                row.strided = true;
                add(w, row, w->quick ? ONE : BOTH);
            }
    for (int64_t d = 64; d <= 128; d += 64)
        for (int causal = 0; causal < 2; causal++) {
            if (w->quick && causal) continue;
            add(w,
                (bench_row){.what = "prefill",
                            .dtype = QKV_F64,
                            .heads = BENCH_HEADS,
                            .s = 2048,
                            .d = d,
                            .mask = causal ? BENCH_CAUSAL : BENCH_FULL},
                w->quick ? ONE : BOTH);
        }
}

/* Two heads of 8,192 rows, masks that are tensors, 16-bit types. */
static void add_features(writer *w)
{
    static const bench_mask ranges[] = {BENCH_FULL, BENCH_CAUSAL, BENCH_WINDOW};
    for (int64_t d = 64; d <= 128; d += 64)
        for (int i = 0; i < 3; i++)
            add(w,
                (bench_row){.what = "prefill",
                            .dtype = QKV_F32,
                            .heads = 2,
                            .s = 8192,
                            .d = d,
                            .mask = ranges[i]},
                BOTH);
    for (int mask = BENCH_BOOL; mask <= BENCH_BIAS_HEADS; mask++)
        add(w,
            (bench_row){.what = "prefill",
                        .dtype = QKV_F32,
                        .heads = BENCH_HEADS,
                        .s = 2048,
                        .d = 128,
                        .mask = (bench_mask)mask},
            ONE);
    for (int32_t dtype = QKV_F16; dtype <= QKV_BF16; dtype++)
        for (int64_t d = 64; d <= 128; d += 64)
            add(w,
                (bench_row){
                    .what = "prefill", .dtype = dtype, .heads = BENCH_HEADS, .s = 2048, .d = d},
                ONE);
}

/* One query row: K and V are larger than the caches. */
static void add_decode(writer *w)
{
    static const int64_t shapes[][3] = {{32, 32, 4096}, {32, 8, 32768}, {64, 8, 16384}};
    static const int32_t dtypes[] = {QKV_F32, QKV_F16, QKV_BF16};
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < 3; t++) {
            if (w->quick && (i || t)) continue;
            bench_row row = {.what = "decode",
                             .dtype = dtypes[t],
                             .heads = shapes[i][0],
                             .kv_heads = shapes[i][1],
                             .rows = 1,
                             /* as many bytes in half as wide elements */
                             .s = shapes[i][2] * (i == 0 && t > 0 ? 2 : 1),
                             .d = 128};
            row.bytes = 2 * (double)row.kv_heads * (double)row.s * (double)row.d * (t ? 2 : 4);
            add(w, row, BOTH);
        }
}

int bench_list(bench_row *rows, bool quick, int32_t threads)
{
    writer w = {rows, 0, quick, threads > 1 ? BOTH : ONE};
    add_prefill(&w);
    add(&w,
        (bench_row){.what = "tiny", .dtype = QKV_F32, .heads = 1, .s = 16, .d = 64, .calls = 1000},
        ONE);
    if (!quick) add_features(&w);
    add_decode(&w);
    return w.n;
}

/* ---- a row, said to the library --------------------------------------------------------------- */

/* [head][row][channel], or rows of all heads side by side: [row][head][channel]. */
static qkv_shape tensor(const bench_row *r, int64_t heads, int64_t rows)
{
    qkv_shape shape = qkv_shape_dense(r->dtype, 1, heads, rows, r->d);
    if (r->strided) {
        shape.stride[1] = r->d;
        shape.stride[2] = heads * r->d;
    }
    return shape;
}

qkv_params bench_row_params(const bench_row *r, int32_t isa, int32_t threads)
{
    qkv_params p = qkv_params_init();
    p.isa = isa;
    p.q = p.out = tensor(r, r->heads, r->rows);
    p.k = p.v = tensor(r, r->kv_heads, r->s);
    p.max_threads = r->all ? threads : 1;
    const bool each = r->mask == BENCH_BOOL_HEADS || r->mask == BENCH_BIAS_HEADS;
    switch (r->mask) {
    case BENCH_FULL:
        break;
    case BENCH_CAUSAL:
        p.use = QKV_USE_CAUSAL;
        break;
    case BENCH_WINDOW:
        p.use = QKV_USE_WINDOW;
        p.window_left = BENCH_WINDOW_LEFT;
        p.window_right = 0;
        break;
    case BENCH_BOOL:
    case BENCH_BOOL_HEADS:
        p.use = QKV_USE_MASK;
        p.mask = qkv_shape_dense(QKV_BOOL, 1, each ? r->heads : 1, r->rows, r->s);
        break;
    case BENCH_BIAS:
    case BENCH_BIAS_HEADS:
        p.use = QKV_USE_BIAS;
        p.bias = qkv_shape_dense(QKV_F32, 1, each ? r->heads : 1, r->rows, r->s);
        break;
    }
    return p;
}

bool bench_row_is_wide(const bench_row *r)
{
    return r->dtype == QKV_F64;
}

double bench_row_pairs(const bench_row *r)
{
    const double s = (double)r->s, rows = (double)r->rows;
    const double left = BENCH_WINDOW_LEFT; /* shorter than any window's row count */
    switch (r->mask) {
    case BENCH_CAUSAL: /* no offset, as many rows as keys: row i sees i + 1 keys */
        return s * (s + 1) / 2;
    case BENCH_WINDOW:
        return left * (left + 1) / 2 + (s - left) * (left + 1);
    case BENCH_BOOL:
    case BENCH_BOOL_HEADS:
    case BENCH_BIAS:
    case BENCH_BIAS_HEADS:
        return rows * s / 2;
    case BENCH_FULL:
        break;
    }
    return rows * s;
}

const char *bench_mask_name(bench_mask mask)
{
    static const char *const names[] = {"full",   "causal", "window", "bool",
                                        "bool-h", "bias",   "bias-h"};
    return names[mask];
}

const char *bench_dtype_name(int32_t dtype)
{
    return dtype == QKV_F64 ? "f64" : dtype == QKV_F16 ? "f16" : dtype == QKV_BF16 ? "bf16" : "f32";
}

double bench_row_seconds(const bench_row *r)
{
    return 1e-9 * r->flops / r->gflops;
}

double bench_row_limit(const bench_row *r, const bench_limits *limits)
{
    const double peak = (bench_row_is_wide(r) ? limits->peak_f64 : limits->peak_f32)[r->all];
    if (r->bytes <= 0) return peak;
    const double read = r->read > limits->read[r->all] ? r->read : limits->read[r->all];
    const double by_read = read * r->flops / r->bytes;
    return by_read < peak ? by_read : peak;
}
