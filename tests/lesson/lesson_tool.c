/* SPDX-License-Identifier: MIT */
/* lesson_tool.c - prints what the lesson's code gives, for the Python tests: the course with its
 * words, the figures' values, states written back, quiz questions, recall dates. One request on the
 * command line, the answer on stdout; exit 2 when the request is not understood.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson/course.h"
#include "lesson/figures.h"
#include "lesson/quiz.h"
#include "lesson/recall.h"
#include "lesson/worked.h"

static void *chunks; /* all that was taken, each with a pointer to the one before in front of it */

static void *take(void *ctx, size_t bytes)
{
    (void)ctx;
    char *const p = aligned_alloc(64, (bytes + 191) / 64 * 64);
    if (!p) return NULL;
    memcpy(p, &chunks, sizeof chunks);
    chunks = p;
    memset(p + 64, 0xA5, bytes);
    return p + 64;
}

static const lesson_memory memory = {take, NULL};

static void write_out(void *ctx, const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, (FILE *)ctx);
}

static lesson_sink out(void)
{
    const lesson_sink sink = {write_out, stdout};
    return sink;
}

/* C0 and C1 and what is not ASCII stay out of the tests' way. */
static int safe(char *buffer, size_t size, const char *text, size_t bytes, int max_columns)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes && n + 8 < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7F)
            n += (size_t)snprintf(buffer + n, size - n, "\\x%02X", c);
        else
            buffer[n++] = (char)c;
    }
    buffer[n] = 0;
    if (max_columns > 0 && n > (size_t)max_columns) buffer[n = (size_t)max_columns] = 0;
    return (int)n;
}

static int columns(const char *text)
{
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static const lesson_face face = {80, 1, 0, 2, safe, columns};

static void put_line(const char *what, const lesson_line *line)
{
    printf("%s\t%s\n", what, line->text);
}

/* ---- the course ------------------------------------------------------------------------------ */

static void put_word(const char *where, const char *kind, int32_t word)
{
    if (word < 0) return;
    const char *const text = lesson_word_text((lesson_word)word);
    printf("%s\t%s\t%d\t%s\n", where, kind, lesson_count_words(text), text);
}

static int course(void)
{
    static const char *const kind[] = {"?",       "paragraph", "details",   "figure",
                                       "formula", "code",      "question",  "point",
                                       "teacher", "source",    "subheading"};
    for (int n = 0; n < COURSE_REFRESHERS; n++) {
        put_word("refresher", "name", lesson_refresher(n)->name);
        put_word("refresher", "text", lesson_refresher(n)->text);
    }
    for (int n = 0; n < 8; n++) {
        const lesson_section *const s = lesson_course(n);
        put_word(s->id, "heading", s->title);
        for (int b = 0; b < s->blocks; b++) {
            const lesson_block *const block = &s->block[b];
            put_word(s->id, kind[block->kind], block->word);
            for (int m = 0; m < 4 && block->more[m] >= 0; m++)
                put_word(s->id, block->kind == BLOCK_DETAILS ? "inside" : "answer", block->more[m]);
            if (block->kind == BLOCK_FIGURE) printf("%s\tfigure\t0\t%d\n", s->id, block->figure);
        }
    }
    for (int n = 0; n < COURSE_PARTS; n++) {
        put_word("part", "name", lesson_formula_part(n)->name);
        put_word("part", "words", lesson_formula_part(n)->words);
    }
    for (int stage = 0; stage <= 4; stage++) {
        const course_prediction *const p = lesson_prediction(stage);
        if (p) put_word("prediction", "question", p->question);
    }
    return 0;
}

static int words(void)
{
    static const char *const name[] = {
#define LESSON_WORD(id, text) #id,
#include "lesson/words.inc"
#undef LESSON_WORD
    };
    for (int i = 0; i < LESSON_WORDS; i++)
        printf("%s\t%d\t%s\n", name[i], lesson_count_words(lesson_word_text((lesson_word)i)),
               lesson_word_text((lesson_word)i));
    return 0;
}

static lesson_state *state_of(const char *text);

/* Which answers are right before stages 1, 3 and 4, for `choice` and for `other`. */
static int predict(const char *text)
{
    lesson_state *const state = state_of(text);
    for (int other = 0; other < 2; other++) {
        lesson_input in;
        lesson_stages stages;
        lesson_state_input(state, other, &in);
        if (lesson_run(&stages, &in, 0, &memory, NULL) != QKV_OK) return 1;
        for (int stage = 0; stage <= 4; stage++)
            if (lesson_prediction(stage))
                printf("%" PRId64 " ", lesson_prediction_right(stage, &in, &stages));
        puts("");
    }
    return 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static int read_state(lesson_state *state, const char *text)
{
    lesson_trouble trouble;
    const qkv_status status = lesson_state_read(state, text, strlen(text), &memory, &trouble);
    if (trouble.kind != TROUBLE_NONE) fprintf(stderr, "%s\n", trouble.text);
    return status == QKV_OK;
}

static lesson_state *state_of(const char *text)
{
    lesson_state *const state = (lesson_state *)take(NULL, sizeof *state);
    if (!state || !read_state(state, text)) exit(1);
    return state;
}

/* Every line of stdin is a state; it is written back (a link, or all of it), or "!" with the
 * sentence. */
static int round_trip(int all)
{
    static char text[STATE_TEXT_BYTES + 64];
    while (fgets(text, sizeof text, stdin)) {
        lesson_state *const state = (lesson_state *)take(NULL, sizeof *state);
        lesson_trouble trouble;
        text[strcspn(text, "\n")] = 0;
        const qkv_status status = lesson_state_read(state, text, strlen(text), &memory, &trouble);
        const lesson_sink sink = out();
        if (status != QKV_OK)
            printf("!%s", trouble.text);
        else
            lesson_state_write(state, all, &sink);
        if (status == QKV_OK && trouble.kind == TROUBLE_NOTE) printf("\t%s", trouble.text);
        printf("\n");
    }
    return 0;
}

/* STATE KEY VALUE ...: settings on top; "K[1,0]" types into a cell. */
static int edit(int argc, char **argv)
{
    lesson_state state;
    if (!read_state(&state, argv[0])) return 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        lesson_trouble trouble;
        int row = 0, column = 0;
        char which = 0;
        if (sscanf(argv[i], "%c[%d,%d]", &which, &row, &column) == 3)
            lesson_state_edit(&state, which, row, column, argv[i + 1], strlen(argv[i + 1]), &memory,
                              &trouble);
        else if (strcmp(argv[i], "reconnect") == 0)
            lesson_state_reconnect(&state, argv[i + 1][0]), trouble.kind = TROUBLE_NONE;
        else
            lesson_state_set(&state, argv[i], argv[i + 1], strlen(argv[i + 1]), &memory, &trouble);
        if (trouble.kind != TROUBLE_NONE) printf("!%s\n", trouble.text);
    }
    const lesson_sink sink = out();
    lesson_state_write(&state, 1, &sink);
    printf("\n%s\n", lesson_state_changed(&state) ? "changed" : "lesson");
    return 0;
}

typedef struct loaded {
    lesson_state state;
    lesson_input in;
    lesson_stages stages;
    lesson_face face;
    lesson_sink sink;
    lesson_view view;
} loaded;

static loaded *load(const char *text)
{
    loaded *const l = (loaded *)take(NULL, sizeof *l);
    qkv_error err = qkv_error_init();
    if (!read_state(&l->state, text)) exit(1);
    lesson_state_input(&l->state, 0, &l->in);
    if (lesson_run(&l->stages, &l->in, 0, &memory, &err) != QKV_OK) exit(1);
    l->face = face;
    l->face.digits = l->state.digits;
    l->sink = out();
    const lesson_view view = {&l->in, &l->stages, &l->face, &l->sink, &memory};
    l->view = view;
    return l;
}

/* ---- worked lines of every number ------------------------------------------------------------ */

static void put_focus(const loaded *l, const lesson_worked *how, int kind, int64_t key,
                      int64_t channel, double x)
{
    const lesson_focus f = {kind, (int32_t)key, (int32_t)channel};
    lesson_line line, shown;
    char exact[LESSON_NUMBER_BYTES];
    line_start(&line, &l->face);
    line_start(&shown, &l->face);
    line_number(&shown, x, 0);
    lesson_number_shortest(exact, x);
    const int64_t row = worked_focus(&line, &l->view, how, &f);
    printf("%d\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", kind, key, channel, row, exact,
           line.text);
}

static int focus(const char *text)
{
    const loaded *const l = load(text);
    const lesson_input *const in = &l->in;
    const lesson_stages *const s = &l->stages;
    int64_t *const at = (int64_t *)take(NULL, (size_t)in->keys * sizeof *at);
    const lesson_worked how = {lesson_all_whole(s->row_score, in->keys),
                               lesson_all_whole(s->row_scaled, in->keys), 4000, at};
    double sum = 0;
    for (int64_t c = 0; c < in->d_k; c++)
        put_focus(l, &how, FOCUS_QUERY, 0, c, in->q[in->token * in->d_k + c]);
    for (int64_t j = 0; j < in->keys; j++) {
        sum += s->row_weight[j];
        put_focus(l, &how, FOCUS_SCORE, j, 0, s->row_score[j]);
        put_focus(l, &how, FOCUS_SCALED, j, 0, s->row_scaled[j]);
        put_focus(l, &how, FOCUS_WEIGHT, j, 0, s->row_weight[j]);
        for (int64_t c = 0; c < in->d_v; c++)
            put_focus(l, &how, FOCUS_SHARE, j, c, s->row_weight[j] * in->v[j * in->d_v + c]);
    }
    put_focus(l, &how, FOCUS_SUM, 0, 0, sum);
    for (int64_t c = 0; c < in->d_v; c++) put_focus(l, &how, FOCUS_OUTPUT, 0, c, s->row_out[c]);
    return 0;
}

/* Every cell of Q, K and V as X times W. */
static int project(const char *text)
{
    const loaded *const l = load(text);
    for (int which = 0; which < 3; which++)
        for (int32_t r = 0; r < l->state.tokens; r++)
            for (int32_t c = 0; c < l->state.qkv[which].columns; c++) {
                lesson_line line;
                char exact[LESSON_NUMBER_BYTES];
                line_start(&line, &l->face);
                line_project(&line, &l->view, &l->state, which, r, c);
                lesson_number_shortest(exact,
                                       l->state.qkv[which].x[r * l->state.qkv[which].columns + c]);
                printf("%d\t%d\t%d\t%s\t%s\n", which, r, c, exact, line.text);
            }
    return 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int lookup(const char *text)
{
    const loaded *const l = load(text);
    void (*const say[])(lesson_line *, const lesson_view *) = {line_lookup_exact, line_lookup_soft,
                                                               line_lookup_answer};
    for (int i = 0; i < 3; i++) {
        lesson_line line;
        line_start(&line, &l->face);
        say[i](&line, &l->view);
        puts(line.text);
    }
    return 0;
}

static int blend(const char *text)
{
    double x[2];
    if (lesson_number_parse(text, strlen(text), &x[0], NULL) != LESSON_NUMBER_OK) return 2;
    x[1] = blend_nudged(x[0]);
    blend_point p[2];
    if (blend_points(p, x, 2, &memory) != QKV_OK) return 1;
    lesson_line line;
    for (int i = 0; i < 2; i++) {
        line_start(&line, &face);
        line_blend_query(&line, x[i]);
        line_blend_output(&line, &p[i], 0);
        line_blend_output(&line, &p[i], 1);
        puts(line.text);
    }
    line_start(&line, &face);
    line_blend_nudge(&line, &p[0], &p[1]);
    puts(line.text);
    for (int i = 0; i < 4; i++) {
        line_start(&line, &face);
        line_blend_work(&line, &p[0], &p[1], i / 2, i % 2);
        puts(line.text);
    }
    return 0;
}

static int root(char **argv)
{
    root_figure f;
    if (root_sample(&f, atoi(argv[0]), (uint32_t)atoi(argv[1]), atoi(argv[2]), &memory) != QKV_OK)
        return 1;
    lesson_line line;
    printf("bins");
    for (int i = 0; i < ROOT_BINS; i++) printf(" %d", f.bin[i]);
    char text[LESSON_NUMBER_BYTES];
    lesson_number_shortest(text, f.deviation);
    printf("\ndeviation %s\n", text);
    lesson_number_shortest(text, f.mean);
    printf("mean %s\noutside %d\nstuck %d %d\n", text, f.outside, f.stuck[0], f.stuck[1]);
    for (int k = 0; k < 2; k++) {
        const root_row *const r = k == 0 ? &f.plain : &f.scaled;
        printf("row");
        for (int j = 0; j < ROOT_ROW_KEYS; j++) {
            lesson_number_shortest(text, r->score[j]);
            printf(" %s", text);
            lesson_number_shortest(text, r->weight[j]);
            printf(":%s", text);
        }
        lesson_number_shortest(text, r->moved);
        printf("\nmoved %s\n", text);
    }
    void (*const say[])(lesson_line *, const root_figure *) = {line_root_spread, line_root_stuck,
                                                               line_root_moved, line_root_work};
    for (int i = 0; i < 4; i++) {
        line_start(&line, &face);
        say[i](&line, &f);
        puts(line.text);
    }
    return 0;
}

static int maximum(const char *text, int large)
{
    const loaded *const l = load(text);
    maximum_figure f;
    if (maximum_make(&f, &l->view, large) != QKV_OK) return 1;
    for (int safe_form = 0; safe_form < 2; safe_form++) {
        const maximum_form *const form = safe_form ? &f.safe : &f.naive;
        lesson_line line;
        for (int64_t j = 0; j < f.keys; j++) {
            line_start(&line, &l->face);
            line_maximum_number(&line, f.scaled[j]);
            line_text(&line, "\t");
            line_maximum_number(&line, form->e[j]);
            line_text(&line, "\t");
            line_maximum_number(&line, form->weight[j]);
            line_text(&line, "\t");
            line_maximum_work(&line, &f, safe_form, j);
            puts(line.text);
        }
        line_start(&line, &l->face);
        line_maximum_verdict(&line, &f, safe_form);
        put_line(form->survives ? "survives" : "fails", &line);
    }
    return 0;
}

static int listing(const char *text, int language)
{
    const loaded *const l = load(text);
    for (int i = 0; i < listing_lines(language); i++) {
        lesson_line line;
        line_start(&line, &l->face);
        line_listing_shape(&line, &l->in, language, i);
        printf("%d\t%s\t%s\n", listing_at(language, i)->stage, listing_at(language, i)->text,
               line.text);
    }
    return 0;
}

/* The three demonstrations, and the question for a person. */
static int proof(const char *text)
{
    const loaded *const l = load(text);
    proof_causal causal;
    proof_heads heads;
    if (proof_causal_make(&causal, &memory) != QKV_OK) return 1;
    if (proof_heads_make(&heads, &memory) != QKV_OK) return 1;
    for (int i = 0; i < 7; i++) {
        lesson_line line;
        line_start(&line, &l->face);
        if (i == 0) line_proof_alone(&line, &l->view, &l->state);
        if (i == 1) line_proof_projected(&line, &l->view);
        if (i == 2) line_proof_causal(&line, &causal);
        if (i == 3) line_proof_causal_not(&line, &causal);
        if (i == 4 || i == 5) line_proof_head(&line, &heads, i - 4);
        if (i == 6) line_proof_heads(&line, &heads);
        puts(line.text);
    }
    for (int i = 0; i < LESSON_PRESET_TOKENS; i++) printf("%d", causal.same[i]);
    double x[STATE_TOKENS * STATE_TOKENS];
    project_without(&l->state, x);
    printf(" %d\n", project_symmetric(x, l->state.tokens));
    return lesson_ask(&l->view, &l->state) == QKV_OK ? 0 : 1;
}

/* ---- quiz and recall ------------------------------------------------------------------------- */

static void put_question(const lesson_question *q)
{
    printf("question\t%s\n", q->text);
    for (int i = 0; i < q->options; i++)
        printf("%s\t%s\t%s\n", i == q->right ? "right" : "wrong", q->option[i].text,
               q->option[i].reason);
    printf("stage\t%d\nworked\t%s\n", q->stage, q->worked);
}

static int quiz(char **argv)
{
    const int which = atoi(argv[1]);
    const uint32_t from = (uint32_t)strtoul(argv[0], NULL, 10);
    const uint32_t to = (uint32_t)strtoul(argv[2], NULL, 10);
    for (uint32_t seed = from; seed < to; seed++) {
        static lesson_question q;
        if (lesson_question_make(&q, which, seed, &face) != 0) return 1;
        put_question(&q);
    }
    return 0;
}

static int recall(char **argv)
{
    const int64_t today = strtoll(argv[1], NULL, 10);
    recall_plan plan;
    if (!recall_read(&plan, argv[0], strlen(argv[0]))) {
        puts("unreadable");
        return 0;
    }
    if (argv[2]) recall_answer(&plan, atoi(argv[2]), argv[3][0] == '1', today);
    const lesson_sink sink = out();
    recall_write(&plan, &sink);
    printf("\n");
    for (int i = 0; i < RECALL_CARDS; i++)
        printf("%d\t%d\t%" PRId64 "\n", i, recall_is_due(&plan, i, today), recall_due(&plan, i));
    return 0;
}

static int cards(void)
{
    const lesson_sink sink = out();
    recall_anki(&sink);
    for (int i = 0; i < RECALL_HINTS; i++) put_word("hint", "text", recall_hint(i));
    for (int i = 0; i < RECALL_POINTS; i++) put_word("point", "text", recall_point(i));
    return 0;
}

/* ---- main ------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "course")) return course();
    if (!strcmp(what, "words")) return words();
    if (!strcmp(what, "links")) return round_trip(0);
    if (!strcmp(what, "states")) return round_trip(1);
    if (!strcmp(what, "cards")) return cards();
    if (argc > 2 && !strcmp(what, "edit")) return edit(argc - 2, argv + 2);
    if (argc > 2 && !strcmp(what, "focus")) return focus(argv[2]);
    if (argc > 2 && !strcmp(what, "project")) return project(argv[2]);
    if (argc > 2 && !strcmp(what, "lookup")) return lookup(argv[2]);
    if (argc > 2 && !strcmp(what, "blend")) return blend(argv[2]);
    if (argc > 4 && !strcmp(what, "root")) return root(argv + 2);
    if (argc > 3 && !strcmp(what, "maximum")) return maximum(argv[2], atoi(argv[3]));
    if (argc > 3 && !strcmp(what, "listing")) return listing(argv[2], atoi(argv[3]));
    if (argc > 3 && !strcmp(what, "program"))
        return lesson_program(&load(argv[2])->view, atoi(argv[3])) == QKV_OK ? 0 : 1;
    if (argc > 2 && !strcmp(what, "predict")) return predict(argv[2]);
    if (argc > 2 && !strcmp(what, "proof")) return proof(argv[2]);
    if (argc > 4 && !strcmp(what, "quiz")) return quiz(argv + 2);
    if (argc > 3 && !strcmp(what, "recall")) return recall(argv + 2);
    return 2;
}
