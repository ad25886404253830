#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cases.py - tests/cases.table says where each numbered case is held: the file is there and speaks of
it by its number, and every number that a test of the library speaks of stands in the table."""
import re

from tap import ROOT, done, ok

rows = [[x.strip() for x in line.split('|')] for line in
        (ROOT / 'tests' / 'cases.table').read_text(encoding='utf-8').splitlines()
        if line.strip() and not line.startswith('#')]
broken = [' | '.join(x) for x in rows if len(x) != 3 or not re.fullmatch(r'C\d\d', x[0])]
ok(not broken, f'{len(rows)} rows of number, file, what', broken)


def text(name):
    path = ROOT / 'tests' / name
    return path.read_text(encoding='utf-8') if path.is_file() else ''


def spoken_of(source):
    """C24, c24(), c29_c30_...: the numbers in a test's names and comments."""
    return {'C' + x for x in re.findall(r'(?<![0-9A-Za-z])[cC](\d\d)(?![0-9A-Za-z])', source)}


numbers = {x: spoken_of(text(x).replace('_', ' ')) for x in {r[1] for r in rows}}
missing = [f'{r[0]} in {r[1]}' for r in rows if r[0] not in numbers[r[1]]]
ok(not missing, 'each case is in the file that holds it', missing)

known = {r[0] for r in rows}
apart = {'C17'}  # the language is called so, too
stray = sorted(f'{n} in {name}' for name, found in numbers.items() for n in found - known - apart)
ok(not stray, 'no file speaks of a case that the table does not know', stray)
ok(len(known) >= 70, f'{len(known)} cases')
done()
