#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_generated.py [ROOT] - what a tool of this tree printed still is what the tree holds.

The coefficients of 2^f: tools/exp2_coefficients.py computes them, docs/numerics.md lists them,
src/base/contract.h uses them (float32 first, highest power first there). Exit 1 on a difference.
"""
import pathlib
import re
import subprocess
import sys

HEX = r'0x1(?:\.[0-9a-f]+)?p[+-]\d+'


def values(text):
    return [float.fromhex(x) for x in re.findall(HEX, text)]


def computed(root):
    """[c1 ... c5] of float32 and [c1 ... c11] of float64, fresh from the tool."""
    out = subprocess.run([sys.executable, root / 'tools' / 'exp2_coefficients.py'], check=True,
                         stdout=subprocess.PIPE, universal_newlines=True).stdout
    single, double = out.split('float64')
    return values(single), values(double)


def documented(text):
    """The same two lists from the table of docs/numerics.md."""
    rows = re.findall(r'^\| c(\d+) \| *(\S*) *\| *(\S+) *\|$', text, re.M)
    rows.sort(key=lambda x: int(x[0]))
    return [float.fromhex(x[1]) for x in rows if x[1]], [float.fromhex(x[2]) for x in rows]


def faults(root):
    root = pathlib.Path(root)
    single, double = computed(root)
    doc = documented((root / 'docs' / 'numerics.md').read_text(encoding='utf-8'))
    code = values((root / 'src' / 'base' / 'contract.h').read_text(encoding='utf-8'))
    bad = []
    if (len(single), len(double)) != (5, 11):
        bad.append(f'the tool prints {len(single)} and {len(double)} coefficients, not 5 and 11')
    if doc != (single, double):
        bad.append('docs/numerics.md lists other coefficients than tools/exp2_coefficients.py')
    for name, want in (('float32', single[::-1]), ('float64', double[::-1])):
        if not any(code[i:i + len(want)] == want for i in range(len(code))):
            bad.append(f'src/base/contract.h holds other {name} coefficients')
    return bad


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    bad = faults(root)
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
