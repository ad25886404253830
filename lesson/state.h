/* SPDX-License-Identifier: MIT */
/* state.h - everything that a reader can choose, and its one reader and writer: the fragment of the
 * page's address, and `--state` of the command.
 *
 * The text is `key=value&key=value`, UTF-8, percent-escaped, in any order; only what differs from
 * the lesson's own start is written, so the empty text is the start. Whatever is read is bounds-
 * checked here: a state that was read can be computed, shown and written back without a failure
 * other than memory. Keys that this version does not know are kept and written back.
 *
 * Nothing is stored half: a function that reports trouble leaves the state as it was.
 */
#ifndef QKV_LESSON_STATE_H
#define QKV_LESSON_STATE_H

#include "lesson/lesson.h"

enum {
    STATE_VERSION = 1,
    STATE_TOKENS = 64,      /* at most; more come as files and are no part of a state */
    STATE_CHANNELS = 64,    /* d_k, d_v, and features of X */
    STATE_LINK_TOKENS = 16, /* up to here a link holds the numbers too */
    STATE_LINK_CHANNELS = 8,
    STATE_NAME_BYTES = 800, /* of a token: 200 characters */
    STATE_TEXT_BYTES = 262144,
    STATE_NO_KEY = -1
};

/* The sections in reading order; the lab is none of the eight. Value of the key `sec`. */
typedef enum state_section {
    SECTION_LOOKUP = 0,      /* "lookup" */
    SECTION_PROJECTIONS = 1, /* "projections" */
    SECTION_FORMULA = 2,     /* "formula" */
    SECTION_CALCULATOR = 3,  /* "calculator" */
    SECTION_BLEND = 4,       /* "blend" */
    SECTION_ROOT = 5,        /* "root" */
    SECTION_CODE = 6,        /* "code" */
    SECTION_CHECK = 7,       /* "check" */
    STATE_SECTIONS = 8,
    SECTION_LAB = 8 /* "lab" */
} state_section;

typedef enum state_mask { MASK_NONE = 0, MASK_CAUSAL = 1, MASK_PADDING = 2 } state_mask;

typedef enum state_data { DATA_TOKENS = 0, DATA_MODEL = 1, DATA_FILE = 2 } state_data;

/* The part of a state that an A/B comparison has twice. */
typedef struct lesson_choice {
    int32_t scale_kind; /* a lesson_scale_kind */
    int32_t mask;       /* a state_mask */
    int32_t wrong_way;  /* 1: the mask zeroes weights after the softmax instead of hiding before */
    int32_t reserved;
    int64_t shift;      /* MASK_CAUSAL: key j is seen when j <= i + shift */
    int64_t padding;    /* MASK_PADDING: so many of the last keys are hidden, 0 ... keys */
    double scale_value; /* LESSON_SCALE_VALUE: finite */
    double temperature; /* > 0, finite; 1 is the lesson's; small picks, large blends */
} lesson_choice;

typedef struct state_matrix {
    double *x; /* dense [rows][columns] */
    int32_t rows, columns;
} state_matrix;

typedef struct lesson_state {
    int32_t version; /* of the text that was read */
    int32_t section; /* a state_section */
    int32_t stage;   /* 0 ... 4 */
    int32_t token;   /* the query that is walked through, from 0 */
    int32_t digits;  /* decimals shown, 0 ... 17; 2 */
    lesson_focus focus;
    lesson_choice choice;
    int32_t compare; /* 1: `other` is shown beside `choice` */
    lesson_choice other;

    /* Data. Q, K and V come from X and W while `own` of them is 0 ("connected"). A new channel or
     * token is 0 everywhere. */
    int32_t data; /* a state_data */
    int32_t tokens, d_k, d_v, features;
    int32_t own_x, own_w[3], own_qkv[3];  /* 1: given by the reader; order Q, K, V */
    state_matrix embedding, w[3], qkv[3]; /* always filled, whatever is own */
    lesson_name *name;                    /* [tokens] */
    int32_t own_names, reserved;

    /* sections' own settings */
    int32_t project;                 /* projections: 0 Q, 1 K, 2 V is spelled out ... */
    int32_t project_row;             /* ... for this token ... */
    int32_t project_channel;         /* ... and this channel */
    int32_t root_channels;           /* why sqrt: d_k of the samples, 1 ... 256; 64 */
    uint32_t root_seed;              /* 1 */
    int32_t root_times;              /* how often the sampled query was nudged, 0 ... 1000 */
    double blend;                    /* A blend, not a pick: q = [1, blend], 0 ... 2; 1.3 */
    int32_t code;                    /* 0 NumPy, 1 C */
    int32_t code_large;              /* 1: scores times 1000 */
    uint32_t quiz_seed;              /* of the generated questions; 1 */
    int32_t quiz_question;           /* 0 ... 9: two of the lesson, eight generated */
    int32_t map;                     /* lab: 1: all queries by all keys, 0: the token's table */
    int32_t model_layer, model_head; /* DATA_MODEL: 0 or 3; 0 ... 11; opens on 3, 1 ... */
    int32_t model_row;               /* ... and the row 0 ... 12 of "it" */
    int32_t lost_tokens, lost_d_k, lost_d_v; /* a link whose numbers were too many for it; or 0 */

    const char *unknown; /* items not known here, joined by &, as they were */
    size_t unknown_bytes;
} lesson_state;

typedef enum trouble_kind {
    TROUBLE_NONE = 0,
    TROUBLE_REFUSED = 1, /* nothing was changed */
    TROUBLE_NOTE = 2,    /* done, but the reader should know */
    TROUBLE_MEMORY = 3
} trouble_kind;

/* One sentence, UTF-8, for the reader: key, value and bound. Pieces of what was read stand in it
 * with controls replaced, at most 40 characters of each. It is text, never markup. */
typedef struct lesson_trouble {
    int32_t kind;        /* a trouble_kind */
    int32_t row, column; /* of the matrix, from 0; -1: no such place */
    char key[24];        /* "K", "scale", ... ; "" for the text as a whole */
    char text[512];
} lesson_trouble;

/* The lesson as it opens: sat, stage 0, the integer preset. */
qkv_status lesson_state_start(lesson_state *state, const lesson_memory *memory);
/* Starts, then reads. A leading # or ? is skipped. On TROUBLE_REFUSED the state is the start. Returns
 * QKV_OK, QKV_EARG (refused) or QKV_ENOMEM. */
qkv_status lesson_state_read(lesson_state *state, const char *text, size_t bytes,
                             const lesson_memory *memory, lesson_trouble *trouble);
/* One item of the text, such as "token" "cat" or "T" "0.5", on top of what is; values unescaped. */
qkv_status lesson_state_set(lesson_state *state, const char *key, const char *value, size_t bytes,
                            const lesson_memory *memory, lesson_trouble *trouble);
/* Types a number into a cell: which is 'Q', 'K', 'V' (becomes the reader's own), 'X', or 'q', 'k',
 * 'v' for the matrices W (then Q, K, V are computed anew). */
qkv_status lesson_state_edit(lesson_state *state, char which, int32_t row, int32_t column,
                             const char *value, size_t bytes, const lesson_memory *memory,
                             lesson_trouble *trouble);
/* Q, K or V is X W again. */
qkv_status lesson_state_reconnect(lesson_state *state, char which);
/* Numbers and names of the lesson again; section, stage, token (when there is such a one) stay. */
qkv_status lesson_state_lesson_numbers(lesson_state *state, const lesson_memory *memory);

/* The shortest text that reads back as this state. all 0: a link, which leaves the numbers out when
 * there are more than STATE_LINK_TOKENS tokens or STATE_LINK_CHANNELS channels (then the reader is
 * to be told LESSON_W_STATE_NOT_IN_LINK); all 1: every number, for undo, tests and the command. */
void lesson_state_write(const lesson_state *state, int all, const lesson_sink *sink);
int lesson_state_fits_link(const lesson_state *state);

/* Do the numbers, names and choices differ from those that the text speaks of? (Section, stage,
 * token and digits are the reader's walk and do not count.) */
int lesson_state_changed(const lesson_state *state);
/* Are there Q, K or V that are no longer X W? */
int lesson_state_detached(const lesson_state *state, char which);

/* What the calculator computes: of `choice`, or of `other`. Pointers lead into the state. */
void lesson_state_input(const lesson_state *state, int other, lesson_input *in);

/* "lookup" ...; and back, -1: none */
const char *lesson_section_id(int32_t section);

/* The stops of the slider "sharpness: pick - blend", as temperatures: 0.01 ... 10, 1 among them. */
enum { STATE_STOPS = 10 };
double lesson_sharpness(int32_t stop);
/* The stop that is nearest to a temperature. */
int32_t lesson_sharpness_stop(double temperature);

#endif /* QKV_LESSON_STATE_H */
