/* SPDX-License-Identifier: MIT */
/* kernels.c - the list of tables and the choice. Compiled with baseline flags; it reads constant
 * data and runs no instruction-set-specific code.
 */
#include "kernel/kernels.h"
#include <qkv/types.h>

#define QKV_ISA(name) extern const qkvi_kernels qkvi_kernels_##name;
#include "isa_list.h"
#undef QKV_ISA

static const qkvi_kernels *const tables[] = {
#define QKV_ISA(name) &qkvi_kernels_##name,
#include "isa_list.h"
#undef QKV_ISA
};

enum { NTABLES = sizeof tables / sizeof tables[0] };

int32_t qkvi_kernels_count(void)
{
    return NTABLES;
}

const qkvi_kernels *qkvi_kernels_at(int32_t i)
{
    return i >= 0 && i < NTABLES ? tables[i] : NULL;
}

const qkvi_kernels *qkvi_kernels_by_id(int32_t id)
{
    for (int32_t i = 0; i < NTABLES; i++)
        if (tables[i]->id == id) return tables[i];
    return NULL;
}

const qkvi_kernels *qkvi_kernels_best(uint32_t cpu)
{
    int32_t i = NTABLES - 1; /* the last is the fastest */
    while (i > 0 && ((tables[i]->needs & ~cpu) || tables[i]->id == QKV_ISA_WIDE16)) i--;
    if (tables[i]->id == QKV_ISA_WIDE16) i++; /* wide16 stands before scalar, which needs nothing */
    return tables[i];
}
