/* SPDX-License-Identifier: MIT */
/* spec_forward.c - writes tests/golden/hashes.txt: the bits that docs/numerics.md demands for every
 * case of tests/golden/cases.inc. Written from that page alone; it knows nothing of src/ and no
 * instruction set. spec_attention.inc.c is the arithmetic; here are constants, log2 and the output.
 *
 *     spec_forward               the file, on stdout
 *     spec_forward --check FILE  TAP: does FILE hold exactly this?
 *     spec_forward --dump CASE   every element, inputs too, as a line: what, bit pattern
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/case_data.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float and double operations round to their own type");

enum { MAX_CHANNELS = 1024 };
static const int64_t SPAN_KEYS = 4096; /* 32 blocks of 128 */

/* What is hashed, in the order of a line; the inputs are only dumped. */
enum { OUT, LSE, WEIGHT, SCALED, PARTIAL, NHASHES, IN_Q = NHASHES, IN_K, IN_V };

typedef struct hashes {
    uint64_t of[NHASHES];
    FILE *dump; /* NULL, or where every element goes, a line each */
} hashes;

static void put_bits(hashes *h, int32_t which, uint64_t bits, int32_t width)
{
    static const char name[][8] = {"out", "lse", "weight", "scaled", "partial", "q", "k", "v"};
    if (h->dump) fprintf(h->dump, "%s %0*" PRIx64 "\n", name[which], width / 4, bits);
    if (which < NHASHES) h->of[which] = golden_fnv(h->of[which], bits, width);
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

/* Rule 1: keys 0 ... live - 1 are live for row i, the others excluded. */
static int64_t live_keys(const golden_case *c, int64_t i)
{
    if (!(c->use & GOLDEN_CAUSAL)) return c->keys;
    const int64_t live = i + c->q_offset + 1;
    return live < 0 ? 0 : live > c->keys ? c->keys : live;
}

static int64_t spans_of(int64_t keys)
{
    return (keys + SPAN_KEYS - 1) / SPAN_KEYS;
}

/* The lowest level of the largest node that begins at span `at` and has no span in stop ... spans - 1;
 * what lies beyond the last span does not count. */
static int32_t largest_level(int64_t at, int64_t stop, int64_t spans)
{
    int32_t level = 0;
    int64_t covered = at + 1;
    for (int32_t k = 1; k < 40 && at % ((int64_t)1 << k) == 0; k++) {
        int64_t end = at + ((int64_t)1 << k);
        if (end > spans) end = spans;
        if (end > stop || end == covered) break;
        covered = end;
        level = k;
    }
    return level;
}

/* Rule 11: log2 of a normal x > 0. */
static double spec_log2(double x)
{
    static const double a[11] = {0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1,
                                 0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2,
                                 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3, 0x1.5b9ac9b743f0dp-3,
                                 0x1.3703c1f4d0ffep-3, 0x1.1964ec6fc9491p-3};
    int exponent;
    double z = 2 * frexp(x, &exponent); /* 1 <= z < 2 */
    double k = exponent - 1;
    if (z > 0x1.6a09e667f3bcdp+0) {
        z = z / 2;
        k = k + 1;
    }
    const double s = (z - 1) / (z + 1);
    const double w = s * s;
    double r = a[10];
    for (int32_t i = 9; i >= 0; i--) r = r * w + a[i];
    return k + s * r;
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
#define QUIET_NAN UINT32_C(0x7fc00000)
#include "spec_attention.inc.c"
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
#define QUIET_NAN UINT64_C(0x7ff8000000000000)
#include "spec_attention.inc.c"

static const char head[] =
    "/* Written by tests/spec/spec_forward, never by hand. FNV-1a (64 bits) of the bits that\n"
    " * docs/numerics.md demands: HASHES(case, out, lse, weights, scaled scores, partials). */\n";

static void run_case(const golden_case *c, hashes *h)
{
    for (int32_t i = 0; i < NHASHES; i++) h->of[i] = GOLDEN_FNV_START;
    if (c->bits == 32)
        run_f32(c, h);
    else
        run_f64(c, h);
}

static void line_of(const golden_case *c, char *line, size_t size)
{
    hashes h = {.dump = NULL};
    run_case(c, &h);
    size_t used = (size_t)snprintf(line, size, "HASHES(%s", c->name);
    for (int32_t i = 0; i < NHASHES; i++)
        used += (size_t)snprintf(line + used, size - used, ", 0x%016" PRIx64, h.of[i]);
    snprintf(line + used, size - used, ")\n");
}

static int dump(const char *name)
{
    for (int32_t i = 0; i < GOLDEN_NCASES; i++)
        if (strcmp(golden_cases[i].name, name) == 0) {
            hashes h = {.dump = stdout};
            run_case(&golden_cases[i], &h);
            return 0;
        }
    fprintf(stderr, "spec_forward: no case is called %s\n", name);
    return 2;
}

/* 1 if the file holds exactly what would be written; otherwise names the first difference. */
static int check(FILE *file, const char *path)
{
    char line[256], found[256] = "";
    for (const char *at = head; *at; at++)
        if (getc(file) != *at) {
            printf("# %s: the first two lines differ\n", path);
            return 0;
        }
    for (int32_t i = 0; i < GOLDEN_NCASES; i++) {
        line_of(&golden_cases[i], line, sizeof line);
        if (!fgets(found, sizeof found, file) || strcmp(found, line) != 0) {
            printf("# %s: case %s\n# wanted %s# found  %s\n", path, golden_cases[i].name, line,
                   found);
            return 0;
        }
    }
    if (getc(file) == EOF) return 1;
    printf("# %s: more lines than cases\n", path);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        FILE *const file = fopen(argv[2], "r");
        const int same = file && check(file, argv[2]);
        if (file) fclose(file);
        printf("%sok 1 - %d cases: spec_forward writes tests/golden/hashes.txt\n1..1\n",
               same ? "" : "not ", (int)GOLDEN_NCASES);
        if (!same)
            puts("# a new case: BUILD/tests/spec/spec_forward > tests/golden/hashes.txt\n"
                 "# an existing hash may change only with the contract's version");
        return same ? 0 : 1;
    }
    if (argc == 3 && strcmp(argv[1], "--dump") == 0) return dump(argv[2]);
    if (argc != 1) {
        fputs("usage: spec_forward [--check FILE | --dump CASE]\n", stderr);
        return 2;
    }
    fputs(head, stdout);
    for (int32_t i = 0; i < GOLDEN_NCASES; i++) {
        char line[256];
        line_of(&golden_cases[i], line, sizeof line);
        fputs(line, stdout);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
