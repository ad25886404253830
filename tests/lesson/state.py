#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""state.py TOOL LINKS - the text of a state: 500 random ones go round, links hold what they promise,
old links still read, every kind of bad text gets its sentence, and no text does harm. Prints TAP.
"""
import os
import pathlib
import random
import sys

import state_kit
from state_kit import ok

TOOL = state_kit.Tool(sys.argv[1])
LINKS = pathlib.Path(sys.argv[2])
SEED = int(os.environ.get('SEED', '20260101'))


def through(texts, how='states'):
    return TOOL.lines(how, stdin='\n'.join(texts).encode() + b'\n')


def round_trip():
    texts = [s.text for s in state_kit.states(SEED, 500)]
    first = through(texts)
    ok(len(first) == 500 and not any(t.startswith('!') for t in first),
       '500 random states are read', next((t for t in first if t.startswith('!')), ''))
    second = through(first)
    bad = [(a, b) for a, b in zip(first, second) if a != b]
    ok(not bad, 'what is written reads back as the same', bad[:1])
    items = [(set(a.split('&')), set(b.split('&'))) for a, b in zip(texts, first)]
    kept = all({i for i in a if i.startswith(('later', 'x.y'))} <= b for a, b in items)
    ok(kept, 'unknown items are written back as they came')
    small = [s for s in state_kit.states(SEED + 1, 300, 16) if s.n <= 16]
    texts = [s.text for s in small]
    ok(through(texts) == through(texts, 'links'), 'up to 16 tokens of 8 channels a link holds all')
    ok(max(map(len, through([s.text for s in small if not s.own], 'links'))) < 2000,
       'links are short')


def beyond():
    rows = ';'.join(['1,2'] * 17)
    link = through([f'n=17&Q={rows}&st=3&T=0.5&t=@9'], 'links')[0]
    ok(link == 'v=1&st=3&T=0.5&lost=17x2x2&t=@9&z', 'a link of tokens: 17 holds the settings only',
       link)
    back, _, note = through([link])[0].partition('\t')
    ok('tokens: 17' in note and 'st=3' in back and 'Q=' not in back, 'and says so when followed',
       note)
    link = through(['dk=9&st=2'], 'links')[0]
    ok('lost=4x9x2' in link, 'the same beyond 8 channels', link)
    ok(through([''])[0] == '' and through(['#'])[0] == '', 'the start is the empty text')


def table():
    for line in LINKS.read_text().splitlines():
        if not line or line.startswith('#'):
            continue
        text, want, sentence = [part.strip() for part in line.split(' | ')]
        got = TOOL.lines('states', stdin=text.encode() + b'\n')
        back, _, note = got[0].partition('\t') if got else ('', '', '')
        if back.startswith('!'):
            back, note = '!', back[1:]
        want = '' if want == '-' else want
        sentence = '' if sentence == '-' else sentence
        ok(back == want and note == sentence, f'link: {text[:60]}',
           f'got  {back} | {note}\nwant {want} | {sentence}')


def typed():
    cases = [
        ('K[1,0]', '2..0', 'K, row 1, column 0 (from 0): “2..0” is not a number, it has two points; '
                           'write 2.0'),
        ('K[1,0]', '1,5', 'K, row 1, column 0 (from 0): “1,5” has a comma; use a point: 1.5'),
        ('K[1,0]', '1e400', 'K, row 1, column 0 (from 0): “1e400” is too large; numbers end at about '
                            '1.8e308.'),
        ('K[1,0]', '', 'K, row 1, column 0 (from 0): there is no number here.'),
        ('K[1,0]', 'NaN', 'K, row 1, column 0 (from 0): “NaN” cannot be computed with; write a '
                          'number.'),
        ('K[1,0]', '-inf', 'K, row 1, column 0 (from 0): “-inf” cannot be computed with; write a '
                           'number.'),
        ('K[1,0]', 'two', 'K, row 1, column 0 (from 0): “two” is not a number.'),
        ('K[4,0]', '1', 'K has no such cell; rows: 4, columns: 2.'),
        ('T', '0', 'T must be above 0, not “0”.'),
        ('n', '65', 'n must be a whole number from 1 to 64, not “65”.'),
        ('st', '5', 'st must be a whole number from 0 to 4, not “5”.'),
        ('mask', 'padding:5', 'mask must be none, causal, causal:SHIFT or padding:COUNT with at most '
                              '4, not “padding:5”.'),
        ('t', 'dog', 'No token is called “dog”; choose one by place, @0 to @3.'),
        ('wort', '1', '“wort” is no setting.'),
        ('b', '2.1', 'b must be a number from 0 to 2, not “2.1”.'),
        ('T', '1e-320', 'T = “1e-320” makes the multiplier of the scores larger than 1.8e308.'),
    ]
    for key, value, sentence in cases:
        got = TOOL.lines('edit', 'st=2', key, value)
        ok(got[0] == '!' + sentence and got[1] == 'v=1&st=2&z', f'{key} = {value!r}', got)
    # the nearest double to what was typed
    for value, want in (('0.1', '0.1'), ('+2', '2'), ('1.00000000000000011102230246251566', '1.0000'
                        '000000000002'), ('−3', '-3'), ('1e-400', '0'), (' 7 ', '7')):
        got = TOOL.lines('edit', '', 'K[0,0]', value)[0]
        ok(f'K={want},0;' in got, f'typed {value!r} becomes {want}', got)


def edits():
    got = TOOL.lines('edit', '', 'n', '5', 'dk', '3')
    ok(got == ['v=1&n=5&dk=3&z', 'changed'], 'a new token and a new channel stay connected', got)
    got = TOOL.lines('edit', '', 'K[1,0]', '9', 'n', '5')
    ok('K=1,0;9,2;2,0;1,1;0,0' in got[0], 'a new token of own keys is 0', got)
    got = TOOL.lines('edit', '', 'K[1,0]', '9', 'reconnect', 'K')
    ok(got == ['', 'lesson'], 'reconnecting gives X W again', got)
    got = TOOL.lines('edit', '', 'X[1,0]', '2', 'Q[0,0]', '5')
    ok('X=' in got[0] and 'Q=5,1;1,2;1,2;2,1' in got[0], 'X changes what is connected', got)
    got = TOOL.lines('edit', 'st=3&t=cat&sec=blend', 'dig', '4')
    ok(got[1] == 'lesson', 'walking about changes no number', got)


def hostile():
    rng = random.Random(SEED)
    seeds = [s.text for s in state_kit.states(SEED + 2, 40, 6)]
    texts = []
    for _ in range(3000):
        raw = bytearray(rng.choice(seeds).encode())
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(raw))
            raw[at:at + rng.randint(0, 3)] = bytes(rng.choice(b'&=,;:%@#.-+e0179zv\x00\x1b\xff<x')
                                                   for _ in range(rng.randint(0, 3))).replace(
                                                       b'\n', b'')
        texts.append(bytes(raw).replace(b'\n', b'').replace(b'\x00', b'%00'))
    got = TOOL.run('states', stdin=b'\n'.join(texts) + b'\n')
    lines = got.stdout.split(b'\n')[:-1]
    ok(got.returncode == 0 and len(lines) == 3000, '3,000 damaged texts do no harm',
       got.stderr[:300])
    written = [line.split(b'\t')[0] for line in lines if not line.startswith(b'!')]
    again = TOOL.run('states', stdin=b'\n'.join(written) + b'\n').stdout.split(b'\n')[:-1]
    same = [a for a, b in zip(written, again) if a != b.split(b'\t')[0]]
    ok(len(written) > 300 and not same, f'{len(written)} that are read go round', same[:1])
    refused = [line for line in lines if line.startswith(b'!')]
    ok(all(b'\x1b' not in line and b'\x00' not in line for line in refused),
       'sentences hold no control characters')
    ok(all(len(line) < 520 for line in refused), 'sentences are short')
    deep = TOOL.run('states', stdin=b'K=' + b'1,' * 130000 + b'1\n')
    ok(deep.returncode == 0 and deep.stdout.startswith(b'!'), 'a very long row is refused',
       deep.stdout[:200])


round_trip()
beyond()
table()
typed()
edits()
hostile()
sys.exit(state_kit.done())
