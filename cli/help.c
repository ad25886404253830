/* SPDX-License-Identifier: MIT */
/* help.c - `--help` of the command and of each subcommand, printed from their tables.
 *
 * 80 columns whatever the terminal, so that help reads the same in a pager, a file and a test.
 */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 28 };

static const cli_option opt_help = {
    .name = "help",
    .letter = 'h',
    .kind = CLI_FLAG,
    .help = "Print this help",
};

void cli_option_label(char *buffer, size_t size, const cli_option *o, bool letter)
{
    const char *const value = o->value ? o->value : (o->choices ? o->choices : "");
    char front[8] = "";
    if (letter && o->letter) snprintf(front, sizeof front, "-%c, ", o->letter);
    if (o->kind == CLI_FLAG)
        snprintf(buffer, size, "%s--%s", front, o->name);
    else if (o->optional_value)
        snprintf(buffer, size, "%s--%s[=%s]", front, o->name, value);
    else
        snprintf(buffer, size, "%s--%s %s", front, o->name, value);
}

void cli_print_synopsis(FILE *f, const cli_command *command, int width)
{
    char label[96], part[104];
    int column =
        fprintf(f, "  qkv%s%s", command->name ? " " : "", command->name ? command->name : "");
    const int indent = column + 1;
    const cli_option *const *o = command->options;
    for (bool operand = command->operand != NULL; *o || operand; o += *o != NULL) {
        if (*o) {
            cli_option_label(label, sizeof label, *o, false);
            snprintf(part, sizeof part, cli_is_required(command, *o) ? "%s" : "[%s]", label);
        } else {
            snprintf(part, sizeof part, "%s", command->operand);
            operand = false;
        }
        const int n = (int)strlen(part);
        if (column + 1 + n > width && column > indent) {
            column = fprintf(f, "\n%*s", indent - 1, "") - 1;
        }
        column += fprintf(f, " %s", part);
    }
    fputc('\n', f);
}

static void print_option(FILE *f, const cli_option *o)
{
    char label[96], text[512];
    cli_option_label(label, sizeof label, o, true);
    int column = fprintf(f, "  %s%s", o->letter ? "" : "    ", label);
    if (column + 2 > HELP_COLUMN) {
        fputc('\n', f);
        column = 0;
    }
    fprintf(f, "%*s", HELP_COLUMN - column, "");

    /* the sentence, hanging; its first line already stands at HELP_COLUMN */
    if (o->fallback)
        snprintf(text, sizeof text, "%s (default: %s)", o->help, o->fallback);
    else
        snprintf(text, sizeof text, "%s", o->help);
    column = HELP_COLUMN;
    for (const char *p = text; *p;) {
        const int n = (int)strcspn(p, " ");
        if (column > HELP_COLUMN && column + 1 + n > WIDTH) {
            column = HELP_COLUMN;
            fprintf(f, "\n%*s", HELP_COLUMN, "");
        }
        column += fprintf(f, "%s%.*s", column > HELP_COLUMN ? " " : "", n, p);
        p += n;
        p += strspn(p, " ");
    }
    fputc('\n', f);
}

static void print_commands(FILE *f)
{
    fputs("\nCommands:\n", f);
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(f, "  %-10s%s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("  help      the help of a command: qkv help COMMAND\n", f);
}

void cli_print_short_help(FILE *f)
{
    fprintf(f, "qkv - %s\n\nUsage:\n  qkv COMMAND [options]\n", cli_top.summary);
    print_commands(f);
    fputs("\n'qkv COMMAND --help' lists the options of a command.\n", f);
}

void cli_print_help(FILE *f, const cli_command *command)
{
    if (command == &cli_top) {
        cli_print_short_help(f);
    } else {
        fprintf(f, "qkv %s - %s\n\nUsage:\n", command->name, command->summary);
        cli_print_synopsis(f, command, WIDTH);
        if (command->about) {
            fputc('\n', f);
            cli_put_wrapped(f, command->about, 0, WIDTH);
        }
    }
    fputs("\nOptions:\n", f);
    for (const cli_option *const *o = command->options; *o; o++) print_option(f, *o);
    print_option(f, &opt_help);
    if (command->examples) fputs("\nExamples:\n", f);
    for (const char *const *e = command->examples; e && *e; e += 2)
        fprintf(f, "  %s\n      %s\n", e[0], e[1]);
}
