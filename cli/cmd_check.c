/* SPDX-License-Identifier: MIT */
/* cmd_check.c - `qkv check`: whether this build on this machine keeps the numeric contract.
 *
 * Every usable kernel table computes the golden cases of tests/golden (those that even the scalar
 * table does quickly), with all threads. Three judges: the golden hashes, the bits of the scalar
 * table, and the float64 reference. Any difference is exit 1.
 */
#include "cli/check_data.h"
#include "cli/cli.h"
#include "lesson/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 16, MAX_REPORTS = 8 };

/* Multiply-adds of one case: the scalar table does float64 without hardware FMA, in integers. */
static const double most_work = 1e6;
/* Error of a row relative to its largest value. f32: docs/numerics.md, "Accuracy". The reference is
 * itself float64, one chain over 2,048 keys, and off by up to 6e-15 (measured in long double); with
 * the 3e-15 that the kernels are allowed, the two differ by less than 1e-14. */
static const double bound_f32 = 1.5e-6, bound_f64 = 1e-14;

typedef struct table {
    int32_t isa;
    int hashes, same; /* cases that agree with the golden hash, with the base table */
    double error[2];  /* f32, f64 */
} table;

typedef struct check {
    table tables[MAX_TABLES];
    int ntables, cases;
    int32_t base; /* the table that others are compared with */
    const qkv_threads *threads;
    int32_t nthreads;
    int reports;
    bool failed;
    char report[MAX_REPORTS][120];
} check;

/* One case's tensors; out and lse twice: of the base table and of the one looked at. */
typedef struct tensors {
    void *q, *k, *v, *out[2], *lse[2];
    size_t out_bytes, lse_bytes;
} tensors;

static void report(check *c, const char *isa, const char *name, const char *what)
{
    c->failed = true;
    if (c->reports < MAX_REPORTS)
        snprintf(c->report[c->reports], sizeof c->report[0], "%s: %s: %s", isa, name, what);
    c->reports++;
}

static void *make(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

static void release(tensors *t)
{
    void *const all[] = {t->q, t->k, t->v, t->out[0], t->out[1], t->lse[0], t->lse[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static bool fill(tensors *t, const golden_case *g)
{
    const size_t width = (size_t)g->bits / 8;
    const int64_t rows = g->batch * g->heads * g->rows;
    memset(t, 0, sizeof *t);
    t->out_bytes = (size_t)(rows * g->d_v) * width;
    t->lse_bytes = (size_t)rows * width;
    t->q = make((size_t)golden_count(g, GOLDEN_Q) * width);
    t->k = make((size_t)golden_count(g, GOLDEN_K) * width);
    t->v = make((size_t)golden_count(g, GOLDEN_V) * width);
    bool good = t->q && t->k && t->v;
    for (int i = 0; i < 2; i++) {
        t->out[i] = make(t->out_bytes);
        t->lse[i] = make(t->lse_bytes);
        good = good && t->out[i] && t->lse[i];
    }
    if (!good) return false;
    golden_fill(g, GOLDEN_Q, t->q);
    golden_fill(g, GOLDEN_K, t->k);
    golden_fill(g, GOLDEN_V, t->v);
    return true;
}

static qkv_params params_of(const golden_case *g, int32_t isa, int32_t nthreads)
{
    const int32_t dtype = g->bits == 32 ? QKV_F32 : QKV_F64;
    qkv_params p = qkv_params_init();
    p.isa = isa;
    p.q = qkv_shape_dense(dtype, g->batch, g->heads, g->rows, g->d);
    p.k = qkv_shape_dense(dtype, g->batch, g->kv_heads, g->keys, g->d);
    p.v = qkv_shape_dense(dtype, g->batch, g->kv_heads, g->keys, g->d_v);
    p.out = qkv_shape_dense(dtype, g->batch, g->heads, g->rows, g->d_v);
    if (g->use & GOLDEN_CAUSAL) p.use |= QKV_USE_CAUSAL;
    if (g->use & GOLDEN_SCALE) p.use |= QKV_USE_SCALE;
    p.q_offset = g->q_offset;
    p.scale = g->scale;
    p.max_threads = nthreads;
    return p;
}

/* Computes into out[place], lse[place], which hold a pattern before: what is not written shows. */
static int compute(const check *c, const golden_case *g, int32_t isa, tensors *t, int place)
{
    qkv_error err = qkv_error_init();
    const qkv_params p = params_of(g, isa, c->nthreads);
    qkv_plan *plan = NULL;
    void *workspace = NULL;
    qkv_status status = qkv_plan_create(&plan, &p, NULL, &err);
    if (status == QKV_OK) {
        const size_t bytes = qkv_plan_workspace(plan);
        workspace = aligned_alloc(64, bytes ? bytes : 64);
        memset(t->out[place], 0xA5, t->out_bytes);
        memset(t->lse[place], 0xA5, t->lse_bytes);
        qkv_run_args args = qkv_run_args_init();
        args.q = t->q;
        args.k = t->k;
        args.v = t->v;
        args.out = t->out[place];
        args.lse = t->lse[place];
        args.workspace = workspace;
        args.workspace_size = workspace ? bytes : 0;
        args.threads = c->threads;
        status = qkv_run(plan, &args, &err);
    }
    free(workspace);
    qkv_plan_destroy(plan);
    return status == QKV_OK ? CLI_DONE : cli_library_error(&err);
}

static const golden_hash *hash_of(const golden_case *g)
{
    for (int i = 0; i < GOLDEN_NHASHES; i++)
        if (strcmp(golden_hashes[i].name, g->name) == 0) return &golden_hashes[i];
    return NULL;
}

static bool hash_matches(const golden_case *g, const tensors *t, int place)
{
    const golden_hash *const want = hash_of(g);
    const int64_t rows = g->batch * g->heads * g->rows;
    const uint64_t start = GOLDEN_FNV_START;
    return want && golden_fnv_array(start, t->out[place], rows * g->d_v, g->bits) == want->out &&
           golden_fnv_array(start, t->lse[place], rows, g->bits) == want->lse;
}

static int check_case(check *c, const golden_case *g)
{
    tensors t;
    int code = fill(&t, g) ? CLI_DONE : cli_failed("no memory for case %s", g->name);
    if (!code) code = compute(c, g, c->base, &t, 0);
    for (int i = 0; i < c->ntables && !code; i++) {
        table *const one = &c->tables[i];
        const int place = one->isa != c->base;
        if (place) code = compute(c, g, one->isa, &t, place);
        if (code) break;
        if (hash_matches(g, &t, place))
            one->hashes++;
        else
            report(c, qkv_isa_name(one->isa), g->name, "not the golden hash");
        if (memcmp(t.out[place], t.out[0], t.out_bytes) == 0 &&
            memcmp(t.lse[place], t.lse[0], t.lse_bytes) == 0)
            one->same++;
        else
            report(c, qkv_isa_name(one->isa), g->name, "other bits than the scalar kernels");
    }
    release(&t);
    return code;
}

/* ---- error ----------------------------------------------------------------------------------- */

static double value(const void *x, int64_t i, int32_t bits)
{
    return bits == 32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* The largest error of a row relative to the row's largest value; NaN when anything is NaN. */
static double row_error(const golden_case *g, const void *out, const double *want)
{
    double worst = 0;
    const int64_t rows = g->batch * g->heads * g->rows;
    for (int64_t row = 0; row < rows; row++) {
        double largest = 0, error = 0;
        for (int64_t c = 0; c < g->d_v; c++) {
            const double w = want[row * g->d_v + c];
            const double e = value(out, row * g->d_v + c, g->bits) - w;
            if (w > largest || -w > largest) largest = w < 0 ? -w : w;
            if (!(e <= error && -e <= error)) error = e < 0 ? -e : e;
        }
        if (!(error / largest <= worst)) worst = error / largest;
    }
    return worst;
}

static void *widened(const void *x, int64_t n, int32_t bits)
{
    double *const y = make((size_t)n * sizeof *y);
    for (int64_t i = 0; y && i < n; i++) y[i] = value(x, i, bits);
    return y;
}

/* The same numbers as float64 through the reference, then every table against it. */
static int check_error(check *c, const golden_case *g, int type, double bound)
{
    tensors t, wide;
    golden_case as_f64 = *g;
    as_f64.bits = 64;
    const bool good = fill(&t, g);
    memset(&wide, 0, sizeof wide);
    if (good) {
        wide.q = widened(t.q, golden_count(g, GOLDEN_Q), g->bits);
        wide.k = widened(t.k, golden_count(g, GOLDEN_K), g->bits);
        wide.v = widened(t.v, golden_count(g, GOLDEN_V), g->bits);
        wide.out_bytes = t.out_bytes / (size_t)g->bits * 64;
        wide.lse_bytes = t.lse_bytes / (size_t)g->bits * 64;
        wide.out[0] = make(wide.out_bytes);
        wide.lse[0] = make(wide.lse_bytes);
    }
    int code = good && wide.q && wide.k && wide.v && wide.out[0] && wide.lse[0]
                   ? compute(c, &as_f64, QKV_ISA_REFERENCE, &wide, 0)
                   : cli_failed("no memory for case %s", g->name);
    for (int i = 0; i < c->ntables && !code; i++) {
        table *const one = &c->tables[i];
        code = compute(c, g, one->isa, &t, 0);
        if (code) break;
        one->error[type] = row_error(g, t.out[0], (const double *)wide.out[0]);
        if (!(one->error[type] <= bound))
            report(c, qkv_isa_name(one->isa), g->name, "error beyond the bound");
    }
    release(&t);
    release(&wide);
    return code;
}

static const golden_case accuracy[2] = {
    {"accuracy_f32", 32, 1, 1, 1, 32, 2048, 64, 64, GOLDEN_FULL, 0, 0, GOLDEN_GAUSS, 301},
    {"accuracy_f64", 64, 1, 1, 1, 8, 2048, 64, 64, GOLDEN_FULL, 0, 0, GOLDEN_GAUSS, 302},
};

/* ---- the table ------------------------------------------------------------------------------- */

static void find_tables(check *c)
{
    for (int32_t i = 0; i < qkv_isa_count() && c->ntables < MAX_TABLES; i++) {
        const int32_t isa = qkv_isa_id(i);
        if (!qkv_isa_usable(isa)) continue;
        c->tables[c->ntables++].isa = isa;
        if (isa == QKV_ISA_SCALAR || c->base == 0) c->base = isa;
    }
}

static const char *error_text(char *text, double x)
{
    lesson_number_scientific(text, x, 1, 0);
    return text;
}

static void print_table(const check *c)
{
    char n32[LESSON_NUMBER_BYTES], n64[LESSON_NUMBER_BYTES], hashes[32], same[32];
    const uint32_t v = qkv_version();
    printf("qkv %u.%u.%u, contract %d: %d golden cases, %d thread%s\n\n", v >> 16, v >> 8 & 255,
           v & 255, qkv_contract(), c->cases, c->nthreads, c->nthreads == 1 ? "" : "s");
    printf("%-10s%-16s%-16s%12s%12s\n", "kernels", "golden hashes", "bits as scalar", "error f32",
           "error f64");
    for (int i = 0; i < c->ntables; i++) {
        const table *const t = &c->tables[i];
        snprintf(hashes, sizeof hashes, "%d of %d", t->hashes, c->cases);
        snprintf(same, sizeof same, "%d of %d", t->same, c->cases);
        printf("%-10s%-16s%-16s%12s%12s\n", qkv_isa_name(t->isa), hashes,
               t->isa == c->base ? "-" : same, error_text(n32, t->error[0]),
               error_text(n64, t->error[1]));
    }
    printf("%-42s%12s%12s\n", "allowed", error_text(n32, bound_f32), error_text(n64, bound_f64));
    for (int i = 0; i < c->reports && i < MAX_REPORTS; i++)
        printf("%s%s\n", i ? "" : "\n", c->report[i]);
    if (c->reports > MAX_REPORTS) printf("and %d more\n", c->reports - MAX_REPORTS);
    printf("\n%s\n", c->failed ? "DIFFERENT" : "all equal");
}

static int check_all(check *c)
{
    for (int i = 0; i < GOLDEN_NCASES; i++) {
        const golden_case *const g = &golden_cases[i];
        cli_progress(0.9 * i / GOLDEN_NCASES, "golden cases");
        const double work =
            (double)(g->batch * g->heads * g->rows) * (double)g->keys * (double)(g->d + g->d_v);
        if (work > most_work) continue;
        c->cases++;
        const int code = check_case(c, g);
        if (code) return code;
    }
    cli_progress(0.9, "error");
    int code = check_error(c, &accuracy[0], 0, bound_f32);
    if (!code) code = check_error(c, &accuracy[1], 1, bound_f64);
    return code;
}

static int run(const cli_args *args)
{
    static check c;
    qkv_error err = qkv_error_init();
    qkv_pool *pool = NULL;
    c.nthreads = cli_threads(args);
    if (qkv_pool_create(&pool, c.nthreads, NULL, &err)) return cli_library_error(&err);
    c.threads = qkv_pool_threads(pool);
    find_tables(&c);
    int code = check_all(&c);
    qkv_pool_destroy(pool);
    cli_progress_done();
    if (code) return code;
    print_table(&c);
    return c.failed ? CLI_FAILED : CLI_DONE;
}

const cli_command cli_command_check = {
    .name = "check",
    .summary = "whether this build keeps its bits on this machine",
    .about = "For each kernel table that this CPU can run: golden hashes, bits against the scalar "
             "table over the built-in cases, and the error against the float64 reference. Exit "
             "status 1 when anything differs.",
    .options = (const cli_option *const[]){&cli_opt_threads, NULL},
    .examples =
        (const char *const[]){"qkv check", "a table, and exit status 0 when all is equal", NULL},
    .run = run,
};
