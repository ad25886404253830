/* SPDX-License-Identifier: MIT */
/* run_masks.c - see run_masks.h. Where a file does not fit the tensors, the sentence names the option;
 * what the library finds wrong with a number goes by the option's name, too.
 */
#include "cli/run_masks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const cli_option cli_opt_mask =
    CLI_OPTION("mask", CLI_FILE, "FILE",
               "Bool .npy over (batch, heads,) queries, keys: true keeps; lengths of 1 repeat");
const cli_option cli_opt_mask_bits =
    CLI_OPTION("mask-bits", CLI_FILE, "FILE",
               "The same as uint8 .npy with 8 keys a byte, the first in the lowest bit "
               "(numpy.packbits, bitorder little)");
const cli_option cli_opt_mask_drops =
    CLI_OPTION("mask-true-drops", CLI_FLAG, NULL, "In --mask and --mask-bits, true drops");
const cli_option cli_opt_bias = CLI_OPTION(
    "bias", CLI_FILE, "FILE",
    "Numbers over (batch, heads,) queries, keys, added to the scaled scores; -inf drops");
const cli_option cli_opt_alibi = CLI_OPTION(
    "alibi", CLI_FILE, "MAX|FILE",
    "Take slope times distance off the scores: slopes by the rule for MAX, or of a file");
const cli_option cli_opt_softcap =
    CLI_OPTION("softcap", CLI_REAL, "X", "Cap the scaled scores gently: X tanh(score / X)");
const cli_option cli_opt_sink =
    CLI_OPTION("sink", CLI_FILE, "X,X,...|FILE",
               "One more score for each query, without a value: one number a head");
const cli_option cli_opt_dropout = CLI_OPTION(
    "dropout", CLI_REAL, "P", "Drop weights with this chance; the others grow by 1 / (1 - P)");
const cli_option cli_opt_seed = {
    .name = "seed",
    .kind = CLI_INT,
    .value = "N",
    .max = INT64_MAX,
    .fallback = "0",
    .help = "Which weights --dropout drops",
};

enum { MASK, BIAS, ALIBI, SINK };

/* ---- files --------------------------------------------------------------------------------------- */

static int open_file(cli_masks *m, int which, const cli_option *option, const char *path)
{
    files_error err;
    const bool bits = option == &cli_opt_mask_bits;
    m->option[which] = option;
    if (files_open_as(&m->file[which], path, bits ? NPY_BYTES : NPY_NUMBERS, &err) != 0)
        return cli_files_error(&err);
    const npy_header *const h = files_header(m->file[which]);
    const char *const name = files_name(m->file[which]);
    if (!bits && (h->type == NPY_B1) != (which == MASK))
        return cli_refuse("%s holds %s; --%s needs %s", name, cli_type_name(h->type), option->name,
                          which == MASK ? "bool (numbers are --bias)" : "floating-point numbers");
    const int most = which == SINK ? 1 : which == ALIBI ? 2 : 4;
    if (h->rank > most || (bits && h->rank < 1))
        return cli_refuse("%s has rank %d; --%s needs at %s", name, h->rank, option->name,
                          h->rank > most ? most == 1   ? "most 1"
                                           : most == 2 ? "most 2"
                                                       : "most 4"
                                         : "least 1");
    m->slice[which] = files_slice_all(m->file[which]);
    return CLI_DONE;
}

/* The tensor's dimensions from the end; those that are missing are 1, a last one of 1 repeats. Bits: the
 * last one counts bytes of 8 keys. The file speaks of all heads and batch entries, also where a part of
 * them is computed. */
static int pair_shape(cli_masks *m, int which, const cli_qkv *in, qkv_shape *s)
{
    static const char *const axis[4] = {"batch entries", "heads", "queries", "keys"};
    const npy_header *const h = files_header(m->file[which]);
    const bool bits = h->type == NPY_U1;
    const int64_t bytes = in->keys / 8 + (in->keys % 8 != 0);
    const int64_t full[4] = {in->all_entries, in->all_heads, in->queries, bits ? bytes : in->keys};
    int64_t dim[4];
    for (int a = 0; a < 4; a++) {
        const int from_end = 4 - a;
        dim[a] = h->rank < from_end ? 1 : h->dim[h->rank - from_end];
        if (dim[a] == 1 || dim[a] == full[a] || (a == 3 && dim[a] < full[a])) continue;
        return cli_refuse("%s has %" PRId64 " %s; it must have %s%" PRId64 " as the tensors",
                          files_name(m->file[which]), dim[a],
                          bits && a == 3 ? "bytes of 8 keys" : axis[a],
                          a == 3         ? "at most "
                          : full[a] == 1 ? ""
                                         : "1 or ",
                          full[a]);
    }
    cli_slice_choose(&m->slice[which], h->rank, 3, in->head);
    cli_slice_choose(&m->slice[which], h->rank, 4, in->entry);
    if (in->head >= 0) dim[1] = 1;
    if (in->entry >= 0) dim[0] = 1;
    if (bits) { /* the rows are as long as they are in the file; what lies beyond the keys is not read */
        *s = qkv_shape_dense(QKV_BITS, dim[0], dim[1], dim[2], dim[3] * 8);
        if (s->dim[3] > in->keys) s->dim[3] = in->keys;
        return CLI_DONE;
    }
    *s = qkv_shape_dense(QKV_BOOL, dim[0], dim[1], dim[2], dim[3]);
    if (dim[3] == 1) { /* of no key, too */
        s->dim[3] = full[3];
        s->stride[3] = 0;
    }
    if (which == BIAS) s->dtype = h->type == NPY_F8 ? QKV_F64 : QKV_F32; /* 16 bits are widened */
    return CLI_DONE;
}

static int read_reals(cli_masks *m, int which, const char *text)
{
    const int64_t n = cli_pieces(text);
    m->numbers[which] = malloc((size_t)n * sizeof(double));
    if (!m->numbers[which]) return cli_failed("no memory for the numbers of --sink");
    m->ncount[which] = n;
    for (int64_t i = 0; i < n; i++) {
        char word[64];
        cli_piece(word, text, i);
        if (cli_parse_real(word, m->numbers[which] + i)) continue;
        free(m->numbers[which]);
        m->numbers[which] = NULL;
        return CLI_REFUSED; /* then it is a file's name */
    }
    return CLI_DONE;
}

/* A list that has something else than finite numbers in it is no file's name. */
static int check_name(const cli_option *option, const char *text)
{
    static const char *const word[] = {"nan", "inf", "infinity"};
    const char *const from = text + (*text == '-' || *text == '+');
    const size_t n = strcspn(from, ",");
    bool list = *from >= '0' && *from <= '9' && from[n];
    for (int i = 0; i < 3; i++) list |= strlen(word[i]) == n && strncasecmp(from, word[i], n) == 0;
    if (!list) return CLI_DONE;
    return cli_refuse("--%s is '%s'; %s needed, or a file", option->name, text,
                      option == &cli_opt_alibi ? "one finite number is"
                                               : "finite numbers with commas between them are");
}

static int open_slopes(cli_masks *m, const char *text, const cli_qkv *in, qkv_params *p)
{
    double max = 0;
    if (!text) return CLI_DONE;
    p->use |= QKV_USE_ALIBI;
    if (cli_parse_real(text, &max)) {
        if (max > 0 && in->head >= 0 && in->all_heads > 1)
            return cli_refuse("--head is %" PRId64 ", but --alibi %s goes by the number of heads; "
                              "give a file of %" PRId64 " slopes",
                              in->head, text, in->all_heads);
        if (max > 0 && max <= 1000) {
            p->alibi_max_bias = max;
            return CLI_DONE;
        }
        return cli_refuse("--alibi is %s; it must be above 0 and at most 1000, or a file of slopes",
                          text);
    }
    int bad = check_name(&cli_opt_alibi, text);
    if (!bad) bad = open_file(m, ALIBI, &cli_opt_alibi, text);
    if (bad) return bad;
    const npy_header *const h = files_header(m->file[ALIBI]);
    const int64_t heads = h->rank ? h->dim[h->rank - 1] : 1;
    const bool packed = p->use & QKV_USE_PACKED;
    const int64_t batches = packed ? p->sequences : in->all_entries;
    p->slopes_by_batch = h->rank == 2;
    cli_slice_choose(&m->slice[ALIBI], h->rank, 1, in->head);
    cli_slice_choose(&m->slice[ALIBI], h->rank, 2, packed ? -1 : in->entry);
    if (heads == in->all_heads && (h->rank < 2 || h->dim[0] == batches)) return CLI_DONE;
    char shape[160];
    cli_shape_text(shape, sizeof shape, h->dim, h->rank);
    return cli_refuse("%s has shape %s; slopes have shape (%" PRId64
                      ",), one for each head, or (%" PRId64 ", %" PRId64
                      "), one for each %s and head",
                      files_name(m->file[ALIBI]), shape, in->all_heads, batches, in->all_heads,
                      packed ? "sequence" : "batch entry");
}

static int open_sinks(cli_masks *m, const char *text, const cli_qkv *in, qkv_params *p)
{
    if (!text) return CLI_DONE;
    p->use |= QKV_USE_SINK;
    int64_t n = 0;
    const int no_list = read_reals(m, SINK, text);
    if (no_list == CLI_FAILED) return no_list;
    if (!no_list) {
        n = m->ncount[SINK];
    } else {
        int bad = check_name(&cli_opt_sink, text);
        if (!bad) bad = open_file(m, SINK, &cli_opt_sink, text);
        if (bad) return bad;
        n = files_header(m->file[SINK])->elems;
        cli_slice_choose(&m->slice[SINK], files_header(m->file[SINK])->rank, 1, in->head);
    }
    return cli_check_count(n, in->all_heads, "sink", "head");
}

static int open_mask(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const cli_option *const option =
        cli_given(args, &cli_opt_mask_bits) ? &cli_opt_mask_bits : &cli_opt_mask;
    const char *const path = cli_text(args, option);
    p->mask_drops = cli_given(args, &cli_opt_mask_drops);
    if (!path && p->mask_drops)
        return cli_refuse("--mask-true-drops needs --mask or --mask-bits; there is none");
    if (!path) return CLI_DONE;
    if (option == &cli_opt_mask_bits && cli_given(args, &cli_opt_mask))
        return cli_refuse("--mask and --mask-bits both say who sees whom; give one");
    p->use |= QKV_USE_MASK;
    const int bad = open_file(m, MASK, option, path);
    return bad ? bad : pair_shape(m, MASK, in, &p->mask);
}

static int open_files(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const char *const bias = cli_text(args, &cli_opt_bias);
    int bad = open_mask(m, args, in, p);
    if (!bad && bias) {
        p->use |= QKV_USE_BIAS;
        bad = open_file(m, BIAS, &cli_opt_bias, bias);
        if (!bad) bad = pair_shape(m, BIAS, in, &p->bias);
    }
    if (!bad) bad = open_slopes(m, cli_text(args, &cli_opt_alibi), in, p);
    if (!bad) bad = open_sinks(m, cli_text(args, &cli_opt_sink), in, p);
    return bad;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

int cli_masks_open(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    if (cli_given(args, &cli_opt_softcap)) {
        p->use |= QKV_USE_SOFTCAP;
        p->softcap = cli_real(args, &cli_opt_softcap, 0);
    }
    if (cli_given(args, &cli_opt_dropout)) {
        p->use |= QKV_USE_DROPOUT;
        p->dropout = cli_real(args, &cli_opt_dropout, 0);
    }
    if (cli_given(args, &cli_opt_seed) && !cli_given(args, &cli_opt_dropout))
        return cli_refuse("--seed is %s, but there is no --dropout", cli_text(args, &cli_opt_seed));
    m->seed = (uint64_t)cli_int(args, &cli_opt_seed, 0);
    int bad = cli_place_open(&m->place, args, in, p);
    if (!bad) bad = open_files(m, args, in, p);
    return bad ? bad : cli_place_check(&m->place, args, in, p);
}

uint64_t cli_masks_bytes(const cli_masks *m)
{
    uint64_t sum = 0;
    for (int i = 0; i < CLI_ADDED; i++) {
        if (!m->file[i]) continue;
        const uint64_t bytes = (uint64_t)files_read_bytes(m->file[i], &m->slice[i]);
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

/* slopes or sinks in the type that is computed in */
static int to_real(cli_masks *m, int which, const cli_qkv *in)
{
    const files_tensor *const t = &m->tensor[which];
    const int64_t first = in->head < 0 ? 0 : in->head; /* of a list */
    int64_t n = m->file[which] ? 1 : in->heads;
    for (int32_t a = 0; m->file[which] && a < t->rank; a++) n *= t->dim[a];
    m->real[which] = files_alloc(n * 8);
    if (!m->real[which]) return cli_failed("no memory for %" PRId64 " numbers", n);
    for (int64_t i = 0; i < n; i++) {
        float narrow;
        double x = m->numbers[which] ? m->numbers[which][first + i] : 0;
        if (m->file[which] && t->type == NPY_F8) memcpy(&x, (const char *)t->data + 8 * i, 8);
        if (m->file[which] && t->type == NPY_F4) {
            memcpy(&narrow, (const char *)t->data + 4 * i, 4);
            x = (double)narrow;
        }
        narrow = (float)x;
        if (in->dtype == QKV_F64)
            memcpy((char *)m->real[which] + 8 * i, &x, 8);
        else
            memcpy((char *)m->real[which] + 4 * i, &narrow, 4);
    }
    return CLI_DONE;
}

int cli_masks_read(cli_masks *m, const cli_qkv *in)
{
    files_error err;
    int bad = CLI_DONE;
    for (int i = 0; i < CLI_ADDED && !bad; i++) {
        if (m->file[i]) {
            if (files_read(m->file[i], &m->slice[i], &m->tensor[i], &err) != 0)
                return cli_files_error(&err);
        }
        if (i >= ALIBI && (m->file[i] || m->numbers[i])) bad = to_real(m, i, in);
    }
    return bad;
}

void cli_masks_args(const cli_masks *m, qkv_run_args *a)
{
    cli_place_args(&m->place, a);
    a->mask = m->tensor[MASK].data;
    a->bias = m->tensor[BIAS].data;
    a->slopes = m->real[ALIBI];
    a->sinks = m->real[SINK];
    a->seed = m->seed;
}

void cli_masks_close(cli_masks *m)
{
    cli_place_close(&m->place);
    for (int i = 0; i < CLI_ADDED; i++) {
        if (m->tensor[i].data) files_tensor_free(&m->tensor[i]);
        files_close(m->file[i]);
        free(m->numbers[i]);
        free(m->real[i]);
    }
    memset(m, 0, sizeof *m);
}

int cli_masks_files(const cli_masks *m, const files_input *file[CLI_MASK_FILES],
                    const cli_option *option[CLI_MASK_FILES])
{
    int n = 0;
    for (int i = 0; i < CLI_MASK_FILES; i++) {
        const int list = i - CLI_ADDED;
        const files_input *const in = list < 0 ? m->file[i] : m->place.list[list].file;
        if (!in) continue;
        file[n] = in;
        option[n++] = list < 0 ? m->option[i] : cli_place_option[list];
    }
    return n;
}

int cli_run_error(const qkv_error *err)
{
    static const char *const name[][2] = {
        {"params.scale", "--scale"},     {"params.window_left", "--window"},
        {"params.softcap", "--softcap"}, {"params.window_right", "--window"},
        {"params.dropout", "--dropout"}, {"params.q_offset", "--q-offset"},
        {"args.kv_len", "--kv-len"},     {"args.q_len", "--q-len"},
        {"args.kv_start", "--kv-start"}, {"args.q_offset", "--q-offset"},
        {"args.cu_q", "--cu-q"},         {"args.cu_k", "--cu-k"},
        {"args.slopes", "--alibi"},      {"args.sinks", "--sink"},
        {"args.show.rows", "--rows"}};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const size_t n = strlen(name[i][0]);
        if (strcmp(err->arg, name[i][0]) == 0 && strncmp(err->text, name[i][0], n) == 0)
            return cli_refuse("%s%s", name[i][1], err->text + n);
    }
    return cli_library_error(err);
}
