/* SPDX-License-Identifier: MIT */
/* tui_blocks.c - a section of the course as a document: headings, paragraphs, details that open,
 * points, sources, and the places of the figures. The sentences are the lesson's (words_course.inc),
 * in the lesson's order; only labels of keys and of the frame are written here.
 */
#include "cli/tui_app.h"

#include <string.h>

enum { REFRESHERS_OPEN = 16 }; /* their places in app->open[0], behind the blocks */

/* ---- sentences with marks -------------------------------------------------------------------- */

static tui_style style_of(int kind, tui_style otherwise)
{
    switch (kind) {
    case INLINE_STRONG:
    case INLINE_CODE:
        return TUI_STRONG;
    case INLINE_QUERY:
        return TUI_Q;
    case INLINE_KEY:
        return TUI_K;
    case INLINE_VALUE:
        return TUI_V;
    default:
        return otherwise;
    }
}

/* One piece of a sentence, {0} {1} {2} filled in; mathematics in its signs. */
static void put_piece(tui_app *app, tui_para *para, tui_style style, const lesson_inline *piece,
                      const char *const argument[3])
{
    char part[1024];
    lesson_line line;
    for (size_t i = 0; i < piece->bytes;) {
        const char *const p = piece->text + i;
        const size_t left = piece->bytes - i;
        const int which = left > 2 && p[0] == '{' && p[2] == '}' ? p[1] - '0' : -1;
        if (which >= 0 && which < 3 && argument[which]) {
            para_put(para, style, argument[which], strlen(argument[which]));
            i += 3;
            continue;
        }
        const char *const brace = left > 1 ? memchr(p + 1, '{', left - 1) : NULL;
        const size_t n = brace ? (size_t)(brace - p) : left;
        const char *const mark = piece->kind == INLINE_MATH ? "$" : "";
        snprintf(part, sizeof part, "%s%.*s%s", mark, (int)n, p, mark);
        line_start(&line, &app->face);
        if (piece->kind == INLINE_MATH)
            line_course(&line, part);
        else
            line_own(&line, part);
        para_put(para, style, line.text, line.n);
        i += n;
    }
}

void say_into(tui_app *app, tui_para *para, tui_style style, int word, const char *a, const char *b,
              const char *c)
{
    const char *const argument[3] = {a, b, c};
    lesson_inline piece;
    for (const char *at = lesson_word_text((lesson_word)word); lesson_inline_next(&at, &piece);)
        put_piece(app, para, style_of(piece.kind, style), &piece, argument);
}

void say_with(tui_app *app, tui_doc *doc, tui_style style, int word, const char *a, const char *b,
              const char *c)
{
    tui_para para;
    para_start(&para);
    say_into(app, &para, style, word, a, b, c);
    para_end(doc, &para, 0, 0);
}

void say(tui_app *app, tui_doc *doc, int word, int indent, int hang)
{
    tui_para para;
    para_start(&para);
    say_into(app, &para, TUI_NORMAL, word, NULL, NULL, NULL);
    para_end(doc, &para, indent, hang);
}

const char *keep(tui_app *app, const char *text)
{
    const size_t n = strlen(text) + 1;
    char *const copy = app->picture.memory.take(&app->picture, n);
    if (!copy) return "";
    memcpy(copy, text, n);
    return copy;
}

const char *own(tui_app *app, const char *utf8)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_own(&line, utf8);
    return keep(app, line.text);
}

const char *word_text(tui_app *app, int word)
{
    lesson_line line;
    line_start(&line, &app->face);
    line_course(&line, lesson_word_text((lesson_word)word));
    return keep(app, line.text);
}

/* ---- controls -------------------------------------------------------------------------------- */

void option(tui_doc *doc, tui_id id, tui_style style, bool chosen, const char *label)
{
    char text[512];
    if (id.kind == CONTROL_NONE) return;
    snprintf(text, sizeof text, chosen ? "[%s]" : " %s ", label);
    if (doc->column > 0 && doc->column + tui_columns(text, strlen(text)) > doc->width)
        doc_line(doc);
    doc_target(doc, id, style, chosen, text);
}

void button(tui_app *app, tui_doc *doc, tui_id id, const char *label)
{
    char text[256];
    snprintf(text, sizeof text, app->face.utf8 ? "‹ %s ›" : "< %s >", label);
    if (doc->column > 0 && doc->column + tui_columns(text, strlen(text)) > doc->width)
        doc_line(doc);
    doc_target(doc, id, TUI_NORMAL, false, text);
}

/* A line that opens what is below it; returns whether that is open. */
static bool fold(tui_app *app, tui_doc *doc, int kind, int place, int word)
{
    const bool open = app->plain || app->open[app->state.section][place];
    const char *const closed_sign = app->face.utf8 ? "▸ " : "+ ";
    const char *const open_sign = app->face.utf8 ? "▾ " : "- ";
    tui_para para;
    para_start(&para);
    para.id = (tui_id){(int16_t)kind, (int16_t)place, 0};
    const char *const sign = app->plain ? "" : open ? open_sign : closed_sign;
    para_put(&para, TUI_NORMAL, sign, strlen(sign));
    say_into(app, &para, TUI_NORMAL, word, NULL, NULL, NULL);
    para_end(doc, &para, 0, 2);
    return open;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void write_more(tui_app *app, tui_doc *doc, const lesson_block *block)
{
    for (int i = 0; i < 4 && block->more[i] >= 0; i++) {
        doc_gap(doc);
        say(app, doc, block->more[i], 2, 2);
    }
}

static void write_point(tui_app *app, tui_doc *doc, const lesson_block *block, int place)
{
    char stage[LESSON_NUMBER_BYTES];
    doc_put(doc, TUI_QUIET, app->face.utf8 ? "• " : "* ");
    say(app, doc, block->word, 2, 2);
    if (app->plain) return;
    lesson_line line;
    lesson_number_integer(stage, block->stage);
    line_start(&line, &app->face);
    line_say(&line, LESSON_W_SEE_STAGE, stage, NULL, NULL);
    doc_to(doc, 2);
    button(app, doc, (tui_id){CONTROL_POINT, (int16_t)place, (int16_t)block->stage}, line.text);
    doc_line(doc);
}

static void write_figure(tui_app *app, tui_doc *doc, int figure, int argument)
{
    doc_gap(doc);
    const tui_mark from = doc_mark(doc);
    if (!app->plain) doc_rule(doc, doc->width);
    figure_write(app, doc, figure, argument);
    if (doc->column > 0) doc_line(doc);
    if (!app->plain) doc_rule(doc, doc->width);
    doc_keep_together(doc, from);
    doc_gap(doc);
}

/* The formula, and the calculator that its parts light. */
static void write_formula(tui_app *app, tui_doc *doc, const lesson_block *block)
{
    doc_gap(doc);
    const tui_mark from = doc_mark(doc);
    if (!app->plain) doc_rule(doc, doc->width);
    formula_write(app, doc);
    if (!app->plain) {
        doc_gap(doc);
        calculator_table(app, doc);
        doc_rule(doc, doc->width);
        doc_keep_together(doc, from);
    }
    doc_gap(doc);
    say(app, doc, block->word, 0, 0);
}

static bool is_figure(int kind)
{
    return kind == BLOCK_FIGURE || kind == BLOCK_FORMULA || kind == BLOCK_CODE;
}

static void write_block(tui_app *app, tui_doc *doc, const lesson_block *block, int place)
{
    switch (block->kind) {
    case BLOCK_PARAGRAPH:
        doc_gap(doc);
        say(app, doc, block->word, 0, 0);
        break;
    case BLOCK_DETAILS:
        doc_gap(doc);
        if (fold(app, doc, CONTROL_DETAILS, place, block->word)) write_more(app, doc, block);
        break;
    case BLOCK_TEACHER:
        if (!fold(app, doc, CONTROL_TEACHER, place, block->word)) break;
        write_more(app, doc, block);
        if (block->figure == FIGURE_SYMMETRY || block->figure == FIGURE_CAUSAL)
            write_figure(app, doc, block->figure, 0);
        break;
    case BLOCK_FIGURE:
    case BLOCK_CODE:
        write_figure(app, doc, block->figure, 0);
        break;
    case BLOCK_FORMULA:
        write_formula(app, doc, block);
        break;
    case BLOCK_QUESTION:
        doc_gap(doc);
        question_write(app, doc, block->figure);
        break;
    case BLOCK_POINT:
        write_point(app, doc, block, place);
        break;
    case BLOCK_SOURCE:
        doc_put(doc, TUI_QUIET, app->face.utf8 ? "• " : "* ");
        say(app, doc, block->word, 2, 2);
        break;
    case BLOCK_SUBHEADING:
        doc_gap(doc);
        say_with(app, doc, TUI_STRONG, block->word, NULL, NULL, NULL);
        doc_gap(doc);
        break;
    default:
        break;
    }
}

/* ---- the section ----------------------------------------------------------------------------- */

/* What the reader should know: five names in a row, each opens below it. */
static void write_refreshers(tui_app *app, tui_doc *doc)
{
    doc_put(doc, TUI_QUIET, word_text(app, LESSON_W_BEFORE_THIS));
    doc_put(doc, TUI_QUIET, ":");
    if (app->plain) doc_line(doc);
    for (int i = 0; i < COURSE_REFRESHERS && !app->plain; i++) {
        const bool open = app->open[0][REFRESHERS_OPEN + i];
        const char *const sign = app->face.utf8 ? (open ? " ▾" : " ▸") : (open ? " -" : " +");
        char text[128];
        snprintf(text, sizeof text, "%s %s", sign, word_text(app, lesson_refresher(i)->name));
        if (doc->column + tui_columns(text, strlen(text)) > doc->width) doc_line(doc);
        doc_target(doc, (tui_id){CONTROL_REFRESHER, (int16_t)(REFRESHERS_OPEN + i), 0}, TUI_NORMAL,
                   false, text);
    }
    if (doc->column) doc_line(doc);
    for (int i = 0; i < COURSE_REFRESHERS; i++) {
        const course_refresher *const r = lesson_refresher(i);
        if (!app->plain && !app->open[0][REFRESHERS_OPEN + i]) continue;
        tui_para para;
        para_start(&para);
        say_into(app, &para, TUI_STRONG, r->name, NULL, NULL, NULL);
        para_put(&para, TUI_NORMAL, ": ", 2);
        say_into(app, &para, TUI_NORMAL, r->text, NULL, NULL, NULL);
        para_end(doc, &para, 2, 2);
    }
}

/* Title of the lesson, promise, what to know before: above the first section only. */
static void write_front(tui_app *app, tui_doc *doc)
{
    char line[256];
    say_with(app, doc, TUI_STRONG, LESSON_W_TITLE, NULL, NULL, NULL);
    say_with(app, doc, TUI_QUIET, LESSON_W_PROMISE, NULL, NULL, NULL);
    snprintf(line, sizeof line, "%s, %s, %s", word_text(app, LESSON_W_MODULE),
             word_text(app, LESSON_W_READING_TIME), word_text(app, LESSON_W_SECTION_COUNT));
    doc_wrapped(doc, TUI_QUIET, line, 0, 0);
    doc_gap(doc);
    write_refreshers(app, doc);
    doc_wrapped(doc, TUI_QUIET, word_text(app, LESSON_W_AFTER_THIS), 0, 0);
    doc_gap(doc);
}

static void write_title(tui_app *app, tui_doc *doc, const lesson_section *section)
{
    char number[16];
    tui_para para;
    para_start(&para);
    para.id = (tui_id){CONTROL_TITLE, 0, 0};
    snprintf(number, sizeof number, "%d  ", app->state.section + 1);
    para_put(&para, TUI_STRONG, number, strlen(number));
    say_into(app, &para, TUI_STRONG, section->title, NULL, NULL, NULL);
    para_end(doc, &para, 0, 3);
    doc_gap(doc);
}

static void write_changed(tui_app *app, tui_doc *doc)
{
    if (!lesson_state_changed(&app->state)) return;
    doc_gap(doc);
    say_with(app, doc, TUI_QUIET, LESSON_W_STATE_CHANGED, NULL, NULL, NULL);
    static const char which[] = "QKV";
    for (int i = 0; i < 3; i++) {
        const char name[2] = {which[i], 0};
        if (!lesson_state_detached(&app->state, which[i])) continue;
        say_with(app, doc, TUI_QUIET, LESSON_W_STATE_DETACHED, name, NULL, NULL);
    }
    button(app, doc, (tui_id){CONTROL_RESTORE, 0, 0}, word_text(app, LESSON_W_STATE_BACK));
    for (int i = 0; i < 3; i++) {
        const char name[2] = {which[i], 0};
        if (!lesson_state_detached(&app->state, which[i])) continue;
        lesson_line line;
        line_start(&line, &app->face);
        line_say(&line, LESSON_W_STATE_RECONNECT, name, NULL, NULL);
        doc_put(doc, TUI_NORMAL, " ");
        button(app, doc, (tui_id){CONTROL_RESTORE, 0, (int16_t)(i + 1)}, line.text);
    }
    doc_line(doc);
}

/* What follows: the sections beside this one, by name. */
static void write_ways_out(tui_app *app, tui_doc *doc)
{
    doc_gap(doc);
    for (int step = 1; step >= -1; step -= 2) {
        const lesson_section *const other = lesson_course(app->state.section + step);
        if (!other) continue;
        char label[256];
        snprintf(label, sizeof label, "%s: %s",
                 word_text(app, step > 0 ? LESSON_W_NEXT : LESSON_W_BACK),
                 word_text(app, other->title));
        button(app, doc, (tui_id){CONTROL_SECTION, 0, (int16_t)(step > 0)}, label);
        doc_line(doc);
    }
}

void app_write_section(tui_app *app, tui_doc *doc, tui_part part)
{
    const lesson_section *const section = lesson_course(app->state.section);
    if (part != PART_FIGURES) {
        if (app->state.section == 0) write_front(app, doc);
        write_title(app, doc, section);
    }
    for (int i = 0; i < section->blocks; i++) {
        const lesson_block *const block = &section->block[i];
        if (part == PART_ALL || is_figure(block->kind) == (part == PART_FIGURES))
            write_block(app, doc, block, i);
    }
    if (part == PART_FIGURES || app->plain) return;
    write_changed(app, doc);
    write_ways_out(app, doc);
}

/* ---- help ------------------------------------------------------------------------------------ */

void app_write_help(tui_app *app, tui_doc *doc)
{
    static const char *const keys[][2] = {
        {"Tab, Shift-Tab", "to the next control, to the one before"},
        {"arrows", "move inside a control, change it, or scroll"},
        {"Home, End", "first and last place of a control"},
        {"Enter", "press a button, answer, open and close, type a number"},
        {"0 ... 9 . -", "on a number that can be changed: type a new one"},
        {"+ -", "one more, one less"},
        {"Esc", "leave a field without a change"},
        {"u, r", "undo, redo"},
        {"s, m", "in the calculator: the next scale, the causal mask"},
        {"Space, Page Down", "a page on; Page Up: a page back"},
        {"n, p, 1 ... 8", "next section, the one before, any of them"},
        {"Ctrl-L", "draw the screen again"},
        {"Ctrl-Z", "back to the shell; fg returns here"},
        {"q, Ctrl-C", "leave the lesson"},
    };
    static const char *const more[] = {
        "The line below a table shows how the number under the cursor came about.",
        "qkv lesson --plain reads the same lesson line by line.",
        "Rounded numbers are computed from unrounded ones: the library's float64 reference.",
    };
    doc_put(doc, TUI_STRONG, "Keys");
    doc_line(doc);
    doc_gap(doc);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        doc_put(doc, TUI_STRONG, keys[i][0]);
        if (doc->column > 17) doc_line(doc);
        doc_to(doc, 18);
        doc_wrapped(doc, TUI_NORMAL, keys[i][1], 18, 18);
    }
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        doc_gap(doc);
        doc_wrapped(doc, TUI_NORMAL, own(app, more[i]), 0, 0);
    }
}
