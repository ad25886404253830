/* SPDX-License-Identifier: MIT */
/* terminal.c - what the terminal is: its width, whether it wants colour, and the progress bar.
 *
 * Only output that goes to a terminal depends on it; a pipe or a file always gets 80 columns and
 * no colour unless --color=always asks.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int columns_of_fd(int fd)
{
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0) return 80;
    return size.ws_col >= 20 ? size.ws_col : 80;
}

int cli_width(void)
{
    return columns_of_fd(STDOUT_FILENO);
}

bool cli_use_color(const cli_args *args, FILE *f)
{
    const int choice = cli_choice(args, &cli_opt_color, 0); /* auto, always, never */
    if (choice) return choice == 1;
    const char *const no_color = getenv("NO_COLOR");
    const char *const term = getenv("TERM");
    return isatty(fileno(f)) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

/* ---- progress ------------------------------------------------------------------------------- */

static double first_call, last_drawn; /* seconds; 0: no work is under way */
static bool drawn;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress(double fraction, const char *what)
{
    const double t = now();
    if (first_call <= 0) first_call = t;
    if (t - first_call < 1 || t - last_drawn < 0.1 || !isatty(STDERR_FILENO)) return;
    const char *const term = getenv("TERM");
    if (!term || strcmp(term, "dumb") == 0) return;
    last_drawn = t;
    drawn = true;

    static const int cells = 24;
    const int full = fraction <= 0 ? 0 : (fraction >= 1 ? cells : (int)(fraction * cells));
    const int percent = fraction <= 0 ? 0 : (fraction >= 1 ? 100 : (int)(fraction * 100));
    fputs("\r[", stderr);
    for (int i = 0; i < cells; i++) fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %% ", percent);
    cli_put_text(stderr, what, strlen(what), columns_of_fd(STDERR_FILENO) - cells - 10);
    fputs("\x1b[K", stderr);
    fflush(stderr);
}

void cli_progress_done(void)
{
    if (drawn) fputs("\r\x1b[K", stderr);
    drawn = false;
    first_call = last_drawn = 0;
}
