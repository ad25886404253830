/* SPDX-License-Identifier: MIT */
/* run_kept.h - what `qkv run` can write beside the result and lse: row maxima, key sums; scores,
 * weights and what dropout keeps, of some or all queries. Each is a file; all of one call appear together.
 */
#ifndef QKV_CLI_RUN_KEPT_H
#define QKV_CLI_RUN_KEPT_H

#include "cli/run_numbers.h"

extern const cli_option cli_opt_row_max, cli_opt_key_sums, cli_opt_weights, cli_opt_scores,
    cli_opt_keep_mask, cli_opt_rows;

enum { CLI_KEPT = 7 };

typedef struct cli_kept_file {
    const char *option; /* "--weights"; NULL: not wanted */
    char path[1024];
    int32_t type, rank; /* type: an npy_type */
    int64_t dim[4], bytes;
    void *data;
} cli_kept_file;

typedef struct cli_kept {
    cli_numbers rows;
    cli_kept_file file[CLI_KEPT];
    qkv_show show;
} cli_kept;

/* Reads the options; sizes follow from the tensors. Sets p->use. An exit code, the message already
 * printed. */
int cli_kept_open(cli_kept *k, const cli_args *args, const cli_qkv *in, qkv_params *p);
uint64_t cli_kept_bytes(const cli_kept *k);
int cli_kept_take(cli_kept *k); /* memory */
void cli_kept_args(cli_kept *k, qkv_run_args *a);
bool cli_kept_any(const cli_kept *k);
void cli_kept_close(cli_kept *k);

#endif /* QKV_CLI_RUN_KEPT_H */
