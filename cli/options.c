/* SPDX-License-Identifier: MIT */
/* options.c - reads a command line by a table of options (getopt_long) and gives out the values.
 *
 * Every refusal is one sentence that names the option, the value and the bound. Abbreviations,
 * leftover words and repeated options are refused: a later option must not change what an old
 * script means. Values are checked here, before the command runs.
 */
#include "cli/cli.h"
#include "lesson/number.h"

#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { VAL_HELP = 1000, VAL_FIRST = 1001 }; /* getopt codes: beyond every letter */

static int place_of(const cli_command *command, const cli_option *option)
{
    for (int i = 0; command->options[i]; i++)
        if (command->options[i] == option) return i;
    return -1;
}

bool cli_is_required(const cli_command *command, const cli_option *option)
{
    for (const cli_option *const *r = command->required; r && *r; r++)
        if (*r == option) return true;
    return false;
}

bool cli_given(const cli_args *args, const cli_option *option)
{
    return cli_text(args, option) != NULL;
}

const char *cli_text(const cli_args *args, const cli_option *option)
{
    const int i = place_of(args->command, option);
    return i < 0 ? NULL : args->text[i];
}

bool cli_parse_int(const char *text, int64_t *value)
{
    return lesson_number_parse_integer(text, strlen(text), value) == LESSON_NUMBER_OK;
}

bool cli_parse_real(const char *text, double *value)
{
    return lesson_number_parse(text, strlen(text), value, NULL) == LESSON_NUMBER_OK;
}

bool cli_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t x = 0;
    const char *p = text;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(x, UINT64_C(10), &x) ||
            __builtin_add_overflow(x, (uint64_t)(*p - '0'), &x))
            return false;
    }
    static const char units[] = "KMGT";
    const char *const unit = *p ? strchr(units, *p) : NULL;
    if (unit) {
        const int shift = 10 * (int)(unit - units + 1);
        if (x >> (64 - shift)) return false;
        x <<= shift;
        p++;
    }
    if (*p || x == 0) return false;
    *bytes = x;
    return true;
}

/* The place of `word` among words split by '|', or -1. */
static int choice_place(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    int place = 0;
    for (const char *p = choices;; place++) {
        const size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, word, n) == 0) return place;
        if (!p[len]) return -1;
        p += len + 1;
    }
}

/* "text|plain|json" as "text, plain or json". */
static void list_choices(char *buffer, size_t size, const char *choices)
{
    size_t n = 0;
    buffer[0] = 0;
    for (const char *p = choices; *p && n + 5 < size;) {
        const size_t len = strcspn(p, "|");
        const bool last = !p[len];
        const int put = snprintf(buffer + n, size - n, "%s%.*s",
                                 p == choices ? "" : (last ? " or " : ", "), (int)len, p);
        n += (size_t)put;
        p += len + !last;
    }
}

/* Digits that went too far, rather than something else. */
static bool is_whole_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* The same for a size: digits and perhaps a unit, and not 0. */
static bool is_size(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const char *const unit = text + digits;
    return digits > strspn(text, "0") && (!*unit || (strchr("KMGT", *unit) && !unit[1]));
}

static int refuse_int(const cli_option *o, const char *text)
{
    if (o->max == INT64_MAX && o->min == INT64_MIN)
        return cli_refuse("--%s must be an integer of 64 bits, not '%s'", o->name, text);
    if (o->max == INT64_MAX && !(is_whole_number(text) && *text != '-'))
        return cli_refuse("--%s must be an integer of at least %lld, not '%s'", o->name,
                          (long long)o->min, text);
    return cli_refuse("--%s must be an integer from %lld to %lld, not '%s'", o->name,
                      (long long)o->min, (long long)o->max, text);
}

static int check_value(const cli_option *o, const char *text)
{
    char words[160];
    int64_t i;
    double x;
    uint64_t bytes;
    switch (o->kind) {
    case CLI_INT:
        if (!cli_parse_int(text, &i) || i < o->min || i > o->max) return refuse_int(o, text);
        break;
    case CLI_REAL:
        if (!cli_parse_real(text, &x))
            return cli_refuse("--%s must be a finite number such as 0.5 or 2e-3, not '%s'", o->name,
                              text);
        break;
    case CLI_CHOICE:
        if (choice_place(o->choices, text) < 0) {
            list_choices(words, sizeof words, o->choices);
            return cli_refuse("--%s must be %s, not '%s'", o->name, words, text);
        }
        break;
    case CLI_SIZE:
        if (cli_parse_size(text, &bytes)) break;
        if (is_size(text))
            return cli_refuse("--%s must be less than 2^64 bytes, not '%s'", o->name, text);
        return cli_refuse("--%s must be a number of bytes of at least 1, with K, M, G or T for "
                          "powers of 1024, not '%s'",
                          o->name, text);
        break;
    case CLI_FLAG:
    case CLI_TEXT:
    case CLI_FILE:
        break;
    }
    return CLI_DONE;
}

int64_t cli_int(const cli_args *args, const cli_option *option, int64_t otherwise)
{
    const char *const text = cli_text(args, option);
    int64_t value = otherwise;
    if (text && *text) cli_parse_int(text, &value);
    return value;
}

double cli_real(const cli_args *args, const cli_option *option, double otherwise)
{
    const char *const text = cli_text(args, option);
    double value = otherwise;
    if (text && *text) cli_parse_real(text, &value);
    return value;
}

int cli_choice(const cli_args *args, const cli_option *option, int otherwise)
{
    const char *const text = cli_text(args, option);
    if (text && *text) return choice_place(option->choices, text);
    if (strcmp(option->name, "format") == 0 && cli_given(args, &cli_opt_json))
        return choice_place(option->choices, "json");
    return otherwise;
}

/* ---- getopt --------------------------------------------------------------------------------- */

typedef struct parser {
    const cli_command *command;
    struct option longs[CLI_MAX_OPTIONS + 2];
    char shorts[3 * CLI_MAX_OPTIONS + 8];
} parser;

static void parser_make(parser *p, const cli_command *command)
{
    memset(p, 0, sizeof *p);
    p->command = command;
    char *s = p->shorts;
    *s++ = '-'; /* words come in order, whatever POSIXLY_CORRECT says */
    *s++ = ':'; /* a missing value is told apart from an unknown option */
    *s++ = 'h';
    int n = 0;
    for (; command->options[n]; n++) {
        const cli_option *const o = command->options[n];
        assert(n < CLI_MAX_OPTIONS);
        p->longs[n].name = o->name;
        p->longs[n].has_arg = o->kind == CLI_FLAG ? no_argument
                              : o->optional_value ? optional_argument
                                                  : required_argument;
        p->longs[n].val = VAL_FIRST + n;
        if (!o->letter) continue;
        *s++ = o->letter;
        if (o->kind != CLI_FLAG) *s++ = ':';
    }
    p->longs[n].name = "help";
    p->longs[n].has_arg = no_argument;
    p->longs[n].val = VAL_HELP;
}

/* The place in the table of a getopt code, or -1. */
static int place_of_code(const cli_command *command, int code)
{
    if (code >= VAL_FIRST) return code - VAL_FIRST;
    for (int i = 0; command->options[i]; i++)
        if (command->options[i]->letter && command->options[i]->letter == code) return i;
    return -1;
}

static int refuse_unknown(const char *word, int letter)
{
    if (word[0] == '-' && word[1] != '-' && letter)
        return cli_refuse("unknown option '-%c'", letter);
    const int n = (int)strcspn(word, "=");
    return cli_refuse("unknown option '%.*s'", n, word);
}

/* `word` is what getopt_long was looking at when it gave `code` and, on trouble, `about`. */
static int refuse_option(const parser *p, int code, int about, const char *word)
{
    const int i = place_of_code(p->command, about);
    if (code == ':' && i >= 0) {
        const cli_option *const o = p->command->options[i];
        return cli_refuse("--%s needs a value: %s", o->name, o->value ? o->value : o->choices);
    }
    const char *const equals = strchr(word, '=');
    if (about == VAL_HELP) return cli_refuse("--help takes no value, not '%s'", equals + 1);
    if (about >= VAL_FIRST && equals)
        return cli_refuse("--%s takes no value, not '%s'", p->command->options[i]->name,
                          equals + 1);
    return refuse_unknown(word, about);
}

static int take_operand(cli_args *args, const char *word, const cli_option *before)
{
    if (before && before->optional_value)
        return cli_refuse("unexpected argument '%s'; a value for --%s is written --%s=%s", word,
                          before->name, before->name, word);
    if (!args->command->operand || args->operand)
        return cli_refuse("unexpected argument '%s'", word);
    args->operand = word;
    return CLI_DONE;
}

static int take_option(cli_args *args, int i, const char *word)
{
    const cli_option *const o = args->command->options[i];
    if (word[0] == '-' && word[1] == '-') {
        const size_t n = strcspn(word + 2, "=");
        if (n != strlen(o->name))
            return cli_refuse("unknown option '%.*s'; write --%s in full", (int)n + 2, word,
                              o->name);
    }
    if (args->text[i]) return cli_refuse("--%s is given twice", o->name);
    args->text[i] = optarg ? optarg : "";
    return optarg ? check_value(o, optarg) : CLI_DONE;
}

/* What the table as a whole asks for. */
static int check_together(const cli_args *args)
{
    const cli_command *const command = args->command;
    for (int i = 0; command->options[i]; i++) {
        const cli_option *const o = command->options[i];
        if (cli_is_required(command, o) && !args->text[i])
            return cli_refuse("--%s %s is missing", o->name, o->value);
        if (strcmp(o->name, "format") == 0 && args->text[i] && cli_given(args, &cli_opt_json) &&
            strcmp(args->text[i], "json") != 0)
            return cli_refuse("--json and --format %s contradict each other", args->text[i]);
    }
    if (command->operand && !args->operand) return cli_refuse("%s is missing", command->operand);
    return CLI_DONE;
}

int cli_parse(cli_args *args, const cli_command *command, int argc, char **argv, bool *help)
{
    parser p;
    parser_make(&p, command);
    memset(args, 0, sizeof *args);
    args->command = command;
    *help = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) *help = true;
    if (*help) return CLI_DONE; /* whoever asks gets it, whatever else is wrong */

    opterr = 0;
    optind = 1;
    const cli_option *before = NULL;
    for (;;) {
        const char *const word = optind < argc ? argv[optind] : "";
        const int code = getopt_long(argc, argv, p.shorts, p.longs, NULL);
        if (code == -1) break;
        int bad = CLI_DONE;
        if (code == '?' || code == ':') {
            bad = refuse_option(&p, code, optopt, word);
        } else if (code == 1) {
            bad = take_operand(args, optarg, before);
            before = NULL;
        } else if (code == VAL_HELP || code == 'h') {
            bad = refuse_unknown(word, 0); /* "--hel": the full word was looked for above */
        } else {
            const int i = place_of_code(command, code);
            bad = take_option(args, i, word);
            before = optarg ? NULL : command->options[i];
        }
        if (bad) return bad;
    }
    for (; optind < argc; optind++) {
        const int bad = take_operand(args, argv[optind], NULL);
        if (bad) return bad;
    }
    return check_together(args);
}
