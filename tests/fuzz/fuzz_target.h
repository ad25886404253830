/* SPDX-License-Identifier: MIT */
/* fuzz_target.h - what a fuzz target and its two drivers (libFuzzer, replay.c) agree on. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Never compiled out: a broken promise is a crash that the drivers see. */
#define FUZZ_CHECK(promise)                                                                        \
    do {                                                                                           \
        if (!(promise)) {                                                                          \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* TESTS_FUZZ_TARGET_H */
