#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""quiz.py TOOL - 1,000 seeds of each generated question: one right option, all different, the right one
recomputed here from what the question says, each wrong one with the reason of its own. Prints TAP.
"""
import math
import re
import sys

import state_kit
import worked
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
SEEDS = 1000
REASON = {
    'forgets the second': 'first', 'crosswise': 'cross', 'adds all numbers': 'add',
    'already divided by': 'early', 'squares the query': 'square', 'leaves out the division': 'none',
    'divides by dₖ instead': 'dk', 'multiplies by √dₖ': 'times', 'without raising e': 'no exp',
    'forgets all others': 'pick', 'columns sum to 1': 'columns', 'over the whole table': 'table',
    'wrong way round': 'turned', 'blends the keys': 'keys', 'same weight': 'even',
    'still counts mat': 'no mask', 'e^0 is 1': 'zero', 'is the variance': 'variance',
    'after the division': 'after', 'multiplied by, not how large': 'factor'}


def questions(kind, first=0, last=SEEDS):
    """(text, [(right?, option, reason)], stage, worked line) of every seed."""
    result, question = [], None
    for line in TOOL.lines('quiz', first, kind, last):
        what, _, rest = line.partition('\t')
        if what == 'question':
            question = [rest, [], 0, '']
            result.append(question)
        elif what in ('right', 'wrong'):
            option, _, reason = rest.partition('\t')
            question[1].append((what == 'right', option, reason))
        elif what == 'stage':
            question[2] = int(rest)
        else:
            question[3] = rest
    return result


def vectors(text):
    return [[int(x) for x in v.split(',')] for v in re.findall(r'\[([\d,]+)\]', text)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def softmax(scores):
    top = max(scores)
    power = [math.exp(s - top) for s in scores]
    return [p / sum(power) for p in power]


TOKENS = ['the', 'cat', 'sat', 'mat']


def parts(text):
    q, *rest = vectors(text)
    if ' the value ' in text:
        return q, rest[::2], rest[1::2]
    return q, rest, None


def asked(text, words='(the|cat|sat|mat)'):
    return TOKENS.index(re.search(rf'[Ww]hat weight does {words} get', text)[1])


def by_name(name, text):
    """What a mistake gives in the question, or the right answer for ''."""
    root = math.sqrt(2)
    if text.startswith('A score is'):
        s, d = (int(x) for x in re.findall(r'\d+', text))
        return {'': s / math.sqrt(d), 'dk': s / d, 'none': s, 'times': s * math.sqrt(d)}[name]
    if 'independent numbers' in text:
        d = int(re.search(r'\d+', text)[0])
        return {'': math.sqrt(d), 'variance': d, 'after': 1, 'factor': 1 / math.sqrt(d)}[name]
    if text.startswith('Scaled scores'):
        return table(name, text)
    q, keys, values = parts(text)
    if 'What is the score' in text:
        k = keys[0]
        return {'': dot(q, k), 'first': q[0] * k[0], 'cross': q[0] * k[1] + q[1] * k[0],
                'add': sum(q) + sum(k), 'early': dot(q, k) / root, 'square': dot(q, q)}[name]
    scores = [dot(q, k) for k in keys]
    seen = scores[:3] if 'hides mat' in text else scores
    weights = {'': softmax([s / root for s in seen]), 'none': softmax(seen),
               'dk': softmax([s / 2 for s in seen]), 'even': [1 / len(seen)] * len(seen),
               'no exp': [s / sum(seen) if sum(seen) else math.nan for s in seen],
               'pick': [float(j == seen.index(max(seen))) for j in range(len(seen))],
               'no mask': softmax([s / root for s in scores]),
               'zero': softmax([s / root for s in seen] + [0])}
    if values:
        if name == 'keys':
            return sum(w * k[0] for w, k in zip(weights[''], keys))
        return sum(w * v[0] for w, v in zip(weights[name], values))
    return weights[name][asked(text)]


def table(name, text):
    rows = vectors(text)
    names = TOKENS[1:]
    i = names.index(re.search(r'query of (\w+)', text)[1])
    j = names.index(re.search(r'give to (\w+)', text)[1])
    every = [x for row in rows for x in row]
    return {'': softmax(rows[i])[j], 'columns': softmax([r[j] for r in rows])[i],
            'turned': softmax(rows[j])[i], 'table': softmax(every)[3 * i + j],
            'no exp': rows[i][j] / sum(rows[i]) if sum(rows[i]) else math.nan}[name]


def same(option, x):
    digits = len(option.partition('.')[2])
    return abs(float(option) - x) <= 0.5000001 * 10.0 ** -digits


def generated(kind):
    bad = []
    for seed, (text, options, stage, line) in enumerate(questions(kind)):
        right = [o for o in options if o[0]]
        if len(options) != 4 or len(right) != 1 or len({o[1] for o in options}) != 4:
            bad.append((seed, 'options', options))
            continue
        if kind == 2:
            q, keys, _ = parts(text)
            scores = [dot(q, k) for k in keys]
            best = TOKENS[scores.index(max(scores))]
            if right[0][1] != best or scores.count(max(scores)) > 1:
                bad.append((seed, text, right))
            continue
        if not same(right[0][1], by_name('', text)):
            bad.append((seed, text, right, by_name('', text)))
        for _, option, reason in (o for o in options if not o[0]):
            name = next((n for words, n in REASON.items() if words in reason), None)
            if name is None or not same(option, by_name(name, text)):
                bad.append((seed, text, option, reason))
        if right[0][2] != f'Right. {line}' or not line.endswith(right[0][1]) and kind != 9:
            bad.append((seed, 'worked', line, right))
    names = ['who wins', 'a score', 'a scaled score', 'a weight', 'a masked weight', 'the output',
             'rows, not columns', 'how large scores grow']
    ok(not bad, f'{names[kind - 2]}: {SEEDS} seeds, one right option, all four different, every '
       'wrong one by its named mistake', bad[:2])


def lesson():
    for number, right in ((0, 'the values V'),
                          (1, 'to keep their variance near 1, so that softmax does not saturate')):
        first, second = questions(number, 1, 3)
        ok(first == second, f'question {number} is the same for every seed')
        text, options, stage, line = first
        ok([o[1] for o in options if o[0]] == [right] and len(options) == 4,
           f'question {number} has one right answer', options)
        reasons = [o[2] for o in options]
        ok(len(set(reasons)) == 4 and all((r.startswith('Yes.') if good else r.startswith('No: '))
                                          for (good, _, r) in options),
           f'question {number}: every option has a reason of its own', reasons)
        ok(stage == (4, 2)[number] and line, f'question {number} leads to its stage')
        ok(not options[0][0], f'question {number}: the right one is not the first')


def spread():
    places = [0] * 4
    for text, options, _, _ in questions(5):
        places[[o[0] for o in options].index(True)] += 1
    ok(min(places) > 200, 'the right option stands anywhere', places)
    ok(questions(7, 5, 6) == questions(7, 5, 6) and questions(7, 5, 6) != questions(7, 6, 7),
       'the same seed, the same question')
    ok(len({q[0] for q in questions(5)}) > 950, 'seeds give different questions')
    ok(TOOL.run('quiz', 1, 10, 2).returncode == 1, 'there is no question 10')


lesson()
for kind in range(2, 10):
    generated(kind)
spread()
sys.exit(state_kit.done())
