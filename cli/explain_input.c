/* SPDX-License-Identifier: MIT */
/* explain_input.c - see explain_input.h. All values become float64, which float32 and float16 do
 * exactly; which type the files had decides what the kernels are given.
 */
#include "cli/explain_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_explain_opt_q =
    CLI_OPTION("q", CLI_FILE, "FILE",
               "Queries of your own: .npy of shape [n,d], [heads,n,d] or [batch,heads,n,d]");
const cli_option cli_explain_opt_k =
    CLI_OPTION("k", CLI_FILE, "FILE", "Their keys: the rank and type of the queries, the same d");
const cli_option cli_explain_opt_v =
    CLI_OPTION("v", CLI_FILE, "FILE", "Their values: as many rows and heads as the keys");
const cli_option cli_explain_opt_x =
    CLI_OPTION("x", CLI_FILE, "FILE",
               "Or embeddings, .npy of shape [n,m]; the vectors are then x wq, x wk and x wv");
const cli_option cli_explain_opt_wq =
    CLI_OPTION("wq", CLI_FILE, "FILE", "Projection to queries, [m,d]");
const cli_option cli_explain_opt_wk =
    CLI_OPTION("wk", CLI_FILE, "FILE", "Projection to keys, [m,d]");
const cli_option cli_explain_opt_wv =
    CLI_OPTION("wv", CLI_FILE, "FILE", "Projection to values, [m,any]");
const cli_option cli_explain_opt_tokens = {
    .name = "tokens",
    .kind = CLI_TEXT,
    .value = "FILE.json|a,b,c",
    .fallback = "t0, t1, ...",
    .help = "Names of the keys: a JSON array of strings, or words between commas",
};

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct chunk {
    struct chunk *next;
} chunk;

static void *take(void *ctx, size_t bytes)
{
    cli_explain_input *const input = (cli_explain_input *)ctx;
    if (bytes > SIZE_MAX / 2) return NULL;
    chunk *const c = (chunk *)files_alloc((int64_t)bytes + 64);
    if (!c) return NULL;
    c->next = (chunk *)input->chunks;
    input->chunks = c;
    return (char *)c + 64;
}

static double *take_doubles(cli_explain_input *input, int64_t rows, int64_t columns)
{
    int64_t n = 0;
    double *x = NULL;
    if (!__builtin_mul_overflow(rows, columns, &n) && n <= INT64_MAX / 16)
        x = (double *)take(input, (size_t)n * sizeof(double));
    if (!x)
        cli_failed("no memory for %" PRId64 " by %" PRId64 " numbers of float64", rows, columns);
    return x;
}

/* ---- names ----------------------------------------------------------------------------------- */

static lesson_name *take_names(cli_explain_input *input, int64_t count)
{
    lesson_name *const names = (lesson_name *)take(input, (size_t)count * sizeof *names);
    if (!names) cli_failed("no memory for %" PRId64 " token names", count);
    return names;
}

static int default_names(cli_explain_input *input, lesson_input *in)
{
    enum { EACH = 21 };
    lesson_name *const names = take_names(input, in->keys);
    char *const text = names ? (char *)take(input, (size_t)in->keys * EACH) : NULL;
    if (!text) return CLI_FAILED;
    for (int64_t j = 0; j < in->keys; j++) {
        char *const name = text + j * EACH;
        name[0] = 't';
        names[j].text = name;
        names[j].bytes = 1 + lesson_number_integer(name + 1, j);
    }
    in->name = names;
    return CLI_DONE;
}

static bool is_file(const char *text)
{
    const size_t n = strlen(text);
    return strcmp(text, "-") == 0 || (n > 5 && strcmp(text + n - 5, ".json") == 0);
}

static int listed_names(cli_explain_input *input, const char *text, int64_t *count,
                        lesson_name **names)
{
    *count = 1;
    for (const char *p = text; *p; p++) *count += *p == ',';
    *names = take_names(input, *count);
    if (!*names) return CLI_FAILED;
    const char *p = text;
    for (int64_t j = 0; j < *count; j++) {
        (*names)[j].text = p;
        (*names)[j].bytes = strcspn(p, ",");
        p += (*names)[j].bytes + 1;
    }
    return CLI_DONE;
}

static int filed_names(cli_explain_input *input, const char *path, int64_t *count,
                       lesson_name **names)
{
    files_error err;
    if (files_tokens_read(&input->tokens, path, &err) != 0) return cli_files_error(&err);
    *count = input->tokens.count;
    *names = take_names(input, *count);
    if (!*names) return CLI_FAILED;
    for (int64_t j = 0; j < *count; j++) {
        (*names)[j].text = input->tokens.name[j];
        (*names)[j].bytes = input->tokens.length[j];
    }
    return CLI_DONE;
}

static int read_names(cli_explain_input *input, lesson_input *in, const char *text)
{
    if (!text) return default_names(input, in);
    int64_t count = 0;
    lesson_name *names = NULL;
    const int bad = is_file(text) ? filed_names(input, text, &count, &names)
                                  : listed_names(input, text, &count, &names);
    if (bad) return bad;
    if (count != in->keys)
        return cli_refuse("--tokens %s has %" PRId64 " name%s for %" PRId64 " key%s", text, count,
                          cli_s(count), in->keys, cli_s(in->keys));
    in->name = names;
    return CLI_DONE;
}

/* ---- which source ---------------------------------------------------------------------------- */

typedef enum source { OWN_NONE, OWN_VECTORS, OWN_EMBEDDING } source;

static const cli_option *const vectors[] = {&cli_explain_opt_q, &cli_explain_opt_k,
                                            &cli_explain_opt_v, NULL};
static const cli_option *const embedding[] = {&cli_explain_opt_x, &cli_explain_opt_wq,
                                              &cli_explain_opt_wk, &cli_explain_opt_wv, NULL};

static const cli_option *first(const cli_args *args, const cli_option *const *options, bool given)
{
    for (; *options; options++)
        if (cli_given(args, *options) == given) return *options;
    return NULL;
}

static int check_stdin(const cli_args *args)
{
    static const cli_option *const all[] = {
        &cli_explain_opt_q,  &cli_explain_opt_k,  &cli_explain_opt_v,  &cli_explain_opt_x,
        &cli_explain_opt_wq, &cli_explain_opt_wk, &cli_explain_opt_wv, &cli_explain_opt_tokens,
    };
    const cli_option *one = NULL;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *const text = cli_text(args, all[i]);
        if (!text || strcmp(text, "-") != 0) continue;
        if (one)
            return cli_refuse("--%s and --%s are both '-'; standard input can be only one of them",
                              one->name, all[i]->name);
        one = all[i];
    }
    return CLI_DONE;
}

static int choose_source(const cli_args *args, source *which)
{
    static const cli_option *const owned[] = {&cli_opt_head, &cli_opt_batch,
                                              &cli_explain_opt_tokens, NULL};
    const cli_option *const v = first(args, vectors, true);
    const cli_option *const x = first(args, embedding, true);
    *which = v ? OWN_VECTORS : x ? OWN_EMBEDDING : OWN_NONE;
    if (v && x) {
        return cli_refuse("--%s and --%s contradict each other: give --q --k --v, or --x --wq --wk "
                          "--wv",
                          v->name, x->name);
    }
    const cli_option *const missing = v   ? first(args, vectors, false)
                                      : x ? first(args, embedding, false)
                                          : NULL;
    if (missing)
        return cli_refuse("--%s is given, and --%s is missing", (v ? v : x)->name, missing->name);
    const cli_option *const stray = first(args, owned, true);
    if (*which == OWN_NONE && stray)
        return cli_refuse("--%s needs input of your own: --q --k --v, or --x --wq --wk --wv",
                          stray->name);
    for (int i = 0; i < 2; i++)
        if (*which == OWN_EMBEDDING && cli_given(args, owned[i]))
            return cli_refuse("--%s needs --q --k --v; --x has one head", owned[i]->name);
    return check_stdin(args);
}

/* ---- three tensors --------------------------------------------------------------------------- */

/* explain walks through one head of one batch entry: the first, unless chosen. */
static void choose_first(cli_qkv *t, int from_end)
{
    if (t->rank < from_end) return;
    for (int i = 0; i < 3; i++) t->slice[i].count[t->rank - from_end] = 1;
}

static int open_vectors(cli_explain_input *input, lesson_input *in, const cli_args *args)
{
    const char *const path[3] = {cli_text(args, vectors[0]), cli_text(args, vectors[1]),
                                 cli_text(args, vectors[2])};
    cli_qkv *const t = &input->files;
    const int bad =
        cli_qkv_open(t, path, cli_int(args, &cli_opt_head, -1), cli_int(args, &cli_opt_batch, -1));
    if (bad) return bad;
    if (t->batch == 0 || t->heads == 0 || t->queries == 0) {
        char shape[160];
        const npy_header *const h = files_header(t->file[CLI_Q]);
        cli_shape_text(shape, sizeof shape, h->dim, h->rank);
        return cli_refuse("%s holds no query, shape %s; at least 1 is needed",
                          files_name(t->file[CLI_Q]), shape);
    }
    if (t->heads > 1) cli_note("head 0 of %" PRId64 " is shown; --head chooses another", t->heads);
    if (t->batch > 1)
        cli_note("batch entry 0 of %" PRId64 " is shown; --batch chooses another", t->batch);
    if (!cli_given(args, &cli_opt_head)) choose_first(t, 3);
    if (!cli_given(args, &cli_opt_batch)) choose_first(t, 4);
    in->rows = t->queries;
    in->keys = t->keys;
    in->d_k = t->d;
    in->d_v = t->d_v;
    in->engine_dtype = t->dtype;
    return CLI_DONE;
}

/* A tensor of n numbers as float64. */
static double *widened(cli_explain_input *input, const files_tensor *t, int64_t rows,
                       int64_t columns)
{
    double *const x = take_doubles(input, rows, columns);
    if (!x) return NULL;
    const int64_t n = rows * columns;
    if (t->type == NPY_F8) {
        memcpy(x, t->data, (size_t)n * sizeof *x);
        return x;
    }
    for (int64_t i = 0; i < n; i++) {
        float y;
        memcpy(&y, (const char *)t->data + (size_t)i * sizeof y, sizeof y); /* any alignment */
        x[i] = (double)y;
    }
    return x;
}

static int read_vectors(cli_explain_input *input, lesson_input *in)
{
    cli_qkv *const t = &input->files;
    const int bad = cli_qkv_read(t);
    if (bad) return bad;
    in->q = widened(input, &t->tensor[CLI_Q], in->rows, in->d_k);
    in->k = in->q ? widened(input, &t->tensor[CLI_K], in->keys, in->d_k) : NULL;
    in->v = in->k ? widened(input, &t->tensor[CLI_V], in->keys, in->d_v) : NULL;
    return in->v ? CLI_DONE : CLI_FAILED;
}

/* ---- an embedding and three matrices --------------------------------------------------------- */

static int refuse_shape(const files_input *file, const char *want)
{
    char shape[160];
    const npy_header *const h = files_header(file);
    cli_shape_text(shape, sizeof shape, h->dim, h->rank);
    return cli_refuse("%s has shape %s; %s", files_name(file), shape, want);
}

static int check_projection(files_input *const file[4])
{
    const npy_header *const x = files_header(file[0]);
    char want[160];
    for (int i = 0; i < 4; i++) {
        const npy_header *const h = files_header(file[i]);
        if (h->type == NPY_B1)
            return cli_refuse("%s holds bool; float16, bfloat16, float32 or float64 is needed",
                              files_name(file[i]));
        if (h->type != x->type)
            return cli_refuse("%s holds %s; it must hold %s as %s", files_name(file[i]),
                              cli_type_name(h->type), cli_type_name(x->type), files_name(file[0]));
        if (h->rank != 2) return refuse_shape(file[i], "rank 2 is needed");
        if (i == 0 && h->dim[0] == 0) return refuse_shape(file[i], "at least 1 row is needed");
        snprintf(want, sizeof want, "it must have %" PRId64 " rows, the columns of %.80s",
                 x->dim[1], files_name(file[0]));
        if (i > 0 && h->dim[0] != x->dim[1]) return refuse_shape(file[i], want);
    }
    const int64_t d = files_header(file[1])->dim[1];
    if (d == 0) return refuse_shape(file[1], "at least 1 column is needed");
    snprintf(want, sizeof want, "it must have %" PRId64 " columns, as %.80s", d,
             files_name(file[1]));
    return files_header(file[2])->dim[1] == d ? CLI_DONE : refuse_shape(file[2], want);
}

static int open_embedding(cli_explain_input *input, lesson_input *in, const cli_args *args)
{
    files_error err;
    for (int i = 0; i < 4; i++)
        if (files_open(&input->projected[i], cli_text(args, embedding[i]), &err) != 0)
            return cli_files_error(&err);
    const int bad = check_projection(input->projected);
    if (bad) return bad;
    in->rows = in->keys = files_header(input->projected[0])->dim[0];
    in->d_k = files_header(input->projected[1])->dim[1];
    in->d_v = files_header(input->projected[3])->dim[1];
    in->engine_dtype = files_header(input->projected[0])->type == NPY_F8 ? QKV_F64 : QKV_F32;
    return CLI_DONE;
}

static int read_embedding(cli_explain_input *input, lesson_input *in)
{
    const double *part[4]; /* x, wq, wk, wv */
    double *y[3];
    files_error err;
    qkv_error failed = qkv_error_init();
    for (int i = 0; i < 4; i++) {
        const npy_header *const h = files_header(input->projected[i]);
        const files_slice all = files_slice_all(input->projected[i]);
        files_tensor t;
        if (files_read(input->projected[i], &all, &t, &err) != 0) return cli_files_error(&err);
        part[i] = widened(input, &t, h->dim[0], h->dim[1]);
        files_tensor_free(&t);
        if (!part[i]) return CLI_FAILED;
    }
    const int64_t m = files_header(input->projected[0])->dim[1];
    for (int i = 0; i < 3; i++) {
        const int64_t d = i == 2 ? in->d_v : in->d_k;
        y[i] = take_doubles(input, in->rows, d);
        if (!y[i]) return CLI_FAILED;
        if (qkv_ref_project(y[i], part[0], part[i + 1], NULL, in->rows, m, d, &failed) != QKV_OK)
            return cli_library_error(&failed);
    }
    in->q = y[0];
    in->k = y[1];
    in->v = y[2];
    return CLI_DONE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int cli_explain_open(cli_explain_input *input, lesson_input *in, const cli_args *args)
{
    qkv_error err = qkv_error_init();
    source which = OWN_NONE;
    memset(input, 0, sizeof *input);
    memset(in, 0, sizeof *in);
    input->memory.take = take;
    input->memory.ctx = input;
    in->temperature = 1;
    int bad = choose_source(args, &which);
    if (bad) return bad;
    if (which == OWN_NONE) {
        const qkv_status made = lesson_preset(in, &input->memory, &err);
        if (made == QKV_ENOMEM) return cli_failed("no memory for the lesson's four tokens");
        return made == QKV_OK ? CLI_DONE : cli_library_error(&err);
    }
    bad = which == OWN_VECTORS ? open_vectors(input, in, args) : open_embedding(input, in, args);
    if (!bad) bad = read_names(input, in, cli_text(args, &cli_explain_opt_tokens));
    return bad;
}

static void add(uint64_t *sum, int64_t a, int64_t b, int64_t each)
{
    int64_t n = 0;
    uint64_t bytes = UINT64_MAX;
    if (!__builtin_mul_overflow(a, b, &n) && !__builtin_mul_overflow(n, each, &n))
        bytes = (uint64_t)n;
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

int cli_explain_check_memory(const cli_explain_input *input, const lesson_input *in,
                             const cli_args *args)
{
    enum { ONCE = 8 + 8 }; /* float64 for the reference; as much again for the files and kernels */
    uint64_t sum = input->files.rank > 0 ? cli_qkv_bytes(&input->files) : 0;
    for (int i = 0; i < 4; i++) {
        if (!input->projected[i]) continue;
        const npy_header *const h = files_header(input->projected[i]);
        add(&sum, h->dim[0], h->dim[1], ONCE);
    }
    add(&sum, in->rows, in->d_k, ONCE);
    add(&sum, in->keys, in->d_k, ONCE);
    add(&sum, in->keys, in->d_v, ONCE);
    add(&sum, in->row_end - in->row_begin, in->key_end - in->key_begin, 4 * 8);
    return cli_check_memory(args, sum, "the input with every value that is explained");
}

int cli_explain_read(cli_explain_input *input, lesson_input *in)
{
    if (input->files.rank > 0) return read_vectors(input, in);
    if (input->projected[0]) return read_embedding(input, in);
    return CLI_DONE;
}

double *cli_explain_edit_queries(cli_explain_input *input, lesson_input *in)
{
    double *const q = take_doubles(input, in->rows, in->d_k);
    if (!q) return NULL;
    memcpy(q, in->q, (size_t)(in->rows * in->d_k) * sizeof *q);
    in->q = q;
    return q;
}

void cli_explain_close(cli_explain_input *input)
{
    cli_qkv_close(&input->files);
    for (int i = 0; i < 4; i++) files_close(input->projected[i]);
    files_tokens_free(&input->tokens);
    for (chunk *c = (chunk *)input->chunks; c;) {
        chunk *const next = c->next;
        free(c);
        c = next;
    }
    memset(input, 0, sizeof *input);
}
