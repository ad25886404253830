/* SPDX-License-Identifier: MIT */
/* course.h - the lesson as it is read: a header and eight sections, each a list of blocks in reading
 * order. The page's article and the terminal's pages are made from it; every sentence stands once
 * in words.inc, with what it is here.
 *
 * Text of blocks has light marks, which lesson_inline_next() takes apart: *sat* is emphasised,
 * [q|query], [k|key], [v|value] are words in the colour and with the letter of their role, `code`
 * is code, and $d_k$ is mathematics: letters, with _k for a subscript, ^Q and ^T for superscripts, and
 * √ that covers the letter (with its scripts) behind it. No mark nests in another.
 */
#ifndef QKV_LESSON_COURSE_H
#define QKV_LESSON_COURSE_H

#include "lesson/compose.h"

typedef enum block_kind {
    BLOCK_PARAGRAPH = 1,  /* word */
    BLOCK_DETAILS = 2,    /* word: the summary; more: its paragraphs */
    BLOCK_FIGURE = 3,     /* figure */
    BLOCK_FORMULA = 4,    /* the formula with its four parts; word: it in words */
    BLOCK_CODE = 5,       /* figure: which listing */
    BLOCK_QUESTION = 6,   /* figure: index of a lesson question (quiz.h) */
    BLOCK_POINT = 7,      /* word: a point to lock in; stage: the stage that proves it */
    BLOCK_TEACHER = 8,    /* word: a question for a teacher; more: its answer; figure: its proof */
    BLOCK_SOURCE = 9,     /* word: a source, named, never requested */
    BLOCK_SUBHEADING = 10 /* word */
} block_kind;

/* What is drawn there. */
typedef enum figure_kind {
    FIGURE_NONE = 0,
    FIGURE_LOOKUP = 1,     /* tokens, plane with keys and query, exact and soft lookup, sharpness */
    FIGURE_PROJECT = 2,    /* X, the three W and Q, K, V, one cell spelled out */
    FIGURE_CALCULATOR = 3, /* the table in stages */
    FIGURE_BLEND = 4,      /* output along q = [1, x]: pick and blend */
    FIGURE_ROOT = 5,       /* histogram of scores, softmax of a sampled row, both ways */
    FIGURE_LISTING = 6,    /* the lesson's function, NumPy or C */
    FIGURE_MAXIMUM = 7,    /* with and without subtracting the maximum, scores times 1000 */
    FIGURE_SYMMETRY = 8,   /* X X^T beside Q K^T */
    FIGURE_CAUSAL = 9,     /* change mat, the rows above keep every bit */
    FIGURE_HEADS = 10,     /* one head against two */
    FIGURE_RECALL = 11,    /* free text, hints, self-check, schedule */
    FIGURE_QUIZ = 12       /* the eight generated questions */
} figure_kind;

typedef struct lesson_block {
    int32_t kind;    /* a block_kind */
    int32_t figure;  /* a figure_kind, or an index */
    int32_t stage;   /* the stage that it leads to, -1: none */
    int32_t word;    /* a lesson_word, -1: none */
    int32_t more[4]; /* paragraphs inside of details, the answer of a teacher's question; -1 ends */
} lesson_block;

typedef struct lesson_section {
    const char *id; /* "lookup": the element's id and the state's `sec` */
    int32_t title;  /* a lesson_word */
    int32_t blocks;
    const lesson_block *block;
} lesson_section;

/* n = 0 ... 7 */
const lesson_section *lesson_course(int n);

/* ---- above the first section ---- */

enum { COURSE_REFRESHERS = 5, COURSE_POINTS = 4 };

typedef struct course_refresher {
    int32_t name, text; /* lesson_words: "dot product", and at most 40 words on it */
} course_refresher;

/* Title LESSON_W_TITLE, promise LESSON_W_PROMISE, module LESSON_W_MODULE, reading time
 * LESSON_W_READING_TIME, LESSON_W_BEFORE_THIS, LESSON_W_AFTER_THIS. "section 3 of 8" is
 * LESSON_W_PLACE with {0}. */
const course_refresher *lesson_refresher(int n);

/* The formula's parts, inside-out; each lights a stage. n = 0 ... 3 */
typedef struct course_part {
    int32_t stage;
    int32_t name;  /* its label: a lesson_word such as "Q·Kᵀ" */
    int32_t words; /* one line in words */
} course_part;
enum { COURSE_PARTS = 4 };
const course_part *lesson_formula_part(int n);

/* The skippable question before a stage; 0 where there is none (stages 0 and 2). */
typedef struct course_prediction {
    int32_t question; /* a lesson_word */
    int32_t answers;  /* how many; 0: the answers are the tokens' names */
    int32_t answer[3];
} course_prediction;
const course_prediction *lesson_prediction(int stage);
/* Which answer the state's numbers make right: an index of `answer`, or a token. */
int64_t lesson_prediction_right(int stage, const lesson_input *in, const lesson_stages *stages);

/* ---- text with marks ---- */

typedef enum inline_kind {
    INLINE_TEXT = 0,
    INLINE_STRONG = 1, /* *...* : names of tokens, words that are introduced */
    INLINE_QUERY = 2,  /* [q|...] */
    INLINE_KEY = 3,    /* [k|...] */
    INLINE_VALUE = 4,  /* [v|...] */
    INLINE_CODE = 5,   /* `...` */
    INLINE_MATH = 6    /* $...$ */
} inline_kind;

typedef struct lesson_inline {
    int32_t kind;
    int32_t reserved;
    const char *text; /* not ended by 0 */
    size_t bytes;
} lesson_inline;

/* The next piece of *at; 0 at the end. */
int lesson_inline_next(const char **at, lesson_inline *piece);
/* Without marks, through the face's signs: for a terminal, for plain text. */
void line_course(lesson_line *line, const char *text);
/* Words as they are counted: without marks. */
int lesson_count_words(const char *text);

#endif /* QKV_LESSON_COURSE_H */
