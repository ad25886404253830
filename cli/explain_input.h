/* SPDX-License-Identifier: MIT */
/* explain_input.h - where the numbers that `qkv explain` walks through come from: the lesson's own
 * four tokens, three tensor files, or an embedding with three matrices; and the tokens' names.
 */
#ifndef QKV_CLI_EXPLAIN_INPUT_H
#define QKV_CLI_EXPLAIN_INPUT_H

#include "cli/qkv_files.h"
#include "lesson/lesson.h"

extern const cli_option cli_explain_opt_q, cli_explain_opt_k, cli_explain_opt_v;
extern const cli_option cli_explain_opt_x, cli_explain_opt_wq, cli_explain_opt_wk,
    cli_explain_opt_wv, cli_explain_opt_tokens;

typedef struct cli_explain_input {
    cli_qkv files;             /* --q --k --v */
    files_input *projected[4]; /* --x --wq --wk --wv */
    files_tokens tokens;       /* --tokens FILE.json */
    lesson_memory memory;      /* everything else, until close */
    void *chunks;
} cli_explain_input;

/* Opens and checks all files, reads the names, fills the sizes of *in; reads no tensor data. An
 * exit code, the message already printed. cli_explain_close() in any case. */
int cli_explain_open(cli_explain_input *input, lesson_input *in, const cli_args *args);
int cli_explain_check_memory(const cli_explain_input *input, const lesson_input *in,
                             const cli_args *args);
/* Fills q, k and v. */
int cli_explain_read(cli_explain_input *input, lesson_input *in);
/* Makes q a copy that may be written to; NULL after a message. */
double *cli_explain_edit_queries(cli_explain_input *input, lesson_input *in);
void cli_explain_close(cli_explain_input *input);

#endif /* QKV_CLI_EXPLAIN_INPUT_H */
