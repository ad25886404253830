/* SPDX-License-Identifier: MIT */
/* explain_html.h - `qkv explain --format html -o FILE`: the lesson's page, opened on what the reader
 * explains. Up to STATE_TOKENS tokens and STATE_CHANNELS channels it opens in the calculator, beyond
 * that in the lab.
 */
#ifndef QKV_CLI_EXPLAIN_HTML_H
#define QKV_CLI_EXPLAIN_HTML_H

#include "cli/cli.h"
#include "lesson/state.h"

/* state: as --state was read, or NULL: then from `in`, whose numbers are all there. An exit code, the
 * message already printed. */
int cli_explain_html(const lesson_input *in, const lesson_state *state, const lesson_memory *memory,
                     const char *path, bool clobber);

#endif /* QKV_CLI_EXPLAIN_HTML_H */
