#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recall.py TOOL - the schedule with a clock of the test's own, plans as text, the ladder of hints, and
the cards for Anki. Prints TAP.
"""
import html
import random
import sys

import state_kit
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
START = 'r1' + ';-1:-1' * 10


def ask(plan, today, card=None, remembered=True):
    """(plan afterwards, [(due?, day)])"""
    args = [] if card is None else [card, int(remembered)]
    lines = TOOL.lines('recall', plan, today, *args)
    return lines[0], [(line.split('\t')[1] == '1', int(line.split('\t')[2])) for line in lines[1:]]


def schedule():
    _, due = ask(START, 20000)
    ok(all(d for d, _ in due) and len(due) == 10, 'at first every card is due')
    plan, today, gaps = START, 20000, []
    for _ in range(6):
        plan, due = ask(plan, today, 0)
        gaps.append(due[0][1] - today)
        early, on = ask(plan, due[0][1] - 1)[1][0][0], ask(plan, due[0][1])[1][0][0]
        if early or not on:
            gaps.append('not due on its day')
        today = due[0][1]
    ok(gaps == [1, 3, 7, 21, 60, 60], 'remembered: 1, 3, 7, 21, 60 days, then 60 again', gaps)
    plan, due = ask(plan, today, 0, remembered=False)
    ok(due[0] == (True, today), 'forgotten: it comes back in the same session', due[0])
    plan, due = ask(plan, today, 0)
    ok(due[0] == (False, today + 1), 'and starts again with a day', due[0])
    _, due = ask(plan, today - 500)
    ok(due[0][0], 'a clock that was set back shows a card too often, not too late')
    ok(all(d for d, _ in ask(plan, today)[1][1:]), 'other cards are not touched')


def text():
    rng = random.Random(7)
    bad = []
    for _ in range(200):
        cards = [(-1, -1) if rng.random() < .3 else (rng.randint(-1, 4), rng.randint(0, 30000))
                 for _ in range(10)]
        plan = 'r1' + ''.join(f';{s}:{d}' for s, d in cards)
        if ask(plan, 20000)[0] != plan:
            bad.append(plan)
    ok(not bad, '200 plans go round as text', bad[:1])
    for damaged in ('', 'r2' + START[2:], START[:-3], START + ';1:1', START.replace('-1:-1', '5:1', 1),
                    START.replace('-1:-1', '0:-1', 1), START.replace('-1', 'x', 1), 'r1;' * 20,
                    START.replace('-1:-1', '0:99999999999999999999', 1)):
        if TOOL.lines('recall', damaged, 20000) != ['unreadable']:
            bad.append(damaged)
    ok(not bad, 'damaged plans are no plans', bad)


def cards():
    rows = TOOL.lines('cards')
    head, tsv = rows[:2], [r.split('\t') for r in rows[2:12]]
    ok(head == ['#separator:tab', '#html:true'], 'the head of an Anki file')
    ok(all(len(r) == 2 and all(r) for r in tsv), 'ten cards, two fields each', tsv)
    ok(all('<' not in f and '>' not in f for r in tsv for f in r) and
       all(html.escape(html.unescape(f)) == f for r in tsv for f in r), 'fields are escaped')
    ok('softmax(QKᵀ ÷ √dₖ) V' in tsv[7], 'one of them is the formula')
    rest = [r.split('\t') for r in rows[12:]]
    hints = [r[3] for r in rest if r[0] == 'hint']
    points = [r[3] for r in rest if r[0] == 'point']
    ok(len(hints) == 5 and 'softmax(QKᵀ ÷ √dₖ) V' in hints[-1] and
       not any('√' in h for h in hints[:-1]), 'five hints, the last one tells all', hints)
    ok(len(points) == 8 and [p.startswith(f'Stage {i}:') for i, p in enumerate(points[4:], 1)] ==
       [True] * 4, 'eight points: the formula, the root, rows, V, four stages', points)


schedule()
text()
cards()
sys.exit(state_kit.done())
