/* SPDX-License-Identifier: MIT */
/* feature_hashes.h - feature_hashes.txt as a table: feature_hashes[i] belongs to feature_cases[i]. For
 * whoever compares; the program that writes the file does not read it.
 *
 * Scores, weights and the keep-mask: [batch][head][row][key], of all keys of the row's sequence.
 * Partials as in golden_hashes.h; none where sequences are packed or left padded.
 */
#ifndef QKV_TESTS_GOLDEN_FEATURE_HASHES_H
#define QKV_TESTS_GOLDEN_FEATURE_HASHES_H

#include "feature_data.h"

enum {
    FEATURE_OUT,
    FEATURE_LSE,
    FEATURE_WEIGHT,
    FEATURE_SCALED,
    FEATURE_PARTIAL,
    FEATURE_CAPPED,
    FEATURE_MASKED,
    FEATURE_ROW_MAX,
    FEATURE_KEY_SUMS,
    FEATURE_KEEP,
    FEATURE_NHASHES
};

static const struct {
    const char *name;
    uint64_t of[FEATURE_NHASHES];
} feature_hashes[] = {
#define HASHES(name, out, lse, weight, scaled, partial, capped, masked, row_max, key_sums, keep)   \
    {#name, {out, lse, weight, scaled, partial, capped, masked, row_max, key_sums, keep}},
#include "feature_hashes.txt"
#undef HASHES
};

_Static_assert(sizeof feature_hashes / sizeof feature_hashes[0] == FEATURE_NCASES,
               "feature_hashes.txt has a line for each case: write it again with spec_forward");

#endif /* QKV_TESTS_GOLDEN_FEATURE_HASHES_H */
