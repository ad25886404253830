/* SPDX-License-Identifier: MIT */
/* run_place.h - the options of `qkv run` that say where queries and keys stand: lengths, padding, packed
 * sequences, offsets, windows, prefixes. Nothing is guessed: where two counts differ, somebody says.
 */
#ifndef QKV_CLI_RUN_PLACE_H
#define QKV_CLI_RUN_PLACE_H

#include "cli/run_numbers.h"

extern const cli_option cli_opt_window, cli_opt_prefix, cli_opt_q_offset, cli_opt_kv_len,
    cli_opt_q_len, cli_opt_kv_start, cli_opt_cu_q, cli_opt_cu_k;

enum { CLI_LISTS = 6 };
extern const cli_option *const cli_place_option[CLI_LISTS]; /* of each list */

typedef struct cli_place {
    cli_numbers list[CLI_LISTS]; /* --cu-q --cu-k --kv-len --q-len --kv-start --q-offset */
} cli_place;

/* Reads the options and sets p->use with the members that belong to it; call after causal, scale and
 * shapes are set. An exit code, the message already printed. */
int cli_place_open(cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p);
/* Does it go together, and does each query have its place? Call when p->use is complete. */
int cli_place_check(const cli_place *m, const cli_args *args, const cli_qkv *in, qkv_params *p);
void cli_place_args(const cli_place *m, qkv_run_args *a);
void cli_place_close(cli_place *m);

/* Refuses when got is not want: one for each of something. */
int cli_check_count(int64_t got, int64_t want, const char *option, const char *each);

#endif /* QKV_CLI_RUN_PLACE_H */
