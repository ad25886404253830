/* SPDX-License-Identifier: MIT */
/* presets.c - the four tokens of the lesson. Their embedding has named 0/1 features and the three
 * matrices are small whole numbers set by hand, so that every sum can be done in the head; a
 * trained model would learn them. Q, K and V are not written down: they are X W, as in a model.
 */
#include "lesson/lesson.h"

enum { N = LESSON_PRESET_TOKENS, F = LESSON_PRESET_FEATURES, D = 2 };

static const lesson_name names[N] = {{"the", 3}, {"cat", 3}, {"sat", 3}, {"mat", 3}};

/* features: determiner, noun, verb, animate */
static const double x[N][F] = {
    {1, 0, 0, 0}, /* the */
    {0, 1, 0, 1}, /* cat */
    {0, 0, 1, 0}, /* sat */
    {0, 1, 0, 0}, /* mat */
};

static const double w[3][F][D] = {
    {{0, 1}, {2, 1}, {1, 2}, {-1, -1}}, /* queries */
    {{1, 0}, {1, 1}, {2, 0}, {-1, 1}},  /* keys */
    {{1, 0}, {0, 1}, {0, 2}, {3, -1}},  /* values */
};

const double *lesson_preset_x(void)
{
    return &x[0][0];
}

const double *lesson_preset_w(void)
{
    return &w[0][0][0];
}

qkv_status lesson_preset(lesson_input *in, const lesson_memory *memory, qkv_error *err)
{
    *in = (lesson_input){0};
    double *const y = (double *)memory->take(memory->ctx, sizeof(double) * 3 * N * D);
    if (y == NULL) return QKV_ENOMEM;
    for (int i = 0; i < 3; i++) {
        const qkv_status status =
            qkv_ref_project(y + i * N * D, &x[0][0], &w[i][0][0], NULL, N, F, D, err);
        if (status != QKV_OK) return status;
    }
    in->rows = in->keys = N;
    in->d_k = in->d_v = D;
    in->q = y;
    in->k = y + N * D;
    in->v = y + 2 * N * D;
    in->name = names;
    in->engine_dtype = QKV_F32;
    in->stage = 4;
    in->token = LESSON_PRESET_TOKEN;
    in->temperature = 1;
    in->row_end = in->key_end = N;
    return QKV_OK;
}
