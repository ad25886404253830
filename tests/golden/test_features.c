/* SPDX-License-Identifier: MIT */
/* test_features.c - does every kernel of the library give the golden bits of features.inc: masks,
 * biases, sinks, dropout, packed sequences, types? For each instruction set: out and lse with one
 * thread and with three, what the tap shows, partials and what they fold to. The expected bits are
 * tests/spec's, through feature_hashes.txt.
 *
 * Knows the public header only. Whatever takes no part is poisoned (FEATURE_POISON). The executor runs
 * its tasks backwards.
 *
 *     test_features [--isa NAME] [--small] [--emulated]   TAP
 *     test_features --isa NAME --dump CASE   elements, as spec_forward --dump prints them
 */
#include "feature_run.h"
#include "golden_report.h"

typedef enum way { ONE_THREAD, THREE_THREADS, TAP, SHOWN_ROWS, PARTIALS, NWAYS } way;
static const char *const way_names[NWAYS] = {
    "one thread", "three threads, backwards", "what the tap shows",
    "scores, weights, maxima, sums and keep-mask", "partials, and what they fold to"};
static const char *const hash_names[FEATURE_NHASHES] = {
    "out", "lse", "weight", "scaled", "partial", "capped", "masked", "rowmax", "keysums", "keep"};

/* Kernels without FMA need up to 0.1 us for a multiply-add (ten times that in an emulator). */
static int has_time(const feature_case *c, int32_t isa, way how, golden_effort effort)
{
    const golden_case *const g = &c->base;
    const int software_fma = isa == QKV_ISA_SCALAR || isa == QKV_ISA_WIDE16;
    const int64_t work = g->batch * g->heads * g->rows * g->keys * (g->d + g->d_v);
    const int64_t slow = g->bits == 64 ? 4 : 1;
    if (effort == GOLDEN_EMULATED && isa == qkv_isa_id(qkv_isa_count() - 1))
        return how == ONE_THREAD || work * slow <= 2400000;
    if (effort) return work * slow <= (how == ONE_THREAD ? 1200000 : 300000);
    return !software_fma || work * slow <= (how == ONE_THREAD ? 4000000 : 600000);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Streams what the tap shows into hashes, and insists on the promised order. */
typedef struct watcher {
    const feature_case *c;
    FILE *dump;
    uint64_t of[FEATURE_NHASHES];
    int64_t plane_row[FEATURE_NHASHES], key[FEATURE_NHASHES]; /* what must come next */
    int32_t out_of_order;
} watcher;

static int32_t hash_of_stage(int32_t stage)
{
    return stage == QKV_STAGE_WEIGHT   ? FEATURE_WEIGHT
           : stage == QKV_STAGE_SCALED ? FEATURE_SCALED
                                       : -1;
}

static int watch(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                 const void *x, int64_t n)
{
    watcher *const w = ctx;
    const golden_case *const g = &w->c->base;
    const int32_t which = hash_of_stage(stage);
    if (which < 0) return 1;
    const int64_t plane_row = (batch * g->heads + head) * g->rows + row;
    if (w->plane_row[which] != plane_row) { /* rows without keys are not shown */
        if (plane_row < w->plane_row[which]) w->out_of_order = 1;
        w->plane_row[which] = plane_row;
        w->key[which] = feature_first_key(w->c, row);
    }
    if (w->key[which] != key || n < 0) w->out_of_order = 1;
    w->key[which] += n;
    w->of[which] = golden_fnv_array(w->of[which], x, n, g->bits);
    feature_dump(w->dump, hash_names[which], x, n, g->bits);
    return 0;
}

/* Runs the partials of golden_parts(), hashes them, folds them from last to first. */
static qkv_status run_partials(const feature_run *f, FILE *dump, golden_result *r, qkv_error *err)
{
    int64_t cut[GOLDEN_MAX_PARTS + 1];
    const golden_case *const g = &f->c->base;
    const int32_t n = golden_parts(g->keys, cut);
    qkv_partial parts[GOLDEN_MAX_PARTS];
    qkv_status status = QKV_OK;
    for (int32_t i = 0; i < GOLDEN_MAX_PARTS; i++) parts[i] = qkv_partial_init();
    for (int32_t i = 0; i < n && status == QKV_OK; i++) {
        qkv_partial *const part = &parts[n - 1 - i];
        part->key_begin = cut[i];
        part->key_end = cut[i + 1];
        part->data_size = qkv_partial_size(f->plan, cut[i], cut[i + 1]);
        part->data = feature_grab((int64_t)part->data_size);
        memset(part->data, 0xa5, part->data_size);
        status = qkv_run_partial(f->plan, &f->args, part, err);
        const int64_t count = (int64_t)part->data_size / (g->bits / 8);
        r->of[FEATURE_PARTIAL] =
            golden_fnv_array(r->of[FEATURE_PARTIAL], part->data, count, g->bits);
        feature_dump(dump, "partial", part->data, count, g->bits);
    }
    if (status == QKV_OK) status = qkv_partial_finish(f->plan, &f->args, parts, n, err);
    for (int32_t i = 0; i < n; i++) free(parts[i].data);
    return status;
}

/* Hashes what was shown of every row, as the judge does: the keys of the row's own sequence. */
static void hash_shown(const feature_case *c, const void *shown, int32_t which, int32_t width,
                       FILE *dump, golden_result *r)
{
    const golden_case *const g = &c->base;
    for (int64_t n = 0; n < feature_rows(c); n++) {
        const int64_t begin = feature_first_key(c, n % g->rows);
        const int64_t end = feature_end_key(c, n % g->rows);
        const char *const row = (const char *)shown + n * g->keys * (width / 8);
        feature_dump(dump, hash_names[which], row + begin * (width / 8), end - begin, width);
        for (int64_t j = begin; j < end; j++)
            r->of[which] = golden_fnv(r->of[which], feature_element_bits(row, j, width), width);
    }
    r->computed |= 1U << which;
}

/* A run that keeps all that can be kept. */
static qkv_status run_shown(feature_run *f, FILE *dump, golden_result *r, qkv_error *err)
{
    static const int32_t which[5] = {FEATURE_SCALED, FEATURE_CAPPED, FEATURE_MASKED, FEATURE_WEIGHT,
                                     FEATURE_KEEP};
    const golden_case *const g = &f->c->base;
    const int64_t pairs = feature_rows(f->c) * g->keys;
    void *shown[5];
    for (int32_t i = 0; i < 5; i++) shown[i] = feature_output(pairs * g->bits / 8, 0xa5);
    qkv_show show = {.size = sizeof show};
    show.scaled = shown[0];
    show.capped = shown[1];
    show.masked = shown[2];
    show.weight = shown[3];
    show.keep = shown[4];
    f->args.show = &show;
    f->args.row_max = f->row_max;
    f->args.key_sums = f->key_sums;
    const qkv_status status = qkv_run(f->plan, &f->args, err);
    for (int32_t i = 0; i < 5 && status == QKV_OK; i++)
        hash_shown(f->c, shown[i], which[i], i == 4 ? 8 : g->bits, dump, r);
    const int64_t sums = g->batch * g->heads * g->keys;
    r->of[FEATURE_ROW_MAX] =
        golden_fnv_array(GOLDEN_FNV_START, f->row_max, feature_rows(f->c), g->bits);
    r->of[FEATURE_KEY_SUMS] = golden_fnv_array(GOLDEN_FNV_START, f->key_sums, sums, g->bits);
    r->computed |= 1U << FEATURE_ROW_MAX | 1U << FEATURE_KEY_SUMS;
    feature_dump(dump, "rowmax", f->row_max, feature_rows(f->c), g->bits);
    feature_dump(dump, "keysums", f->key_sums, sums, g->bits);
    for (int32_t i = 0; i < 5; i++) free(shown[i]);
    f->args.show = NULL;
    return status;
}

static qkv_status run_one_way(feature_run *f, way how, FILE *dump, golden_result *r, qkv_error *err)
{
    const feature_case *const c = f->c;
    golden_tasks seen = {0};
    const qkv_threads threads = golden_threads(&seen);
    watcher w = {.c = c, .dump = dump};
    for (int32_t i = 0; i < FEATURE_NHASHES; i++) {
        r->of[i] = w.of[i] = GOLDEN_FNV_START;
        w.plane_row[i] = -1;
    }
    qkv_tap tap = qkv_tap_init();
    tap.stages = 1U << QKV_STAGE_WEIGHT | 1U << QKV_STAGE_SCALED;
    tap.row = watch;
    tap.ctx = &w;
    if (how == THREE_THREADS || how == SHOWN_ROWS) f->args.threads = &threads;
    if (how == TAP) f->args.tap = &tap;

    const qkv_status status = how == PARTIALS     ? run_partials(f, dump, r, err)
                              : how == SHOWN_ROWS ? run_shown(f, dump, r, err)
                                                  : qkv_run(f->plan, &f->args, err);
    f->args.threads = NULL; /* they end with this function */
    f->args.tap = NULL;
    const int32_t out_type = feature_type(c, c->out_type);
    r->of[FEATURE_OUT] = feature_hash(f->out, feature_rows(c) * c->base.d_v, out_type);
    r->of[FEATURE_LSE] = golden_fnv_array(GOLDEN_FNV_START, f->lse, feature_rows(c), c->base.bits);
    r->computed |= 1U << FEATURE_OUT | 1U << FEATURE_LSE;
    if (how == TAP)
        for (int32_t i = FEATURE_WEIGHT; i <= FEATURE_SCALED; i++) {
            r->of[i] = w.of[i];
            r->computed |= 1U << i;
        }
    /* the judge numbers nodes by the keys of the row's own sequence, the library by the tensor's */
    if (how == PARTIALS && !(c->with & (FEATURE_PACKED | FEATURE_KV_START)))
        r->computed |= 1U << FEATURE_PARTIAL;
    r->tasks = seen.most;
    if (w.out_of_order) r->sentence = "the tap's rows, stages or keys come out of order";
    return status;
}

static golden_result run_case(const feature_case *c, int32_t isa, way how, const feature_tensors *t,
                              FILE *dump)
{
    static qkv_error err; /* the result points into it until the next run */
    golden_result r = {.sentence = NULL};
    feature_run f;
    err = qkv_error_init();
    const int32_t threads = how == THREE_THREADS || how == SHOWN_ROWS ? 3 : 1;
    if (feature_open(&f, c, isa, threads, t, how == SHOWN_ROWS, &err) != QKV_OK) {
        r.sentence = err.text;
        return r;
    }
    if (run_one_way(&f, how, dump, &r, &err) != QKV_OK) r.sentence = err.text;
    if (dump && how == TAP) {
        feature_dump(dump, "out", f.out, feature_rows(c) * c->base.d_v,
                     8 * feature_bytes(feature_type(c, c->out_type)));
        feature_dump(dump, "lse", f.lse, feature_rows(c), c->base.bits);
    }
    feature_close(&f);
    return r;
}

/* ---- comparing -------------------------------------------------------------------------------- */

static void run_all(golden_point points[NWAYS], int32_t isa, golden_effort effort)
{
    for (int32_t n = 0; n < FEATURE_NCASES; n++) {
        const feature_case *const c = &feature_cases[n];
        if (!feature_ready(c) || !has_time(c, isa, ONE_THREAD, effort)) continue;
        feature_tensors t;
        feature_make(c, &t);
        for (int32_t how = 0; how < NWAYS; how++) {
            if (!has_time(c, isa, (way)how, effort)) continue;
            if (how == SHOWN_ROWS && !FEATURE_SHOW_READY) continue;
            const golden_result r = run_case(c, isa, (way)how, &t, NULL);
            golden_judge(&points[how], c->base.name, &r, feature_hashes[n].of, hash_names,
                         FEATURE_NHASHES);
        }
        feature_free(&t);
    }
}

static int test_isa(int32_t *number, int32_t isa, golden_effort effort)
{
    if (!qkv_isa_usable(isa)) {
        printf("ok %d - %s # SKIP NOT RUN, the CPU lacks it\n", ++*number, qkv_isa_name(isa));
        return 0;
    }
    golden_point points[NWAYS];
    memset(points, 0, sizeof points);
    run_all(points, isa, effort);
    int failed = 0;
    for (int32_t how = 0; how < NWAYS; how++)
        failed += golden_report(++*number, qkv_isa_name(isa), way_names[how], how == THREE_THREADS,
                                &points[how]);
    fflush(stdout);
    return failed;
}

static int dump_case(const char *name, int32_t isa)
{
    for (int32_t n = 0; n < FEATURE_NCASES; n++) {
        const feature_case *const c = &feature_cases[n];
        if (strcmp(c->base.name, name) != 0) continue;
        feature_tensors t;
        feature_make(c, &t);
        golden_result r = run_case(c, isa, TAP, &t, stdout);
        if (!r.sentence && FEATURE_SHOW_READY) r = run_case(c, isa, SHOWN_ROWS, &t, stdout);
        if (!r.sentence) r = run_case(c, isa, PARTIALS, &t, stdout);
        if (r.sentence) fprintf(stderr, "%s\n", r.sentence);
        feature_free(&t);
        return r.sentence != NULL;
    }
    fprintf(stderr, "test_features: no case is called %s\n", name);
    return 2;
}

/* Is that table's turn? Where some are expected, those that are not may be missing in silence. */
static int due(const char *expected, int32_t isa)
{
    return expected == NULL || qkv_isa_usable(isa) || strstr(expected, qkv_isa_name(isa)) != NULL;
}

int main(int argc, char **argv)
{
    const char *dump = NULL, *expected = NULL;
    int32_t isa = 0, number = 0;
    golden_effort effort = GOLDEN_ALL;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small") == 0)
            effort = GOLDEN_LITTLE;
        else if (strcmp(argv[i], "--emulated") == 0)
            effort = GOLDEN_EMULATED;
        else if (i + 1 < argc && strcmp(argv[i], "--expect") == 0)
            expected = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--isa") == 0)
            isa = golden_isa("test_features", argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--dump") == 0)
            dump = argv[++i];
        else {
            fputs("usage: test_features [--isa NAME] [--small] [--emulated] [--expect NAME,...] "
                  "[--dump CASE]\n",
                  stderr);
            return 2;
        }
    }
    if (dump) return dump_case(dump, isa ? isa : QKV_ISA_SCALAR);
    int32_t waiting = 0;
    for (int32_t n = 0; n < FEATURE_NCASES; n++) {
        waiting += !feature_ready(&feature_cases[n]);
        if (strcmp(feature_cases[n].base.name, feature_hashes[n].name) == 0) continue;
        printf("Bail out! feature_hashes.txt has %s where features.inc has %s\n",
               feature_hashes[n].name, feature_cases[n].base.name);
        return 1;
    }
    if (waiting)
        printf("# %d of %d cases ask for what the library does not do yet\n", waiting,
               (int)FEATURE_NCASES);
    for (int32_t i = 0; i < qkv_isa_count(); i++)
        if ((isa == 0 || isa == qkv_isa_id(i)) && due(expected, qkv_isa_id(i)))
            failed += test_isa(&number, qkv_isa_id(i), effort);
    if (failed)
        puts("# where: spec_forward --dump CASE WHAT > a; test_features --isa NAME --dump CASE |\n"
             "# grep ^WHAT | diff a -     WHAT: out, lse, weight, scaled or partial");
    printf("1..%d\n", number);
    return failed ? 1 : 0;
}
