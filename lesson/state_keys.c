/* SPDX-License-Identifier: MIT */
/* state_keys.c - the settings of a state, one line each: its key in the text, where it is kept, its
 * bounds, and the value that is not written. Settings with a grammar of their own (scale, mask,
 * names, matrices, focus) are in state_read.c and state_write.c.
 */
#include "lesson/state_parts.h"

#define AT(member) offsetof(lesson_state, member)

const state_whole state_wholes[] = {
    {"st", AT(stage), 0, 4, 0},
    {"dig", AT(digits), 0, 17, 2},
    {"prow", AT(project_row), 0, STATE_TOKENS - 1, LESSON_PRESET_TOKEN},
    {"pcol", AT(project_channel), 0, STATE_CHANNELS - 1, 0},
    {"rd", AT(root_channels), 1, 256, 64},
    {"rseed", AT(root_seed), 0, 4294967295, 1},
    {"rn", AT(root_times), 0, 1000, 0},
    {"big", AT(code_large), 0, 1, 0},
    {"qs", AT(quiz_seed), 0, 4294967295, 1},
    {"qq", AT(quiz_question), 0, 9, 0},
    {"head", AT(model_head), 0, 11, 1},
    {"mrow", AT(model_row), 0, 12, 8},
    {"ab", AT(compare), 0, 1, 0},
    {"wrong", AT(choice.wrong_way), 0, 1, 0},
    {"b.wrong", AT(other.wrong_way), 0, 1, 0},
};
const int state_whole_count = (int)(sizeof state_wholes / sizeof state_wholes[0]);

const state_word state_words[] = {
    {"sec",
     AT(section),
     SECTION_LOOKUP,
     {"lookup", "projections", "formula", "calculator", "blend", "root", "code", "check", "lab"}},
    {"data", AT(data), DATA_TOKENS, {"tokens", "model", "file"}},
    {"proj", AT(project), 0, {"Q", "K", "V"}},
    {"code", AT(code), 0, {"numpy", "c"}},
    {"view", AT(map), 0, {"table", "map"}},
};
const int state_word_count = (int)(sizeof state_words / sizeof state_words[0]);

const state_table state_tables[STATE_TABLES] = {{"X", 'X'}, {"WQ", 'q'}, {"WK", 'k'}, {"WV", 'v'},
                                                {"Q", 'Q'}, {"K", 'K'},  {"V", 'V'}};

const char state_focus_letters[] = "-qkvscwhzo";

const char *state_matrix_name(char which)
{
    for (int i = 0; i < STATE_TABLES; i++)
        if (state_tables[i].which == which) return state_tables[i].key;
    return "?";
}

int64_t state_whole_get(const lesson_state *s, const state_whole *w)
{
    const void *const p = (const char *)s + w->at;
    if (w->most > INT32_MAX) return *(const uint32_t *)p;
    return *(const int32_t *)p;
}

void state_whole_put(lesson_state *s, const state_whole *w, int64_t x)
{
    void *const p = (char *)s + w->at;
    if (w->most > INT32_MAX)
        *(uint32_t *)p = (uint32_t)x;
    else
        *(int32_t *)p = (int32_t)x;
}
