/* SPDX-License-Identifier: MIT */
/* compose.c - see compose.h. Holds no sentence (words.inc) and no arithmetic (stages.c). */
#include "lesson/compose.h"

typedef struct symbol {
    const char *utf8, *ascii;
} symbol;

static const symbol symbols[] = {
#define LESSON_SYMBOL(utf8, ascii) {utf8, ascii},
#include "lesson/symbols.inc"
#undef LESSON_SYMBOL
};

lesson_word lesson_caption(const lesson_input *in)
{
    switch (in->stage) {
    case 0:
        return LESSON_W_CAPTION_VECTORS;
    case 1:
        return LESSON_W_CAPTION_SCORES;
    case 2:
        break;
    case 3:
        if (in->wrong_way) return LESSON_W_CAPTION_WEIGHTS_WRONG;
        return in->causal || in->padding > 0 ? LESSON_W_CAPTION_WEIGHTS_MASKED
                                             : LESSON_W_CAPTION_WEIGHTS;
    default:
        return LESSON_W_CAPTION_OUTPUT;
    }
    switch (in->scale_kind) {
    case LESSON_SCALE_NONE:
        return LESSON_W_CAPTION_NONE;
    case LESSON_SCALE_DK:
        return LESSON_W_CAPTION_DK;
    case LESSON_SCALE_VALUE:
        return LESSON_W_CAPTION_TIMES;
    default:
        return LESSON_W_CAPTION_SQRT;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

int lesson_finite(double x)
{
    return x - x == 0;
}

int lesson_whole(double x)
{
    if (!lesson_finite(x)) return 0;
    if (x >= 1e15 || x <= -1e15) return 1; /* shown as powers of ten */
    return (double)(int64_t)x == x;
}

int lesson_all_whole(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!lesson_whole(x[i])) return 0;
    return 1;
}

unsigned lesson_flags(const lesson_face *face, unsigned flags)
{
    return face->utf8 ? flags | LESSON_MINUS_UNICODE : flags;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t text_length(const char *text)
{
    size_t n = 0;
    while (text[n] != 0) n++;
    return n;
}

int text_same(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t i = 0;
    while (i < a_bytes && i < b_bytes && a[i] == b[i]) i++;
    return i == a_bytes && i == b_bytes;
}

int text_is(const char *text, size_t n, const char *word)
{
    return text_same(text, n, word, text_length(word));
}

size_t text_character(const char *text, size_t n)
{
    const unsigned char *const p = (const unsigned char *)text;
    if (p[0] < 0x80) return 1;
    const size_t bytes = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] < 0xC2 || p[0] > 0xF4 || bytes > n) return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0;  /* overlong */
    if (p[0] == 0xED && p[1] >= 0xA0) return 0; /* surrogates */
    if (p[0] == 0xF0 && p[1] < 0x90) return 0;
    if (p[0] == 0xF4 && p[1] >= 0x90) return 0; /* beyond 10FFFF */
    return bytes;
}

/* ---- lines ----------------------------------------------------------------------------------- */

void line_start(lesson_line *line, const lesson_face *face)
{
    line->face = face;
    line->n = 0;
    line->text[0] = 0;
}

void line_text(lesson_line *line, const char *harmless)
{
    size_t n = text_length(harmless);
    const size_t room = LESSON_LINE_BYTES - 1 - line->n;
    if (n > room) {
        n = room;
        while (n > 0 && (harmless[n] & 0xC0) == 0x80) n--;
    }
    for (size_t i = 0; i < n; i++) line->text[line->n + i] = harmless[i];
    line->n += n;
    line->text[line->n] = 0;
}

/* The symbol that the text starts with, or NULL; *n is its length in bytes. */
static const char *ascii_for(const char *text, size_t *n)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        const size_t len = text_length(symbols[i].utf8);
        size_t same = 0;
        while (same < len && text[same] == symbols[i].utf8[same]) same++;
        if (same < len) continue;
        *n = len;
        return symbols[i].ascii;
    }
    return NULL;
}

void line_own(lesson_line *line, const char *utf8)
{
    if (line->face->utf8) {
        line_text(line, utf8);
        return;
    }
    for (const char *p = utf8; *p != 0;) {
        size_t n = 1;
        const char one[2] = {*p, 0};
        const char *const ascii = ascii_for(p, &n);
        line_text(line, ascii != NULL ? ascii : one);
        p += n;
    }
}

void line_word(lesson_line *line, lesson_word id)
{
    line_own(line, lesson_word_text(id));
}

void line_say(lesson_line *line, lesson_word id, const char *a, const char *b, const char *c)
{
    const char *const value[3] = {a, b, c};
    for (const char *p = lesson_word_text(id); *p != 0;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '2' && p[2] == '}') {
            if (value[p[1] - '0'] != NULL) line_text(line, value[p[1] - '0']);
            p += 3;
            continue;
        }
        char piece[8]; /* one character, so that symbols stay whole */
        size_t n = 0;
        do piece[n++] = *p++;
        while (n < 7 && (*p & 0xC0) == 0x80);
        piece[n] = 0;
        line_own(line, piece);
    }
}

void line_say_numbers(lesson_line *line, lesson_word id, int64_t a, int64_t b, const char *c)
{
    char first[LESSON_NUMBER_BYTES], second[LESSON_NUMBER_BYTES];
    lesson_number_integer(first, a);
    lesson_number_integer(second, b);
    line_say(line, id, first, second, c);
}

void line_count_keys(lesson_line *line, int64_t n)
{
    line_say_numbers(line, n == 1 ? LESSON_W_PADDING_KEY : LESSON_W_PADDING_KEYS, n, 0, NULL);
}

void line_integer(lesson_line *line, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_integer(text, x);
    line_text(line, text);
}

void line_number(lesson_line *line, double x, unsigned flags)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_show(text, x, line->face->digits, lesson_flags(line->face, flags));
    line_text(line, lesson_finite(x) ? text : "?"); /* what is no number is not drawn as one */
}

void line_exact(lesson_line *line, double x)
{
    char text[LESSON_NUMBER_BYTES];
    size_t n = lesson_number_shortest(text, x == 0 ? 0 : x); /* never -0 */
    if (n > 2 && text[n - 2] == '.' && text[n - 1] == '0') text[n - 2] = 0;
    int padded =
        0; /* what follows is the padding of the exponent: "e+05" is e5 here, as in tables */
    for (n = 0; text[n] != 0; n++) {
        const char one[2] = {text[n], 0};
        if (text[n] == '-')
            line_own(line, "−");
        else if (text[n] != '+' && !(padded && text[n] == '0'))
            line_text(line, one);
        padded = text[n] == 'e' || (padded && (text[n] == '+' || text[n] == '-'));
    }
}

/* Nothing but spaces (of any width), or nothing at all. */
static int is_blank(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (; *p != 0; p++) {
        if (*p == ' ') continue;
        if (p[0] == 0xC2 && p[1] == 0xA0)
            p += 1;
        else if (p[0] == 0xE2 && p[1] == 0x80 && p[2] >= 0x80 && p[2] <= 0x8A)
            p += 2;
        else if (p[0] == 0xE3 && p[1] == 0x80 && p[2] == 0x80)
            p += 2;
        else
            return 0;
    }
    return 1;
}

void line_name(lesson_line *line, const lesson_name *name, int max_columns)
{
    char text[512];
    line->face->safe(text, sizeof text, name->text, name->bytes, max_columns);
    if (!is_blank(text)) {
        line_text(line, text);
        return;
    }
    /* what cannot be seen stands between quotes */
    if (max_columns > 2)
        line->face->safe(text, sizeof text, name->text, name->bytes, max_columns - 2);
    line_text(line, "\"");
    if (max_columns == 0 || max_columns > 2) line_text(line, text);
    if (max_columns != 1) line_text(line, "\"");
}

void line_vector(lesson_line *line, const double *x, int64_t n, int64_t channels, int whole)
{
    line_text(line, "[");
    for (int64_t c = 0; c < n && c < channels; c++) {
        if (c > 0) line_text(line, ",");
        line_number(line, x[c], whole ? LESSON_KEEP_INTEGER : 0);
    }
    if (channels < n) line_own(line, channels > 0 ? ",…" : "…");
    line_text(line, "]");
}

void line_key(lesson_line *line, const lesson_input *in, int64_t key, int max_columns)
{
    line_name(line, &in->name[key], max_columns);
    for (int64_t j = 0; j < in->keys; j++) {
        if (j == key || !text_same(in->name[j].text, in->name[j].bytes, in->name[key].text,
                                   in->name[key].bytes))
            continue;
        line_text(line, " (@");
        line_integer(line, key);
        line_text(line, ")");
        return;
    }
}

void line_row(lesson_line *line, const lesson_input *in, int64_t row, int max_columns)
{
    if (in->rows == in->keys) {
        line_key(line, in, row, max_columns);
        return;
    }
    line_text(line, "@");
    line_integer(line, row);
}

void line_role(lesson_line *line, char role)
{
    const char mark[3] = {1, role, 0};
    if (role != 0 && line->face->color == LESSON_MARKS) line_text(line, mark);
}

void line_role_end(lesson_line *line, char role)
{
    if (role != 0 && line->face->color == LESSON_MARKS) line_text(line, "\x02");
}

int line_columns(const lesson_line *line)
{
    if (line->face->color != LESSON_MARKS) return line->face->columns(line->text);
    char text[LESSON_LINE_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < line->n; i++) {
        if (line->text[i] == 1)
            i++; /* and the letter behind it */
        else if (line->text[i] != 2)
            text[n++] = line->text[i];
    }
    text[n] = 0;
    return line->face->columns(text);
}

/* ---- the sink -------------------------------------------------------------------------------- */

void sink_text(const lesson_view *view, const char *text)
{
    view->sink->write(view->sink->ctx, text, text_length(text));
}

void sink_repeat(const lesson_view *view, const char *text, int64_t times)
{
    for (int64_t i = 0; i < times; i++) sink_text(view, text);
}

void sink_padded(const lesson_view *view, const char *text, int columns, int right)
{
    const int missing = columns - view->face->columns(text);
    if (right) sink_repeat(view, " ", missing);
    sink_text(view, text);
    if (!right) sink_repeat(view, " ", missing);
}

/* The word at p, cut at the buffer; returns its bytes. */
static size_t take_word(char *word, size_t size, const char *p)
{
    size_t n = 0;
    while (p[n] != 0 && p[n] != ' ' && n + 1 < size) {
        word[n] = p[n];
        n++;
    }
    while (n + 1 == size && n > 1 && (p[n] & 0xC0) == 0x80) n--;
    word[n] = 0;
    return n;
}

void sink_wrapped(const lesson_view *view, const char *text, int indent)
{
    char word[1024];
    int column = 0;
    int first = 1;
    for (const char *p = text; *p != 0;) {
        if (*p == ' ') {
            p++;
            continue;
        }
        const size_t n = take_word(word, sizeof word, p);
        const int columns = view->face->columns(word);
        if (column > 0 && column + 1 + columns > view->face->width) {
            sink_text(view, "\n");
            column = 0;
            first = 0;
        }
        if (column > 0)
            sink_text(view, " ");
        else if (!first)
            sink_repeat(view, " ", indent);
        column += column > 0 ? 1 : first ? 0 : indent;
        sink_text(view, word);
        column += columns;
        p += n;
    }
    sink_text(view, "\n");
}
