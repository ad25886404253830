/* SPDX-License-Identifier: MIT */
/* state_read.c - the value of each setting of a state: its grammar and its bounds. What does not fit
 * is refused with one sentence. state_items.c takes the text apart and decides the order.
 */
#include "lesson/state_parts.h"

qkv_status state_refuse(const state_reader *r, const char *key, lesson_word id, const char *value,
                        size_t bytes, const char *bound)
{
    char piece[PIECE_BYTES];
    trouble_piece(piece, value, bytes);
    return trouble_say(r->t, key, id, key, piece, bound);
}

static const char *integer_text(char *text, int64_t x)
{
    lesson_number_integer(text, x);
    return text;
}

/* ---- escapes --------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    const char low = (char)(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static qkv_status unescape(const state_reader *r, const char *key, const char *text, size_t n,
                           state_bytes *out)
{
    char *const to = (char *)r->memory->take(r->memory->ctx, n + 1);
    if (to == NULL) return QKV_ENOMEM;
    out->text = to;
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < n ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < n ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return state_refuse(r, key, LESSON_W_BAD_ESCAPE, text, n, NULL);
            c = (char)(high * 16 + low);
            i += 2;
        }
        to[out->n++] = c;
    }
    to[out->n] = 0;
    return QKV_OK;
}

qkv_status state_unescape(const state_reader *r, const state_item *i, state_bytes *out)
{
    char key[PIECE_BYTES];
    trouble_piece(key, i->key, i->key_bytes);
    return unescape(r, key, i->value, i->value_bytes, out);
}

/* ---- single settings ------------------------------------------------------------------------- */

static qkv_status read_whole(const state_reader *r, const char *key, state_bytes v, int64_t least,
                             int64_t most, int64_t *x)
{
    if (lesson_number_parse_integer(v.text, v.n, x) == LESSON_NUMBER_OK && *x >= least &&
        *x <= most)
        return QKV_OK;
    return trouble_range(r->t, key, v.text, v.n, least, most);
}

static int starts_with(state_bytes v, const char *text, state_bytes *rest)
{
    size_t n = 0;
    while (n < v.n && text[n] != 0 && text[n] == v.text[n]) n++;
    rest->text = v.text + n;
    rest->n = v.n - n;
    return text[n] == 0;
}

static qkv_status read_word(const state_reader *r, const state_word *k, state_bytes v)
{
    char list[PIECE_BYTES];
    size_t n = 0;
    for (int i = 0; k->words[i] != NULL; i++) {
        if (text_is(v.text, v.n, k->words[i])) {
            *(int32_t *)(void *)((char *)r->s + k->at) = i;
            return QKV_OK;
        }
        text_append(list, sizeof list, &n, i == 0 ? "" : k->words[i + 1] != NULL ? ", " : " or ");
        text_append(list, sizeof list, &n, k->words[i]);
    }
    return state_refuse(r, k->key, LESSON_W_BAD_CHOICE, v.text, v.n, list);
}

static qkv_status read_scale(const state_reader *r, const char *key, state_bytes v,
                             lesson_choice *c)
{
    static const char *const words[] = {"sqrt", "none", "dk"};
    for (int32_t i = 0; i < 3; i++)
        if (text_is(v.text, v.n, words[i])) {
            c->scale_kind = i;
            c->scale_value = 1;
            return QKV_OK;
        }
    double x = 0;
    const lesson_number_status status = lesson_number_parse(v.text, v.n, &x, NULL);
    if (status == LESSON_NUMBER_JUNK || status == LESSON_NUMBER_EMPTY)
        return state_refuse(r, key, LESSON_W_BAD_CHOICE, v.text, v.n,
                            lesson_word_text(LESSON_W_CHOICES_SCALE));
    if (!state_read_number(key, key, v.text, v.n, &x, r->t)) return QKV_EARG;
    c->scale_kind = LESSON_SCALE_VALUE;
    c->scale_value = x;
    return QKV_OK;
}

static qkv_status read_temperature(const state_reader *r, const char *key, state_bytes v,
                                   lesson_choice *c)
{
    double x = 0;
    if (!state_read_number(key, key, v.text, v.n, &x, r->t)) return QKV_EARG;
    if (!(x > 0)) return state_refuse(r, key, LESSON_W_BAD_ABOVE_0, v.text, v.n, NULL);
    c->temperature = x;
    return QKV_OK;
}

static qkv_status read_mask(const state_reader *r, const char *key, state_bytes v, lesson_choice *c)
{
    const int64_t far = (int64_t)1 << 40;
    state_bytes rest;
    int64_t x = 0;
    int32_t kind = -1;
    if (text_is(v.text, v.n, "none")) kind = MASK_NONE;
    if (text_is(v.text, v.n, "causal")) kind = MASK_CAUSAL;
    if (starts_with(v, "causal:", &rest) &&
        lesson_number_parse_integer(rest.text, rest.n, &x) == LESSON_NUMBER_OK && x >= -far &&
        x <= far)
        kind = MASK_CAUSAL;
    if (starts_with(v, "padding:", &rest) &&
        lesson_number_parse_integer(rest.text, rest.n, &x) == LESSON_NUMBER_OK && x >= 0 &&
        x <= r->s->tokens)
        kind = MASK_PADDING;
    if (kind < 0) {
        char n[LESSON_NUMBER_BYTES], bound[PIECE_BYTES];
        const char *const value[3] = {integer_text(n, r->s->tokens)};
        text_compose(bound, sizeof bound, LESSON_W_CHOICES_MASK, value);
        return state_refuse(r, key, LESSON_W_BAD_CHOICE, v.text, v.n, bound);
    }
    c->mask = kind;
    c->shift = kind == MASK_CAUSAL ? x : 0;
    c->padding = kind == MASK_PADDING ? x : 0;
    return QKV_OK;
}

static qkv_status read_blend(const state_reader *r, state_bytes v)
{
    double x = 0;
    if (!state_read_number("b", "b", v.text, v.n, &x, r->t)) return QKV_EARG;
    if (!(x >= 0 && x <= 2)) return state_refuse(r, "b", LESSON_W_BAD_BLEND, v.text, v.n, NULL);
    r->s->blend = x == 0 ? 0 : x;
    return QKV_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

static qkv_status read_focus(const state_reader *r, state_bytes v)
{
    lesson_focus f = {FOCUS_NONE, 0, 0};
    size_t i = 1;
    if (v.n == 0) {
        r->s->focus = f;
        return QKV_OK;
    }
    for (int32_t kind = 1; state_focus_letters[kind] != 0; kind++)
        if (v.text[0] == state_focus_letters[kind]) f.kind = kind;
    int32_t *const part[2] = {&f.key, &f.channel};
    int fits = f.kind != FOCUS_NONE;
    for (int k = 0; k < 2; k++) {
        for (; i < v.n && v.text[i] >= '0' && v.text[i] <= '9'; i++) {
            *part[k] = *part[k] * 10 + (v.text[i] - '0');
            if (*part[k] > STATE_TOKENS) fits = 0;
            if (!fits) break;
        }
        if (k == 0 && i < v.n && v.text[i] == '.') i++;
    }
    if (!fits || i < v.n || !state_focus_fits(r->s, &f))
        return state_refuse(r, "f", LESSON_W_BAD_FOCUS, v.text, v.n, NULL);
    r->s->focus = f;
    return QKV_OK;
}

/* The which-th token of that name, -1: none. *count: how many there are. */
static int32_t find_name(const lesson_state *s, const char *text, size_t n, int64_t which,
                         int64_t *count)
{
    int32_t found = -1;
    *count = 0;
    for (int32_t i = 0; i < s->tokens; i++) {
        if (!text_same(s->name[i].text, s->name[i].bytes, text, n)) continue;
        if ((*count)++ == which) found = i;
    }
    return found;
}

/* NAME, @INDEX or NAME#N */
static qkv_status read_token(const state_reader *r, state_bytes v)
{
    lesson_state *const s = r->s;
    char last[LESSON_NUMBER_BYTES];
    int64_t x = -1, count = 0;
    integer_text(last, s->tokens - 1);
    if (v.n > 0 && v.text[0] == '@' &&
        lesson_number_parse_integer(v.text + 1, v.n - 1, &x) == LESSON_NUMBER_OK && x >= 0) {
        if (x < s->tokens || s->lost_tokens > 0) {
            s->token = x < s->tokens ? (int32_t)x : LESSON_PRESET_TOKEN;
            return QKV_OK;
        }
    }
    int32_t found = find_name(s, v.text, v.n, 0, &count);
    if (count > 1) return state_refuse(r, "t", LESSON_W_BAD_TOKENS, v.text, v.n, last);
    for (size_t i = v.n; found < 0 && i-- > 0;)
        if (v.text[i] == '#') {
            if (lesson_number_parse_integer(v.text + i + 1, v.n - i - 1, &x) == LESSON_NUMBER_OK)
                found = find_name(s, v.text, i, x, &count);
            break;
        }
    if (found < 0) return state_refuse(r, "t", LESSON_W_BAD_TOKEN, v.text, v.n, last);
    s->token = found;
    return QKV_OK;
}

/* Names are split before they are unescaped: a comma in a name is %2C. */
static qkv_status read_names(const state_reader *r, const state_item *i)
{
    lesson_state *const s = r->s;
    lesson_name *const name =
        (lesson_name *)r->memory->take(r->memory->ctx, (size_t)s->tokens * sizeof *name);
    if (name == NULL) return QKV_ENOMEM;
    int64_t count = 0;
    for (size_t at = 0, end = 0; end <= i->value_bytes; end++) {
        if (end < i->value_bytes && i->value[end] != ',') continue;
        state_bytes v;
        const qkv_status status = unescape(r, "tok", i->value + at, end - at, &v);
        if (status != QKV_OK) return status;
        if (v.n > STATE_NAME_BYTES) {
            char most[LESSON_NUMBER_BYTES];
            return state_refuse(r, "tok", LESSON_W_BAD_NAME, v.text, v.n,
                                integer_text(most, STATE_NAME_BYTES));
        }
        if (count < s->tokens) {
            name[count].text = v.text;
            name[count].bytes = v.n;
        }
        count++;
        at = end + 1;
    }
    if (count != s->tokens) {
        return trouble_numbers(r->t, "tok", LESSON_W_BAD_NAMES, "tok", count, s->tokens);
    }
    s->name = name;
    s->own_names = 1;
    return QKV_OK;
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* Rows by ";", numbers by ",". 0 after a sentence: a row of another length than the first. */
int state_size_of(const state_reader *r, const char *key, state_bytes v, state_size *size)
{
    int64_t columns = 1;
    size->rows = size->columns = 0;
    for (size_t i = 0; i <= v.n; i++) {
        if (i < v.n && v.text[i] == ',') columns++;
        if (i < v.n && v.text[i] != ';') continue;
        if (size->rows == 0) size->columns = columns;
        if (columns != size->columns) {
            trouble_numbers(r->t, key, LESSON_W_BAD_RAGGED, key, size->rows, size->columns);
            r->t->row = size->rows < STATE_TEXT_BYTES ? (int32_t)size->rows : STATE_NO_KEY;
            return 0;
        }
        size->rows++;
        columns = 1;
    }
    return 1;
}

static qkv_status fill(const state_reader *r, const char *key, state_bytes v, state_matrix *m)
{
    state_size size;
    if (!state_size_of(r, key, v, &size)) return QKV_EARG;
    if (size.rows != m->rows)
        return trouble_numbers(r->t, key, LESSON_W_BAD_ROWS, key, size.rows, m->rows);
    if (size.columns != m->columns)
        return trouble_numbers(r->t, key, LESSON_W_BAD_COLUMNS, key, size.columns, m->columns);
    const size_t count = (size_t)m->rows * (size_t)m->columns;
    double *const x = (double *)r->memory->take(r->memory->ctx, count * sizeof *x);
    if (x == NULL) return QKV_ENOMEM;
    size_t at = 0;
    for (int32_t i = 0; i < m->rows; i++)
        for (int32_t c = 0; c < m->columns; c++) {
            size_t end = at;
            while (end < v.n && v.text[end] != ',' && v.text[end] != ';') end++;
            if (!state_read_cell(key, i, c, v.text + at, end - at, &x[i * m->columns + c], r->t))
                return QKV_EARG;
            at = end + 1;
        }
    for (size_t i = 0; i < count; i++) m->x[i] = x[i];
    return QKV_OK;
}

/* q=1,2: the query of the chosen token alone. */
static qkv_status read_query(const state_reader *r, state_bytes v)
{
    lesson_state *const s = r->s;
    state_matrix row = {s->qkv[0].x + s->token * s->d_k, 1, s->d_k};
    const qkv_status status = fill(r, "q", v, &row);
    if (status == QKV_OK) s->own_qkv[0] = 1;
    return status;
}

/* ---- one item -------------------------------------------------------------------------------- */

static qkv_status read_layer(const state_reader *r, state_bytes v)
{
    if (!text_is(v.text, v.n, "0") && !text_is(v.text, v.n, "3"))
        return state_refuse(r, "layer", LESSON_W_BAD_CHOICE, v.text, v.n, "0 or 3");
    r->s->model_layer = v.text[0] - '0';
    return QKV_OK;
}

static qkv_status read_lost(const state_reader *r, state_bytes v)
{
    int32_t *const part[3] = {&r->s->lost_tokens, &r->s->lost_d_k, &r->s->lost_d_v};
    int32_t x[3] = {0, 0, 0};
    int k = 0;
    for (size_t i = 0; i < v.n; i++) {
        if (v.text[i] == 'x' && k < 2)
            k++;
        else if (v.text[i] >= '0' && v.text[i] <= '9' && x[k] < 100000000)
            x[k] = x[k] * 10 + (v.text[i] - '0');
        else
            k = 3;
        if (k == 3) break;
    }
    if (k != 2 || x[0] == 0)
        return state_refuse(r, "lost", LESSON_W_BAD_CHOICE, v.text, v.n,
                            "TOKENSxCHANNELSxCHANNELS");
    for (int i = 0; i < 3; i++) *part[i] = x[i];
    return QKV_OK;
}

static qkv_status read_matrix(const state_reader *r, char which, const char *key, state_bytes v)
{
    int32_t *own = NULL;
    state_matrix *const m = state_matrix_of(r->s, which, &own);
    const qkv_status status = fill(r, key, v, m);
    if (status == QKV_OK) *own = 1;
    return status;
}

/* Keys with a grammar of their own; *known is 0 for others. */
static qkv_status read_special(const state_reader *r, const state_item *i, state_bytes v,
                               int *known)
{
    lesson_state *const s = r->s;
    if (state_is_key(i, "scale")) return read_scale(r, "scale", v, &s->choice);
    if (state_is_key(i, "b.scale")) return read_scale(r, "b.scale", v, &s->other);
    if (state_is_key(i, "T")) return read_temperature(r, "T", v, &s->choice);
    if (state_is_key(i, "b.T")) return read_temperature(r, "b.T", v, &s->other);
    if (state_is_key(i, "mask")) return read_mask(r, "mask", v, &s->choice);
    if (state_is_key(i, "b.mask")) return read_mask(r, "b.mask", v, &s->other);
    if (state_is_key(i, "b")) return read_blend(r, v);
    if (state_is_key(i, "f")) return read_focus(r, v);
    if (state_is_key(i, "t")) return read_token(r, v);
    if (state_is_key(i, "tok")) return read_names(r, i);
    if (state_is_key(i, "q")) return read_query(r, v);
    if (state_is_key(i, "layer")) return read_layer(r, v);
    if (state_is_key(i, "lost")) return read_lost(r, v);
    *known = 0;
    return QKV_OK;
}

qkv_status state_apply(const state_reader *r, const state_item *i, int *known)
{
    state_bytes v;
    *known = 1;
    const qkv_status status = state_unescape(r, i, &v);
    if (status != QKV_OK) return status;
    for (int k = 0; k < state_word_count; k++)
        if (state_is_key(i, state_words[k].key)) return read_word(r, &state_words[k], v);
    for (int k = 0; k < state_whole_count; k++) {
        const state_whole *const w = &state_wholes[k];
        int64_t x = 0;
        if (!state_is_key(i, w->key)) continue;
        const qkv_status read = read_whole(r, w->key, v, w->least, w->most, &x);
        if (read == QKV_OK) state_whole_put(r->s, w, x);
        return read;
    }
    for (int k = 0; k < STATE_TABLES; k++)
        if (state_is_key(i, state_tables[k].key))
            return read_matrix(r, state_tables[k].which, state_tables[k].key, v);
    return read_special(r, i, v, known);
}
