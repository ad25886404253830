/* SPDX-License-Identifier: MIT */
/* words.c - the sentences of words.inc by their number. The page's core holds none of them: there
 * page/words_text.c stands in the place of this file.
 */
#include "lesson/lesson.h"

static const char *const words[] = {
#define LESSON_WORD(id, text) text,
#include "lesson/words.inc"
#undef LESSON_WORD
};

const char *lesson_word_text(lesson_word id)
{
    return words[id];
}
