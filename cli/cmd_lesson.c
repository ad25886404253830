/* SPDX-License-Identifier: MIT */
/* cmd_lesson.c - `qkv lesson`: the lesson on a full screen, or line by line where there is no screen
 * to move a cursor on, where the reader asks for it, and wherever output does not go to a terminal.
 */
#include "cli/tui_app.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option opt_section = {
    .name = "section",
    .kind = CLI_INT,
    .value = "N",
    .min = 1,
    .max = STATE_SECTIONS,
    .help = "Open at section N, 1 to 8; with --plain, read that section only",
};
static const cli_option opt_state = {
    .name = "state",
    .kind = CLI_TEXT,
    .value = "TEXT",
    .help = "Open at a state: what stands behind the # of the page's address",
};
static const cli_option opt_plain = {
    .name = "plain",
    .kind = CLI_FLAG,
    .help = "Line by line: for screen readers, pipes and printers",
};

static int read_on_screen(tui_app *app)
{
    if (!tui_screen_open(&app->means)) return -1;
    const int code = app_run(app);
    const int signal_number = tui_screen_signal();
    tui_screen_close();
    if (signal_number) raise(signal_number); /* as the shell expects: 128 + n */
    return code;
}

static int run(const cli_args *args)
{
    tui_app *const app = calloc(1, sizeof *app);
    if (!app) return cli_failed("no memory for the lesson");
    app->means = tui_find_means(cli_use_color(args, stdout));
    app->face = tui_face(&app->means, cli_width(), 2);
    int code = app_open(app, cli_text(args, &opt_state));
    app->face.digits = app->state.digits;
    const int section = (int)cli_int(args, &opt_section, 0);
    if (!code && section) app->state.section = section - 1;
    if (!code) {
        int shown = -1;
        if (!cli_given(args, &opt_plain)) shown = read_on_screen(app);
        /* read as text, the calculator goes all the way, unless a state says how far */
        if (shown < 0 && !cli_given(args, &opt_state)) app->state.stage = 4;
        code = shown >= 0 ? shown : lesson_plain(app, section > 0);
    }
    app_close(app);
    free(app);
    return code;
}

const cli_command cli_command_lesson = {
    .name = "lesson",
    .summary = "attention from the beginning, worked by hand",
    .about =
        "Eight short sections with figures to play with: choose who asks, step through the "
        "calculation, change any number and see what follows. It takes about twelve minutes and "
        "needs only a terminal of 40 columns; the keys stand in the last line, and ? lists all.\n\n"
        "The full screen is for terminals. With --plain, in a pipe, and where TERM is dumb or "
        "unknown, the same sentences and numbers come line by line. Nothing is stored.",
    .options =
        (const cli_option *const[]){&opt_section, &opt_plain, &opt_state, &cli_opt_color, NULL},
    .examples = (const char *const[]){"qkv lesson", "begin at the beginning",
                                      "qkv lesson --section 4", "open the calculator",
                                      "qkv lesson --plain | less", "read it as text", NULL},
    .run = run,
};
