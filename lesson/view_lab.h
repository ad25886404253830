/* SPDX-License-Identifier: MIT */
/* view_lab.h - view models of the page's lab: one row or column of a map as a list, cells as text, the
 * arithmetic behind one cell, what the choices are called, and the proof that a causal mask keeps
 * earlier outputs. As view.h: numbers that are shown are strings; plain numbers are geometry.
 *
 * A view's input holds the rows that were computed; the token is the row that is spoken of.
 */
#ifndef QKV_LESSON_VIEW_LAB_H
#define QKV_LESSON_VIEW_LAB_H

#include "lesson/map.h"
#include "lesson/view.h"

enum {
    LAB_LISTED = 16, /* of a row's keys: all, or the strongest twelve and what is left */
    LAB_STRONGEST = 12,
    LAB_VECTOR = 8, /* so many numbers of a vector are shown; of longer ones three */
    LAB_NAME_COLUMNS = 24
};

/* Each writes members of an object that the caller has opened. QKV_OK or QKV_ENOMEM. */

/* What the token looks at: "who", "items", "rest", "sum", "say". */
qkv_status view_lab_row(view_json *json, const lesson_view *view);
/* Who looks at a key, of all rows of the view. */
qkv_status view_lab_column(view_json *json, const lesson_view *view, int64_t key);
/* One row of a long column, as an object: the view holds that row alone. */
void view_lab_column_item(view_json *json, const lesson_view *view, int64_t key, double most);
/* "cells": rows of texts, of the view's rows and keys; hidden ones are null. in_map: as few digits
 * as a small cell has room for. */
qkv_status view_lab_cells(view_json *json, const lesson_view *view, int in_map);
/* "work": pieces, of one key of the token at the input's stage; "say": the same pair in words. */
qkv_status view_lab_work(view_json *json, const lesson_view *view, int64_t key);
/* "pair": the two names and the weight of the strongest pair; needs all rows. */
qkv_status view_lab_strongest(view_json *json, const lesson_view *view);
/* Names of all keys and, where they differ, of all rows. */
qkv_status view_lab_names(view_json *json, const lesson_view *view);
/* "names" as they are, "q", "k", "v": rows of texts that read back as the same numbers. */
qkv_status view_lab_numbers(view_json *json, const lesson_view *view);
/* X, the matrices W and their features with every digit, and "say": is the grid of scores symmetric?
 * Needs all rows. */
qkv_status view_lab_weights(view_json *json, const lesson_state *state, const lesson_view *view);
/* The token's table: key, value, query, every stage up to the input's. */
qkv_status view_lab_table(view_json *json, const lesson_view *view);

/* "choices": what the controls stand on, for one of the two panels. */
void view_lab_choice(view_json *json, const char *key, const lesson_choice *choice);
/* "parts": how the two differ, one line each of A and B. */
qkv_status view_lab_difference(view_json *json, const lesson_state *state, const lesson_view *a,
                               const lesson_view *b);

/* Outputs of all rows before and after: "rows": name, before, after as text, all their numbers as "x"
 * and "y", same bits or not. */
qkv_status view_lab_causal(view_json *json, const lesson_view *before, const lesson_view *after);

#endif /* QKV_LESSON_VIEW_LAB_H */
