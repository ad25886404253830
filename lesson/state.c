/* SPDX-License-Identifier: MIT */
/* state.c - what a state holds: its start, its sizes, edits of single numbers, what it hands to the
 * calculator. state_read.c and state_write.c turn it into text and back.
 *
 * Q, K and V are filled at all times: from X W, or with the reader's own numbers. All arrays belong
 * to one state; growing takes new ones and fills with 0.
 */
#include "lesson/state_parts.h"

static const double stops[STATE_STOPS] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};

double lesson_sharpness(int32_t stop)
{
    return stops[stop < 0 ? 0 : stop >= STATE_STOPS ? STATE_STOPS - 1 : stop];
}

int32_t lesson_sharpness_stop(double temperature)
{
    int32_t stop = 0;
    /* nearest by ratio: the border between two stops is their geometric mean */
    while (stop + 1 < STATE_STOPS && temperature * temperature > stops[stop] * stops[stop + 1])
        stop++;
    return stop;
}

static const char *const section_ids[] = {"lookup", "projections", "formula", "calculator", "blend",
                                          "root",   "code",        "check",   "lab"};

const char *lesson_section_id(int32_t section)
{
    return section >= 0 && section <= SECTION_LAB ? section_ids[section] : "";
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* rows x columns, holding what `from` has of them, else 0; 0 when there is no memory. */
static int resized(state_matrix *to, const state_matrix *from, int32_t rows, int32_t columns,
                   const lesson_memory *memory)
{
    const size_t count = (size_t)rows * (size_t)columns;
    double *const x = (double *)memory->take(memory->ctx, count * sizeof(double));
    if (x == NULL) return 0;
    for (int32_t i = 0; i < rows; i++)
        for (int32_t c = 0; c < columns; c++)
            x[(size_t)i * (size_t)columns + (size_t)c] =
                i < from->rows && c < from->columns ? from->x[i * from->columns + c] : 0;
    to->x = x;
    to->rows = rows;
    to->columns = columns;
    return 1;
}

/* The lesson's own; the arrays are constants: only read through `resized`. */
static state_matrix preset_matrix(const double *x, int32_t rows, int32_t columns)
{
    const union {
        const double *from;
        double *to;
    } u = {x};
    const state_matrix m = {u.to, rows, columns};
    return m;
}

void state_project(lesson_state *s)
{
    for (int i = 0; i < 3; i++)
        if (!s->own_qkv[i])
            qkv_ref_project(s->qkv[i].x, s->embedding.x, s->w[i].x, NULL, s->tokens, s->features,
                            s->qkv[i].columns, NULL);
}

/* A name for a token that has none: t4. */
static int default_name(lesson_name *name, int32_t i, const lesson_memory *memory)
{
    static const char *const lesson_names[LESSON_PRESET_TOKENS] = {"the", "cat", "sat", "mat"};
    if (i < LESSON_PRESET_TOKENS) {
        name->text = lesson_names[i];
        name->bytes = 3;
        return 1;
    }
    char *const text = (char *)memory->take(memory->ctx, LESSON_NUMBER_BYTES);
    if (text == NULL) return 0;
    text[0] = 't';
    name->text = text;
    name->bytes = 1 + lesson_number_integer(text + 1, i);
    return 1;
}

static int resize_names(lesson_state *s, int32_t tokens, const lesson_memory *memory)
{
    lesson_name *const name =
        (lesson_name *)memory->take(memory->ctx, (size_t)tokens * sizeof *name);
    if (name == NULL) return 0;
    for (int32_t i = 0; i < tokens; i++) {
        if (i < s->tokens && s->name != NULL)
            name[i] = s->name[i];
        else if (!default_name(&name[i], i, memory))
            return 0;
    }
    s->name = name;
    return 1;
}

/* Brings what speaks of a place back inside. */
void state_clamp(lesson_state *s)
{
    lesson_choice *const both[] = {&s->choice, &s->other};
    if (s->token >= s->tokens) s->token = s->tokens - 1;
    if (!state_focus_fits(s, &s->focus)) {
        s->focus = (lesson_focus){0};
    }
    for (int i = 0; i < 2; i++)
        if (both[i]->padding > s->tokens) both[i]->padding = s->tokens;
    if (s->project_row >= s->tokens) s->project_row = s->tokens - 1;
    const int32_t channels = s->project == 2 ? s->d_v : s->d_k;
    if (s->project_channel >= channels) s->project_channel = channels - 1;
}

int state_resize(lesson_state *state, int32_t tokens, int32_t d_k, int32_t d_v, int32_t features,
                 const lesson_memory *memory)
{
    lesson_state s = *state;
    int fine = resize_names(&s, tokens, memory);
    fine = fine && resized(&s.embedding, &state->embedding, tokens, features, memory);
    for (int i = 0; i < 3; i++) {
        const int32_t d = i == 2 ? d_v : d_k;
        fine = fine && resized(&s.w[i], &state->w[i], features, d, memory);
        fine = fine && resized(&s.qkv[i], &state->qkv[i], tokens, d, memory);
    }
    if (!fine) return 0;
    s.tokens = tokens;
    s.d_k = d_k;
    s.d_v = d_v;
    s.features = features;
    state_clamp(&s);
    state_project(&s);
    *state = s;
    return 1;
}

int state_preset_data(lesson_state *s, const lesson_memory *memory)
{
    enum { N = LESSON_PRESET_TOKENS, F = LESSON_PRESET_FEATURES, D = 2 };
    s->embedding = preset_matrix(lesson_preset_x(), N, F);
    for (int i = 0; i < 3; i++) {
        s->w[i] = preset_matrix(lesson_preset_w() + i * F * D, F, D);
        s->qkv[i].x = NULL;
        s->qkv[i].rows = s->qkv[i].columns = 0;
        s->own_w[i] = s->own_qkv[i] = 0;
    }
    s->own_x = s->own_names = 0;
    s->name = NULL;
    s->data = DATA_TOKENS;
    return state_resize(s, N, D, D, F, memory);
}

/* ---- start ----------------------------------------------------------------------------------- */

static const lesson_choice lesson_own_choice = {LESSON_SCALE_SQRT, MASK_NONE, 0, 0, 0, 0, 1, 1};

qkv_status lesson_state_start(lesson_state *state, const lesson_memory *memory)
{
    lesson_state s = {0};
    s.version = STATE_VERSION;
    s.token = LESSON_PRESET_TOKEN;
    s.digits = 2;
    s.choice = s.other = lesson_own_choice;
    s.project_row = LESSON_PRESET_TOKEN;
    s.root_channels = 64;
    s.root_seed = 1;
    s.blend = 1.3;
    s.quiz_seed = 1;
    s.model_layer = 3;
    s.model_head = 1;
    s.model_row = 8;
    s.unknown = "";
    if (!state_preset_data(&s, memory)) return QKV_ENOMEM;
    *state = s;
    return QKV_OK;
}

qkv_status lesson_state_lesson_numbers(lesson_state *state, const lesson_memory *memory)
{
    lesson_state s = *state;
    s.choice = s.other = lesson_own_choice;
    s.compare = 0;
    s.lost_tokens = s.lost_d_k = s.lost_d_v = 0;
    if (!state_preset_data(&s, memory)) return QKV_ENOMEM;
    *state = s;
    return QKV_OK;
}

/* ---- edits ----------------------------------------------------------------------------------- */

/* The matrix of a letter, and what has to become the reader's own. */
state_matrix *state_matrix_of(lesson_state *s, char which, int32_t **own)
{
    static const char letters[] = "QKVqkv";
    for (int i = 0; letters[i] != 0; i++) {
        if (which != letters[i]) continue;
        *own = i < 3 ? &s->own_qkv[i] : &s->own_w[i - 3];
        return i < 3 ? &s->qkv[i] : &s->w[i - 3];
    }
    *own = &s->own_x;
    return which == 'X' ? &s->embedding : NULL;
}

qkv_status lesson_state_edit(lesson_state *s, char which, int32_t row, int32_t column,
                             const char *value, size_t bytes, const lesson_memory *memory,
                             lesson_trouble *t)
{
    int32_t *own = NULL;
    state_matrix *const m = state_matrix_of(s, which, &own);
    const char *const name = state_matrix_name(which);
    (void)memory;
    trouble_none(t);
    if (m == NULL) return trouble_say(t, "", LESSON_W_BAD_KEY, NULL, name, NULL);
    if (row < 0 || row >= m->rows || column < 0 || column >= m->columns)
        return trouble_numbers(t, name, LESSON_W_BAD_CELL_NONE, name, m->rows, m->columns);
    double x = 0;
    if (!state_read_cell(name, row, column, value, bytes, &x, t)) return QKV_EARG;
    m->x[row * m->columns + column] = x;
    *own = 1;
    if (m == &s->embedding || m == &s->w[0] || m == &s->w[1] || m == &s->w[2]) state_project(s);
    return QKV_OK;
}

static int index_of(char which)
{
    return which == 'Q' ? 0 : which == 'K' ? 1 : which == 'V' ? 2 : -1;
}

qkv_status lesson_state_reconnect(lesson_state *s, char which)
{
    const int i = index_of(which);
    if (i < 0) return QKV_EARG;
    s->own_qkv[i] = 0;
    state_project(s);
    return QKV_OK;
}

int lesson_state_detached(const lesson_state *s, char which)
{
    const int i = index_of(which);
    if (i >= 0) return s->own_qkv[i];
    return s->own_qkv[0] || s->own_qkv[1] || s->own_qkv[2];
}

/* ---- what it says ---------------------------------------------------------------------------- */

int state_choice_is_lesson(const lesson_choice *c)
{
    return c->scale_kind == LESSON_SCALE_SQRT && c->mask == MASK_NONE && !c->wrong_way &&
           c->temperature == 1;
}

/* Both in the same order of members, so that -0 and a wrong way without a mask count as equal. */
int lesson_state_changed(const lesson_state *s)
{
    if (!state_choice_is_lesson(&s->choice) || s->own_x || s->own_names || s->data != DATA_TOKENS)
        return 1;
    for (int i = 0; i < 3; i++)
        if (s->own_w[i] || s->own_qkv[i]) return 1;
    return s->tokens != LESSON_PRESET_TOKENS || s->d_k != 2 || s->d_v != 2 ||
           s->features != LESSON_PRESET_FEATURES;
}

int lesson_state_fits_link(const lesson_state *s)
{
    return s->tokens <= STATE_LINK_TOKENS && s->d_k <= STATE_LINK_CHANNELS &&
           s->d_v <= STATE_LINK_CHANNELS && s->features <= STATE_LINK_CHANNELS &&
           s->data != DATA_FILE;
}

int state_focus_fits(const lesson_state *s, const lesson_focus *f)
{
    const int32_t channels = f->kind == FOCUS_QUERY || f->kind == FOCUS_KEY ? s->d_k : s->d_v;
    return f->kind >= FOCUS_NONE && f->kind <= FOCUS_OUTPUT && f->key >= 0 && f->key < s->tokens &&
           f->channel >= 0 && f->channel < channels;
}

void lesson_state_input(const lesson_state *s, int other, lesson_input *in)
{
    const lesson_choice *const c = other ? &s->other : &s->choice;
    *in = (lesson_input){0};
    in->rows = in->keys = s->tokens;
    in->d_k = s->d_k;
    in->d_v = s->d_v;
    in->q = s->qkv[0].x;
    in->k = s->qkv[1].x;
    in->v = s->qkv[2].x;
    in->name = s->name;
    in->engine_dtype = QKV_F32;
    in->stage = s->stage;
    in->token = s->token;
    in->scale_kind = c->scale_kind;
    in->scale_value = c->scale_value;
    in->temperature = c->temperature;
    in->causal = c->mask == MASK_CAUSAL;
    in->q_offset = in->causal ? c->shift : 0;
    in->padding = c->mask == MASK_PADDING ? c->padding : 0;
    in->wrong_way = c->wrong_way && (in->causal || in->padding > 0);
    in->row_end = in->key_end = s->tokens;
    in->focus = s->focus;
}

int lesson_finite_scale(const lesson_input *in)
{
    return lesson_scale(in) - lesson_scale(in) == 0;
}
