/* SPDX-License-Identifier: MIT */
/* spec_forward.c - writes the golden hashes: the bits that docs/numerics.md demands for every case of
 * tests/golden/cases.inc and features.inc. Written from that page alone; it knows nothing of src/ and
 * no instruction set. spec_rules.h and spec_attention.inc.c are the arithmetic; here are the
 * polynomial's constants and the output.
 *
 *     spec_forward             hashes.txt on stdout
 *     spec_forward --features  feature_hashes.txt on stdout
 *     spec_forward --check HASHES FEATURE_HASHES   TAP: do the files hold exactly this?
 *     spec_forward --dump CASE [WHAT,...]   elements, inputs too, as a line each: what, bit pattern
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec_rules.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float and double operations round to their own type");

enum { MAX_CHANNELS = 1024 };

/* What is hashed, in the order of a line (hashes.txt ends with partial); inputs are only dumped. */
enum {
    OUT,
    LSE,
    WEIGHT,
    SCALED,
    PARTIAL,
    NHASHES,
    CAPPED = NHASHES,
    MASKED,
    ROW_MAX,
    KEY_SUMS,
    KEEP,
    NFEATURE_HASHES,
    IN_Q = NFEATURE_HASHES,
    IN_K,
    IN_V,
    IN_BOOL,
    IN_BIAS
};

typedef struct hashes {
    uint64_t of[NFEATURE_HASHES];
    FILE *dump;         /* NULL, or where elements go, a line each */
    const char *wanted; /* these, as ",out,lse,"; NULL: all */
} hashes;

static void put_bits(hashes *h, int32_t which, uint64_t bits, int32_t width)
{
    static const char name[][10] = {",out,",    ",lse,",    ",weight,", ",scaled,",  ",partial,",
                                    ",capped,", ",masked,", ",rowmax,", ",keysums,", ",keep,",
                                    ",q,",      ",k,",      ",v,",      ",bool,",    ",bias,"};
    const int32_t length = (int32_t)strlen(name[which]) - 2;
    if (h->dump && (!h->wanted || strstr(h->wanted, name[which])))
        fprintf(h->dump, "%.*s %0*" PRIx64 "\n", length, name[which] + 1, width / 4, bits);
    if (which < NFEATURE_HASHES) h->of[which] = golden_fnv(h->of[which], bits, width);
}

static void *grab(int64_t count, size_t size)
{
    void *const p = calloc((size_t)count + 1, size);
    if (!p) {
        fputs("spec_forward: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static const float exp2_c_f32[6] = {
    1, 0x1.62e42ap-1F, 0x1.ebf9bcp-3F, 0x1.c6b752p-5F, 0x1.3cea88p-7F, 0x1.5bba18p-10F};
static const double exp2_c_f64[12] = {1,
                                      0x1.62e42fefa39efp-1,
                                      0x1.ebfbdff82c5a4p-3,
                                      0x1.c6b08d7049fe8p-5,
                                      0x1.3b2ab6fba011bp-7,
                                      0x1.5d87fe78cd6a8p-10,
                                      0x1.4309130ed8914p-13,
                                      0x1.ffcbfba98cdffp-17,
                                      0x1.62bfc79de2854p-20,
                                      0x1.b5267cc67b52ep-24,
                                      0x1.e61b4e984e8adp-28,
                                      0x1.e79bdde3bcf71p-32};

#define T float
#define UINT uint32_t
#define SINT int32_t
#define NAME(x) x##_f32
#define TYPE_BITS 32
#define MANTISSA 23
#define DEAD 127.0F
#define EXP2_N 5
#define FMA fmaf
#define RINT rintf
#define MAX FLT_MAX
#define QUIET_NAN UINT32_C(0x7fc00000)
#include "spec_attention.inc.c"
#include "spec_run.inc.c"
#undef T
#undef UINT
#undef SINT
#undef NAME
#undef TYPE_BITS
#undef MANTISSA
#undef DEAD
#undef EXP2_N
#undef FMA
#undef RINT
#undef MAX
#undef QUIET_NAN

#define T double
#define UINT uint64_t
#define SINT int64_t
#define NAME(x) x##_f64
#define TYPE_BITS 64
#define MANTISSA 52
#define DEAD 1023.0
#define EXP2_N 11
#define FMA fma
#define RINT rint
#define MAX DBL_MAX
#define QUIET_NAN UINT64_C(0x7ff8000000000000)
#include "spec_attention.inc.c"
#include "spec_run.inc.c"

static const char head[] =
    "/* Written by tests/spec/spec_forward, never by hand. FNV-1a (64 bits) of the bits that\n"
    " * docs/numerics.md demands: HASHES(case, out, lse, weights, scaled scores, partials). */\n";
static const char feature_head[] = "/* Written by tests/spec/spec_forward --features, never by "
                                   "hand. FNV-1a (64 bits) of the bits that\n"
                                   " * docs/numerics.md demands: HASHES(case, out, lse, weights, "
                                   "scaled scores, partials, capped scores,\n"
                                   " * masked scores, row maxima, key sums, keep-mask). */\n";

static void run_case(const feature_case *c, hashes *h)
{
    for (int32_t i = 0; i < NFEATURE_HASHES; i++) h->of[i] = GOLDEN_FNV_START;
    if (c->base.bits == 32)
        run_f32(c, h);
    else
        run_f64(c, h);
}

/* A case of cases.inc as one of features.inc. */
static feature_case plain_case(const golden_case *g)
{
    feature_case c;
    memset(&c, 0, sizeof c);
    c.base = *g;
    c.offset = g->q_offset;
    if (g->use & GOLDEN_CAUSAL) c.with |= FEATURE_CAUSAL;
    if (g->use & GOLDEN_SCALE) c.with |= FEATURE_SCALE;
    return c;
}

static void line_of(const feature_case *c, int32_t nhashes, char *line, size_t size)
{
    hashes h = {.dump = NULL};
    run_case(c, &h);
    size_t used = (size_t)snprintf(line, size, "HASHES(%s", c->base.name);
    for (int32_t i = 0; i < nhashes; i++)
        used += (size_t)snprintf(line + used, size - used, ", 0x%016" PRIx64, h.of[i]);
    snprintf(line + used, size - used, ")\n");
}

/* Line i of hashes.txt or feature_hashes.txt; 0 beyond the last. */
static int numbered_line(int features, int32_t i, char *line, size_t size)
{
    if (i >= (features ? (int32_t)FEATURE_NCASES : (int32_t)GOLDEN_NCASES)) return 0;
    if (features) {
        line_of(&feature_cases[i], NFEATURE_HASHES, line, size);
        return 1;
    }
    const feature_case c = plain_case(&golden_cases[i]);
    line_of(&c, NHASHES, line, size);
    return 1;
}

/* The masks that a case makes, key by key of each row. */
static void dump_masks(const feature_case *c, hashes *h)
{
    const int64_t rows = c->base.batch * c->base.heads * c->base.rows;
    const int32_t type = feature_type(c, c->bias_type);
    for (int64_t n = 0; n < rows; n++) {
        const int64_t b = n / c->base.rows / c->base.heads, h0 = n / c->base.rows % c->base.heads;
        const int64_t i = n % c->base.rows;
        for (int64_t j = 0; c->with & FEATURE_BOOL && j < feature_bool_keys(c); j++)
            put_bits(h, IN_BOOL, (uint64_t)feature_bool(c, b, h0, i, j), 8);
        for (int64_t j = 0; c->with & FEATURE_BIAS && j < feature_bias_keys(c); j++)
            put_bits(h, IN_BIAS, narrowed(widened(feature_bias(c, b, h0, i, j), type), GOLDEN_F64),
                     64);
    }
}

static int dump(const char *name, const char *wanted)
{
    hashes h = {.dump = stdout};
    char list[100];
    snprintf(list, sizeof list, ",%s,", wanted ? wanted : "");
    if (wanted) h.wanted = list;
    for (int32_t i = 0; i < GOLDEN_NCASES; i++)
        if (strcmp(golden_cases[i].name, name) == 0) {
            const feature_case c = plain_case(&golden_cases[i]);
            run_case(&c, &h);
            return 0;
        }
    for (int32_t i = 0; i < FEATURE_NCASES; i++)
        if (strcmp(feature_cases[i].base.name, name) == 0) {
            dump_masks(&feature_cases[i], &h);
            run_case(&feature_cases[i], &h);
            return 0;
        }
    fprintf(stderr, "spec_forward: no case is called %s\n", name);
    return 2;
}

/* 1 if the file holds exactly what would be written; otherwise names the first difference. */
static int same(FILE *file, const char *path, int features)
{
    char line[512], found[512] = "";
    for (const char *at = features ? feature_head : head; *at; at++)
        if (getc(file) != *at) {
            printf("# %s: the first lines differ\n", path);
            return 0;
        }
    for (int32_t i = 0; numbered_line(features, i, line, sizeof line); i++)
        if (!fgets(found, sizeof found, file) || strcmp(found, line) != 0) {
            printf("# %s:\n# wanted %s# found  %s\n", path, line, found);
            return 0;
        }
    if (getc(file) == EOF) return 1;
    printf("# %s: more lines than cases\n", path);
    return 0;
}

static int check(const char *path, int features)
{
    FILE *const file = fopen(path, "r");
    const int right = file && same(file, path, features);
    if (file) fclose(file);
    printf("%sok %d - %d cases: spec_forward writes %s\n", right ? "" : "not ", features + 1,
           features ? (int)FEATURE_NCASES : (int)GOLDEN_NCASES,
           features ? "tests/golden/feature_hashes.txt" : "tests/golden/hashes.txt");
    if (!right)
        puts("# a new case: BUILD/tests/spec/spec_forward [--features] > the file\n"
             "# an existing hash may change only with the contract's version");
    return right;
}

int main(int argc, char **argv)
{
    const int features = argc == 2 && strcmp(argv[1], "--features") == 0;
    if (argc == 4 && strcmp(argv[1], "--check") == 0) {
        puts("1..2");
        const int plain = check(argv[2], 0);
        return check(argv[3], 1) && plain ? 0 : 1;
    }
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2], argc == 4 ? argv[3] : NULL);
    if (argc != 1 && !features) {
        fputs("usage: spec_forward [--features | --check FILE FILE | --dump CASE [WHAT,...]]\n",
              stderr);
        return 2;
    }
    fputs(features ? feature_head : head, stdout);
    char line[512];
    for (int32_t i = 0; numbered_line(features, i, line, sizeof line); i++) fputs(line, stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
