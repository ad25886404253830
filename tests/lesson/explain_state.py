#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explain_state.py QKV TOOL - `qkv explain --state`: 200 random states against an oracle, the same
bytes each time, every format, and the numbers of the mask that comes too late. Prints TAP.
"""
import json
import os
import sys

import kit
import state_kit
import worked
from state_kit import ok

QKV = kit.Command(sys.argv[1])
TOOL = state_kit.Tool(sys.argv[2])
SEED = int(os.environ.get('SEED', '20260301'))
KEYS = {0: ['q', 'k', 'v'], 1: ['score'], 2: ['scaled'], 3: ['weight', 'lse'], 4: ['out']}


def one(state):
    """What is wrong with the JSON of a state, empty when nothing is."""
    text = QKV.explain('--state', state.text, '--json')
    got = json.loads(text)
    want = state.expected()
    want.update(q=state.q, k=state.k, v=state.v)
    reached = [k for stage in range(state.stage + 1) for k in KEYS[stage]]
    extra = set(got) - set(reached) - {'contract', 'tokens', 'token', 'd_k', 'd_v', 'scale', 'mask',
                                       'mask_after_softmax'}
    if extra or not set(reached) <= set(got):
        return f'keys: {sorted(got)}'
    if got['token'] != state.token or got['mask'] != (state.mask if state.mask != 'padding:0' else
                                                      'none'):
        return f'{got["token"]} {got["mask"]}'
    if got.get('mask_after_softmax', False) != state.wrong or got['tokens'] != state.names:
        return 'mask after softmax, or names'
    for name in reached:
        if name != 'lse' and kit.far(got[name], want[name], 1e-9):
            return f'{name}: {kit.far(got[name], want[name], 1e-9)}'
    return outside(state, got) if state.stage == 4 else ''


def outside(state, got):
    """An output lies between the least and the largest value that its row sees, channel by channel;
    rows of weights sum to 1."""
    if state.wrong:
        return ''
    for i, row in enumerate(got['out']):
        seen = state.v[:state.seen(i)]
        if abs(sum(got['weight'][i]) - bool(seen)) > 1e-9:
            return f'row {i} sums to {sum(got["weight"][i])}'
        for c, x in enumerate(row):
            column = [v[c] for v in seen] or [0]
            if not min(column) - 1e-9 <= x <= max(column) + 1e-9:
                return f'out {i}.{c}'
    return ''


def random_states():
    some = state_kit.states(SEED, 200)
    bad = [(one(s), s.text) for s in some]
    bad = [b for b in bad if b[0]]
    ok(not bad, '200 random states: every value is the oracle\'s, nothing but what follows from it',
       bad[:1])
    ok(any(s.n > 32 for s in some) and any(s.wrong for s in some) and
       any(s.padding for s in some), 'they have many tokens, masks and wrong ways')
    written = TOOL.lines('states', stdin='\n'.join(s.text for s in some[:40]).encode() + b'\n')
    same = [QKV.explain('--state', a.text, '--json', locale=locale) ==
            QKV.explain('--state', b, '--json')
            for a, b, locale in zip(some, written, ['C', 'C.UTF-8'] * 20)]
    ok(all(same), 'a state and what it is written back as give the same bytes, in any locale')


def formats():
    states = state_kit.states(SEED + 1, 25, 20)
    for form in ('text', 'plain', 'csv', 'svg'):
        bad = []
        for s in states:
            got = QKV.run('explain', '--state', s.text, '--format', form)
            if got.returncode or got.stderr or not got.stdout or b'nan' in got.stdout.lower():
                bad.append((s.text, got.stderr))
        ok(not bad, f'25 random states as {form}', bad[:1])


def goldens():
    plain = QKV.explain('--state', 'st=4&q=2,0', '--format', 'plain')
    ok(plain == QKV.explain('--set-query', '2,0', '--format', 'plain'),
       'q=2,0 says what --set-query 2,0 says', plain)
    before = QKV.json('--state', 'st=3')['weight'][2]
    after = QKV.json('--state', 'st=3&q=1,2.5')['weight'][2]
    ok(all(a != b for a, b in zip(before, after)), 'another query changes every weight of its row')
    got = QKV.json('--state', 'st=3&dk=3')['weight'][2]
    ok([worked.shown(w, 2) for w in got] == ['0.09', '0.49', '0.15', '0.27'],
       'a third channel of zeros changes the divisor alone', got)
    got = QKV.json('--state', 'st=4&mask=causal&t=the')
    ok(got['weight'][0] == [1, 0, 0, 0] and got['out'][0] == [1, 0], 'the first row sees itself')
    moved = QKV.json('--state', 'st=4&mask=causal&Q=0,1;1,0;1,2;9,-9&K=1,0;0,2;2,0;-3,7&V=1,0;3,0;'
                                '0,2;50,-50')
    ok(moved['out'][:3] == QKV.json('--state', 'st=4&mask=causal')['out'][:3],
       'under the causal mask a later token changes no bit of earlier outputs')
    wrong = QKV.json('--state', 'st=4&mask=causal&wrong=1')
    full = QKV.json('--state', 'st=4')
    ok(wrong['weight'][1][:2] == full['weight'][1][:2] and wrong['weight'][1][2:] == [0, 0] and
       sum(wrong['weight'][1]) < 0.5, 'zeroed after the softmax, a row sums to less than 1')
    blind = QKV.explain('--state', 'st=4&mask=padding:4')
    ok('sat may look at no key: every weight is 0, and so is the output.' in blind,
       'a row without a key says so', blind)
    odd = QKV.explain('--state', 'st=4&K=1e300,0;0,2;2,0;1e308,1&q=1e300,1')
    ok('not finite' in odd and 'nan' not in odd.lower(), 'what overflows is no number', odd)


def refusals():
    cases = [(['--state', 'st=9'], 'qkv explain: --state: st must be a whole number from 0 to 4, not '
                                   '“9”.\n'),
             (['--state', '', '--token', 'cat'], 'qkv explain: --state and --token: the state says '
                                                 'that itself; leave one of them\n'),
             (['--state', 'data=model'], 'qkv explain: --state: its numbers are in the page, or in a '
                                         'file of its reader, not in the state\n'),
             (['--state', '', '--view', 'map'], 'qkv explain: --view map needs scores, and stage 0 '
                                                'has none; choose st=1 to 4\n')]
    for args, sentence in cases:
        got = QKV.run('explain', *args)
        ok(got.returncode == 2 and got.stderr.decode() == sentence and not got.stdout,
           f'{" ".join(args)} is refused', got.stderr.decode())
    got = QKV.run('explain', '--state', 'v=1&st=3&T=0.5')
    ok(got.returncode == 0 and got.stdout and b'cut off' in got.stderr, 'a cut link is noted')


random_states()
formats()
goldens()
refusals()
sys.exit(state_kit.done())
