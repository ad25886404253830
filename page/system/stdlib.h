/* SPDX-License-Identifier: MIT */
/* stdlib.h - what src/ asks of a C library when it is compiled for the page: two functions, defined
 * in page/memory.c. Only the page's build puts this folder on the include path; there is no other
 * header of a system in it, so a new dependency shows at once.
 */
#ifndef QKV_PAGE_STDLIB_H
#define QKV_PAGE_STDLIB_H

#include <stddef.h>

void *aligned_alloc(size_t alignment, size_t bytes);
void free(void *mem);

#endif
