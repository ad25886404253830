/* SPDX-License-Identifier: MIT */
/* fail_nth.h - makes the n-th request for memory fail; see fail_nth.c. */
#ifndef TEST_FAIL_NTH_H
#define TEST_FAIL_NTH_H

void fail_nth(long n); /* 0: none; starts counting from 0 */
int fail_nth_happened(void);
long fail_nth_calls(void);

#endif
