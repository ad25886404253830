/* SPDX-License-Identifier: MIT */
/* figures.h - the values of the article's figures, and the lines that say them. Numbers are doubles
 * for geometry; whatever is shown is written by the line functions, or by line_number() at the
 * face's digits.
 *
 * lookup and maximum speak of the state's own tokens; blend and root have numbers of their own: the
 * lesson's four tokens, and samples from a seed. Nothing here depends on anything but its
 * arguments.
 */
#ifndef QKV_LESSON_FIGURES_H
#define QKV_LESSON_FIGURES_H

#include "lesson/compose.h"
#include "lesson/state.h"

/* ---- lookup.c: a lookup that never comes back empty ------------------------------------------ */

/* The key that equals the token's query, -1: there is none. */
int64_t lookup_exact(const lesson_input *in);
/* "Exact lookup of [1,2]: no such key, no answer." / "... the key of cat: [3,0]" */
void line_lookup_exact(lesson_line *line, const lesson_view *view);
/* "Soft lookup: mostly cat, 0.54." in words by how sharp the weights are. */
void line_lookup_soft(lesson_line *line, const lesson_view *view);
/* "answer [1.68,0.53]" */
void line_lookup_answer(lesson_line *line, const lesson_view *view);
/* "T = 0.5" with what it does: the label of the slider's stop. */
void line_lookup_sharpness(lesson_line *line, const lesson_face *face, double temperature);

/* ---- project.c: X W, cell by cell ------------------------------------------------------------ */

/* "noun", the name of a feature of X; NULL where the lesson has none: "x4" from its number. */
const char *project_feature(int32_t feature);
/* "query of sat, number 1: 0·0 + 0·1 + 1·2 + 0·(−1) = 2": which is 0 Q, 1 K, 2 V. Where that matrix
 * no longer is X W: a line that says so. */
void line_project(lesson_line *line, const lesson_view *view, const lesson_state *state,
                  int32_t which, int32_t row, int32_t channel);
/* Scores without projections, X X^T, [tokens][tokens] row after row into x (float64). */
void project_without(const lesson_state *state, double *x);
/* Is a square table equal to its own transpose, bit for bit? */
int project_symmetric(const double *x, int64_t n);

/* ---- blend.c: a blend, not a pick ------------------------------------------------------------ */

/* q = [1, x] against the lesson's own keys and values, scale 1/sqrt 2. */
typedef struct blend_point {
    double x;
    int64_t picked; /* the key with the largest score; the first of equals */
    double pick[2], blend[2];
    double weight[LESSON_PRESET_TOKENS];
} blend_point;

#define BLEND_FROM 0.0 /* the query of cat */
#define BLEND_TO 2.0   /* the query of sat */
#define BLEND_FLIP 1.0 /* there the pick jumps */
#define BLEND_NUDGE 0.1

/* count points at x[0 ... count). */
qkv_status blend_points(blend_point *point, const double *x, int64_t count,
                        const lesson_memory *memory);
/* x plus 0.1, of the decimals that x has. */
double blend_nudged(double x);
/* "[1,1.3]" */
void line_blend_query(lesson_line *line, double x);
/* "[3.00,0.00]" of a point: pick (blend 0) or blend (1) */
void line_blend_output(lesson_line *line, const blend_point *point, int blend);
/* "[+0.07,−0.03]": the change from one to the other, rounded after the subtraction. */
void line_blend_change(lesson_line *line, const blend_point *from, const blend_point *to,
                       int blend);
/* "A nudge of 0.1 moves the pick by [0.00,0.00] and the blend by [+0.07,−0.03]." */
void line_blend_nudge(lesson_line *line, const blend_point *from, const blend_point *to);
/* "1.26 − 1.19 = 0.07": the change of one channel, from numbers as they are printed. */
void line_blend_work(lesson_line *line, const blend_point *from, const blend_point *to, int blend,
                     int channel);
/* "blend: 1.26 − 1.19 = 0.07; 0.73 − 0.76 = −0.03": both channels. */
void line_blend_works(lesson_line *line, const blend_point *from, const blend_point *to);
/* The calculator's input for q = [1, x], for its worked lines. */
qkv_status blend_input(lesson_input *in, double x, const lesson_memory *memory);

/* ---- root.c: why divide by sqrt(d_k)? -------------------------------------------------------- */

enum {
    ROOT_QUERIES = 64,
    ROOT_KEYS = 64,
    ROOT_SCORES = ROOT_QUERIES * ROOT_KEYS,
    ROOT_ROW_KEYS = 16, /* of these a softmax is made */
    ROOT_BINS = 80,     /* of width 1, from -40 to 40; the outer ones take what lies beyond */
    ROOT_LOW = -40
};

typedef struct root_row { /* one query, its first ROOT_ROW_KEYS keys */
    double score[ROOT_ROW_KEYS];
    double weight[ROOT_ROW_KEYS];
    double nudged[ROOT_ROW_KEYS]; /* the weights after one more nudge of the query */
    double most;                  /* the largest weight */
    double moved;                 /* half the sum of |changes|: the share that changed hands */
} root_row;

typedef struct root_figure {
    int32_t channels;
    int32_t bin[ROOT_BINS];
    double root;    /* sqrt(channels) */
    double squares; /* their sum, of the ROOT_SCORES scores, unscaled */
    double mean, deviation;
    int32_t outside;        /* scores beyond +- root */
    int32_t stuck[2];       /* rows of ROOT_QUERIES with a weight above 0.99: unscaled, scaled */
    root_row plain, scaled; /* the sampled row, not divided and divided */
} root_figure;

/* Components with mean 0 and variance 1 from `seed`; the sampled query has been nudged `times` times.
 * The same numbers on every machine. */
qkv_status root_sample(root_figure *figure, int32_t channels, uint32_t seed, int32_t times,
                       const lesson_memory *memory);
/* "4,096 scores of 64 channels: standard deviation 8.03; √64 = 8; 31 % lie further out." */
void line_root_spread(lesson_line *line, const root_figure *figure);
/* "One weight is above 0.99 in 19 of 64 rows undivided, in 0 divided." */
void line_root_stuck(lesson_line *line, const root_figure *figure);
/* "A nudge of the query moves 0.02 of the weight on the left, 0.03 on the right." */
void line_root_moved(lesson_line *line, const root_figure *figure);
/* "Scores squared, summed: 264210.52 ÷ 4096 = 64.50; √64.50 = 8.03; ..." The arithmetic behind the numbers of the three lines above, from sums that it names. */
void line_root_work(lesson_line *line, const root_figure *figure);
/* Standard normal-like numbers: the sum of twelve uniform ones less six. State by value. */
typedef struct root_random {
    uint64_t state;
} root_random;
uint64_t root_bits(root_random *random);
double root_normal(root_random *random);

/* ---- maximum.c: subtracting the maximum, shown to matter ------------------------------------- */

typedef struct maximum_form {
    double *e, *weight; /* [keys] */
    double sum, most;   /* most: what is subtracted, 0: nothing */
    int32_t survives;   /* every weight is a finite number */
    int32_t reserved;
} maximum_form;

typedef struct maximum_figure {
    double *scaled; /* [keys], times 1,000 where that was asked for */
    int64_t keys;
    maximum_form naive, safe;
} maximum_figure;

/* Of the token's row of visible keys; `stages` are the view's. */
qkv_status maximum_make(maximum_figure *figure, const lesson_view *view, int large);
/* A number of the figure, or "too large" / "no number" where it is none. */
void line_maximum_number(lesson_line *line, double x);
/* "e^(1.41 − 2.83) = 0.24; 0.24 ÷ 1.86 = 0.13" of key j, as far as there are numbers. */
void line_maximum_work(lesson_line *line, const maximum_figure *figure, int safe, int64_t j);
/* "e^2828.43 is too large for a float64 number: nothing can be divided any more." */
void line_maximum_verdict(lesson_line *line, const maximum_figure *figure, int safe);

/* ---- listing.c: the lesson's function, line by line ------------------------------------------ */

enum { LISTING_NUMPY = 0, LISTING_C = 1 };

int listing_lines(int language);
typedef struct listing_line {
    const char *text; /* code, ASCII */
    int32_t stage;    /* the stage that it computes, 0: vectors; -1: none */
    int32_t shape;    /* it has a note on shapes */
} listing_line;
const listing_line *listing_at(int language, int i);
/* "(4, 2) · (2, 4) → (4, 4)": the shapes with the present numbers; nothing where it has none. */
void line_listing_shape(lesson_line *line, const lesson_input *in, int language, int i);

/* ---- proof.c: what a teacher would show ------------------------------------------------------ */

/* FIGURE_SYMMETRY, for the state's token and the key that it looks at most: two lines. */
void line_proof_alone(lesson_line *line, const lesson_view *view, const lesson_state *state);
void line_proof_projected(lesson_line *line, const lesson_view *view);

/* FIGURE_CAUSAL: the lesson's tokens, then mat with another query, key and value. */
typedef struct proof_causal {
    double before[LESSON_PRESET_TOKENS][2], after[LESSON_PRESET_TOKENS][2]; /* with the mask */
    int32_t same[LESSON_PRESET_TOKENS]; /* every bit of that output is kept: 1 1 1 0 */
    int32_t changed_without_mask;       /* of the first three outputs: 3 */
} proof_causal;
qkv_status proof_causal_make(proof_causal *proof, const lesson_memory *memory);
void line_proof_causal(lesson_line *line, const proof_causal *proof);     /* with the mask */
void line_proof_causal_not(lesson_line *line, const proof_causal *proof); /* without */

/* FIGURE_HEADS: the lesson's matrices, and a second set by hand that looks for the thing, not for the
 * animal; both from sat. */
enum { PROOF_HEADS = 2 };
typedef struct proof_heads {
    double weight[PROOF_HEADS][LESSON_PRESET_TOKENS];
    double out[PROOF_HEADS][2]; /* one after the other: the four numbers side by side */
    int32_t most[PROOF_HEADS];  /* cat, mat */
} proof_heads;
qkv_status proof_heads_make(proof_heads *proof, const lesson_memory *memory);
void line_proof_head(lesson_line *line, const proof_heads *proof, int head);
void line_proof_heads(lesson_line *line, const proof_heads *proof); /* the outputs */

/* The state as plain text, for a person to be asked: what it is, the sentences of every stage up to
 * the present one, and the state's own text. Needs the view of that state. */
qkv_status lesson_ask(const lesson_view *view, const lesson_state *state);

/* ---- program.c: programs to copy ------------------------------------------------------------- */

/* A whole program that needs NumPy (a C compiler) only and prints what is shown of the token: its
 * weights and its output at the state's digits. Pure ASCII; names of tokens stand in it as escaped
 * literals only. */
qkv_status lesson_program(const lesson_view *view, int language);

#endif /* QKV_LESSON_FIGURES_H */
