#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py TOOL BUILD - the article's figures: lookup, blend, square root, maximum, listings, and the
programs to copy, which are run and must print what is shown. Prints TAP.
"""
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import state_kit
import worked
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
BUILD = pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
SEED = int(os.environ.get('SEED', '20260501'))


def lookup():
    got = TOOL.lines('lookup', '')
    ok(got == ['Exact lookup of [1,2]: no such key, no answer.',
               'Soft lookup: most from cat, 0.54 of all.', 'answer [1.68,0.53]'], 'sat asks', got)
    got = TOOL.lines('lookup', 'q=2,0')
    ok(got[0] == 'Exact lookup of [2,0]: the key of sat, answer [0,2].', 'a key that is there', got)
    got = TOOL.lines('lookup', 'T=0.01')
    ok('cat takes 1.00' in got[1] and got[2] == 'answer [3.00,0.00]', 'sharp: a pick', got)
    rows = [r[5] for r in TOOL.table('focus', 'st=4&T=10&dig=3') if r[0] == '6']
    ok([r.rpartition(' = ')[2] for r in rows] == ['0.224', '0.277', '0.241', '0.258'],
       'T = 10: nearly even', rows)
    ok('average' in TOOL.lines('lookup', 'T=10')[1], 'and it is called an average')


def blend():
    got = TOOL.lines('blend', '1.3')
    work, got = got[3:], got[:3]
    ok(work == ['3.00 − 3.00 = 0.00', '0.00 − 0.00 = 0.00', '1.26 − 1.19 = 0.07',
                '0.73 − 0.76 = −0.03'], 'and how the changes come about', work)
    bad = []
    for i in range(0, 200, 7):
        for line in TOOL.lines('blend', i / 100)[3:]:
            a, b, x = (worked.value(part) for part in re.split(' − | = ', line))
            if not worked.close(a - b, re.split(' = ', line)[1], 2):
                bad.append(line)
    ok(not bad, 'every change is the difference of what is printed', bad[:2])
    ok(got == ['[1,1.3][3.00,0.00][1.19,0.76]', '[1,1.4][3.00,0.00][1.26,0.73]',
               'Moved by 0.1, the query changes the pick by [0.00,0.00] and the blend by '
               '[+0.07,−0.03].'], 'a nudge at [1,1.3]', got)
    got = TOOL.lines('blend', '0.95')
    ok('pick by [+3.00,−2.00]' in got[2], 'across [1,1] the pick jumps', got)
    for x, who in ((0, '[0.00,2.00]'), (0.9, '[0.00,2.00]'), (1.1, '[3.00,0.00]')):
        ok(who in TOOL.lines('blend', x)[0], f'at {x} the pick is {who}')
    at_end = TOOL.lines('blend', '2')[0]
    ok('[1.68,0.53]' in at_end, 'at [1,2] the blend is the output of sat', at_end)
    outs = [float(re.findall(r'\[([\d.]+),', TOOL.lines('blend', i / 20)[0])[2])
            for i in range(0, 41, 4)]
    ok(all(0 <= b - a < 0.3 for a, b in zip(outs, outs[1:])), 'the blend never jumps', outs)


def root_figure(channels, seed=1, times=0):
    lines = TOOL.lines('root', channels, seed, times)
    values = {line.split()[0]: line.split()[1:] for line in lines[:5]}
    rows = [line.split()[1:] for line in lines if line.startswith('row ')]
    moved = [float(line.split()[1]) for line in lines if line.startswith('moved ')]
    return values, [[tuple(map(float, x.split(':'))) for x in row] for row in rows], moved, lines


def root():
    bad = []
    for d in (1, 2, 3, 4, 8, 16, 32, 64, 100, 128, 256):
        for seed in (1, 2, 3):
            values, rows, moved, lines = root_figure(d, seed)
            deviation = float(values['deviation'][0])
            if abs(deviation / math.sqrt(d) - 1) > 0.05 or abs(float(values['mean'][0])) > 1e-9 * d:
                bad.append((d, seed, deviation))
            if sum(map(int, values['bins'])) != 4096:
                bad.append((d, seed, 'bins'))
    ok(not bad, 'scores have mean 0 and standard deviation √d, within 5 of 100', bad[:3])
    stuck = [root_figure(64, seed)[0] for seed in range(1, 21)]
    outside = sum(int(v['outside'][0]) for v in stuck) / 20 / 4096
    ok(abs(outside - 0.3136) < 0.02, f'64 channels: {outside:.3f} lie beyond ±8 (exact: 0.314)')
    share = sum(int(v['stuck'][0]) for v in stuck) / 20 / 64
    ok(abs(share - 0.292) < 0.06 and sum(int(v['stuck'][1]) for v in stuck) == 0,
       f'one weight above 0.99 in {share:.2f} of the rows (0.29), in none when divided')
    _, rows, moved, _ = root_figure(64, 3)
    for row, scale in zip(rows, (1, 1)):
        top = max(s for s, _ in row)
        power = [math.exp(s - top) for s, _ in row]
        ok(all(abs(w - p / sum(power)) < 1e-12 for (_, w), p in zip(row, power)),
           'the weights are the softmax of the row')
    ok(all(abs(a[0] / 8 - b[0]) < 1e-12 for a, b in zip(*rows)), 'the second row is the first ÷ 8')
    _, now, _, _ = root_figure(64, 3, 0)
    _, then, _, _ = root_figure(64, 3, 1)
    gone = [sum(abs(a[1] - b[1]) for a, b in zip(*pair)) / 2 for pair in zip(now, then)]
    ok(all(abs(a - b) < 1e-12 for a, b in zip(gone, moved)), 'what a nudge moves is what it says')
    ok(root_figure(64, 1)[3] == root_figure(64, 1)[3] and root_figure(64, 1)[3] != root_figure(64, 2)[3],
       'the same seed, the same numbers')
    ok(root_figure(64)[2][0] < root_figure(64)[2][1], 'the first row that is shown is stuck',
       root_figure(64)[2])


def maximum():
    got = TOOL.table('maximum', 'st=4', 0)
    ok(got[4] == ['survives', 'Both forms give the same weights.'] and
       [r[2] for r in got[:4]] == [r[2] for r in got[5:9]] == ['0.06', '0.54', '0.13', '0.27'],
       'with and without the maximum', got)
    got = TOOL.table('maximum', 'st=4', 1)
    ok(got[4][0] == 'fails' and '2828.43' in got[4][1] and got[1][1:3] == ['too large', 'no number'],
       'scores times 1,000: the naive form fails', got[:5])
    for line in [r[3] for r in TOOL.table('maximum', 'st=4', 0)[:4]]:
        power, e, total, w = re.fullmatch(r'e\^(\S+) = (\S+); \2 ÷ (\S+) = (\S+)', line).groups()
        ok(worked.close(math.exp(float(power)), e, len(e.partition('.')[2])) and
           worked.close(worked.value(e) / worked.value(total), w, 2), line)
    ok(got[6][3] == 'e^(2828.43 − 2828.43) = 1.00; 1.00 ÷ 1.00 = 1.00', 'the line of the largest', got[6])
    ok(got[9][0] == 'survives' and [r[2] for r in got[5:9]] == ['0.00', '1.00', '0.00', '0.00'],
       'the other survives', got[5:])
    got = TOOL.table('maximum', 'st=4&q=-2,-2', 1)
    ok(got[4][0] == 'fails' and 'too small' in got[4][1], 'and from below', got[:5])


def listings():
    for language, name in ((0, 'NumPy'), (1, 'C')):
        rows = TOOL.table('listing', '', language)
        stages = [int(r[0]) for r in rows if int(r[0]) >= 0]
        ok(sorted(set(stages)) == [0, 1, 2, 3, 4] and stages == sorted(stages) or
           sorted(set(stages)) == [0, 1, 2, 3, 4], f'{name}: every stage has a line', stages)
        ok(all(r[1].isascii() and len(r[1]) <= 100 for r in rows), f'{name}: ASCII, not too wide')
    rows = TOOL.table('listing', 'n=5&dk=3', 0)
    ok(rows[2][2] == '(5, 3) · (3, 5) → (5, 5)', 'shapes are the present ones', rows[2])


def proofs():
    got = TOOL.lines('proof', 'st=4')
    ok(got[:2] == ['Embeddings alone: sat and cat score 0, whoever asks.',
                   'With W^Q and W^K: sat scores 4 with cat, and cat scores 2 with sat.'],
       'scores without projections are symmetric, with them they are not', got[:2])
    ok(got[7] == '1110 1' and got[3] == 'Without it, 3 of these three outputs change.',
       'a later token changes no bit under the mask, and changes all without', got[2:8])
    ok(got[4:6] == ['Head 1: sat looks most at cat, 0.54.', 'Head 2: sat looks most at mat, 0.85.']
       and '[1.68,0.53,0.20,0.95]' in got[6], 'two heads look at two tokens', got[4:7])
    random_x = [s.text for s in state_kit.states(SEED, 20, 8)]
    ok(all(TOOL.lines('proof', t)[7].endswith(' 1') for t in random_x), 'X Xᵀ is symmetric always')
    ok(got[8] == 'My question is about this state of the lesson “Self-attention, worked by hand”:' and
       got[-1] == 'v=1&st=4&z' and sum(line.startswith('Stage ') for line in got) == 5,
       'a question for a person holds the sentences and the state', got[8:])


def run_program(source, language, folder):
    if language == 'numpy':
        env = {'PYTHONPATH': str(HERE / 'stand_in'), 'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'}
        got = subprocess.run([sys.executable, '-'], input=source, capture_output=True, env=env,
                             timeout=60)
        return got.stdout.decode(errors='replace') if not got.returncode else got.stderr.decode()
    path = folder / 'program.c'
    path.write_bytes(source)
    made = subprocess.run([shutil.which('cc') or 'gcc', '-std=c17', '-Wall', '-Wextra', '-Werror',
                           '-O0', str(path), '-lm', '-o', str(folder / 'program')],
                          capture_output=True, timeout=60)
    if made.returncode:
        return made.stderr.decode()
    return subprocess.run([str(folder / 'program')], capture_output=True,
                          timeout=60).stdout.decode(errors='replace')


def shown(state):
    """What the program has to print: numbers only, as the lesson shows them."""
    want = state.expected()
    numbers = [worked.shown(w, state.digits) for w in want['weight'][state.token]]
    return [n.replace('−', '-') for n in
            numbers + [worked.shown(x, state.digits) for x in want['out'][state.token]]]


def numbers_of(text):
    lines = text.rstrip('\n').split('\n')
    return [line.rpartition(' ')[2] for line in lines[:-1]] + lines[-1].split(' ')[1:]


def close(a, b, digits):
    try:
        return len(a) == len(b) and all(abs(float(x) - float(y)) < 1.01 * 10.0 ** -digits
                                        for x, y in zip(a, b))
    except ValueError:
        return False


def programs(folder):
    bad = []
    some = [s for s in state_kit.states(SEED, 60, 6) if all(s.names)][:14]
    for s in some:
        for language in ('numpy', 'c'):
            source = TOOL.run('program', s.text, int(language == 'c')).stdout
            if not source.isascii():
                bad.append((s.text, 'not ASCII'))
            text = run_program(source, language, folder)
            if not close(numbers_of(text), shown(s), s.digits):
                bad.append((language, s.text, text[-300:], shown(s)))
    ok(len(some) > 9 and not bad, f'{len(some)} states as programs print what is shown', bad[:1])
    for language in ('numpy', 'c'):
        source = TOOL.run('program', 'st=4', int(language == 'c')).stdout
        text = run_program(source, language, folder)
        ok(text == 'the 0.06\ncat 0.54\nsat 0.13\nmat 0.27\noutput 1.68 0.53\n',
           f'the lesson\'s own in {language}', text)


HOSTILE = ['</script>', '"); system("', '*/', "'''", '\n', ']]>', '‮', '\x1b[31m', 'x' * 200, '??/',
           '\\', '%d%n', '=1+1', '\\u0041', '{0}']


def hostile(folder):
    for at in range(0, len(HOSTILE), 4):
        names = (HOSTILE[at:at + 4] + ['a', 'b', 'c', 'd'])[:4]
        state = 'st=4&tok=' + ','.join(map(state_kit.escaped, names))
        for language in ('numpy', 'c'):
            source = TOOL.run('program', state, int(language == 'c')).stdout
            text = run_program(source, language, folder)
            ok(source.isascii() and b'system("' not in source and b'*/ ' not in
               source.replace(b'-lm */', b'').replace(b'softmax */', b'').replace(b'-0.00 */', b'')
               and numbers_of(text) == ['0.06', '0.54', '0.13', '0.27', '1.68', '0.53'],
               f'names from outside in {language}: {names!r:.60}', text[-300:])


lookup()
blend()
root()
maximum()
listings()
proofs()
with tempfile.TemporaryDirectory(dir=BUILD) as name:
    programs(pathlib.Path(name))
    hostile(pathlib.Path(name))
sys.exit(state_kit.done())
