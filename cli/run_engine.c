/* SPDX-License-Identifier: MIT */
/* run_engine.c - threads and pieces around qkv_run(). A piece is a range of rows of all heads: its
 * shapes are the whole's with fewer rows, its pointers and its causal offset lie further on.
 */
#include "cli/run_engine.h"
#include "cli/run_masks.h"
#include "files/files.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- threads ------------------------------------------------------------------------------------ */

typedef struct errand {
    void (*task)(void *arg, int32_t i);
    void *arg;
} errand;

static void run_errand(void *arg, int32_t i)
{
    const errand *const e = arg;
    sigset_t bus, before;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, &before);
    e->task(e->arg, i);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void parallel_for(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    const qkv_threads *const pool = qkv_pool_threads(ctx);
    errand e = {task, arg};
    pool->parallel_for(pool->ctx, ntasks, run_errand, &e);
}

void cli_engine_threads(qkv_threads *t, qkv_pool *pool)
{
    *t = qkv_threads_init();
    t->nthreads = qkv_pool_threads(pool)->nthreads;
    t->parallel_for = parallel_for;
    t->ctx = pool;
}

/* ---- pieces ------------------------------------------------------------------------------------- */

#define PIECE_FLOPS 2e8 /* some milliseconds for fast kernels, half a second for the reference */
#define PIECE_ROWS 256  /* not fewer: every kernel's tile is full */
#define MOST_PIECES 200

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_once(cli_engine *e, const qkv_plan *plan, const qkv_run_args *args)
{
    qkv_error err = qkv_error_init();
    const double begin = now();
    const qkv_status status = qkv_run(plan, args, &err);
    e->seconds += now() - begin;
    return status == QKV_OK ? CLI_DONE : cli_run_error(&err);
}

/* lse is dense for the rows of a piece; the whole's rows of one head lie further apart. */
static void place_lse(const cli_engine *e, const char *part, int64_t row, int64_t rows,
                      int64_t each)
{
    const int64_t all = e->params->q.dim[2], heads = e->params->q.dim[0] * e->params->q.dim[1];
    char *const lse = e->args.lse;
    for (int64_t h = 0; h < heads; h++) {
        memcpy(lse + (h * all + row) * each, part + h * rows * each, (size_t)(rows * each));
    }
}

static int run_rows(cli_engine *e, int64_t row, int64_t rows, char *lse)
{
    static const int64_t farthest = INT64_C(1) << 62;
    const int64_t each = e->params->q.dtype == QKV_F64 ? 8 : 4;
    const int32_t out = e->params->out.dtype;
    const int64_t out_each = out == QKV_F64 ? 8 : out == QKV_F32 ? 4 : 2;
    qkv_params p = *e->params;
    qkv_run_args a = e->args;
    qkv_plan *plan = NULL;
    qkv_error err = qkv_error_init();
    p.q.dim[2] = p.out.dim[2] = rows;
    if (p.use & QKV_USE_CAUSAL) { /* beyond the farthest, all keys are seen anyway */
        p.q_offset = p.q_offset > farthest - row ? farthest : p.q_offset + row;
    }
    a.q = (const char *)a.q + row * p.q.stride[2] * each;
    a.out = (char *)a.out + row * p.out.stride[2] * out_each;
    if (a.lse) a.lse = lse;
    if (qkv_plan_create(&plan, &p, NULL, &err) != QKV_OK) return cli_library_error(&err);
    void *more = NULL;
    int bad = CLI_DONE;
    if (qkv_plan_workspace(plan) > a.workspace_size) {
        a.workspace_size = qkv_plan_workspace(plan);
        a.workspace = more = files_alloc((int64_t)a.workspace_size);
        if (!more) bad = cli_failed("no memory for the %zu bytes of workspace", a.workspace_size);
    }
    if (!bad) bad = run_once(e, plan, &a);
    if (!bad && a.lse) place_lse(e, lse, row, rows, each);
    free(more);
    qkv_plan_destroy(plan);
    return bad;
}

static int run_pieces(cli_engine *e, int64_t pieces)
{
    const int64_t all = e->params->q.dim[2];
    const int64_t most = (all + pieces - 1) / pieces;
    const int64_t heads = e->params->q.dim[0] * e->params->q.dim[1];
    char *const lse = e->args.lse ? files_alloc(heads * most * 8) : NULL;
    int bad = CLI_DONE;
    if (e->args.lse && !lse) {
        return cli_failed("no memory for the %" PRId64 " bytes of a part of lse", heads * most * 8);
    }
    cli_progress(0, "attention");
    for (int64_t row = 0; row < all && !bad; row += most) {
        bad = run_rows(e, row, all - row < most ? all - row : most, lse);
        cli_progress((double)(row + most) / (double)all, "attention");
    }
    cli_progress_done();
    free(lse);
    return bad;
}

int cli_engine_run(cli_engine *e)
{
    const int64_t rows = e->params->q.dim[2];
    int64_t pieces =
        (int64_t)(e->flops / PIECE_FLOPS < MOST_PIECES ? e->flops / PIECE_FLOPS : MOST_PIECES);
    if (pieces > rows / PIECE_ROWS) pieces = rows / PIECE_ROWS;
    /* what depends on more than the rows of a piece is done in one */
    if (e->whole || e->params->use & ~(QKV_USE_SCALE | QKV_USE_CAUSAL)) pieces = 1;
    e->seconds = 0;
    if (pieces > 1 && isatty(STDERR_FILENO)) return run_pieces(e, pieces);
    return run_once(e, e->plan, &e->args);
}
