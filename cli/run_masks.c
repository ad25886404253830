/* SPDX-License-Identifier: MIT */
/* run_masks.c - see run_masks.h. Where a list or a file does not fit the tensors, the sentence names the
 * option; what the library finds wrong with a number goes by the option's name, too.
 */
#include "cli/run_masks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_opt_window = {
    .name = "window",
    .kind = CLI_TEXT,
    .value = "L,R",
    .help = "See only L keys back and R ahead of a query's own place; -1 is any number",
};
const cli_option cli_opt_prefix = {
    .name = "prefix",
    .kind = CLI_INT,
    .value = "N",
    .max = INT64_MAX,
    .help = "Causal, but all see the first N keys",
};
const cli_option cli_opt_q_offset = {
    .name = "q-offset",
    .kind = CLI_TEXT,
    .value = "N|N,N,...",
    .help = "Query i stands at key i + N: one number, or one a batch entry",
};
const cli_option cli_opt_kv_len = {
    .name = "kv-len",
    .kind = CLI_TEXT,
    .value = "N,N,...",
    .help = "How many keys each batch entry has; the others are not read",
};
const cli_option cli_opt_q_len = {
    .name = "q-len",
    .kind = CLI_TEXT,
    .value = "N,N,...",
    .help = "How many queries each batch entry has; the others give 0",
};
const cli_option cli_opt_kv_start = {
    .name = "kv-start",
    .kind = CLI_TEXT,
    .value = "N,N,...",
    .help = "How many keys at the front of each batch entry are padding",
};
const cli_option cli_opt_cu_q = {
    .name = "cu-q",
    .kind = CLI_TEXT,
    .value = "0,N,...",
    .help = "Packed sequences: where each one's queries begin, then how many there are",
};
const cli_option cli_opt_cu_k = {
    .name = "cu-k",
    .kind = CLI_TEXT,
    .value = "0,N,...",
    .help = "The same for keys and values; needed with --cu-q",
};
const cli_option cli_opt_mask = {
    .name = "mask",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Bool .npy over (batch, heads,) queries, keys: true keeps; lengths of 1 repeat",
};
const cli_option cli_opt_mask_drops = {
    .name = "mask-true-drops",
    .kind = CLI_FLAG,
    .help = "In --mask, true drops",
};
const cli_option cli_opt_bias = {
    .name = "bias",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Numbers over (batch, heads,) queries, keys, added to the scaled scores; -inf drops",
};
const cli_option cli_opt_alibi = {
    .name = "alibi",
    .kind = CLI_FILE,
    .value = "MAX|FILE",
    .help = "Take slope times distance off the scores: slopes by the rule for MAX, or of a file",
};
const cli_option cli_opt_softcap = {
    .name = "softcap",
    .kind = CLI_REAL,
    .value = "X",
    .help = "Cap the scaled scores gently: X tanh(score / X)",
};
const cli_option cli_opt_sink = {
    .name = "sink",
    .kind = CLI_FILE,
    .value = "X,X,...|FILE",
    .help = "One more score for each query, without a value: one number a head",
};
const cli_option cli_opt_dropout = {
    .name = "dropout",
    .kind = CLI_REAL,
    .value = "P",
    .help = "Drop weights with this chance; the others grow by 1 / (1 - P)",
};
const cli_option cli_opt_seed = {
    .name = "seed",
    .kind = CLI_INT,
    .value = "N",
    .max = INT64_MAX,
    .fallback = "0",
    .help = "Which weights --dropout drops",
};

enum { CU_Q, CU_K, KV_LEN, Q_LEN, KV_START, Q_OFFSET };
enum { MASK, BIAS, ALIBI, SINK };

static const cli_option *const list_option[CLI_LISTS] = {&cli_opt_cu_q,     &cli_opt_cu_k,
                                                         &cli_opt_kv_len,   &cli_opt_q_len,
                                                         &cli_opt_kv_start, &cli_opt_q_offset};
static const cli_option *const added_option[CLI_ADDED] = {&cli_opt_mask, &cli_opt_bias,
                                                          &cli_opt_alibi, &cli_opt_sink};

/* ---- lists ------------------------------------------------------------------------------------- */

static int64_t pieces(const char *text)
{
    int64_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    return n;
}

/* the i-th of the comma's pieces, cut to the buffer (a longer one is no number) */
static void piece(char out[64], const char *text, int64_t i)
{
    for (; i > 0; i--) text = strchr(text, ',') + 1;
    snprintf(out, 64, "%.*s", (int)strcspn(text, ","), text);
}

int cli_list(const char *option, const char *text, int64_t **list, int64_t *count)
{
    *count = pieces(text);
    *list = malloc((size_t)*count * sizeof **list);
    if (*list == NULL) return cli_failed("no memory for the numbers of --%s", option);
    for (int64_t i = 0; i < *count; i++) {
        char word[64];
        piece(word, text, i);
        if (!cli_parse_int(word, *list + i))
            return cli_refuse("--%s has '%s' as number %" PRId64
                              "; integers with commas between them are needed",
                              option, word, i);
    }
    return CLI_DONE;
}

static int check_count(int64_t got, int64_t want, const char *option, const char *each)
{
    if (got == want) return CLI_DONE;
    return cli_refuse("--%s has %" PRId64 " number%s; %" PRId64 " %s needed, one for each %s",
                      option, got, cli_s(got), want, want == 1 ? "is" : "are", each);
}

static int read_lists(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    static const uint64_t bit[CLI_LISTS] = {QKV_USE_PACKED, QKV_USE_PACKED,   QKV_USE_KV_LEN,
                                            QKV_USE_Q_LEN,  QKV_USE_KV_START, QKV_USE_Q_OFFSETS};
    int bad = CLI_DONE;
    for (int i = 0; i < CLI_LISTS && !bad; i++) {
        const char *const text = cli_text(args, list_option[i]);
        if (!text) continue;
        bad = cli_list(list_option[i]->name, text, &m->list[i], &m->count[i]);
        p->use |= bit[i];
    }
    if (bad) return bad;
    if (!m->list[CU_Q] != !m->list[CU_K])
        return cli_refuse("--cu-q and --cu-k come together; only --%s is given",
                          m->list[CU_Q] ? "cu-q" : "cu-k");
    if (m->list[CU_Q] && in->rank == 4)
        return cli_refuse("--cu-q packs sequences into one batch, but the files have rank 4; rank "
                          "2 or 3 is needed");
    const int64_t batches = m->list[CU_Q] ? m->count[CU_Q] - 1 : in->batch;
    const char *const each = m->list[CU_Q] ? "sequence" : "batch entry";
    if (m->list[CU_Q]) {
        if (m->count[CU_K] != m->count[CU_Q])
            return cli_refuse("--cu-k has %" PRId64 " numbers; it must have %" PRId64
                              " as --cu-q has",
                              m->count[CU_K], m->count[CU_Q]);
        if (batches < 1)
            return cli_refuse("--cu-q has 1 number; at least 2 are needed, 0 and the queries");
        p->sequences = batches;
    }
    if (m->list[Q_OFFSET] && m->count[Q_OFFSET] == 1) { /* one for all */
        p->use &= ~QKV_USE_Q_OFFSETS;
        p->q_offset = m->list[Q_OFFSET][0];
    } else if (m->list[Q_OFFSET]) {
        bad = check_count(m->count[Q_OFFSET], batches, "q-offset", each);
    }
    for (int i = KV_LEN; i <= KV_START && !bad; i++)
        if (m->list[i]) bad = check_count(m->count[i], batches, list_option[i]->name, each);
    return bad;
}

/* ---- where queries stand ------------------------------------------------------------------------- */

/* --causal has set an offset for whole tensors; lengths of batch entries and a place of their own
 * count more. Never guessed: where queries and keys differ in number, somebody must say. */
static int set_place(const cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const char *const causal = cli_text(args, &cli_opt_causal);
    const bool lengths = m->list[KV_LEN] || m->list[Q_LEN] || m->list[CU_Q];
    const uint64_t stands = QKV_USE_WINDOW | QKV_USE_PREFIX | QKV_USE_ALIBI;
    if (m->list[Q_OFFSET]) {
        if (causal && *causal)
            return cli_refuse("--q-offset and --causal=%s both say where queries stand; give one",
                              causal);
        return CLI_DONE;
    }
    if (causal && strcmp(causal, "bottom-right") == 0 && lengths) {
        p->align = QKV_ALIGN_BOTTOM_RIGHT;
        p->q_offset = 0;
        return CLI_DONE;
    }
    if (causal && *causal) return CLI_DONE;
    const bool same = in->queries == in->keys && !lengths;
    if (same || (!causal && !(p->use & stands))) return CLI_DONE;
    return cli_refuse("%s needs to know where %" PRId64 " quer%s stand%s among %" PRId64
                      " key%s%s: --q-offset N, --causal=top-left or --causal=bottom-right",
                      causal                    ? "--causal"
                      : p->use & QKV_USE_WINDOW ? "--window"
                      : p->use & QKV_USE_PREFIX ? "--prefix"
                                                : "--alibi",
                      in->queries, cli_ies(in->queries), in->queries == 1 ? "s" : "", in->keys,
                      cli_s(in->keys), lengths ? " of several lengths" : "");
}

static int read_window(const cli_args *args, qkv_params *p)
{
    const char *const text = cli_text(args, &cli_opt_window);
    char left[64], right[64];
    if (!text) return CLI_DONE;
    if (pieces(text) == 2) {
        piece(left, text, 0);
        piece(right, text, 1);
        if (cli_parse_int(left, &p->window_left) && cli_parse_int(right, &p->window_right)) {
            p->use |= QKV_USE_WINDOW;
            return CLI_DONE;
        }
    }
    return cli_refuse("--window is '%s'; it must be two integers L,R of at least -1", text);
}

/* ---- files --------------------------------------------------------------------------------------- */

static int open_file(cli_masks *m, int which, const char *path)
{
    files_error err;
    if (files_open(&m->file[which], path, &err) != 0) return cli_files_error(&err);
    const npy_header *const h = files_header(m->file[which]);
    const char *const name = files_name(m->file[which]);
    if ((h->type == NPY_B1) != (which == MASK))
        return cli_refuse("%s holds %s; --%s needs %s", name, cli_type_name(h->type),
                          added_option[which]->name,
                          which == MASK ? "bool (numbers are --bias)" : "floating-point numbers");
    const int most = which == SINK ? 1 : which == ALIBI ? 2 : 4;
    if (h->rank > most)
        return cli_refuse("%s has rank %d; --%s needs at most %d", name, h->rank,
                          added_option[which]->name, most);
    return CLI_DONE;
}

/* The tensor's dimensions from the end; those that are missing are 1, a last one of 1 repeats. */
static int pair_shape(const cli_masks *m, int which, const cli_qkv *in, qkv_shape *s)
{
    static const char *const axis[4] = {"batch entries", "heads", "queries", "keys"};
    const npy_header *const h = files_header(m->file[which]);
    const int64_t full[4] = {in->batch, in->heads, in->queries, in->keys};
    int64_t dim[4];
    for (int a = 0; a < 4; a++) {
        const int from_end = 4 - a;
        dim[a] = h->rank < from_end ? 1 : h->dim[h->rank - from_end];
        if (dim[a] == 1 || dim[a] == full[a] || (a == 3 && dim[a] < full[a])) continue;
        return cli_refuse("%s has %" PRId64 " %s; it must have %s%" PRId64 " as the tensors",
                          files_name(m->file[which]), dim[a], axis[a],
                          a == 3 ? "at most " : "1 or ", full[a]);
    }
    *s = qkv_shape_dense(QKV_BOOL, dim[0], dim[1], dim[2], dim[3]);
    if (dim[3] == 1 && full[3] > 1) {
        s->dim[3] = full[3];
        s->stride[3] = 0;
    }
    if (which == BIAS) s->dtype = h->type == NPY_F8 ? QKV_F64 : QKV_F32; /* 16 bits are widened */
    return CLI_DONE;
}

static int read_reals(cli_masks *m, int which, const char *text)
{
    const int64_t n = pieces(text);
    m->numbers[which] = malloc((size_t)n * sizeof(double));
    if (!m->numbers[which]) return cli_failed("no memory for the numbers of --sink");
    m->ncount[which] = n;
    for (int64_t i = 0; i < n; i++) {
        char word[64];
        piece(word, text, i);
        if (cli_parse_real(word, m->numbers[which] + i)) continue;
        free(m->numbers[which]);
        m->numbers[which] = NULL;
        return CLI_REFUSED; /* then it is a file's name */
    }
    return CLI_DONE;
}

static int open_slopes(cli_masks *m, const char *text, const cli_qkv *in, qkv_params *p)
{
    double max = 0;
    if (!text) return CLI_DONE;
    p->use |= QKV_USE_ALIBI;
    if (cli_parse_real(text, &max)) {
        if (max > 0 && max <= 1000) {
            p->alibi_max_bias = max;
            return CLI_DONE;
        }
        return cli_refuse("--alibi is %s; it must be above 0 and at most 1000, or a file of slopes",
                          text);
    }
    const int bad = open_file(m, ALIBI, text);
    if (bad) return bad;
    const npy_header *const h = files_header(m->file[ALIBI]);
    const int64_t heads = h->rank ? h->dim[h->rank - 1] : 1;
    const int64_t batches = p->use & QKV_USE_PACKED ? p->sequences : in->batch;
    p->slopes_by_batch = h->rank == 2;
    if (heads == in->heads && (h->rank < 2 || h->dim[0] == batches)) return CLI_DONE;
    return cli_refuse("%s has %" PRId64 " slope%s; %" PRId64
                      " are needed, one a head, or as many for each of %" PRId64 " batch entries",
                      files_name(m->file[ALIBI]), h->elems, cli_s(h->elems), in->heads, batches);
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
        const int bad = open_file(m, SINK, text);
        if (bad) return bad;
        n = files_header(m->file[SINK])->elems;
    }
    return check_count(n, in->heads, "sink", "head");
}

static int open_files(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const char *const mask = cli_text(args, &cli_opt_mask);
    const char *const bias = cli_text(args, &cli_opt_bias);
    int bad = CLI_DONE;
    if (mask) {
        p->use |= QKV_USE_MASK;
        bad = open_file(m, MASK, mask);
        if (!bad) bad = pair_shape(m, MASK, in, &p->mask);
    }
    p->mask_drops = cli_given(args, &cli_opt_mask_drops);
    if (!bad && p->mask_drops && !mask)
        return cli_refuse("--mask-true-drops needs --mask; there is none");
    if (!bad && bias) {
        p->use |= QKV_USE_BIAS;
        bad = open_file(m, BIAS, bias);
        if (!bad) bad = pair_shape(m, BIAS, in, &p->bias);
    }
    if (!bad) bad = open_slopes(m, cli_text(args, &cli_opt_alibi), in, p);
    if (!bad) bad = open_sinks(m, cli_text(args, &cli_opt_sink), in, p);
    return bad;
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* a part of the tensors, and lists or files that speak of all of them, do not go together */
static int check_part(const cli_args *args, const qkv_params *p)
{
    const uint64_t all = QKV_USE_PACKED | QKV_USE_KV_LEN | QKV_USE_Q_LEN | QKV_USE_KV_START |
                         QKV_USE_Q_OFFSETS | QKV_USE_MASK | QKV_USE_BIAS | QKV_USE_SINK |
                         QKV_USE_ALIBI;
    const cli_option *const part[2] = {&cli_opt_head, &cli_opt_batch};
    for (int i = 0; i < 2; i++)
        if (cli_given(args, part[i]) && p->use & all)
            return cli_refuse(
                "--%s is %s, but masks, biases and lengths are of the whole; give one "
                "or the other",
                part[i]->name, cli_text(args, part[i]));
    return CLI_DONE;
}

int cli_masks_open(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    if (cli_given(args, &cli_opt_prefix)) {
        p->use |= QKV_USE_PREFIX;
        p->prefix = cli_int(args, &cli_opt_prefix, 0);
    }
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
    int bad = read_window(args, p);
    if (!bad) bad = read_lists(m, args, in, p);
    if (!bad) bad = open_files(m, args, in, p);
    if (!bad) bad = check_part(args, p);
    if (!bad) bad = set_place(m, args, in, p);
    return bad;
}

uint64_t cli_masks_bytes(const cli_masks *m)
{
    uint64_t sum = 0;
    for (int i = 0; i < CLI_ADDED; i++) {
        if (!m->file[i]) continue;
        const files_slice all = files_slice_all(m->file[i]);
        const uint64_t bytes = (uint64_t)files_read_bytes(m->file[i], &all);
        sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes;
    }
    return sum;
}

/* n slopes or sinks in the type that is computed in */
static int to_real(cli_masks *m, int which, int32_t dtype)
{
    const files_tensor *const t = &m->tensor[which];
    const int64_t n = m->file[which] ? files_header(m->file[which])->elems : m->ncount[which];
    m->real[which] = files_alloc(n * 8);
    if (!m->real[which]) return cli_failed("no memory for %" PRId64 " numbers", n);
    for (int64_t i = 0; i < n; i++) {
        float narrow;
        double x = m->numbers[which] ? m->numbers[which][i] : 0;
        if (m->file[which] && t->type == NPY_F8) memcpy(&x, (const char *)t->data + 8 * i, 8);
        if (m->file[which] && t->type == NPY_F4) {
            memcpy(&narrow, (const char *)t->data + 4 * i, 4);
            x = (double)narrow;
        }
        narrow = (float)x;
        if (dtype == QKV_F64)
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
            const files_slice all = files_slice_all(m->file[i]);
            if (files_read(m->file[i], &all, &m->tensor[i], &err) != 0)
                return cli_files_error(&err);
        }
        if (i >= ALIBI && (m->file[i] || m->numbers[i])) bad = to_real(m, i, in->dtype);
    }
    return bad;
}

void cli_masks_args(const cli_masks *m, qkv_run_args *a)
{
    a->cu_q = m->list[CU_Q];
    a->cu_k = m->list[CU_K];
    a->kv_len = m->list[KV_LEN];
    a->q_len = m->list[Q_LEN];
    a->kv_start = m->list[KV_START];
    a->q_offset = m->list[Q_OFFSET];
    a->mask = m->tensor[MASK].data;
    a->bias = m->tensor[BIAS].data;
    a->slopes = m->real[ALIBI];
    a->sinks = m->real[SINK];
    a->seed = m->seed;
}

void cli_masks_close(cli_masks *m)
{
    for (int i = 0; i < CLI_LISTS; i++) free(m->list[i]);
    for (int i = 0; i < CLI_ADDED; i++) {
        if (m->tensor[i].data) files_tensor_free(&m->tensor[i]);
        files_close(m->file[i]);
        free(m->numbers[i]);
        free(m->real[i]);
    }
    memset(m, 0, sizeof *m);
}

int cli_masks_files(const cli_masks *m, const files_input *file[CLI_ADDED],
                    const char *option[CLI_ADDED])
{
    static const char *const name[CLI_ADDED] = {"--mask", "--bias", "--alibi", "--sink"};
    int n = 0;
    for (int i = 0; i < CLI_ADDED; i++) {
        if (!m->file[i]) continue;
        file[n] = m->file[i];
        option[n++] = name[i];
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
