/* SPDX-License-Identifier: MIT */
/* run_numbers.h - integers of an option: written in it, 3,5,8, or in a .npy file of int32 or int64. Read
 * when the option is: how many there are decides what is allowed elsewhere.
 */
#ifndef QKV_CLI_RUN_NUMBERS_H
#define QKV_CLI_RUN_NUMBERS_H

#include "cli/qkv_files.h"

typedef struct cli_numbers {
    int64_t *x, n;     /* x NULL: not given */
    files_input *file; /* open, so that no output can be the same file; or NULL */
} cli_numbers;

/* An exit code, the message already printed; the option's name is in it. */
int cli_numbers_read(cli_numbers *list, const cli_option *option, const char *text);
void cli_numbers_close(cli_numbers *list);

/* How many pieces commas cut a text into; the i-th, cut to the buffer (a longer one is no number). */
int64_t cli_pieces(const char *text);
void cli_piece(char out[64], const char *text, int64_t i);

#endif /* QKV_CLI_RUN_NUMBERS_H */
