/* SPDX-License-Identifier: MIT */
/* view.h - view models: what the page draws, as small JSON objects. Every number that is shown is a
 * string made here; plain JSON numbers are geometry only (lengths, places, counts) and are never
 * printed. The page adds nothing: a cell that its stage has not reached is not in the model.
 *
 * view_json.c writes JSON; one view_NAME.c makes one figure's model. Values that are not finite have
 * no geometry: they are written as null.
 */
#ifndef QKV_LESSON_VIEW_H
#define QKV_LESSON_VIEW_H

#include "lesson/compose.h"
#include "lesson/state.h"

/* ---- view_json.c ------------------------------------------------------------------------------- */

typedef struct view_json {
    const lesson_sink *sink;
    lesson_line *line; /* where shown text is put together; empty between two members */
    int comma;         /* a value stands before the next one */
} view_json;

/* key: NULL inside of an array. Open and close with '{' '}' or '[' ']'. */
void view_open(view_json *json, const char *key, char bracket);
void view_close(view_json *json, char bracket);
void view_text(view_json *json, const char *key, const char *text);
/* Bytes from outside; what is not UTF-8 becomes U+FFFD. */
void view_bytes(view_json *json, const char *key, const char *text, size_t bytes);
void view_integer(view_json *json, const char *key, int64_t x);
void view_flag(view_json *json, const char *key, int yes);
/* A string that is written in pieces: everything that goes to the sink stands in it. */
void view_open_text(view_json *json, const char *key);
lesson_sink view_text_sink(view_json *json);
void view_close_text(view_json *json);
/* Geometry. */
void view_real(view_json *json, const char *key, double x);

/* ---- text that is shown ------------------------------------------------------------------------ */

/* What stands in json->line, which is empty then: as text, or as pieces. */
void view_line(view_json *json, const char *key);
void view_line_pieces(view_json *json, const char *key);
void view_number(view_json *json, const char *key, double x, int whole); /* at the face's digits */
void view_exact(view_json *json, const char *key, double x);             /* with every digit */
void view_key(view_json *json, const char *key, const lesson_input *in, int64_t j, int columns);
void view_row(view_json *json, const char *key, const lesson_input *in, int64_t i, int columns);
/* "names": of all keys */
void view_names(view_json *json, const lesson_input *in);
/* Rows of numbers: as they are shown, whole ones without decimals, or with every digit. */
void view_table(view_json *json, const char *key, const double *x, int64_t rows, int64_t columns,
                int exact);

/* "[1, 0]": like line_vector, with spaces. */
void view_line_vector(lesson_line *line, const double *x, int64_t n, int64_t channels, int whole);
/* A line as pieces {"t": text, "r": "q" | "k" | "v"}: where roles were marked, see compose.h. */
void view_pieces(view_json *json, const char *key, const char *line);

/* ---- the models -------------------------------------------------------------------------------- */

typedef struct view_of {
    const lesson_state *state;
    const lesson_view *view; /* its input and stages are those of the state */
} view_of;

/* Each writes the members of one object that the caller has opened. QKV_OK or QKV_ENOMEM. */
qkv_status view_calc(view_json *json, const view_of *of);
qkv_status view_lookup(view_json *json, const view_of *of);
qkv_status view_project(view_json *json, const view_of *of);
/* "features": what each number of X stands for. */
void view_project_features(view_json *json, const lesson_state *state);
qkv_status view_blend(view_json *json, const view_of *of);
qkv_status view_root(view_json *json, const view_of *of);
qkv_status view_code(view_json *json, const view_of *of);
qkv_status view_maximum(view_json *json, const view_of *of);
qkv_status view_predict(view_json *json, const view_of *of);
qkv_status view_symmetry(view_json *json, const view_of *of);
/* Without a state; QKV_EARG: there is no such question. */
qkv_status view_question(view_json *json, int32_t number, uint32_t seed, const lesson_face *face,
                         const lesson_memory *memory);

#endif /* QKV_LESSON_VIEW_H */
