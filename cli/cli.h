/* SPDX-License-Identifier: MIT */
/* cli.h - the frame of the command `qkv`: what a subcommand is, its option table, the values read
 * by that table, messages, and text that is safe on a terminal.
 *
 * A subcommand is one file, cmd_NAME.c, that defines `const cli_command cli_command_NAME`, one
 * line in commands.inc and the file's name in meson.build. Its table of options is the only place
 * where an option is written: parsing, --help, the man page and the completions all come from it.
 *
 * Results go to stdout through stdio and are flushed and checked by main.c; everything else goes
 * to stderr through cli_refuse(), cli_failed() or cli_note(). Only LC_CTYPE is ever set, and by
 * tui_text.c alone, so that no number depends on it; all text is UTF-8.
 */
#ifndef QKV_CLI_H
#define QKV_CLI_H

#include <qkv/qkv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes; after a signal the shell sees 128 + its number. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_REFUSED = 2 };

/* ---- options ------------------------------------------------------------------------------- */

typedef enum cli_kind {
    CLI_FLAG,   /* no value */
    CLI_INT,    /* integer, min ... max */
    CLI_REAL,   /* finite number, a decimal point and an exponent allowed */
    CLI_CHOICE, /* one word of choices */
    CLI_SIZE,   /* bytes, >= 1, with K M G T for powers of 1024 */
    CLI_TEXT,   /* anything: the command reads it by itself */
    CLI_FILE    /* the same, a file name: completions offer files */
} cli_kind;

/* One line of a table. Two commands that share a meaning share the object (cli_opt_... below). */
typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 'o' for -o, or 0 */
    cli_kind kind;
    bool optional_value;  /* --name[=VALUE] */
    const char *value;    /* "FILE", how help names the value; NULL: the choices, or nothing */
    const char *choices;  /* "text|json": all words (CLI_CHOICE), or words completions offer */
    int64_t min, max;     /* CLI_INT */
    const char *fallback; /* the default as help prints it, or NULL */
    const char *help;     /* one sentence, without the final dot */
} cli_option;

/* An option without anything out of the ordinary. */
#define CLI_OPTION(NAME, KIND, VALUE, HELP)                                                        \
    {                                                                                              \
        .name = NAME, .kind = KIND, .value = VALUE, .help = HELP                                   \
    }

#define CLI_MAX_OPTIONS 48 /* in one table */
#define CLI_MAX_OPERANDS 1

typedef struct cli_args cli_args;

typedef struct cli_command {
    const char *name;
    const char *summary;               /* for the list of commands: lower case, no final dot */
    const char *about;                 /* paragraphs of --help and man page, split by "\n\n" */
    const char *operand;               /* "FILE": exactly one is required; NULL: none allowed */
    const cli_option *const *options;  /* ends with NULL; --help is added by the frame */
    const cli_option *const *required; /* those of them without which it cannot run; or NULL */
    const char *const *examples;       /* ends with NULL: command line, what it does, ... */
    int (*run)(const cli_args *args);  /* an exit code; every message already printed */
} cli_command;

/* What the frame read. Values of CLI_INT, CLI_REAL, CLI_CHOICE and CLI_SIZE are known to be good
 * when run() starts, required options are there, no option was given twice. */
struct cli_args {
    const cli_command *command;
    const char *text[CLI_MAX_OPTIONS]; /* by place in the table; NULL: not given; "": no value */
    const char *operand;
};

bool cli_given(const cli_args *args, const cli_option *option);
/* The value as written; NULL when not given, "" when given without a value. */
const char *cli_text(const cli_args *args, const cli_option *option);
int64_t cli_int(const cli_args *args, const cli_option *option, int64_t otherwise);
double cli_real(const cli_args *args, const cli_option *option, double otherwise);
/* Place of the word in choices, from 0; otherwise when not given. For an option named "format" in
 * a table that also has cli_opt_json, --json counts as --format json. */
int cli_choice(const cli_args *args, const cli_option *option, int otherwise);

/* Whole-string parsers behind those, for values with a grammar of their own. */
bool cli_parse_int(const char *text, int64_t *value); /* optional sign, digits; no overflow */
bool cli_parse_real(const char *text, double *value); /* finite only */
bool cli_parse_size(const char *text, uint64_t *bytes);

/* Fills *args from argv[1 ...] (argv[0] is skipped). Returns CLI_DONE, or CLI_REFUSED after a
 * message. *help is set when --help was found; nothing else is checked then. */
int cli_parse(cli_args *args, const cli_command *command, int argc, char **argv, bool *help);

/* ---- options with one meaning in every command (shared_options.c) --------------------------- */

extern const cli_option cli_opt_q, cli_opt_k, cli_opt_v; /* tensor files */
extern const cli_option cli_opt_scale, cli_opt_causal, cli_opt_head, cli_opt_batch;
extern const cli_option cli_opt_threads, cli_opt_isa, cli_opt_max_memory, cli_opt_no_clobber;
extern const cli_option cli_opt_kernels; /* --isa without reference, which has no kernels */
extern const cli_option cli_opt_json, cli_opt_color;

/* --scale sqrt|none|dk|X. The multiplier is NAN for sqrt: leave QKV_USE_SCALE off. */
typedef enum cli_scale_kind {
    CLI_SCALE_SQRT, /* 1 / sqrt(d), also when not given */
    CLI_SCALE_NONE, /* 1 */
    CLI_SCALE_DK,   /* 1 / d */
    CLI_SCALE_VALUE
} cli_scale_kind;
int cli_scale(const cli_args *args, cli_scale_kind *kind, double *value); /* exit code */

/* --causal[=top-left|bottom-right|SHIFT] for queries x keys: *use says whether rows are masked,
 * *q_offset is the shift. Bare --causal with queries != keys is refused, the choices named. */
int cli_causal(const cli_args *args, int64_t queries, int64_t keys, bool *use, int64_t *q_offset);

/* --isa, best when not given; refused when not compiled in or not usable on this CPU. */
int cli_isa(const cli_args *args, int32_t *isa);
/* --threads, else all usable CPUs. */
int32_t cli_threads(const cli_args *args);
/* --max-memory, else 80 % of what is available (the cgroup's limit included). */
uint64_t cli_max_memory(const cli_args *args);
/* CLI_DONE, or refuses and states both numbers: `what` names the thing, e.g. "the output". */
int cli_check_memory(const cli_args *args, uint64_t bytes, const char *what);

/* ---- messages (message.c) -------------------------------------------------------------------- */

#if defined(__GNUC__)
#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CLI_PRINTF(f, a)
#endif

/* One line "qkv CMD: ..." on stderr. The whole line goes through the text filter, so outside text
 * may be formatted in with plain %s. No %f or %g: format numbers with lesson/number.h. */
int cli_refuse(const char *format, ...) CLI_PRINTF(1, 2); /* returns CLI_REFUSED */
int cli_failed(const char *format, ...) CLI_PRINTF(1, 2); /* returns CLI_FAILED */
void cli_note(const char *format, ...) CLI_PRINTF(1, 2);
/* A failure of the library: its sentence, and CLI_FAILED for memory or a stop, else CLI_REFUSED. */
int cli_library_error(const qkv_error *err);
/* "1 key", "2 keys": "%" PRId64 " key%s"; "1 query", "2 queries": "quer%s". */
static inline const char *cli_s(int64_t n)
{
    return n == 1 ? "" : "s";
}
static inline const char *cli_ies(int64_t n)
{
    return n == 1 ? "y" : "ies";
}
/* Who is speaking: set by main.c; NULL is the bare command. */
void cli_speak_as(const char *command);

/* ---- text and terminal (safe_text.c, terminal.c) -------------------------------------------------- */

/* Writes n bytes of outside text to f: C0, C1 and bytes that are not UTF-8 as \xNN, bidirectional
 * and other invisible controls as \u{...}, the rest as it is. max_columns > 0 cuts what is longer
 * and ends it with an ellipsis. Returns the columns used. */
int cli_put_text(FILE *f, const char *text, size_t n, int max_columns);
/* The same into a buffer (always ends with 0; size >= 8); returns the columns used. */
int cli_safe_text(char *buffer, size_t size, const char *text, size_t n, int max_columns);
/* Columns of our own, already safe UTF-8. */
int cli_columns(const char *text);
/* Prints paragraphs (split by "\n\n") wrapped to `width`, each line indented. */
void cli_put_wrapped(FILE *f, const char *text, int indent, int width);

/* Columns of the terminal on stdout; 80 when stdout is none. */
int cli_width(void);
/* --color when args has it, else auto: a terminal, NO_COLOR unset or empty, TERM not dumb. */
bool cli_use_color(const cli_args *args, FILE *f);
/* A bar on stderr, shown only on a terminal and only after a second of work; done may be called
 * any time and clears it. `fraction` is 0 ... 1. */
void cli_progress(double fraction, const char *what);
void cli_progress_done(void);

/* ---- the frame's own pages ------------------------------------------------------------------- */

extern const cli_command *const cli_commands[]; /* ends with NULL */
extern const cli_command cli_top;               /* the options of bare qkv */
const cli_command *cli_find_command(const char *name);
void cli_print_help(FILE *f, const cli_command *command);
void cli_print_short_help(FILE *f);
void cli_print_synopsis(FILE *f, const cli_command *command, int width);
/* "--head H", "-o, --out FILE", "--causal[=WHERE]" */
void cli_option_label(char *buffer, size_t size, const cli_option *option, bool letter);
bool cli_is_required(const cli_command *command, const cli_option *option);
int cli_print_completion(FILE *f, const char *shell);
void cli_print_man(FILE *f);

#endif /* QKV_CLI_H */
