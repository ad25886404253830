/* SPDX-License-Identifier: MIT */
/* course.c - see course.h: the order of the lesson. It holds no sentence (words_course.inc) and
 * computes nothing but who is right in a prediction.
 */
#include "lesson/course.h"

enum { NONE = -1 };

#define ENDS                                                                                       \
    {                                                                                              \
        NONE, NONE, NONE, NONE                                                                     \
    }
#define PARAGRAPH(id)                                                                              \
    {                                                                                              \
        BLOCK_PARAGRAPH, FIGURE_NONE, NONE, LESSON_W_##id, ENDS                                    \
    }
#define FIGURE(kind)                                                                               \
    {                                                                                              \
        BLOCK_FIGURE, FIGURE_##kind, NONE, NONE, ENDS                                              \
    }
#define DETAILS(summary, text)                                                                     \
    {                                                                                              \
        BLOCK_DETAILS, FIGURE_NONE, NONE, LESSON_W_##summary,                                      \
        {                                                                                          \
            LESSON_W_##text, NONE, NONE, NONE                                                      \
        }                                                                                          \
    }
#define OTHER(kind, number, stage, id)                                                             \
    {                                                                                              \
        kind, number, stage, LESSON_W_##id, ENDS                                                   \
    }
#define TEACHER(id, proof)                                                                         \
    {                                                                                              \
        BLOCK_TEACHER, FIGURE_##proof, NONE, LESSON_W_##id,                                        \
        {                                                                                          \
            LESSON_W_##id##A, NONE, NONE, NONE                                                     \
        }                                                                                          \
    }
#define QUESTION(number)                                                                           \
    {                                                                                              \
        BLOCK_QUESTION, number, NONE, NONE, ENDS                                                   \
    }

static const lesson_block lookup[] = {PARAGRAPH(LOOKUP_1), PARAGRAPH(LOOKUP_2), FIGURE(LOOKUP),
                                      PARAGRAPH(LOOKUP_3), PARAGRAPH(LOOKUP_4)};

static const lesson_block projections[] = {PARAGRAPH(PROJECT_1), FIGURE(PROJECT),
                                           PARAGRAPH(PROJECT_2), PARAGRAPH(PROJECT_3),
                                           PARAGRAPH(PROJECT_4)};

static const lesson_block formula[] = {PARAGRAPH(FORMULA_1),
                                       OTHER(BLOCK_FORMULA, FIGURE_NONE, NONE, FORMULA_WORDS),
                                       PARAGRAPH(FORMULA_2)};

static const lesson_block calculator[] = {PARAGRAPH(CALC_1), FIGURE(CALCULATOR), PARAGRAPH(CALC_2),
                                          PARAGRAPH(CALC_3), PARAGRAPH(CALC_4)};

static const lesson_block blend[] = {PARAGRAPH(BLEND_1), FIGURE(BLEND), PARAGRAPH(BLEND_2),
                                     PARAGRAPH(BLEND_3), DETAILS(BLEND_MORE, BLEND_MORE_1)};

static const lesson_block root[] = {PARAGRAPH(ROOT_1),
                                    FIGURE(ROOT),
                                    PARAGRAPH(ROOT_2),
                                    PARAGRAPH(ROOT_3),
                                    DETAILS(ROOT_MORE_1, ROOT_MORE_1A),
                                    DETAILS(ROOT_MORE_2, ROOT_MORE_2A),
                                    DETAILS(ROOT_MORE_3, ROOT_MORE_3A)};

static const lesson_block code[] = {PARAGRAPH(CODE_1), FIGURE(LISTING), PARAGRAPH(CODE_2),
                                    FIGURE(MAXIMUM), PARAGRAPH(CODE_3)};

static const lesson_block check[] = {PARAGRAPH(CHECK_1),
                                     QUESTION(0),
                                     QUESTION(1),
                                     PARAGRAPH(CHECK_2),
                                     FIGURE(QUIZ),
                                     PARAGRAPH(CHECK_3),
                                     FIGURE(RECALL),
                                     OTHER(BLOCK_SUBHEADING, FIGURE_NONE, NONE, LOCK_HEAD),
                                     OTHER(BLOCK_POINT, FIGURE_NONE, 0, LOCK_1),
                                     OTHER(BLOCK_POINT, FIGURE_NONE, 2, LOCK_2),
                                     OTHER(BLOCK_POINT, FIGURE_NONE, 3, LOCK_3),
                                     OTHER(BLOCK_POINT, FIGURE_NONE, 4, LOCK_4),
                                     OTHER(BLOCK_SUBHEADING, FIGURE_NONE, NONE, TEACHER_HEAD),
                                     TEACHER(TEACHER_1, SYMMETRY),
                                     TEACHER(TEACHER_2, CAUSAL),
                                     TEACHER(TEACHER_3, HEADS),
                                     PARAGRAPH(ASK_SOMEONE),
                                     OTHER(BLOCK_SUBHEADING, FIGURE_NONE, NONE, SOURCES_HEAD),
                                     OTHER(BLOCK_SOURCE, FIGURE_NONE, NONE, SOURCE_1),
                                     OTHER(BLOCK_SOURCE, FIGURE_NONE, NONE, SOURCE_2)};

#define COUNT(list) ((int32_t)(sizeof(list) / sizeof(list)[0]))
#define SECTION(id, title)                                                                         \
    {                                                                                              \
#id, LESSON_W_##title, COUNT(id), id                                                       \
    }

static const lesson_section sections[] = {
    SECTION(lookup, LOOKUP_TITLE),   SECTION(projections, PROJECT_TITLE),
    SECTION(formula, FORMULA_TITLE), SECTION(calculator, CALC_TITLE),
    SECTION(blend, BLEND_TITLE),     SECTION(root, ROOT_TITLE),
    SECTION(code, CODE_TITLE),       SECTION(check, CHECK_TITLE)};

const lesson_section *lesson_course(int n)
{
    return n >= 0 && n < COUNT(sections) ? &sections[n] : NULL;
}

const course_refresher *lesson_refresher(int n)
{
    static const course_refresher list[COURSE_REFRESHERS] = {
        {LESSON_W_REFRESH_DOT, LESSON_W_REFRESH_DOT_TEXT},
        {LESSON_W_REFRESH_SOFTMAX, LESSON_W_REFRESH_SOFTMAX_TEXT},
        {LESSON_W_REFRESH_AVERAGE, LESSON_W_REFRESH_AVERAGE_TEXT},
        {LESSON_W_REFRESH_EMBEDDING, LESSON_W_REFRESH_EMBEDDING_TEXT},
        {LESSON_W_REFRESH_PRODUCT, LESSON_W_REFRESH_PRODUCT_TEXT},
    };
    return n >= 0 && n < COURSE_REFRESHERS ? &list[n] : NULL;
}

const course_part *lesson_formula_part(int n)
{
    static const course_part list[COURSE_PARTS] = {
        {1, LESSON_W_PART_SCORES, LESSON_W_PART_SCORES_WORDS},
        {2, LESSON_W_PART_ROOT, LESSON_W_PART_ROOT_WORDS},
        {3, LESSON_W_PART_SOFTMAX, LESSON_W_PART_SOFTMAX_WORDS},
        {4, LESSON_W_PART_VALUES, LESSON_W_PART_VALUES_WORDS},
    };
    return n >= 0 && n < COURSE_PARTS ? &list[n] : NULL;
}

/* ---- predictions ----------------------------------------------------------------------------- */

const course_prediction *lesson_prediction(int stage)
{
    static const course_prediction who = {LESSON_W_PREDICT_1, 0, {NONE, NONE, NONE}};
    static const course_prediction half = {
        LESSON_W_PREDICT_3, 2, {LESSON_W_PREDICT_3_MORE, LESSON_W_PREDICT_3_LESS, NONE}};
    static const course_prediction blended = {
        LESSON_W_PREDICT_4, 2, {LESSON_W_PREDICT_4_WINNER, LESSON_W_PREDICT_4_BETWEEN, NONE}};
    switch (stage) {
    case 1:
        return &who;
    case 3:
        return &half;
    case 4:
        return &blended;
    default:
        return NULL;
    }
}

/* The visible key with the highest score: with a negative multiplier not the one that wins. */
static int64_t highest(const lesson_input *in, const lesson_stages *s)
{
    int64_t best = 0;
    for (int64_t j = 1; j < lesson_seen(in, in->token); j++)
        if (s->row_score[j] > s->row_score[best]) best = j;
    return best;
}

int64_t lesson_prediction_right(int stage, const lesson_input *in, const lesson_stages *s)
{
    const int64_t strongest = lesson_strongest(in, s);
    if (strongest < 0) return -1;
    if (stage == 1) return highest(in, s);
    if (stage == 3) return s->row_weight[strongest] > 0.5 ? 0 : 1;
    return stage == 4 ? s->row_weight[strongest] < 0.995 : -1; /* shown as 1.00: a pick */
}

/* ---- text with marks ------------------------------------------------------------------------- */

static const char *find(const char *p, char c)
{
    while (*p != 0 && *p != c) p++;
    return *p == c ? p : NULL;
}

/* What a mark at p encloses: kind, the text; returns where the text goes on, NULL: no mark. */
static const char *mark_at(const char *p, lesson_inline *piece)
{
    static const struct {
        char mark;
        int32_t kind;
    } pairs[] = {{'*', INLINE_STRONG}, {'`', INLINE_CODE}, {'$', INLINE_MATH}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (*p != pairs[i].mark) continue;
        const char *const end = find(p + 1, *p);
        if (end == NULL || end == p + 1) return NULL;
        piece->kind = pairs[i].kind;
        piece->text = p + 1;
        piece->bytes = (size_t)(end - p - 1);
        return end + 1;
    }
    if (p[0] != '[' || (p[1] != 'q' && p[1] != 'k' && p[1] != 'v') || p[2] != '|') return NULL;
    const char *const end = find(p, ']');
    if (end == NULL) return NULL;
    piece->kind = p[1] == 'q' ? INLINE_QUERY : p[1] == 'k' ? INLINE_KEY : INLINE_VALUE;
    piece->text = p + 3;
    piece->bytes = (size_t)(end - p - 3);
    return end + 1;
}

int lesson_inline_next(const char **at, lesson_inline *piece)
{
    const char *p = *at;
    piece->reserved = 0;
    if (*p == 0) return 0;
    const char *const after = mark_at(p, piece);
    if (after != NULL) {
        *at = after;
        return 1;
    }
    lesson_inline next;
    do p++;
    while (*p != 0 && mark_at(p, &next) == NULL);
    piece->kind = INLINE_TEXT;
    piece->text = *at;
    piece->bytes = (size_t)(p - *at);
    *at = p;
    return 1;
}

int lesson_count_words(const char *text)
{
    int n = 0, inside = 0;
    lesson_inline piece;
    for (const char *at = text; lesson_inline_next(&at, &piece);)
        for (size_t i = 0; i < piece.bytes; i++) {
            const int blank = piece.text[i] == ' ';
            n += !blank && !inside;
            inside = !blank;
        }
    return n;
}

/* "d_k" as dₖ, "K^T" as Kᵀ: the two scripts that there are signs for; the rest as it stands. */
static void line_mathematics(lesson_line *line, const lesson_inline *piece)
{
    for (size_t i = 0; i < piece->bytes;) {
        const char *const p = piece->text + i;
        const size_t left = piece->bytes - i;
        if (left > 1 && p[0] == '_' && p[1] == 'k') {
            line_own(line, "ₖ");
            i += 2;
        } else if (left > 1 && p[0] == '^' && p[1] == 'T') {
            line_own(line, "ᵀ");
            i += 2;
        } else {
            char one[8];
            size_t n = 0;
            do one[n++] = piece->text[i++];
            while (n < 7 && i < piece->bytes && (piece->text[i] & 0xC0) == 0x80);
            one[n] = 0;
            line_own(line, one);
        }
    }
}

void line_course(lesson_line *line, const char *text)
{
    lesson_inline piece;
    for (const char *at = text; lesson_inline_next(&at, &piece);) {
        if (piece.kind == INLINE_MATH) {
            line_mathematics(line, &piece);
            continue;
        }
        char part[LESSON_LINE_BYTES];
        size_t n = 0;
        for (; n < piece.bytes && n + 1 < sizeof part; n++) part[n] = piece.text[n];
        part[n] = 0;
        line_own(line, part);
    }
}
