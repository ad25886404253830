/* SPDX-License-Identifier: MIT */
/* cmd_run.c - `qkv run`: attention of three tensor files into one or two. Everything is checked
 * before data is read, and nothing appears under an output's name before all of it is on disk.
 */
#include "cli/qkv_files.h"
#include "cli/run_engine.h"
#include "cli/run_kept.h"
#include "cli/run_masks.h"
#include "lesson/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option opt_out = {
    .name = "out",
    .letter = 'o',
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Where the result goes: .npy of the queries' rank; - is stdout",
};
static const cli_option opt_lse = {
    .name = "lse",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Also write, for each query, the natural logarithm of its sum of exponentials",
};
static const cli_option opt_in_dtype = {
    .name = "in-dtype",
    .kind = CLI_CHOICE,
    .choices = "bf16",
    .help = "Files of 16-bit unsigned integers hold bfloat16 (those of descr <V2 do anyway)",
};
static const cli_option opt_out_dtype = {
    .name = "out-dtype",
    .kind = CLI_CHOICE,
    .choices = "f32|f16|bf16|f64",
    .help =
        "The result's type; rounded once, to nearest. Otherwise f64 for float64 queries, else f32",
};
static const cli_option opt_stats = {
    .name = "stats",
    .kind = CLI_FLAG,
    .help = "Say on stderr how long it took, how fast that was, and with what",
};

/* Everything that one call owns. */
typedef struct job {
    const cli_args *args;
    cli_qkv in;
    qkv_params params;
    qkv_plan *plan;
    qkv_pool *pool;
    cli_masks masks;
    cli_kept kept;
    files_output *out_file[2 + CLI_KEPT]; /* the result, lse, what is kept beside them */
    void *out, *lse, *workspace;
    size_t workspace_bytes;
    int64_t out_bytes, lse_bytes;
    int32_t threads;
    double seconds; /* of qkv_run() alone */
} job;

/* ---- before any data ---------------------------------------------------------------------------- */

static int make_params(job *j)
{
    qkv_params *const p = &j->params;
    cli_scale_kind kind = CLI_SCALE_SQRT;
    double scale = 0;
    bool causal = false;
    int32_t isa = QKV_ISA_BEST;
    int bad = cli_scale(j->args, &kind, &scale);
    *p = qkv_params_init();
    const char *const word = cli_text(j->args, &cli_opt_causal);
    if (word && *word == 0 && cli_given(j->args, &cli_opt_q_offset))
        causal = true; /* --q-offset says where */
    else if (!bad)
        bad = cli_causal(j->args, j->in.queries, j->in.keys, &causal, &p->q_offset);
    if (!bad) bad = cli_isa(j->args, &isa);
    if (bad) return bad;
    if (kind != CLI_SCALE_SQRT) p->use |= QKV_USE_SCALE;
    if (causal) p->use |= QKV_USE_CAUSAL;
    p->scale = kind == CLI_SCALE_NONE    ? 1.0
               : kind == CLI_SCALE_DK    ? 1.0 / (double)j->in.d
               : kind == CLI_SCALE_VALUE ? scale
                                         : 0.0;
    p->isa = isa;
    p->q = j->in.q;
    p->k = j->in.k;
    p->v = j->in.v;
    static const int32_t dtypes[4] = {QKV_F32, QKV_F16, QKV_BF16, QKV_F64};
    const int chosen = cli_choice(j->args, &opt_out_dtype, -1);
    p->out = j->in.out;
    if (chosen >= 0) p->out.dtype = dtypes[chosen];
    j->threads = cli_threads(j->args);
    p->max_threads = j->threads;
    bad = cli_masks_open(&j->masks, j->args, &j->in, p);
    return bad ? bad : cli_kept_open(&j->kept, j->args, &j->in, p);
}

/* Bytes of a product; INT64_MAX when it does not fit. */
static int64_t product(const int64_t *dim, int32_t n, int64_t each)
{
    int64_t bytes = each;
    for (int32_t a = 0; a < n; a++) {
        if (dim[a] == 0) return 0;
    }
    for (int32_t a = 0; a < n; a++) {
        if (__builtin_mul_overflow(bytes, dim[a], &bytes)) return INT64_MAX;
    }
    return bytes;
}

static int64_t dtype_bytes(int32_t dtype)
{
    return dtype == QKV_F64 ? 8 : dtype == QKV_F32 ? 4 : 2;
}

/* Twice: before the plan, and with the workspace that only the plan knows. */
static int check_sizes(job *j)
{
    char shape[160], what[256];
    const int64_t each = j->in.dtype == QKV_F64 ? 8 : 4;
    j->out_bytes = product(j->in.out_dim, j->in.rank, dtype_bytes(j->params.out.dtype));
    j->lse_bytes = cli_given(j->args, &opt_lse) ? product(j->in.out_dim, j->in.rank - 1, each) : 0;
    uint64_t sum = cli_qkv_bytes(&j->in);
    const uint64_t parts[] = {(uint64_t)j->out_bytes, (uint64_t)j->lse_bytes, j->workspace_bytes,
                              cli_masks_bytes(&j->masks), cli_kept_bytes(&j->kept)};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        sum = parts[i] > UINT64_MAX - sum ? UINT64_MAX : sum + parts[i];
    }
    cli_shape_text(shape, sizeof shape, j->in.out_dim, j->in.rank);
    snprintf(what, sizeof what, "the output of shape %s with its inputs", shape);
    return cli_check_memory(j->args, sum, what);
}

static int make_plan(job *j)
{
    qkv_error err = qkv_error_init();
    if (qkv_plan_create(&j->plan, &j->params, NULL, &err) != QKV_OK) return cli_run_error(&err);
    j->workspace_bytes = qkv_plan_workspace(j->plan);
    return check_sizes(j);
}

/* output n beside all inputs and the outputs before it */
static int check_apart(const job *j, int n, const char *const option[2 + CLI_KEPT],
                       files_error *err)
{
    const files_input *in[CLI_MASK_FILES + 4];
    const cli_option *named[CLI_MASK_FILES + 4];
    int count = cli_masks_files(&j->masks, in, named), bad = 0;
    for (int i = 0; i < 3; i++) {
        in[count] = j->in.file[i];
        named[count++] = i == CLI_Q ? &cli_opt_q : i == CLI_K ? &cli_opt_k : &cli_opt_v;
    }
    if (j->kept.rows.file) {
        in[count] = j->kept.rows.file;
        named[count++] = &cli_opt_rows;
    }
    for (int i = 0; i < count && !bad; i++) {
        char name[32];
        snprintf(name, sizeof name, "--%s", named[i]->name);
        bad = files_apart_input(j->out_file[n], option[n], in[i], name, err);
    }
    for (int i = 0; i < n && !bad; i++)
        if (j->out_file[i])
            bad = files_apart_output(j->out_file[i], option[i], j->out_file[n], option[n], err);
    return bad;
}

static int open_outputs(job *j)
{
    const char *option[2 + CLI_KEPT] = {"-o", "--lse"};
    const char *path[2 + CLI_KEPT] = {cli_text(j->args, &opt_out), cli_text(j->args, &opt_lse)};
    const int flags = cli_given(j->args, &cli_opt_no_clobber) ? FILES_NO_CLOBBER : 0;
    files_error err;
    int bad = 0;
    for (int i = 0; i < CLI_KEPT; i++) {
        option[2 + i] = j->kept.file[i].option;
        path[2 + i] = option[2 + i] ? j->kept.file[i].path : NULL;
    }
    for (int i = 0; i < 2 + CLI_KEPT && !bad; i++) {
        if (!path[i]) continue;
        bad = files_create(&j->out_file[i], path[i], flags, &err);
        if (!bad) bad = check_apart(j, i, option, &err);
    }
    return bad ? cli_files_error(&err) : CLI_DONE;
}

/* ---- the work ------------------------------------------------------------------------------------ */

static int take(void **memory, int64_t bytes, const char *what)
{
    *memory = files_alloc(bytes);
    if (*memory) return CLI_DONE;
    return cli_failed("no memory for the %" PRId64 " bytes of %s", bytes, what);
}

static int take_memory(job *j)
{
    qkv_error err = qkv_error_init();
    int bad = take(&j->out, j->out_bytes, "the output");
    if (!bad) bad = take(&j->lse, j->lse_bytes, "lse");
    if (!bad) bad = take(&j->workspace, (int64_t)j->workspace_bytes, "workspace");
    if (!bad) bad = cli_kept_take(&j->kept);
    if (bad) return bad;
    if (j->threads > 1 && qkv_pool_create(&j->pool, j->threads, NULL, &err) != QKV_OK) {
        return cli_library_error(&err);
    }
    return CLI_DONE;
}

/* (query, key) pairs of one head that are not masked. */
static double live_pairs(const job *j)
{
    const double rows = (double)j->in.queries, keys = (double)j->in.keys;
    if (!(j->params.use & QKV_USE_CAUSAL)) return rows * keys;
    /* row i sees keys 0 ... i + offset: a ramp between rows that see none and rows that see all */
    const double first = (double)j->params.q_offset + 1; /* keys of row 0, were there enough */
    const double empty = first < 1 ? (1 - first < rows ? 1 - first : rows) : 0;
    double full_from = keys - first; /* the row before the first that sees all is the ramp's last */
    if (full_from < empty) full_from = empty;
    if (full_from > rows) full_from = rows;
    const double ramp = full_from - empty;
    const double low = first + empty, high = first + full_from - 1;
    return (ramp > 0 ? ramp * (low + high) / 2 : 0) + (rows - full_from) * keys;
}

static double flops(const job *j)
{
    return 2 * (double)j->in.batch * (double)j->in.heads * live_pairs(j) *
           ((double)j->in.d + (double)j->in.d_v);
}

static int compute(job *j)
{
    cli_engine e = {.params = &j->params, .plan = j->plan, .args = qkv_run_args_init()};
    qkv_threads threads;
    e.args.q = j->in.tensor[CLI_Q].data;
    e.args.k = j->in.tensor[CLI_K].data;
    e.args.v = j->in.tensor[CLI_V].data;
    e.args.out = j->out;
    e.args.lse = j->out_file[1] ? j->lse : NULL;
    e.args.workspace = j->workspace;
    e.args.workspace_size = j->workspace_bytes;
    /* what dropout drops is drawn by the numbers of the whole, also of a part of it */
    e.args.first_head = cli_int(j->args, &cli_opt_head, 0);
    if (!cli_given(j->args, &cli_opt_cu_q)) /* there sequences are counted, from 0 */
        e.args.first_batch = cli_int(j->args, &cli_opt_batch, 0);
    cli_masks_args(&j->masks, &e.args);
    cli_kept_args(&j->kept, &e.args);
    e.whole = cli_kept_any(&j->kept);
    if (j->pool) {
        cli_engine_threads(&threads, j->pool);
        e.args.threads = &threads;
    }
    e.flops = flops(j);
    const int bad = cli_engine_run(&e);
    j->seconds = e.seconds;
    return bad;
}

static int write_outputs(job *j)
{
    const int32_t type = j->in.dtype == QKV_F64 ? NPY_F8 : NPY_F4;
    const int32_t out = j->params.out.dtype;
    const int32_t out_type = out == QKV_F64   ? NPY_F8
                             : out == QKV_F32 ? NPY_F4
                             : out == QKV_F16 ? NPY_F2
                                              : NPY_BF2;
    files_error err;
    int bad = files_write_npy(j->out_file[0], out_type, j->in.rank, j->in.out_dim, j->out, &err);
    if (!bad && j->out_file[1]) {
        bad = files_write_npy(j->out_file[1], type, j->in.rank - 1, j->in.out_dim, j->lse, &err);
    }
    for (int i = 0; i < CLI_KEPT && !bad; i++) {
        const cli_kept_file *const f = &j->kept.file[i];
        if (f->option)
            bad = files_write_npy(j->out_file[2 + i], f->type, f->rank, f->dim, f->data, &err);
    }
    if (!bad) {
        bad = files_commit(j->out_file, 2 + CLI_KEPT, &err);
        memset(j->out_file, 0, sizeof j->out_file);
    }
    return bad ? cli_files_error(&err) : CLI_DONE;
}

/* ---- --stats -------------------------------------------------------------------------------------- */

/* The rest of the line "name: ..." of the plan's description. */
static void described(char *value, size_t size, const qkv_plan *plan, const char *name)
{
    char text[2048];
    const size_t n = strlen(name);
    qkv_plan_describe(plan, text, sizeof text);
    snprintf(value, size, "unknown");
    for (const char *line = text; line && *line;) {
        const char *const end = strchr(line, '\n');
        if (strncmp(line, name, n) == 0 && line[n] == ':') {
            const char *const from = line + n + 1 + strspn(line + n + 1, " ");
            const size_t length = end ? (size_t)(end - from) : strlen(from);
            snprintf(value, size, "%.*s", (int)length, from);
            return;
        }
        line = end ? end + 1 : NULL;
    }
}

static void print_stats(const job *j)
{
    char seconds[LESSON_NUMBER_BYTES], speed[LESSON_NUMBER_BYTES], kernel[128];
    const qkv_threads *const threads = j->pool ? qkv_pool_threads(j->pool) : NULL;
    lesson_number_fixed(seconds, j->seconds, 6, 0);
    lesson_number_fixed(speed, j->seconds > 0 ? flops(j) / j->seconds * 1e-9 : 0.0, 2, 0);
    described(kernel, sizeof kernel, j->plan, "kernel");
    fprintf(stderr, "time: %s s\nspeed: %s GF/s\nkernel: %s\nthreads: %d\ncontract: %d\n", seconds,
            speed, kernel, threads ? threads->nthreads : 1, qkv_contract());
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static void release(job *j)
{
    for (int i = 0; i < 2 + CLI_KEPT; i++) files_discard(j->out_file[i]);
    cli_kept_close(&j->kept);
    cli_masks_close(&j->masks);
    qkv_pool_destroy(j->pool);
    qkv_plan_destroy(j->plan);
    free(j->workspace);
    free(j->lse);
    free(j->out);
    cli_qkv_close(&j->in);
}

/* Of all that can be read, one thing can be standard input. */
static int check_one_stdin(const cli_args *args)
{
    const cli_option *const input[] = {
        &cli_opt_q,      &cli_opt_k,     &cli_opt_v,        &cli_opt_mask,     &cli_opt_mask_bits,
        &cli_opt_bias,   &cli_opt_alibi, &cli_opt_sink,     &cli_opt_cu_q,     &cli_opt_cu_k,
        &cli_opt_kv_len, &cli_opt_q_len, &cli_opt_kv_start, &cli_opt_q_offset, &cli_opt_rows};
    const cli_option *first = NULL;
    for (size_t i = 0; i < sizeof input / sizeof input[0]; i++) {
        const char *const text = cli_text(args, input[i]);
        if (!text || strcmp(text, "-") != 0) continue;
        if (first)
            return cli_refuse("--%s and --%s are both '-'; standard input can be only one of them",
                              first->name, input[i]->name);
        first = input[i];
    }
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    job j = {.args = args};
    const char *const path[3] = {cli_text(args, &cli_opt_q), cli_text(args, &cli_opt_k),
                                 cli_text(args, &cli_opt_v)};
    cli_files_signals("run");
    const int64_t head = cli_int(args, &cli_opt_head, -1);
    const int64_t batch = cli_int(args, &cli_opt_batch, -1);
    int bad = check_one_stdin(args);
    if (!bad)
        bad = cli_qkv_open_as(&j.in, path, head, batch,
                              cli_given(args, &opt_in_dtype) ? NPY_WORDS : NPY_NUMBERS);
    if (!bad) bad = make_params(&j);
    if (!bad) bad = check_sizes(&j);
    if (!bad) bad = make_plan(&j);
    if (!bad) bad = open_outputs(&j);
    if (!bad) bad = cli_qkv_read(&j.in);
    if (!bad) bad = cli_masks_read(&j.masks, &j.in);
    if (!bad) bad = take_memory(&j);
    if (!bad) bad = compute(&j);
    if (!bad) bad = write_outputs(&j);
    if (!bad && cli_given(args, &opt_stats)) print_stats(&j);
    release(&j);
    return bad;
}

const cli_command cli_command_run = {
    .name = "run",
    .summary = "attention of tensor files",
    .about =
        "Reads queries, keys and values from .npy files of rank 2 [n, d], 3 [heads, n, d] or 4 "
        "[batch, heads, n, d], all three of one rank, and writes softmax(scale * Q K^T) V "
        "in the queries' rank. Keys and values may have fewer heads, a divisor of the queries': "
        "neighbouring query heads then share one.\n\n"
        "The queries' type decides: float64 is computed and written as it is; float32, float16 "
        "and bfloat16 (descr <V2) are computed and written as float32, and then keys and "
        "values may be of any of these three types. --out-dtype writes another type. The bits "
        "of the result depend on the input and on what is asked for alone, on every machine; "
        "only --isa reference, which computes in float64, gives others. --head and --batch "
        "read and compute only a part; its axis stays, with length 1. Masks, biases and lists "
        "still speak of the whole, and the part takes its own.\n\n"
        "A query sees the keys that all options leave it: --causal, --window, --prefix, lengths, "
        "--mask, --bias. Masks and biases have the axes batch, heads, queries, keys, counted from "
        "the end; keys beyond their last are not seen. With --cu-q and --cu-k, sequences lie one "
        "after another along the queries' and the keys' axis.\n\n"
        "- is standard input or output. Pipes work. Nothing appears under an output's name before "
        "all of it is on disk.",
    .options = (const cli_option *const[]){&cli_opt_q,
                                           &cli_opt_k,
                                           &cli_opt_v,
                                           &opt_out,
                                           &opt_lse,
                                           &cli_opt_causal,
                                           &cli_opt_window,
                                           &cli_opt_prefix,
                                           &cli_opt_q_offset,
                                           &cli_opt_kv_len,
                                           &cli_opt_q_len,
                                           &cli_opt_kv_start,
                                           &cli_opt_cu_q,
                                           &cli_opt_cu_k,
                                           &cli_opt_mask,
                                           &cli_opt_mask_bits,
                                           &cli_opt_mask_drops,
                                           &cli_opt_bias,
                                           &cli_opt_alibi,
                                           &cli_opt_softcap,
                                           &cli_opt_sink,
                                           &cli_opt_dropout,
                                           &cli_opt_seed,
                                           &cli_opt_keep_mask,
                                           &cli_opt_row_max,
                                           &cli_opt_key_sums,
                                           &cli_opt_weights,
                                           &cli_opt_scores,
                                           &cli_opt_rows,
                                           &cli_opt_scale,
                                           &cli_opt_head,
                                           &cli_opt_batch,
                                           &opt_in_dtype,
                                           &opt_out_dtype,
                                           &cli_opt_threads,
                                           &cli_opt_isa,
                                           &opt_stats,
                                           &cli_opt_no_clobber,
                                           &cli_opt_max_memory,
                                           NULL},
    .required = (const cli_option *const[]){&cli_opt_q, &cli_opt_k, &cli_opt_v, &opt_out, NULL},
    .examples =
        (const char *const[]){"qkv run --q Q.npy --k K.npy --v V.npy -o OUT.npy",
                              "full attention, all CPUs",
                              "qkv run --q Q.npy --k K.npy --v V.npy --causal -o OUT.npy",
                              "each token sees itself and those before it",
                              "qkv run --q Q.npy --k K.npy --v V.npy --head 1 -o - --stats",
                              "head 1 only, to standard output, with the time it took", NULL},
    .run = run,
};
