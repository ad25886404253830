/* SPDX-License-Identifier: MIT */
/* run_kept.c - see run_kept.h. The library's arrays are [batch][head][query or chosen query][key]; a
 * file has the rank of the queries' file, so axes that it does not have are left out.
 */
#include "cli/run_kept.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_opt_row_max =
    CLI_OPTION("row-max", CLI_FILE, "FILE", "Also write each query's largest score");
const cli_option cli_opt_key_sums =
    CLI_OPTION("key-sums", CLI_FILE, "FILE", "Also write what all queries together give each key");
const cli_option cli_opt_weights = CLI_OPTION(
    "weights", CLI_FILE, "FILE",
    "Also write the weights, of all queries or of --rows; the same as --scores weight=FILE");
const cli_option cli_opt_scores =
    CLI_OPTION("scores", CLI_TEXT, "KIND=FILE,...",
               "Also write scores: raw (scaled), capped, biased (after all that is added; what is "
               "not seen is -inf), weight");
const cli_option cli_opt_keep_mask =
    CLI_OPTION("keep-mask", CLI_FILE, "FILE", "Also write, as bool, which weights --dropout keeps");
const cli_option cli_opt_rows =
    CLI_OPTION("rows", CLI_TEXT, "N,N,...|FILE", "Of these queries only, in this order");

enum { ROW_MAX, KEY_SUMS, RAW, CAPPED, BIASED, WEIGHT, KEEP };

static int want(cli_kept *k, int which, const char *option, const char *path, size_t n)
{
    cli_kept_file *const f = &k->file[which];
    if (f->option && strcmp(f->option, option) == 0)
        return cli_refuse("%s asks for the same thing twice; give one file for each stage", option);
    if (f->option)
        return cli_refuse("%s and %s both ask for the same thing; give one", f->option, option);
    if (n >= sizeof f->path || n == 0)
        return cli_refuse("%s: a file name of %zu bytes; it must have between 1 and %zu", option, n,
                          sizeof f->path - 1);
    f->option = option;
    memcpy(f->path, path, n);
    f->path[n] = 0;
    return CLI_DONE;
}

/* KIND=FILE,KIND=FILE: a file name may hold no comma */
static int read_scores(cli_kept *k, const char *text)
{
    static const char *const kinds[4] = {"raw", "capped", "biased", "weight"};
    for (const char *p = text; p;) {
        const size_t length = strcspn(p, ","), word = strcspn(p, "=");
        int kind = -1;
        for (int i = 0; i < 4; i++)
            if (word < length && word == strlen(kinds[i]) && strncmp(p, kinds[i], word) == 0)
                kind = i;
        if (kind < 0)
            return cli_refuse("--scores has '%.*s'; KIND=FILE is needed, KIND one of raw, capped, "
                              "biased, weight",
                              (int)length, p);
        const int bad = want(k, RAW + kind, "--scores", p + word + 1, length - word - 1);
        if (bad) return bad;
        p = p[length] ? p + length + 1 : NULL;
    }
    return CLI_DONE;
}

static int read_rows(cli_kept *k, const cli_args *args, const cli_qkv *in)
{
    const char *const text = cli_text(args, &cli_opt_rows);
    if (!text) return CLI_DONE;
    bool any = false;
    for (int i = RAW; i < CLI_KEPT; i++) any |= k->file[i].option != NULL;
    if (!any)
        return cli_refuse("--rows is %s, but there is no --weights, --scores or --keep-mask", text);
    const int bad = cli_numbers_read(&k->rows, &cli_opt_rows, text);
    for (int64_t i = 0; i < k->rows.n && !bad; i++)
        if (k->rows.x[i] < 0 || k->rows.x[i] >= in->queries)
            return cli_refuse("--rows has %" PRId64 " as number %" PRId64
                              "; it must be at least 0 and below the %" PRId64 " quer%s",
                              k->rows.x[i], i, in->queries, cli_ies(in->queries));
    return bad;
}

/* rank of the file and its axes: those of the queries' file, with other last ones */
static void set_shape(cli_kept *k, int which, const cli_qkv *in)
{
    cli_kept_file *const f = &k->file[which];
    const int pairs = which >= RAW; /* --rows chooses among these only */
    const int64_t rows = pairs && k->rows.x ? k->rows.n : in->queries;
    const int64_t last[2] = {which == KEY_SUMS ? in->keys : rows, in->keys};
    f->rank = in->rank - !pairs;
    for (int32_t a = 0; a < f->rank; a++) f->dim[a] = in->out_dim[a];
    f->dim[in->rank - 2] = last[0];
    if (pairs) f->dim[in->rank - 1] = last[1];
    f->type = which == KEEP ? NPY_B1 : in->dtype == QKV_F64 ? NPY_F8 : NPY_F4;
    f->bytes = which == KEEP ? 1 : in->dtype == QKV_F64 ? 8 : 4;
    for (int32_t a = 0; a < f->rank; a++)
        if (__builtin_mul_overflow(f->bytes, f->dim[a], &f->bytes)) f->bytes = INT64_MAX;
}

int cli_kept_open(cli_kept *k, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const cli_option *const option[4] = {&cli_opt_row_max, &cli_opt_key_sums, &cli_opt_weights,
                                         &cli_opt_keep_mask};
    static const char *const name[4] = {"--row-max", "--key-sums", "--weights", "--keep-mask"};
    static const int which[4] = {ROW_MAX, KEY_SUMS, WEIGHT, KEEP};
    int bad = CLI_DONE;
    if (cli_given(args, &cli_opt_keep_mask) && !(p->use & QKV_USE_DROPOUT))
        return cli_refuse("--keep-mask is %s, but there is no --dropout",
                          cli_text(args, &cli_opt_keep_mask));
    for (int i = 0; i < 4 && !bad; i++) {
        const char *const path = cli_text(args, option[i]);
        if (path) bad = want(k, which[i], name[i], path, strlen(path));
    }
    if (!bad && cli_given(args, &cli_opt_scores))
        bad = read_scores(k, cli_text(args, &cli_opt_scores));
    if (!bad) bad = read_rows(k, args, in);
    for (int i = 0; i < CLI_KEPT && !bad; i++)
        if (k->file[i].option) set_shape(k, i, in);
    if (k->file[KEY_SUMS].option) p->use |= QKV_USE_KEY_SUMS;
    return bad;
}

uint64_t cli_kept_bytes(const cli_kept *k)
{
    uint64_t sum = 0;
    for (int i = 0; i < CLI_KEPT; i++) {
        const uint64_t bytes = k->file[i].option ? (uint64_t)k->file[i].bytes : 0;
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

int cli_kept_take(cli_kept *k)
{
    for (int i = 0; i < CLI_KEPT; i++) {
        cli_kept_file *const f = &k->file[i];
        if (!f->option) continue;
        f->data = files_alloc(f->bytes);
        if (!f->data)
            return cli_failed("no memory for the %" PRId64 " bytes of %s", f->bytes, f->option);
        memset(f->data, 0, (size_t)f->bytes); /* key sums are added to */
    }
    return CLI_DONE;
}

bool cli_kept_any(const cli_kept *k)
{
    for (int i = 0; i < CLI_KEPT; i++)
        if (k->file[i].option) return true;
    return false;
}

void cli_kept_args(cli_kept *k, qkv_run_args *a)
{
    k->show = qkv_show_init();
    k->show.rows = k->rows.x;
    k->show.nrows = k->rows.n;
    k->show.scaled = k->file[RAW].data;
    k->show.capped = k->file[CAPPED].data;
    k->show.masked = k->file[BIASED].data;
    k->show.weight = k->file[WEIGHT].data;
    k->show.keep = k->file[KEEP].data;
    for (int i = RAW; i < CLI_KEPT; i++)
        if (k->file[i].data) a->show = &k->show;
    a->row_max = k->file[ROW_MAX].data;
    a->key_sums = k->file[KEY_SUMS].data;
}

void cli_kept_close(cli_kept *k)
{
    for (int i = 0; i < CLI_KEPT; i++) free(k->file[i].data);
    cli_numbers_close(&k->rows);
    memset(k, 0, sizeof *k);
}
