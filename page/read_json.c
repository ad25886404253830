/* SPDX-License-Identifier: MIT */
/* read_json.c - JSON as tables: rows of numbers, [[1, 0], [0, 2]], each with its token's name before
 * them or without; heads of such rows; or an object with q, k and v (and tokens, the names), as the
 * page and the command write it. Other keys of the object are passed over.
 */
#include "page/read_parts.h"

enum { INTO_OUTSIDE = -1, INTO_NAMES = 3, INTO_NOTHING = 4, INTO_KEY = 5 };

static int64_t line_of(const read_state *r)
{
    int64_t line = 1;
    for (size_t i = 0; i < r->json.r.at && i < r->length; i++) line += r->source[i] == '\n';
    return line;
}

static read_status refuse(read_state *r, lesson_word clause)
{
    return read_refuse_clause(r, LESSON_W_READ_JSON, line_of(r), lesson_word_text(clause));
}

/* "of the JSON text", and of which of its tables */
static void say_where(read_state *r)
{
    const char key[2] = {"qkv"[r->json.into], 0};
    line_text(r->trouble, " ");
    if (r->alone)
        line_word(r->trouble, LESSON_W_READ_JSON_OF);
    else
        line_say(r->trouble, LESSON_W_READ_JSON_OF_KEY, key, NULL, NULL);
}

/* What is wrong inside of a table: head, row and column, counted from 1; a name has a column, too. */
static read_status refuse_cell(read_state *r, const char *clause)
{
    const read_json *const j = &r->json;
    const int64_t at[3] = {j->head + 1, j->row + 1, j->numbers + j->named + 1};
    char number[3][LESSON_NUMBER_BYTES];
    for (int i = 0; i < 3; i++) lesson_number_integer(number[i], at[i]);
    if (j->leaf > 2)
        line_say(r->trouble, LESSON_W_READ_JSON_HEAD_CELL, number[0], number[1], number[2]);
    else
        line_say(r->trouble, LESSON_W_READ_JSON_ROW_CELL, number[1], number[2], NULL);
    say_where(r);
    line_text(r->trouble, ": ");
    line_own(r->trouble, clause);
    line_text(r->trouble, ".");
    return READ_REFUSED;
}

static read_status refuse_here(read_state *r, lesson_word clause)
{
    return refuse_cell(r, lesson_word_text(clause));
}

/* The text is no JSON. */
static read_status refuse_syntax(read_state *r)
{
    const read_json *const j = &r->json;
    if (j->into >= 0 && j->into < 3) return refuse_cell(r, j->r.error);
    return read_refuse_clause(r, LESSON_W_READ_JSON, line_of(r), j->r.error);
}

static void start_table(read_json *j, int into)
{
    j->into = into;
    j->base = j->r.depth - 1;
    j->leaf = 0;
    j->numbers = j->row = j->head = 0;
    j->named = 0;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static read_status one_number(read_state *r)
{
    read_json *const j = &r->json;
    const char *const text = (const char *)r->source + j->r.text_at;
    double x = 0;
    const lesson_number_status status = lesson_number_parse(text, j->r.text_length, &x, NULL);
    if (status != LESSON_NUMBER_OK) return refuse_here(r, LESSON_W_READ_JSON_LARGE);
    if (j->numbers == READ_COLUMNS)
        return read_refuse(r, LESSON_W_READ_TOO_MANY_COLUMNS, j->row + 1, READ_COLUMNS);
    if (r->cells - j->first == READ_CELLS)
        return read_refuse(r, LESSON_W_READ_TOO_MANY_CELLS, READ_CELLS, 0);
    r->cell[r->cells++] = x;
    j->numbers++;
    return READ_MORE;
}

/* A row or a head ends at another place than the first one. */
static read_status refuse_end(read_state *r, lesson_word what, int64_t n, lesson_word ends,
                              int64_t is_at, int64_t due)
{
    line_say_numbers(r->trouble, what, n, 0, NULL);
    say_where(r);
    line_text(r->trouble, " ");
    line_say_numbers(r->trouble, ends, is_at, due, NULL);
    return READ_REFUSED;
}

static read_status row_end(read_state *r)
{
    read_json *const j = &r->json;
    read_table *const t = &r->table[j->into];
    const int first = j->row == 0 && j->head == 0;
    if (j->numbers == 0) return refuse_here(r, LESSON_W_READ_JSON_NUMBER);
    if (first) t->columns = j->numbers;
    if (j->numbers != t->columns)
        return refuse_end(r, LESSON_W_READ_JSON_ROW, j->row + 1, LESSON_W_READ_JSON_ROW_ENDS,
                          j->numbers + j->named, t->columns + j->named);
    if (j->row == READ_ROWS) return read_refuse(r, LESSON_W_READ_TOO_MANY_ROWS, READ_ROWS, 0);
    j->row++;
    j->numbers = 0;
    j->named = 0;
    return READ_MORE;
}

static read_status head_end(read_state *r)
{
    read_json *const j = &r->json;
    read_table *const t = &r->table[j->into];
    if (j->head == 0) t->rows = j->row;
    if (j->row != t->rows || j->row == 0)
        return refuse_end(r, LESSON_W_READ_JSON_HEAD, j->head + 1, LESSON_W_READ_JSON_HEAD_ENDS,
                          j->row, t->rows);
    if (j->head == READ_HEADS) return read_refuse(r, LESSON_W_READ_TOO_MANY_HEADS, READ_HEADS, 0);
    j->head++;
    j->row = 0;
    return READ_MORE;
}

static read_status table_end(read_state *r)
{
    read_json *const j = &r->json;
    if (j->leaf == 0) return refuse_here(r, LESSON_W_READ_JSON_PLACE);
    if (j->leaf == 2) {
        r->table[j->into].rows = j->row;
        j->head = 1;
    }
    r->table[j->into].heads = j->head;
    r->begin[j->into] = j->first;
    r->given[j->into] = 1;
    j->into = r->alone ? INTO_OUTSIDE : INTO_KEY;
    return READ_MORE;
}

static read_status row_name(read_state *r)
{
    read_json *const j = &r->json;
    if (j->r.depth - j->base != 2 || j->numbers > 0 || r->names > j->row || r->names == READ_ROWS)
        return refuse_here(r, LESSON_W_READ_JSON_NUMBER);
    char *const place = read_name_place(r);
    read_add_name(r, place, json_string(&j->r, place, j->r.text_length + 1));
    j->leaf = 2;
    j->named = 1;
    return READ_MORE;
}

static read_status in_table(read_state *r, json_event e)
{
    read_json *const j = &r->json;
    const int32_t deep = j->r.depth - j->base;
    if (e == JSON_ARRAY && deep <= 3 && (j->leaf == 0 || deep <= j->leaf)) return READ_MORE;
    if (e == JSON_STRING) return row_name(r);
    if (e == JSON_NUMBER) {
        if (j->leaf == 0) j->leaf = deep;
        if (deep < 2 || deep != j->leaf) return refuse_here(r, LESSON_W_READ_JSON_PLACE);
        return one_number(r);
    }
    if (e != JSON_ARRAY_END) return refuse_here(r, LESSON_W_READ_JSON_NUMBER);
    if (deep == 0) return table_end(r);
    if (j->leaf == 0) return refuse_here(r, LESSON_W_READ_JSON_PLACE);
    return deep == j->leaf - 1 ? row_end(r) : head_end(r);
}

/* ---- around them ------------------------------------------------------------------------------- */

/* 0 ... 2, INTO_NAMES or INTO_NOTHING */
static int key_into(const read_state *r)
{
    const char *const text = (const char *)r->source + r->json.r.text_at;
    const size_t n = r->json.r.text_length;
    for (int i = 0; i < 3; i++)
        if (n == 1 && (text[0] | 0x20) == "qkv"[i]) return i;
    return text_is(text, n, "tokens") || text_is(text, n, "names") ? INTO_NAMES : INTO_NOTHING;
}

static read_status in_names(read_state *r, json_event e)
{
    read_json *const j = &r->json;
    if (e == JSON_ARRAY_END) {
        j->into = INTO_KEY;
        return READ_MORE;
    }
    if (e != JSON_STRING) return refuse(r, LESSON_W_READ_JSON_TOKENS);
    if (r->names == READ_ROWS) return read_refuse(r, LESSON_W_READ_TOO_MANY_ROWS, READ_ROWS, 0);
    char *const place = read_name_place(r);
    read_add_name(r, place, json_string(&j->r, place, j->r.text_length + 1));
    return READ_MORE;
}

/* A key was read: what is its value? */
static read_status key(read_state *r)
{
    read_json *const j = &r->json;
    const int into = key_into(r);
    if ((into < 3 && r->given[into]) || (into == INTO_NAMES && r->names > 0))
        return refuse(r, LESSON_W_READ_JSON_TWICE);
    const json_event e = json_next(&j->r);
    if (e == JSON_ERROR) return refuse_syntax(r);
    if (into == INTO_NOTHING) {
        j->base = j->r.depth - (e == JSON_ARRAY || e == JSON_OBJECT);
        j->into = j->r.depth > j->base ? INTO_NOTHING : INTO_KEY;
        return READ_MORE;
    }
    if (e != JSON_ARRAY)
        return refuse(r, into == INTO_NAMES ? LESSON_W_READ_JSON_TOKENS : LESSON_W_READ_JSON_PLACE);
    start_table(j, into);
    j->first = r->cells;
    return READ_MORE;
}

static read_status first_event(read_state *r, json_event e)
{
    read_json *const j = &r->json;
    if (e == JSON_OBJECT) {
        r->alone = 0;
        j->into = INTO_KEY;
        return READ_MORE;
    }
    if (e != JSON_ARRAY) return read_refuse(r, LESSON_W_READ_JSON_NOTHING, 0, 0);
    start_table(j, 0);
    j->first = 0;
    return READ_MORE;
}

static read_status end(read_state *r)
{
    const int first = r->given[0] ? 0 : r->given[1] ? 1 : 2;
    if (!r->given[first]) return read_refuse(r, LESSON_W_READ_JSON_NOTHING, 0, 0);
    const int named = r->given[1] ? 1 : first; /* names are those of the keys */
    if (r->names > 0 && r->names != r->table[named].rows)
        return read_refuse(r, LESSON_W_READ_JSON_NAMES, r->names, r->table[named].rows);
    return READ_DONE;
}

static read_status event(read_state *r, json_event e)
{
    read_json *const j = &r->json;
    if (e == JSON_ERROR) return refuse_syntax(r);
    if (e == JSON_END) return end(r);
    if (j->into >= 0 && j->into < 3) return in_table(r, e);
    if (j->into == INTO_NAMES) return in_names(r, e);
    if (j->into == INTO_NOTHING) {
        if (j->r.depth == j->base) j->into = INTO_KEY;
        return READ_MORE;
    }
    if (j->into == INTO_KEY) return e == JSON_KEY ? key(r) : READ_MORE;
    return first_event(r, e);
}

read_status read_json_step(read_state *r, int64_t events)
{
    while (events-- > 0) {
        const read_status status = event(r, json_next(&r->json.r));
        if (status != READ_MORE) return status;
    }
    return READ_MORE;
}
