/* SPDX-License-Identifier: MIT */
/* run_masks.h - the options of `qkv run` that say which keys a query sees and what is added to its
 * scores: read, checked against the tensors, handed to the library.
 *
 * Numbers of batch entries are lists in the option itself, 3,5,8; tensors are files.
 */
#ifndef QKV_CLI_RUN_MASKS_H
#define QKV_CLI_RUN_MASKS_H

#include "cli/qkv_files.h"

extern const cli_option cli_opt_window, cli_opt_prefix, cli_opt_q_offset, cli_opt_kv_len,
    cli_opt_q_len, cli_opt_kv_start, cli_opt_cu_q, cli_opt_cu_k, cli_opt_mask, cli_opt_mask_drops,
    cli_opt_bias, cli_opt_alibi, cli_opt_softcap, cli_opt_sink, cli_opt_dropout, cli_opt_seed;

enum { CLI_LISTS = 6, CLI_ADDED = 4 };

typedef struct cli_masks {
    int64_t *list[CLI_LISTS]; /* --cu-q --cu-k --kv-len --q-len --kv-start --q-offset */
    int64_t count[CLI_LISTS];
    files_input *file[CLI_ADDED]; /* --mask --bias --alibi --sink */
    files_tensor tensor[CLI_ADDED];
    double *numbers[CLI_ADDED]; /* of --sink, given as a list */
    int64_t ncount[CLI_ADDED];
    void *real[CLI_ADDED]; /* slopes and sinks in the type that is computed in */
    uint64_t seed;
} cli_masks;

/* Reads the options, opens and checks the files; sets p->use and the members that belong to it. Call
 * after causal, scale and shapes are set. An exit code, the message already printed. */
int cli_masks_open(cli_masks *m, const cli_args *args, const cli_qkv *in, qkv_params *p);
uint64_t cli_masks_bytes(const cli_masks *m);
int cli_masks_read(cli_masks *m, const cli_qkv *in);
void cli_masks_args(const cli_masks *m, qkv_run_args *a);
void cli_masks_close(cli_masks *m);

/* The library's sentence with the option's name in place of the argument's. */
int cli_run_error(const qkv_error *err);

/* "3,5,8" as integers: *list must be freed; refused with the option's name. */
int cli_list(const char *option, const char *text, int64_t **list, int64_t *count);

/* The files that are open, with the options that named them; returns how many (at most CLI_ADDED). */
int cli_masks_files(const cli_masks *m, const files_input *file[CLI_ADDED],
                    const char *option[CLI_ADDED]);

#endif /* QKV_CLI_RUN_MASKS_H */
