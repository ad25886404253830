/* SPDX-License-Identifier: MIT */
/* state_words.c - sentences about what a reader typed: each names what, its value and the bound.
 * What was read stands in them cut and made harmless, so that the sentence may be shown anywhere.
 */
#include "lesson/state_parts.h"

void trouble_none(lesson_trouble *t)
{
    *t = (lesson_trouble){TROUBLE_NONE, STATE_NO_KEY, STATE_NO_KEY, "", ""};
}

void text_append(char *text, size_t room, size_t *n, const char *more)
{
    const size_t length = text_length(more);
    if (*n + length + 1 > room) return;
    for (size_t i = 0; i < length; i++) text[*n + i] = more[i];
    *n += length;
    text[*n] = 0;
}

void text_compose(char *text, size_t room, lesson_word id, const char *const value[3])
{
    size_t n = 0;
    text[0] = 0;
    for (const char *p = lesson_word_text(id); *p != 0;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '2' && p[2] == '}') {
            if (value[p[1] - '0'] != NULL) text_append(text, room, &n, value[p[1] - '0']);
            p += 3;
            continue;
        }
        const char one[2] = {*p++, 0};
        text_append(text, room, &n, one);
    }
}

static void say(lesson_trouble *t, trouble_kind kind, const char *key, lesson_word id,
                const char *a, const char *b, const char *c)
{
    const char *const value[3] = {a, b, c};
    size_t n = 0;
    t->kind = kind;
    t->key[0] = 0;
    text_append(t->key, sizeof t->key, &n, key);
    text_compose(t->text, sizeof t->text, id, value);
}

qkv_status trouble_say(lesson_trouble *t, const char *key, lesson_word id, const char *a,
                       const char *b, const char *c)
{
    say(t, TROUBLE_REFUSED, key, id, a, b, c);
    return QKV_EARG;
}

qkv_status trouble_numbers(lesson_trouble *t, const char *key, lesson_word id, const char *a,
                           int64_t b, int64_t c)
{
    char first[LESSON_NUMBER_BYTES], second[LESSON_NUMBER_BYTES];
    lesson_number_integer(first, b);
    lesson_number_integer(second, c);
    return trouble_say(t, key, id, a, first, second);
}

qkv_status trouble_range(lesson_trouble *t, const char *key, const char *value, size_t bytes,
                         int64_t least, int64_t most)
{
    char piece[PIECE_BYTES], range[3 * LESSON_NUMBER_BYTES], number[LESSON_NUMBER_BYTES];
    size_t n = lesson_number_integer(range, least);
    lesson_number_integer(number, most);
    text_append(range, sizeof range, &n, " to ");
    text_append(range, sizeof range, &n, number);
    trouble_piece(piece, value, bytes);
    return trouble_say(t, key, LESSON_W_BAD_WHOLE, key, piece, range);
}

void trouble_note(lesson_trouble *t, const char *key, lesson_word id, const char *a, const char *b,
                  const char *c)
{
    if (t->kind == TROUBLE_NONE) say(t, TROUBLE_NOTE, key, id, a, b, c);
}

/* Bytes of the UTF-8 character at text, 0 when it is none, a control, or a mark that turns or hides
 * text: U+200B ... 200F, 2028 ... 202E, 2060 ... 206F, FEFF. */
static size_t character(const char *text, size_t n)
{
    const unsigned char *const p = (const unsigned char *)text;
    const size_t bytes = text_character(text, n);
    if (bytes == 1) return p[0] >= 0x20 && p[0] != 0x7F;
    if (bytes == 2) return p[0] == 0xC2 && p[1] < 0xA0 ? 0 : bytes;
    if (bytes != 3) return bytes;
    const uint32_t c = (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
    return (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
                   (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF
               ? 0
               : bytes;
}

void trouble_piece(char *piece, const char *text, size_t bytes)
{
    enum { CHARACTERS = 40 };
    size_t n = 0, i = 0;
    for (int count = 0; i < bytes && count < CHARACTERS; count++) {
        const size_t len = character(text + i, bytes - i);
        for (size_t k = 0; k < len; k++) piece[n++] = text[i + k];
        if (len == 0) piece[n++] = '?';
        i += len > 0 ? len : 1;
    }
    piece[n] = 0;
    if (i < bytes) text_append(piece, PIECE_BYTES, &n, "…");
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The text with commas as points, and of several points only the first; 0 when that is no number
 * either. */
static int mended(char *text, const char *value, size_t bytes)
{
    size_t n = 0;
    int points = 0;
    if (bytes + 1 > PIECE_BYTES) return 0;
    for (size_t i = 0; i < bytes; i++) {
        const char c = value[i] == ',' ? '.' : value[i];
        if (c == '.' && points++ > 0) continue;
        text[n++] = c;
    }
    text[n] = 0;
    return lesson_number_parse(text, n, NULL, NULL) == LESSON_NUMBER_OK;
}

static int has_letters_of(const char *value, size_t bytes, const char *word)
{
    size_t i = bytes > 0 && (value[0] == '-' || value[0] == '+') ? 1 : 0;
    for (; *word != 0; word++, i++)
        if (i >= bytes || (value[i] | 0x20) != *word) return 0;
    return 1;
}

static int same_points(const char *value, size_t bytes)
{
    int points = 0, commas = 0;
    for (size_t i = 0; i < bytes; i++) {
        points += value[i] == '.';
        commas += value[i] == ',';
    }
    return points > 1 && commas == 0;
}

static void refuse_number(const char *key, const char *what, const char *value, size_t bytes,
                          lesson_number_status status, lesson_trouble *t)
{
    char piece[PIECE_BYTES], better[PIECE_BYTES];
    trouble_piece(piece, value, bytes);
    const int can_mend = mended(better, value, bytes);
    lesson_word id = LESSON_W_BAD_NUMBER;
    if (status == LESSON_NUMBER_EMPTY)
        id = LESSON_W_BAD_EMPTY;
    else if (status == LESSON_NUMBER_TOO_LARGE)
        id = LESSON_W_BAD_LARGE;
    else if (status == LESSON_NUMBER_COMMA && can_mend)
        id = LESSON_W_BAD_COMMA;
    else if (same_points(value, bytes) && can_mend)
        id = LESSON_W_BAD_POINTS;
    else if (has_letters_of(value, bytes, "nan") || has_letters_of(value, bytes, "inf"))
        id = LESSON_W_BAD_NAN;
    trouble_say(t, key, id, what, piece, better);
}

int state_read_number(const char *key, const char *what, const char *value, size_t bytes, double *x,
                      lesson_trouble *t)
{
    size_t from = 0;
    while (from < bytes && value[from] == ' ') from++;
    while (bytes > from && value[bytes - 1] == ' ') bytes--;
    const lesson_number_status status = lesson_number_parse(value + from, bytes - from, x, NULL);
    if (status == LESSON_NUMBER_OK) return 1;
    refuse_number(key, what, value + from, bytes - from, status, t);
    return 0;
}

int state_read_cell(const char *matrix, int32_t row, int32_t column, const char *value,
                    size_t bytes, double *x, lesson_trouble *t)
{
    char i[LESSON_NUMBER_BYTES], c[LESSON_NUMBER_BYTES], place[PIECE_BYTES];
    lesson_number_integer(i, row);
    lesson_number_integer(c, column);
    const char *const at[3] = {matrix, i, c};
    text_compose(place, sizeof place, LESSON_W_BAD_CELL, at);
    if (state_read_number(matrix, place, value, bytes, x, t)) return 1;
    t->row = row;
    t->column = column;
    return 0;
}
