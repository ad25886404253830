/* SPDX-License-Identifier: MIT */
/* manpage.c - the manual page qkv(1) in mdoc, printed from the tables of options.
 *
 * Only the introduction and the notes that no table holds (exit codes, files, environment) are
 * written here. The date is the release's, so that two builds of one source are equal.
 */
#include "cli/cli.h"

#include <string.h>

#define RELEASE_DATE "November 29, 2026"

/* Plain text in lines of at most 79 bytes. Each sentence starts a line of its own, as mdoc
 * wants it; a word that would be read as a macro at the start of a line is made harmless. */
static void put_text(FILE *f, const char *text)
{
    int column = 0;
    for (const char *p = text; *p;) {
        if (p[0] == '\n' && p[1] == '\n') {
            fputs(column ? "\n.Pp\n" : ".Pp\n", f);
            column = 0;
        }
        p += strspn(p, " \n");
        const int n = (int)strcspn(p, " \n");
        int bytes = n; /* with the escapes */
        for (int i = 0; i < n; i++) bytes += p[i] == '-' || p[i] == '\\';
        if (n == 0) break;
        if (column && column + 1 + bytes > 78) {
            fputc('\n', f);
            column = 0;
        }
        if (column)
            fputc(' ', f);
        else if (*p == '.' || *p == '\'')
            fputs("\\&", f);
        for (int i = 0; i < n; i++) {
            if (p[i] == '\\')
                fputs("\\e", f);
            else if (p[i] == '-')
                fputs("\\-", f);
            else
                fputc(p[i], f);
        }
        column += bytes + 1;
        p += n;
        if (p[-1] == '.' && *p == ' ') {
            fputc('\n', f);
            column = 0;
        }
    }
    if (column) fputc('\n', f);
}

/* One macro argument. Every part of a label is ASCII without quotes. */
static void put_argument(FILE *f, const char *text)
{
    fputs(" \"", f);
    for (const char *p = text; *p; p++) {
        if (*p == '-')
            fputs("\\-", f);
        else
            fputc(*p, f);
    }
    fputc('"', f);
}

static const char *value_name(const cli_option *o)
{
    return o->value ? o->value : o->choices;
}

static void synopsis(FILE *f, const cli_command *command)
{
    fputs(".Nm\n", f);
    if (command->name) fprintf(f, ".Cm %s\n", command->name);
    for (const cli_option *const *o = command->options; *o; o++) {
        fputs(cli_is_required(command, *o) ? ".Fl" : ".Op Fl", f);
        fprintf(f, " \\-%s", (*o)->name);
        if ((*o)->kind != CLI_FLAG) {
            fputs((*o)->optional_value ? " Ns Oo = Ns Ar" : " Ar", f);
            put_argument(f, value_name(*o));
            if ((*o)->optional_value) fputs(" Oc", f);
        }
        fputc('\n', f);
    }
    if (command->operand) fprintf(f, ".Ar %s\n", command->operand);
}

static void options(FILE *f, const cli_command *command)
{
    if (!command->options[0]) return;
    fputs(".Bl -tag -width Ds\n", f);
    for (const cli_option *const *o = command->options; *o; o++) {
        fputs(".It", f);
        if ((*o)->letter) fprintf(f, " Fl %c , ", (*o)->letter);
        fprintf(f, " Fl \\-%s", (*o)->name);
        if ((*o)->kind != CLI_FLAG) {
            fputs((*o)->optional_value ? " Ns Oo = Ns Ar" : " Ar", f);
            put_argument(f, value_name(*o));
            if ((*o)->optional_value) fputs(" Oc", f);
        }
        fputc('\n', f);
        char text[512];
        if ((*o)->fallback)
            snprintf(text, sizeof text, "%s (default: %s).", (*o)->help, (*o)->fallback);
        else
            snprintf(text, sizeof text, "%s.", (*o)->help);
        put_text(f, text);
    }
    fputs(".El\n", f);
}

static void command_section(FILE *f, const cli_command *command)
{
    fprintf(f, ".Ss qkv %s\n", command->name);
    char first[128];
    snprintf(first, sizeof first, "%s.", command->summary);
    if (first[0] >= 'a' && first[0] <= 'z') first[0] = (char)(first[0] - 'a' + 'A');
    put_text(f, first);
    if (command->about) {
        fputs(".Pp\n", f);
        put_text(f, command->about);
    }
    options(f, command);
}

static const char notes[] =
    ".Sh ENVIRONMENT\n"
    ".Bl -tag -width Ds\n"
    ".It Ev NO_COLOR\n"
    "When set and not empty, no colour unless\n"
    ".Fl \\-color Ar always .\n"
    ".It Ev TERM\n"
    "When it is\n"
    ".Dq dumb ,\n"
    "neither colour nor a progress bar.\n"
    ".El\n"
    ".Pp\n"
    "Numbers have a point under every locale.\n"
    ".Sh EXIT STATUS\n"
    ".Bl -tag -width Ds\n"
    ".It 0\n"
    "The work is done.\n"
    ".It 1\n"
    "The work failed: reading or writing, memory, or a check that found a difference.\n"
    ".It 2\n"
    "The input or the command line was refused; nothing was written.\n"
    ".It 128+n\n"
    "Signal n ended the command.\n"
    ".El\n";

static void examples(FILE *f)
{
    fputs(".Sh EXAMPLES\n", f);
    for (size_t i = 0; cli_commands[i]; i++) {
        for (const char *const *e = cli_commands[i]->examples; e && *e; e += 2) {
            put_text(f, e[1]);
            fputs(".Dl ", f);
            put_text(f, e[0]);
            fputs(".Pp\n", f);
        }
    }
    fputs("The help of a subcommand:\n.Dl qkv help run\n", f);
}

void cli_print_man(FILE *f)
{
    const uint32_t v = qkv_version();
    fputs(".\\\" printed by 'qkv --man' from the command's own tables\n"
          ".Dd " RELEASE_DATE "\n"
          ".Dt QKV 1\n.Os\n.Sh NAME\n.Nm qkv\n.Nd ",
          f);
    put_text(f, cli_top.summary);
    fputs(".Sh SYNOPSIS\n", f);
    for (size_t i = 0; cli_commands[i]; i++) synopsis(f, cli_commands[i]);
    fputs(".Nm\n.Cm help\n.Op Ar command\n", f);
    synopsis(f, &cli_top);
    fputs(".Sh DESCRIPTION\n", f);
    fprintf(f,
            ".Nm\nruns softmax(Q K^T / sqrt(d)) V on tensor files, explains it step by step,\n"
            "checks itself on this machine and measures its speed.\n"
            "This page describes version %u.%u.%u, numeric contract %d.\n"
            ".Pp\n"
            "Results go to standard output, messages to standard error.\n"
            "Options may not be abbreviated or repeated.\n"
            "All indices count from 0.\n",
            v >> 16, v >> 8 & 255, v & 255, qkv_contract());
    for (size_t i = 0; cli_commands[i]; i++) command_section(f, cli_commands[i]);
    fputs(".Ss qkv\nWithout a subcommand:\n", f);
    options(f, &cli_top);
    fputs(notes, f);
    examples(f);
}
