/* SPDX-License-Identifier: MIT */
/* tui_check.c - stub */
#include "cli/tui_app.h"
void check_write(tui_app *app, tui_doc *doc, int figure)
{
    (void)app;
    (void)figure;
    doc_put(doc, TUI_QUIET, "figure");
    doc_line(doc);
}
bool check_act(tui_app *app, tui_id id, tui_act act)
{
    (void)app;
    (void)id;
    (void)act;
    return false;
}
void question_write(tui_app *app, tui_doc *doc, int q)
{
    (void)app;
    (void)q;
    doc_put(doc, TUI_QUIET, "question");
    doc_line(doc);
}
