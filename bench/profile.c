/* SPDX-License-Identifier: MIT */
/* profile.c - where the time of a whole run goes, with one thread: each function of the kernel table is
 * timed while a plan works, through a copy of the table that calls it. Prints a table in Markdown; nothing
 * is judged. --quick: small runs, once.
 *
 * What lies between the calls (finding what is seen of a tile, bool masks, the fold tree) is the rest.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include "base/shape.h"
#include "plan/plan.h"
#include "run/show.h"
#include <qkv/qkv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SCORE, WEIGH, BLEND, VALUES, ROWS, ADDED, PHASES };
enum { ROUNDS = 7, SQUARE = 128, HUGE_PAGE = 2 << 20, READ_BYTES = 128 << 20 };

static int quick;
static const void *read_from; /* READ_BYTES */
static const qkvi_ops *real_ops;
static double spent[PHASES];
static double pairs; /* of a row and a key that score works on */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define TIMED(phase, name, parameters, ...)                                                        \
    static void timed_##name parameters                                                            \
    {                                                                                              \
        const double start = now();                                                                \
        real_ops->name(__VA_ARGS__);                                                               \
        spent[phase] += now() - start;                                                             \
    }
TIMED(SCORE, score, (qkvi_step * t), t)
TIMED(WEIGH, weigh, (qkvi_step * t), t)
TIMED(BLEND, blend, (qkvi_step * t), t)
TIMED(SCORE, few_score, (qkvi_few * t), t)
TIMED(WEIGH, few_weigh, (qkvi_few * t), t)
TIMED(BLEND, few_blend, (qkvi_few * t), t)
TIMED(VALUES, strips,
      (void *to, const void *from, int64_t row_stride, int64_t channel_stride, int64_t keys,
       int64_t channels),
      to, from, row_stride, channel_stride, keys, channels)
TIMED(VALUES, gather,
      (void *to, const void *from, int64_t row_stride, int64_t channel_stride, int64_t rows,
       int64_t channels),
      to, from, row_stride, channel_stride, rows, channels)
TIMED(VALUES, widen,
      (void *to, const void *from, int32_t dtype, int64_t row_stride, int64_t channel_stride,
       int64_t rows, int64_t channels),
      to, from, dtype, row_stride, channel_stride, rows, channels)
TIMED(ROWS, narrow,
      (void *to, const void *from, int32_t dtype, int64_t row_stride, int64_t channel_stride,
       int64_t rows, int64_t channels),
      to, from, dtype, row_stride, channel_stride, rows, channels)
TIMED(ROWS, pack,
      (void *qt, const void *q, int64_t row_stride, int64_t channel_stride, int64_t rows, int64_t d,
       int64_t width, double f),
      qt, q, row_stride, channel_stride, rows, d, width, f)
TIMED(ROWS, finish,
      (const void *o, const void *m, const void *l, double factor, void *out, int64_t row_stride,
       int64_t channel_stride, void *lse, int64_t rows, int64_t dv, int64_t width),
      o, m, l, factor, out, row_stride, channel_stride, lse, rows, dv, width)
TIMED(ADDED, bias_seen,
      (const void *from, int32_t dtype, int64_t row_stride, int64_t key_stride, int64_t rows,
       int64_t keys, uint64_t (*live)[2]),
      from, dtype, row_stride, key_stride, rows, keys, live)
TIMED(ADDED, bias,
      (void *to, const void *from, int32_t dtype, int64_t row_stride, int64_t key_stride,
       int64_t rows, int64_t keys, int64_t width),
      to, from, dtype, row_stride, key_stride, rows, keys, width)

/* The keys that score computes for a vector of rows: whole eights. */
static void count_pairs(const qkvi_step *t)
{
    const int lanes = real_ops->lanes;
    for (int v = 0; v < t->vectors; v++) {
        int32_t lo = t->lo ? t->keys : 0, hi = t->lo ? 0 : t->keys;
        for (int r = v * lanes; t->lo && r < (v + 1) * lanes; r++) {
            if (t->lo[r] >= t->hi[r]) continue;
            if (t->lo[r] < lo) lo = t->lo[r];
            if (t->hi[r] > hi) hi = t->hi[r];
        }
        if (lo < hi) pairs += ((hi + 7) / 8 * 8 - lo / 8 * 8) * (double)lanes;
    }
}

static void counted_score(qkvi_step *t)
{
    count_pairs(t);
    timed_score(t);
}

/* One line of the table. */
typedef struct shape {
    const char *what; /* types and sizes follow in the table */
    int32_t dtype;
    int64_t heads, kv_heads, rows, keys, d;
    int64_t window;               /* -1: none */
    int causal, mask, bias, each; /* each: a mask or bias for each head */
} shape;

static const shape shapes[] = {
    {"full, S 2,048", QKV_F32, 4, 4, 2048, 2048, 128, -1, 0, 0, 0, 0},
    {"full, S 2,048", QKV_F32, 4, 4, 2048, 2048, 64, -1, 0, 0, 0, 0},
    {"causal, S 2,048", QKV_F32, 4, 4, 2048, 2048, 128, -1, 1, 0, 0, 0},
    {"full, S 256", QKV_F32, 16, 16, 256, 256, 128, -1, 0, 0, 0, 0},
    {"causal, S 256", QKV_F32, 16, 16, 256, 256, 128, -1, 1, 0, 0, 0},
    {"bool mask, half dead", QKV_F32, 8, 8, 2048, 2048, 128, -1, 0, 1, 0, 0},
    {"bool mask for each head", QKV_F32, 4, 4, 2048, 2048, 128, -1, 0, 1, 0, 1},
    {"bias, half dead", QKV_F32, 8, 8, 2048, 2048, 128, -1, 0, 0, 1, 0},
    {"bias for each head", QKV_F32, 4, 4, 2048, 2048, 128, -1, 0, 0, 1, 1},
    {"window 256, S 8,192", QKV_F32, 2, 2, 8192, 8192, 128, 256, 1, 0, 0, 0},
    {"full, S 2,048", QKV_F64, 4, 4, 2048, 2048, 128, -1, 0, 0, 0, 0},
    {"full, S 2,048", QKV_F64, 4, 4, 2048, 2048, 64, -1, 0, 0, 0, 0},
    {"one row, G = 4", QKV_F32, 32, 8, 1, 32768, 128, -1, 0, 0, 0, 0},
    {"one row, G = 4", QKV_F16, 32, 8, 1, 32768, 128, -1, 0, 0, 0, 0},
    {"one row, G = 4", QKV_BF16, 32, 8, 1, 32768, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8", QKV_F32, 64, 8, 1, 16384, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8", QKV_F16, 64, 8, 1, 16384, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8", QKV_BF16, 64, 8, 1, 16384, 128, -1, 0, 0, 0, 0},
    {"one row, G = 4, in the cache", QKV_F32, 4, 1, 1, 640, 128, -1, 0, 0, 0, 0},
    {"one row, G = 4, in the cache", QKV_F16, 4, 1, 1, 1280, 128, -1, 0, 0, 0, 0},
    {"one row, G = 4, in the cache", QKV_BF16, 4, 1, 1, 1280, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8, in the cache", QKV_F32, 8, 1, 1, 640, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8, in the cache", QKV_F16, 8, 1, 1, 1280, 128, -1, 0, 0, 0, 0},
    {"one row, G = 8, in the cache", QKV_BF16, 8, 1, 1, 1280, 128, -1, 0, 0, 0, 0},
};

static uint64_t random_state = 88172645463325252u;
static double draw(void) /* [0, 1) */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

static void *allocate(size_t bytes)
{
    const size_t whole = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    void *const p = aligned_alloc(HUGE_PAGE, whole);
    if (p == NULL) return NULL;
    (void)madvise(p, whole, MADV_HUGEPAGE);
    memset(p, 0, whole);
    return p;
}

static void *tensor(int32_t dtype, int64_t n)
{
    char *const p = allocate((size_t)(n * qkvi_dtype_bytes(dtype)));
    for (int64_t i = 0; p && i < n; i++) qkvi_put(p, i, dtype, 2 * draw() - 1);
    return p;
}

/* Squares of 128 x 128, each live or dead; *live: the part that lives. bytes, or float32 biases. */
static void *squares(const shape *x, double *live)
{
    const int64_t heads = x->each ? x->heads : 1, side = x->keys / SQUARE;
    char *const p = allocate((size_t)(heads * x->rows * x->keys * (x->bias ? 4 : 1)));
    int64_t lives = 0;
    for (int64_t q = 0; p && q < heads * side * side; q++) {
        const int is = draw() < 0.5;
        const int64_t row = q / side * SQUARE, key = q % side * SQUARE;
        lives += is;
        for (int64_t i = 0; i < SQUARE * SQUARE; i++) {
            const int64_t at = (row + i / SQUARE) * x->keys + key + i % SQUARE;
            const float b = is ? (float)draw() : -__builtin_inff();
            if (x->bias)
                ((float *)(void *)p)[at] = b;
            else
                p[at] = (char)is;
        }
    }
    *live = (double)lives / (double)(heads * side * side);
    return p;
}

/* pairs that somebody asks for, of all heads */
static double asked_pairs(const shape *x, double live)
{
    double n = 0;
    for (int64_t i = 0; i < x->rows; i++) {
        const int64_t all = x->causal ? i + 1 : x->keys;
        n += (double)(x->window >= 0 && x->window + 1 < all ? x->window + 1 : all);
    }
    return n * live * (double)x->heads;
}

/* The best of some calls: multiply-adds or bytes a second. */
static double peak(const qkv_plan *p)
{
    double best = 0;
    for (int32_t variant = 0; variant < 6; variant++) {
        const double start = now();
        const double work = (p->real_bytes == 4 ? p->kernels->probe_fma32
                                                : p->kernels->probe_fma64)(400, variant % 3);
        const double rate = work / (now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

static double read_rate(const qkv_plan *p)
{
    double best = 0;
    for (int32_t variant = 0; variant < 6; variant++) {
        const double start = now();
        const double work =
            p->kernels->probe_read(read_from, READ_BYTES / (quick ? 16 : 1), 1, variant % 3);
        const double rate = work / (now() - start);
        if (rate > best) best = rate;
    }
    return best;
}

/* Bytes of all inputs and of the output, each once. */
static double bytes_of(const shape *x)
{
    const double rows = 2 * (double)x->heads * (double)x->rows,
                 keys = 2 * (double)x->kv_heads * (double)x->keys;
    const double pairs_of = (double)(x->each ? x->heads : 1) * (double)x->rows * (double)x->keys;
    return (rows + keys) * (double)x->d * (double)qkvi_dtype_bytes(x->dtype) +
           pairs_of * (x->bias   ? 4
                       : x->mask ? 1
                                 : 0);
}

/* The best round of one shape. */
typedef struct outcome {
    double asked, seconds, top, reads;
    double spent[PHASES], pairs;
} outcome;

static void print_line(const shape *x, const outcome *o)
{
    static const char *const names[] = {
        [QKV_F64] = "f64", [QKV_F32] = "f32", [QKV_F16] = "f16", [QKV_BF16] = "bf16"};
    const double flops = 4 * (double)x->d;
    double rest = o->seconds;
    for (int i = 0; i < PHASES; i++) rest -= o->spent[i];
    printf("| %s, %s, d %lld | %.1f %% |", names[x->dtype], x->what, (long long)x->d,
           100 * o->asked * flops / o->seconds / o->top);
    for (int i = 0; i < PHASES; i++) printf(" %.1f %% |", 100 * o->spent[i] / o->seconds);
    const double computed = o->pairs > 0 ? o->pairs : o->asked; /* few rows count none */
    const double three = o->spent[SCORE] + o->spent[WEIGH] + o->spent[BLEND];
    printf(" %.1f %% | %.2f | %.0f %% | %.0f %% | %.1f %% | %.1f %% |\n", 100 * rest / o->seconds,
           computed / o->asked, 100 * computed * flops / 2 / o->spent[SCORE] / o->top,
           100 * computed * flops / 2 / o->spent[BLEND] / o->top,
           100 * o->asked * flops / three / o->top, 100 * bytes_of(x) / o->reads / o->seconds);
}

/* The plan's table in a copy that keeps time. */
static qkvi_ops timed_ops(const qkvi_ops *ops)
{
    qkvi_ops t = *ops;
    t.score = counted_score;
    t.weigh = timed_weigh;
    t.blend = timed_blend;
    t.few_score = timed_few_score;
    t.few_weigh = timed_few_weigh;
    t.few_blend = timed_few_blend;
    t.strips = timed_strips;
    t.gather = timed_gather;
    t.widen = timed_widen;
    t.narrow = timed_narrow;
    t.pack = timed_pack;
    t.finish = timed_finish;
    t.bias_seen = timed_bias_seen;
    t.bias = timed_bias;
    return t;
}

static int failed(const char *why)
{
    fprintf(stderr, "profile: %s\n", why);
    return 1;
}

/* Runs the plan some times; 1 on failure. A call that is over in a moment is repeated, and finds its inputs
 * in the cache. */
static int measure(qkv_plan *plan, const qkv_run_args *a, outcome *o)
{
    const int repeat = o->asked < 1e5 ? 64 : 1;
    qkv_error error = qkv_error_init();
    real_ops = plan->ops;
    const qkvi_ops timed = timed_ops(real_ops);
    plan->ops = &timed;
    o->seconds = 1e9;
    o->top = o->reads = 0;
    for (int n = 0; n < (quick ? 1 : ROUNDS); n++) {
        const double rate = peak(plan), reads = read_rate(plan);
        if (rate > o->top) o->top = rate;
        if (reads > o->reads) o->reads = reads;
        (void)qkv_run(plan, a, &error); /* as a caller finds it who has just written its inputs */
        memset(spent, 0, sizeof spent);
        pairs = 0;
        const double start = now();
        for (int i = 0; i < repeat && !error.text[0]; i++) (void)qkv_run(plan, a, &error);
        const double seconds = (now() - start) / repeat;
        if (error.text[0]) break;
        if (seconds >= o->seconds) continue;
        o->seconds = seconds;
        o->pairs = pairs / repeat;
        for (int i = 0; i < PHASES; i++) o->spent[i] = spent[i] / repeat;
    }
    plan->ops = real_ops;
    return error.text[0] ? failed(error.text) : 0;
}

static qkv_params params_of(const shape *x)
{
    const int64_t pair_heads = x->each ? x->heads : 1;
    qkv_params p = qkv_params_init();
    p.q = p.out = qkv_shape_dense(x->dtype, 1, x->heads, x->rows, x->d);
    p.k = p.v = qkv_shape_dense(x->dtype, 1, x->kv_heads, x->keys, x->d);
    p.max_threads = 1;
    if (x->causal) p.use |= QKV_USE_CAUSAL;
    if (x->window >= 0) {
        p.use |= QKV_USE_WINDOW;
        p.window_left = x->window;
        p.window_right = -1;
    }
    if (x->mask) {
        p.use |= QKV_USE_MASK;
        p.mask = qkv_shape_dense(QKV_BOOL, 1, pair_heads, x->rows, x->keys);
    }
    if (x->bias) {
        p.use |= QKV_USE_BIAS;
        p.bias = qkv_shape_dense(QKV_F32, 1, pair_heads, x->rows, x->keys);
    }
    return p;
}

static int profile_one(const shape *x)
{
    const qkv_params params = params_of(x);
    qkv_error error = qkv_error_init();
    qkv_plan *plan;
    if (qkv_plan_create(&plan, &params, NULL, &error)) return failed(error.text);
    double live = 1;
    const int64_t nq = x->heads * x->rows * x->d, nk = x->kv_heads * x->keys * x->d;
    void *const made = x->mask || x->bias ? squares(x, &live) : allocate(1);
    void *const all[] = {tensor(x->dtype, nq),
                         tensor(x->dtype, nk),
                         tensor(x->dtype, nk),
                         tensor(x->dtype, nq),
                         allocate((size_t)qkv_plan_workspace(plan)),
                         made};
    int missing = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) missing |= all[i] == NULL;
    qkv_run_args a = qkv_run_args_init();
    a.q = all[0];
    a.k = all[1];
    a.v = all[2];
    a.out = all[3];
    a.workspace = all[4];
    a.workspace_size = qkv_plan_workspace(plan);
    a.mask = x->mask ? made : NULL;
    a.bias = x->bias ? made : NULL;
    outcome o = {.asked = asked_pairs(x, live)};
    const int wrong = missing ? failed("out of memory") : measure(plan, &a, &o);
    if (!wrong) print_line(x, &o);
    qkv_plan_destroy(plan);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--quick") != 0)) {
        fprintf(stderr, "usage: profile [--quick]\n");
        return 2;
    }
    quick = argc == 2;
    void *const memory = allocate(READ_BYTES);
    if (memory == NULL) return failed("out of memory");
    read_from = memory;
    int wrong = 0;
    printf(
        "| run | of the peak | score | weigh | blend | copies | rows in, out | biases | rest | "
        "pairs | score's speed | blend's speed | three alone | reading |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] && !wrong; i++) {
        if (quick && shapes[i].rows * shapes[i].keys > 1 << 16) continue;
        wrong = profile_one(shapes + i);
        fflush(stdout);
    }
    free(memory);
    return wrong;
}
