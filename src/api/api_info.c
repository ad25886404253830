/* SPDX-License-Identifier: MIT */
#include <qkv/qkv.h>
uint32_t qkv_version(void)
{
    return QKV_VERSION_MAJOR << 16 | QKV_VERSION_MINOR << 8 | QKV_VERSION_PATCH;
}
