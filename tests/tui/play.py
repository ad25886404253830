# SPDX-License-Identifier: MIT
"""play.py QKV - every figure of the lesson by keyboard: what a reader does, and what then stands there.

Numbers are compared with `qkv explain` of the same state, never with this command's own.
"""
import os
import re
import sys

import checks_tui as t
from terminal import Program

QKV = os.path.abspath(sys.argv[1])


def start(section, state='', rows=60, columns=80, env=None):
    words = [QKV, 'lesson', '--section', str(section)]
    p = Program(words + (['--state', state] if state else []), rows=rows, columns=columns, env=env)
    p.see(f'section {section} of 8')
    p.settle()
    return p


def has(p, *texts):
    return all(p.screen.find(x) for x in texts)


def go_to(p, text, most=40, key='tab'):
    """Tab until the focus is on something that holds the text."""
    for _ in range(most):
        if text in p.screen.reversed_text():
            return True
        p.keys(key)
    return False


def tab_to_row(p, y, most=40):
    """Tab until the cursor is in that row of the screen."""
    for _ in range(most):
        if p.screen.y == y:
            return True
        p.keys('tab')
    return False


def move_to(p, y, x, most=60):
    """Arrows until the cursor is there, inside one control."""
    for _ in range(most):
        if (p.screen.y, p.screen.x) == (y, x):
            return True
        if p.screen.y != y:
            p.keys('down' if p.screen.y < y else 'up')
        else:
            p.keys('right' if p.screen.x < x else 'left')
    return False


def weights(p):
    """name -> weight of the lookup's rows or the calculator's table: the number before the bar."""
    found = {}
    for line in p.screen.lines():
        m = re.search(r'\b(the|cat|sat|mat)\s+\[.*?(\d\.\d\d)(?: [█▏▎▍▌▋▊▉#]*)?(?:\s*\[[^]]*\])?$', line)
        if m:
            found[m.group(1)] = float(m.group(2))
    return found


def expected(state):
    j = t.explain(QKV, state if 'st=' in state else f'{state}&st=4'.lstrip('&'))
    row = j['weight'][j['token']]
    return {name: float(f'{w:.2f}') for name, w in zip(j['tokens'], row)}, j


def cursor():
    p = start(4, 'st=4')
    bad = []
    for _ in range(30):
        p.keys('tab' if _ % 3 else 'right')
        line = p.screen.cells[p.screen.y]
        cell = line[p.screen.x]
        before = p.screen.x > 0 and line[p.screen.x - 1].reverse
        if not cell.reverse or before:
            bad.append((_, p.screen.y, p.screen.x, p.screen.reversed_text()))
    t.ok(not bad, 'the real cursor stands where the focus is', bad)
    p.close()


def walk():
    """From the start to stage 4 of the calculator in at most 12 keys; then mat lands on sat."""
    p = start(1)
    keys = ['4', 'tab', 'tab', 'right', 'right', 'right', 'right']
    p.keys(*keys)
    t.ok(len(keys) <= 12 and has(p, '[4 output]', 'output = [1.68,0.53]'), 'stage 4 in 7 keys',
         p.screen.text())
    p.keys('backtab', 'right')
    got, want = weights(p), expected('t=mat')[0]
    t.ok(got == want and want['sat'] == 0.51, 'mat lands on sat, 0.51', (got, want))
    p.close()


def narrow():
    p = start(4, rows=40, columns=40)
    p.keys('tab', 'tab', 'right', 'right', 'right', 'right')
    t.ok(has(p, '[4 output]', 'output = [1.68,0.53]'), '40 columns: right goes on in the next line',
         p.screen.text())
    p.keys('left', 'left', 'left', 'left')
    t.ok(has(p, '[0 vectors]'), 'and left back', p.screen.text())
    p.close()


def wide():
    p = start(4, rows=50, columns=200)
    p.keys('tab', 'right')
    y, x = p.screen.find('[mat]')
    t.ok((p.screen.y, p.screen.x) == (y, x) and x > 90 and weights(p) == {},
         'side by side: Tab goes from the title to the figure', p.screen.text())
    p.keys('tab', 'end')
    t.ok(weights(p) == expected('t=mat')[0], 'which works there', p.screen.text())
    p.keys('tab', 'tab', 'tab', 'enter')
    t.ok(p.see('section 5 of 8', 5), 'then on to the way out', p.screen.text())
    p.close()


def lookup():
    p = start(1)
    t.ok(weights(p) == expected('')[0], 'lookup: the lesson\'s weights', p.screen.text())
    go_to(p, 'the', key='tab')
    go_to(p, 'sat')
    p.keys('left')
    t.ok(weights(p) == expected('t=cat')[0], 'another token asks', p.screen.text())
    p.keys('right', 'tab', '3', 'enter')
    want, _ = expected('Q=0,1;1,0;3,2;2,1')
    t.ok(weights(p) == want, 'a number of the query is typed', (weights(p), want, p.screen.text()))
    p.keys('+')
    want, _ = expected('Q=0,1;1,0;4,2;2,1')
    t.ok(weights(p) == want, '+ makes it one more', (weights(p), want))
    t.ok(has(p, 'You changed the numbers'), 'and a line says that the numbers were changed')
    p.keys('u', 'u')
    t.ok(weights(p) == expected('')[0] and not has(p, 'You changed'), 'undo, undo: as before')
    p.keys('r')
    t.ok(weights(p) == expected('Q=0,1;1,0;3,2;2,1')[0], 'redo')
    p.keys('u')
    go_to(p, '●')
    for _ in range(12):
        p.keys('left')
    t.ok(weights(p)['cat'] == 1.0, 'sharpness to the end: a pick', weights(p))
    for _ in range(12):
        p.keys('right')
    t.ok(set(weights(p).values()) <= {0.22, 0.24, 0.26, 0.28}, 'and the other: nearly alike',
         weights(p))
    p.close()


def projections():
    p = start(2)
    p.keys('tab')
    t.ok(has(p, 'query of sat, number 0 (from 0): 0·0 + 0·2 + 1·1 + 0·(−1) = 1'),
         'projections: a cell is spelled out', p.screen.text())
    p.keys('right', 'up')
    t.ok(has(p, 'query of cat, number 1 (from 0): 0·1 + 1·1 + 0·2 + 1·(−1) = 0'),
         'arrows go to another cell', p.screen.text())
    p.keys('right')
    t.ok(has(p, 'key of cat, number 0 (from 0): 0·1 + 1·1 + 0·2 + 1·(−1) = 0'), 'and to the keys',
         p.screen.text())
    p.close()


def formula():
    p = start(3)
    p.keys('tab', 'right', 'right')
    lit = [(''.join(c.char for c in line if c.bold)) for line in p.screen.cells]
    t.ok(any('weight w' in x for x in lit) and has(p, 'then each row becomes shares'),
         'formula: softmax lights the weights\' column', p.screen.text())
    p.close()


def calculator():
    p = start(4, 'st=4')
    t.ok(has(p, '0.06·[1,0] + 0.54·[3,0] + 0.13·[0,2] + 0.27·[0,1] = [1.68,0.53]'),
         'calculator: the output\'s line', p.screen.text())
    y, _ = p.screen.find('cat    [0,2]')
    tab_to_row(p, p.screen.find('Query for')[0])
    for name, line in (('4', 'cat: 1·0 + 2·2 = 4'), ('2.83', 'cat: 4 ÷ √2 = 2.83'),
                       ('0.54', "cat: e^2.8284 = 16.92; all four e's sum to 31.40; 16.92 ÷ 31.40 = 0.54")):
        x = p.screen.line(y).rfind(f' {name} ') + 1
        there = move_to(p, y, x)
        t.ok(there and has(p, line), f'the number {name} of cat has its line', p.screen.text())
    y, x = p.screen.find('1.00')
    t.ok(move_to(p, y, x) and has(p, '0.06 + 0.54 + 0.13 + 0.27 = 1.00'), 'the sum, too',
         p.screen.text())
    before = p.screen.text()
    p.keys('right', 'right', 'right')
    t.ok(p.screen.text() == before, 'an arrow at the end of a row changes nothing')
    p.close()


def edits():
    p = start(4, 'st=4')
    go_to(p, '‹ Back ›')
    p.keys('tab')
    t.ok(p.screen.reversed_text() in ('1', '2'), 'the first cell is the query\'s', p.screen.text())
    y, x = p.screen.find('[1,0]')
    t.ok(move_to(p, y, x + 1), 'to the first key', p.screen.text())
    p.keys('enter', '5', 'enter')
    want, _ = expected('K=5,0;0,2;2,0;1,1&st=4')
    t.ok(weights(p) == want, 'a key is typed: the weights follow', (weights(p), want, p.screen.text()))
    t.ok(has(p, 'K no longer comes from X'), 'a line says that K is no longer X W')
    y, x = p.screen.find('[1,2]')
    move_to(p, y, x + 1)
    p.keys('enter', '-1', 'enter')
    want, _ = expected('K=5,0;0,2;2,0;1,1&Q=0,1;1,0;-1,2;2,1&st=4')
    t.ok(weights(p) == want, 'a number of the query is typed: the asking token\'s',
         (weights(p), want, p.screen.text()))
    p.keys('u')
    before = p.screen.text()
    for typed, sentence in (('2..0', 'two points'), ('1,5', 'use a point: 1.5'), ('1e400', 'too large'),
                            ('nan', 'cannot be computed with'), ('x', 'is not a number'),
                            ('', 'there is no number'), ('\u202e1', 'is not a number')):
        p.keys('enter', *(['backspace'] * 1 if not typed else [typed]), 'enter')
        t.ok(has(p, sentence), f'{typed!r} is refused beside the field: {sentence}', p.screen.text())
        p.keys('escape')
        t.ok(p.screen.text() == before, f'after {typed!r} and Esc all is as it was',
             p.screen.text() + '\n---\n' + before)
    go_to(p, "Back to the lesson's")
    p.keys('right', 'enter')
    t.ok(weights(p) == expected('st=4')[0] and not has(p, 'You changed'), 'reconnect K',
         p.screen.text())
    p.close()


def settings():
    p = start(4, 'st=4')
    for key, state in (('s', 'scale=none'), ('s', 'scale=dk'), ('s', ''), ('m', 'mask=causal')):
        p.keys(key)
        row, j = expected(f'{state}&st=4')
        if key == 'm':
            row = {k: v for k, v in row.items() if k != 'mat'}
            got = {k: v for k, v in weights(p).items() if k != 'mat'}
        else:
            got = weights(p)
        t.ok(got == row, f'{key}: {state or "back to the square root"}', (got, row, p.screen.text()))
    t.ok(has(p, 'hidden'), 'a hidden key says so', p.screen.text())
    p.keys('u')
    t.ok(weights(p) == expected('st=4')[0], 'undone')
    p.close()


def predictions():
    p = start(4)
    y, _ = p.screen.find('Which token will')
    tab_to_row(p, y + 1)
    p.keys('enter')
    t.ok(has(p, 'Not quite: cat.'), 'a wrong guess before stage 1', p.screen.text())
    p.keys('right', 'enter')
    t.ok(has(p, 'Yes: cat.'), 'the right one', p.screen.text())
    p.close()


def blend():
    p = start(5)
    p.keys('tab')
    t.ok(has(p, 'q = [1,1.3]', '[3.00,0.00]', '[1.19,0.76]'), 'blend: opens at [1, 1.3]',
         p.screen.text())
    p.keys('tab', 'enter')
    t.ok(has(p, '[+0.07,−0.03]'), 'a nudge of 0.1', p.screen.text())
    p.keys('backtab', *['left'] * 7)
    t.ok(has(p, 'q = [1,0.95]', '[0.00,2.00]'), 'left of 1 the pick has jumped', p.screen.text())
    p.close()


def root():
    p = start(6)
    p.keys('tab', *['left'] * 3)
    t.ok(has(p, '4,096 scores of 24 channels each'), 'root: fewer channels', p.screen.text())
    p.keys(*['right'] * 12)
    t.ok(has(p, '4,096 scores of 256 channels each', 'beyond ±16'), 'up to 256', p.screen.text())
    before = p.screen.text()
    go_to(p, 'Sample again')
    p.keys('enter')
    t.ok(p.screen.text() != before, 'another sample')
    before = p.screen.text()
    p.keys('left', 'enter')
    t.ok(p.screen.text() != before, 'a nudge of the query')
    p.close()


def code():
    p = start(7)
    p.keys('tab', 'tab', 'down', 'down', 'down')
    t.ok('scaled = scores' in p.screen.reversed_text() and has(p, '(4, 2) · (2, 4) → (4, 4)'),
         'code: a line has the focus, shapes stand beside', p.screen.text())
    p.keys('4')
    p.see('section 4 of 8')
    t.ok(has(p, '[2 scaled]'), 'and its stage is the calculator\'s', p.screen.text())
    p.keys('7')
    p.see('section 7 of 8')
    p.keys('tab', 'right')
    t.ok(has(p, '[C]', 'void attention('), 'the same in C', p.screen.text())
    go_to(p, 'The program')
    p.keys('enter')
    t.ok(has(p, '#include <math.h>'), 'the program to copy', p.screen.text())
    p.keys('enter')
    go_to(p, '1,000')
    p.keys('enter')
    t.ok(has(p, 'too large', 'nothing overflows'), 'scores times 1,000: one form survives',
         p.screen.text())
    p.close()


def questions():
    p = start(8, rows=90)
    p.keys('tab')
    for _ in range(4):
        if 'embeddings' in p.screen.reversed_text():
            break
        p.keys('down')
    p.keys('enter')
    t.ok(has(p, 'No: the embeddings went through'), 'a wrong answer gets its reason', p.screen.text())
    for _ in range(6):
        if 'values' in p.screen.reversed_text():
            break
        p.keys('down' if _ < 3 else 'up')
    p.keys('enter')
    t.ok(has(p, 'Yes. Weights say', '0.06·1 + 0.54·3', 'See it at stage'), 'the right one, too',
         p.screen.text())
    go_to(p, 'Next question')
    p.keys('enter')
    t.ok(has(p, 'Question 2 of 8'), 'the next of eight', p.screen.text())
    p.keys(*['enter'] * 6)
    t.ok(has(p, 'Question 8 of 8', 'Eight new questions'), 'to the last', p.screen.text())
    p.keys('enter')
    t.ok(has(p, 'Question 1 of 8'), 'and new ones')
    go_to(p, '____')
    p.keys('enter', 'sòftmax(QKᵀ)V', 'enter')
    t.ok(has(p, 'sòftmax(QKᵀ)V'), 'recall: what was typed stands there', p.screen.text())
    p.keys('tab', 'enter', 'enter')
    t.ok(has(p, 'It starts with softmax', 'Two matrices meet'), 'hints, one by one', p.screen.text())
    p.keys('tab', 'enter', 'tab', 'enter')
    t.ok(has(p, '[x]', '1 of 8 points'), 'compared point by point', p.screen.text())
    p.keys('n', '7', '8')
    p.see('section 8 of 8')
    t.ok(has(p, 'sòftmax(QKᵀ)V', '1 of 8 points'), 'nothing is lost by turning pages',
         p.screen.text())
    go_to(p, 'See it at stage 4', 60)
    p.keys('enter')
    t.ok(p.see('section 4 of 8', 5) and has(p, '[4 output]'), 'a point leads to its stage',
         p.screen.text())
    p.close()


def teacher():
    p = start(8, rows=100)
    go_to(p, 'Why three projections', 60)
    p.keys('enter')
    t.ok(has(p, 'XXᵀ is symmetric') or has(p, 'is symmetric: whoever'), 'an answer opens',
         p.screen.text())
    go_to(p, 'Why may a token')
    p.keys('enter')
    same = sum('same bits' in x for x in p.screen.lines())
    t.ok(same == 3, 'a later token changes: three outputs keep every bit', p.screen.text())
    p.close()


def hostile():
    names = ['\x1b[31mred', '\u202eabc', 'x' * 200, '</script>', 'e\u0301e\u0301', '漢字', '=1+1', 'a b']
    for env, label in (({}, 'UTF-8'), ({'LC_ALL': 'C'}, 'ASCII')):
        quoted = ','.join(''.join(f'%{b:02X}' for b in n.encode()) for n in names)
        for section in (1, 2, 4, 8):
            p = start(section, f'n=8&tok={quoted}&st=4', env=env)
            text = p.raw.decode('utf-8', 'replace')
            bad = '\x1b[31mred' in text or '\u202e' in text or p.screen.unknown
            wide = [x for x in p.screen.lines() if len(x) > 80]
            t.ok(not bad and not wide and (section == 8 or has(p, '\\x1b')),
                 f'{label}, section {section}: names from outside do no harm',
                 (p.screen.unknown, p.screen.text()))
            p.close()


def helping():
    p = start(1, rows=24)
    p.keys('?')
    t.ok(has(p, 'Keys', 'Ctrl-Z'), '? shows the keys', p.screen.text())
    p.keys('escape')
    t.ok(has(p, 'section 1 of 8') and not has(p, 'Ctrl-Z'), 'and Esc leaves it')
    p.close()


def strange_keys():
    """Sequences that this terminal's description does not have must not be taken for letters."""
    for env in ({}, {'TERM': 'vt100'}):
        p = start(4, 'st=2', rows=24, env=env)
        before = p.screen.text()
        p.keys('\x1b[24~', '\x1b[1;5P', '\x1b[200~', '\x1bq', '\x1bOq', '\x1b[8;3u')
        t.ok(p.process.poll() is None and p.screen.text() == before,
             f'{env or "xterm"}: unknown keys do nothing', p.screen.text())
        p.keys('\x1b[6~')
        t.ok(p.screen.text() != before, f'{env or "xterm"}: Page Down is known', p.screen.text())
        p.close()


for part in (strange_keys, cursor, walk, narrow, wide, lookup, projections, formula, calculator, edits, settings, predictions, blend, root,
             code, questions, teacher, hostile, helping):
    part()
sys.exit(t.done())
