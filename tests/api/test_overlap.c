/* SPDX-License-Identifier: MIT */
/* test_overlap.c - every piece of memory that a call writes, upon every other that it touches: by its
 * last bytes and by its first. Refused, both named, not a byte changed; side by side they are fine.
 *
 * One table of buffers serves qkv_run() twice (batches with all that can be added to a score; packed
 * sequences), qkv_run_partial() and qkv_partial_finish().
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 2, SQ = 3, SK = 5, D = 4, ROWS = B * H * SQ, SHARE = 8 };
enum { ARENA = 1 << 20, HOME = 64, MIDDLE = 1 << 19 };

typedef enum door { RUN, RUN_PACKED, PART, FINISH, DOORS } door;

/* Whose member points at it: the arguments', the rows to show, the part, or an argument by itself. */
typedef enum owner { ARGS, SHOW, THE_PART, THE_PARTS } owner;

typedef struct buffer {
    const char *arg;
    owner of;
    size_t member;
    bool written;
    unsigned doors; /* a bit for each */
    int64_t bytes;
    int64_t at; /* offset in the arena */
} buffer;

enum { ANY_RUN = 1 << RUN | 1 << RUN_PACKED, FROM_KEYS = ANY_RUN | 1 << PART, ALL = 15 };
enum { ENDS = 1 << RUN | 1 << RUN_PACKED | 1 << FINISH, BATCHES = 1 << RUN | 1 << PART };

#define OF_ARGS(x) ARGS, offsetof(qkv_run_args, x)
#define OF_SHOW(x) SHOW, offsetof(qkv_show, x)

static const buffer table[] = {
    {"args.out", OF_ARGS(out), true, ENDS, ROWS *D * 4, 0},
    {"args.lse", OF_ARGS(lse), true, ENDS, ROWS * 4, 0},
    {"args.row_max", OF_ARGS(row_max), true, FROM_KEYS, ROWS * 4, 0},
    {"args.key_sums", OF_ARGS(key_sums), true, ANY_RUN, B *H *SK * 4, 0},
    {"args.workspace", OF_ARGS(workspace), true, ALL, 0, 0},
    {"args.show.scaled", OF_SHOW(scaled), true, ANY_RUN, B *H * 2 * SK * 4, 0},
    {"args.show.capped", OF_SHOW(capped), true, ANY_RUN, B *H * 2 * SK * 4, 0},
    {"args.show.masked", OF_SHOW(masked), true, ANY_RUN, B *H * 2 * SK * 4, 0},
    {"args.show.weight", OF_SHOW(weight), true, ANY_RUN, B *H * 2 * SK * 4, 0},
    {"args.show.keep", OF_SHOW(keep), true, ANY_RUN, B *H * 2 * SK, 0},
    {"part.data", THE_PART, offsetof(qkv_partial, data), true, 1 << PART, ROWS *(D + 2) * 4, 0},
    {"args.q", OF_ARGS(q), false, FROM_KEYS, ROWS *D * 4, 0},
    {"args.k", OF_ARGS(k), false, FROM_KEYS, B *H *SK *D * 4, 0},
    {"args.v", OF_ARGS(v), false, FROM_KEYS, B *H *SK *D * 4, 0},
    {"args.mask", OF_ARGS(mask), false, FROM_KEYS, 0, 0},
    {"args.bias", OF_ARGS(bias), false, FROM_KEYS, 0, 0},
    {"args.slopes", OF_ARGS(slopes), false, FROM_KEYS, H * 4, 0},
    {"args.sinks", OF_ARGS(sinks), false, ALL, H * 4, 0},
    {"args.kv_len", OF_ARGS(kv_len), false, BATCHES, B * 8, 0},
    {"args.q_len", OF_ARGS(q_len), false, BATCHES, B * 8, 0},
    {"args.kv_start", OF_ARGS(kv_start), false, BATCHES, B * 8, 0},
    {"args.q_offset", OF_ARGS(q_offset), false, BATCHES, B * 8, 0},
    {"args.cu_q", OF_ARGS(cu_q), false, 1 << RUN_PACKED, 3 * 8, 0},
    {"args.cu_k", OF_ARGS(cu_k), false, 1 << RUN_PACKED, 3 * 8, 0},
    {"args.show.rows", OF_SHOW(rows), false, ANY_RUN, 2 * 8, 0},
    {"args.cancel", OF_ARGS(cancel), false, ALL, 4, 0},
    {"part.data", THE_PART, offsetof(qkv_partial, data), false, 1 << FINISH, ROWS *(D + 2) * 4, 0},
    {"parts", THE_PARTS, 0, false, 1 << FINISH, sizeof(qkv_partial), 0},
    {"plan", THE_PARTS, 0, false, ALL, 0, 0},
};
enum { BUFFERS = sizeof table / sizeof table[0], PLAN = BUFFERS - 1, PARTS = BUFFERS - 2 };

typedef struct scene {
    door way;
    unsigned char *arena, *before;
    buffer b[BUFFERS];
    qkv_plan *plan;
    size_t plan_size;
    int64_t sequences, edges[2][3];
} scene;

static qkv_params params_of(door way)
{
    qkv_params p = qkv_params_init();
    const int64_t batch = way == RUN_PACKED ? 1 : B, rows = way == RUN_PACKED ? B * SQ : SQ;
    const int64_t keys = way == RUN_PACKED ? B * SK : SK;
    p.q = qkv_shape_dense(QKV_F32, batch, H, rows, D);
    p.k = p.v = qkv_shape_dense(QKV_F32, batch, H, keys, D);
    p.out = qkv_shape_dense(QKV_F32, batch, H, rows, D);
    p.mask = qkv_shape_dense(QKV_BOOL, 1, 1, way == RUN_PACKED ? 1 : SQ, keys);
    p.bias = qkv_shape_dense(QKV_F32, 1, 1, way == RUN_PACKED ? 1 : SQ, keys);
    p.use = QKV_USE_MASK | QKV_USE_BIAS | QKV_USE_ALIBI | QKV_USE_SINK;
    p.use |= way == RUN_PACKED
                 ? QKV_USE_PACKED
                 : QKV_USE_KV_LEN | QKV_USE_Q_LEN | QKV_USE_KV_START | QKV_USE_Q_OFFSETS;
    if (way == RUN || way == RUN_PACKED) p.use |= QKV_USE_KEY_SUMS;
    p.sequences = B;
    return p;
}

static bool used(const scene *s, int i)
{
    return (table[i].doors >> s->way & 1) != 0;
}

/* Everything at a place of its own; the plan never moves, and has room on both sides. */
static void spread(scene *s)
{
    int64_t at = HOME;
    for (int i = 0; i < BUFFERS; i++) {
        s->b[i].at = at;
        at += (s->b[i].bytes + 127) / 64 * 64;
    }
    assert_true(at < MIDDLE / 2);
    s->b[PLAN].at = MIDDLE + MIDDLE / 2;
}

static scene scene_new(door way)
{
    scene s = {.way = way, .arena = aligned_alloc(64, ARENA), .before = malloc(ARENA)};
    assert_non_null(s.arena);
    assert_non_null(s.before);
    const qkv_params p = params_of(way);
    qkv_error e = qkv_error_init();
    memcpy(s.b, table, sizeof table);
    for (int i = 0; i < BUFFERS; i++) {
        if (strcmp(s.b[i].arg, "args.mask") == 0) s.b[i].bytes = p.mask.dim[2] * p.mask.dim[3];
        if (strcmp(s.b[i].arg, "args.bias") == 0) s.b[i].bytes = p.bias.dim[2] * p.bias.dim[3] * 4;
    }
    s.plan_size = (size_t)(s.b[PLAN].bytes = (int64_t)qkv_plan_size());
    for (int twice = 0; twice < 2;
         twice++) { /* where the plan lies follows from the workspace's size */
        spread(&s);
        memset(s.arena, 0, ARENA);
        if (qkv_plan_place(&s.plan, s.arena + s.b[PLAN].at, s.plan_size, &p, &e) != QKV_OK)
            fail_msg("%s", e.text);
        for (int i = 0; i < BUFFERS; i++)
            if (strcmp(s.b[i].arg, "args.workspace") == 0)
                s.b[i].bytes = (int64_t)qkv_plan_workspace(s.plan);
    }
    return s;
}

static void scene_free(scene *s)
{
    free(s->arena);
    free(s->before);
}

/* The call with every buffer where the scene has it; fills what must hold something. */
static qkv_status call(const scene *s, qkv_error *err)
{
    static const int64_t edges[2][3] = {{0, 2, B * SQ}, {0, 4, B * SK}};
    qkv_run_args a = qkv_run_args_init();
    qkv_show show = qkv_show_init();
    qkv_partial part = qkv_partial_init();
    qkv_partial *parts = NULL;
    for (int i = 0; i < BUFFERS; i++) {
        unsigned char *const x = s->arena + s->b[i].at;
        char *const to[3] = {(char *)&a, (char *)&show, (char *)&part};
        if (!used(s, i)) continue;
        if (table[i].of != THE_PARTS) memcpy(to[table[i].of] + table[i].member, &x, sizeof x);
        if (strcmp(table[i].arg, "args.cu_q") == 0) memcpy(x, edges[0], sizeof edges[0]);
        if (strcmp(table[i].arg, "args.cu_k") == 0) memcpy(x, edges[1], sizeof edges[1]);
    }
    a.workspace_size = qkv_plan_workspace(s->plan);
    show.nrows = 2;
    part.key_end = SK;
    part.data_size = ROWS * (D + 2) * 4;
    if (s->way == RUN || s->way == RUN_PACKED) a.show = &show;
    if (s->way == FINISH) parts = memcpy(s->arena + s->b[PARTS].at, &part, sizeof part);
    memcpy(s->before, s->arena, ARENA);
    return s->way == PART     ? qkv_run_partial(s->plan, &a, &part, err)
           : s->way == FINISH ? qkv_partial_finish(s->plan, &a, parts, 1, err)
                              : qkv_run(s->plan, &a, err);
}

static bool named(const qkv_error *e, const scene *s, int x)
{
    return strcmp(e->arg, s->b[x].arg) == 0;
}

/* Output o by so many bytes upon x: both somewhere in the middle, or o upon the plan. */
static bool put(scene *s, int o, int x, int64_t shared, bool before)
{
    const bool workspace = strcmp(s->b[o].arg, "args.workspace") == 0;
    const int fixed = x == PLAN || workspace ? (x == PLAN ? PLAN : o) : x,
              moves = fixed == o ? x : o;
    if (x == PLAN && (workspace || !before)) return false;        /* neither can move by bytes */
    if (strcmp(s->b[x].arg, "args.workspace") == 0) return false; /* the other way round is tried */
    spread(s);
    if (fixed != PLAN) s->b[fixed].at = MIDDLE;
    s->b[moves].at = before ? s->b[fixed].at - s->b[moves].bytes + shared
                            : s->b[fixed].at + s->b[fixed].bytes - shared;
    return s->b[moves].at % 4 == 0 || strcmp(s->b[moves].arg, "args.show.keep") == 0 ||
           strcmp(s->b[moves].arg, "args.mask") == 0;
}

static void every_output_upon_all_else(void **state)
{
    (void)state;
    static const int least[DOORS] = {400, 300, 75, 25};
    for (int way = 0; way < DOORS; way++) {
        scene s = scene_new((door)way);
        int pairs = 0;
        qkv_error e = qkv_error_init();
        spread(&s);
        if (call(&s, &e) != QKV_OK) fail_msg("door %d, all apart: %s", way, e.text);
        for (int o = 0; o < BUFFERS; o++)
            for (int x = 0; x < BUFFERS; x++)
                for (int n = 0; n < 4; n++) {
                    if (o == x || !used(&s, o) || !used(&s, x) || !table[o].written) continue;
                    const bool meet = n < 2;
                    e = qkv_error_init();
                    memset(s.arena + MIDDLE / 2, 0, MIDDLE / 2 + MIDDLE / 4);
                    if (!put(&s, o, x, meet ? SHARE : 0, n % 2)) continue;
                    const qkv_status status = call(&s, &e);
                    if (!meet && status != QKV_OK)
                        fail_msg("door %d, %s beside %s: %s", way, table[o].arg, table[x].arg,
                                 e.text);
                    if (!meet) continue;
                    pairs++;
                    if (status != QKV_EARG || !(named(&e, &s, o) || named(&e, &s, x)))
                        fail_msg("door %d, %s upon %s: %s %s", way, table[o].arg, table[x].arg,
                                 qkv_status_name(status), e.text);
                    assert_non_null(strstr(e.text, table[o].arg));
                    assert_non_null(strstr(e.text, table[x].arg));
                    assert_memory_equal(s.before, s.arena, ARENA);
                }
        if (pairs < least[way]) fail_msg("door %d: %d pairs", way, pairs);
        scene_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_output_upon_all_else)};
    return cmocka_run_group_tests_name("overlap", tests, NULL, NULL);
}
