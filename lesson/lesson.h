/* SPDX-License-Identifier: MIT */
/* lesson.h - the lesson's calculator: what a reader can choose, every intermediate value of it, and
 * the same values as text, JSON, CSV and SVG. The terminal and the page are two faces of this code.
 *
 * It knows no file, terminal or browser and calls nothing of the C library: memory comes from a
 * lesson_memory, text goes to a lesson_sink. Values are those of the library's float64 reference,
 * seen through its tap; nothing here calls exp or log, reference values are combined by + - * /.
 */
#ifndef QKV_LESSON_LESSON_H
#define QKV_LESSON_LESSON_H

#include <qkv/qkv.h>
#include <stddef.h>
#include <stdint.h>

#include "lesson/number.h"

/* Memory that is taken and never given back one by one: the caller frees it all at the end. */
typedef struct lesson_memory {
    void *(*take)(void *ctx, size_t bytes); /* 64-aligned; NULL: there is no more */
    void *ctx;
} lesson_memory;

typedef struct lesson_sink {
    void (*write)(void *ctx, const char *text, size_t bytes);
    void *ctx;
} lesson_sink;

/* How text is shown. Names of tokens come from outside: only `safe` lets them through. */
typedef struct lesson_face {
    int32_t width; /* columns, at least 20 */
    int32_t utf8;  /* 0: ASCII only */
    int32_t color; /* 1: the roles Q, K and V in colour (ECMA-48); 2: marked, see compose.h */
    int32_t digits;
    /* Outside text made harmless, cut to max_columns (0: not cut), ended by 0; returns columns. */
    int (*safe)(char *buffer, size_t size, const char *text, size_t bytes, int max_columns);
    int (*columns)(const char *text); /* of text that is already harmless */
} lesson_face;

typedef struct lesson_name {
    const char *text; /* raw, from outside */
    size_t bytes;
} lesson_name;

typedef enum lesson_scale_kind {
    LESSON_SCALE_SQRT = 0, /* 1 / sqrt(d_k) */
    LESSON_SCALE_NONE = 1,
    LESSON_SCALE_DK = 2,   /* 1 / d_k */
    LESSON_SCALE_VALUE = 3 /* times scale_value */
} lesson_scale_kind;

/* Which number the worked line of a figure speaks of. Written as "w1": the letter of its column, the
 * key (row), and after a point the channel: "k2.0", "o.1". */
typedef enum focus_kind {
    FOCUS_NONE = 0,   /* the figure's own choice: the row that wins, the first channel */
    FOCUS_QUERY = 1,  /* q.C */
    FOCUS_KEY = 2,    /* kJ.C */
    FOCUS_VALUE = 3,  /* vJ.C */
    FOCUS_SCORE = 4,  /* sJ */
    FOCUS_SCALED = 5, /* cJ */
    FOCUS_WEIGHT = 6, /* wJ */
    FOCUS_SHARE = 7,  /* hJ.C: weight times value */
    FOCUS_SUM = 8,    /* z: the sum of the weights */
    FOCUS_OUTPUT = 9  /* o.C */
} focus_kind;

typedef struct lesson_focus {
    int32_t kind;    /* a focus_kind */
    int32_t key;     /* 0 where the kind has none */
    int32_t channel; /* 0 where the kind has none */
} lesson_focus;

/* What is attended to, and what the reader chose. Dense, row after row. */
typedef struct lesson_input {
    int64_t rows, keys, d_k, d_v; /* rows, d_k >= 1 */
    const double *q, *k, *v;
    const lesson_name *name; /* of the keys; of the queries too when rows == keys */
    int32_t engine_dtype;    /* QKV_F32 or QKV_F64: what the kernels are given */
    int32_t stage;           /* 0 ... 4 */
    int64_t token;           /* the query that is walked through */
    int32_t scale_kind;
    int32_t query_set; /* the token's query was changed by the reader */
    double scale_value;
    double temperature; /* > 0 */
    int32_t causal;
    int32_t keys_chosen; /* the range of keys was asked for: show exactly these */
    int64_t q_offset;    /* causal: query i sees key j when j <= i + q_offset */
    int64_t row_begin, row_end, key_begin, key_end; /* the part that is computed and shown */
    int64_t padding; /* so many of the last keys are hidden, 0 ... keys */
    int32_t
        wrong_way; /* 1: the mask zeroes weights after the softmax, so rows no longer sum to 1 */
    int32_t input_reserved;
    lesson_focus focus; /* what the worked line speaks of */
} lesson_input;

/* Every value of the range [rows][keys]; the token's row whole. */
typedef struct lesson_stages {
    double scale; /* the effective multiplier, temperature included */
    int64_t rows, keys;
    double *score, *scaled, *weight, *lse, *out;
    double *row_score, *row_scaled, *row_weight; /* of the token, all keys of the input */
    double *row_out;
    void *engine_weight, *engine_out; /* engine_dtype; NULL when not asked for */
    double difference;                /* largest |engine - reference| of those shown */
    double *full;                     /* [rows][all keys]: the softmax that the wrong way zeroes */
} lesson_stages;

/* ---- presets.c: the lesson's own four tokens ------------------------------------------------- */

enum { LESSON_PRESET_TOKENS = 4, LESSON_PRESET_FEATURES = 4, LESSON_PRESET_TOKEN = 2 /* sat */ };

/* Fills rows, keys, sizes, names and Q, K, V = X W from the embedding below; the rest is zero but
 * for temperature, stage and token. */
qkv_status lesson_preset(lesson_input *in, const lesson_memory *memory, qkv_error *err);
/* x [4][4]; w [3][4][2]: of the queries, keys, values */
const double *lesson_preset_x(void);
const double *lesson_preset_w(void);

/* ---- stages.c: all the arithmetic ------------------------------------------------------------ */

double lesson_scale(const lesson_input *in);
int lesson_sees(const lesson_input *in, int64_t row, int64_t key);
/* How many keys a row sees: always the first ones. */
int64_t lesson_seen(const lesson_input *in, int64_t row);
/* Runs the reference over the range, and the kernels too when engine is not 0 (not for the wrong
 * way, which they do not have). */
qkv_status lesson_run(lesson_stages *out, const lesson_input *in, int engine,
                      const lesson_memory *memory, qkv_error *err);
/* The visible key with the largest weight of the token's row; -1 when it sees none. */
int64_t lesson_strongest(const lesson_input *in, const lesson_stages *s);

/* ---- faces: nothing they write is cut but what they say is left out -------------------------- */

typedef enum lesson_format {
    LESSON_TEXT = 0,
    LESSON_PLAIN = 1,
    LESSON_JSON = 2,
    LESSON_CSV = 3,
    LESSON_SVG = 4
} lesson_format;

typedef struct lesson_view {
    const lesson_input *in;
    const lesson_stages *stages;
    const lesson_face *face;
    const lesson_sink *sink;
    const lesson_memory *memory;
} lesson_view;

/* Each returns QKV_OK or QKV_ENOMEM. Maps need stage >= 1. */
qkv_status lesson_text_table(const lesson_view *view);
qkv_status lesson_text_map(const lesson_view *view);
qkv_status lesson_plain_table(const lesson_view *view);
qkv_status lesson_plain_map(const lesson_view *view);
qkv_status lesson_json(const lesson_view *view); /* both views; face is not used */
qkv_status lesson_csv_table(const lesson_view *view);
qkv_status lesson_csv_map(const lesson_view *view);
qkv_status lesson_svg_table(const lesson_view *view);
qkv_status lesson_svg_map(const lesson_view *view);

/* ---- words.inc
 * --------------------------------------------------------------------------------- */

typedef enum lesson_word {
#define LESSON_WORD(id, text) LESSON_W_##id,
#include "lesson/words.inc"
#undef LESSON_WORD
    LESSON_WORDS
} lesson_word;

/* The sentence as it stands in words.inc, UTF-8. */
const char *lesson_word_text(lesson_word id);
/* The caption of the input's stage. */
lesson_word lesson_caption(const lesson_input *in);

#endif /* QKV_LESSON_LESSON_H */
