/* SPDX-License-Identifier: MIT */
/* parts.h - the same case by other calls: some of its rows, one of its batches, one of its packed
 * sequences alone; or all of it in tensors that lie in memory another way. What such a call may not
 * change is a bit.
 */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H

#include "everything.h"

typedef struct part {
    int64_t batch, batches; /* first, how many */
    int64_t row, rows;
    int64_t sequence; /* -1: as it is; otherwise this packed sequence by itself */
    uint64_t layout;  /* 0: dense; otherwise random strides from this seed */
    qkv_show *show;   /* these three go into the arguments as they are */
    void *row_max, *key_sums;
    /* in place of the case's own, where not NULL: kv_len, q_len, kv_start, offsets, cu_q, cu_k */
    const int64_t *numbers[6];
} part;

part part_whole(const feature_case *c);
/* 0: that part cannot be asked for (bits that do not begin at a byte). */
int part_possible(const feature_case *c, const part *p);

/* Runs the part; out (its type) and lse dense, [batch][head][row] of the part. */
void part_run(const feature_case *c, const feature_tensors *t, const part *p, int32_t isa,
              const qkv_threads *threads, void *out, void *lse);
/* Fails unless the part's rows are those of the whole. */
void part_same(const feature_case *c, const part *p, const void *whole_out, const void *whole_lse,
               const void *out, const void *lse, const char *what);

#endif
