/* SPDX-License-Identifier: MIT */
/* qkv.h - all of libqkv's public interface. Read attention.h first: it says what is computed.
 *
 * Each of these headers also stands alone, in C and in C++.
 */
#ifndef QKV_QKV_H
#define QKV_QKV_H

#include <qkv/attention.h>
#include <qkv/experimental.h>
#include <qkv/pool.h>
#include <qkv/types.h>

#endif /* QKV_QKV_H */
