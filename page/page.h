/* SPDX-License-Identifier: MIT */
/* page.h - the seam between the browser and the C: a request is bytes ("name", a newline, then what
 * the call reads), an answer is bytes (mostly JSON). No other function is exported and nothing is
 * imported, so the module can reach nothing but its own memory.
 *
 * Memory of a call is gone at the next one; only slots outlive it. Never throws: a call that fails
 * answers {"error": "a sentence"}.
 */
#ifndef QKV_PAGE_PAGE_H
#define QKV_PAGE_PAGE_H

#include "lesson/lesson.h"
#include "lesson/view.h"

/* ---- memory.c ---------------------------------------------------------------------------------- */

void *page_take(size_t bytes); /* 64-aligned; NULL: the browser gives no more */
void page_take_reset(void);    /* everything taken is gone, slots stay */
extern const lesson_memory page_memory;

/* Bytes that outlive the call, one block a slot; a new block replaces the old one. */
typedef enum page_slot {
    PAGE_SLOT_WORDS = 0,
    PAGE_SLOT_MODEL,
    PAGE_SLOT_DATA,
    PAGE_SLOT_READ,
    PAGE_SLOT_Q,
    PAGE_SLOT_K,
    PAGE_SLOT_V,
    PAGE_SLOTS
} page_slot;
void *page_keep(page_slot slot, size_t bytes);
const void *page_kept(page_slot slot, size_t *bytes);

/* ---- wasm.c ------------------------------------------------------------------------------------ */

typedef struct page_request {
    const char *text; /* what follows the name's newline */
    size_t bytes;
} page_request;

extern const lesson_sink page_answer; /* where calls write */
void page_say(const char *text);
void page_fail(const char *sentence); /* the answer becomes {"error": sentence} */
/* The state that a request begins with; NULL after an answer. */
lesson_state *page_state(page_request *rest, lesson_trouble *trouble);
/* Opens an object in the answer; shown text has that face. */
void page_object(view_json *json, const lesson_face *face);

/* Cuts the first line off: what is before the newline; *rest moves behind it. */
page_request page_line(page_request *rest);

/* The face of everything that is shown in the page; and one whose worked lines have their roles
 * marked, for view_pieces(). */
extern const lesson_face page_face, page_marked_face;

/* A call: reads the request, writes the answer. One line in calls.inc each. */
#define PAGE_CALL(name) void page_call_##name(page_request request);
#include "page/calls.inc"
#undef PAGE_CALL

#endif
