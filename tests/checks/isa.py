# SPDX-License-Identifier: MIT
"""No instruction that an old CPU lacks outside the object made for it.

Arguments: libqkv.a, the kernels that must be in it, and the objdump that reads it.
"""
import sys

import tap
import check_isa

static, wanted, objdump = sys.argv[1:]
promises, isas = check_isa.judge(static, objdump)
for promise, bad in promises:
    tap.ok(not bad, promise, bad)
tap.ok(isas == set(wanted.split(',')), 'every kernel object is here, and no other', isas)

X86, ARM = 'elf64-x86-64', 'elf64-littleaarch64'
PLANTED = [
    (X86, 'plan_choose.c.o', 'vaddps %xmm0,%xmm1,%xmm2', False),
    (X86, 'isa_isa_scalar.c.o', 'vmovups %ymm0,(%rdi)', False),
    (X86, 'isa_isa_wide16.c.o', 'addps  %xmm0,%xmm1', True),
    (X86, 'isa_isa_avx2.c.o', 'vaddps %zmm0,%zmm1,%zmm2', False),
    (X86, 'isa_isa_avx2.c.o', 'vmovups %ymm17,(%rdi)', False),
    (X86, 'isa_isa_avx2.c.o', 'vfmadd231ps %ymm0,%ymm1,%ymm2', True),
    (X86, 'run_split.c.o', 'verr   %ax', True),
    (ARM, 'isa_isa_neon.c.o', 'fmla   v0.4s, v1.4s, v2.s[0]', True),
    (ARM, 'isa_isa_neon.c.o', 'fcvtl  v0.4s, v1.4h', True),
    (ARM, 'isa_isa_neon.c.o', 'fmla   v0.8h, v1.8h, v2.8h', False),
    (ARM, 'isa_isa_neon.c.o', 'fmla   z0.s, p0/m, z1.s, z2.s', False),
    (ARM, 'isa_isa_neon.c.o', 'sdot   v0.4s, v1.16b, v2.16b', False),
    (ARM, 'run_workers.c.o', 'ldadd  w0, w1, [x2]', False),
    (ARM, 'run_workers.c.o', 'ldaxr  w0, [x2]', True),
    (ARM, 'run_item.c.o', 'bfxil  w0, w1, #0, #8', True),
]
for machine, name, line, good in PLANTED:
    made = check_isa.scan([f'{name}:     file format {machine}', f'   4:\t{line}'])
    bad = check_isa.faults(made)[0][0][1]
    tap.ok(bool(bad) != good, f'{name}: {line} is {"fine" if good else "refused"}')
for machine, isa, line in ((X86, 'avx512', 'vaddps %zmm0,%zmm1,%zmm2'), (ARM, 'neon', 'fmadd s0, s1, s2, s3')):
    made = check_isa.scan([f'isa_isa_{isa}.c.o:     file format {machine}', f'  4:\t{line}'])
    tap.ok(check_isa.faults(made)[0][-1][1], f'a kernel object {isa} without multiply-adds is refused')
made = check_isa.calls([f'isa_isa_neon.c.o:     file format {ARM}',
                        '0000000000000000         *UND*  0000000000000000 fmaf'])
tap.ok(made == ['neon: fmaf'], 'a kernel that calls fmaf is refused')
tap.done()
