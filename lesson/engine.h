/* SPDX-License-Identifier: MIT */
/* engine.h - the values that the library's kernels give for what the lesson explains, beside those of
 * the reference: `qkv explain` prints how far they are apart. The page's core has no kernels, and none of
 * this.
 */
#ifndef QKV_LESSON_ENGINE_H
#define QKV_LESSON_ENGINE_H

#include "lesson/lesson.h"

#ifdef LESSON_WITHOUT_KERNELS
enum { ENGINE_IS_HERE = 0 };
#else
enum { ENGINE_IS_HERE = 1 };
#endif

/* Fills engine_weight, engine_out and difference. */
qkv_status engine_run(lesson_stages *s, const lesson_input *in, const lesson_memory *memory,
                      qkv_error *err);

#endif /* QKV_LESSON_ENGINE_H */
