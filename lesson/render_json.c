/* SPDX-License-Identifier: MIT */
/* render_json.c - the calculator's values as JSON (docs/cli.md): every digit that a number has,
 * UTF-8 whatever the names hold, "NaN", "Infinity" and "-Infinity" as strings. Keys of stages that
 * are not reached are absent. It depends on the input alone, never on the face.
 */
#include "lesson/compose.h"
#include "lesson/engine.h"

/* Characters that steer a terminal or cannot be seen are written as escapes, so that the text may
 * be printed; < too, so that it may stand in a script element. */
static int escapes(uint32_t c)
{
    return c < 0x20 || c == '<' || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C ||
           (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB);
}

static void character(const lesson_view *view, const unsigned char *p, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t c = len == 1 ? p[0] : p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) c = c << 6 | (p[i] & 0x3Fu);
    if (escapes(c)) {
        const char code[7] = {'\\',        'u', hex[c >> 12], hex[c >> 8 & 15], hex[c >> 4 & 15],
                              hex[c & 15], 0};
        sink_text(view, code);
        return;
    }
    if (c == '"' || c == '\\') sink_text(view, "\\");
    view->sink->write(view->sink->ctx, (const char *)p, len);
}

static void string(const lesson_view *view, const lesson_name *name)
{
    const unsigned char *const p = (const unsigned char *)name->text;
    sink_text(view, "\"");
    for (size_t i = 0; i < name->bytes;) {
        const size_t len = text_character(name->text + i, name->bytes - i);
        if (len == 0)
            sink_text(view, "\xEF\xBF\xBD");
        else
            character(view, p + i, len);
        i += len > 0 ? len : 1;
    }
    sink_text(view, "\"");
}

static void number_text(const lesson_view *view, const char *text)
{
    const char first = text[0] == '-' ? text[1] : text[0];
    const int quoted = first == 'N' || first == 'I';
    if (quoted) sink_text(view, "\"");
    sink_text(view, text);
    if (quoted) sink_text(view, "\"");
}

static void number(const lesson_view *view, double x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_shortest(text, x);
    number_text(view, text);
}

static void integer(const lesson_view *view, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_integer(text, x);
    sink_text(view, text);
}

static void key(const lesson_view *view, const char *name)
{
    sink_text(view, ",\n  \"");
    sink_text(view, name);
    sink_text(view, "\": ");
}

static void vector(const lesson_view *view, const void *x, int64_t n, int f32)
{
    char text[LESSON_NUMBER_BYTES];
    sink_text(view, "[");
    for (int64_t i = 0; i < n; i++) {
        if (i > 0) sink_text(view, ", ");
        if (ENGINE_IS_HERE && f32)
            lesson_number_shortest_f32(text, ((const float *)x)[i]);
        else
            lesson_number_shortest(text, ((const double *)x)[i]);
        number_text(view, text);
    }
    sink_text(view, "]");
}

static void matrix(const lesson_view *view, const void *x, int64_t rows, int64_t n, int f32,
                   const char *indent)
{
    sink_text(view, "[");
    for (int64_t i = 0; i < rows; i++) {
        sink_text(view, i > 0 ? ",\n" : "\n");
        sink_text(view, indent);
        if (ENGINE_IS_HERE && f32)
            vector(view, (const float *)x + i * n, n, 1);
        else
            vector(view, (const double *)x + i * n, n, 0);
    }
    sink_text(view, "]");
}

static void range(const lesson_view *view, const char *name, int64_t begin, int64_t end)
{
    key(view, name);
    sink_text(view, "[");
    integer(view, begin);
    sink_text(view, ", ");
    integer(view, end);
    sink_text(view, "]");
}

static void about(const lesson_view *view)
{
    const lesson_input *const in = view->in;
    sink_text(view, "{\n  \"contract\": ");
    integer(view, qkv_contract());
    key(view, "tokens");
    sink_text(view, "[");
    for (int64_t j = in->key_begin; j < in->key_end; j++) {
        if (j > in->key_begin) sink_text(view, ", ");
        string(view, &in->name[j]);
    }
    sink_text(view, "]");
    key(view, "token");
    integer(view, in->token);
    if (in->row_begin > 0 || in->row_end < in->rows)
        range(view, "rows", in->row_begin, in->row_end);
    if (in->key_begin > 0 || in->key_end < in->keys)
        range(view, "keys", in->key_begin, in->key_end);
    key(view, "d_k");
    integer(view, in->d_k);
    key(view, "d_v");
    integer(view, in->d_v);
    key(view, "scale");
    number(view, view->stages->scale);
    key(view, "mask");
    sink_text(view, in->causal ? "\"causal:" : in->padding > 0 ? "\"padding:" : "\"none\"");
    if (in->causal || in->padding > 0) {
        integer(view, in->causal ? in->q_offset : in->padding);
        sink_text(view, "\"");
    }
    if (in->wrong_way) {
        key(view, "mask_after_softmax");
        sink_text(view, "true");
    }
}

static void engine(const lesson_view *view)
{
    const lesson_stages *const s = view->stages;
    const int f32 = view->in->engine_dtype == QKV_F32;
    key(view, "engine");
    sink_text(view, "{\n    \"weight\": ");
    matrix(view, s->engine_weight, s->rows, s->keys, f32, "      ");
    if (view->in->stage >= 4) {
        sink_text(view, ",\n    \"out\": ");
        matrix(view, s->engine_out, s->rows, view->in->d_v, f32, "      ");
    }
    sink_text(view, ",\n    \"max_difference\": ");
    number(view, s->difference);
    sink_text(view, "\n  }");
}

qkv_status lesson_json(const lesson_view *view)
{
    static const char indent[] = "    ";
    const lesson_input *const in = view->in;
    const lesson_stages *const s = view->stages;
    about(view);
    key(view, "q");
    matrix(view, in->q + in->row_begin * in->d_k, s->rows, in->d_k, 0, indent);
    key(view, "k");
    matrix(view, in->k + in->key_begin * in->d_k, s->keys, in->d_k, 0, indent);
    key(view, "v");
    matrix(view, in->v + in->key_begin * in->d_v, s->keys, in->d_v, 0, indent);
    if (in->stage >= 1) {
        key(view, "score");
        matrix(view, s->score, s->rows, s->keys, 0, indent);
    }
    if (in->stage >= 2) {
        key(view, "scaled");
        matrix(view, s->scaled, s->rows, s->keys, 0, indent);
    }
    if (in->stage >= 3) {
        key(view, "weight");
        matrix(view, s->weight, s->rows, s->keys, 0, indent);
        key(view, "lse");
        vector(view, s->lse, s->rows, 0);
    }
    if (in->stage >= 4) {
        key(view, "out");
        matrix(view, s->out, s->rows, in->d_v, 0, indent);
    }
    if (ENGINE_IS_HERE && s->engine_weight != NULL) engine(view);
    sink_text(view, "\n}\n");
    return QKV_OK;
}
