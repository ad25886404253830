/* SPDX-License-Identifier: MIT */
/* tui_code.c - stub */
#include "cli/tui_app.h"
void code_write(tui_app *app, tui_doc *doc, int figure)
{
    (void)app;
    (void)figure;
    doc_put(doc, TUI_QUIET, "figure");
    doc_line(doc);
}
