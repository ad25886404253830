/* SPDX-License-Identifier: MIT */
/* lab_store.c - see lab_store.h. A slot holds a head, then names, then numbers. The model's slot holds
 * the six .npy files as they are, one after the other: q, k, v of layer 0, then of layer 3.
 */
#include "page/lab_store.h"

#include "files/parse/convert.h"

enum { ALIGN = 64, MODEL_FILES = 6 };

typedef struct stored {
    read_table table;
    int64_t names;
    size_t names_at, text_at; /* from the slot's beginning */
} stored;

static const page_slot slots[3] = {PAGE_SLOT_Q, PAGE_SLOT_K, PAGE_SLOT_V};

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static const stored *stored_in(int which)
{
    size_t bytes = 0;
    return (const stored *)page_kept(slots[which], &bytes);
}

const read_table *lab_store_table(int which)
{
    static const read_table none = {0, 0, 0, NULL};
    const stored *const s = stored_in(which);
    return s != NULL ? &s->table : &none;
}

static int put(int which, const read_state *read, const read_table *t)
{
    const int64_t names = read_names(read) == t->rows ? t->rows : 0;
    size_t text = 0;
    for (int64_t i = 0; i < names; i++) text += read_name_of(read, i).bytes;
    stored s = {*t, names, aligned(sizeof s), 0};
    s.text_at = s.names_at + aligned((size_t)names * sizeof(read_name));
    const size_t cells_at = s.text_at + aligned(text);
    const int64_t cells = t->heads * t->rows * t->columns;
    char *const mem = (char *)page_keep(slots[which], cells_at + (size_t)cells * sizeof(double));
    if (mem == NULL) return 0;
    double *const x = (double *)(void *)(mem + cells_at);
    s.table.x = x;
    *(stored *)(void *)mem = s;
    read_name *const name = (read_name *)(void *)(mem + s.names_at);
    size_t at = 0;
    for (int64_t i = 0; i < names; i++) {
        const lesson_name from = read_name_of(read, i);
        for (size_t k = 0; k < from.bytes; k++) mem[s.text_at + at + k] = from.text[k];
        name[i].at = at;
        name[i].bytes = from.bytes;
        at += from.bytes;
    }
    for (int64_t i = 0; i < cells; i++) x[i] = t->x[i];
    return 1;
}

static int say(lesson_line *trouble, lesson_word word, int64_t a, int64_t b)
{
    line_say_numbers(trouble, word, a, b, NULL);
    return 0;
}

/* Do the tables that are there go together? */
static int agree(const read_table *const t[3], lesson_line *trouble)
{
    for (int i = 1; i < 3; i++) {
        const read_table *const a = t[0]->rows > 0 ? t[0] : t[1];
        if (t[i]->rows > 0 && a->rows > 0 && t[i]->heads != a->heads)
            return say(trouble, LESSON_W_LAB_HEADS_DIFFER, a->heads, t[i]->heads);
    }
    if (t[0]->rows > 0 && t[1]->rows > 0 && t[0]->columns != t[1]->columns)
        return say(trouble, LESSON_W_LAB_CHANNELS_DIFFER, t[0]->columns, t[1]->columns);
    if (t[1]->rows > 0 && t[2]->rows > 0 && t[1]->rows != t[2]->rows)
        return say(trouble, LESSON_W_LAB_KEYS_DIFFER, t[1]->rows, t[2]->rows);
    return 1;
}

int lab_store_take(const read_state *read, char target, lesson_line *trouble)
{
    const int only = target == 'q' ? 0 : target == 'k' ? 1 : target == 'v' ? 2 : -1;
    const read_table *t[3];
    int fresh[3];
    for (int i = 0; i < 3; i++) {
        const read_table *const own = read_found(read, read_alone(read) ? 0 : i);
        fresh[i] = own != NULL && (!read_alone(read) || only < 0 || only == i);
        t[i] = fresh[i] ? own : lab_store_table(i);
    }
    if (!agree(t, trouble)) return 0;
    for (int i = 0; i < 3; i++)
        if (fresh[i] && !put(i, read, t[i])) {
            line_word(trouble, LESSON_W_LAB_NO_MEMORY);
            return 0;
        }
    return 1;
}

void lab_store_drop(void)
{
    for (int i = 0; i < 3; i++) page_keep(slots[i], 0);
}

/* ---- inputs ------------------------------------------------------------------------------------ */

static const lesson_name *stored_names(int which, int64_t rows)
{
    const stored *const s = stored_in(which);
    lesson_name *const name = (lesson_name *)page_take((size_t)rows * sizeof(lesson_name));
    if (s == NULL || s->names != rows || name == NULL) return NULL;
    const read_name *const from = (const read_name *)(const void *)((const char *)s + s->names_at);
    for (int64_t i = 0; i < rows; i++) {
        name[i].text = (const char *)s + s->text_at + from[i].at;
        name[i].bytes = from[i].bytes;
    }
    return name;
}

/* t0, t1, ...: for keys that came without names */
static const lesson_name *counted_names(int64_t rows)
{
    enum { ROOM = 24 };
    lesson_name *const name = (lesson_name *)page_take((size_t)rows * sizeof(lesson_name));
    char *text = (char *)page_take((size_t)rows * ROOM);
    if (name == NULL || text == NULL) return NULL;
    for (int64_t i = 0; i < rows; i++, text += ROOM) {
        char number[LESSON_NUMBER_BYTES];
        const size_t n = lesson_number_integer(number, i);
        text[0] = 't';
        for (size_t k = 0; k < n; k++) text[k + 1] = number[k];
        name[i].text = text;
        name[i].bytes = n + 1;
    }
    return name;
}

static qkv_status file_input(int64_t head, lesson_input *in)
{
    const double **const into[3] = {&in->q, &in->k, &in->v};
    const int64_t keys = lab_store_table(1)->rows;
    for (int i = 0; i < 3; i++) {
        const read_table *const t = lab_store_table(i);
        *into[i] = t->x + head * t->rows * t->columns;
    }
    static const int order[3] = {1, 2, 0};
    in->name = NULL;
    for (int i = 0; i < 3 && in->name == NULL; i++)
        if (lab_store_table(order[i])->rows == keys) in->name = stored_names(order[i], keys);
    if (in->name == NULL) in->name = counted_names(keys);
    return in->name != NULL ? QKV_OK : QKV_ENOMEM;
}

/* The model's n-th file: its header and where its numbers begin; 0: it is not there. */
static const unsigned char *model_file(int n, npy_header *h)
{
    size_t bytes = 0, at = 0;
    const unsigned char *const p = (const unsigned char *)page_kept(PAGE_SLOT_MODEL, &bytes);
    npy_error err;
    for (int i = 0; p != NULL && i < MODEL_FILES; i++) {
        if (npy_parse(p + at, bytes - at, h, &err) != NPY_OK) return NULL;
        const size_t end = at + (size_t)(h->data_offset + h->data_bytes);
        if (end > bytes || h->rank != 3 || h->type != NPY_F4) return NULL;
        if (i == n) return p + at + h->data_offset;
        at = end;
    }
    return NULL;
}

static qkv_status model_input(const lesson_state *state, int64_t head, lesson_input *in)
{
    static const lesson_name names[] = {
        {"[CLS]", 5},   {"the", 3}, {"cat", 3}, {"sat", 3},   {"on", 2}, {"the", 3},  {"mat", 3},
        {"because", 7}, {"it", 2},  {"was", 3}, {"tired", 5}, {".", 1},  {"[SEP]", 5}};
    const double **const into[3] = {&in->q, &in->k, &in->v};
    for (int i = 0; i < 3; i++) {
        npy_header h;
        const unsigned char *const p = model_file((state->model_layer > 0 ? 3 : 0) + i, &h);
        const int64_t n = h.dim[1] * h.dim[2];
        float *const narrow = (float *)page_take((size_t)n * sizeof(float));
        double *const wide = (double *)page_take((size_t)n * sizeof(double));
        if (p == NULL || narrow == NULL || wide == NULL) return QKV_ENOMEM;
        convert_elements(narrow, p + head * n * 4, n, h.type, h.big_endian);
        for (int64_t k = 0; k < n; k++) wide[k] = (double)narrow[k];
        *into[i] = wide;
    }
    in->name = names;
    return QKV_OK;
}

int lab_sizes_of(const lesson_state *state, lab_sizes *z)
{
    const lab_sizes own = {1, state->tokens, state->tokens, state->d_k, state->d_v};
    *z = own;
    if (state->data == DATA_MODEL) {
        npy_header h;
        if (model_file(0, &h) == NULL) return 0;
        const lab_sizes model = {h.dim[0], h.dim[1], h.dim[1], h.dim[2], h.dim[2]};
        *z = model;
    }
    if (state->data == DATA_FILE) {
        const read_table *const q = lab_store_table(0), *const k = lab_store_table(1);
        const read_table *const v = lab_store_table(2);
        const lab_sizes file = {q->heads, q->rows, k->rows, q->columns, v->columns};
        if (q->rows == 0 || k->rows == 0 || v->rows == 0) return 0;
        *z = file;
    }
    return 1;
}

qkv_status lab_input(const lesson_state *state, int other, int64_t head, const lab_sizes *z,
                     lesson_input *in)
{
    lesson_state_input(state, other, in);
    in->rows = in->row_end = z->rows;
    in->keys = in->key_end = z->keys;
    in->d_k = z->d_k;
    in->d_v = z->d_v;
    if (in->padding > in->keys) in->padding = in->keys;
    if (head < 0 || head >= z->heads) head = 0;
    if (state->data == DATA_MODEL) return model_input(state, head, in);
    return state->data == DATA_FILE ? file_input(head, in) : QKV_OK;
}
