/* SPDX-License-Identifier: MIT */
/* run_masks.h - the options of `qkv run` that say which keys a query sees and what is added to its
 * scores: read, checked against the tensors, handed to the library. run_place.h has the numbers among
 * them, this file the tensors.
 */
#ifndef QKV_CLI_RUN_MASKS_H
#define QKV_CLI_RUN_MASKS_H

#include "cli/run_place.h"

extern const cli_option cli_opt_mask, cli_opt_mask_bits, cli_opt_mask_drops, cli_opt_bias,
    cli_opt_alibi, cli_opt_softcap, cli_opt_sink, cli_opt_dropout, cli_opt_seed;

enum { CLI_ADDED = 4, CLI_MASK_FILES = CLI_ADDED + CLI_LISTS };

typedef struct cli_masks {
    cli_place place;
    files_input *file[CLI_ADDED]; /* --mask(-bits) --bias --alibi --sink */
    const cli_option *option[CLI_ADDED];
    files_slice slice[CLI_ADDED]; /* what of them --head and --batch leave */
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

/* The files that are open, with the options that named them; returns how many. */
int cli_masks_files(const cli_masks *m, const files_input *file[CLI_MASK_FILES],
                    const cli_option *option[CLI_MASK_FILES]);

#endif /* QKV_CLI_RUN_MASKS_H */
