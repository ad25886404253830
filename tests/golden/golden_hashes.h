/* SPDX-License-Identifier: MIT */
/* golden_hashes.h - hashes.txt as a table: golden_hashes[i] belongs to golden_cases[i]. For whoever
 * compares; the program that writes hashes.txt does not read it. Five hashes a case, in the order
 * of the enum; how bytes become a hash is golden_fnv_array() of case_data.h.
 *
 * Partials: the data of every part of golden_parts(), one after the other. Weights and scaled
 * scores: [batch][head][row][key], excluded keys included.
 */
#ifndef QKV_TESTS_GOLDEN_HASHES_H
#define QKV_TESTS_GOLDEN_HASHES_H

#include "case_data.h"

enum { GOLDEN_OUT, GOLDEN_LSE, GOLDEN_WEIGHT, GOLDEN_SCALED, GOLDEN_PARTIAL, GOLDEN_NHASHES };

static const struct {
    const char *name;
    uint64_t of[GOLDEN_NHASHES];
} golden_hashes[] = {
#define HASHES(name, out, lse, weight, scaled, partial)                                            \
    {#name, {out, lse, weight, scaled, partial}},
#include "hashes.txt"
#undef HASHES
};

_Static_assert(sizeof golden_hashes / sizeof golden_hashes[0] == GOLDEN_NCASES,
               "hashes.txt has a line for each case: write it again with spec_forward");

#endif /* QKV_TESTS_GOLDEN_HASHES_H */
