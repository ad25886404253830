/* SPDX-License-Identifier: MIT */
/* tui_terminal.c - is there a description of this terminal, and can its cursor be moved? Asked before
 * the screen is opened, for newterm() does not free what it took when it knows no such terminal.
 *
 * Apart from tui_screen.c because <term.h> makes macros of ordinary words.
 */
#include "cli/tui.h"

#include <ncurses.h>
#include <term.h>
#include <unistd.h>

bool tui_terminal_known(void)
{
    int known = 0;
    if (setupterm(NULL, STDOUT_FILENO, &known) != OK || known != 1) return false;
    const bool moves = cursor_address != NULL;
    del_curterm(cur_term);
    return moves;
}
