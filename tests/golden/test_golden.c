/* SPDX-License-Identifier: MIT */
/* test_golden.c - does every kernel of the library give the golden bits? For each instruction set
 * and type: out and lse with one thread and with three, weights and scaled scores through the tap,
 * partials and what they fold to. The expected bits are tests/spec's, through hashes.txt.
 *
 * Knows the public header only. Every plan is asked, by qkv_plan_describe(), whether it really uses
 * the kernel in question; the executor runs its tasks backwards, one after another.
 *
 *     test_golden [--isa NAME] [--small] [--emulated] [--expect NAME,...]   TAP
 *     test_golden --list                    the cases
 *     test_golden --isa NAME --dump CASE    every element, as spec_forward --dump prints it
 *
 * --expect: exactly these of the compiled kernels must be usable, and "best" is the last of them.
 */
#include "golden_hashes.h"
#include "golden_report.h"

typedef enum way { ONE_THREAD, THREE_THREADS, TAP, PARTIALS, NWAYS } way;
static const char *const way_names[NWAYS] = {
    "out and lse, one thread", "out and lse, three threads, backwards", "weights and scaled scores",
    "partials, and what they fold to"};
static const char *const hash_names[GOLDEN_NHASHES] = {"out", "lse", "weight", "scaled", "partial"};

typedef struct tensors {
    void *q, *k, *v, *out, *lse;
} tensors;

static void *grab(int64_t bytes)
{
    void *const p = malloc((size_t)bytes + 1);
    if (!p) {
        puts("Bail out! out of memory");
        exit(1);
    }
    return p;
}

static int64_t rows_of(const golden_case *c)
{
    return c->batch * c->heads * c->rows;
}

static int64_t width_of(const golden_case *c)
{
    return c->bits / 8;
}

/* Kernels without FMA need up to 0.1 us for a multiply-add (ten times that in an emulator): they
 * run the larger cases one way only. */
static int has_time(const golden_case *c, int32_t isa, way how, golden_effort effort)
{
    static const int64_t bounds[4][2] = {
        {600000, 130000}, {130000, 40000}, {1000000, 200000}, {1200000, 300000}}; /* f32, f64 */
    const int software_fma = isa == QKV_ISA_SCALAR || isa == QKV_ISA_WIDE16;
    const int64_t work = rows_of(c) * c->keys * (c->d + c->d_v);
    if (effort == GOLDEN_EMULATED && isa == qkv_isa_id(qkv_isa_count() - 1))
        return how == ONE_THREAD || work <= bounds[3][c->bits == 64];
    if (effort) return work <= bounds[how != ONE_THREAD][c->bits == 64];
    return !software_fma || how == ONE_THREAD || work <= bounds[2][c->bits == 64];
}

/* ---- running ---------------------------------------------------------------------------------- */

static qkv_params params_of(const golden_case *c, int32_t isa, int32_t max_threads)
{
    const int32_t dtype = c->bits == 32 ? QKV_F32 : QKV_F64;
    qkv_params params = qkv_params_init();
    params.isa = isa;
    params.q = qkv_shape_dense(dtype, c->batch, c->heads, c->rows, c->d);
    params.k = qkv_shape_dense(dtype, c->batch, c->kv_heads, c->keys, c->d);
    params.v = qkv_shape_dense(dtype, c->batch, c->kv_heads, c->keys, c->d_v);
    params.out = qkv_shape_dense(dtype, c->batch, c->heads, c->rows, c->d_v);
    if (c->use & GOLDEN_CAUSAL) params.use |= QKV_USE_CAUSAL;
    if (c->use & GOLDEN_SCALE) params.use |= QKV_USE_SCALE;
    params.q_offset = c->q_offset;
    params.scale = c->scale;
    params.max_threads = max_threads;
    return params;
}

/* The word after "kernel: " in the plan's description, or "". */
static void kernel_of(const qkv_plan *plan, char *word, size_t size)
{
    char text[4096] = "\n";
    qkv_plan_describe(plan, text + 1, sizeof text - 1);
    const char *at = strstr(text, "\nkernel: ");
    size_t n = 0;
    if (at)
        for (at += strlen("\nkernel: "); n + 1 < size; n++) {
            const char x = at[n];
            if (!(x >= 'a' && x <= 'z') && !(x >= '0' && x <= '9')) break;
            word[n] = x;
        }
    word[n] = 0;
}

/* Streams what the tap shows into hashes, and insists on the promised order. */
typedef struct watcher {
    const golden_case *c;
    FILE *dump;
    uint64_t weight, scaled;
    int64_t next[2]; /* the element that must come next, of weights and of scaled scores */
    int32_t out_of_order;
} watcher;

static void dump_array(FILE *file, const char *what, const void *x, int64_t n, int32_t bits)
{
    const unsigned char *const bytes = x;
    for (int64_t i = 0; file && i < n; i++) {
        uint32_t narrow = 0;
        uint64_t wide = 0;
        if (bits == 32)
            memcpy(&narrow, bytes + 4 * i, 4);
        else
            memcpy(&wide, bytes + 8 * i, 8);
        fprintf(file, "%s %0*" PRIx64 "\n", what, bits / 4, bits == 32 ? narrow : wide);
    }
}

static int watch(void *ctx, int32_t stage, int64_t batch, int64_t head, int64_t row, int64_t key,
                 const void *x, int64_t n)
{
    watcher *const w = ctx;
    const golden_case *const c = w->c;
    const int32_t is_weight = stage == QKV_STAGE_WEIGHT;
    int64_t *const next = &w->next[is_weight];
    if (*next != ((batch * c->heads + head) * c->rows + row) * c->keys + key || n < 0 ||
        (!is_weight && stage != QKV_STAGE_SCALED))
        w->out_of_order = 1;
    *next += n;
    uint64_t *const hash = is_weight ? &w->weight : &w->scaled;
    *hash = golden_fnv_array(*hash, x, n, c->bits);
    dump_array(w->dump, is_weight ? "weight" : "scaled", x, n, c->bits);
    return 0;
}

/* Runs the partials of golden_parts(), hashes them, folds them from last to first. */
static qkv_status run_partials(const golden_case *c, const qkv_plan *plan, const qkv_run_args *args,
                               FILE *dump, uint64_t *hash, qkv_error *err)
{
    int64_t cut[GOLDEN_MAX_PARTS + 1];
    const int32_t n = golden_parts(c->keys, cut);
    qkv_partial parts[GOLDEN_MAX_PARTS];
    qkv_status status = QKV_OK;
    for (int32_t i = 0; i < n; i++) parts[i].data = NULL;
    for (int32_t i = 0; i < n && status == QKV_OK; i++) {
        qkv_partial *const part = &parts[n - 1 - i];
        *part = qkv_partial_init();
        part->key_begin = cut[i];
        part->key_end = cut[i + 1];
        part->data_size = qkv_partial_size(plan, cut[i], cut[i + 1]);
        part->data = grab((int64_t)part->data_size);
        memset(part->data, 0xa5, part->data_size);
        status = qkv_run_partial(plan, args, part, err);
        const int64_t count = (int64_t)part->data_size / width_of(c);
        *hash = golden_fnv_array(*hash, part->data, count, c->bits);
        dump_array(dump, "partial", part->data, count, c->bits);
    }
    if (status == QKV_OK && rows_of(c) > 0) status = qkv_partial_finish(plan, args, parts, n, err);
    for (int32_t i = 0; i < n; i++) free(parts[i].data);
    return status;
}

static qkv_status run_one_way(const golden_case *c, const qkv_plan *plan, way how,
                              qkv_run_args *args, FILE *dump, golden_result *r, qkv_error *err)
{
    golden_tasks seen = {0};
    const qkv_threads threads = golden_threads(&seen);
    watcher w = {.c = c, .dump = dump, .weight = GOLDEN_FNV_START, .scaled = GOLDEN_FNV_START};
    qkv_tap tap = qkv_tap_init();
    tap.stages = 1U << QKV_STAGE_WEIGHT | 1U << QKV_STAGE_SCALED;
    tap.row = watch;
    tap.ctx = &w;
    if (how == THREE_THREADS) args->threads = &threads;
    if (how == TAP) args->tap = &tap;

    r->of[GOLDEN_PARTIAL] = GOLDEN_FNV_START;
    const qkv_status status = how == PARTIALS && c->keys > 0 /* no keys: no range to run */
                                  ? run_partials(c, plan, args, dump, &r->of[GOLDEN_PARTIAL], err)
                                  : qkv_run(plan, args, err);
    args->threads = NULL; /* they end with this function */
    args->tap = NULL;
    r->of[GOLDEN_OUT] = golden_fnv_array(GOLDEN_FNV_START, args->out, rows_of(c) * c->d_v, c->bits);
    r->of[GOLDEN_LSE] = golden_fnv_array(GOLDEN_FNV_START, args->lse, rows_of(c), c->bits);
    r->of[GOLDEN_WEIGHT] = w.weight;
    r->of[GOLDEN_SCALED] = w.scaled;
    r->computed = 1U << GOLDEN_OUT | 1U << GOLDEN_LSE;
    if (how == TAP) r->computed |= 1U << GOLDEN_WEIGHT | 1U << GOLDEN_SCALED;
    if (how == PARTIALS) r->computed |= 1U << GOLDEN_PARTIAL;
    r->tasks = seen.most;
    if (w.out_of_order) r->sentence = "the tap's rows, stages or keys come out of order";
    return status;
}

static golden_result run_case(const golden_case *c, int32_t isa, way how, const tensors *t,
                              FILE *dump)
{
    static qkv_error err; /* the result points into it until the next run */
    const qkv_params params = params_of(c, isa, how == THREE_THREADS ? 3 : 1);
    qkv_plan *plan = NULL;
    char kernel[32];
    golden_result r = {.sentence = NULL};
    err = qkv_error_init();
    if (qkv_plan_create(&plan, &params, NULL, &err) != QKV_OK) {
        r.sentence = err.text;
        return r;
    }
    kernel_of(plan, kernel, sizeof kernel);
    qkv_run_args args = qkv_run_args_init();
    args.q = t->q;
    args.k = t->k;
    args.v = t->v;
    args.out = t->out;
    args.lse = t->lse;
    args.workspace_size = qkv_plan_workspace(plan);
    args.workspace = args.workspace_size ? aligned_alloc(64, args.workspace_size) : NULL;
    if (args.workspace) memset(args.workspace, 0xff, args.workspace_size);
    memset(t->out, 0xa5, (size_t)(rows_of(c) * c->d_v * width_of(c)));
    memset(t->lse, 0xa5, (size_t)(rows_of(c) * width_of(c)));
    if (run_one_way(c, plan, how, &args, dump, &r, &err) != QKV_OK)
        r.sentence = err.text;
    else if (strcmp(kernel, qkv_isa_name(isa)) != 0)
        r.sentence = "the plan describes another kernel";
    free(args.workspace);
    qkv_plan_destroy(plan);
    return r;
}

/* ---- comparing -------------------------------------------------------------------------------- */

static tensors make_tensors(const golden_case *c)
{
    tensors t;
    t.q = grab(golden_count(c, GOLDEN_Q) * width_of(c));
    t.k = grab(golden_count(c, GOLDEN_K) * width_of(c));
    t.v = grab(golden_count(c, GOLDEN_V) * width_of(c));
    t.out = grab(rows_of(c) * c->d_v * width_of(c));
    t.lse = grab(rows_of(c) * width_of(c));
    golden_fill(c, GOLDEN_Q, t.q);
    golden_fill(c, GOLDEN_K, t.k);
    golden_fill(c, GOLDEN_V, t.v);
    return t;
}

static void free_tensors(const tensors *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
    free(t->out);
    free(t->lse);
}

static void run_all(golden_point points[][NWAYS], int32_t isa, golden_effort effort)
{
    for (int32_t n = 0; n < GOLDEN_NCASES; n++) {
        const golden_case *const c = &golden_cases[n];
        const tensors t = make_tensors(c);
        for (int32_t how = 0; how < NWAYS; how++) {
            if (!has_time(c, isa, (way)how, effort)) continue;
            const golden_result r = run_case(c, isa, (way)how, &t, NULL);
            golden_judge(&points[c->bits == 64][how], c->name, &r, golden_hashes[n].of, hash_names,
                         GOLDEN_NHASHES);
        }
        free_tensors(&t);
    }
}

static int test_isa(int32_t *number, int32_t isa, golden_effort effort, int expected)
{
    if (!qkv_isa_usable(isa)) {
        if (!expected)
            printf("ok %d - %s # SKIP NOT RUN, the CPU lacks it\n", ++*number, qkv_isa_name(isa));
        return 0;
    }
    golden_point points[2][NWAYS];
    memset(points, 0, sizeof points);
    run_all(points, isa, effort);
    int failed = 0;
    for (int32_t wide = 0; wide < 2; wide++)
        for (int32_t how = 0; how < NWAYS; how++) {
            char what[40];
            snprintf(what, sizeof what, "%s %s", qkv_isa_name(isa), wide ? "f64" : "f32");
            failed += golden_report(++*number, what, way_names[how], how == THREE_THREADS,
                                    &points[wide][how]);
        }
    fflush(stdout);
    return failed;
}

/* ---- the command line ------------------------------------------------------------------------- */

static int has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
        if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return 1;
    return 0;
}

static int test_expected(int32_t *number, const char *expected)
{
    int same = 1;
    const char *best = "";
    char kernel[32] = "";
    for (int32_t i = 0; i < qkv_isa_count(); i++) {
        const char *const name = qkv_isa_name(qkv_isa_id(i));
        if (has_word(expected, name)) best = name;
        if (has_word(expected, name) == (qkv_isa_usable(qkv_isa_id(i)) == 1)) continue;
        printf("# %s is usable: %d\n", name, qkv_isa_usable(qkv_isa_id(i)));
        same = 0;
    }
    const qkv_params params = params_of(&golden_cases[GOLDEN_NCASES - 1], QKV_ISA_BEST, 1);
    qkv_plan *plan = NULL;
    if (qkv_plan_create(&plan, &params, NULL, NULL) == QKV_OK)
        kernel_of(plan, kernel, sizeof kernel);
    qkv_plan_destroy(plan);
    const int chosen = strcmp(kernel, best) == 0;
    if (!chosen) printf("# best is \"%s\", not %s\n", kernel, best);
    printf("%sok %d - this CPU can run %s and no other kernel\n", same ? "" : "not ", ++*number,
           expected);
    printf("%sok %d - the best kernel here is %s\n", chosen ? "" : "not ", ++*number, best);
    return !same + !chosen;
}

static int dump_case(const char *name, int32_t isa)
{
    for (int32_t n = 0; n < GOLDEN_NCASES; n++) {
        const golden_case *const c = &golden_cases[n];
        if (strcmp(c->name, name) != 0) continue;
        const tensors t = make_tensors(c);
        golden_result r = run_case(c, isa, TAP, &t, stdout);
        dump_array(stdout, "out", t.out, rows_of(c) * c->d_v, c->bits);
        dump_array(stdout, "lse", t.lse, rows_of(c), c->bits);
        if (!r.sentence) r = run_case(c, isa, PARTIALS, &t, stdout);
        if (r.sentence) fprintf(stderr, "%s\n", r.sentence);
        free_tensors(&t);
        return r.sentence != NULL;
    }
    fprintf(stderr, "test_golden: no case is called %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    const char *expected = NULL, *dump = NULL;
    int32_t isa = 0, number = 0;
    golden_effort effort = GOLDEN_ALL;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (int32_t n = 0; n < GOLDEN_NCASES; n++) puts(golden_cases[n].name);
            return 0;
        }
        if (strcmp(argv[i], "--small") == 0)
            effort = GOLDEN_LITTLE;
        else if (strcmp(argv[i], "--emulated") == 0)
            effort = GOLDEN_EMULATED;
        else if (i + 1 < argc && strcmp(argv[i], "--isa") == 0)
            isa = golden_isa("test_golden", argv[++i]);
        else if (i + 1 < argc && strcmp(argv[i], "--expect") == 0)
            expected = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--dump") == 0)
            dump = argv[++i];
        else {
            fprintf(stderr,
                    "usage: test_golden [--isa NAME] [--small] [--emulated] [--expect NAME,...] "
                    "[--list] [--dump CASE]\n");
            return 2;
        }
    }
    if (dump) return dump_case(dump, isa ? isa : QKV_ISA_SCALAR);
    for (int32_t n = 0; n < GOLDEN_NCASES; n++)
        if (strcmp(golden_cases[n].name, golden_hashes[n].name) != 0) {
            printf("Bail out! hashes.txt has %s where cases.inc has %s\n", golden_hashes[n].name,
                   golden_cases[n].name);
            return 1;
        }
    if (expected) failed += test_expected(&number, expected);
    for (int32_t i = 0; i < qkv_isa_count(); i++)
        if (isa == 0 || isa == qkv_isa_id(i))
            failed += test_isa(&number, qkv_isa_id(i), effort, expected != NULL);
    if (failed)
        puts("# where, for what = out, lse, weight, scaled or partial:\n"
             "# spec_forward --dump CASE | grep ^what > a\n"
             "# test_golden --isa NAME --dump CASE | grep ^what | diff a -");
    printf("1..%d\n", number);
    return failed ? 1 : 0;
}
