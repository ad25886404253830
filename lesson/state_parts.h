/* SPDX-License-Identifier: MIT */
/* state_parts.h - what the files of the state share: its tables of keys, sizes, and the sentences
 * for the reader. Faces include state.h instead.
 */
#ifndef QKV_LESSON_STATE_PARTS_H
#define QKV_LESSON_STATE_PARTS_H

#include "lesson/compose.h"
#include "lesson/state.h"

/* ---- state.c */
int state_resize(lesson_state *state, int32_t tokens, int32_t d_k, int32_t d_v, int32_t features,
                 const lesson_memory *memory);
int state_preset_data(lesson_state *s, const lesson_memory *memory);
void state_project(lesson_state *s);
/* Brings what speaks of a place back inside. */
void state_clamp(lesson_state *s);
/* Is the multiplier of the scores, temperature included, a finite number? */
int lesson_finite_scale(const lesson_input *in);
state_matrix *state_matrix_of(lesson_state *s, char which, int32_t **own);
int state_focus_fits(const lesson_state *s, const lesson_focus *focus);
int state_choice_is_lesson(const lesson_choice *choice);

/* ---- state_words.c: sentences about what was read */
void trouble_none(lesson_trouble *t);
/* Fills in the word's {0}, {1}, {2}; QKV_EARG. */
qkv_status trouble_say(lesson_trouble *t, const char *key, lesson_word id, const char *a,
                       const char *b, const char *c);
/* The same with numbers: {0} is `a`, {1} and {2} are b and c. */
qkv_status trouble_numbers(lesson_trouble *t, const char *key, lesson_word id, const char *a,
                           int64_t b, int64_t c);
/* {1} is what was read, {2} "least to most". */
qkv_status trouble_range(lesson_trouble *t, const char *key, const char *value, size_t bytes,
                         int64_t least, int64_t most);
/* Puts more behind text[0 ... *n); a piece that finds no room is left out whole. */
void text_append(char *text, size_t room, size_t *n, const char *more);
/* {0}, {1}, {2} of the word filled in. */
void text_compose(char *text, size_t room, lesson_word id, const char *const value[3]);
/* The same as a note: what was read holds all the same. */
void trouble_note(lesson_trouble *t, const char *key, lesson_word id, const char *a, const char *b,
                  const char *c);
/* At most 40 characters of what was read, controls and broken UTF-8 replaced; room of 176 bytes. */
enum { PIECE_BYTES = 176 };
void trouble_piece(char *piece, const char *text, size_t bytes);
/* A finite number; 0 after a sentence. `what` is the key, or the place. */
int state_read_number(const char *key, const char *what, const char *value, size_t bytes, double *x,
                      lesson_trouble *t);
/* One number of a matrix, the place named. */
int state_read_cell(const char *matrix, int32_t row, int32_t column, const char *value,
                    size_t bytes, double *x, lesson_trouble *t);

/* ---- state_keys.c: one line a setting */

/* "K", "W^Q" for the letters of lesson_state_edit() */
const char *state_matrix_name(char which);

typedef struct state_whole { /* whole numbers from least to most */
    const char *key;
    size_t at; /* in lesson_state, an int32_t or uint32_t */
    int64_t least, most;
    int64_t start; /* what is not written */
} state_whole;
extern const state_whole state_wholes[];
extern const int state_whole_count;
int64_t state_whole_get(const lesson_state *s, const state_whole *w);
void state_whole_put(lesson_state *s, const state_whole *w, int64_t x);

typedef struct state_word { /* one of a few words, stored as its place */
    const char *key;
    size_t at; /* an int32_t */
    int start;
    const char *words[10]; /* ends with NULL */
} state_word;
extern const state_word state_words[];
extern const int state_word_count;

/* Matrices in the order of the text: the key, the letter of lesson_state_edit(). */
typedef struct state_table {
    const char *key;
    char which;
} state_table;
enum { STATE_TABLES = 7 };
extern const state_table state_tables[STATE_TABLES];

extern const char state_focus_letters[]; /* by focus_kind */

/* ---- state_read.c, state_items.c: text */

typedef struct state_item {
    const char *key, *value; /* in the text, not unescaped */
    size_t key_bytes, value_bytes;
} state_item;

typedef struct state_bytes {
    const char *text;
    size_t n;
} state_bytes;

typedef struct state_size {
    int64_t rows, columns;
} state_size;

typedef struct state_reader {
    const lesson_memory *memory;
    lesson_trouble *t;
    lesson_state *s;
    const state_item *item;
    int items;
    int newer; /* what does not fit is kept, not refused */
} state_reader;

int state_is_key(const state_item *i, const char *key);
/* {0} is the key, {1} a piece of what was read, {2} the bound. */
qkv_status state_refuse(const state_reader *r, const char *key, lesson_word id, const char *value,
                        size_t bytes, const char *bound);
/* The value with %XX as the bytes they stand for, in memory of its own. */
qkv_status state_unescape(const state_reader *r, const state_item *i, state_bytes *out);
/* Rows by ";", numbers by ",". 0 after a sentence: a row of another length than the first. */
int state_size_of(const state_reader *r, const char *key, state_bytes v, state_size *size);
/* Stores one item; *known 0: no such key, nothing was stored. Sizes are not among them. */
qkv_status state_apply(const state_reader *r, const state_item *i, int *known);

#endif /* QKV_LESSON_STATE_PARTS_H */
