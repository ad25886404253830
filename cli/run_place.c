/* SPDX-License-Identifier: MIT */
/* run_place.c - see run_place.h. Where a list does not fit the tensors, the sentence names the option;
 * what the library finds wrong with a number goes by the option's name, too.
 */
#include "cli/run_place.h"

#include <inttypes.h>
#include <string.h>

#define NUMBERS "N,N,...|FILE"

const cli_option cli_opt_window =
    CLI_OPTION("window", CLI_TEXT, "L,R",
               "See only L keys back and R ahead of a query's own place; -1 is any number");
const cli_option cli_opt_prefix = {
    .name = "prefix",
    .kind = CLI_INT,
    .value = "N",
    .max = INT64_MAX,
    .help = "Causal, but all see the first N keys",
};
const cli_option cli_opt_q_offset =
    CLI_OPTION("q-offset", CLI_TEXT, "N|" NUMBERS,
               "Query i stands at key i + N: one number, or one a batch entry. A file is a .npy of "
               "int32 or int64, here and below");
const cli_option cli_opt_kv_len = CLI_OPTION(
    "kv-len", CLI_TEXT, NUMBERS, "How many keys each batch entry has; the others are not read");
const cli_option cli_opt_q_len = CLI_OPTION(
    "q-len", CLI_TEXT, NUMBERS, "How many queries each batch entry has; the others give 0");
const cli_option cli_opt_kv_start = CLI_OPTION(
    "kv-start", CLI_TEXT, NUMBERS, "How many keys at the front of each batch entry are padding");
const cli_option cli_opt_cu_q =
    CLI_OPTION("cu-q", CLI_TEXT, "0," NUMBERS,
               "Packed sequences: where each one's queries begin, then how many there are");
const cli_option cli_opt_cu_k =
    CLI_OPTION("cu-k", CLI_TEXT, "0," NUMBERS, "The same for keys and values; needed with --cu-q");

enum { CU_Q, CU_K, KV_LEN, Q_LEN, KV_START, Q_OFFSET };

const cli_option *const cli_place_option[CLI_LISTS] = {&cli_opt_cu_q,     &cli_opt_cu_k,
                                                       &cli_opt_kv_len,   &cli_opt_q_len,
                                                       &cli_opt_kv_start, &cli_opt_q_offset};

int cli_check_count(int64_t got, int64_t want, const char *option, const char *each)
{
    if (got == want) return CLI_DONE;
    return cli_refuse("--%s has %" PRId64 " number%s; %" PRId64 " %s needed, one for each %s",
                      option, got, cli_s(got), want, want == 1 ? "is" : "are", each);
}

static int read_lists(cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    static const uint64_t bit[CLI_LISTS] = {QKV_USE_PACKED, QKV_USE_PACKED,   QKV_USE_KV_LEN,
                                            QKV_USE_Q_LEN,  QKV_USE_KV_START, QKV_USE_Q_OFFSETS};
    int bad = CLI_DONE;
    for (int i = 0; i < CLI_LISTS && !bad; i++) {
        const char *const text = cli_text(args, cli_place_option[i]);
        if (!text) continue;
        bad = cli_numbers_read(&m->list[i], cli_place_option[i], text);
        p->use |= bit[i];
    }
    if (bad) return bad;
    if (!m->list[CU_Q].x != !m->list[CU_K].x)
        return cli_refuse("--cu-q and --cu-k come together; only --%s is given",
                          m->list[CU_Q].x ? "cu-q" : "cu-k");
    if (m->list[CU_Q].x && in->batch != 1)
        return cli_refuse("--cu-q packs sequences into one batch entry, but the files have %" PRId64
                          "; choose one: --batch N",
                          in->batch);
    const int64_t batches = m->list[CU_Q].x ? m->list[CU_Q].n - 1 : in->all_entries;
    const char *const each = m->list[CU_Q].x ? "sequence" : "batch entry";
    if (m->list[CU_Q].x) {
        if (m->list[CU_K].n != m->list[CU_Q].n)
            return cli_refuse("--cu-k has %" PRId64 " numbers; it must have %" PRId64
                              " as --cu-q has",
                              m->list[CU_K].n, m->list[CU_Q].n);
        if (batches < 1)
            return cli_refuse("--cu-q has %" PRId64
                              " number%s; at least 2 are needed, 0 and the queries",
                              m->list[CU_Q].n, cli_s(m->list[CU_Q].n));
        p->sequences = batches;
    }
    if (m->list[Q_OFFSET].x && m->list[Q_OFFSET].n == 1) { /* one for all */
        p->use &= ~QKV_USE_Q_OFFSETS;
        p->q_offset = m->list[Q_OFFSET].x[0];
    } else if (m->list[Q_OFFSET].x) {
        bad = cli_check_count(m->list[Q_OFFSET].n, batches, "q-offset", each);
    }
    for (int i = KV_LEN; i <= KV_START && !bad; i++)
        if (m->list[i].x)
            bad = cli_check_count(m->list[i].n, batches, cli_place_option[i]->name, each);
    const bool chosen = in->entry >= 0 && !m->list[CU_Q].x;
    for (int i = KV_LEN; i <= Q_OFFSET && chosen && !bad; i++)
        if (m->list[i].n == batches) m->list[i].x[0] = m->list[i].x[in->entry];
    return bad;
}

/* ---- where queries stand ------------------------------------------------------------------------- */

/* --causal has set an offset for whole tensors; lengths of batch entries and a place of their own
 * count more. Never guessed: where queries and keys differ in number, somebody must say. */
static int set_place(const cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const char *const causal = cli_text(args, &cli_opt_causal);
    const bool lengths = m->list[KV_LEN].x || m->list[Q_LEN].x || m->list[CU_Q].x;
    const uint64_t stands = QKV_USE_WINDOW | QKV_USE_PREFIX | QKV_USE_ALIBI;
    if (m->list[Q_OFFSET].x) {
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
                      " key%s%s: --q-offset N%s",
                      causal                    ? "--causal"
                      : p->use & QKV_USE_WINDOW ? "--window"
                      : p->use & QKV_USE_PREFIX ? "--prefix"
                                                : "--alibi",
                      in->queries, cli_ies(in->queries), in->queries == 1 ? "s" : "", in->keys,
                      cli_s(in->keys), lengths ? " of several lengths" : "",
                      causal || p->use & QKV_USE_PREFIX
                          ? ", --causal=top-left or --causal=bottom-right"
                          : ""); /* elsewhere causal would be one mask more */
}

static int read_window(const cli_args *args, qkv_params *p)
{
    const char *const text = cli_text(args, &cli_opt_window);
    char left[64], right[64];
    if (!text) return CLI_DONE;
    if (cli_pieces(text) == 2) {
        cli_piece(left, text, 0);
        cli_piece(right, text, 1);
        if (cli_parse_int(left, &p->window_left) && cli_parse_int(right, &p->window_right) &&
            p->window_left >= -1 && p->window_right >= -1) {
            p->use |= QKV_USE_WINDOW;
            return CLI_DONE;
        }
    }
    return cli_refuse("--window is '%s'; it must be two integers L,R of at least -1", text);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

int cli_place_open(cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    if (cli_given(args, &cli_opt_prefix)) {
        p->use |= QKV_USE_PREFIX;
        p->prefix = cli_int(args, &cli_opt_prefix, 0);
    }
    const int bad = read_window(args, p);
    return bad ? bad : read_lists(m, args, in, p);
}

int cli_place_check(const cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p)
{
    const uint64_t asks =
        QKV_USE_CAUSAL | QKV_USE_WINDOW | QKV_USE_PREFIX | QKV_USE_ALIBI | QKV_USE_DROPOUT;
    if (m->list[Q_OFFSET].x && !(p->use & asks))
        return cli_refuse("--q-offset is %s, but nothing asks where queries stand: --causal, "
                          "--window, --prefix, --alibi or --dropout",
                          cli_text(args, &cli_opt_q_offset));
    return set_place(m, args, in, p);
}

void cli_place_args(const cli_place *m, qkv_run_args *a)
{
    a->cu_q = m->list[CU_Q].x;
    a->cu_k = m->list[CU_K].x;
    a->kv_len = m->list[KV_LEN].x;
    a->q_len = m->list[Q_LEN].x;
    a->kv_start = m->list[KV_START].x;
    if (m->list[Q_OFFSET].n != 1) a->q_offset = m->list[Q_OFFSET].x; /* one is params.q_offset */
}

void cli_place_close(cli_place *m)
{
    for (int i = 0; i < CLI_LISTS; i++) cli_numbers_close(&m->list[i]);
}
