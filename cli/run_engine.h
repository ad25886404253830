/* SPDX-License-Identifier: MIT */
/* run_engine.h - one attention run as the command does it: on threads that notice a mapped file that
 * shrinks, and, when somebody watches, in pieces of rows so that a bar can move. The bits of the
 * result do not depend on either.
 */
#ifndef QKV_CLI_RUN_ENGINE_H
#define QKV_CLI_RUN_ENGINE_H

#include "cli/cli.h"

typedef struct cli_engine {
    const qkv_params *params; /* dense shapes */
    const qkv_plan *plan;     /* of those */
    qkv_run_args args;        /* threads: see cli_engine_threads() */
    bool whole;               /* in one piece: more is kept than out and lse */
    double flops;             /* of the whole: how many pieces are worth it */
    double seconds;           /* out: inside the library */
} cli_engine;

/* An exit code; the message is already printed. */
int cli_engine_run(cli_engine *e);

/* The pool's threads, but with SIGBUS let in while a task runs: a pool's workers block all signals,
 * and a fault that is blocked kills without a word. *t lives as long as it is used. */
void cli_engine_threads(qkv_threads *t, qkv_pool *pool);

#endif /* QKV_CLI_RUN_ENGINE_H */
