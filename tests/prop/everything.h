/* SPDX-License-Identifier: MIT */
/* everything.h - random cases over all features at once, in the form of the golden ones (masks, biases
 * and poison come from tests/golden/feature_data.h), and a judge for them: the plainest float64, with
 * its own idea of who sees whom, that shares nothing with the library.
 */
#ifndef TEST_EVERYTHING_H
#define TEST_EVERYTHING_H

#include "helpers.h"
#include "tests/golden/feature_run.h"

/* A case of at most `most_work` score channels; every feature in a third of the cases or so. */
feature_case random_case(rng *r, int64_t most_work);
int64_t case_work(const feature_case *c);
/* Beside which key of sequence n (its padding counted) the first of its rows stands. */
int64_t case_offset(const feature_case *c, int64_t n);
const char *case_text(const feature_case *c); /* a static buffer */

/* Fails unless every row of out and lse is what the judge says, within the bounds of the types. */
void judge_case(const feature_case *c, const feature_tensors *t, const void *out, const void *lse,
                const char *who);
/* How often each feature took part. */
typedef struct feature_mix {
    int cases, of[24], wild, poisoned, beyond_block, grouped, half, named;
} feature_mix;
void feature_mix_count(feature_mix *m, const feature_case *c);

#endif
