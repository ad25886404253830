/* SPDX-License-Identifier: MIT */
/* helpers.h - what the tests of the library share: small problems with their data, ways of running
 * them (instruction set, threads, executor, memory layout), the answers as dense arrays, and two
 * judges: a long double attention of its own, and equality of bits.
 *
 * Knows the public header only. A problem holds dense data; how it lies in memory during a run is
 * the layout's business, so that "strided equals contiguous" is one comparison of two answers.
 * Everything random comes from a seed; SEED= in the environment replaces it.
 */
#ifndef TEST_HELPERS_H
#define TEST_HELPERS_H

#include <qkv/qkv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cmocka wants these four first */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- numbers ------------------------------------------------------------------------------- */

typedef struct rng {
    uint64_t state;
} rng;

uint64_t rng_next(rng *r);
int64_t rng_range(rng *r, int64_t low, int64_t high); /* both inclusive */
double rng_unit(rng *r);                              /* [0, 1) */
double rng_normal(rng *r);
rng rng_from(uint64_t seed); /* mixed with SEED= when that is set */

/* Built for the address or the thread sanitizer: ten times slower and more. */
bool sanitized(void);
bool thread_sanitized(void);
/* How many of n cases to run: fewer when sanitized, more with a larger TEST_EFFORT=. */
int effort(int n);

size_t type_size(int32_t dtype);
double get_at(const void *x, int32_t dtype, int64_t i);
void put_at(void *x, int32_t dtype, int64_t i, double value); /* rounds to the type */
/* The bit pattern, for NaNs with a payload. f64 takes the 32 bits in its upper half. */
void put_bits(void *x, int32_t dtype, int64_t i, uint32_t bits);
bool is_plus_zero(const void *x, int32_t dtype, int64_t i);
uint64_t bytes_hash(const void *x, size_t n); /* FNV-1a, 64 bits */

/* Multiples of 1/64 in [-1, 1), the same for every type; index runs over the dense array. */
double gen_value(uint32_t seed, uint32_t index);
void fill_gen(void *x, int32_t dtype, int64_t n, uint32_t seed);
void fill_normal(void *x, int32_t dtype, int64_t n, rng *r);
/* sum of x[i] gen_value(777, i): one number that notices order and index mistakes */
double probe(const void *x, int32_t dtype, int64_t n);

/* ---- memory -------------------------------------------------------------------------------- */

typedef enum layout_kind {
    LAYOUT_DENSE = 0,       /* exactly as large as needed, for the address sanitizer */
    LAYOUT_GUARD_AFTER = 1, /* the last byte touches a page that may not be read */
    LAYOUT_GUARD_BEFORE = 2,
    LAYOUT_BSHD = 3,         /* memory order batch, position, head, channel */
    LAYOUT_TRANSPOSED = 4,   /* positions innermost, so the channel stride is the length */
    LAYOUT_EVERY_SECOND = 5, /* channel stride 2 */
    LAYOUT_REVERSED = 6,     /* all four strides negative */
    LAYOUT_RANDOM = 100      /* this and above: a random order, gaps, signs, byte shift */
} layout_kind;

/* A tensor in memory: the shape says where the elements of the dense array lie from base on. */
typedef struct block {
    unsigned char *mem, *map;
    size_t mem_size, map_size;
    void *base; /* element [0,0,0,0] */
    qkv_shape shape;
} block;

/* dense NULL: an output, filled with a canary. byte_shift moves the whole block (layouts other than
 * the guarded ones). */
block block_make(int32_t dtype, const int64_t dim[4], const void *dense, uint64_t layout,
                 size_t byte_shift);
void block_read(const block *b, void *dense);
/* An output after a run: no byte outside its elements has changed. Overwrites the elements. */
bool block_gaps_intact(block *b);
void block_free(block *b);

/* ---- threads ------------------------------------------------------------------------------- */

typedef enum exec_kind {
    EXEC_NULL = 0,  /* args.threads = NULL */
    EXEC_SERIAL,    /* ascending, on the caller's thread */
    EXEC_BACKWARDS, /* descending, on the caller's thread */
    EXEC_FRESH,     /* each index on a new thread, all at once */
    EXEC_POOL,      /* the library's pool */
    EXEC_SKIP_LAST, /* forgets the last index */
    EXEC_SKIP_ALL,  /* runs nothing */
    EXEC_TWICE      /* runs every index twice, one after the other */
} exec_kind;

typedef struct executor {
    qkv_threads threads;
    exec_kind kind;
    qkv_pool *pool;
    int32_t calls, most_tasks; /* parallel_for calls, the largest ntasks */
} executor;

void executor_init(executor *e, exec_kind kind, int32_t nthreads);
const qkv_threads *executor_threads(executor *e); /* NULL for EXEC_NULL */
void executor_done(executor *e);

/* ---- problems and answers ------------------------------------------------------------------ */

enum { PROB_BATCHES = 8, PROB_HEADS = 6 };

/* A tensor over (row, key) pairs: its numbers dense, and how it lies in memory during a run. */
typedef enum pair_form {
    PAIRS_DENSE,    /* as it is: dimensions of 1 repeat */
    PAIRS_EXPANDED, /* every dimension in full, those that repeat with stride 0 */
    PAIRS_SPREAD    /* reversed, with gaps between keys, rows and heads */
} pair_form;
typedef struct pair_tensor {
    int32_t dtype;
    pair_form form;
    int64_t dim[4]; /* 1 or the problem's; keys at most the problem's */
    double *x;      /* owned; NULL: none */
} pair_tensor;

/* What narrows the keys beside causal; read where prob.use says so. */
typedef struct prob_mask {
    int64_t window_left, window_right, prefix;
    int32_t align;
    int64_t sequences;
    int64_t kv_len[PROB_BATCHES], q_len[PROB_BATCHES], kv_start[PROB_BATCHES];
    pair_tensor bools, bias; /* QKV_USE_MASK, QKV_USE_BIAS */
    int32_t mask_drops;
    int32_t slopes_by_batch;
    double softcap, max_bias, dropout;
    /* [heads] or [batches][heads], in double and, made by prob_args(), in the problem's type */
    double slope[PROB_BATCHES * PROB_HEADS], sink[PROB_HEADS];
    char slope_numbers[PROB_BATCHES * PROB_HEADS * 8], sink_numbers[PROB_HEADS * 8];
    int64_t q_offset[PROB_BATCHES], cu_q[PROB_BATCHES + 1], cu_k[PROB_BATCHES + 1];
} prob_mask;

typedef struct prob {
    int32_t dtype;
    int64_t b, hq, hkv, sq, sk, d, dv;
    uint64_t use;
    double scale;
    int64_t q_offset;
    void *q, *k, *v; /* dense */
    prob_mask mask;
} prob;

prob prob_new(int32_t dtype, int64_t b, int64_t hq, int64_t hkv, int64_t sq, int64_t sk, int64_t d,
              int64_t dv); /* data all zero */
void prob_gen(prob *p, uint32_t seed_q, uint32_t seed_k, uint32_t seed_v);
void prob_normal(prob *p, rng *r);
void prob_causal(prob *p, int64_t q_offset);
void prob_scale(prob *p, double scale);
prob prob_copy(const prob *p);
prob prob_as(const prob *p, int32_t dtype);             /* the same values in another type */
prob prob_rows(const prob *p, int64_t from, int64_t n); /* query rows only; q_offset moves along */
prob prob_batch(const prob *p, int64_t batch);          /* one batch entry */
prob prob_sequence(const prob *p, int64_t s);           /* one packed sequence, by itself */
/* Does that row see that key (numbers of the tensors)? As the header defines it, without ranges. */
bool prob_sees(const prob *p, int64_t b, int64_t h, int64_t i, int64_t j);
/* A random combination of what is added to the scores; call after prob_random_mask(). */
void prob_random_added(prob *p, rng *r);
/* What softcap, ALiBi and bias make of a scaled score. */
long double prob_changed(const prob *p, int64_t b, int64_t h, int64_t i, int64_t j, long double s);
int64_t prob_offset(const prob *p, int64_t b); /* row i of batch b stands at key i + this */
/* A random combination of masks over the rows and keys that are there. */
void prob_random_mask(prob *p, rng *r);
/* NaN, infinities and odd bits into every key that no row sees and every row that sees no key;
 * returns into how many. */
int64_t prob_poison_unseen(prob *p, int salt);
double pair_at(const pair_tensor *t, int64_t b, int64_t h, int64_t i, int64_t j);
/* The part for batch b (-1: all), rows from i0 and keys from j0 on, n and m of them, where it has them all. */
pair_tensor pair_part(const pair_tensor *t, int64_t b, int64_t i0, int64_t n, int64_t j0,
                      int64_t m);
qkv_shape pair_shape(const pair_tensor *t, const prob *p);
/* Memory of exactly the elements; *base is element [0,0,0,0]. Free the result. A NULL tensor gives NULL.
 */
void *pair_memory(const pair_tensor *t, const prob *p, const void **base);

void prob_args(const prob *p, qkv_run_args *args);
/* Memory of mask and bias for one run. */
typedef struct pair_memories {
    void *bools, *bias;
} pair_memories;
pair_memories prob_tensors(const prob *p, qkv_run_args *args); /* with prob_args() */
void pair_memories_free(pair_memories *m);
/* slope[] and sink[] in the problem's type: after they have been set */
void prob_round_numbers(prob *p); /* the arrays that p->use asks for */
void prob_free(prob *p);
int64_t prob_nq(const prob *p);
int64_t prob_nk(const prob *p);
int64_t prob_nv(const prob *p);
int64_t prob_nout(const prob *p);
int64_t prob_nlse(const prob *p);

typedef struct how {
    int32_t isa;     /* a qkv_isa */
    int32_t threads; /* params.max_threads and the executor's nthreads; 0: 1 */
    exec_kind exec;
    uint64_t layout;
    size_t byte_shift;
} how;

typedef struct answer {
    qkv_status status;
    qkv_error err;
    void *out, *lse; /* dense */
    size_t out_bytes, lse_bytes;
    int32_t tasks;   /* the largest ntasks that the executor saw; 0 without one */
    char kernel[64]; /* from describe */
    size_t workspace_bytes;
} answer;

qkv_params prob_params(const prob *p, how h); /* dense strides */
answer prob_try(const prob *p, how h);        /* status in the answer */
answer prob_run(const prob *p, how h);        /* a failure fails the test */
void answer_free(answer *a);

/* The value of a line "name: value" of describe; "" when there is none. */
void describe_line(const qkv_plan *plan, const char *name, char *value, size_t value_size);

void *workspace_new(const qkv_plan *plan); /* 64-aligned, exactly as large as asked; NULL for 0 */

/* ---- judges -------------------------------------------------------------------------------- */

#define assert_same_answer(a, b, ...) same_answer_at(__FILE__, __LINE__, a, b, __VA_ARGS__)
void same_answer_at(const char *file, int line, const answer *a, const answer *b,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* One row in long double: out[dv], the lse and, for each channel, sum of w |v|. */
void oracle_row(const prob *p, int64_t b, int64_t h, int64_t i, long double *out, long double *lse,
                long double *absolute);

/* Error of rows as docs/numerics.md states it, over at most max_rows rows spread evenly. scaled:
 * divide by the row's largest sum of w |v| in place of its largest |out|. That is for rows of few
 * channels, where all of them may cancel. */
typedef struct row_error {
    double max, rms, lse; /* lse: largest absolute error */
} row_error;
row_error judge(const prob *p, const answer *a, int64_t max_rows, bool scaled);

/* The usable instruction sets with kernels, in the order of the library; without
 * QKV_ISA_REFERENCE. Returns how many. */
int usable_isas(int32_t isa[8]);
bool isa_is_slow(int32_t isa, int32_t dtype); /* fused multiply-add in software */
/* FLOP / 2 of a run, to keep slow tables on small cases */
double prob_work(const prob *p);

#endif
