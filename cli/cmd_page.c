/* SPDX-License-Identifier: MIT */
/* cmd_page.c - `qkv page -o FILE`: the lesson's page, one file that needs nothing else. It copies the
 * installed page and changes nothing of it.
 */
#include "cli/page_file.h"
#include "cli/qkv_files.h"

static const cli_option opt_out = {
    .name = "out",
    .letter = 'o',
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Where the page goes; - is stdout",
};

static int page(const cli_args *args)
{
    cli_files_signals("page");
    return cli_page_write(cli_text(args, &opt_out), NULL, 0, !cli_given(args, &cli_opt_no_clobber));
}

const cli_command cli_command_page = {
    .name = "page",
    .summary = "the lesson as one file for a browser",
    .about =
        "Writes the lesson's page: one HTML file that opens in a browser without a network and "
        "computes everything by itself, with the same code as `qkv explain`. "
        "`qkv explain --format html -o FILE` writes it opened on numbers of your own.",
    .options = (const cli_option *const[]){&opt_out, &cli_opt_no_clobber, NULL},
    .required = (const cli_option *const[]){&opt_out, NULL},
    .examples =
        (const char *const[]){"qkv page -o qkv.html", "then open qkv.html in a browser", NULL},
    .run = page,
};
