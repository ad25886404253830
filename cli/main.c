/* SPDX-License-Identifier: MIT */
/* main.c - the command `qkv`: finds the subcommand, lets the frame read its options, runs it, and
 * makes sure that what was printed has reached stdout.
 *
 * No subcommand is named here; commands.inc lists them. The locale is set by tui_text.c alone, and
 * of it only LC_CTYPE.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLI_COMMAND(name) extern const cli_command cli_command_##name;
#include "cli/commands.inc"
#undef CLI_COMMAND

const cli_command *const cli_commands[] = {
#define CLI_COMMAND(name) &cli_command_##name,
#include "cli/commands.inc"
#undef CLI_COMMAND
    NULL,
};

static const cli_option opt_version = {
    .name = "version",
    .kind = CLI_FLAG,
    .help = "Print the version, the numeric contract and the kernels of this build and CPU",
};
static const cli_option opt_completion = {
    .name = "completion",
    .kind = CLI_CHOICE,
    .choices = "bash|zsh|fish",
    .value = "SHELL",
    .help = "Print the completions for bash, zsh or fish",
};
static const cli_option opt_man = {
    .name = "man",
    .kind = CLI_FLAG,
    .help = "Print the manual page, in mdoc",
};

const cli_command cli_top = {
    .name = NULL,
    .summary = "scaled dot-product attention, exact and explained",
    .options = (const cli_option *const[]){&opt_version, &opt_completion, &opt_man, NULL},
};

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

static void print_kernels(const char *label, bool usable_only)
{
    printf("%s", label);
    const int32_t count = qkv_isa_count();
    for (int32_t i = 0; i < count; i++) {
        const int32_t isa = qkv_isa_id(i);
        if (!usable_only || qkv_isa_usable(isa)) printf(" %s", qkv_isa_name(isa));
    }
    printf("\n");
}

static void print_version(void)
{
    const uint32_t v = qkv_version();
    printf("qkv %u.%u.%u\n", v >> 16, v >> 8 & 255, v & 255);
    printf("contract %d\n", qkv_contract());
    print_kernels("kernels compiled:", false);
    print_kernels("kernels usable:", true);
}

static int unknown_command(const char *name)
{
    cli_speak_as(NULL);
    return cli_refuse("unknown command '%s'; 'qkv help' lists the commands", name);
}

static int run_top(int argc, char **argv)
{
    cli_args args;
    bool help;
    const int code = cli_parse(&args, &cli_top, argc, argv, &help);
    if (code) return code;
    if (help) {
        cli_print_help(stdout, &cli_top);
    } else if (cli_given(&args, &opt_version)) {
        print_version();
    } else if (cli_given(&args, &opt_man)) {
        cli_print_man(stdout);
    } else if (cli_given(&args, &opt_completion)) {
        return cli_print_completion(stdout, cli_text(&args, &opt_completion));
    } else {
        cli_print_short_help(stderr);
        return CLI_REFUSED;
    }
    return CLI_DONE;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_help(int argc, char **argv)
{
    const cli_command *command = &cli_top;
    cli_speak_as("help");
    if (argc > 2) return cli_refuse("unexpected argument '%s'", argv[2]);
    if (argc == 2 && !asks_for_help(argv[1])) command = cli_find_command(argv[1]);
    if (!command) return unknown_command(argv[1]);
    cli_print_help(stdout, command);
    return CLI_DONE;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_args args;
    bool help;
    cli_speak_as(command->name);
    const int code = cli_parse(&args, command, argc, argv, &help);
    if (code) return code;
    if (help) {
        cli_print_help(stdout, command);
        return CLI_DONE;
    }
    return command->run(&args);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        cli_print_short_help(stderr);
        return CLI_REFUSED;
    }
    if (argv[1][0] == '-') return run_top(argc, argv);
    if (strcmp(argv[1], "help") == 0) return run_help(argc - 1, argv + 1);
    const cli_command *const command = cli_find_command(argv[1]);
    return command ? run_command(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* Large enough that nearly all output meets a full disk in finish(), where the reason is known. */
static char stdout_buffer[1 << 16];

/* A file opened later must not become the stdout that results are printed to. The stand-ins have
 * the wrong direction on purpose: use of a stream that was closed fails instead of vanishing. */
static void keep_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) _exit(CLI_FAILED);
    }
}

/* Results that did not arrive make the work failed, whatever the command thought. A write error
 * in the middle leaves no reason behind, only the stream's mark. */
static int finish(int code)
{
    const bool earlier = ferror(stdout) != 0;
    errno = 0;
    const bool now = fclose(stdout) != 0;
    if (!earlier && !now) return code;
    return cli_failed("cannot write to standard output%s%s", errno ? ": " : "",
                      errno ? strerror(errno) : "");
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    setvbuf(stdout, stdout_buffer, _IOFBF, sizeof stdout_buffer);
    signal(SIGPIPE, SIG_DFL); /* a reader that leaves ends us quietly, even if it was ignored */
    return finish(dispatch(argc, argv));
}
