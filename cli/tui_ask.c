/* SPDX-License-Identifier: MIT */
/* tui_ask.c - questions and answers line by line, as `qkv quiz` and `qkv recall` have them: no cursor
 * is moved, no key is read without Enter, so a screen reader follows and a pipe can answer.
 */
#include "cli/tui_ask.h"

#include <string.h>
#include <unistd.h>

bool ask_line(const char *prompt, char *answer, size_t size)
{
    size_t n = 0;
    int c;
    fputs(prompt, stdout);
    fflush(stdout);
    while ((c = getchar()) != EOF && c != '\n')
        if (n + 1 < size && c != 0) answer[n++] = (char)c;
    while (n > 0 && (answer[n - 1] == ' ' || answer[n - 1] == '\r' || answer[n - 1] == '\t')) n--;
    answer[n] = 0;
    const size_t blanks = strspn(answer, " \t");
    memmove(answer, answer + blanks, n - blanks + 1);
    if (!isatty(STDIN_FILENO)) putchar('\n'); /* a terminal echoes the reader's own */
    return c != EOF || n > 0;
}

void tell(const lesson_face *face, const char *text, int indent)
{
    cli_put_wrapped(stdout, text, indent, face->width);
}
