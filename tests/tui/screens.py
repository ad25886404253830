# SPDX-License-Identifier: MIT
"""screens.py QKV - what the lesson shows, in every size, locale and terminal that it promises.

A small terminal draws the output; the numbers that are read off it are compared with
`qkv explain --format json` of the same state, the sentences with `qkv lesson --plain`.
"""
import os
import random
import re
import sys

import checks_tui as t
from terminal import Program

QKV = os.path.abspath(sys.argv[1])
FACES = [
    ('80x24', 24, 80, {}),
    ('40x24', 24, 40, {}),
    ('200x50', 50, 200, {}),
    ('LC_ALL=C', 24, 80, {'LC_ALL': 'C'}),
    ('TERM=vt100', 24, 80, {'TERM': 'vt100'}),
    ('NO_COLOR=1', 24, 80, {'NO_COLOR': '1'}),
]


def start(*words, rows=24, columns=80, env=None):
    p = Program([QKV, 'lesson', *words], rows=rows, columns=columns, env=env)
    p.see('section ')
    p.settle()
    return p


def whole_section(p, number):
    """Everything a section shows, scrolled from top to end: lines in reading order."""
    if number > 1:
        p.keys('n')
    p.see(f'section {number} of 8', 5)
    seen = []
    for _ in range(40):
        body = p.screen.lines()[1:-1]
        seen.append(body)
        before = p.screen.text()
        p.keys('pagedown')
        if p.screen.text() == before:
            break
    return seen


def words_of(text):
    """Letters and digits only, so that wrapping and signs of either face do not matter."""
    return ' '.join(re.findall(r"[A-Za-z0-9.,']+", text))


def faces():
    for name, rows, columns, env in FACES:
        p = start(rows=rows, columns=columns, env=env)
        wide, unknown = [], []
        for section in range(1, 9):
            for body in whole_section(p, section):
                wide += [line for line in body if len(line) > columns]
        text = p.raw.decode('utf-8', 'replace')
        t.ok(not wide and not p.screen.unknown, f'{name}: eight sections, none too wide',
             (wide[:3], p.screen.unknown[:5]))
        if name in ('LC_ALL=C', 'TERM=vt100'):
            odd = sorted({c for c in text if ord(c) > 126})
            t.ok(not odd, f'{name}: nothing but ASCII', odd)
        colored = bool(p.screen.colors)
        t.ok(colored == (name not in ('NO_COLOR=1', 'TERM=vt100')),
             f'{name}: {"colour" if colored else "no colour"}', p.screen.colors)
        p.close()


def table_of(p):
    """The calculator's rows on the screen: name -> numbers right of the vectors."""
    rows = {}
    for line in p.screen.lines():
        found = re.match(r'\s*(the|cat|sat|mat|sum)\s+(.*)', line)
        if found and ('[' in found.group(2) or found.group(1) == 'sum'):
            rest = re.sub(r'\[[^]]*\]', ' ', found.group(2))
            numbers = re.findall(r'(?<![\w.])[-−]?\d+(?:\.\d+)?(?![\w.])', rest)
            rows[found.group(1)] = [float(x.replace('−', '-')) for x in numbers]
    return rows


def numbers():
    for token in ('the', 'cat', 'sat', 'mat'):
        for stage in range(5):
            state = f'sec=calculator&t={token}&st={stage}'
            want = t.explain(QKV, state)
            p = start('--state', state)
            p.keys('tab')
            got = table_of(p)
            good = check_table(got, want, token, stage)
            t.ok(good is True, f'{token}, stage {stage}: the screen shows the numbers of the JSON',
                 f'{good}\n{p.screen.text()}')
            p.close()


def check_table(got, want, token, stage):
    names = want['tokens']
    i = names.index(token)
    kinds = ['score', 'scaled', 'weight'][:min(stage, 3)]
    for j, name in enumerate(names):
        shown = got.get(name)
        expect = [round(want[k][i][j], 2) for k in kinds]
        if shown is None or len(shown) != len(expect) or \
                any(abs(a - b) > 0.0051 for a, b in zip(shown, expect)):
            return name, shown, expect
    return True


def shares():
    """At the last stage w·V stands in the table where there is room, and its number has a line."""
    for env, rows, columns, room in (({}, 24, 80, True), ({'LC_ALL': 'C'}, 24, 80, True),
                                     ({}, 40, 40, True), ({}, 50, 200, True), ({}, 40, 58, False)):
        label = f'{columns} columns {env or "UTF-8"}'
        p = start('--state', 'sec=calculator&st=4&t=sat', rows=rows, columns=columns, env=env)
        p.keys('tab')
        want = t.explain(QKV, 'st=4')
        got = {}
        for line in p.screen.lines():
            found = re.search(r'^(?:.*\s)?(the|cat|sat|mat|sum)\s{2,}.*\[(-?\d\.\d\d),(-?\d\.\d\d)\]$', line.rstrip())
            if found:
                got[found[1]] = [float(x) for x in found.groups()[1:]]
        need = {name: [round(w * x, 2) for x in v] for name, w, v in
                zip(want['tokens'], want['weight'][2], want['v'])}
        need['sum'] = [round(x, 2) for x in want['out'][2]]
        good = got == need if room else got == {}
        t.ok(good, f'{label}: {"shares and their sum" if room else "no room for shares"}',
             (got, need, p.screen.text()))
        if room and columns == 80:
            seen = ''
            for _ in range(8):  # into the table, whose numbers arrows walk through
                if re.fullmatch(r'\s*\d\s*', p.screen.reversed_text()):
                    break
                p.keys('tab')
            p.keys('down', 'down')
            for _ in range(20):
                p.keys('right')
                if p.screen.reversed_text().strip() == '1.62':
                    seen = p.screen.text()
                    break
            t.ok('3 = 1.62' in seen, f'{label}: the line of a share', p.screen.text())
        p.close()


def bars():
    """A bar is as long as its weight says, to an eighth of a column, or to one in ASCII."""
    for env, unit in (({}, 0.125), ({'LC_ALL': 'C'}, 1.0)):
        p = start('--state', 'sec=calculator&st=3&t=sat', env=env)
        row = dict(zip(('the', 'cat', 'sat', 'mat'), t.explain(QKV, 'st=3')['weight'][2]))
        length = {}
        for line in p.screen.lines():
            found = re.match(r'\s*(the|cat|sat|mat)\s+\[.* ([█▏▎▍▌▋▊▉#]+)$', line)
            if found:
                length[found.group(1)] = sum(1 if c in '█#' else ('▏▎▍▌▋▊▉'.index(c) + 1) / 8
                                             for c in found.group(2))
        columns = length.get('cat', 0) / row['cat']
        good = len(length) == 4 and all(abs(length[k] - row[k] * columns) <= 1.5 * unit for k in row)
        t.ok(good and columns > 10, f'bars follow the weights ({env or "UTF-8"})',
             (length, row, p.screen.text()))
        p.close()


def random_state(r):
    """A state of the reader's own: numbers, names, scale, mask, sharpness; its JSON is the judge."""
    n = r.randint(2, 7)
    matrix = lambda: ';'.join(','.join(str(r.choice((-2, -1, 0, 1, 2, 3, 0.5))) for _ in range(2))
                              for _ in range(n))
    state = f'sec=calculator&st={r.choice((1, 2, 3, 4))}&n={n}&Q={matrix()}&K={matrix()}&V={matrix()}'
    state += f'&tok={",".join(f"w{i}" for i in range(n))}&t=@{r.randrange(n)}'
    state += r.choice(('', '&scale=none', '&scale=dk', '&scale=0.25'))
    state += r.choice(('', '&mask=causal', '&mask=padding:1'))
    return state + r.choice(('', '&T=0.5', '&T=2', '&T=5'))


def own_numbers():
    r = random.Random(20)
    for _ in range(12):
        state = random_state(r)
        want = t.explain(QKV, state)
        p = start('--state', state, rows=50)
        token, stage = want['token'], int(state.split('st=')[1][0])
        bad = []
        for j, name in enumerate(want['tokens']):
            line = next((x for x in p.screen.lines() if re.match(rf'\s*{name}\s+\[', x)), '')
            rest = re.sub(r'\[[^]]*\]', ' ', line.split(name, 1)[-1]).replace('−', '-')
            got = [float(x) for x in re.findall(r'(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])', rest)]
            need = [want[k][token][j] for k in ('score', 'scaled', 'weight')[:stage]]
            if [x for x in need if not isinstance(x, float)] and 'hidden' in line:
                continue
            if len(got) != len(need) or any(abs(a - b) > 0.00501 for a, b in zip(got, need)):
                bad.append((name, line, need))
        t.ok(not bad, f'numbers of a random state: {state[15:60]}...', (state, bad, p.screen.text()))
        p.close()


def speed():
    """The first picture costs 20 ms of this CPU at most; judged at five times that."""
    least = 1e9
    for _ in range(3):
        p = start()
        with open(f'/proc/{p.pid}/schedstat', encoding='ascii') as f:
            least = min(least, int(f.read().split()[0]) / 1e6)
        p.close()
    print(f'# first picture after {least:.1f} ms of CPU time')
    t.ok(least < 100, 'the first picture is there at once', least)


for part in (faces, numbers, shares, bars, own_numbers, speed):
    part()
sys.exit(t.done())
