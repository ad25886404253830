/* SPDX-License-Identifier: MIT */
/* explain_token.h - which query `qkv explain --token` means: NAME, NAME#N for the N-th of that name, or
 * @INDEX; all counted from 0.
 */
#ifndef QKV_CLI_EXPLAIN_TOKEN_H
#define QKV_CLI_EXPLAIN_TOKEN_H

#include "lesson/lesson.h"

/* An exit code, the message already printed. */
int cli_explain_token(const lesson_input *in, const char *text, int64_t *row);

#endif /* QKV_CLI_EXPLAIN_TOKEN_H */
