/* SPDX-License-Identifier: MIT */
/* state_items.c - takes the text of a state apart and reads it in an order in which every number can
 * be checked against its place: sizes, names, matrices, settings, the token, what speaks of places.
 *
 * A text that begins with a version was written by us and ends with the item z; without that it
 * was cut, and its last item cannot be trusted. Unknown keys are kept as they are; what a newer version
 * says with a known key and we do not understand is left out.
 */
#include "lesson/state_parts.h"

enum { ITEMS_MOST = 256 };

int state_is_key(const state_item *i, const char *key)
{
    size_t n = 0;
    while (n < i->key_bytes && key[n] != 0 && key[n] == i->key[n]) n++;
    return n == i->key_bytes && key[n] == 0;
}

static const state_item *find_item(const state_reader *r, const char *key)
{
    for (int i = 0; i < r->items; i++)
        if (state_is_key(&r->item[i], key)) return &r->item[i];
    return NULL;
}

static const char *integer_text(char *text, int64_t x)
{
    lesson_number_integer(text, x);
    return text;
}

/* ---- taking apart ---------------------------------------------------------------------------- */

/* -1 after a sentence. */
static int split_items(state_item *item, const char *text, size_t bytes, lesson_trouble *t)
{
    int n = 0;
    for (size_t at = 0, end = 0; end <= bytes; end++) {
        if (end < bytes && text[end] != '&') continue;
        if (end > at) {
            if (n == ITEMS_MOST) {
                char most[LESSON_NUMBER_BYTES];
                trouble_say(t, "", LESSON_W_BAD_ITEMS, NULL, NULL, integer_text(most, ITEMS_MOST));
                return -1;
            }
            size_t equal = at;
            while (equal < end && text[equal] != '=') equal++;
            const size_t value = equal < end ? equal + 1 : end;
            const state_item one = {text + at, text + value, equal - at, end - value};
            item[n++] = one;
        }
        at = end + 1;
    }
    return n;
}

static int same_key(const state_item *a, const state_item *b)
{
    if (a->key_bytes != b->key_bytes) return 0;
    for (size_t i = 0; i < a->key_bytes; i++)
        if (a->key[i] != b->key[i]) return 0;
    return 1;
}

static qkv_status refuse_twice(const state_reader *r)
{
    for (int i = 0; i < r->items; i++)
        for (int j = 0; j < i; j++) {
            if (!same_key(&r->item[i], &r->item[j])) continue;
            char piece[PIECE_BYTES];
            trouble_piece(piece, r->item[i].key, r->item[i].key_bytes);
            return trouble_say(r->t, piece, LESSON_W_BAD_TWICE, piece, NULL, NULL);
        }
    return QKV_OK;
}

/* Version and end: drops what was cut, notes what the reader should know. */
static qkv_status read_frame(state_reader *r, int ends_open)
{
    const state_item *const v = find_item(r, "v");
    int64_t version = STATE_VERSION;
    if (v != NULL) {
        char piece[PIECE_BYTES];
        if (lesson_number_parse_integer(v->value, v->value_bytes, &version) != LESSON_NUMBER_OK ||
            version < 1 || version > 1000000) {
            trouble_piece(piece, v->value, v->value_bytes);
            return trouble_say(r->t, "v", LESSON_W_BAD_WHOLE, "v", piece, "1 to 1000000");
        }
        const state_item *const last = &r->item[r->items - 1];
        if (!state_is_key(last, "z") && ends_open) {
            trouble_note(r->t, "", LESSON_W_STATE_CUT_END, NULL, NULL, NULL);
        } else if (!state_is_key(last, "z")) {
            trouble_piece(piece, last->key, last->key_bytes);
            trouble_note(r->t, piece, LESSON_W_STATE_CUT, piece, NULL, NULL);
            r->items--;
        }
    }
    r->s->version = (int32_t)version;
    r->newer = version > STATE_VERSION;
    if (r->newer) {
        char theirs[LESSON_NUMBER_BYTES], ours[LESSON_NUMBER_BYTES];
        trouble_note(r->t, "v", LESSON_W_STATE_NEWER, integer_text(theirs, version),
                     integer_text(ours, STATE_VERSION), NULL);
    }
    return QKV_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct state_sizes {
    int64_t tokens, d_k, d_v, features; /* 0: not said */
} state_sizes;

static void say_size(int64_t *size, int64_t x)
{
    if (*size == 0) *size = x;
}

static qkv_status read_size(const state_reader *r, const char *key, int64_t most, int64_t *size)
{
    const state_item *const i = find_item(r, key);
    char range[PIECE_BYTES];
    if (i == NULL) return QKV_OK;
    if (lesson_number_parse_integer(i->value, i->value_bytes, size) == LESSON_NUMBER_OK &&
        *size >= 1 && *size <= most)
        return QKV_OK;
    size_t n = 0;
    for (const char *p = "1 to "; *p != 0; p++) range[n++] = *p;
    lesson_number_integer(range + n, most);
    *size = 0;
    return state_refuse(r, key, LESSON_W_BAD_WHOLE, i->value, i->value_bytes, range);
}

/* What a matrix says of the sizes that are not written down. */
static qkv_status infer_size(const state_reader *r, int table, state_sizes *sizes)
{
    const char *const key = state_tables[table].key;
    const char which = state_tables[table].which;
    const state_item *const i = find_item(r, key);
    state_bytes v;
    state_size size;
    if (i == NULL) return QKV_OK;
    const qkv_status status = state_unescape(r, i, &v);
    if (status != QKV_OK) return status;
    if (!state_size_of(r, key, v, &size)) return QKV_EARG;
    const int is_w = which >= 'a';
    say_size(is_w ? &sizes->features : &sizes->tokens, size.rows);
    say_size(which == 'X'            ? &sizes->features
             : (which | 0x20) == 'v' ? &sizes->d_v
                                     : &sizes->d_k,
             size.columns);
    return QKV_OK;
}

static qkv_status check_size(const state_reader *r, const char *key, int64_t size, int64_t most)
{
    char piece[LESSON_NUMBER_BYTES], range[LESSON_NUMBER_BYTES + 8];
    if (size <= most) return QKV_OK;
    size_t n = 0;
    for (const char *p = "1 to "; *p != 0; p++) range[n++] = *p;
    lesson_number_integer(range + n, most);
    return trouble_say(r->t, key, LESSON_W_BAD_WHOLE, key, integer_text(piece, size), range);
}

static qkv_status read_sizes(const state_reader *r)
{
    state_sizes z = {0, 0, 0, 0};
    qkv_status status = read_size(r, "n", STATE_TOKENS, &z.tokens);
    if (status == QKV_OK) status = read_size(r, "dk", STATE_CHANNELS, &z.d_k);
    if (status == QKV_OK) status = read_size(r, "dv", STATE_CHANNELS, &z.d_v);
    if (status == QKV_OK) status = read_size(r, "nx", STATE_CHANNELS, &z.features);
    for (int i = STATE_TABLES; i-- > 0 && status == QKV_OK;) status = infer_size(r, i, &z);
    if (status != QKV_OK) return status;
    const state_item *const names = find_item(r, "tok");
    if (names != NULL && z.tokens == 0) {
        z.tokens = 1;
        for (size_t i = 0; i < names->value_bytes; i++) z.tokens += names->value[i] == ',';
    }
    say_size(&z.tokens, LESSON_PRESET_TOKENS);
    say_size(&z.d_k, 2);
    say_size(&z.d_v, 2);
    say_size(&z.features, LESSON_PRESET_FEATURES);
    status = check_size(r, "n", z.tokens, STATE_TOKENS);
    if (status == QKV_OK) status = check_size(r, "dk", z.d_k, STATE_CHANNELS);
    if (status == QKV_OK) status = check_size(r, "dv", z.d_v, STATE_CHANNELS);
    if (status == QKV_OK) status = check_size(r, "nx", z.features, STATE_CHANNELS);
    if (status != QKV_OK) return status;
    return state_resize(r->s, (int32_t)z.tokens, (int32_t)z.d_k, (int32_t)z.d_v,
                        (int32_t)z.features, r->memory)
               ? QKV_OK
               : QKV_ENOMEM;
}

/* ---- all items ------------------------------------------------------------------------------- */

/* After sizes: names before the token that may be called by one; X and W, then Q, K, V; the query
 * after all, for it is the token's. */
static int turn_of(const state_item *i)
{
    static const char *const late[] = {"t", "f", "q"};
    for (int k = 0; k < 3; k++)
        if (state_is_key(i, late[k])) return k + 1;
    return 0;
}

static int is_frame(const state_item *i)
{
    static const char *const keys[] = {"v", "z", "n", "dk", "dv", "nx"};
    for (int k = 0; k < 6; k++)
        if (state_is_key(i, keys[k])) return 1;
    return 0;
}

static qkv_status keep_unknown(const state_reader *r, const unsigned char *unknown)
{
    size_t bytes = 0;
    for (int i = 0; i < r->items; i++)
        if (unknown[i]) bytes += r->item[i].key_bytes + r->item[i].value_bytes + 2;
    if (bytes == 0) return QKV_OK;
    char *const text = (char *)r->memory->take(r->memory->ctx, bytes);
    if (text == NULL) return QKV_ENOMEM;
    size_t n = 0;
    for (int i = 0; i < r->items; i++) {
        if (!unknown[i]) continue;
        const state_item *const one = &r->item[i];
        const char *const end = one->value + one->value_bytes;
        if (n > 0) text[n++] = '&';
        for (const char *p = one->key; p < end; p++) text[n++] = *p;
    }
    r->s->unknown = text;
    r->s->unknown_bytes = n;
    return QKV_OK;
}

static qkv_status apply_items(const state_reader *r)
{
    unsigned char unknown[ITEMS_MOST] = {0};
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < r->items; i++) {
            if (turn_of(&r->item[i]) != turn || is_frame(&r->item[i])) continue;
            int known = 1;
            const qkv_status status = state_apply(r, &r->item[i], &known);
            if (status == QKV_ENOMEM || (status != QKV_OK && !r->newer)) return status;
            unknown[i] = !known;
            if (status == QKV_OK) continue;
            char theirs[LESSON_NUMBER_BYTES], ours[LESSON_NUMBER_BYTES];
            trouble_none(r->t);
            trouble_note(r->t, "v", LESSON_W_STATE_NEWER, integer_text(theirs, r->s->version),
                         integer_text(ours, STATE_VERSION), NULL);
        }
        if (turn == 0) state_project(r->s);
    }
    return keep_unknown(r, unknown);
}

static qkv_status check_multiplier(const state_reader *r)
{
    for (int other = 0; other < 2; other++) {
        lesson_input in;
        lesson_state_input(r->s, other, &in);
        if (lesson_finite_scale(&in)) continue;
        char text[LESSON_NUMBER_BYTES];
        lesson_number_shortest(text, in.temperature);
        return trouble_say(r->t, other ? "b.T" : "T", LESSON_W_BAD_MULTIPLIER, other ? "b.T" : "T",
                           text, NULL);
    }
    return QKV_OK;
}

static void note_lost(const state_reader *r)
{
    char n[LESSON_NUMBER_BYTES], d_k[LESSON_NUMBER_BYTES], d_v[LESSON_NUMBER_BYTES];
    if (r->s->lost_tokens == 0) return;
    trouble_note(r->t, "lost", LESSON_W_STATE_LOST, integer_text(n, r->s->lost_tokens),
                 integer_text(d_k, r->s->lost_d_k), integer_text(d_v, r->s->lost_d_v));
}

qkv_status lesson_state_read(lesson_state *state, const char *text, size_t bytes,
                             const lesson_memory *memory, lesson_trouble *t)
{
    trouble_none(t);
    lesson_state s;
    qkv_status status = lesson_state_start(&s, memory);
    if (status != QKV_OK) return status;
    *state = s;
    if (bytes > 0 && (text[0] == '#' || text[0] == '?')) {
        text++;
        bytes--;
    }
    if (bytes > STATE_TEXT_BYTES) {
        char got[LESSON_NUMBER_BYTES], most[LESSON_NUMBER_BYTES];
        return trouble_say(t, "", LESSON_W_BAD_LENGTH, NULL, integer_text(got, (int64_t)bytes),
                           integer_text(most, STATE_TEXT_BYTES));
    }
    state_item item[ITEMS_MOST];
    state_reader r = {memory, t, &s, item, split_items(item, text, bytes, t), 0};
    if (r.items < 0) return QKV_EARG;
    status = refuse_twice(&r);
    if (status == QKV_OK) status = read_frame(&r, bytes > 0 && text[bytes - 1] == '&');
    if (status == QKV_OK) status = read_sizes(&r);
    if (status == QKV_OK) status = apply_items(&r);
    if (status == QKV_OK) status = check_multiplier(&r);
    if (status != QKV_OK) return status;
    note_lost(&r);
    state_clamp(&s);
    *state = s;
    return QKV_OK;
}

/* ---- one item on top ------------------------------------------------------------------------- */

qkv_status lesson_state_set(lesson_state *state, const char *key, const char *value, size_t bytes,
                            const lesson_memory *memory, lesson_trouble *t)
{
    lesson_state s = *state;
    size_t key_bytes = 0;
    trouble_none(t);
    while (key[key_bytes] != 0) key_bytes++;
    const state_item item = {key, value, key_bytes, bytes};
    const state_reader r = {memory, t, &s, &item, 1, 0};
    state_sizes z = {s.tokens, s.d_k, s.d_v, s.features};
    qkv_status status = read_size(&r, "n", STATE_TOKENS, &z.tokens);
    if (status == QKV_OK) status = read_size(&r, "dk", STATE_CHANNELS, &z.d_k);
    if (status == QKV_OK) status = read_size(&r, "dv", STATE_CHANNELS, &z.d_v);
    if (status == QKV_OK) status = read_size(&r, "nx", STATE_CHANNELS, &z.features);
    if (status != QKV_OK) return status;
    /* arrays of its own, so that a matrix that is refused half-way leaves nothing behind */
    if (!state_resize(&s, (int32_t)z.tokens, (int32_t)z.d_k, (int32_t)z.d_v, (int32_t)z.features,
                      memory))
        return QKV_ENOMEM;
    int known = 1;
    if (!is_frame(&item)) status = state_apply(&r, &item, &known);
    if (status == QKV_OK && !known)
        status = state_refuse(&r, "", LESSON_W_BAD_KEY, key, key_bytes, NULL);
    if (status == QKV_OK) status = check_multiplier(&r);
    if (status != QKV_OK) return status;
    state_project(&s);
    state_clamp(&s);
    *state = s;
    return QKV_OK;
}
