/* SPDX-License-Identifier: MIT */
/* attention.h - scaled dot-product attention: plan once for a shape, run often.
 *
 *     out[b,h,i,:] = sum over the keys j that row i may see of  w[j] * v[b,h',j,:]
 *     w            = softmax over those j of  scale * (q[b,h,i,:] . k[b,h',j,:])
 *
 * (Vaswani et al. 2017, section 3.2.1). h' = h / (q heads / k heads): grouped heads, neighbours
 * share. A row that may see no key gives out = +0 and lse = -inf. Every bit of the result is fixed
 * by docs/numerics.md and does not depend on threads, batch, strides or instruction set.
 *
 * A plan holds shapes, a run holds pointers. qkv_run() never allocates, locks, logs or reads the
 * environment; the floating-point environment is set for its own work and given back.
 */
#ifndef QKV_ATTENTION_H
#define QKV_ATTENTION_H

#include <qkv/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Features compose: a row sees the intersection. A member of qkv_params that belongs to a feature
 * is read only if its bit is set; a pointer of qkv_run_args that belongs to one is refused without
 * it, since nobody would look at what it points at. A bit that this version does not know is refused. */
#define QKV_USE_SCALE (UINT64_C(1) << 0)     /* params.scale in place of 1 / sqrt(q.dim[3]) */
#define QKV_USE_CAUSAL (UINT64_C(1) << 1)    /* row i sees key j only if j <= its position */
#define QKV_USE_WINDOW (UINT64_C(1) << 2)    /* params.window_left, .window_right */
#define QKV_USE_PREFIX (UINT64_C(1) << 3)    /* causal, but keys 0 ... params.prefix - 1 are seen */
#define QKV_USE_KV_LEN (UINT64_C(1) << 4)    /* args.kv_len: keys of each batch */
#define QKV_USE_Q_LEN (UINT64_C(1) << 5)     /* args.q_len: rows of each batch */
#define QKV_USE_KV_START (UINT64_C(1) << 6)  /* args.kv_start: keys of left padding of each batch */
#define QKV_USE_Q_OFFSETS (UINT64_C(1) << 7) /* args.q_offset in place of params.q_offset */
#define QKV_USE_PACKED (UINT64_C(1) << 8)    /* params.sequences in one batch: args.cu_q, .cu_k */

#define QKV_USE_MASK (UINT64_C(1) << 9)      /* params.mask: a tensor says who sees whom */
#define QKV_USE_BIAS (UINT64_C(1) << 10)     /* params.bias: a tensor added to the scores */
#define QKV_USE_ALIBI (UINT64_C(1) << 11)    /* params.alibi_max_bias, or args.slopes */
#define QKV_USE_SOFTCAP (UINT64_C(1) << 12)  /* params.softcap */
#define QKV_USE_SINK (UINT64_C(1) << 13)     /* args.sinks: one score more for every row */
#define QKV_USE_RULE (UINT64_C(1) << 14)     /* args.rule: the caller's own function of a score */
#define QKV_USE_DROPOUT (UINT64_C(1) << 15)  /* params.dropout, args.seed */
#define QKV_USE_KEY_SUMS (UINT64_C(1) << 16) /* args.key_sums: what all rows give each key */

/* Where rows stand among the keys. */
typedef enum qkv_align {
    QKV_ALIGN_OFFSET = 0,      /* row 0 at key q_offset */
    QKV_ALIGN_TOP_LEFT = 1,    /* row 0 at key 0 */
    QKV_ALIGN_BOTTOM_RIGHT = 2 /* the last row at the last key, of each batch by its own lengths */
} qkv_align;

/* What is to be computed. Grows at the end only. Start from qkv_params_init().
 *
 *   q    [batch, heads,    rows, d]      d >= 1; the other sizes may be 0
 *   k    [batch, kv heads, keys, d]      kv heads divides heads
 *   v    [batch, kv heads, keys, d_v]
 *   out  [batch, heads,    rows, d_v]    its strides never let two elements meet
 *
 * q of QKV_F64: float64 throughout, k and v of any dtype. Any other q: float32 arithmetic, k and v of
 * QKV_F32, QKV_F16 or QKV_BF16, each its own. out of any dtype: the result, rounded once more. */
typedef struct qkv_params {
    uint32_t size;
    int32_t isa;  /* a qkv_isa */
    uint64_t use; /* QKV_USE_... */
    qkv_shape q, k, v, out;
    /* QKV_USE_SCALE: times log2(e), in the accumulator's type, 0 or a normal number; may be negative */
    double scale;
    int64_t q_offset;    /* row i stands at position i + q_offset; |q_offset| <= 2^62, used or not.
                         Top-left is 0, bottom-right keys - rows */
    int32_t max_threads; /* 0: 1; at most 1,024. Sizes the workspace, never changes the result */
    int32_t reserved;    /* 0 */
    /* QKV_USE_WINDOW: a row at position p sees keys p - left ... p + right, both included; -1: that
     * side is open */
    int64_t window_left, window_right;
    int64_t prefix;    /* QKV_USE_PREFIX: >= 0. With QKV_USE_CAUSAL or without, the same */
    int64_t sequences; /* QKV_USE_PACKED: >= 1 */
    int32_t align;     /* a qkv_align; other than 0: in place of q_offset */
    int32_t reserved2; /* 0 */
    /* [batch, heads, rows, keys] as in the tensors; 1 in place of the first three, or a stride of 0,
     * repeats; keys beyond the last dimension are not seen.
     * mask: QKV_BOOL or QKV_BITS, true keeps; with mask_drops 1 true drops.
     * bias: F32, F16, BF16 or F64; -inf: not seen. */
    qkv_shape mask, bias;
    int32_t mask_drops;
    int32_t slopes_by_batch; /* args.slopes is 0: [heads], 1: [batch][heads] */
    /* QKV_USE_ALIBI adds slope * -|position - key|. > 0: slope of head h is 2^(-max_bias (h + 1) / n),
     * n the largest power of two up to the number of heads; of the heads from n on
     * 2^(-max_bias (2 (h - n) + 1) / (2 n)). At most 1,000. 0: args.slopes */
    double alibi_max_bias;
    /* QKV_USE_SOFTCAP: > 0, and neither 2 / softcap nor softcap times log2(e) leaves the accumulator's
     * normal numbers; a scaled score s becomes softcap * tanh(s / softcap) */
    double softcap;
    double dropout; /* QKV_USE_DROPOUT: chance in [0, 1] that a weight is dropped */
} qkv_params;

/* Immutable after creation: one plan may run on many threads at once, each run with a workspace
 * of its own. */
typedef struct qkv_plan qkv_plan;

/* Checks everything that can be checked without data. On failure *plan is NULL and err names the
 * argument, its value and the bound. alloc NULL: the C library's memory. */
QKV_API qkv_status qkv_plan_create(qkv_plan **plan, const qkv_params *params,
                                   const qkv_allocator *alloc, qkv_error *err);
QKV_API void qkv_plan_destroy(qkv_plan *plan); /* NULL is fine; for created plans only */

/* The same in the caller's memory: 64-aligned, of at least qkv_plan_size() bytes, kept until the
 * last run has ended; nothing to destroy. */
QKV_API size_t qkv_plan_size(void);
QKV_API qkv_status qkv_plan_place(qkv_plan **plan, void *mem, size_t mem_size,
                                  const qkv_params *params, qkv_error *err);

/* Bytes that each run needs as workspace (64-aligned), a multiple of 64, for params.max_threads
 * threads: at most 2 MB a thread while d and d_v are at most 256, however many rows, heads, keys
 * and batches there are (the reference: 42 bytes a key). QKV_USE_KEY_SUMS adds two numbers for each
 * row, QKV_USE_PACKED eight bytes for each sequence. 0 is possible. */
QKV_API size_t qkv_plan_workspace(const qkv_plan *plan);

/* Text for people and bug reports, a line "name: value" each: libqkv, contract, kernel (with its
 * tile), types, rows per item, items, tasks, spans, mask, scale, workspace, pages, strides, channels (what
 * is copied before it is read). Writes at most text_size bytes with the final 0 and returns the length that the whole text has, as snprintf
 * does. */
QKV_API size_t qkv_plan_describe(const qkv_plan *plan, char *text, size_t text_size);

/* ---- experimental: see the numbers inside ---------------------------------------------------- */

/* The reference (QKV_ISA_REFERENCE) shows all of them, in double; the kernels show SCALED and
 * WEIGHT, in the accumulator's type (double for a q of QKV_F64, else float). */
typedef enum qkv_stage {
    QKV_STAGE_SCORE = 1,  /* q . k */
    QKV_STAGE_SCALED = 2, /* times scale; a number for masked keys too */
    QKV_STAGE_MASKED = 3, /* the same, -inf where the row may not look */
    QKV_STAGE_WEIGHT = 4, /* after softmax; +0 where it may not look */
    QKV_STAGE_OUT = 5     /* the row of out, before it is rounded to the output's type */
} qkv_stage;

/* Sees stages of every row. Runs with a tap use one thread, the caller's; rows come in order
 * (batch, head, row), inside a row the wanted stages in order, inside a stage x[0 ... n) are the
 * values of keys key ... key + n - 1 (channels for QKV_STAGE_OUT), ascending, none left out; without
 * keys (channels) there is no call. With packed sequences: the keys of the row's own. A return other than 0 stops the run: QKV_ESTOPPED. */
typedef struct qkv_tap {
    uint32_t size;
    uint32_t stages; /* which: 1u << QKV_STAGE_..., any set */
    int (*row)(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
               const void *x, int64_t n);
    void *ctx;
} qkv_tap;

/* The caller's own function of a score, a tile at a time, between softcap and ALiBi: slow. s[j *
 * stride + i] of accumulator's type is the scaled score of the row at position `position + i` and key
 * `key + j` (both counted as in args.kv_start; batch is the sequence where packed); what is written
 * there takes its place. It may be called for the same pair twice, from any thread, for pairs that are
 * not seen, and must give the same for the same numbers. */
typedef struct qkv_rule {
    uint32_t size;
    uint32_t reserved; /* 0 */
    void (*score)(void *ctx, int64_t batch, int64_t head, int64_t position, int64_t key,
                  int64_t rows, int64_t keys, void *s, int64_t stride);
    void *ctx;
} qkv_rule;

/* Scores and weights of chosen rows, or all: [batch][head][nrows][key] each, dense, accumulator's
 * type (keep: bytes); NULL: not wanted. */
typedef struct qkv_show {
    uint32_t size;
    uint32_t reserved;   /* 0 */
    const int64_t *rows; /* numbers of rows of the tensor, in any order; NULL: all rows */
    int64_t nrows;       /* not read when rows is NULL */
    void *scaled;        /* q . k times scale, for every key of the row's batch */
    void *capped;        /* the same after softcap and rule */
    void *masked;        /* after ALiBi and bias; -inf where the key is not seen */
    void *weight;        /* after softmax and before dropout; +0 where it is not seen */
    void *keep;          /* 1 where dropout keeps: without it everywhere but in the left padding */
} qkv_show;

/* ---- run ------------------------------------------------------------------------------------- */

/* Start from qkv_run_args_init(). Data pointers point at element [0,0,0,0] and may have any byte
 * alignment; a tensor without elements may be NULL. The bytes that an output or the workspace spans
 * may not meet those of another, of an input, or of the plan. */
typedef struct qkv_run_args {
    uint32_t size;
    uint32_t reserved; /* 0 */
    const void *q, *k, *v;
    void *out;
    void *lse; /* [batch][head][row], dense, accumulator's type: the natural logarithm of the sum
                  of exp(scaled score) over the keys seen; NULL: not kept */
    void *workspace;
    size_t workspace_size;
    const qkv_threads *threads; /* NULL: the calling thread does it all */
    const int32_t *cancel;      /* read atomically once a tile; non-zero: QKV_ESTOPPED, the output
                                   unspecified. NULL: never */
    const qkv_tap *tap;         /* NULL: nobody looks */
    /* One number for each batch (for each sequence with QKV_USE_PACKED, counted from its first row
     * and key). Batch b has rows 0 ... q_len[b] - 1 (the others are empty: +0 and -inf) and keys
     * kv_start[b] ... kv_len[b] - 1; from kv_start[b] >= kv_len[b] on it has none, and its rows are
     * empty. Positions count from kv_start[b]: key j stands at j - kv_start[b], row i at
     * i - kv_start[b] + q_offset. Each number is at least 0 and at most what the tensors hold
     * (|q_offset| <= 2^62). */
    const int64_t *kv_len, *q_len, *kv_start, *q_offset;
    /* QKV_USE_PACKED: sequence s has rows cu_q[s] ... cu_q[s + 1] - 1 and keys cu_k[s] ...
     * cu_k[s + 1] - 1 of the one batch, and sees no other's. sequences + 1 numbers, ascending from 0
     * to all rows (all keys). */
    const int64_t *cu_q, *cu_k;
    const void *mask, *bias; /* of params.mask and params.bias */
    /* [heads] (slopes: see params), accumulator's type; slopes are finite, a sink may be -inf: none */
    const void *slopes, *sinks;
    const qkv_rule *rule; /* QKV_USE_RULE */
    /* Read for QKV_USE_DROPOUT only; head 0 and batch 0 (or sequence 0) count as these numbers. */
    uint64_t seed;
    int64_t first_head, first_batch;
    void *row_max; /* [batch][head][row], accumulator's type: the largest score after cap and bias;
                       -inf where no key is seen. NULL: not kept */
    void *
        key_sums; /* QKV_USE_KEY_SUMS: [batch][head][key], accumulator's type: to each the weights of
                       all rows are added, rows ascending */
    const qkv_show *show; /* NULL: no scores or weights are kept */
} qkv_run_args;

QKV_API qkv_status qkv_run(const qkv_plan *plan, const qkv_run_args *args, qkv_error *err);

/* Plan, run, forget: for a first program. Allocates; one thread. lse is not kept. */
QKV_API qkv_status qkv_attention(const qkv_params *params, const void *q, const void *k,
                                 const void *v, void *out, qkv_error *err);

/* ---- keys in pieces, same bits --------------------------------------------------------------- */

/* The result of one range of keys, unnormalised. key_begin and key_end are multiples of
 * QKV_PARTIAL_KEYS, or key_end is the number of keys. data holds, for every row [batch][head][row],
 * the nodes of the fold tree that the range covers, in key order; a node is m, l, o[d_v] in the
 * accumulator's type: out would be o / l, lse (m + log2 l) ln 2. docs/numerics.md, "Partials". Keys
 * count as in args.kv_start, those of packed sequences in each sequence by itself; a sequence that has
 * no key in the range leaves dead nodes. args.row_max of qkv_run_partial() holds the maxima over the
 * range; the largest of all parts (NaN before all) is the whole's, and qkv_partial_finish() takes none:
 * a node holds a rounded maximum only. key_sums and show are refused with both: they need all keys
 * and the rows' final sums at once. */
typedef struct qkv_partial {
    uint32_t size;
    uint32_t reserved; /* 0 */
    int64_t key_begin, key_end;
    void *data; /* any alignment */
    size_t data_size;
} qkv_partial;

#define QKV_PARTIAL_KEYS 4096

/* Bytes of data for that range; 0 when the range is empty, refused, or has no rows. */
QKV_API size_t qkv_partial_size(const qkv_plan *plan, int64_t key_begin, int64_t key_end);
/* Writes part->data from the keys of the range; args as for qkv_run (out, lse and tap are not used;
 * k and v still point at key 0). */
QKV_API qkv_status qkv_run_partial(const qkv_plan *plan, const qkv_run_args *args,
                                   const qkv_partial *part, qkv_error *err);
/* Folds parts that together cover every key exactly once, in any order of the array, and writes
 * args->out and args->lse: the bits that one qkv_run() over all keys gives. Of what a run reads, only
 * args->sinks is read. */
QKV_API qkv_status qkv_partial_finish(const qkv_plan *plan, const qkv_run_args *args,
                                      const qkv_partial *parts, int64_t nparts, qkv_error *err);

/* ---- results of other programs ---------------------------------------------------------------- */

/* Merges 1 to 1,024 results over disjoint sets of keys: every outs[i] of that shape, as out is; every
 * lses[i] [batch][head][row] dense, natural logarithms (double for QKV_F64, else float), as lse is.
 * Accurate to 4 ulp of a row's largest value; for the bits of one run take partials. out may be one of
 * outs and lse one of lses; else they lie apart from all that is read. lse NULL: not kept. */
QKV_API qkv_status qkv_merge(const qkv_shape *shape, const void *const *outs,
                             const void *const *lses, int64_t nparts, void *out, void *lse,
                             qkv_error *err);

/* ---- starting values: the caller's sizeof, on purpose ---------------------------------------- */

static inline qkv_params qkv_params_init(void)
{
    qkv_params x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_tap qkv_tap_init(void)
{
    qkv_tap x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_run_args qkv_run_args_init(void)
{
    qkv_run_args x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_partial qkv_partial_init(void)
{
    qkv_partial x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_rule qkv_rule_init(void)
{
    qkv_rule x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

static inline qkv_show qkv_show_init(void)
{
    qkv_show x = QKV_ZERO;
    x.size = (uint32_t)sizeof x;
    return x;
}

/* A dense [batch][head][position][channel] shape. */
static inline qkv_shape qkv_shape_dense(int32_t dtype, int64_t batch, int64_t heads,
                                        int64_t positions, int64_t channels)
{
    qkv_shape x = QKV_ZERO;
    x.dtype = dtype;
    x.dim[0] = batch;
    x.dim[1] = heads;
    x.dim[2] = positions;
    x.dim[3] = channels;
    x.stride[3] = 1;
    x.stride[2] = channels;
    /* a size too large for int64_t is refused by the plan from dim, before a stride is read */
    x.stride[1] = (int64_t)((uint64_t)channels * (uint64_t)positions);
    x.stride[0] = (int64_t)((uint64_t)x.stride[1] * (uint64_t)heads);
    return x;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QKV_ATTENTION_H */
