/* SPDX-License-Identifier: MIT */
/* compose.h - one line of text, put together in a buffer of fixed size, and lines written to a
 * sink.
 *
 * Our own text goes through the table of symbols, numbers through number.h, names of tokens through
 * the face's `safe`; so whatever stands in a line may be shown. What does not fit the buffer is cut
 * at a whole character; LESSON_LINE_BYTES is enough for everything that the faces put in.
 */
#ifndef QKV_LESSON_COMPOSE_H
#define QKV_LESSON_COMPOSE_H

#include "lesson/lesson.h"

enum { LESSON_LINE_BYTES = 8192, LESSON_NAME_COLUMNS = 16 };

typedef struct lesson_line {
    const lesson_face *face;
    size_t n;
    char text[LESSON_LINE_BYTES];
} lesson_line;

void line_start(lesson_line *line, const lesson_face *face);
void line_text(lesson_line *line, const char *harmless);
void line_own(lesson_line *line, const char *utf8); /* with our symbols */
void line_word(lesson_line *line, lesson_word id);  /* the same */
void line_say(lesson_line *line, lesson_word id, const char *a, const char *b, const char *c);
/* The same with whole numbers. */
void line_say_numbers(lesson_line *line, lesson_word id, int64_t a, int64_t b, const char *c);
void line_count_keys(lesson_line *line, int64_t n); /* "key is", "3 keys are": after "the last" */
void line_integer(lesson_line *line, int64_t x);
/* rounded to face->digits; flags as in number.h, the minus by the face; NaN is "?" */
void line_number(lesson_line *line, double x, unsigned flags);
/* the fewest digits that are this number, 0.3, 2, 1e300; never -0 */
void line_exact(lesson_line *line, double x);
void line_name(lesson_line *line, const lesson_name *name, int max_columns);
/* "[1,0]"; the first `channels` of n, then an ellipsis. whole: no decimals */
void line_vector(lesson_line *line, const double *x, int64_t n, int64_t channels, int whole);
/* A query's or key's name; "@3" where rows have none, "the (@5)" where two share it. */
void line_row(lesson_line *line, const lesson_input *in, int64_t row, int max_columns);
void line_key(lesson_line *line, const lesson_input *in, int64_t key, int max_columns);
int line_columns(const lesson_line *line);

/* Operands of worked lines belong to a role. Where the face's color is LESSON_MARKS, the text of
 * one stands between \x01 with 'q', 'k' or 'v' and \x02 (no harmless text holds these bytes, and they
 * take no column); elsewhere nothing is written. role 0: none. */
enum { LESSON_MARKS = 2 };
void line_role(lesson_line *line, char role);
void line_role_end(lesson_line *line, char role);

unsigned lesson_flags(const lesson_face *face, unsigned flags); /* adds the face's minus */
int lesson_whole(double x);
int lesson_all_whole(const double *x, int64_t n);
int lesson_finite(double x);

/* ---- bytes */
size_t text_length(const char *text);
int text_is(const char *text, size_t n, const char *word);
int text_same(const char *a, size_t a_bytes, const char *b, size_t b_bytes);
/* Bytes of the UTF-8 character at text (n bytes follow, n > 0); 0 when there is none. */
size_t text_character(const char *text, size_t n);

void sink_text(const lesson_view *view, const char *text);
void sink_repeat(const lesson_view *view, const char *text, int64_t times);
/* Left- or right-aligned in columns. */
void sink_padded(const lesson_view *view, const char *text, int columns, int right);
/* Words wrapped at the face's width, a newline at the end; later lines are indented. */
void sink_wrapped(const lesson_view *view, const char *text, int indent);

#endif /* QKV_LESSON_COMPOSE_H */
