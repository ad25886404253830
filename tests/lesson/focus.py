#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""focus.py TOOL - the worked line of every shown number, for the lesson's tokens at each stage and for
200 random states, evaluated from its printed operands: within one unit of the last digit. Prints TAP.
"""
import math
import os
import re
import sys
from fractions import Fraction

import state_kit
import worked
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
SEED = int(os.environ.get('SEED', '20260401'))
QUERY, KEY, VALUE, SCORE, SCALED, WEIGHT, SHARE, SUM, OUTPUT = range(1, 10)
ODD = 'This row holds a number that is not finite'
RESULT = re.compile(r'(−?[\d.]+(?:e−?\d+)?)$')


def term(text):
    rest = re.fullmatch(r'\(the other \d+: (.*)\)', text)
    factors = [rest[1]] if rest else text.split('·')
    return math.prod(worked.value(f) for f in factors)


def check(kind, line, x, digits, names):
    """Empty, or what is wrong."""
    if kind in (SCORE, SCALED, WEIGHT, SHARE):
        line = line.partition(': ')[2] if not line.startswith('subtract') else line
    if kind == QUERY:
        return '' if worked.is_shown(line.rpartition(': ')[2], x, digits) else 'number'
    if kind == WEIGHT and ('mask hides this key' in line or 'set to 0 after' in line):
        return '' if x == 0 else 'not hidden'
    result = RESULT.search(line)
    if not result or not worked.is_shown(result[1], x, digits):
        return f'result is not {x}'
    if kind == SCALED:
        return '' if worked.check_scaled(line, digits) else 'scaled'
    if kind == WEIGHT:
        return '' if worked.check_weight(line, digits) else 'weight'
    left = line.rpartition(' = ')[0]
    total = sum((term(t) for t in worked.split_sum(left)), Fraction(0))
    return '' if worked.close(total, result[1], digits) else 'sum'


def visit(text, digits, names):
    bad, count = [], 0
    for kind, key, channel, row, exact, line in TOOL.table('focus', text):
        count += 1
        if exact in ('NaN', 'Infinity', '-Infinity') or line.startswith(ODD):
            continue
        if 'may look at no key' in line:
            continue
        name = names[int(key)] if int(kind) in (SCORE, SCALED, WEIGHT, SHARE) else ''
        body = line
        if name and ': ' in line and ': ' in name:
            continue
        why = check(int(kind), body, float(exact), digits, names)
        if why:
            bad.append(f'{text[:120]}: {kind} {key}.{channel} = {exact}: {line[:200]}: {why}')
    return bad, count


def lesson():
    names = state_kit.PRESET['tok']
    for token in names:
        bad, count = visit(f'st=4&t={token}', 2, names)
        ok(not bad and count == 2 + 4 * 5 + 3, f'{token}: {count} numbers', '\n'.join(bad[:3]))
    want = {(SCORE, 1): 'cat: 1·0 + 2·2 = 4', (SCALED, 1): 'cat: 4 ÷ √2 = 2.83',
            (WEIGHT, 1): 'cat: e^2.8284 = 16.92; all four e\'s sum to 31.40; 16.92 ÷ 31.40 = 0.54',
            (SHARE, 1): 'cat: 0.54·3 = 1.62', (SUM, 0): '0.06 + 0.54 + 0.13 + 0.27 = 1.00',
            (OUTPUT, 0): '0.06·1 + 0.54·3 + 0.13·0 + 0.27·0 = 1.68'}
    got = {(int(r[0]), int(r[1])): r[5] for r in TOOL.table('focus', 'st=4')
           if r[2] == '0'}
    for key, line in want.items():
        ok(got.get(key) == line, f'{line}', got.get(key))
    rows = [int(r[3]) for r in TOOL.table('focus', 'st=4')]
    ok(set(rows) == {-2, -1, 0, 1, 2, 3}, 'each line names the row that it speaks of')
    early = [r[5] for r in TOOL.table('focus', 'st=1') if r[0] in ('6', '7', '9')]
    ok(all(' = 4' in line for line in early), 'no line of a later stage is shown early', early[:2])


def large_scores():
    rows = [r for r in TOOL.table('focus', 'st=3&scale=10') if r[0] == str(WEIGHT)]
    ok(all('subtract the largest, 40, first' in r[5] for r in rows),
       'above 20 the line subtracts the maximum and says so', rows[0])
    rows = [r for r in TOOL.table('focus', 'st=3') if r[0] == str(WEIGHT)]
    ok(not any('subtract' in r[5] for r in rows), 'below it does not')


def random_states():
    bad, count = [], 0
    for s in state_kit.states(SEED, 200, 16):
        text = '&'.join(i for i in s.items if not i.startswith(('st=', 'tok=', 'f='))) + '&st=4'
        more, n = visit(text, s.digits, [f't{j}' for j in range(s.n)])
        bad += more
        count += n
    ok(not bad, f'200 random states: {count} numbers, each line within one unit of its last digit',
       '\n'.join(bad[:5]))


def projections():
    rows = TOOL.table('project', '')
    bad = []
    for which, row, channel, exact, line in rows:
        left, _, result = line.partition(': ')[2].rpartition(' = ')
        if sum(term(t) for t in worked.split_sum(left)) != worked.value(result):
            bad.append(line)
        if float(result.replace('−', '-')) != float(exact):
            bad.append(line)
    ok(len(rows) == 24 and not bad, 'all 24 cells of Q, K and V are a row times a column', bad[:2])
    want = {'0': state_kit.PRESET['Q'], '1': state_kit.PRESET['K'], '2': state_kit.PRESET['V']}
    ok(all(float(r[3]) == want[r[0]][int(r[1])][int(r[2])] for r in rows), 'they are the golden ones')
    own = TOOL.table('project', 'q=5,5')
    ok(own[4][4].endswith('typed by you, no longer a row of X times a column of W'),
       'a number typed in says so', own[4])
    random_x = TOOL.table('project', 'X=0.5,1,0,2;1,0.25,3,1;0,0,1,0;2,2,2,-1.125&WQ=1,2;0.3,1;'
                                     '-1,0;1,1')
    bad = []
    for _, _, _, exact, line in random_x:
        left, _, result = line.partition(': ')[2].rpartition(' = ')
        total = sum(term(t) for t in worked.split_sum(left))
        if not worked.close(total, result, 2) or not worked.is_shown(result, float(exact), 2):
            bad.append(line)
    ok(not bad, 'and with numbers of the reader\'s own', bad[:2])


lesson()
large_scores()
random_states()
projections()
sys.exit(state_kit.done())
