/* SPDX-License-Identifier: MIT */
/* read_table.c - see read_table.h: which reader a source is for, the block that holds everything,
 * and the wording of what is refused. The block is: the state, the source, the numbers, the names.
 */
#include "page/read_parts.h"

enum { ALIGN = 64, SHOWN = 40 };

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* No number, with what parts it from the next one, is shorter than two bytes. */
static size_t cells_of(size_t length)
{
    const size_t most = 3 * (size_t)READ_CELLS + READ_COLUMNS;
    const size_t cells = length / 2 + 2;
    return cells < most ? cells : most;
}

size_t read_room(size_t length)
{
    if (length > READ_BYTES) return 0;
    return aligned(sizeof(read_state)) + aligned(length + 1) +
           aligned(cells_of(length) * sizeof(double)) + aligned(length + 2 * (size_t)READ_ROWS);
}

static int blank(unsigned char x)
{
    return x == ' ' || x == '\t' || x == '\n' || x == '\r';
}

/* A text that starts with a bracket is JSON unless it is a name such as [CLS]. */
static read_kind kind_of(const unsigned char *p, size_t n)
{
    size_t i = 0;
    if (n > 0 && p[0] == 0x93) return READ_AS_NPY;
    while (i < n && blank(p[i])) i++;
    if (i < n && p[i] == '{') return READ_AS_JSON;
    if (i >= n || p[i] != '[') return READ_AS_TEXT;
    i++;
    while (i < n && blank(p[i])) i++;
    if (i >= n) return READ_AS_JSON;
    const int starts = p[i] == '[' || p[i] == ']' || p[i] == '"' || p[i] == '-' || p[i] == '{' ||
                       (p[i] >= '0' && p[i] <= '9');
    return starts ? READ_AS_JSON : READ_AS_TEXT;
}

read_state *read_begin(void *block, const void *source, size_t length)
{
    unsigned char *p = (unsigned char *)block;
    read_state *const r = (read_state *)block;
    p += aligned(sizeof *r);
    r->source = p;
    __builtin_memcpy(r->source, source, length);
    r->length = length;
    p += aligned(length + 1);
    r->cell = (double *)(void *)p;
    p += aligned(cells_of(length) * sizeof(double));
    r->text = (char *)p;
    r->cells = r->names = 0;
    r->text_bytes = 0;
    r->alone = 1;
    r->header = 0;
    for (int i = 0; i < 3; i++) r->given[i] = 0;
    r->kind = kind_of(r->source, length);
    csv_begin(&r->csv.r, r->source, length);
    r->csv.numbers = r->csv.data_rows = 0;
    r->csv.first_is_name = r->csv.odd = r->csv.some = 0;
    json_begin(&r->json.r, r->source, length);
    r->json.into = -1;
    return r;
}

read_status read_step(read_state *r, int64_t fields, lesson_line *trouble)
{
    r->trouble = trouble;
    read_status status = READ_REFUSED;
    if (r->kind == READ_AS_NPY) status = read_npy_all(r);
    if (r->kind == READ_AS_JSON) status = read_json_step(r, fields);
    if (r->kind == READ_AS_TEXT) status = read_csv_step(r, fields);
    for (int i = 0; i < 3 && status == READ_DONE; i++)
        if (r->given[i]) r->table[i].x = r->cell + r->begin[i];
    return status;
}

int read_percent(const read_state *r)
{
    const size_t at = r->kind == READ_AS_JSON ? r->json.r.at : r->csv.r.at;
    return r->length > 0 ? (int)((double)at * 100 / (double)r->length) : 100;
}

int read_alone(const read_state *r)
{
    return r->alone;
}

const read_table *read_found(const read_state *r, int which)
{
    return r->given[which] ? &r->table[which] : NULL;
}

int64_t read_names(const read_state *r)
{
    return r->names;
}

lesson_name read_name_of(const read_state *r, int64_t row)
{
    const lesson_name name = {r->text + r->name[row].at, r->name[row].bytes};
    return name;
}

int read_header(const read_state *r)
{
    return r->header;
}

/* ---- for the readers -------------------------------------------------------------------------- */

read_status read_refuse(read_state *r, lesson_word word, int64_t a, int64_t b)
{
    line_say_numbers(r->trouble, word, a, b, NULL);
    return READ_REFUSED;
}

read_status read_refuse_text(read_state *r, lesson_word word, int64_t a, int64_t b,
                             const char *text, size_t bytes)
{
    char shown[512];
    r->trouble->face->safe(shown, sizeof shown, text, bytes, SHOWN);
    line_say_numbers(r->trouble, word, a, b, shown);
    return READ_REFUSED;
}

read_status read_refuse_clause(read_state *r, lesson_word word, int64_t a, const char *clause)
{
    char first[LESSON_NUMBER_BYTES];
    lesson_number_integer(first, a);
    line_say(r->trouble, word, first, clause, NULL);
    return READ_REFUSED;
}

char *read_name_place(read_state *r)
{
    return r->text + r->text_bytes;
}

void read_add_name(read_state *r, const char *text, size_t bytes)
{
    char *const to = read_name_place(r);
    for (size_t i = 0; i < bytes && text != to; i++) to[i] = text[i];
    r->name[r->names].at = r->text_bytes;
    r->name[r->names].bytes = bytes;
    r->names++;
    r->text_bytes += bytes;
}
