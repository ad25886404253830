/* SPDX-License-Identifier: MIT */
/* tui_ask.h - line mode: a question on stdout, an answer from stdin; and the one file that is ever
 * kept, the dates of the recall cards.
 */
#ifndef QKV_CLI_TUI_ASK_H
#define QKV_CLI_TUI_ASK_H

#include "cli/tui.h"
#include "lesson/recall.h"

/* Prints the prompt and reads one line, without its end and the blanks around it; what is longer
 * than the buffer is dropped. False at the end of input. */
bool ask_line(const char *prompt, char *answer, size_t size);
/* Harmless text, wrapped at the terminal's width. */
void tell(const lesson_face *face, const char *text, int indent);

/* ---- tui_store.c ----------------------------------------------------------------------------- */

typedef struct recall_store {
    char path[4096]; /* "" where there is no home */
    bool exists;     /* the reader asked for it, now or earlier */
    recall_plan plan;
} recall_store;

/* Finds the file and reads it, where there is one. An exit code; a message was printed. */
int store_open(recall_store *store);
/* Writes it as a whole, or leaves the old one. Folders are made as needed. */
int store_save(const recall_store *store);
int store_forget(recall_store *store);

#endif /* QKV_CLI_TUI_ASK_H */
