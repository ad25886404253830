/* SPDX-License-Identifier: MIT */
/* proof.c - the three demonstrations that answer the questions for a teacher, computed when they are
 * shown; and the state as plain text to ask a person with.
 */
#include "lesson/course.h"
#include "lesson/figures.h"

enum { N = LESSON_PRESET_TOKENS, F = LESSON_PRESET_FEATURES, D = 2, SAT = 2, MAT = 3 };

/* ---- why three projections ------------------------------------------------------------------- */

/* The key that the token looks at most, itself left out. */
static int64_t partner(const lesson_input *in, const lesson_stages *s)
{
    int64_t best = -1;
    for (int64_t j = 0; j < in->keys; j++)
        if (j != in->token && (best < 0 || s->row_score[j] > s->row_score[best])) best = j;
    return best < 0 ? in->token : best;
}

static void name_of(lesson_line *line, const lesson_view *view, int64_t token)
{
    line_start(line, view->face);
    line_key(line, view->in, token, LESSON_NAME_COLUMNS);
}

static double score(const lesson_input *in, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t c = 0; c < in->d_k; c++) sum += in->q[i * in->d_k + c] * in->k[j * in->d_k + c];
    return sum;
}

static void number_text(lesson_line *line, const lesson_face *face, double x)
{
    line_start(line, face);
    line_number(line, x, LESSON_KEEP_INTEGER);
}

void line_proof_alone(lesson_line *line, const lesson_view *view, const lesson_state *state)
{
    const int64_t i = view->in->token, j = partner(view->in, view->stages);
    if (state->own_qkv[0] || state->own_qkv[1]) {
        line_word(line, LESSON_W_PROOF_NO_EMBEDDING);
        return;
    }
    double sum = 0;
    for (int32_t f = 0; f < state->features; f++)
        sum += state->embedding.x[i * state->features + f] *
               state->embedding.x[j * state->features + f];
    lesson_line a, b, x;
    name_of(&a, view, i);
    name_of(&b, view, j);
    number_text(&x, view->face, sum);
    line_say(line, LESSON_W_PROOF_ALONE, a.text, b.text, x.text);
}

void line_proof_projected(lesson_line *line, const lesson_view *view)
{
    const int64_t i = view->in->token, j = partner(view->in, view->stages);
    lesson_line a, b, x;
    name_of(&a, view, i);
    name_of(&b, view, j);
    number_text(&x, view->face, score(view->in, i, j));
    line_say(line, LESSON_W_PROOF_PROJECTED, a.text, x.text, b.text);
    number_text(&x, view->face, score(view->in, j, i));
    line_say(line, LESSON_W_PROOF_PROJECTED_BACK, b.text, x.text, a.text);
}

/* ---- why a mask ------------------------------------------------------------------------------ */

/* The lesson's tokens; changed: mat asks, answers and hands over something else. */
static qkv_status run_lesson(double (*out)[D], int causal, int changed, const lesson_memory *memory)
{
    static const double other[3][D] = {{-1, 3}, {3, 2}, {-2, 4}};
    lesson_input in;
    lesson_stages s;
    qkv_error err = qkv_error_init();
    qkv_status status = lesson_preset(&in, memory, &err);
    if (status != QKV_OK) return status;
    double *const copy = (double *)memory->take(memory->ctx, sizeof(double) * 3 * N * D);
    if (copy == NULL) return QKV_ENOMEM;
    const double *const from[3] = {in.q, in.k, in.v};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < N * D; i++)
            copy[m * N * D + i] = changed && i >= MAT * D ? other[m][i - MAT * D] : from[m][i];
    in.q = copy;
    in.k = copy + N * D;
    in.v = copy + 2 * N * D;
    in.causal = causal;
    status = lesson_run(&s, &in, 0, memory, &err);
    if (status != QKV_OK) return status;
    for (int i = 0; i < N * D; i++) out[i / D][i % D] = s.out[i];
    return QKV_OK;
}

static int same_row(const double *a, const double *b)
{
    for (int c = 0; c < D; c++) {
        const union {
            double x;
            uint64_t bits;
        } u = {a[c]}, v = {b[c]};
        if (u.bits != v.bits) return 0;
    }
    return 1;
}

qkv_status proof_causal_make(proof_causal *p, const lesson_memory *memory)
{
    double before[N][D], after[N][D];
    qkv_status status = run_lesson(p->before, 1, 0, memory);
    if (status == QKV_OK) status = run_lesson(p->after, 1, 1, memory);
    if (status == QKV_OK) status = run_lesson(before, 0, 0, memory);
    if (status == QKV_OK) status = run_lesson(after, 0, 1, memory);
    if (status != QKV_OK) return status;
    p->changed_without_mask = 0;
    for (int i = 0; i < N; i++) {
        p->same[i] = same_row(p->before[i], p->after[i]);
        if (i < MAT) p->changed_without_mask += !same_row(before[i], after[i]);
    }
    return QKV_OK;
}

void line_proof_causal(lesson_line *line, const proof_causal *p)
{
    if (p->same[0] && p->same[1] && p->same[2]) line_word(line, LESSON_W_PROOF_CAUSAL);
}

void line_proof_causal_not(lesson_line *line, const proof_causal *p)
{
    char count[LESSON_NUMBER_BYTES];
    lesson_number_integer(count, p->changed_without_mask);
    line_say(line, LESSON_W_PROOF_CAUSAL_NOT, count, NULL, NULL);
}

/* ---- one head and two ------------------------------------------------------------------------ */

/* features: determiner, noun, verb, animate; the second head: a verb looks for a noun without life */
static const double second[3][F][D] = {
    {{0, 1}, {0, 1}, {2, 0}, {1, 0}},
    {{0, 0}, {2, 0}, {0, 1}, {-2, 0}},
    {{1, 0}, {0, 1}, {0, 2}, {3, -1}},
};

qkv_status proof_heads_make(proof_heads *p, const lesson_memory *memory)
{
    for (int h = 0; h < PROOF_HEADS; h++) {
        lesson_input in;
        lesson_stages s;
        qkv_error err = qkv_error_init();
        qkv_status status = lesson_preset(&in, memory, &err);
        if (status != QKV_OK) return status;
        double *const y = (double *)memory->take(memory->ctx, sizeof(double) * 3 * N * D);
        if (y == NULL) return QKV_ENOMEM;
        for (int m = 0; m < 3 && h == 1; m++)
            qkv_ref_project(y + m * N * D, lesson_preset_x(), &second[m][0][0], NULL, N, F, D,
                            NULL);
        if (h == 1) {
            in.q = y;
            in.k = y + N * D;
            in.v = y + 2 * N * D;
        }
        status = lesson_run(&s, &in, 0, memory, &err);
        if (status != QKV_OK) return status;
        for (int j = 0; j < N; j++) p->weight[h][j] = s.row_weight[j];
        for (int c = 0; c < D; c++) p->out[h][c] = s.row_out[c];
        p->most[h] = (int32_t)lesson_strongest(&in, &s);
    }
    return QKV_OK;
}

void line_proof_head(lesson_line *line, const proof_heads *p, int head)
{
    static const char *const names[N] = {"the", "cat", "sat", "mat"};
    char number[LESSON_NUMBER_BYTES];
    lesson_line w;
    lesson_number_integer(number, head + 1);
    line_start(&w, line->face);
    line_number(&w, p->weight[head][p->most[head]], 0);
    line_say(line, LESSON_W_PROOF_HEAD, number, names[p->most[head]], w.text);
}

void line_proof_heads(lesson_line *line, const proof_heads *p)
{
    lesson_line out;
    line_start(&out, line->face);
    line_vector(&out, &p->out[0][0], PROOF_HEADS * D, PROOF_HEADS * D, 0);
    line_say(line, LESSON_W_PROOF_HEADS_OUT, out.text, NULL, NULL);
}

/* ---- a question taken to a person ------------------------------------------------------------ */

qkv_status lesson_ask(const lesson_view *view, const lesson_state *state)
{
    lesson_line title, line;
    line_start(&title, view->face);
    line_start(&line, view->face);
    line_course(&title, lesson_word_text(LESSON_W_TITLE));
    line_say(&line, LESSON_W_ASK_HEAD, title.text, NULL, NULL);
    sink_text(view, line.text);
    sink_text(view, "\n\n");
    const qkv_status status = lesson_plain_table(view);
    if (status != QKV_OK) return status;
    line_start(&line, view->face);
    line_word(&line, LESSON_W_ASK_LINK);
    sink_text(view, "\n");
    sink_text(view, line.text);
    sink_text(view, "\n");
    lesson_state_write(state, 0, view->sink);
    sink_text(view, "\n");
    return QKV_OK;
}
