#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_symbols.py SHARED STATIC - what libqkv shows to a linker.

The shared library exports exactly the names in tools/exports.txt; the static one has no global name
outside qkv_ and qkvi_; neither holds a variable that can change, except the cache of cpu.c. Prints
the stripped size of the shared library, which nobody judges before all is built. Needs nm, objdump
and strip; exit 1 on a fault.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUDGET_BYTES = 300 * 1024
# the only objects with memory of their own: what this machine can do, asked once
MAY_CHANGE = re.compile(r'cpu_cpu\.c\.o$')


def out(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


def exported(shared):
    lines = out('nm', '-D', '--defined-only', '--format=posix', shared).splitlines()
    return {x.split()[0].split('@')[0] for x in lines if x.split()[1] != 'A'}


def wanted(text):
    return {x.strip() for x in text.splitlines() if x.strip() and not x.startswith('#')}


def declared(include):
    """Every function that the public headers declare with QKV_API."""
    names = set()
    for path in pathlib.Path(include).glob('*.h'):
        text = re.sub(r'/\*.*?\*/', '', path.read_text(encoding='utf-8'), flags=re.S)
        text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
        names |= set(re.findall(r'QKV_API[^;(]*?\b(qkv_\w+)\s*\(', text))
    return names


def foreign_globals(static):
    lines = out('nm', '-g', '--defined-only', '--format=posix', static).splitlines()
    names = [x.split() for x in lines if len(x.split()) >= 2]
    return sorted(x[0] for x in names if not re.match(r'qkvi?_', x[0]))


def changing_variables(static):
    """Objects of writable sections; .data.rel.ro is constant data that a loader relocates."""
    bad, member = [], ''
    for line in out('objdump', '-t', static).splitlines():
        found = re.match(r'(\S+):\s+file format', line)
        if found:
            member = found.group(1)
        found = re.match(r'[0-9a-f]+ .{7} (\S+)\s+([0-9a-f]+)\s+(?:\.hidden )?(\S+)$', line)
        if not found or int(found.group(2), 16) == 0:
            continue
        section, _, name = found.groups()
        writable = section.startswith(('.data', '.bss', '.tdata', '.tbss')) or section == '*COM*'
        if writable and not section.startswith('.data.rel.ro') and not MAY_CHANGE.search(member):
            bad.append(f'{member}: {name} in {section}')
    return bad


def stripped_bytes(shared):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, 'lib')
        subprocess.run(['strip', '--strip-unneeded', '-o', copy, shared], check=True)
        return os.path.getsize(copy)


def faults(shared, static):
    """Pairs (promise, list of what breaks it)."""
    names = exported(shared)
    list_ = wanted((HERE / 'exports.txt').read_text(encoding='utf-8'))
    header = declared(HERE.parent / 'include' / 'qkv')
    size = stripped_bytes(shared)
    return [
        ('the shared library exports exactly tools/exports.txt',
         [f'+ {x}' for x in sorted(names - list_)] + [f'- {x}' for x in sorted(list_ - names)]),
        ('the headers declare exactly tools/exports.txt',
         [f'+ {x}' for x in sorted(header - list_)] + [f'- {x}' for x in sorted(list_ - header)]),
        ('every global name begins with qkv_ or qkvi_', foreign_globals(static)),
        ('no variable can change, except the cache of cpu.c', changing_variables(static)),
        (f'libqkv.so stripped: {size} bytes; budget of the finished library: {BUDGET_BYTES}', []),
    ]


def main():
    if len(sys.argv) != 3:
        sys.exit('usage: check_symbols.py SHARED STATIC')
    status = 0
    for promise, bad in faults(sys.argv[1], sys.argv[2]):
        print(('no: ' if bad else 'yes: ') + promise)
        for line in bad:
            print('  ' + line)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
