/* SPDX-License-Identifier: MIT */
#include <qkv/qkv.h>
#include <stdio.h>

int main(void)
{
    printf("%u\n", qkv_version());
    return 0;
}
