# SPDX-License-Identifier: MIT
"""random_states.py - states as text, as a link or --state holds them, of every kind that a reader
can make: up to 64 tokens, other widths, typed numbers, scales, masks, sharpness, stages, odd
names.

The seed is fixed; SEED= in the environment gives others.
"""
import os
import random
import urllib.parse

SEED = int(os.environ.get('SEED', '20'))
NAMES = ['the', 'cat', 'sat', 'mat', 'it', 'a', 'don’t', 'Übung', '猫', '</script>',
         '<img src=x onerror=1>',
         'a&b', 'x,y', '=1+1', '50%', 'two words', '"', "'", '\\', 'עברית', '-', '#2', '@1', '😀']


def number(r):
    kind = r.randrange(10)
    if kind < 5:
        return str(r.randint(-4, 4))
    if kind < 8:
        return f'{r.uniform(-3, 3):.{r.randint(1, 6)}f}'
    if kind == 8:
        return repr(r.gauss(0, 1))
    return r.choice(['0', '-0.5', '1e-3', '12.5', '-7', '0.1', '1e3', '2.5e-7'])


def matrix(r, rows, columns):
    return ';'.join(','.join(number(r) for _ in range(columns)) for _ in range(rows))


def choice(r, n, prefix=''):
    items = []
    if r.random() < 0.6:
        items.append(f'{prefix}scale=' + r.choice(['sqrt', 'none', 'dk', '0.25', '2', '-1', '0']))
    if r.random() < 0.6:
        items.append(f'{prefix}mask=' + r.choice(['none', 'causal', f'causal:{r.randint(-n, n)}',
                                                  f'padding:{r.randint(0, n)}']))
        if r.random() < 0.3:
            items.append(f'{prefix}wrong=1')
    if r.random() < 0.4:
        items.append(f'{prefix}T=' + r.choice(['0.01', '0.1', '0.5', '1', '2', '10', '3.7']))
    return items


def state(r, most=64):
    """One text."""
    n = r.choice([1, 2, 3, 4, 4, 4, 5, 8, 13, 16, most, r.randint(1, most)])
    n = min(n, most)
    d_k, d_v = r.choice([(2, 2), (2, 2), (3, 2), (1, 1), (4, 8), (8, 3),
                         (r.randint(1, 8), r.randint(1, 8))])
    items = [f'st={r.randint(0, 4)}', f't=@{r.randrange(n)}', f'n={n}', f'dk={d_k}', f'dv={d_v}']
    for letter, columns in (('Q', d_k), ('K', d_k), ('V', d_v)):
        if r.random() < 0.75:
            items.append(f'{letter}={matrix(r, n, columns)}')
    if r.random() < 0.25:
        items.append(f'X={matrix(r, n, 4)}')
    if r.random() < 0.2:
        items.append(f'WQ={matrix(r, 4, d_k)}')
    if r.random() < 0.4:
        items.append('tok=' + ','.join(urllib.parse.quote(r.choice(NAMES), safe='') for _
                                       in range(n)))
    items += choice(r, n)
    if r.random() < 0.3:
        items += ['ab=1', *choice(r, n, 'b.')]
    if r.random() < 0.4:
        items.append(f'dig={r.choice([0, 1, 3, 4, 9])}')
    if r.random() < 0.3:
        items.append('sec=' + r.choice(['lookup', 'calculator', 'root', 'lab']))
    r.shuffle(items)
    return '&'.join(items)


def states(count, most=64, seed=SEED):
    r = random.Random(seed)
    return [state(r, most) for _ in range(count)]
