/* SPDX-License-Identifier: MIT */
/* lab_store.h - where the lab's numbers come from: the state's own tokens, the real model, or tables
 * that the reader opened. Tables are kept between calls, Q, K and V each in its slot; one that does
 * not go with the others is refused and changes nothing.
 */
#ifndef QKV_PAGE_LAB_STORE_H
#define QKV_PAGE_LAB_STORE_H

#include "lesson/state.h"
#include "page/page.h"
#include "page/read_table.h"

enum { LAB_MODEL_HEADS = 12 };

typedef struct lab_sizes {
    int64_t heads, rows, keys, d_k, d_v;
} lab_sizes;

/* How large what the state speaks of is; 0: the model or the file is not there. */
int lab_sizes_of(const lesson_state *state, lab_sizes *sizes);
/* The numbers of a head, and the choices of the state: A (0) or B (1). QKV_OK or QKV_ENOMEM. */
qkv_status lab_input(const lesson_state *state, int other, int64_t head, const lab_sizes *sizes,
                     lesson_input *in);

/* Takes over what was read: target 'q', 'k', 'v', or 'a' for all three. 0 after a sentence. */
int lab_store_take(const read_state *read, char target, lesson_line *trouble);
void lab_store_drop(void);
/* The table in a slot: 0 rows when there is none. which 0, 1, 2. */
const read_table *lab_store_table(int which);

#endif /* QKV_PAGE_LAB_STORE_H */
