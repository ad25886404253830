/* SPDX-License-Identifier: MIT */
/* bench_data.c - the numbers that `qkv bench` computes with: tensors of about N(0,1), a mask and a
 * bias in which half of the 128 x 128 tiles are dead. The same on every machine.
 *
 * Rows share them: a tensor of each type, as large as the largest row needs. The first head's mask
 * is the one mask of rows that have one for all heads.
 */
#include "cli/bench_rows.h"

#include <math.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return x;
}

/* The sum of four uniforms, made to have variance 1. */
static double next_normal(uint64_t *state)
{
    const uint64_t x = next_random(state);
    const uint64_t sum = (x & 65535) + (x >> 16 & 65535) + (x >> 32 & 65535) + (x >> 48);
    return ((double)sum - 131070.0) * (1.7320508075688772 / 65536.0);
}

/* Of a number below 4 in size; below 2^-14 it becomes zero. */
static uint16_t to_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest < 0x38800000u) return (uint16_t)sign;
    return (uint16_t)(sign | ((rest - 0x38000000u + 0x1000u) >> 13));
}

static uint16_t to_bfloat(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x8000u) >> 16);
}

static void fill(void *to, int32_t dtype, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        const double x = next_normal(state);
        if (dtype == QKV_F64)
            ((double *)to)[i] = x;
        else if (dtype == QKV_F32)
            ((float *)to)[i] = (float)x;
        else
            ((uint16_t *)to)[i] = dtype == QKV_F16 ? to_half((float)x) : to_bfloat((float)x);
    }
}

/* Which of the tiles of one head are dead: exactly half of them, drawn without repeats. */
static void draw_tiles(uint8_t *dead, size_t ntiles, uint64_t *state)
{
    size_t wanted = ntiles / 2;
    for (size_t i = 0; i < ntiles; i++) {
        dead[i] = (next_random(state) >> 20) % (ntiles - i) < wanted;
        wanted -= dead[i];
    }
}

/* look and bias of [heads][s][s]; either may be NULL. */
static void fill_masks(uint8_t *look, float *bias, size_t heads, size_t s, uint64_t *state)
{
    enum { MOST_TILES = 64 * 64 };
    static uint8_t dead[MOST_TILES];
    const size_t across = s / BENCH_TILE;
    for (size_t h = 0; h < heads; h++) {
        draw_tiles(dead, across * across, state);
        for (size_t i = 0; i < s; i++)
            for (size_t j = 0; j < s; j++) {
                const size_t at = (h * s + i) * s + j;
                const bool seen = !dead[i / BENCH_TILE * across + j / BENCH_TILE];
                if (look) look[at] = seen;
                /* any number does: 33 of them in turn */
                if (bias) bias[at] = seen ? (float)(at % 33) * 0.125f - 2.0f : -INFINITY;
            }
    }
}

static int no_memory(size_t bytes)
{
    return cli_failed("no memory for %zu bytes", bytes);
}

static int make_masks(bench_data *data, const bench_row *rows, int nrows, uint64_t *state)
{
    size_t look = 0, bias = 0, heads = 0, s = 0;
    for (int i = 0; i < nrows; i++) {
        const bench_row *const r = &rows[i];
        if (r->mask < BENCH_BOOL) continue;
        heads = (size_t)r->heads; /* of one size all, see bench_list.c */
        s = (size_t)r->s;
        const size_t n = heads * s * s;
        if (r->mask <= BENCH_BOOL_HEADS)
            look = n;
        else
            bias = n * sizeof(float);
    }
    if (look && !(data->look = bench_alloc(look))) return no_memory(look);
    data->look_bytes = look;
    if (bias && !(data->bias = bench_alloc(bias))) return no_memory(bias);
    data->bias_bytes = bias;
    if (look || bias) fill_masks((uint8_t *)data->look, (float *)data->bias, heads, s, state);
    return CLI_DONE;
}

int bench_data_make(bench_data *data, const bench_row *rows, int nrows)
{
    int64_t most[7][2] = {{0}}; /* elements of q and out, of k and v */
    for (int i = 0; i < nrows; i++) {
        const bench_row *const r = &rows[i];
        const int64_t n[2] = {r->heads * r->rows * r->d, r->kv_heads * r->s * r->d};
        for (int t = 0; t < 2; t++)
            if (n[t] > most[r->dtype][t]) most[r->dtype][t] = n[t];
    }
    uint64_t state = UINT64_C(88172645463325252);
    for (int32_t dtype = QKV_F32; dtype <= QKV_F64; dtype++) {
        const size_t one = dtype == QKV_F64 ? 8 : dtype == QKV_F32 ? 4 : 2;
        for (int t = 0; t < 4 && most[dtype][1]; t++) {
            const size_t n = (size_t)most[dtype][t == 1 || t == 2];
            cli_progress(0.16 + 0.01 * dtype, "making data");
            data->tensor_bytes[dtype][t] = n * one;
            if (!(data->tensor[dtype][t] = bench_alloc(n * one))) return no_memory(n * one);
            if (t < 3) fill(data->tensor[dtype][t], dtype, n, &state);
        }
    }
    return make_masks(data, rows, nrows, &state);
}

void bench_data_free(bench_data *data)
{
    for (int32_t dtype = 0; dtype < 7; dtype++)
        for (int t = 0; t < 4; t++)
            bench_free(data->tensor[dtype][t], data->tensor_bytes[dtype][t]);
    bench_free(data->look, data->look_bytes);
    bench_free(data->bias, data->bias_bytes);
}
