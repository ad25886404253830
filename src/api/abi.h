/* SPDX-License-Identifier: MIT */
/* abi.h - structs of another version's size. An older caller's is smaller: the missing members are
 * 0. A newer caller's is larger: accepted if what we do not know is 0, because 0 means "as before".
 */
#ifndef QKVI_ABI_H
#define QKVI_ABI_H

#include <qkv/types.h>

/* Copies the caller's struct, whose first member is its size, into `to` of `size` bytes. `first` is
 * the size of the first version ever released: nothing smaller is a struct of ours. arg:
 * "params.size". */
qkv_status qkvi_widen(void *to, size_t size, const void *from, size_t first, const char *arg,
                      qkv_error *err);

/* QKV_EARG naming `arg` when p is NULL; QKV_EABI when err itself is unusable. */
qkv_status qkvi_need(const void *p, const char *arg, qkv_error *err);

/* The caller's executor, checked and widened; NULL given: one thread, no executor. */
qkv_status qkvi_take_threads(const qkv_threads *given, qkv_threads *threads, qkv_error *err);

/* The caller's allocator, checked and widened; NULL given: *alloc is not used. */
qkv_status qkvi_take_allocator(const qkv_allocator *given, qkv_allocator *alloc, qkv_error *err);

#endif
