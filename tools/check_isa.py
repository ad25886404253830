#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_isa.py STATIC [OBJDUMP] - which machine instructions stand in which object of libqkv.a
(x86-64, aarch64), and what the kernels call.

An old CPU must be able to run everything that is not in an isa_<name> object. x86-64: there, no
register wider than xmm and no VEX-coded instruction; the avx2 object stays at ymm, the avx512 object
really multiplies and adds in zmm. aarch64: nothing beyond Armv8.0 anywhere, and the neon object really
multiplies and adds in vectors. No kernel calls the C library but to copy and to fill memory. Exit 1 on
a fault.
"""
import re
import subprocess
import sys

# what an object may use at most, by its ISA; every other object: 'base'
LEVEL = {'avx2': 'ymm', 'avx512': 'zmm'}
ORDER = ['base', 'ymm', 'zmm', 'beyond']
MEMBER = re.compile(r'^(\S+\.o):\s+file format (\S+)')
ISA = re.compile(r'isa_isa_(\w+)\.c\.o$')
# mnemonic that begins with v and is not one of the few old ones (verr, verw, vmcall ...)
VEX = re.compile(r'^v(?!err$|erw$|m[a-z]+(call|run|load|save|resume|launch)$)')
# Armv8.1 and later: atomics, dot products, bfloat16, complex numbers, weaker loads, cryptography
ARM_LATER = re.compile(r'^((ld|st)(add|clr|eor|set|[su]max|[su]min)|swp|cas|[su]s?u?dot|bf(dot|mmla|ml|cvt)|'
                       r'f(cmla|cadd|ml[as]l|jcvt|rint(32|64))|sqrdml[as]h|[su]s?mmla|ldap|stlur|crc32|aes|'
                       r'sha\d|eor3|bcax|rax1|xar|pac(?!i[ab]sp)|aut(?!i[ab]sp))')
ARM_LATER_REGISTERS = re.compile(r'\b(z\d+\.[bhsdq]|p\d+[./])')
# Armv8.0 converts f16 and moves it, and computes nothing in it
ARM_HALF = re.compile(r'\b(v\d+\.[48]h|h\d+)\b')
MAY_CALL = {'memcpy', 'memset', 'memmove'}


def x86_level(mnemonic, operands):
    if '%zmm' in operands or re.search(r'%k[0-7]\b|%[xyz]mm(1[6-9]|2\d|3[01])\b', operands):
        return 'zmm'
    if '%ymm' in operands or VEX.match(mnemonic):
        return 'ymm'
    return 'base'


def arm_level(mnemonic, operands):
    if ARM_LATER.match(mnemonic) or ARM_LATER_REGISTERS.search(operands):
        return 'beyond'
    if mnemonic.startswith('f') and not mnemonic.startswith('fcvt') and ARM_HALF.search(operands):
        return 'beyond'
    return 'base'


def multiplies(mnemonic, operands):
    """A fused multiply-add over the widest vectors that a table is for?"""
    return (mnemonic.startswith('vfm') and '%zmm' in operands or
            mnemonic == 'fmla' and re.match(r'v\d+\.(4s|2d)', operands) is not None)


def scan(lines):
    """member -> {'level': highest, 'worst': its line, 'fma': count}"""
    members, now, level_of = {}, None, x86_level
    for line in lines:
        found = MEMBER.match(line)
        if found:
            level_of = arm_level if 'aarch64' in found.group(2) else x86_level
            now = members.setdefault(found.group(1), {'level': 'base', 'worst': '', 'fma': 0})
            continue
        found = re.match(r'^\s*[0-9a-f]+:\s+([a-z][a-z0-9.]*)\s*(.*)$', line)
        if not found or now is None:
            continue
        mnemonic, operands = found.groups()
        level = level_of(mnemonic, operands)
        if ORDER.index(level) > ORDER.index(now['level']):
            now['level'], now['worst'] = level, line.strip()
        now['fma'] += multiplies(mnemonic, operands)
    return members


def faults(members):
    """Pairs (promise, list of what breaks it)."""
    bad = []
    isas = {}
    for name, seen in sorted(members.items()):
        found = ISA.search(name)
        isa = found.group(1) if found else None
        if isa:
            isas[isa] = seen
        most = LEVEL.get(isa, 'base')
        if ORDER.index(seen['level']) > ORDER.index(most):
            bad.append(f'{name}: {seen["level"]}, at most {most} allowed: {seen["worst"]}')
    promises = [(f'{len(members)} objects keep to their instruction set', bad)]
    if 'avx2' in isas:
        promises.append(('the avx2 object uses ymm',
                         [] if isas['avx2']['level'] == 'ymm' else [isas['avx2']['level']]))
    for isa in ('avx512', 'neon'):
        if isa in isas:
            n = isas[isa]['fma']
            promises.append((f'the {isa} object holds {n} multiply-adds of whole vectors',
                             [] if n >= 8 else ['expected 8 at least']))
    return promises, set(isas)


def calls(lines):
    """What a kernel's object takes from elsewhere, beyond MAY_CALL; from a table of symbols."""
    bad, isa = [], None
    for line in lines:
        found = MEMBER.match(line)
        if found:
            isa = ISA.search(found.group(1))
        elif isa and '*UND*' in line:
            name = line.split()[-1]
            if name not in MAY_CALL and name != '_GLOBAL_OFFSET_TABLE_':
                bad.append(f'{isa.group(1)}: {name}')
    return bad


def ask(static, option, objdump='objdump'):
    return subprocess.run([objdump, option, '--no-show-raw-insn', static], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()


def judge(static, objdump='objdump'):
    """All promises of a library, and its instruction sets."""
    promises, isas = faults(scan(ask(static, '-d', objdump)))
    promises.append(('the kernels call nothing but memcpy and memset', calls(ask(static, '-t', objdump))))
    return promises, isas


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit('usage: check_isa.py STATIC [OBJDUMP]')
    status = 0
    for promise, bad in judge(*sys.argv[1:])[0]:
        print(('no: ' if bad else 'yes: ') + promise)
        for line in bad:
            print('  ' + line)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
