/* SPDX-License-Identifier: MIT */
/* words_text.c - the sentences of words.inc in the page: not in the module, but one text that the page
 * hands over before anything else, each sentence ended by a 0 byte, in the order of words.inc. What no
 * C says is empty there (tools/build_page.py).
 */
#include "page/page.h"

static const char *begin[LESSON_WORDS]; /* in the slot */

void page_call_words(page_request request)
{
    char *const text = (char *)page_keep(PAGE_SLOT_WORDS, request.bytes);
    size_t at = 0, n = 0;
    if (text != NULL) __builtin_memcpy(text, request.text, request.bytes);
    for (size_t i = 0; text != NULL && i < request.bytes && n < LESSON_WORDS; i++) {
        if (text[i] != 0) continue;
        begin[n++] = text + at;
        at = i + 1;
    }
    if (n < LESSON_WORDS)
        page_fail("The sentences are not all here.");
    else
        page_say("{}");
}

const char *lesson_word_text(lesson_word id)
{
    return begin[id] != NULL ? begin[id] : "";
}
