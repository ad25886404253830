/* SPDX-License-Identifier: MIT */
/* shared_options.c - the options that mean the same in every subcommand, and what their values say
 * about a run. A command puts `&cli_opt_...` into its table; it never writes such an option anew.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_option cli_opt_q = {
    .name = "q",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Queries: .npy of shape [n,d], [heads,n,d] or [batch,heads,n,d]; - is stdin",
};
const cli_option cli_opt_k = {
    .name = "k",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Keys: the rank of the queries, the same d; its heads divide the query heads",
};
const cli_option cli_opt_v = {
    .name = "v",
    .kind = CLI_FILE,
    .value = "FILE",
    .help = "Values: as many rows and heads as the keys; any number of channels",
};
const cli_option cli_opt_scale = {
    .name = "scale",
    .kind = CLI_TEXT,
    .value = "sqrt|none|dk|X",
    .choices = "sqrt|none|dk",
    .fallback = "sqrt",
    .help = "What a score is multiplied by: sqrt is 1/sqrt(d), none is 1, dk is 1/d, else the "
            "number X",
};
const cli_option cli_opt_causal = {
    .name = "causal",
    .kind = CLI_TEXT,
    .optional_value = true,
    .value = "top-left|bottom-right|SHIFT",
    .choices = "top-left|bottom-right",
    .help = "Query i sees key j only if j <= i + SHIFT: top-left is shift 0, bottom-right is keys "
            "- queries; without a value the two counts must be equal",
};
const cli_option cli_opt_head = {
    .name = "head",
    .kind = CLI_INT,
    .min = 0,
    .max = INT64_MAX,
    .value = "H",
    .help = "Only this query head, counted from 0",
};
const cli_option cli_opt_batch = {
    .name = "batch",
    .kind = CLI_INT,
    .min = 0,
    .max = INT64_MAX,
    .value = "B",
    .help = "Only this batch entry, counted from 0",
};
const cli_option cli_opt_threads = {
    .name = "threads",
    .kind = CLI_INT,
    .min = 1,
    .max = 1024,
    .value = "N",
    .fallback = "all usable CPUs",
    .help = "Threads, 1 to 1024; they never change a bit of the result",
};
const cli_option cli_opt_isa = {
    .name = "isa",
    .kind = CLI_CHOICE,
    .choices = "best|scalar|wide16|avx2|avx512|neon|reference",
    .value = "NAME",
    .fallback = "best",
    .help = "Kernels: best, scalar, wide16, avx2, avx512, neon (all the same bits) or reference "
            "(float64, slow)",
};
const cli_option cli_opt_kernels = {
    .name = "isa",
    .kind = CLI_CHOICE,
    .choices = "best|scalar|wide16|avx2|avx512|neon",
    .value = "NAME",
    .fallback = "best",
    .help = "Kernels: best, scalar, wide16, avx2, avx512 or neon (all the same bits)",
};
const cli_option cli_opt_max_memory = {
    .name = "max-memory",
    .kind = CLI_SIZE,
    .value = "SIZE",
    .fallback = "80 % of what is available",
    .help = "Refuse work that needs more bytes; K, M, G and T are powers of 1024",
};
const cli_option cli_opt_no_clobber = {
    .name = "no-clobber",
    .kind = CLI_FLAG,
    .help = "Refuse to replace a file that exists",
};
const cli_option cli_opt_json = {
    .name = "json",
    .kind = CLI_FLAG,
    .help = "The same as --format json",
};
const cli_option cli_opt_color = {
    .name = "color",
    .kind = CLI_CHOICE,
    .choices = "auto|always|never",
    .value = "WHEN",
    .fallback = "auto",
    .help = "Colour: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always or never",
};

int cli_scale(const cli_args *args, cli_scale_kind *kind, double *value)
{
    const char *const text = cli_text(args, &cli_opt_scale);
    *kind = CLI_SCALE_SQRT;
    *value = (double)NAN;
    if (!text || strcmp(text, "sqrt") == 0) return CLI_DONE;
    if (strcmp(text, "none") == 0) {
        *kind = CLI_SCALE_NONE;
        *value = 1;
    } else if (strcmp(text, "dk") == 0) {
        *kind = CLI_SCALE_DK;
    } else if (cli_parse_real(text, value)) {
        *kind = CLI_SCALE_VALUE;
    } else {
        return cli_refuse("--scale must be sqrt, none, dk or a finite number, not '%s'", text);
    }
    return CLI_DONE;
}

int cli_causal(const cli_args *args, int64_t queries, int64_t keys, bool *use, int64_t *q_offset)
{
    const char *const text = cli_text(args, &cli_opt_causal);
    static const int64_t limit = INT64_C(1) << 62;
    *use = text != NULL;
    *q_offset = 0;
    if (!text || strcmp(text, "top-left") == 0) return CLI_DONE;
    if (*text == 0) {
        if (queries == keys) return CLI_DONE;
        return cli_refuse("--causal needs an alignment for %" PRId64 " quer%s and %" PRId64
                          " key%s: --causal=top-left, --causal=bottom-right or --causal=SHIFT",
                          queries, cli_ies(queries), keys, cli_s(keys));
    }
    if (strcmp(text, "bottom-right") == 0) {
        *q_offset = keys - queries;
        return CLI_DONE;
    }
    if (!cli_parse_int(text, q_offset) || *q_offset > limit || *q_offset < -limit)
        return cli_refuse("--causal must be top-left, bottom-right or an integer shift from -2^62 "
                          "to 2^62, not '%s'",
                          text);
    return CLI_DONE;
}

int cli_isa(const cli_args *args, int32_t *isa)
{
    static const int32_t ids[] = {QKV_ISA_BEST,   QKV_ISA_SCALAR, QKV_ISA_WIDE16,   QKV_ISA_AVX2,
                                  QKV_ISA_AVX512, QKV_ISA_NEON,   QKV_ISA_REFERENCE};
    /* the same names in both, reference last */
    const cli_option *const option =
        cli_given(args, &cli_opt_kernels) ? &cli_opt_kernels : &cli_opt_isa;
    *isa = ids[cli_choice(args, option, 0)];
    if (*isa <= 0 || qkv_isa_usable(*isa)) return CLI_DONE;
    char usable[128];
    size_t n = 0;
    usable[0] = 0;
    for (int32_t i = 0; i < qkv_isa_count() && n + 1 < sizeof usable; i++) {
        const int32_t id = qkv_isa_id(i);
        if (!qkv_isa_usable(id)) continue;
        const int put =
            snprintf(usable + n, sizeof usable - n, "%s%s", n ? ", " : "", qkv_isa_name(id));
        n += (size_t)put;
    }
    return cli_refuse("--isa %s: %s; usable here: %s", cli_text(args, option),
                      qkv_isa_name(*isa) ? "this CPU cannot run it" : "this build does not have it",
                      usable);
}

int32_t cli_threads(const cli_args *args)
{
    const int64_t given = cli_int(args, &cli_opt_threads, 0);
    return given ? (int32_t)given : qkv_pool_cpus();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The first number in a small file after `key` ("" for the start); UINT64_MAX when there is none,
 * as in a cgroup's "max". */
static uint64_t number_in_file(const char *path, const char *key)
{
    char text[4096];
    FILE *const f = fopen(path, "re");
    if (!f) return UINT64_MAX;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    const char *p = strstr(text, key);
    if (!p) return UINT64_MAX;
    p += strlen(key) + strspn(p + strlen(key), " \t");
    if (*p < '0' || *p > '9') return UINT64_MAX;
    uint64_t x = 0;
    for (; *p >= '0' && *p <= '9' && x < UINT64_MAX / 16; p++) x = x * 10 + (uint64_t)(*p - '0');
    return x;
}

/* What this process's cgroup (version 2) still allows, walking up to the root. */
static uint64_t cgroup_room(void)
{
    char line[1024], path[1200];
    FILE *const f = fopen("/proc/self/cgroup", "re");
    if (!f) return UINT64_MAX;
    line[0] = 0;
    while (fgets(line, sizeof line, f) && strncmp(line, "0::", 3) != 0) line[0] = 0;
    fclose(f);
    if (strncmp(line, "0::", 3) != 0) return UINT64_MAX;
    line[strcspn(line, "\n")] = 0;

    uint64_t room = UINT64_MAX;
    for (char *const group = line + 3;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
        const uint64_t most = number_in_file(path, "");
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
        const uint64_t used = number_in_file(path, "");
        if (most != UINT64_MAX && used != UINT64_MAX) {
            const uint64_t left = most > used ? most - used : 0;
            if (left < room) room = left;
        }
        char *const slash = strrchr(group, '/');
        if (!slash) return room;
        *slash = 0;
    }
}

uint64_t cli_max_memory(const cli_args *args)
{
    uint64_t bytes = 0;
    const char *const text = cli_text(args, &cli_opt_max_memory);
    if (text && cli_parse_size(text, &bytes)) return bytes;
    uint64_t room = number_in_file("/proc/meminfo", "MemAvailable:"); /* in kB */
    if (room != UINT64_MAX) room *= 1024;
    const uint64_t group = cgroup_room();
    if (group < room) room = group;
    return room == UINT64_MAX ? room : room / 5 * 4;
}

int cli_check_memory(const cli_args *args, uint64_t bytes, const char *what)
{
    const uint64_t most = cli_max_memory(args);
    if (bytes <= most) return CLI_DONE;
    return cli_refuse("%s needs %" PRIu64 " bytes of memory; the limit is %" PRIu64
                      " (--max-memory)",
                      what, bytes, most);
}
