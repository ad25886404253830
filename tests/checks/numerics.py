#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""numerics.py - docs/numerics.md names, for each line of the contract, the tests that hold it: each of
those tests is registered and is the only one asked of some planted fault, so that it is known to fail;
each golden case whose name it quotes exists, and no rule is without a line."""
import re

from tap import ROOT, done, ok

text = (ROOT / 'docs' / 'numerics.md').read_text(encoding='utf-8')
table = text.split('\n## What holds each line\n')[1].split('\n## ')[0]
rows = [x.strip('|').split('|') for x in table.splitlines() if x.startswith('| ')]
rows = [(left.strip(), right) for left, right in rows if left.strip() != 'line']

builds = '\n'.join(x.read_text(encoding='utf-8') for x in ROOT.glob('tests/**/meson.build'))
suites = '|'.join(re.findall(r"'(\w+)'", re.search(r"foreach folder : \[(.*?)\]\n", builds).group(1))
                  + ['unit', 'api', 'prop', 'cli', 'oom'])


def registered(name):
    """Its own name in a meson.build, or, as most are, the folder's name before one of a list."""
    folder, _, rest = name.partition('_')
    path = ROOT / 'tests' / folder / 'meson.build'
    own = path.read_text(encoding='utf-8') if path.is_file() else ''
    return f"'{name}'" in builds or bool(rest) and f"'{rest}'" in own


named = {x for _, right in rows for x in re.findall(rf'\b(?:{suites})_\w+', right)}
named |= {x for x in ('checkkernel', 'golden', 'golden_features') if x in table}
lost = sorted(x for x in named if not registered(x))
ok(len(named) >= 20 and not lost, f'{len(named)} tests that hold a line are there', lost)

faults = '\n'.join(x.read_text(encoding='utf-8') for x in ROOT.glob('tests/mutants/*.mut'))
alone = set(re.findall(r'^killed-by: (\w+)$', faults, re.M))
lost = sorted(named - alone)
ok(not lost, 'each has a planted fault of its own', lost)

cases = ' '.join(re.findall(r'^(?:\w+)\((\w+)', '\n'.join(
    (ROOT / 'tests' / 'golden' / x).read_text(encoding='utf-8')
    for x in ('cases.inc', 'features.inc')), re.M))
quoted = [x for _, right in rows for x in re.findall(r'(\w*)…', right) + re.findall(r'…(\w+)…', right)]
lost = sorted({x for x in quoted if x and x not in cases})
ok(len(quoted) >= 20 and not lost, 'golden cases that are quoted are there', lost)

rules = re.findall(r'^## (\d+)\. ', text, re.M)
held = {int(n) for left, _ in rows for n in re.findall(r'\d+', re.match(r'[\d, ]*', left).group())}
lost = [f'rule {n}' for n in rules if int(n) not in held]
ok(len(rules) == 15 and not lost, f'{len(rules)} rules, each with a line', lost)
programs = re.findall(r'`((?:tests|tools|src)/[\w/.]+)`', text)
lost = [x for x in programs if not list(ROOT.glob(x.rstrip('/')))]
ok(programs and not lost, 'files and folders that it names are there', lost)
done()
