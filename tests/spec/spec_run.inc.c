/* SPDX-License-Identifier: MIT */
/* spec_run.inc.c - all rows of a case, one after another, for one type: reads the tensors, follows
 * docs/numerics.md through spec_attention.inc.c, and puts every element that is hashed in its order.
 *
 * Invariant: a row is computed from nothing but its own query, the keys of its sequence and the case.
 */

typedef struct NAME(tensors) {
    T *q, *k, *v, *sums; /* widened; sums [batch][head][key] */
    T *t, *capped, *scaled, *w;
    uint8_t *live, *kept;
} NAME(tensors);

/* The tensor's elements in the run's type (rule 14). */
static T *NAME(tensor)(const feature_case *c, int32_t tensor, hashes *h)
{
    const int64_t count = golden_count(&c->base, tensor);
    const int32_t type = feature_tensor_type(c, tensor), bytes = feature_bytes(type);
    T *const x = grab(count, sizeof(T));
    unsigned char *const stored = grab(count, (size_t)bytes);
    feature_fill(c, tensor, stored);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        uint32_t bits32 = 0;
        uint16_t bits16 = 0;
        if (bytes == 8)
            memcpy(&bits, stored + 8 * i, 8);
        else if (bytes == 4)
            memcpy(&bits32, stored + 4 * i, 4);
        else
            memcpy(&bits16, stored + 2 * i, 2);
        x[i] = (T)widened(bits + bits32 + bits16, type);
        if (h->dump) NAME(put)(h, IN_Q + tensor, x[i]);
    }
    free(stored);
    return x;
}

/* Rules 1, 2, 3 and 13 for one row: fills the arrays, by key number. */
static void NAME(look)(const feature_case *c, const place *at, const NAME(tensors) * x)
{
    const golden_case *const g = &c->base;
    const int64_t n = (at->batch * g->heads + at->head) * g->rows + at->row;
    const int64_t plane = at->batch * g->kv_heads + at->head / (g->heads / g->kv_heads);
    const T f = NAME(query_factor)(c);
    T q[MAX_CHANNELS];
    for (int64_t i = 0; i < g->d; i++) q[i] = x->q[n * g->d + i] * f;
    for (int64_t index = at->begin; index < at->end; index++) {
        const int64_t j = index - at->begin - at->padding;
        const T t = NAME(score)(q, x->k + (plane * g->keys + index) * g->d, g->d);
        x->scaled[index] = t;
        x->capped[index] = NAME(capped)(c, at, j, t);
        x->t[index] = NAME(added)(c, at, j, x->capped[index]);
        x->live[index] = (uint8_t)is_live(c, at, j);
        x->kept[index] = (uint8_t)(j >= 0 && is_kept(c, at, j));
    }
}

static void NAME(show)(hashes *h, const place *at, const NAME(tensors) * x)
{
    const T ln2 = (T)0x1.62e42fefa39efp-1;
    for (int64_t j = at->begin; j < at->end; j++) {
        NAME(put)(h, WEIGHT, x->w[j]);
        NAME(put)(h, SCALED, x->scaled[j] * ln2);
        NAME(put)(h, CAPPED, x->capped[j] * ln2);
        NAME(put)(h, MASKED, x->live[j] ? x->t[j] * ln2 : -(T)INFINITY);
        put_bits(h, KEEP, x->kept[j], 8);
    }
}

static void NAME(run_row)(hashes *h, const feature_case *c, const place *at,
                          const NAME(tensors) * x, const NAME(row) * r)
{
    const int64_t spans = spans_of(r->keys), first = at->begin + at->padding;
    const int64_t plane = at->batch * c->base.heads + at->head;
    NAME(node) whole = {.dead = 1};
    if (spans > 0) NAME(tree)(&whole, r, largest_level(0, spans, spans), 0);
    NAME(finish)(h, c, at, &whole);
    for (int64_t j = at->begin; j < first; j++) x->w[j] = 0;
    NAME(weights)(r, &whole, x->w + first);
    NAME(show)(h, at, x);
    NAME(put)(h, ROW_MAX, NAME(largest)(r, 0, r->keys) * (T)0x1.62e42fefa39efp-1 + 0);
    for (int64_t j = first; j < at->end; j++) {
        T *const sum = x->sums + plane * c->base.keys + j;
        if (x->live[j]) *sum = *sum + x->w[j];
    }
}

/* Partials are hashed part by part; within a part, row by row. */
static void NAME(run)(const feature_case *c, hashes *h)
{
    const golden_case *const g = &c->base;
    const NAME(tensors) x = {.q = NAME(tensor)(c, GOLDEN_Q, h),
                             .k = NAME(tensor)(c, GOLDEN_K, h),
                             .v = NAME(tensor)(c, GOLDEN_V, h),
                             .sums = grab(g->batch * g->heads * g->keys, sizeof(T)),
                             .t = grab(g->keys, sizeof(T)),
                             .capped = grab(g->keys, sizeof(T)),
                             .scaled = grab(g->keys, sizeof(T)),
                             .w = grab(g->keys, sizeof(T)),
                             .live = grab(g->keys, 1),
                             .kept = grab(g->keys, 1)};
    int64_t cut[GOLDEN_MAX_PARTS + 1];
    const int32_t whole_only = (c->with & (FEATURE_PACKED | FEATURE_KV_START)) != 0;
    const int32_t nparts = whole_only ? 0 : golden_parts(g->keys, cut);
    const int64_t group = g->heads / g->kv_heads;

    for (int32_t part = -1; part < nparts; part++)
        for (int64_t n = 0; n < g->batch * g->heads * g->rows; n++) {
            const place at =
                place_of(c, n / g->rows / g->heads, n / g->rows % g->heads, n % g->rows);
            const int64_t plane = at.batch * g->kv_heads + at.head / group;
            NAME(look)(c, &at, &x);
            const int64_t first = at.begin + at.padding;
            NAME(row) r = {.keys = at.end - first, .d_v = g->d_v};
            r.t = x.t + first;
            r.v = x.v + (plane * g->keys + first) * g->d_v;
            r.live = x.live + first;
            r.kept = x.kept + first;
            if (part >= 0)
                NAME(partial)(h, &r, cut[part], cut[part + 1]);
            else
                NAME(run_row)(h, c, &at, &x, &r);
        }
    for (int64_t j = 0; j < g->batch * g->heads * g->keys; j++) NAME(put)(h, KEY_SUMS, x.sums[j]);
    void *const owned[] = {x.q, x.k, x.v, x.sums, x.t, x.capped, x.scaled, x.w, x.live, x.kept};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}
