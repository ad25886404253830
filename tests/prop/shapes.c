/* SPDX-License-Identifier: MIT */
/* shapes.c - see shapes.h. The same seed gives the same problems on every machine. */
#include "shapes.h"

#include <stdio.h>

double work_limit(int32_t isa, int32_t dtype)
{
    if (isa == QKV_ISA_REFERENCE) return 2e6;
    if (!isa_is_slow(isa, dtype)) return 4e7;
    return (dtype == QKV_F64 ? 2.5e5 : 2e6) / (sanitized() ? 8 : 1);
}

static int64_t head_dim(rng *r)
{
    static const int64_t usual[] = {16, 32, 64, 80, 96, 128, 192};
    const int64_t kind = rng_range(r, 0, 9);
    if (kind < 2) return usual[rng_range(r, 0, 6)];
    if (kind == 2) return rng_range(r, 120, 150); /* around the end of a channel group */
    return rng_range(r, 1, 40);
}

static int64_t key_count(rng *r)
{
    const int64_t kind = rng_range(r, 0, 99);
    if (kind < 8) return rng_range(r, 4097, 9000);
    if (kind < 40) return rng_range(r, 129, 700);
    if (kind < 50) return 128 * rng_range(r, 1, 4) + rng_range(r, -1, 1);
    return rng_range(r, 1, 128);
}

prob random_prob(rng *r, double most_work)
{
    const int32_t dtype = rng_range(r, 0, 2) == 0 ? QKV_F64 : QKV_F32;
    int64_t hkv = rng_range(r, 1, 3), group = rng_range(r, 1, 3), b = rng_range(r, 1, 3);
    const int64_t sk = key_count(r);
    int64_t d = head_dim(r), dv = head_dim(r);
    int64_t sq = rng_range(r, 0, 3) ? rng_range(r, 1, 60) : rng_range(r, 1, 300);
    if (sk > 4096) { /* long and thin */
        hkv = b = 1;
        d = 1 + d % 24;
        dv = 1 + dv % 24;
    }
    while (b > 1 && (double)(b * hkv * group * sk * (d + dv)) > most_work) b--;
    while (group > 1 && (double)(b * hkv * group * sk * (d + dv)) > most_work) group--;
    while (hkv > 1 && (double)(b * hkv * group * sk * (d + dv)) > most_work) hkv--;
    const double row = (double)(b * hkv * group) * (double)sk * (double)(d + dv);
    if (row * (double)sq > most_work) sq = (int64_t)(most_work / row);
    if (sq < 1) sq = 1;
    prob p = prob_new(dtype, b, hkv * group, hkv, sq, sk, d, dv);
    prob_normal(&p, r);
    const int64_t causal = rng_range(r, 0, 5);
    if (causal < 2) prob_causal(&p, sk - sq);
    if (causal == 2) prob_causal(&p, rng_range(r, -sq, sk));
    if (rng_range(r, 0, 3) == 0) prob_scale(&p, rng_normal(r));
    return p;
}

prob random_long_prob(rng *r, int spans)
{
    const int64_t sk = 4096 * (spans - 1) + rng_range(r, 1, 4096);
    const int32_t dtype = rng_range(r, 0, 2) == 0 ? QKV_F64 : QKV_F32;
    prob p = prob_new(dtype, 1, 2, rng_range(r, 1, 2), rng_range(r, 1, 6), sk, rng_range(r, 1, 12),
                      rng_range(r, 1, 12));
    prob_normal(&p, r);
    if (rng_range(r, 0, 1)) prob_causal(&p, rng_range(r, sk / 2, sk));
    return p;
}

void mix_count(mix *m, const prob *p)
{
    m->cases++;
    m->beyond_block += p->sk > 128;
    m->beyond_span += p->sk > 4096;
    m->odd_d += p->d % 4 != 0;
    m->causal += (p->use & QKV_USE_CAUSAL) != 0;
    m->f64 += p->dtype == QKV_F64;
}

void mix_check(const mix *m)
{
    print_message("# %d cases, %d beyond a block, %d beyond a span, %d with d mod 4, %d causal, "
                  "%d f64\n",
                  m->cases, m->beyond_block, m->beyond_span, m->odd_d, m->causal, m->f64);
    if (m->cases < 40) return; /* too few to ask for shares */
    assert_true(m->beyond_block * 100 >= m->cases * 20);
    assert_true(m->beyond_span * 100 >= m->cases * 3);
    assert_true(m->odd_d * 100 >= m->cases * 30);
    assert_true(m->causal * 100 >= m->cases * 20);
    assert_true(m->f64 * 100 >= m->cases * 15);
}

const char *prob_text(const prob *p)
{
    static char text[200];
    snprintf(text, sizeof text, "type %d, b %d, heads %d/%d, %d x %d, d %d/%d, use %d, offset %lld",
             (int)p->dtype, (int)p->b, (int)p->hq, (int)p->hkv, (int)p->sq, (int)p->sk, (int)p->d,
             (int)p->dv, (int)p->use, (long long)p->q_offset);
    return text;
}
