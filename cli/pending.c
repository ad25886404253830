/* SPDX-License-Identifier: MIT */
/* pending.c - weak stand-ins for the library's functions that the frame calls, so that the command
 * links while the library grows. The library's own definitions win; this file goes with the last.
 */
#include <qkv/qkv.h>

#define PENDING __attribute__((weak))

PENDING int32_t qkv_contract(void)
{
    return 1;
}
PENDING int32_t qkv_isa_count(void)
{
    return 0;
}
PENDING int32_t qkv_isa_id(int32_t i)
{
    (void)i;
    return 0;
}
PENDING const char *qkv_isa_name(int32_t isa)
{
    (void)isa;
    return NULL;
}
PENDING int32_t qkv_isa_usable(int32_t isa)
{
    (void)isa;
    return 0;
}
PENDING int32_t qkv_pool_cpus(void)
{
    return 1;
}
