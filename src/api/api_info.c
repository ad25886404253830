/* SPDX-License-Identifier: MIT */
/* api_info.c - what this build is: version, contract, status names, kernels.
 *
 * Nothing here can fail: a number that is not known has the name NULL, or "unknown status".
 */
#include "base/contract.h"
#include "cpu/cpu.h"
#include "kernel/kernels.h"
#include <qkv/types.h>

uint32_t qkv_version(void)
{
    return (uint32_t)QKV_VERSION_MAJOR << 16 | (uint32_t)QKV_VERSION_MINOR << 8 | QKV_VERSION_PATCH;
}

int32_t qkv_contract(void)
{
    return QKVI_CONTRACT;
}

const char *qkv_status_name(qkv_status status)
{
    switch (status) {
    case QKV_OK:
        return "QKV_OK";
    case QKV_EARG:
        return "QKV_EARG";
    case QKV_ESHAPE:
        return "QKV_ESHAPE";
    case QKV_EUNSUPPORTED:
        return "QKV_EUNSUPPORTED";
    case QKV_ENOMEM:
        return "QKV_ENOMEM";
    case QKV_EWORKSPACE:
        return "QKV_EWORKSPACE";
    case QKV_EABI:
        return "QKV_EABI";
    case QKV_ESTOPPED:
        return "QKV_ESTOPPED";
    }
    return "unknown status";
}

int32_t qkv_isa_count(void)
{
    return qkvi_kernels_count();
}

int32_t qkv_isa_id(int32_t i)
{
    const qkvi_kernels *const k = qkvi_kernels_at(i);
    return k ? k->id : 0;
}

const char *qkv_isa_name(int32_t isa)
{
    const qkvi_kernels *const k = qkvi_kernels_by_id(isa);
    return k ? k->name : NULL;
}

int32_t qkv_isa_usable(int32_t isa)
{
    const qkvi_kernels *const k = qkvi_kernels_by_id(isa);
    return k && !(k->needs & ~qkvi_cpu());
}
