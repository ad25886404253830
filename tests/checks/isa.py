# SPDX-License-Identifier: MIT
"""No instruction that an old CPU lacks outside the object made for it; argument: libqkv.a."""
import sys

import tap
import check_isa

members = check_isa.scan(check_isa.disassembly(sys.argv[1]))
promises, isas = check_isa.faults(members)
for promise, bad in promises:
    tap.ok(not bad, promise, bad)
tap.ok(isas == {'scalar', 'wide16', 'avx2', 'avx512'}, 'all four kernel objects are here', isas)

PLANTED = [
    ('plan_choose.c.o', '   4:\tvaddps %xmm0,%xmm1,%xmm2', False),
    ('isa_isa_scalar.c.o', '   4:\tvmovups %ymm0,(%rdi)', False),
    ('isa_isa_wide16.c.o', '   4:\taddps  %xmm0,%xmm1', True),
    ('isa_isa_avx2.c.o', '   4:\tvaddps %zmm0,%zmm1,%zmm2', False),
    ('isa_isa_avx2.c.o', '   4:\tvmovups %ymm17,(%rdi)', False),
    ('isa_isa_avx2.c.o', '   4:\tvfmadd231ps %ymm0,%ymm1,%ymm2', True),
    ('run_split.c.o', '   4:\tverr   %ax', True),
]
for name, line, good in PLANTED:
    made = check_isa.scan([f'{name}:     file format elf64-x86-64', line])
    bad = check_isa.faults(made)[0][0][1]
    tap.ok(bool(bad) != good, f'{name}: {line.split(None, 1)[1]} is {"fine" if good else "refused"}')
made = check_isa.scan(['isa_isa_avx512.c.o:     file format elf64-x86-64', '  4:\tvaddps %zmm0,%zmm1,%zmm2'])
tap.ok(check_isa.faults(made)[0][-1][1], 'an avx512 object without zmm multiply-adds is refused')
tap.done()
