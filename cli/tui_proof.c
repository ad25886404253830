/* SPDX-License-Identifier: MIT */
/* tui_proof.c - stub */
#include "cli/tui_app.h"
void proof_write(tui_app *app, tui_doc *doc, int figure)
{
    (void)app;
    (void)figure;
    doc_put(doc, TUI_QUIET, "figure");
    doc_line(doc);
}
