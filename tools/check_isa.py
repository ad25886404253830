#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_isa.py STATIC - which machine instructions stand in which object of libqkv.a (x86-64).

An old CPU must be able to run everything that is not in an isa_<name> object: there, no register
wider than xmm and no VEX-coded instruction. The avx2 object stays at ymm, the avx512 object really
multiplies and adds in zmm. Needs objdump; exit 1 on a fault.
"""
import re
import subprocess
import sys

# what an object may use at most, by its ISA; every other object: 'sse'
LEVEL = {'scalar': 'sse', 'wide16': 'sse', 'avx2': 'ymm', 'avx512': 'zmm'}
ORDER = ['sse', 'ymm', 'zmm']
MEMBER = re.compile(r'^(\S+\.o):\s+file format')
ISA = re.compile(r'isa_isa_(\w+)\.c\.o$')
# mnemonic that begins with v and is not one of the few old ones (verr, verw, vmcall ...)
VEX = re.compile(r'^v(?!err$|erw$|m[a-z]+(call|run|load|save|resume|launch)$)')


def level_of(mnemonic, operands):
    if '%zmm' in operands or re.search(r'%k[0-7]\b|%[xyz]mm(1[6-9]|2\d|3[01])\b', operands):
        return 'zmm'
    if '%ymm' in operands or VEX.match(mnemonic):
        return 'ymm'
    return 'sse'


def scan(lines):
    """member -> {'level': highest, 'worst': its line, 'zmm_fma': count}"""
    members, now = {}, None
    for line in lines:
        found = MEMBER.match(line)
        if found:
            now = members.setdefault(found.group(1), {'level': 'sse', 'worst': '', 'zmm_fma': 0})
            continue
        found = re.match(r'^\s*[0-9a-f]+:\s+([a-z][a-z0-9]*)\s*(.*)$', line)
        if not found or now is None:
            continue
        mnemonic, operands = found.groups()
        level = level_of(mnemonic, operands)
        if ORDER.index(level) > ORDER.index(now['level']):
            now['level'], now['worst'] = level, line.strip()
        if mnemonic.startswith('vfm') and '%zmm' in operands:
            now['zmm_fma'] += 1
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
        most = LEVEL.get(isa, 'sse')
        if ORDER.index(seen['level']) > ORDER.index(most):
            bad.append(f'{name}: {seen["level"]}, at most {most} allowed: {seen["worst"]}')
    promises = [(f'{len(members)} objects keep to their instruction set', bad)]
    if 'avx2' in isas:
        promises.append(('the avx2 object uses ymm',
                         [] if isas['avx2']['level'] == 'ymm' else [isas['avx2']['level']]))
    if 'avx512' in isas:
        n = isas['avx512']['zmm_fma']
        promises.append((f'the avx512 object holds {n} zmm multiply-adds',
                         [] if n >= 8 else ['expected 8 at least']))
    return promises, set(isas)


def disassembly(static):
    return subprocess.run(['objdump', '-d', '--no-show-raw-insn', static], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: check_isa.py STATIC')
    status = 0
    for promise, bad in faults(scan(disassembly(sys.argv[1])))[0]:
        print(('no: ' if bad else 'yes: ') + promise)
        for line in bad:
            print('  ' + line)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
