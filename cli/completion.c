/* SPDX-License-Identifier: MIT */
/* completion.c - completions for bash, zsh and fish, printed from the tables of options.
 *
 * The scripts are plain data for the shell: every word in them comes from a table of this build,
 * none from outside, and no script runs the command.
 */
#include "cli/cli.h"

#include <string.h>

/* `text` inside single quotes of the shell; zsh's descriptions also mind their own characters. */
static void put_quoted(FILE *f, const char *text, const char *also)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            fputs("'\\''", f);
        else if (strchr(also, *p))
            fprintf(f, "\\%c", *p);
        else
            fputc(*p, f);
    }
}

/* The words of "a|b|c" with `between` between them. */
static void put_words(FILE *f, const char *choices, char between)
{
    for (const char *p = choices; *p; p++) fputc(*p == '|' ? between : *p, f);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_options(FILE *f, const cli_command *command)
{
    fputs("            words='", f);
    for (const cli_option *const *o = command->options; *o; o++)
        fprintf(f, "--%s%s ", (*o)->name, (*o)->optional_value ? "=" : "");
    fputs("--help'\n", f);
}

/* A case per option with values: in bash "--name=value" comes as three words. */
static void bash_values(FILE *f, const cli_command *command)
{
    for (const cli_option *const *o = command->options; *o; o++) {
        if ((*o)->kind == CLI_FLAG) continue;
        fprintf(f, "            %s:--%s", command->name ? command->name : "", (*o)->name);
        if ((*o)->letter) fprintf(f, "|%s:-%c", command->name ? command->name : "", (*o)->letter);
        fputs(") ", f);
        if ((*o)->choices) {
            fputs("words='", f);
            put_words(f, (*o)->choices, ' ');
            fputs("' ;;\n", f);
        } else if ((*o)->kind == CLI_FILE) {
            fputs("files=1 ;;\n", f);
        } else {
            fputs(";;\n", f);
        }
    }
}

static void print_bash(FILE *f)
{
    fputs("# bash completion for qkv: printed by 'qkv --completion bash'\n"
          "_qkv()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev= command= words= files=\n"
          "    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
          "    ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    case $command in -*) command= ;; esac\n"
          "    COMPREPLY=()\n"
          "    if [[ $cur == '=' ]]; then\n"
          "        cur=\n"
          "    elif [[ $prev == '=' ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    case $command:$prev in\n",
          f);
    bash_values(f, &cli_top);
    for (size_t i = 0; cli_commands[i]; i++) bash_values(f, cli_commands[i]);
    fputs("        help:*) words='", f);
    for (size_t i = 0; cli_commands[i]; i++) fprintf(f, "%s ", cli_commands[i]->name);
    fputs("' ;;\n"
          "        *) case $command in\n"
          "        '')\n"
          "            words='",
          f);
    for (size_t i = 0; cli_commands[i]; i++) fprintf(f, "%s ", cli_commands[i]->name);
    fputs("help ", f);
    for (const cli_option *const *o = cli_top.options; *o; o++) fprintf(f, "--%s ", (*o)->name);
    fputs("--help' ;;\n", f);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(f, "        %s)\n", cli_commands[i]->name);
        bash_options(f, cli_commands[i]);
        if (cli_commands[i]->operand) fputs("            [[ $cur == -* ]] || files=1\n", f);
        fputs("            ;;\n", f);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "    if [[ $files ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
          "    fi\n"
          "    return 0\n"
          "}\n"
          "complete -F _qkv qkv\n",
          f);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_option(FILE *f, const cli_option *o)
{
    /* '(-o --out)'{-o+,--out=}'[help]:value:_files' */
    fputs("                ", f);
    if (o->letter)
        fprintf(f, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                o->kind == CLI_FLAG ? "" : "+", o->name, o->kind == CLI_FLAG ? "" : "=");
    else
        fprintf(f, "'--%s%s[", o->name,
                o->kind == CLI_FLAG ? "" : (o->optional_value ? "=-" : "="));
    put_quoted(f, o->help, "[]:\\");
    fputc(']', f);
    if (o->kind != CLI_FLAG) {
        fputs(o->optional_value ? "::" : ":", f);
        put_quoted(f, o->name, ":\\");
        fputc(':', f);
        if (o->choices) {
            fputc('(', f);
            put_words(f, o->choices, ' ');
            fputc(')', f);
        } else if (o->kind == CLI_FILE) {
            fputs("_files", f);
        }
    }
    fputs("' \\\n", f);
}

static void zsh_options(FILE *f, const cli_command *command)
{
    for (const cli_option *const *o = command->options; *o; o++) zsh_option(f, *o);
    fputs("                '--help[Print the help]'", f);
}

static void print_zsh(FILE *f)
{
    fputs("#compdef qkv\n"
          "# zsh completion for qkv: printed by 'qkv --completion zsh'\n"
          "_qkv()\n{\n"
          "    local curcontext=$curcontext state line\n"
          "    local -a commands\n"
          "    commands=(\n",
          f);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(f, "        '%s:", cli_commands[i]->name);
        put_quoted(f, cli_commands[i]->summary, ":\\");
        fputs("'\n", f);
    }
    fputs("        'help:the help of a command'\n"
          "    )\n"
          "    _arguments -C \\\n",
          f);
    zsh_options(f, &cli_top);
    fputs(" \\\n"
          "                '1:command:->command' \\\n"
          "                '*::argument:->argument'\n"
          "    case $state in\n"
          "    command) _describe -t commands 'qkv command' commands ;;\n"
          "    argument)\n"
          "        case $line[1] in\n"
          "        help) _describe -t commands 'qkv command' commands ;;\n",
          f);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(f, "        %s)\n            _arguments \\\n", cli_commands[i]->name);
        zsh_options(f, cli_commands[i]);
        if (cli_commands[i]->operand) fputs(" \\\n                '1:file:_files'", f);
        fputs(" ;;\n", f);
    }
    fputs("        esac ;;\n"
          "    esac\n"
          "}\n"
          "if [[ $funcstack[1] == _qkv ]]; then\n"
          "    _qkv \"$@\"\n"
          "else\n"
          "    compdef _qkv qkv\n"
          "fi\n",
          f);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_options(FILE *f, const cli_command *command)
{
    for (const cli_option *const *o = command->options; *o; o++) {
        if (command->name)
            fprintf(f, "complete -c qkv -n '__fish_seen_subcommand_from %s'", command->name);
        else
            fputs("complete -c qkv -n '__fish_use_subcommand'", f);
        fprintf(f, " -l %s", (*o)->name);
        if ((*o)->letter) fprintf(f, " -s %c", (*o)->letter);
        if ((*o)->kind == CLI_FILE)
            fputs(" -r -F", f);
        else if ((*o)->kind != CLI_FLAG)
            fputs((*o)->optional_value ? " -f" : " -x", f);
        if ((*o)->choices) {
            fputs(" -a '", f);
            put_words(f, (*o)->choices, ' ');
            fputc('\'', f);
        }
        fputs(" -d '", f);
        put_quoted(f, (*o)->help, "\\");
        fputs("'\n", f);
    }
}

static void print_fish(FILE *f)
{
    fputs("# fish completion for qkv: printed by 'qkv --completion fish'\n"
          "complete -c qkv -f\n"
          "complete -c qkv -l help -s h -d 'Print the help'\n",
          f);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(f, "complete -c qkv -n '__fish_use_subcommand' -a %s -d '", cli_commands[i]->name);
        put_quoted(f, cli_commands[i]->summary, "\\");
        fputs("'\n", f);
    }
    fputs("complete -c qkv -n '__fish_use_subcommand' -a help -d 'the help of a command'\n", f);
    fish_options(f, &cli_top);
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *const command = cli_commands[i];
        fprintf(f, "complete -c qkv -n '__fish_seen_subcommand_from help' -a %s\n", command->name);
        if (command->operand)
            fprintf(f, "complete -c qkv -n '__fish_seen_subcommand_from %s' -F\n", command->name);
        fish_options(f, command);
    }
}

int cli_print_completion(FILE *f, const char *shell)
{
    switch (shell[0]) {
    case 'b':
        print_bash(f);
        break;
    case 'z':
        print_zsh(f);
        break;
    default:
        print_fish(f);
        break;
    }
    return CLI_DONE;
}
