/* SPDX-License-Identifier: MIT */
/* worked.c - the arithmetic of one shown number, written out so that a reader can redo it by hand.
 *
 * The invariant: taking the operands as they are printed, the printed operation gives the printed
 * result. So operands get as many decimals as that needs, at least those of the face; whole numbers
 * are printed as such; when nothing else helps, every digit of the number. Long sums print their
 * largest terms in order and the others as one number. Exponentials are the reference's.
 */
#include "lesson/worked.h"

operand work_operand(const lesson_face *face, double x, int digits, unsigned flags)
{
    operand o;
    size_t n;
    if (digits < ALL_DIGITS) {
        n = lesson_number_show(o.text, x, digits, lesson_flags(face, flags));
    } else {
        lesson_line line;
        line_start(&line, face);
        line_exact(&line, x);
        for (n = 0; line.text[n] != 0; n++) o.text[n] = line.text[n];
        o.text[n] = 0;
    }
    o.value = 0;
    lesson_number_parse(o.text, n, &o.value, NULL);
    return o;
}

void work_put(lesson_line *line, const operand *o, int first, char role)
{
    const int enclose = o->value < 0 && !first;
    if (enclose) line_text(line, "(");
    line_role(line, role);
    line_text(line, o->text);
    line_role_end(line, role);
    if (enclose) line_text(line, ")");
}

static int same_text(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

int work_gives(const lesson_face *face, double x, const operand *result, int digits, unsigned flags)
{
    return same_text(work_operand(face, x, digits, flags).text, result->text);
}

void work_label(lesson_line *line, const lesson_view *view, int64_t key)
{
    line_name(line, &view->in->name[key], LESSON_NAME_COLUMNS);
    line_text(line, ": ");
}

/* ---- sums of products ------------------------------------------------------------------------ */

static double left_of(const product_sum *s, int64_t t)
{
    return s->left[s->at != NULL ? s->at[t] : t];
}

static double right_of(const product_sum *s, int64_t t)
{
    return s->right[(s->at != NULL ? s->at[t] : t) * s->stride];
}

static double size_of_term(const product_sum *s, int64_t t)
{
    const double x = left_of(s, t) * right_of(s, t);
    return x < 0 ? -x : x;
}

/* The `want` largest terms, ascending by place. */
static void largest_terms(const product_sum *s, int64_t want, int64_t *term)
{
    int64_t n = 0;
    for (int64_t t = 0; t < s->terms; t++) {
        int64_t at = n;
        while (at > 0 && size_of_term(s, t) > size_of_term(s, term[at - 1])) at--;
        if (at == want) continue;
        if (n < want) n++;
        for (int64_t k = n - 1; k > at; k--) term[k] = term[k - 1];
        term[at] = t;
    }
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = i; k > 0 && term[k - 1] > term[k]; k--) {
            const int64_t swap = term[k];
            term[k] = term[k - 1];
            term[k - 1] = swap;
        }
}

/* Writes `want` terms and the rest; returns what a reader gets from what is printed. */
static double line_products(lesson_line *line, const product_sum *s, int64_t want, int digits)
{
    int64_t term[TERMS_MOST];
    largest_terms(s, want, term);
    double sum = 0, rest = 0;
    int64_t next = 0;
    for (int64_t t = 0; t < s->terms; t++) {
        if (next == want || term[next] != t) {
            rest += left_of(s, t) * right_of(s, t);
            continue;
        }
        const operand a = work_operand(line->face, left_of(s, t), digits, s->left_flags);
        const operand b = work_operand(line->face, right_of(s, t), digits, LESSON_KEEP_INTEGER);
        if (next > 0) line_text(line, " + ");
        work_put(line, &a, next == 0, s->left_role);
        if (s->right_role != WORK_NO_FACTOR) {
            line_own(line, "·");
            work_put(line, &b, 0, s->right_role);
        }
        sum += a.value * b.value;
        next++;
    }
    if (want < s->terms) {
        const operand r = work_operand(line->face, rest, digits, LESSON_KEEP_INTEGER);
        char count[LESSON_NUMBER_BYTES];
        lesson_number_integer(count, s->terms - want);
        line_text(line, " + ");
        line_say(line, LESSON_W_WORK_REST, count, r.text, NULL);
        sum += r.value;
    }
    return sum;
}

void work_sum(lesson_line *line, const product_sum *s, double x, unsigned flags, int limit)
{
    const lesson_face *const face = line->face;
    const operand result = work_operand(face, x, face->digits, flags);
    lesson_line trial;
    for (int digits = face->digits; digits <= ALL_DIGITS; digits++) {
        int64_t want = s->terms < TERMS_MOST ? s->terms : TERMS_MOST;
        double sum;
        for (;; want--) {
            line_start(&trial, face);
            sum = line_products(&trial, s, want, digits);
            line_text(&trial, " = ");
            line_text(&trial, result.text);
            if (want <= 2 || line_columns(line) + line_columns(&trial) <= limit) break;
        }
        if (digits == ALL_DIGITS || work_gives(face, sum, &result, face->digits, flags)) break;
    }
    line_text(line, trial.text);
}

/* ---- stages 0 to 2 --------------------------------------------------------------------------- */

static void work_vectors(lesson_line *line, const lesson_view *view, int64_t key)
{
    const lesson_input *const in = view->in;
    lesson_line name, k, v;
    line_start(&name, view->face);
    line_start(&k, view->face);
    line_start(&v, view->face);
    line_name(&name, &in->name[key], LESSON_NAME_COLUMNS);
    const int64_t room = view->face->width / 20 + 1;
    line_role(&k, 'k');
    line_vector(&k, in->k + key * in->d_k, in->d_k, room,
                lesson_all_whole(in->k + key * in->d_k, in->d_k));
    line_role_end(&k, 'k');
    line_role(&v, 'v');
    line_vector(&v, in->v + key * in->d_v, in->d_v, room,
                lesson_all_whole(in->v + key * in->d_v, in->d_v));
    line_role_end(&v, 'v');
    line_say(line, LESSON_W_WORK_VECTORS, name.text, k.text, v.text);
}

static void work_score(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                       int64_t key)
{
    const lesson_input *const in = view->in;
    const double x = view->stages->row_score[key];
    if (!lesson_finite(x)) {
        line_word(line, LESSON_W_NOT_FINITE);
        return;
    }
    const product_sum s = {in->q + in->token * in->d_k,
                           in->k + key * in->d_k,
                           1,
                           NULL,
                           in->d_k,
                           LESSON_KEEP_INTEGER,
                           'q',
                           'k'};
    work_label(line, view, key);
    work_sum(line, &s, x, how->whole_score ? LESSON_KEEP_INTEGER : 0, how->limit);
}

/* " ÷ √2" and so on; returns what x becomes. */
static double line_scaling(lesson_line *line, const lesson_input *in, double x)
{
    const lesson_face *const face = line->face;
    const double d = (double)in->d_k;
    if (in->scale_kind == LESSON_SCALE_VALUE) {
        const operand s = work_operand(face, in->scale_value, ALL_DIGITS, 0);
        line_own(line, " × ");
        work_put(line, &s, 0, 0);
        x *= s.value;
    } else {
        line_own(line, in->scale_kind == LESSON_SCALE_SQRT ? " ÷ √" : " ÷ ");
        line_integer(line, in->scale_kind == LESSON_SCALE_NONE ? 1 : in->d_k);
        if (in->scale_kind == LESSON_SCALE_SQRT) x /= __builtin_sqrt(d);
        if (in->scale_kind == LESSON_SCALE_DK) x /= d;
    }
    if (in->temperature != 1) {
        const operand t = work_operand(face, in->temperature, ALL_DIGITS, 0);
        line_own(line, " ÷ ");
        line_text(line, t.text);
        x /= t.value;
    }
    return x;
}

static void work_scaled(lesson_line *line, const lesson_view *view, const lesson_worked *how,
                        int64_t key)
{
    const lesson_face *const face = view->face;
    const double x = view->stages->row_scaled[key];
    if (!lesson_finite(x) || !lesson_finite(view->stages->row_score[key])) {
        line_word(line, LESSON_W_NOT_FINITE);
        return;
    }
    const unsigned flags = how->whole_scaled ? LESSON_KEEP_INTEGER : 0;
    const operand result = work_operand(face, x, face->digits, flags);
    lesson_line trial;
    for (int digits = face->digits; digits <= ALL_DIGITS; digits++) {
        line_start(&trial, face);
        const operand score =
            work_operand(face, view->stages->row_score[key], digits, LESSON_KEEP_INTEGER);
        work_put(&trial, &score, 1, 0);
        const double y = line_scaling(&trial, view->in, score.value);
        if (work_gives(face, y, &result, face->digits, flags)) break;
    }
    work_label(line, view, key);
    line_text(line, trial.text);
    line_text(line, " = ");
    line_text(line, result.text);
}

/* ---- stage 3 --------------------------------------------------------------------------------- */

typedef struct exponentials {
    int64_t seen;
    double shift; /* subtracted first; 0: nothing */
    double own, sum;
} exponentials;

/* Which scores the softmax counts. */
static int counts(const lesson_input *in, int64_t key)
{
    return in->wrong_way || lesson_sees(in, in->token, key);
}

/* 0 when one that counts is not a finite number. */
static int exponentials_of(exponentials *e, const lesson_view *view, int64_t key)
{
    enum { LARGE = 20, SMALL = -10 }; /* beyond these e is too long, or nothing, to print */
    const lesson_input *const in = view->in;
    const double *const x = view->stages->row_scaled;
    double most = x[key];
    for (int64_t j = 0; j < in->keys; j++) {
        if (!counts(in, j)) continue;
        if (!lesson_finite(x[j])) return 0;
        if (x[j] > most) most = x[j];
    }
    e->shift = most > LARGE || most < SMALL ? most : 0;
    e->seen = 0;
    e->sum = 0;
    for (int64_t j = 0; j < in->keys; j++) {
        if (!counts(in, j)) continue;
        e->seen++;
        e->sum += qkv_ref_exp(x[j] - e->shift);
    }
    e->own = qkv_ref_exp(x[key] - e->shift);
    return 1;
}

static void line_exponent(lesson_line *line, const lesson_view *view, const exponentials *e,
                          double x, const operand *own, int digits)
{
    const lesson_face *const face = view->face;
    for (int more = face->digits; more <= ALL_DIGITS; more++) {
        const operand a = work_operand(face, x, more, LESSON_KEEP_INTEGER);
        const operand m = work_operand(face, e->shift, more, LESSON_KEEP_INTEGER);
        const double power = e->shift == 0 ? a.value : a.value - m.value;
        if (more < ALL_DIGITS && !work_gives(face, qkv_ref_exp(power), own, digits, 0)) continue;
        line_text(line, e->shift == 0 ? "e^" : "e^(");
        line_text(line, a.text);
        if (e->shift == 0) return;
        line_own(line, " − ");
        work_put(line, &m, 0, 0);
        line_text(line, ")");
        return;
    }
}

static void line_count(lesson_line *line, const lesson_input *in, int64_t seen, const char *sum)
{
    if (seen <= 2) {
        line_say(line, seen == 2 ? LESSON_W_WORK_E_BOTH : LESSON_W_WORK_E_ONE, NULL, sum, NULL);
        return;
    }
    char number[LESSON_NUMBER_BYTES];
    lesson_number_integer(number, seen);
    const char *const count =
        seen <= 12 ? lesson_word_text((lesson_word)(LESSON_W_COUNT_3 + seen - 3)) : number;
    line_say(line, seen < in->keys ? LESSON_W_WORK_E_SEEN : LESSON_W_WORK_E_ALL, count, sum, NULL);
}

static void work_weight(lesson_line *line, const lesson_view *view, int64_t key)
{
    const lesson_face *const face = view->face;
    const double w = view->stages->row_weight[key];
    exponentials e;
    if (!lesson_finite(w) || !exponentials_of(&e, view, key)) {
        line_word(line, LESSON_W_NOT_FINITE);
        return;
    }
    const operand result = work_operand(face, w, face->digits, 0);
    int digits = face->digits;
    operand own, sum;
    for (;; digits++) {
        own = work_operand(face, e.own, digits, 0);
        sum = work_operand(face, e.sum, digits, 0);
        if (digits == ALL_DIGITS) break;
        if (sum.value > 0 && work_gives(face, own.value / sum.value, &result, face->digits, 0))
            break;
    }
    work_label(line, view, key);
    if (e.shift != 0) {
        const operand m = work_operand(face, e.shift, face->digits, LESSON_KEEP_INTEGER);
        line_say(line, LESSON_W_WORK_MAXIMUM, m.text, NULL, NULL);
    }
    line_exponent(line, view, &e, view->stages->row_scaled[key], &own, digits);
    line_text(line, " = ");
    line_text(line, own.text);
    line_count(line, view->in, e.seen, sum.text);
    line_text(line, own.text);
    line_own(line, " ÷ ");
    line_text(line, sum.text);
    line_text(line, " = ");
    line_text(line, result.text);
}

void worked_key(lesson_line *line, const lesson_view *view, const lesson_worked *how, int64_t key)
{
    switch (view->in->stage) {
    case 0:
        work_vectors(line, view, key);
        break;
    case 1:
        work_score(line, view, how, key);
        break;
    case 2:
        work_scaled(line, view, how, key);
        break;
    default:
        work_weight(line, view, key);
        break;
    }
}

/* ---- stage 4 --------------------------------------------------------------------------------- */

/* "0.06·[1,0] + 0.54·[3,0]" over the visible keys; 1 when every channel gives the printed
 * result. */
static int line_blend(lesson_line *line, const lesson_view *view, int digits)
{
    enum { CHANNELS_MOST = 16 };
    const lesson_input *const in = view->in;
    const lesson_face *const face = view->face;
    double sum[CHANNELS_MOST] = {0};
    int first = 1;
    for (int64_t j = 0; j < in->keys; j++) {
        if (!lesson_sees(in, in->token, j)) continue;
        const operand w = work_operand(face, view->stages->row_weight[j], digits, 0);
        if (!first) line_text(line, " + ");
        first = 0;
        line_text(line, w.text);
        line_own(line, "·");
        line_text(line, "[");
        for (int64_t c = 0; c < in->d_v; c++) {
            const operand v =
                work_operand(face, in->v[j * in->d_v + c], digits, LESSON_KEEP_INTEGER);
            if (c > 0) line_text(line, ",");
            work_put(line, &v, 1, 'v');
            sum[c] += w.value * v.value;
        }
        line_text(line, "]");
    }
    line_text(line, " = ");
    line_vector(line, view->stages->row_out, in->d_v, in->d_v, 0);
    if (digits == ALL_DIGITS) return 1;
    for (int64_t c = 0; c < in->d_v; c++) {
        const operand result = work_operand(face, view->stages->row_out[c], face->digits, 0);
        if (!work_gives(face, sum[c], &result, face->digits, 0)) return 0;
    }
    return 1;
}

static int blend_fits(lesson_line *line, const lesson_view *view, int limit)
{
    enum { KEYS_MOST = 12, CHANNELS_MOST = 8 };
    if (view->in->keys > KEYS_MOST || view->in->d_v > CHANNELS_MOST) return 0;
    for (int digits = view->face->digits; digits <= ALL_DIGITS; digits++) {
        line_start(line, view->face);
        if (!line_blend(line, view, digits)) continue;
        return line_columns(line) <= limit;
    }
    return 0;
}

int worked_output(lesson_line *line, const lesson_view *view, const lesson_worked *how)
{
    const lesson_input *const in = view->in;
    if (in->d_v == 0) return 1;
    int finite = 1;
    for (int64_t c = 0; c < in->d_v; c++) finite &= lesson_finite(view->stages->row_out[c]);
    if (!finite) {
        line_word(line, LESSON_W_NOT_FINITE);
        return 0;
    }
    lesson_line trial;
    if (blend_fits(&trial, view, how->limit)) {
        line_text(line, trial.text);
        return 1;
    }
    int64_t seen = 0;
    for (int64_t j = 0; j < in->keys; j++)
        if (lesson_sees(in, in->token, j)) how->at[seen++] = j;
    const product_sum s = {view->stages->row_weight, in->v, in->d_v, how->at, seen, 0, 0, 'v'};
    line_word(line, LESSON_W_WORK_CHANNEL);
    work_sum(line, &s, view->stages->row_out[0], 0, how->limit);
    return 0;
}
