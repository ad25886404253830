/* SPDX-License-Identifier: MIT */
/* bench.h - checkkernel --bench: the time of each kernel, alone. */
#ifndef QKV_TESTS_KERNEL_BENCH_H
#define QKV_TESTS_KERNEL_BENCH_H

int bench_tables(void);

#endif
