/* SPDX-License-Identifier: MIT */
/* message.c - one-line messages on stderr: "qkv CMD: sentence".
 *
 * The whole line is formatted first and then goes through the text filter, so that a hostile file
 * name can neither start a line of its own nor speak to the terminal.
 */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *speaker;

void cli_speak_as(const char *command)
{
    speaker = command;
}

static void speak(const char *format, va_list values)
{
    char small[1024];
    va_list again;
    va_copy(again, values);
    const int n = vsnprintf(small, sizeof small, format, values);
    char *text = small;
    if (n >= (int)sizeof small) {
        char *const large = (char *)malloc((size_t)n + 1);
        if (large) {
            vsnprintf(large, (size_t)n + 1, format, again);
            text = large;
        }
    }
    va_end(again);
    fflush(stdout); /* results before the message that follows them */
    cli_progress_done();
    fprintf(stderr, speaker ? "qkv %s: " : "qkv: ", speaker);
    cli_put_text(stderr, text, strlen(text), 0);
    fputc('\n', stderr);
    fflush(stderr);
    if (text != small) free(text);
}

int cli_refuse(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    speak(format, values);
    va_end(values);
    return CLI_REFUSED;
}

int cli_failed(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    speak(format, values);
    va_end(values);
    return CLI_FAILED;
}

void cli_note(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    speak(format, values);
    va_end(values);
}

int cli_library_error(const qkv_error *err)
{
    cli_note("%s", err->text);
    return err->status == QKV_ENOMEM || err->status == QKV_ESTOPPED ? CLI_FAILED : CLI_REFUSED;
}
