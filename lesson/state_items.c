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
    return text_is(i->key, i->key_bytes, key);
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

static qkv_status refuse_twice(const state_reader *r)
{
    for (int i = 0; i < r->items; i++)
        for (int j = 0; j < i; j++) {
            if (!text_same(r->item[i].key, r->item[i].key_bytes, r->item[j].key,
                           r->item[j].key_bytes))
                continue;
            char piece[PIECE_BYTES];
            trouble_piece(piece, r->item[i].key, r->item[i].key_bytes);
            return trouble_say(r->t, piece, LESSON_W_BAD_TWICE, piece, NULL, NULL);
        }
    return QKV_OK;
}

static void note_newer(const state_reader *r)
{
    char theirs[LESSON_NUMBER_BYTES], ours[LESSON_NUMBER_BYTES];
    trouble_note(r->t, "v", LESSON_W_STATE_NEWER, integer_text(theirs, r->s->version),
                 integer_text(ours, STATE_VERSION), NULL);
}

/* Version and end: drops what was cut, notes what the reader should know. */
static qkv_status read_frame(state_reader *r, int ends_open)
{
    const state_item *const v = find_item(r, "v");
    int64_t version = STATE_VERSION;
    if (v != NULL) {
        if (lesson_number_parse_integer(v->value, v->value_bytes, &version) != LESSON_NUMBER_OK ||
            version < 1 || version > 1000000)
            return trouble_range(r->t, "v", v->value, v->value_bytes, 1, 1000000);
        const state_item *const last = &r->item[r->items - 1];
        if (!state_is_key(last, "z") && ends_open) {
            trouble_note(r->t, "", LESSON_W_STATE_CUT_END, NULL, NULL, NULL);
        } else if (!state_is_key(last, "z")) {
            char piece[PIECE_BYTES];
            trouble_piece(piece, last->key, last->key_bytes);
            trouble_note(r->t, piece, LESSON_W_STATE_CUT, piece, NULL, NULL);
            r->items--;
        }
    }
    r->s->version = (int32_t)version;
    r->newer = version > STATE_VERSION;
    if (r->newer) note_newer(r);
    return QKV_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Tokens, d_k, d_v, features of X. */
enum { SIZES = 4 };
static const struct {
    const char *key;
    int64_t most, start;
} size_keys[SIZES] = {{"n", STATE_TOKENS, LESSON_PRESET_TOKENS},
                      {"dk", STATE_CHANNELS, 2},
                      {"dv", STATE_CHANNELS, 2},
                      {"nx", STATE_CHANNELS, LESSON_PRESET_FEATURES}};

typedef struct state_sizes {
    int64_t of[SIZES]; /* 0: not said */
} state_sizes;

static void say_size(int64_t *size, int64_t x)
{
    if (*size == 0) *size = x;
}

/* The sizes that are written down. */
static qkv_status said_sizes(const state_reader *r, state_sizes *sizes)
{
    for (int k = 0; k < SIZES; k++) {
        const state_item *const i = find_item(r, size_keys[k].key);
        int64_t x = 0;
        if (i == NULL) continue;
        if (lesson_number_parse_integer(i->value, i->value_bytes, &x) != LESSON_NUMBER_OK ||
            x < 1 || x > size_keys[k].most)
            return trouble_range(r->t, size_keys[k].key, i->value, i->value_bytes, 1,
                                 size_keys[k].most);
        sizes->of[k] = x;
    }
    return QKV_OK;
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
    say_size(&sizes->of[which >= 'a' ? 3 : 0], size.rows);
    say_size(&sizes->of[which == 'X' ? 3 : (which | 0x20) == 'v' ? 2 : 1], size.columns);
    return QKV_OK;
}

static int resize(const state_reader *r, const state_sizes *z)
{
    return state_resize(r->s, (int32_t)z->of[0], (int32_t)z->of[1], (int32_t)z->of[2],
                        (int32_t)z->of[3], r->memory);
}

static qkv_status read_sizes(const state_reader *r)
{
    state_sizes z = {{0}};
    qkv_status status = said_sizes(r, &z);
    for (int i = STATE_TABLES; i-- > 0 && status == QKV_OK;) status = infer_size(r, i, &z);
    if (status != QKV_OK) return status;
    const state_item *const names = find_item(r, "tok");
    if (names != NULL && z.of[0] == 0) {
        z.of[0] = 1;
        for (size_t i = 0; i < names->value_bytes; i++) z.of[0] += names->value[i] == ',';
    }
    for (int k = 0; k < SIZES; k++) {
        char text[LESSON_NUMBER_BYTES];
        say_size(&z.of[k], size_keys[k].start);
        if (z.of[k] > size_keys[k].most)
            return trouble_range(r->t, size_keys[k].key, text, lesson_number_integer(text, z.of[k]),
                                 1, size_keys[k].most);
    }
    return resize(r, &z) ? QKV_OK : QKV_ENOMEM;
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
            trouble_none(r->t);
            note_newer(r);
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
    if (bytes > STATE_TEXT_BYTES)
        return trouble_numbers(t, "", LESSON_W_BAD_LENGTH, NULL, (int64_t)bytes, STATE_TEXT_BYTES);
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
    const size_t key_bytes = text_length(key);
    trouble_none(t);
    const state_item item = {key, value, key_bytes, bytes};
    const state_reader r = {memory, t, &s, &item, 1, 0};
    state_sizes z = {{s.tokens, s.d_k, s.d_v, s.features}};
    qkv_status status = said_sizes(&r, &z);
    if (status != QKV_OK) return status;
    /* arrays of its own, so that a matrix that is refused half-way leaves nothing behind */
    if (!resize(&r, &z)) return QKV_ENOMEM;
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
