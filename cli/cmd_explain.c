/* SPDX-License-Identifier: MIT */
/* cmd_explain.c - `qkv explain`: the lesson's calculator in the terminal. It reads options and
 * files, chooses the query that is walked through, and hands everything to lesson/, which computes
 * and writes. Nothing is printed before all of it is checked and computed.
 */
#include "cli/explain_html.h"
#include "cli/explain_input.h"
#include "cli/explain_token.h"
#include "lesson/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const cli_option opt_token = {
    .name = "token",
    .kind = CLI_TEXT,
    .value = "NAME|@INDEX|NAME#N",
    .fallback = "sat, or @0 for input of your own",
    .help = "Whose query is walked through; NAME#N is the N-th token of that name, all from 0",
};
static const cli_option opt_stage = {
    .name = "stage",
    .kind = CLI_INT,
    .min = 0,
    .max = 4,
    .value = "N",
    .fallback = "4",
    .help = "0 vectors, 1 scores, 2 scaled scores, 3 weights, 4 output; nothing later is shown",
};
static const cli_option opt_temperature = {
    .name = "temperature",
    .kind = CLI_TEXT, /* read here: the bound belongs into the sentence */
    .value = "T",
    .fallback = "1",
    .help = "Divide the scaled scores by T > 0 as well: small picks, large blurs",
};
static const cli_option opt_set_query = CLI_OPTION(
    "set-query", CLI_TEXT, "X,Y,...", "Change the query of the token, one number a channel");
static const cli_option opt_state = CLI_OPTION(
    "state", CLI_TEXT, "TEXT",
    "What a link of the lesson's page holds behind its #, up to the &z at its end: tokens, "
    "numbers and choices at once");
static const cli_option opt_digits = {
    .name = "digits",
    .kind = CLI_INT,
    .min = 0,
    .max = 17,
    .value = "N",
    .fallback = "2",
    .help = "Decimals that are shown (json and csv always hold all)",
};
static const cli_option opt_format = {
    .name = "format",
    .kind = CLI_CHOICE,
    .choices = "text|plain|json|csv|svg|html",
    .value = "FORMAT",
    .fallback = "text",
    .help = "text, plain (a sentence a step, for screen readers), json, csv, svg, or html: the "
            "lesson's page opened on these numbers (needs -o)",
};
enum { FORMAT_HTML = LESSON_SVG + 1 }; /* not a face of lesson/: the page is */
static const cli_option opt_out = {
    .name = "out",
    .letter = 'o',
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Where the page of --format html goes; - is stdout",
};
static const cli_option opt_view = {
    .name = "view",
    .kind = CLI_CHOICE,
    .choices = "table|map",
    .value = "VIEW",
    .fallback = "table",
    .help = "The token's table, or a map of all queries by all keys",
};
static const cli_option opt_rows =
    CLI_OPTION("rows", CLI_TEXT, "FROM:TO", "Only queries FROM to TO - 1");
static const cli_option opt_keys = CLI_OPTION(
    "keys", CLI_TEXT, "FROM:TO", "Show only keys FROM to TO - 1; the softmax still runs over all");

/* What a state says itself. */
static const cli_option *const in_state[] = {&opt_token,
                                             &opt_stage,
                                             &cli_opt_causal,
                                             &cli_opt_scale,
                                             &opt_temperature,
                                             &opt_set_query,
                                             &opt_digits,
                                             &cli_explain_opt_q,
                                             &cli_explain_opt_k,
                                             &cli_explain_opt_v,
                                             &cli_opt_head,
                                             &cli_opt_batch,
                                             &cli_explain_opt_x,
                                             &cli_explain_opt_wq,
                                             &cli_explain_opt_wk,
                                             &cli_explain_opt_wv,
                                             &cli_explain_opt_tokens,
                                             &opt_rows,
                                             &opt_keys};

typedef struct explanation {
    const cli_args *args;
    cli_explain_input input; /* owns */
    lesson_input in;
    lesson_stages stages;
    lesson_face face;
    int32_t digits;            /* of a state; -1: the option's */
    int map;                   /* 1: the map when --view does not say otherwise */
    const lesson_state *state; /* of --state, or NULL */
} explanation;

/* ---- the reader's choices -------------------------------------------------------------------- */

static int read_range(const cli_args *args, const cli_option *option, int64_t n, int64_t *begin,
                      int64_t *end)
{
    const char *const text = cli_text(args, option);
    *begin = 0;
    *end = n;
    if (!text) return CLI_DONE;
    const char *const colon = strchr(text, ':');
    const size_t first = colon ? (size_t)(colon - text) : 0;
    if (!colon || lesson_number_parse_integer(text, first, begin) != LESSON_NUMBER_OK ||
        lesson_number_parse_integer(colon + 1, strlen(colon + 1), end) != LESSON_NUMBER_OK ||
        *begin < 0 || *begin >= *end || *end > n) {
        return cli_refuse("--%s must be FROM:TO with 0 <= FROM < TO <= %" PRId64 ", not '%s'",
                          option->name, n, text);
    }
    return CLI_DONE;
}

/* What is computed and shown stays below this many scores. */
static const int64_t cells_most = 1000000;

static int check_cells(const lesson_input *in)
{
    const int64_t rows = in->row_end - in->row_begin, keys = in->key_end - in->key_begin;
    int64_t cells = 0;
    if (!__builtin_mul_overflow(rows, keys, &cells) && cells <= cells_most) return CLI_DONE;
    char count[32];
    if (__builtin_mul_overflow(rows, keys, &cells))
        snprintf(count, sizeof count, "over 2^63");
    else
        snprintf(count, sizeof count, "%" PRId64, cells);
    const int64_t fit = keys <= cells_most ? cells_most / keys : 1;
    return cli_refuse(
        "%" PRId64 " quer%s by %" PRId64 " key%s are %s scores; explain shows at most "
        "%" PRId64 ": choose a part with --rows or --keys, such as --rows %" PRId64 ":%" PRId64,
        rows, cli_ies(rows), keys, cli_s(keys), count, cells_most, in->row_begin,
        in->row_begin + (fit < rows ? fit : rows));
}

static int read_temperature(const cli_args *args, lesson_input *in)
{
    const char *const text = cli_text(args, &opt_temperature);
    in->temperature = 1;
    if (!text) return CLI_DONE;
    const lesson_number_status status =
        lesson_number_parse(text, strlen(text), &in->temperature, NULL);
    if (status != LESSON_NUMBER_OK)
        return cli_refuse("--temperature must be a finite number above 0, not '%s': %s", text,
                          lesson_number_reason(status));
    if (!(in->temperature > 0)) return cli_refuse("--temperature must be above 0, not '%s'", text);
    /* 0 is fine: every key counts the same then */
    if (lesson_scale(in) - lesson_scale(in) == 0) return CLI_DONE;
    return cli_refuse("--temperature %s makes the multiplier of the scores larger than 1.79e308",
                      text);
}

static int read_scale(const cli_args *args, lesson_input *in)
{
    static const int32_t kinds[] = {LESSON_SCALE_SQRT, LESSON_SCALE_NONE, LESSON_SCALE_DK,
                                    LESSON_SCALE_VALUE};
    cli_scale_kind kind = CLI_SCALE_SQRT;
    const int bad = cli_scale(args, &kind, &in->scale_value);
    if (bad) return bad;
    in->scale_kind = kinds[kind];
    return read_temperature(args, in);
}

static int read_options(explanation *e)
{
    const cli_args *const args = e->args;
    lesson_input *const in = &e->in;
    bool causal = false;
    in->stage = (int32_t)cli_int(args, &opt_stage, 4);
    int bad = read_scale(args, in);
    if (!bad) bad = cli_causal(args, in->rows, in->keys, &causal, &in->q_offset);
    if (!bad) bad = read_range(args, &opt_rows, in->rows, &in->row_begin, &in->row_end);
    if (!bad) bad = read_range(args, &opt_keys, in->keys, &in->key_begin, &in->key_end);
    in->causal = causal;
    in->keys_chosen = cli_given(args, &opt_keys);
    if (!bad) bad = check_cells(in);
    if (!bad && cli_choice(args, &opt_view, 0) == 1 && in->stage == 0)
        bad = cli_refuse("--view map needs scores, and --stage 0 has none; choose stage 1 to 4");
    return bad;
}

/* ---- the token ------------------------------------------------------------------------------- */

static int choose_token(explanation *e)
{
    lesson_input *const in = &e->in;
    const char *const text = cli_text(e->args, &opt_token);
    if (!text) {
        const bool inside = in->token >= in->row_begin && in->token < in->row_end;
        if (!inside) in->token = in->row_begin;
        return CLI_DONE;
    }
    const int bad = cli_explain_token(in, text, &in->token);
    if (bad) return bad;
    if (in->token >= in->row_begin && in->token < in->row_end) return CLI_DONE;
    return cli_refuse("--token '%s' is query %" PRId64 ", outside --rows %s", text, in->token,
                      cli_text(e->args, &opt_rows));
}

/* --set-query 1,2: the numbers replace the token's query in a copy. */
static int set_query(explanation *e)
{
    lesson_input *const in = &e->in;
    const char *const text = cli_text(e->args, &opt_set_query);
    if (!text) return CLI_DONE;
    int64_t count = 1;
    for (const char *p = text; *p; p++) count += *p == ',';
    if (count != in->d_k)
        return cli_refuse("--set-query must have %" PRId64 " number%s, not %" PRId64 ": '%s'",
                          in->d_k, cli_s(in->d_k), count, text);
    double *const q = cli_explain_edit_queries(&e->input, in);
    if (!q) return CLI_FAILED;
    const char *p = text;
    for (int64_t c = 0; c < in->d_k; c++) {
        const size_t n = strcspn(p, ",");
        const lesson_number_status status =
            lesson_number_parse(p, n, &q[in->token * in->d_k + c], NULL);
        if (status != LESSON_NUMBER_OK)
            return cli_refuse("--set-query: number %" PRId64 " is '%.*s': %s", c, (int)n, p,
                              lesson_number_reason(status));
        p += n + 1;
    }
    in->query_set = 1;
    return CLI_DONE;
}

/* ---- the face -------------------------------------------------------------------------------- */

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const value = getenv(names[i]);
        if (!value || !*value) continue;
        const char *const set = strchr(value, '.');
        return set &&
               (strncasecmp(set + 1, "utf-8", 5) == 0 || strncasecmp(set + 1, "utf8", 4) == 0);
    }
    return false;
}

/* Like cli_safe_text, and what is not ASCII becomes \u{...}. */
static int safe_ascii(char *buffer, size_t size, const char *text, size_t n, int max_columns)
{
    char safe[1024];
    cli_safe_text(safe, sizeof safe, text, n, 0);
    size_t used = 0;
    int cut = -1; /* where the text ends when it has to be cut */
    for (const unsigned char *p = (const unsigned char *)safe; *p;) {
        char piece[16];
        if (*p < 0x80) {
            piece[0] = (char)*p++;
            piece[1] = 0;
        } else {
            uint32_t c = *p >= 0xF0 ? *p & 7u : *p >= 0xE0 ? *p & 15u : *p & 31u;
            for (p++; (*p & 0xC0) == 0x80; p++) c = c << 6 | (*p & 63u);
            snprintf(piece, sizeof piece, "\\u{%x}", (unsigned)c);
        }
        const size_t len = strlen(piece);
        if (max_columns > 0 && cut < 0 &&
            used + len > (size_t)(max_columns > 2 ? max_columns - 2 : 1))
            cut = (int)used;
        if (used + len + 4 > size || (max_columns > 0 && used + len > (size_t)max_columns)) {
            used = cut >= 0 ? (size_t)cut : used;
            memcpy(buffer + used, "..", 2);
            used += 2;
            if (max_columns > 0 && used > (size_t)max_columns) used = (size_t)max_columns;
            break;
        }
        memcpy(buffer + used, piece, len);
        used += len;
    }
    buffer[used] = 0;
    return (int)used;
}

static void make_face(explanation *e, lesson_format format)
{
    const bool utf8 = locale_is_utf8() || format == LESSON_SVG || format == LESSON_CSV;
    e->face.width = cli_width();
    e->face.utf8 = utf8;
    e->face.color = format == LESSON_TEXT && cli_use_color(e->args, stdout);
    e->face.digits = e->digits >= 0 ? e->digits : (int32_t)cli_int(e->args, &opt_digits, 2);
    e->face.safe = utf8 ? cli_safe_text : safe_ascii;
    e->face.columns = cli_columns;
}

static void write_stdout(void *ctx, const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, (FILE *)ctx);
}

static int show(explanation *e, lesson_format format)
{
    static qkv_status (*const writer[5][2])(const lesson_view *) = {
        {lesson_text_table, lesson_text_map}, {lesson_plain_table, lesson_plain_map},
        {lesson_json, lesson_json},           {lesson_csv_table, lesson_csv_map},
        {lesson_svg_table, lesson_svg_map},
    };
    const lesson_sink sink = {write_stdout, stdout};
    const lesson_view view = {&e->in, &e->stages, &e->face, &sink, &e->input.memory};
    if (writer[format][cli_choice(e->args, &opt_view, e->map)](&view) == QKV_OK) return CLI_DONE;
    return cli_failed("no memory to show the result");
}

static int compute(explanation *e, lesson_format format)
{
    qkv_error err = qkv_error_init();
    /* a state's JSON is the page's, byte for byte: the explained values and nothing else */
    const int engine = format == LESSON_JSON && e->in.stage >= 3 && !cli_given(e->args, &opt_state);
    const qkv_status status = lesson_run(&e->stages, &e->in, engine, &e->input.memory, &err);
    if (status == QKV_OK) return CLI_DONE;
    if (status == QKV_ENOMEM && !err.text[0])
        return cli_failed("no memory for the values of %" PRId64 " queries and %" PRId64 " keys",
                          e->stages.rows, e->stages.keys);
    return cli_library_error(&err);
}

/* ---- where the numbers come from ------------------------------------------------------------- */

static int open_state(explanation *e)
{
    lesson_trouble trouble;
    const char *const text = cli_text(e->args, &opt_state);
    for (size_t i = 0; i < sizeof in_state / sizeof in_state[0]; i++)
        if (cli_given(e->args, in_state[i]))
            return cli_refuse("--state and --%s: the state says that itself; leave one of them",
                              in_state[i]->name);
    lesson_state *const state =
        (lesson_state *)e->input.memory.take(e->input.memory.ctx, sizeof *state);
    if (!state) return cli_failed("no memory for the state");
    const qkv_status status =
        lesson_state_read(state, text, strlen(text), &e->input.memory, &trouble);
    if (status == QKV_ENOMEM) return cli_failed("no memory for the state");
    if (status != QKV_OK) return cli_refuse("--state: %s", trouble.text);
    if (state->data != DATA_TOKENS)
        return cli_refuse("--state: its numbers are in the page, or in a file of its reader, not "
                          "in the state");
    if (trouble.kind == TROUBLE_NOTE) cli_note("--state: %s", trouble.text);
    lesson_state_input(state, 0, &e->in);
    e->state = state;
    e->digits = state->digits;
    e->map = state->map && state->stage > 0;
    if (cli_choice(e->args, &opt_view, 0) == 1 && state->stage == 0)
        return cli_refuse("--view map needs scores, and stage 0 has none; choose st=1 to 4");
    return CLI_DONE;
}

static int open_input(explanation *e)
{
    int bad = cli_explain_open(&e->input, &e->in, e->args);
    if (bad || cli_given(e->args, &opt_state)) return bad ? bad : open_state(e);
    bad = read_options(e);
    if (!bad) bad = choose_token(e);
    if (!bad) bad = cli_explain_check_memory(&e->input, &e->in, e->args);
    if (!bad) bad = cli_explain_read(&e->input, &e->in);
    return bad ? bad : set_query(e);
}

/* -o belongs to html, and html to -o: everything else is text for stdout. */
static int check_out(const cli_args *args, int format)
{
    if (format == FORMAT_HTML && !cli_given(args, &opt_out))
        return cli_refuse("--format html needs -o FILE: the page is a file");
    if (format != FORMAT_HTML && cli_given(args, &opt_out))
        return cli_refuse("-o is for --format html; the other formats go to standard output");
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    explanation e = {.args = args, .digits = -1};
    cli_files_signals("explain");
    int bad = open_input(&e);
    const int wanted = cli_choice(args, &opt_format, LESSON_TEXT);
    if (!bad) bad = check_out(args, wanted);
    if (!bad && wanted == FORMAT_HTML) {
        bad = cli_explain_html(&e.in, e.state, &e.input.memory, cli_text(args, &opt_out),
                               !cli_given(args, &cli_opt_no_clobber));
        cli_explain_close(&e.input);
        return bad;
    }
    const lesson_format format = wanted == FORMAT_HTML ? LESSON_TEXT : (lesson_format)wanted;
    make_face(&e, format);
    if (!bad) bad = compute(&e, format);
    if (!bad) bad = show(&e, format);
    cli_explain_close(&e.input);
    return bad;
}

const cli_command cli_command_explain = {
    .name = "explain",
    .summary = "one query's attention, step by step",
    .about =
        "Walks one token through attention and shows every number on the way: the scores of its "
        "query with each key, the scaled scores, the weights, and the blend of values that is its "
        "output. Without files it uses four tokens whose arithmetic can be done in the head.\n\n"
        "Input of your own: --q, --k and --v are .npy files as for run; or --x with --wq, --wk and "
        "--wv, from which q = x W (row vectors). --tokens names the keys, and the queries too when "
        "there are as many.\n\n"
        "The explained values are float64 values of the reference, unrounded until they are shown. "
        "json also holds what the library's kernels give. text shows what fits the terminal and "
        "says what it left out; bars and signs are ASCII unless the locale's charset is UTF-8.",
    .options = (const cli_option *const[]){&opt_token,
                                           &opt_stage,
                                           &cli_opt_causal,
                                           &cli_opt_scale,
                                           &opt_temperature,
                                           &opt_set_query,
                                           &opt_state,
                                           &opt_digits,
                                           &opt_format,
                                           &opt_out,
                                           &cli_opt_no_clobber,
                                           &cli_opt_json,
                                           &opt_view,
                                           &cli_explain_opt_q,
                                           &cli_explain_opt_k,
                                           &cli_explain_opt_v,
                                           &cli_opt_head,
                                           &cli_opt_batch,
                                           &cli_explain_opt_x,
                                           &cli_explain_opt_wq,
                                           &cli_explain_opt_wk,
                                           &cli_explain_opt_wv,
                                           &cli_explain_opt_tokens,
                                           &opt_rows,
                                           &opt_keys,
                                           &cli_opt_color,
                                           &cli_opt_max_memory,
                                           NULL},
    .examples =
        (const char *const[]){"qkv explain --token cat --stage 1", "the scores of the query of cat",
                              "qkv explain --set-query 1,1.3", "what changes when the query moves",
                              "qkv explain --q Q.npy --k K.npy --v V.npy --head 1 --view map",
                              "who looks at whom in one head",
                              "qkv explain --state 't=cat&st=3&T=0.5' --json",
                              "what the page shows for that link", NULL},
    .run = run,
};
