/* SPDX-License-Identifier: MIT */
/* qkv.h - all of libqkv's public interface. Read attention.h first. */
#ifndef QKV_QKV_H
#define QKV_QKV_H

#include <qkv/attention.h>
#include <qkv/experimental.h>
#include <qkv/pool.h>
#include <qkv/types.h>

#endif /* QKV_QKV_H */
