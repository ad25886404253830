/* SPDX-License-Identifier: MIT */
/* page_flags.h - what the system knows of the pages at an address: were huge ones asked for? Reads
 * /proc/self/smaps; a kernel without transparent huge pages refuses the wish, and says so here.
 */
#ifndef TESTS_UNIT_PAGE_FLAGS_H
#define TESTS_UNIT_PAGE_FLAGS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* 1: asked for; 0: not; -1: there are none here */
static inline int huge_pages_at(const void *p)
{
    char line[1024];
    unsigned long begin = 0, end = 0;
    int found = 0;
    FILE *const enabled = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!enabled) return -1;
    fclose(enabled);
    FILE *const f = fopen("/proc/self/smaps", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) {
        unsigned long a, b;
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2 && strchr(line, '-') < strchr(line, ' ')) {
            begin = a;
            end = b;
        }
        const int here = (uintptr_t)p >= begin && (uintptr_t)p < end;
        if (here && strncmp(line, "VmFlags:", 8) == 0) found = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return found;
}

#endif /* TESTS_UNIT_PAGE_FLAGS_H */
