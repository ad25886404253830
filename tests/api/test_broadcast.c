/* SPDX-License-Identifier: MIT */
/* test_broadcast.c - C39: a mask or bias that says the same for all batches, heads, rows or keys may be
 * written once: with a dimension of 1, or with a stride of 0 in any dimension, the keys' too. Each of the
 * sixteen forms gives the bits of the tensor written out in full, for bools, bits and biases of each type.
 */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>

enum { B = 2, H = 4, SQ = 70, SK = 150, FORMS = 16, KINDS = 6 };

static const int32_t kinds[KINDS] = {QKV_BOOL, QKV_BITS, QKV_F32, QKV_F16, QKV_BF16, QKV_F64};

/* 0, 1, -1, 1/2 and -inf in each type of a bias; a bool keeps but for the last */
static const uint64_t biases[4][5] = {{0, 0x3F800000, 0xBF800000, 0x3F000000, 0xFF800000},
                                      {0, 0x3C00, 0xBC00, 0x3800, 0xFC00},
                                      {0, 0x3F80, 0xBF80, 0x3F00, 0xFF80},
                                      {0, UINT64_C(0x3FF0000000000000),
                                       UINT64_C(0xBFF0000000000000), UINT64_C(0x3FE0000000000000),
                                       UINT64_C(0xFFF0000000000000)}};

/* the number of the place that the form keeps of [b][h][i][j], bit n of it: dimension n is kept */
static int number_at(int form, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t at[4] = {form & 1 ? b : 0, form & 2 ? h : 0, form & 4 ? i : 0, form & 8 ? j : 0};
    const int64_t n = ((at[0] * H + at[1]) * SQ + at[2]) * SK + at[3];
    return (int)(gen_value(391, (uint32_t)n) * 64 + 64) % 5;
}

static void put(unsigned char *mem, int32_t kind, int64_t at, int number)
{
    if (kind == QKV_BOOL) {
        mem[at] = (unsigned char)(number != 4 ? 1 + number : 0);
    } else if (kind == QKV_BITS) {
        mem[at / 8] = (unsigned char)(mem[at / 8] | (number != 4 ? 1 << at % 8 : 0));
    } else {
        const uint64_t bits = biases[kind - QKV_F32][number];
        const uint32_t half = (uint32_t)bits;
        const uint16_t quarter = (uint16_t)bits;
        if (kind == QKV_F64) memcpy(mem + 8 * at, &bits, 8);
        if (kind == QKV_F32) memcpy(mem + 4 * at, &half, 4);
        if (kind == QKV_F16 || kind == QKV_BF16) memcpy(mem + 2 * at, &quarter, 2);
    }
}

/* How the tensor lies: all of it; each dimension that repeats as 1 (but the keys'); by strides of 0. */
typedef enum lying { WHOLE, SHORT, REPEATED, LYINGS } lying;

static qkv_shape lay(int32_t kind, int form, lying how_it_lies, unsigned char **mem)
{
    const int64_t full[4] = {B, H, SQ, SK};
    int64_t dim[4], n = 1;
    for (int i = 0; i < 4; i++) {
        dim[i] = form >> i & 1 || how_it_lies == WHOLE ? full[i] : 1;
        n *= dim[i];
    }
    *mem = calloc((size_t)n + 1, 8);
    assert_non_null(*mem);
    for (int64_t at = 0; at < n; at++) {
        const int64_t j = at % dim[3], i = at / dim[3] % dim[2], plane = at / dim[3] / dim[2];
        put(*mem, kind, at, number_at(form, plane / dim[1], plane % dim[1], i, j));
    }
    qkv_shape s = qkv_shape_dense(kind, dim[0], dim[1], dim[2], dim[3]);
    for (int i = 0; i < 4 && how_it_lies != WHOLE; i++)
        if (how_it_lies == REPEATED || i == 3) { /* keys beyond the last dimension are not seen */
            if (dim[i] == 1) s.stride[i] = 0;
            s.dim[i] = full[i];
        }
    return s;
}

static void run(const prob *p, const qkv_params *usual, int32_t kind, int form, lying how_it_lies,
                int drops, void *out)
{
    qkv_params x = *usual;
    unsigned char *mem;
    const qkv_shape s = lay(kind, form, how_it_lies, &mem);
    const bool bools = kind == QKV_BOOL || kind == QKV_BITS;
    qkv_run_args a = qkv_run_args_init();
    qkv_error e = qkv_error_init();
    qkv_plan *plan = NULL;
    x.use |= bools ? QKV_USE_MASK : QKV_USE_BIAS;
    x.mask_drops = bools && drops;
    *(bools ? &x.mask : &x.bias) = s;
    if (qkv_plan_create(&plan, &x, NULL, &e) != QKV_OK) fail_msg("%s", e.text);
    a.q = p->q;
    a.k = p->k;
    a.v = p->v;
    a.out = out;
    if (bools) a.mask = mem;
    if (!bools) a.bias = mem;
    a.workspace = workspace_new(plan);
    a.workspace_size = qkv_plan_workspace(plan);
    if (qkv_run(plan, &a, &e) != QKV_OK) fail_msg("%s", e.text);
    free(a.workspace);
    free(mem);
    qkv_plan_destroy(plan);
}

/* Odd kinds stand under a causal mask, too, so that tiles are looked at in parts. */
static void all_forms(const prob *p, int32_t isa, int kind, int every)
{
    const size_t bytes = (size_t)prob_nout(p) * type_size(p->dtype);
    void *const want = malloc(bytes), *const got = malloc(bytes);
    qkv_params x = prob_params(p, (how){.isa = isa});
    assert_true(want && got);
    if (kind % 2) x.use |= QKV_USE_CAUSAL;
    x.q_offset = 70;
    for (int form = kind % every; form < FORMS; form += every) {
        const int drops = form % 3 == 0;
        run(p, &x, kinds[kind], form, WHOLE, drops, want);
        for (lying l = SHORT; l < LYINGS; l++) {
            memset(got, 0xA5, bytes);
            run(p, &x, kinds[kind], form, l, drops, got);
            if (memcmp(want, got, bytes) != 0)
                fail_msg("table %d, type %d: kind %d, form %d, lying %d", (int)isa, (int)p->dtype,
                         (int)kinds[kind], form, (int)l);
        }
    }
    free(want);
    free(got);
}

static void what_repeats_may_be_written_once(void **state)
{
    (void)state;
    int32_t isa[9];
    int n = usable_isas(isa);
    isa[n++] = QKV_ISA_REFERENCE;
    for (int i = 0; i < n * 2; i++) {
        const bool slow = isa_is_slow(isa[i / 2], QKV_F32) || isa[i / 2] == QKV_ISA_REFERENCE;
        prob p = prob_new(i % 2 ? QKV_F64 : QKV_F32, B, H, 2, SQ, SK, 4, 3);
        prob_gen(&p, 391, 392, 393);
        for (int kind = 0; kind < KINDS; kind++) {
            all_forms(&p, isa[i / 2], kind, slow ? 7 : sanitized() ? 3 : 1);
        }
        prob_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_repeats_may_be_written_once)};
    return cmocka_run_group_tests_name("broadcast", tests, NULL, NULL);
}
