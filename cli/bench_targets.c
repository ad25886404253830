/* SPDX-License-Identifier: MIT */
/* bench_targets.c - what the measured rows are to reach, for kernels of 256 and of 512 bits, and
 * whether they do.
 *
 * Shares are judged with one thread; that more threads keep up is a target of its own, against the
 * limit's own growth. Where several rows answer to one target, the worst counts. A row that was
 * noisy, or is compared with a noisy one, gives no verdict.
 */
#include "cli/bench_rows.h"

#include <math.h>
#include <string.h>

typedef struct judge {
    bench_target *targets;
    int n;
    const bench_row *rows;
    int nrows;
    const bench_limits *limits;
    int kernels; /* 0: 256 bits, 1: 512 bits */
} judge;

/* Which rows of one thread a target speaks of; 0 where any will do, but for mask. */
typedef struct pick {
    const char *what;
    int32_t dtype;
    int64_t least_s, most_s, d, group;
    int mask;
} pick;

static bool fits(const bench_row *r, const pick *p)
{
    return !r->all && !strcmp(r->what, p->what) && (!p->dtype || r->dtype == p->dtype) &&
           r->s >= p->least_s && (!p->most_s || r->s <= p->most_s) && (!p->d || r->d == p->d) &&
           (!p->group || r->heads == p->group * r->kv_heads) && (int)r->mask == p->mask;
}

/* The same row with another mask, type or number of threads; NULL when it was not measured. */
static const bench_row *partner(const judge *j, const bench_row *like, bench_mask mask,
                                int32_t dtype, int all)
{
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        if (!strcmp(r->what, like->what) && r->s == like->s && r->d == like->d &&
            r->heads == like->heads && r->kv_heads == like->kv_heads && r->mask == mask &&
            r->dtype == dtype && r->all == all)
            return r;
    }
    return NULL;
}

/* What is found in the rows: the worst value, and whether a row of it was noisy. */
typedef struct found {
    double worst;
    bool any, noisy;
} found;

static void take(found *f, double x, bool most, bool noisy)
{
    if (!f->any || (most ? x > f->worst : x < f->worst)) f->worst = x;
    f->any = true;
    f->noisy |= noisy;
}

/* How much of a target may be missing for the verdict "close": 3 points of a share, else 3 %. */
static const double slack = 0.03;

static void conclude(judge *j, const char *what, const char *unit, bool most, double target,
                     found f)
{
    if (!f.any || j->n == BENCH_MAX_TARGETS) return;
    bench_target *const t = &j->targets[j->n++];
    snprintf(t->what, sizeof t->what, "%s", what);
    t->unit = unit;
    t->most = most;
    t->target = target;
    t->reached = f.worst;
    const bool part = !strcmp(unit, "share") || !strcmp(unit, "points");
    const double near = part ? slack : slack * target;
    const double missing = most ? f.worst - target : target - f.worst;
    t->verdict = f.noisy ? "noisy" : missing <= 0 ? "yes" : missing <= near ? "close" : "no";
}

/* ---- kinds of targets ------------------------------------------------------------------------- */

static void share(judge *j, const char *what, pick p, double avx2, double avx512)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++)
        if (fits(&j->rows[i], &p)) take(&f, j->rows[i].share, false, j->rows[i].noisy);
    conclude(j, what, "share", false, j->kernels ? avx512 : avx2, f);
}

/* Points of share below the same row without a mask. */
static void below_full(judge *j, const char *what, pick p, double points)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        const bench_row *const full = partner(j, r, BENCH_FULL, r->dtype, r->all);
        if (fits(r, &p) && full) take(&f, full->share - r->share, true, r->noisy || full->noisy);
    }
    conclude(j, what, "points", true, points, f);
}

/* Time as a part of the time without a mask; `fair`: over the part of the pairs. */
static void time_of_full(judge *j, const char *what, pick p, bool fair, double avx2, double avx512)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        const bench_row *const full = partner(j, r, BENCH_FULL, r->dtype, r->all);
        if (!fits(r, &p) || !full) continue;
        const double part = fair ? r->flops / full->flops : 1;
        take(&f, bench_row_seconds(r) / bench_row_seconds(full) / part, true,
             r->noisy || full->noisy);
    }
    conclude(j, what, "ratio", true, j->kernels ? avx512 : avx2, f);
}

/* Speed as a part of float32's. */
static void speed_of_f32(judge *j, const char *what, pick p, double avx2, double avx512)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        const bench_row *const f32 = partner(j, r, r->mask, QKV_F32, r->all);
        if (fits(r, &p) && f32) take(&f, r->gflops / f32->gflops, false, r->noisy || f32->noisy);
    }
    conclude(j, what, "share", false, j->kernels ? avx512 : avx2, f);
}

/* Share with all threads as a part of the share with one: the limit's own growth is taken out. */
static void scaling(judge *j, const char *what, const char *rows, int64_t least_s, int64_t most_s,
                    double least)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        const bench_row *const one = partner(j, r, r->mask, r->dtype, 0);
        if (r->all && one && !strcmp(r->what, rows) && r->s >= least_s && r->s <= most_s)
            take(&f, r->share / one->share, false, r->noisy || one->noisy);
    }
    char text[64];
    snprintf(text, sizeof text, "1 -> %d threads, %s", j->limits->threads, what);
    conclude(j, text, "share", false, least, f);
}

static void tiny(judge *j)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++)
        if (!strcmp(j->rows[i].what, "tiny"))
            take(&f, 1e6 * bench_row_seconds(&j->rows[i]), true, j->rows[i].noisy);
    conclude(j, "S = 16, d = 64, 1 head, f32, plan reused", "us", true, 3, f);
}

static void memory(judge *j)
{
    found f = {0};
    for (int i = 0; i < j->nrows; i++) {
        const bench_row *const r = &j->rows[i];
        take(&f, 1e-6 * r->workspace / (r->all ? j->limits->threads : 1), true, false);
    }
    conclude(j, "memory beyond inputs and outputs, a thread", "MB", true, 2, f);
}

static void prefill(judge *j)
{
    const int64_t most = INT64_MAX;
    for (int64_t d = 128; d >= 64; d -= 64) {
        char text[64];
        snprintf(text, sizeof text, "prefill f32 full, S >= 2048, d = %d", (int)d);
        share(j, text, (pick){"prefill", QKV_F32, 2048, most, d, 0, BENCH_FULL},
              d == 128 ? .93 : .90, d == 128 ? .95 : .93);
    }
    below_full(j, "prefill f32 causal, S >= 2048: below full",
               (pick){"prefill", QKV_F32, 2048, most, 0, 0, BENCH_CAUSAL}, .02);
    share(j, "prefill f32 full, S = 256, d = 128",
          (pick){"prefill", QKV_F32, 256, 256, 128, 0, BENCH_FULL}, .88, .91);
    share(j, "prefill f32 causal, S = 256, d = 128",
          (pick){"prefill", QKV_F32, 256, 256, 128, 0, BENCH_CAUSAL}, .78, .81);
    time_of_full(j, "bool mask, half the tiles dead: time of full",
                 (pick){"prefill", QKV_F32, 0, 0, 0, 0, BENCH_BOOL}, false, .57, .56);
    time_of_full(j, "bool mask for each head: time of full",
                 (pick){"prefill", QKV_F32, 0, 0, 0, 0, BENCH_BOOL_HEADS}, false, .57, .56);
    time_of_full(j, "bias, half the tiles dead: time of full",
                 (pick){"prefill", QKV_F32, 0, 0, 0, 0, BENCH_BIAS}, false, .57, .56);
    time_of_full(j, "bias for each head: time of full",
                 (pick){"prefill", QKV_F32, 0, 0, 0, 0, BENCH_BIAS_HEADS}, false, .57, .56);
    time_of_full(j, "window 256, S = 8192: time for its FLOPs",
                 (pick){"prefill", QKV_F32, 0, 0, 0, 0, BENCH_WINDOW}, true, 1.2, 1.2);
    speed_of_f32(j, "prefill f16, d = 128: of f32's speed",
                 (pick){"prefill", QKV_F16, 0, 0, 128, 0, BENCH_FULL}, .95, .97);
    speed_of_f32(j, "prefill bf16, d = 128: of f32's speed",
                 (pick){"prefill", QKV_BF16, 0, 0, 128, 0, BENCH_FULL}, .95, .97);
    share(j, "prefill f64 full, d = 128",
          (pick){"prefill", QKV_F64, 2048, most, 128, 0, BENCH_FULL}, .88, .92);
    share(j, "prefill f64 full, d = 64", (pick){"prefill", QKV_F64, 2048, most, 64, 0, BENCH_FULL},
          .84, .88);
}

static void decode(judge *j)
{
    static const struct {
        int64_t group;
        int32_t dtype;
        double least[2];
    } wanted[] = {
        {1, QKV_F32, {.92, .92}}, {1, QKV_F16, {.80, .78}}, {1, QKV_BF16, {.80, .80}},
        {4, QKV_F32, {.80, .79}}, {4, QKV_F16, {.75, .75}}, {4, QKV_BF16, {.75, .75}},
        {8, QKV_F32, {.75, .75}}, {8, QKV_F16, {.77, .77}}, {8, QKV_BF16, {.77, .77}},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char text[64];
        const char *const type = bench_dtype_name(wanted[i].dtype);
        if (wanted[i].group == 1)
            snprintf(text, sizeof text, "one query row, MHA, %s", type);
        else
            snprintf(text, sizeof text, "one query row, G = %d, %s", (int)wanted[i].group, type);
        share(j, text, (pick){"decode", wanted[i].dtype, 0, 0, 0, wanted[i].group, BENCH_FULL},
              wanted[i].least[0], wanted[i].least[1]);
    }
}

int bench_judge(bench_target *targets, const bench_limits *limits, const bench_row *rows, int nrows,
                int32_t isa)
{
    if (isa != QKV_ISA_AVX2 && isa != QKV_ISA_AVX512) return 0;
    judge j = {targets, 0, rows, nrows, limits, isa == QKV_ISA_AVX512};
    prefill(&j);
    decode(&j);
    scaling(&j, "prefill, S >= 512", "prefill", 512, INT64_MAX, .975);
    scaling(&j, "prefill, S = 256", "prefill", 0, 511, .94);
    scaling(&j, "one query row", "decode", 0, INT64_MAX, .975);
    tiny(&j);
    memory(&j);
    return j.n;
}
