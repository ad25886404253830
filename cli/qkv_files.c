/* SPDX-License-Identifier: MIT */
/* qkv_files.c - opens Q, K and V, checks that they fit, and chooses the part that is computed.
 *
 * The order of the checks is the order of a reader's questions: each file alone, then K beside Q,
 * then V beside K, then the part. Axes are counted from the end, so that ranks 2, 3 and 4 share it.
 */
#include "cli/qkv_files.h"

#include <inttypes.h>
#include <string.h>

#define SHAPE_TEXT 160

int cli_files_error(const files_error *err)
{
    if (err->exit_status == CLI_FAILED) return cli_failed("%s", err->text);
    return cli_refuse("%s", err->text);
}

static const char *speaking; /* the command's name, for a line made inside files/ */

static void message_line(char *out, size_t size, const char *sentence)
{
    char safe[1200];
    cli_safe_text(safe, sizeof safe, sentence, strlen(sentence), 0);
    snprintf(out, size, "qkv %s: %s\n", speaking, safe);
}

void cli_files_signals(const char *command)
{
    speaking = command;
    files_signals(message_line);
}

void cli_shape_text(char *text, size_t size, const int64_t *dim, int32_t rank)
{
    size_t n = (size_t)snprintf(text, size, "(");
    for (int32_t a = 0; a < rank && n < size; a++) {
        n += (size_t)snprintf(text + n, size - n, "%s%" PRId64, a > 0 ? ", " : "", dim[a]);
    }
    if (n < size) snprintf(text + n, size - n, rank == 1 ? ",)" : ")");
}

const char *cli_type_name(int32_t type)
{
    switch ((npy_type)type) {
    case NPY_F2:
        return "float16";
    case NPY_F4:
        return "float32";
    case NPY_F8:
        return "float64";
    case NPY_B1:
        return "bool";
    case NPY_BF2:
        return "bfloat16";
    case NPY_U1:
        return "uint8";
    case NPY_I4:
        return "int32";
    case NPY_I8:
        return "int64";
    }
    return "unknown";
}

/* ---- one file ---------------------------------------------------------------------------------- */

static int64_t axis(const cli_qkv *t, int which, int from_end)
{
    const npy_header *const h = files_header(t->file[which]);
    return h->rank < from_end ? 1 : h->dim[h->rank - from_end];
}

enum { CHANNELS = 1, ROWS = 2, HEADS = 3, BATCH = 4 };

static void shape_of(char *text, const files_input *in)
{
    const npy_header *const h = files_header(in);
    cli_shape_text(text, SHAPE_TEXT, h->dim, h->rank);
}

static int check_alone(const cli_qkv *t, int which)
{
    const files_input *const in = t->file[which];
    const npy_header *const h = files_header(in);
    char shape[SHAPE_TEXT];
    shape_of(shape, in);
    if (h->type == NPY_B1) {
        return cli_refuse("%s holds bool; float16, bfloat16, float32 or float64 is needed",
                          files_name(in));
    }
    if (h->rank < 2 || h->rank > 4) {
        return cli_refuse("%s has rank %d, shape %s; rank 2, 3 or 4 is needed", files_name(in),
                          h->rank, shape);
    }
    if (which != CLI_V && h->dim[h->rank - 1] == 0) {
        return cli_refuse("%s has 0 channels, shape %s; at least 1 is needed", files_name(in),
                          shape);
    }
    return CLI_DONE;
}

/* ---- two files --------------------------------------------------------------------------------- */

static int check_axis(const cli_qkv *t, int which, int beside, int from_end, const char *what)
{
    const int64_t got = axis(t, which, from_end), want = axis(t, beside, from_end);
    char shape[SHAPE_TEXT], other[SHAPE_TEXT];
    if (got == want) return CLI_DONE;
    shape_of(shape, t->file[which]);
    shape_of(other, t->file[beside]);
    return cli_refuse("%s has %" PRId64 " %s, shape %s; it must have %" PRId64 " as %s, shape %s",
                      files_name(t->file[which]), got, what, shape, want,
                      files_name(t->file[beside]), other);
}

static int check_kind(const cli_qkv *t, int which, int beside)
{
    const npy_header *const h = files_header(t->file[which]);
    const npy_header *const o = files_header(t->file[beside]);
    if (h->type == NPY_F8 && o->type != NPY_F8) {
        return cli_refuse("%s holds float64; beside %s, which holds %s, it must hold float32, "
                          "float16 or bfloat16",
                          files_name(t->file[which]), files_name(t->file[beside]),
                          cli_type_name(o->type));
    }
    if (h->rank != o->rank) {
        return cli_refuse("%s has rank %d; it must have rank %d as %s", files_name(t->file[which]),
                          h->rank, o->rank, files_name(t->file[beside]));
    }
    return CLI_DONE;
}

static int check_heads(const cli_qkv *t)
{
    const int64_t heads = axis(t, CLI_Q, HEADS), kv_heads = axis(t, CLI_K, HEADS);
    char shape[SHAPE_TEXT], other[SHAPE_TEXT];
    if (kv_heads == 0 ? heads == 0 : heads % kv_heads == 0) return CLI_DONE;
    shape_of(shape, t->file[CLI_K]);
    shape_of(other, t->file[CLI_Q]);
    return cli_refuse("%s has %" PRId64 " head%s, shape %s; that must divide the %" PRId64
                      " head%s of %s, shape %s",
                      files_name(t->file[CLI_K]), kv_heads, cli_s(kv_heads), shape, heads,
                      cli_s(heads), files_name(t->file[CLI_Q]), other);
}

static int check_together(const cli_qkv *t)
{
    int bad = check_kind(t, CLI_K, CLI_Q);
    if (!bad) bad = check_kind(t, CLI_V, CLI_Q);
    if (!bad) bad = check_axis(t, CLI_K, CLI_Q, CHANNELS, "channels");
    if (!bad) bad = check_axis(t, CLI_K, CLI_Q, BATCH, "batch entries");
    if (!bad) bad = check_heads(t);
    if (!bad) bad = check_axis(t, CLI_V, CLI_K, ROWS, "rows");
    if (!bad) bad = check_axis(t, CLI_V, CLI_K, HEADS, "heads");
    if (!bad) bad = check_axis(t, CLI_V, CLI_K, BATCH, "batch entries");
    return bad;
}

/* ---- the part ---------------------------------------------------------------------------------- */

/* --head or --batch: at is counted along an axis of Q that may be missing. */
static int check_choice(const cli_qkv *t, const char *option, int64_t at, int from_end,
                        const char *what)
{
    const int64_t n = axis(t, CLI_Q, from_end);
    const char *const name = files_name(t->file[CLI_Q]);
    char shape[SHAPE_TEXT];
    if (at < 0) return CLI_DONE;
    shape_of(shape, t->file[CLI_Q]);
    if (t->rank < from_end) {
        return cli_refuse("--%s is %" PRId64 ", but %s has rank %d, shape %s; rank %s is needed",
                          option, at, name, t->rank, shape, from_end == HEADS ? "3 or 4" : "4");
    }
    if (at >= n) {
        return cli_refuse("--%s is %" PRId64 "; it must be below %" PRId64
                          ", the %s of %s, shape %s",
                          option, at, n, what, name, shape);
    }
    return CLI_DONE;
}

void cli_slice_choose(files_slice *s, int32_t rank, int from_end, int64_t at)
{
    if (rank < from_end || at < 0 || s->count[rank - from_end] == 1) return;
    s->begin[rank - from_end] = at;
    s->count[rank - from_end] = 1;
}

static int choose_part(cli_qkv *t, int64_t head, int64_t batch)
{
    int bad = check_choice(t, "head", head, HEADS, "heads");
    if (!bad) bad = check_choice(t, "batch", batch, BATCH, "batch entries");
    if (bad) return bad;
    for (int i = 0; i < 3; i++) {
        /* neighbouring query heads share a key head */
        const int64_t share =
            i != CLI_Q && head >= 0 ? axis(t, CLI_Q, HEADS) / axis(t, CLI_K, HEADS) : 1;
        t->slice[i] = files_slice_all(t->file[i]);
        cli_slice_choose(&t->slice[i], t->rank, HEADS, head < 0 ? -1 : head / share);
        cli_slice_choose(&t->slice[i], t->rank, BATCH, batch);
    }
    t->head = head;
    t->entry = batch;
    t->all_heads = axis(t, CLI_Q, HEADS);
    t->all_entries = axis(t, CLI_Q, BATCH);
    return CLI_DONE;
}

static int64_t part_axis(const cli_qkv *t, int which, int from_end)
{
    return t->rank < from_end ? 1 : t->slice[which].count[t->rank - from_end];
}

/* as it is in memory: 16-bit types have been widened */
static int32_t dtype_of(const cli_qkv *t, int which)
{
    return files_header(t->file[which])->type == NPY_F8 ? QKV_F64 : QKV_F32;
}

static void note_sizes(cli_qkv *t)
{
    t->dtype = dtype_of(t, CLI_Q);
    t->batch = part_axis(t, CLI_Q, BATCH);
    t->heads = part_axis(t, CLI_Q, HEADS);
    t->kv_heads = part_axis(t, CLI_K, HEADS);
    t->queries = part_axis(t, CLI_Q, ROWS);
    t->keys = part_axis(t, CLI_K, ROWS);
    t->d = part_axis(t, CLI_Q, CHANNELS);
    t->d_v = part_axis(t, CLI_V, CHANNELS);
    t->q = qkv_shape_dense(t->dtype, t->batch, t->heads, t->queries, t->d);
    t->k = qkv_shape_dense(dtype_of(t, CLI_K), t->batch, t->kv_heads, t->keys, t->d);
    t->v = qkv_shape_dense(dtype_of(t, CLI_V), t->batch, t->kv_heads, t->keys, t->d_v);
    t->out = qkv_shape_dense(t->dtype, t->batch, t->heads, t->queries, t->d_v);
    for (int32_t a = 0; a < t->rank; a++) t->out_dim[a] = t->out.dim[4 - t->rank + a];
}

/* ---- the whole --------------------------------------------------------------------------------- */

static int check_one_stdin(const char *const path[3])
{
    static const char *const option[3] = {"--q", "--k", "--v"};
    int first = -1;
    for (int i = 0; i < 3; i++) {
        if (strcmp(path[i], "-") != 0) continue;
        if (first >= 0) {
            return cli_refuse("%s and %s are both '-'; standard input can be only one of them",
                              option[first], option[i]);
        }
        first = i;
    }
    return CLI_DONE;
}

int cli_qkv_open_as(cli_qkv *t, const char *const path[3], int64_t head, int64_t batch, npy_use use)
{
    files_error err;
    memset(t, 0, sizeof *t);
    int bad = check_one_stdin(path);
    for (int i = 0; i < 3 && !bad; i++) {
        if (files_open_as(&t->file[i], path[i], use, &err) != 0) return cli_files_error(&err);
        bad = check_alone(t, i);
    }
    if (!bad) bad = check_together(t);
    if (bad) return bad;
    t->rank = files_header(t->file[CLI_Q])->rank;
    bad = choose_part(t, head, batch);
    if (!bad) note_sizes(t);
    return bad;
}

int cli_qkv_open(cli_qkv *t, const char *const path[3], int64_t head, int64_t batch)
{
    return cli_qkv_open_as(t, path, head, batch, NPY_NUMBERS);
}

uint64_t cli_qkv_bytes(const cli_qkv *t)
{
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t bytes = (uint64_t)files_read_bytes(t->file[i], &t->slice[i]);
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

int cli_qkv_read(cli_qkv *t)
{
    files_error err;
    for (int i = 0; i < 3; i++) {
        if (files_read(t->file[i], &t->slice[i], &t->tensor[i], &err) != 0) {
            return cli_files_error(&err);
        }
    }
    return CLI_DONE;
}

void cli_qkv_close(cli_qkv *t)
{
    for (int i = 0; i < 3; i++) {
        files_tensor_free(&t->tensor[i]);
        files_close(t->file[i]);
    }
    memset(t, 0, sizeof *t);
}
