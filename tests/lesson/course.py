#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""course.py TOOL ROOT - the lesson as text: eight sections in order, short enough to read in its time,
marks that close, words that both faces can write, and the facts its sentences state. Prints TAP.
"""
import pathlib
import re
import sys

import state_kit
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
COURSE = TOOL.table('course')
WORDS = {name: (int(n), text) for name, n, text in TOOL.table('words')}
SECTIONS = ['lookup', 'projections', 'formula', 'calculator', 'blend', 'root', 'code', 'check']
CAPTIONS = [name for name in WORDS if name.startswith('CAPTION_')]


def structure():
    seen = [row[0] for row in COURSE if row[1] == 'heading']
    ok(seen == SECTIONS, 'eight sections in the order of the lesson', seen)
    refreshers = [row for row in COURSE if row[0] == 'refresher']
    ok([r[3] for r in refreshers if r[1] == 'name'] == ['dot product', 'softmax', 'weighted average',
                                                        'embeddings', 'matrix product'],
       'five refreshers')
    ok(all(int(r[2]) <= 40 for r in refreshers), 'none is longer than 40 words',
       [r[2] for r in refreshers])
    ok(all(WORDS[c][0] <= 30 for c in CAPTIONS) and len(CAPTIONS) >= 8,
       'captions have at most 30 words', [(c, WORDS[c][0]) for c in CAPTIONS])
    kinds = [row[1] for row in COURSE if row[0] == 'check']
    ok(kinds.count('point') == 4 and kinds.count('teacher') == 3 and kinds.count('source') == 2,
       'four points, three questions for a teacher, two sources', kinds)
    ok(len([r for r in COURSE if r[0] == 'prediction']) == 3 and
       len([r for r in COURSE if r[0] == 'part' and r[1] == 'name']) == 4,
       'three predictions, four parts of the formula')


def length():
    outside = [r for r in COURSE if r[1] not in ('inside', 'figure') and r[0] != 'refresher']
    words = sum(int(r[2]) for r in outside) + sum(WORDS[w][0] for w in ('TITLE', 'PROMISE'))
    captions = ['VECTORS', 'SCORES', 'SQRT', 'WEIGHTS', 'OUTPUT']
    words += sum(WORDS['CAPTION_' + c][0] for c in captions)
    # both questions with their options, the reason of the right answer and of one wrong one
    unread = {'ASK_SOMEONE', 'ASK_WEIGHTS_Q_WHY', 'ASK_WEIGHTS_X_WHY', 'ASK_ROOT_SHARES_WHY',
              'ASK_ROOT_OVERFLOW_WHY', 'ASK_ROOT_TOKENS_WHY'}
    words += sum(n for w, (n, _) in WORDS.items() if w.startswith('ASK_') and w not in unread)
    ok(words <= 1800, f'{words} words outside of details and lab, at most 1,800')
    acts = 4 + 1 + 1 + 3 + 2 + 1  # Next, a token, a query, answers, two sliders, recall
    minutes = words / 200 + acts * 15 / 60
    ok(minutes <= 12, f'{minutes:.1f} minutes with {acts} acts of 15 seconds, at most 12')


def marks():
    bad = []
    for where, kind, _, text in COURSE:
        if kind == 'figure':
            continue
        plain = re.sub(r'\*[^*]+\*|`[^`]+`|\$[^$]+\$|\[[qkv]\|[^\]]+\]', '', text)
        if re.search(r'[*`$|]', plain):
            bad.append(text)
    ok(not bad, 'every mark closes', bad[:2])
    symbols = re.findall(r'LESSON_SYMBOL\("(.+?)"', (ROOT / 'lesson/symbols.inc').read_text())
    signs = set('░▒▓█')
    bad = [(name, c) for name, (_, text) in WORDS.items() for c in text
           if not c.isascii() and c not in symbols and c not in signs]
    ok(not bad, 'every sign has an ASCII form', bad[:4])
    bad = [name for name, (_, text) in WORDS.items() if re.search(r'  |\s$|coming soon|click here',
                                                                  text.rstrip(' ') if
                                                                  text.endswith(' ') else text)]
    ok(not bad, 'no double blanks, no promises', bad[:4])
    first = {}
    twice = []
    for name, (n, text) in WORDS.items():
        if n >= 6 and text in first and name != 'LAB_OWN_LINK':
            twice.append((first[text], name))
        first[text] = name
    ok(not twice, 'every sentence lives once', twice)
    long = [(name, s) for name, (_, text) in WORDS.items() for s in re.split(r'(?<=[.?!:;]) ', text)
            if len(s.split()) > 36]
    ok(not long, 'no sentence runs on', long[:3])


def facts():
    """Numbers that prose states, recomputed."""
    text = ' '.join(t for _, t in WORDS.values())
    sat = [float(w) for w in re.findall(r'(0\.\d\d), (0\.\d\d), (0\.\d\d), (0\.\d\d)',
                                        WORDS['ASK_ROOT_SHARES_WHY'][1])[0]]
    s = state_kit.State.__new__(state_kit.State)
    s.n, s.d_v, s.offset, s.padding, s.wrong = 4, 2, None, 0, False
    s.q, s.k, s.v, s.scale = (state_kit.PRESET['Q'], state_kit.PRESET['K'], state_kit.PRESET['V'], 1)
    ok([round(w, 2) for w in s.expected()['weight'][2]] == sat, 'the unscaled row of sat', sat)
    s.scale = 2 ** -0.5
    want = s.expected()
    ok([round(x, 2) for x in want['out'][2]] == [1.68, 0.53] and '[1.68, 0.53]' in text,
       'the output of sat')
    s.v = state_kit.PRESET['K']
    ok([round(x, 2) for x in s.expected()['out'][2]] == [0.59, 1.34] and '[0.59, 1.34]' in text,
       'the keys, blended')
    score = want['score']
    ok(score[2][1] == 4 and score[1][2] == 2 and 'score of 4' in text and 'only 2' in text,
       'sat gives cat 4, cat gives sat 2')
    best = [row.index(max(row)) for row in want['weight']]
    ok(best == [1, 2, 1, 2], 'the lands on cat, cat on sat, sat on cat, mat on sat', best)
    ok(abs(2.718281828 ** 8 - 3000) < 50, 'e^8 is about 3,000')


def predictions():
    cases = [('', ['1 0 1', '1 0 1'], 'sat: cat, more than half, between the values'),
             ('t=cat', ['2 1 1', '2 1 1'], 'cat: sat, less than half'),
             ('T=0.01', ['1 0 0', '1 0 1'], 'very sharp: the winner alone; the other choice blends'),
             ('scale=-1', ['1 0 1', '1 0 1'], 'a negative multiplier: cat scores most, and another wins'),
             ('mask=padding:4&b.T=10&ab=1', ['-1 -1 -1', '1 1 1'], 'nobody to look at')]
    for text, want, what in cases:
        got = [line.strip() for line in TOOL.lines('predict', text)]
        ok(got == want, f'a guess is right as the numbers are: {what}', got)


def documented():
    """docs/lesson.md: every item that is taught, each with files of tests that are there."""
    text = (ROOT / 'docs/lesson.md').read_text()
    rows = [line.split('|')[1:4] for line in text.splitlines() if line.startswith('| S')]
    items = {int(n) for row in rows for n in re.findall(r'S(\d+)', row[0])}
    want = set(range(1, 56)) - {7, 8, 28, 32, 34, 35}
    ok(items == want, 'docs/lesson.md has every item of the lesson', sorted(items ^ want))
    named = set(re.findall(r'`((?:lesson|page|tui|api|prop|fuzz)/[\w.]+)`', text))
    gone = [n for n in sorted(named) if not (ROOT / 'tests' / n).is_file() and
            not (ROOT / n).is_file()]
    ok(len(named) > 20 and not gone, 'and the tests that it names are there', gone)
    bare = [row[0] for row in rows if not re.search(r'`[\w/.]+`', row[2])]
    ok(not bare, 'no item is without a test', bare)


structure()
length()
marks()
facts()
predictions()
documented()
sys.exit(state_kit.done())
