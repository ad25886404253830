# SPDX-License-Identifier: MIT
"""The planted faults still fit the tree (tools/mutants runs them, nightly): each names a line that
is there exactly once and a test that exists. Argument: the build folder."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile

import tap

loader = importlib.machinery.SourceFileLoader('mutants', str(tap.ROOT / 'tools' / 'mutants'))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader('mutants', loader))
loader.exec_module(mutants)
out = tap.run(['meson', 'introspect', '--tests', sys.argv[1]]).stdout
tests = {x['name'] for x in json.loads(out)}

for path in sorted((tap.ROOT / 'tests' / 'mutants').glob('*.mut')):
    bad = []
    for fault in mutants.parse(path):
        source = tap.ROOT / fault['file']
        text = source.read_text() if source.is_file() else ''
        if mutants.mutated(text, fault) in (None, text):
            bad.append(f'{fault["name"]}: {fault["before"]!r} not exactly once in {fault["file"]}')
        bad += [f'{fault["name"]}: no test {x}' for x in fault['killed-by'].split() if x not in tests]
    tap.ok(not bad, f'{path.name} fits the tree', bad)

FAULT = {'before': 'a > 0', 'after': 'a >= 0'}
tap.ok(mutants.mutated('if (a > 0)\n', FAULT) == 'if (a >= 0)\n', 'a fault is planted')
tap.ok(mutants.mutated('a > 0\na > 0\n', FAULT) is None, 'a line that stands twice is refused')
tap.ok(mutants.mutated('a > 1\n', FAULT) is None, 'a line that is gone is refused')
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'x.mut'
    good = 'file: a.c\nbefore: x: 1\nafter: y\nkilled-by: t u\n'
    path.write_text('# why\n' + good + '\n\n' + good)
    tap.ok([x['name'] for x in mutants.parse(path)] == ['x#1', 'x#2'], 'two faults in one file')
    for text in ('file: a.c\n', good + 'file: b.c\n', 'nonsense\n'):
        path.write_text(text)
        try:
            mutants.parse(path)
            tap.ok(False, f'refused: {text.strip()[-20:]!r}')
        except ValueError as error:
            tap.ok('x.mut:' in str(error), f'refused with its place: {text.strip()[-20:]!r}', str(error))
tap.done()
