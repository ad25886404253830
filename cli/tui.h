/* SPDX-License-Identifier: MIT */
/* tui.h - the lesson on a terminal: the screen (ncurses), a document of styled lines with places
 * that can have the focus, and one field for typing.
 *
 * A document is built anew for every picture from the lesson's state and the width, so nothing on
 * the screen can be older than the state. A target is a place that the reader can go to; the real
 * cursor stands on the one that has the focus. Only tui_screen.c and tui_terminal.c know ncurses.
 */
#ifndef QKV_CLI_TUI_H
#define QKV_CLI_TUI_H

#include "cli/cli.h"
#include "lesson/lesson.h"

/* ---- memory: taken piece by piece, emptied as a whole (tui_doc.c) ---------------------------- */

typedef struct tui_pool {
    struct tui_chunk *chunks;
    lesson_memory memory; /* takes from this pool */
    bool lost;            /* something was asked for and there was no memory */
} tui_pool;

void tui_pool_start(tui_pool *pool);
void tui_pool_empty(tui_pool *pool);

/* ---- text (tui_text.c) ----------------------------------------------------------------------- */

/* What the terminal and the locale can show. LC_CTYPE is set here, and nowhere else. */
typedef struct tui_means {
    bool screen; /* cursor movement: TERM is known and not dumb, stdin and stdout are terminals */
    bool utf8, color;
} tui_means;
tui_means tui_find_means(bool color_wanted);
lesson_face tui_face(const tui_means *means, int width, int digits);
/* cli_safe_text with what is not ASCII as \u{...} */
int tui_safe_ascii(char *buffer, size_t size, const char *text, size_t n, int max_columns);

/* Columns of n bytes of harmless UTF-8. */
int tui_columns(const char *text, size_t n);
/* Bytes of the first and of the last user-perceived character of n bytes; 0 only for n = 0. */
size_t tui_first_cluster(const char *text, size_t n);
size_t tui_last_cluster(const char *text, size_t n);

/* ---- the document (tui_doc.c) ---------------------------------------------------------------- */

typedef enum tui_style {
    TUI_NORMAL,
    TUI_QUIET, /* secondary */
    TUI_STRONG,
    TUI_Q,
    TUI_K,
    TUI_V,
    TUI_MINUS, /* a negative score */
    TUI_ALARM, /* a sentence about something refused */
    TUI_STYLES
} tui_style;

enum { TUI_NO_TARGET = -1 };

/* kind says which control it is, row and column where in it; equal ids are the same place before
 * and after a change. */
typedef struct tui_id {
    int16_t kind, row, column;
} tui_id;

typedef struct tui_span {
    const char *text; /* in the document's pool, harmless */
    int32_t bytes, column, columns;
    int32_t target; /* index or TUI_NO_TARGET */
    uint8_t style;
    bool chosen; /* the option of a row that holds now */
} tui_span;

typedef struct tui_target {
    tui_id id;
    int32_t line, column, columns;
} tui_target;

typedef struct tui_doc {
    tui_pool *pool;
    const lesson_face *face;
    int width;
    tui_span *spans;
    tui_target *targets;
    int32_t *line_start; /* first span of each line */
    int32_t span_count, span_room, target_count, target_room, line_count, line_room;
    int32_t figure_first, figure_last; /* lines of the figure that holds the wanted target */
    tui_id wanted;                     /* the target that has the focus; set before writing */
    int column;                        /* of the pen */
    bool no_room; /* memory ran out: what is there can be shown, the rest is missing */
} tui_doc;

void doc_start(tui_doc *doc, tui_pool *pool, const lesson_face *face, int width);
/* Puts harmless text at the pen. */
void doc_put(tui_doc *doc, tui_style style, const char *text);
void doc_put_n(tui_doc *doc, tui_style style, const char *text, size_t bytes);
/* The same, and the place can have the focus. */
void doc_target(tui_doc *doc, tui_id id, tui_style style, bool chosen, const char *text);
void doc_to(tui_doc *doc, int column); /* moves the pen right to a column */
void doc_line(tui_doc *doc);           /* ends the line */
void doc_gap(tui_doc *doc);            /* an empty line, unless one is there */

/* A paragraph in several styles, wrapped when it ends. */
enum { TUI_PARA_BYTES = 8192 };
typedef struct tui_para {
    size_t n;
    tui_id id;   /* kind 0: no target; else its first line can have the focus */
    bool chosen; /* of that target */
    char text[TUI_PARA_BYTES];
    uint8_t style[TUI_PARA_BYTES];
} tui_para;
void para_start(tui_para *para);
void para_put(tui_para *para, tui_style style, const char *text, size_t bytes);
/* indent for its first line, hang for the others; a pen that is further right stays there */
void para_end(tui_doc *doc, const tui_para *para, int indent, int hang);
/* Text with the marks of roles (LESSON_MARKS) in it. */
void para_marked(tui_para *para, const char *text);
/* The same in one style. */
void doc_wrapped(tui_doc *doc, tui_style style, const char *text, int indent, int hang);
void doc_rule(tui_doc *doc, int columns);
/* Between these two the lines belong together: they are shown whole where they fit. */
/* Line i of another document without targets, from a column on. */
void doc_copy_line(tui_doc *doc, const tui_doc *from, int32_t i, int column);

typedef struct tui_mark {
    int32_t line, target;
} tui_mark;
tui_mark doc_mark(const tui_doc *doc);
void doc_keep_together(tui_doc *doc, tui_mark from);

bool tui_same(tui_id a, tui_id b);
/* The index of the target with that id; TUI_NO_TARGET. */
int32_t doc_find(const tui_doc *doc, tui_id id);

/* ---- the screen (tui_screen.c) --------------------------------------------------------------- */

/* What tui_screen_key() returns beside characters, which are their code points. */
enum {
    TUI_KEY_NONE = -1, /* nothing within the time */
    TUI_KEY_RESIZE = 0x200000,
    TUI_KEY_END_INPUT, /* the terminal is gone, or a signal asks to end: see tui_screen_signal() */
    TUI_KEY_UP,
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_PAGE_UP,
    TUI_KEY_PAGE_DOWN,
    TUI_KEY_BACK_TAB,
    TUI_KEY_BACKSPACE,
    TUI_KEY_DELETE,
    TUI_KEY_OTHER,
    TUI_KEY_ENTER = 10,
    TUI_KEY_TAB = 9,
    TUI_KEY_ESCAPE = 27
};

/* Is TERM described here, with a cursor that can be moved? (tui_terminal.c) */
bool tui_terminal_known(void);
/* False: this terminal cannot be used that way; nothing was changed. */
bool tui_screen_open(const tui_means *means);
void tui_screen_close(void);
void tui_screen_size(int *rows, int *columns);
int tui_screen_key(void);
/* The signal that asked to end, 0: none. After tui_screen_close() the caller dies of it. */
int tui_screen_signal(void);

void tui_screen_redraw(void); /* everything, at the next show */
void tui_screen_clear(void);
void tui_screen_text(int row, int column, int columns, tui_style style, const char *text);
/* One line of the document; the target `focus` is shown reversed. */
void tui_screen_line(int row, int column, int columns, const tui_doc *doc, int32_t line,
                     int32_t focus);
void tui_screen_show(int cursor_row, int cursor_column);

/* ---- the field (tui_field.c) ----------------------------------------------------------------- */

enum { TUI_FIELD_BYTES = 4096 };

typedef struct tui_field {
    bool open;
    bool fresh;   /* the first key replaces what was there */
    size_t n, at; /* bytes; at: the cursor */
    size_t limit; /* bytes it may hold */
    char text[TUI_FIELD_BYTES];
} tui_field;

void field_open(tui_field *field, const char *text, size_t limit);
/* True when the key was one for the field (Enter and Escape are not). */
bool field_key(tui_field *field, int key);
/* The part that fits `columns`, made harmless; returns the cursor's column in it. */
int field_view(const tui_field *field, char *buffer, size_t size, int columns,
               const lesson_face *face);

#endif /* QKV_CLI_TUI_H */
