/* SPDX-License-Identifier: MIT */
/* listing.c - the lesson's function as the page and the terminal list it: each line with the stage
 * that it computes and the shapes it has at present. program.c writes programs that run.
 */
#include "lesson/figures.h"

enum listing_shape {
    SHAPE_NONE = 0,
    SHAPE_INPUTS,
    SHAPE_CHANNELS,
    SHAPE_SCORES,
    SHAPE_SAME,
    SHAPE_ROW,
    SHAPE_OUTPUT,
    SHAPE_ONE_SCORE,
    SHAPE_ONE_ROW,
    SHAPE_ONE_OUTPUT
};

static const listing_line numpy[] = {
    {"def attention(Q, K, V):", 0, SHAPE_INPUTS},
    {"    d_k = K.shape[-1]", -1, SHAPE_CHANNELS},
    {"    scores = Q @ K.T", 1, SHAPE_SCORES},
    {"    scaled = scores / np.sqrt(d_k)", 2, SHAPE_SAME},
    {"    top = scaled.max(axis=-1, keepdims=True)", 3, SHAPE_ROW},
    {"    e = np.exp(scaled - top)", 3, SHAPE_SAME},
    {"    weights = e / e.sum(axis=-1, keepdims=True)", 3, SHAPE_SAME},
    {"    return weights @ V", 4, SHAPE_OUTPUT},
};

static const listing_line c_lines[] = {
    {"void attention(const double *q, const double *K, const double *V, double *w, double *out)", 0,
     SHAPE_INPUTS},
    {"{", -1, SHAPE_NONE},
    {"    double top = -INFINITY, sum = 0;", -1, SHAPE_NONE},
    {"    for (int j = 0; j < n; j++) {", -1, SHAPE_NONE},
    {"        w[j] = 0;", 1, SHAPE_NONE},
    {"        for (int c = 0; c < d_k; c++) w[j] += q[c] * K[j * d_k + c];", 1, SHAPE_ONE_SCORE},
    {"        w[j] /= sqrt(d_k);", 2, SHAPE_ONE_ROW},
    {"        if (w[j] > top) top = w[j];", 3, SHAPE_NONE},
    {"    }", -1, SHAPE_NONE},
    {"    for (int j = 0; j < n; j++) sum += w[j] = exp(w[j] - top);", 3, SHAPE_ONE_ROW},
    {"    for (int j = 0; j < n; j++) w[j] /= sum;", 3, SHAPE_ONE_ROW},
    {"    for (int c = 0; c < d_v; c++) out[c] = 0;", 4, SHAPE_NONE},
    {"    for (int j = 0; j < n; j++)", 4, SHAPE_NONE},
    {"        for (int c = 0; c < d_v; c++) out[c] += w[j] * V[j * d_v + c];", 4, SHAPE_ONE_OUTPUT},
    {"}", -1, SHAPE_NONE},
};

int listing_lines(int language)
{
    return language == LISTING_C ? (int)(sizeof c_lines / sizeof c_lines[0])
                                 : (int)(sizeof numpy / sizeof numpy[0]);
}

const listing_line *listing_at(int language, int i)
{
    if (i < 0 || i >= listing_lines(language)) return NULL;
    return language == LISTING_C ? &c_lines[i] : &numpy[i];
}

static void pair(lesson_line *line, int64_t a, int64_t b)
{
    line_text(line, "(");
    line_integer(line, a);
    line_text(line, ", ");
    line_integer(line, b);
    line_text(line, ")");
}

static void product(lesson_line *line, int64_t a, int64_t b, int64_t c)
{
    pair(line, a, b);
    line_own(line, " · ");
    pair(line, b, c);
    line_own(line, " → ");
    pair(line, a, c);
}

static void counted(lesson_line *line, lesson_word one, lesson_word many, int64_t n, int64_t d)
{
    line_say_numbers(line, n == 1 ? one : many, n, d, NULL);
}

void line_listing_shape(lesson_line *line, const lesson_input *in, int language, int i)
{
    const listing_line *const l = listing_at(language, i);
    const int64_t n = in->rows, keys = in->keys;
    switch (l != NULL ? l->shape : SHAPE_NONE) {
    case SHAPE_INPUTS:
        line_text(line, language == LISTING_C ? "q " : "Q ");
        pair(line, language == LISTING_C ? 1 : n, in->d_k);
        line_text(line, ", K ");
        pair(line, keys, in->d_k);
        line_text(line, ", V ");
        pair(line, keys, in->d_v);
        break;
    case SHAPE_CHANNELS:
        line_text(line, "d_k = ");
        line_integer(line, in->d_k);
        break;
    case SHAPE_SCORES:
        product(line, n, in->d_k, keys);
        break;
    case SHAPE_SAME:
        pair(line, n, keys);
        break;
    case SHAPE_ROW:
        pair(line, n, 1);
        break;
    case SHAPE_OUTPUT:
        product(line, n, keys, in->d_v);
        break;
    case SHAPE_ONE_SCORE:
        counted(line, LESSON_W_SHAPE_PRODUCT, LESSON_W_SHAPE_PRODUCTS, in->d_k, 0);
        break;
    case SHAPE_ONE_ROW:
        counted(line, LESSON_W_SHAPE_NUMBER, LESSON_W_SHAPE_NUMBERS, keys, 0);
        break;
    case SHAPE_ONE_OUTPUT:
        counted(line, LESSON_W_SHAPE_VALUE, LESSON_W_SHAPE_VALUES, keys, in->d_v);
        break;
    default:
        break;
    }
}
