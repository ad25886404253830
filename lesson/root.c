/* SPDX-License-Identifier: MIT */
/* root.c - the figure "why divide by sqrt(d_k)": 64 queries and 64 keys drawn from a seed, a
 * histogram of their scores, and the softmax of one query over 16 keys, not divided and divided.
 *
 * The drawn numbers are nearly normal (twelve uniform ones, added, less six) and brought to mean 0 and
 * variance 1 in each channel; + - * / and the square root make them, so they are the same on every
 * machine. Softmax is the reference's.
 */
#include "lesson/figures.h"

uint64_t root_bits(root_random *random)
{
    /* a counter, and a mix of shifts and products that spreads every bit of it */
    uint64_t x = random->state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

double root_normal(root_random *random)
{
    int64_t sum = 0; /* three numbers of 21 bits a draw: exact */
    for (int i = 0; i < 4; i++) {
        const uint64_t bits = root_bits(random);
        for (int k = 0; k < 3; k++) sum += (int64_t)(bits >> (21 * k) & 0x1FFFFF);
    }
    /* each is (u + 1/2) / 2^21 of variance 1/12, up to 2^-44 */
    return (double)(2 * sum + 12 - (INT64_C(12) << 21)) / (double)(INT64_C(2) << 21);
}

typedef struct sample {
    double *q, *k, *direction;
    int64_t d;
} sample;

/* Mean 0 and variance 1 in every channel over the rows that were drawn, so that a small sample of few
 * channels shows the rule as well as a large one. */
static void standardise(double *x, int64_t rows, int64_t d)
{
    for (int64_t c = 0; c < d; c++) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < rows; i++) sum += x[i * d + c];
        const double mean = sum / (double)rows;
        for (int64_t i = 0; i < rows; i++) {
            const double by = x[i * d + c] - mean;
            squares += by * by;
        }
        const double deviation = __builtin_sqrt(squares / (double)rows);
        for (int64_t i = 0; i < rows; i++) x[i * d + c] = (x[i * d + c] - mean) / deviation;
    }
}

static qkv_status draw(sample *s, int32_t channels, uint32_t seed, const lesson_memory *memory)
{
    root_random random = {((uint64_t)seed + 2) * UINT64_C(0xD1342543DE82EF95) + (uint64_t)channels};
    const size_t d = (size_t)channels;
    s->d = channels;
    s->q = (double *)memory->take(memory->ctx, ROOT_QUERIES * d * sizeof(double));
    s->k = (double *)memory->take(memory->ctx, ROOT_KEYS * d * sizeof(double));
    s->direction = (double *)memory->take(memory->ctx, d * sizeof(double));
    if (s->q == NULL || s->k == NULL || s->direction == NULL) return QKV_ENOMEM;
    for (size_t i = 0; i < ROOT_QUERIES * d; i++) s->q[i] = root_normal(&random);
    for (size_t i = 0; i < ROOT_KEYS * d; i++) s->k[i] = root_normal(&random);
    for (size_t i = 0; i < d; i++) s->direction[i] = root_normal(&random);
    standardise(s->q, ROOT_QUERIES, channels);
    standardise(s->k, ROOT_KEYS, channels);
    return QKV_OK;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- the histogram --------------------------------------------------------------------------- */

static void count_scores(root_figure *f, const sample *s)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < ROOT_QUERIES; i++)
        for (int j = 0; j < ROOT_KEYS; j++) {
            const double x = dot(s->q + i * s->d, s->k + j * s->d, s->d);
            const double place = x - ROOT_LOW;
            int bin = place < 0 ? 0 : place >= ROOT_BINS ? ROOT_BINS - 1 : (int)place;
            f->bin[bin]++;
            f->outside += x > f->root || x < -f->root;
            sum += x;
            squares += x * x;
        }
    f->squares = squares;
    f->mean = sum / ROOT_SCORES;
    f->deviation = __builtin_sqrt(squares / ROOT_SCORES - f->mean * f->mean);
}

/* ---- softmax rows ---------------------------------------------------------------------------- */

static void softmax(double *weight, const double *score, double scale)
{
    double most = score[0] * scale, sum = 0;
    for (int j = 1; j < ROOT_ROW_KEYS; j++)
        if (score[j] * scale > most) most = score[j] * scale;
    for (int j = 0; j < ROOT_ROW_KEYS; j++) {
        weight[j] = qkv_ref_exp(score[j] * scale - most);
        sum += weight[j];
    }
    for (int j = 0; j < ROOT_ROW_KEYS; j++) weight[j] /= sum;
}

static double largest(const double *weight)
{
    double most = weight[0];
    for (int j = 1; j < ROOT_ROW_KEYS; j++)
        if (weight[j] > most) most = weight[j];
    return most;
}

static void scores_of(double *score, const sample *s, const double *q)
{
    for (int j = 0; j < ROOT_ROW_KEYS; j++) score[j] = dot(q, s->k + j * s->d, s->d);
}

static void count_stuck(root_figure *f, const sample *s)
{
    double score[ROOT_ROW_KEYS], weight[ROOT_ROW_KEYS];
    for (int i = 0; i < ROOT_QUERIES; i++) {
        scores_of(score, s, s->q + i * s->d);
        softmax(weight, score, 1);
        f->stuck[0] += largest(weight) > 0.99;
        softmax(weight, score, 1 / f->root);
        f->stuck[1] += largest(weight) > 0.99;
    }
}

static void fill_row(root_row *row, const double *score, const double *next, double scale)
{
    for (int j = 0; j < ROOT_ROW_KEYS; j++) row->score[j] = score[j] * scale;
    softmax(row->weight, score, scale);
    softmax(row->nudged, next, scale);
    row->most = largest(row->weight);
    row->moved = 0;
    for (int j = 0; j < ROOT_ROW_KEYS; j++) {
        const double by = row->nudged[j] - row->weight[j];
        row->moved += (by < 0 ? -by : by) / 2;
    }
}

qkv_status root_sample(root_figure *f, int32_t channels, uint32_t seed, int32_t times,
                       const lesson_memory *memory)
{
    sample s;
    const qkv_status status = draw(&s, channels, seed, memory);
    if (status != QKV_OK) return status;
    *f = (root_figure){0};
    f->channels = channels;
    f->root = __builtin_sqrt((double)channels);
    count_scores(f, &s);
    count_stuck(f, &s);
    double score[2][ROOT_ROW_KEYS];
    double *const q = s.q; /* the first query walks along the direction */
    for (int step = 0; step < 2; step++) {
        const double by = step == 0 ? times * 0.1 : 0.1;
        for (int64_t c = 0; c < s.d; c++) q[c] += by * s.direction[c];
        scores_of(score[step], &s, q);
    }
    fill_row(&f->plain, score[0], score[1], 1);
    fill_row(&f->scaled, score[0], score[1], 1 / f->root);
    return QKV_OK;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void number_text(lesson_line *line, const lesson_face *face, double x, unsigned flags)
{
    line_start(line, face);
    line_number(line, x, flags);
}

void line_root_spread(lesson_line *line, const root_figure *f)
{
    lesson_line deviation, root, percent;
    char channels[LESSON_NUMBER_BYTES];
    lesson_number_integer(channels, f->channels);
    number_text(&deviation, line->face, f->deviation, 0);
    number_text(&root, line->face, f->root, LESSON_KEEP_INTEGER);
    line_say(line, f->channels == 1 ? LESSON_W_ROOT_SPREAD_ONE : LESSON_W_ROOT_SPREAD, channels,
             deviation.text, root.text);
    line_start(&percent, line->face);
    char text[LESSON_NUMBER_BYTES];
    lesson_number_fixed(text, 100.0 * f->outside / ROOT_SCORES, 0, 0);
    line_text(&percent, text);
    line_say(line, LESSON_W_ROOT_OUTSIDE, percent.text, root.text, NULL);
}

void line_root_stuck(lesson_line *line, const root_figure *f)
{
    line_say_numbers(line, LESSON_W_ROOT_STUCK, f->stuck[0], f->stuck[1], NULL);
}

void line_root_moved(lesson_line *line, const root_figure *f)
{
    lesson_line plain, scaled;
    number_text(&plain, line->face, f->plain.moved, 0);
    number_text(&scaled, line->face, f->scaled.moved, 0);
    line_say(line, LESSON_W_ROOT_MOVED, plain.text, scaled.text, NULL);
}

/* Two digits more: what an operand needs for a result that a reader can check. */
static void operand_text(lesson_line *line, const lesson_face *face, double x)
{
    lesson_face finer = *face;
    if (finer.digits < 16) finer.digits += 2;
    line_start(line, &finer);
    line_number(line, x, 0);
}

static void work_half(lesson_line *line, const root_row *row, const char *end)
{
    lesson_line changes, moved;
    operand_text(&changes, line->face, 2 * row->moved);
    number_text(&moved, line->face, row->moved, 0);
    line_say(line, LESSON_W_ROOT_WORK_HALF, changes.text, moved.text, NULL);
    line_text(line, end);
}

void line_root_work(lesson_line *line, const root_figure *f)
{
    lesson_line squares, variance, deviation;
    char outside[LESSON_NUMBER_BYTES], percent[LESSON_NUMBER_BYTES];
    number_text(&squares, line->face, f->squares, 0);
    operand_text(&variance, line->face, f->deviation * f->deviation);
    number_text(&deviation, line->face, f->deviation, 0);
    lesson_number_integer(outside, f->outside);
    lesson_number_fixed(percent, 100.0 * f->outside / ROOT_SCORES, 0, 0);
    line_word(line, LESSON_W_ROOT_WORK_SUMS);
    line_say(line, LESSON_W_ROOT_WORK_VARIANCE, squares.text, variance.text, NULL);
    line_say(line, LESSON_W_ROOT_WORK_ROOT, variance.text, deviation.text, NULL);
    line_say(line, LESSON_W_ROOT_WORK_OUTSIDE, outside, percent, NULL);
    line_word(line, LESSON_W_ROOT_WORK_CHANGES);
    work_half(line, &f->plain, "; ");
    work_half(line, &f->scaled, ".");
}
