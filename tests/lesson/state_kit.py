# SPDX-License-Identifier: MIT
"""state_kit.py - random states of the lesson as text, the tool that reads and writes them, and what
attention has to give for one, by an oracle that shares no code with the lesson.
"""
import math
import random
import subprocess

import kit

PRESET = {
    'tok': ['the', 'cat', 'sat', 'mat'],
    'Q': [[0, 1], [1, 0], [1, 2], [2, 1]],
    'K': [[1, 0], [0, 2], [2, 0], [1, 1]],
    'V': [[1, 0], [3, 0], [0, 2], [0, 1]],
}


class Tool:
    """tests/lesson/lesson_tool, one answer a call."""

    def __init__(self, path):
        self.path = path

    def run(self, *args, stdin=b''):
        return subprocess.run([self.path, *map(str, args)], input=stdin, capture_output=True,
                              timeout=120)

    def text(self, *args, stdin=b''):
        result = self.run(*args, stdin=stdin)
        if result.returncode:
            raise AssertionError(f'{args}: exit {result.returncode}: {result.stderr[:300]}')
        return result.stdout.decode()

    def lines(self, *args, stdin=b''):
        return self.text(*args, stdin=stdin).splitlines()

    def table(self, *args):
        return [line.split('\t') for line in self.lines(*args)]


def escaped(name):
    return ''.join(c if c.isascii() and (c.isalnum() or c in '-._~') else
                   ''.join(f'%{b:02X}' for b in c.encode()) for c in name)


def number(rng):
    kind = rng.random()
    if kind < 0.5:
        return float(rng.randint(-3, 4))
    if kind < 0.8:
        return round(rng.uniform(-4, 4), rng.randint(1, 3))
    return rng.uniform(-3, 3) * 10 ** rng.randint(-3, 1)


def matrix(rng, rows, columns):
    return [[number(rng) for _ in range(columns)] for _ in range(rows)]


def matrix_text(x):
    return ';'.join(','.join(repr(v) for v in row) for row in x)


NAMES = ['a', 'the', 'it', 'Ω', 'naïve', 'x,y', '<b>', '"q"', '=1+1', 'a b', '%', 'שלום', '']


class State:
    """One random state: its text, and the numbers that it stands for."""

    def __init__(self, rng, most=64):
        self.n = rng.choice([1, 2, 3, 4, 4, 5, 8, 16, rng.randint(1, most)])
        self.n = min(self.n, most)
        self.d_k, self.d_v = rng.randint(1, 8), rng.randint(1, 8)
        if rng.random() < 0.3:
            self.n, self.d_k, self.d_v = 4, 2, 2
        self.stage = rng.randint(0, 4)
        self.token = rng.randrange(self.n)
        self.digits = rng.choice([2, 2, 2, 0, 4, 9])
        self.items = [f'st={self.stage}', f't=@{self.token}', f'dig={self.digits}']
        self.names = ([rng.choice(NAMES) + rng.choice(['', str(j)]) for j in range(self.n)]
                      if rng.random() < 0.4 else
                      [PRESET['tok'][j] if j < 4 else f't{j}' for j in range(self.n)])
        if self.names != [PRESET['tok'][j] if j < 4 else f't{j}' for j in range(self.n)]:
            self.items.append('tok=' + ','.join(map(escaped, self.names)))
        self.data(rng)
        self.choices(rng)
        self.extras(rng)
        rng.shuffle(self.items)
        self.text = '&'.join(self.items)

    def data(self, rng):
        self.q, self.k, self.v = (
            [[PRESET[m][i][c] if i < 4 and c < 2 else 0 for c in range(d)] for i in range(self.n)]
            for m, d in (('Q', self.d_k), ('K', self.d_k), ('V', self.d_v)))
        self.items += [f'n={self.n}', f'dk={self.d_k}', f'dv={self.d_v}']
        self.own = set()
        for letter, d in (('q', self.d_k), ('k', self.d_k), ('v', self.d_v)):
            if rng.random() < 0.7:
                x = matrix(rng, self.n, d)
                setattr(self, letter, x)
                self.items.append(f'{letter.upper()}={matrix_text(x)}')
                self.own.add(letter.upper())

    def choices(self, rng):
        self.scale = 1 / math.sqrt(self.d_k)
        kind = rng.choice(['', '', 'none', 'dk', 'x'])
        if kind == 'none':
            self.scale = 1
        elif kind == 'dk':
            self.scale = 1 / self.d_k
        elif kind == 'x':
            self.scale = round(rng.uniform(-2, 3), 2)
        if kind:
            self.items.append('scale=' + (repr(self.scale) if kind == 'x' else kind))
        self.temperature = rng.choice([1, 1, 0.5, 2, 0.01, 10, 0.3])
        if self.temperature != 1:
            self.items.append(f'T={self.temperature!r}')
        self.scale /= self.temperature
        self.mask = rng.choice(['none', 'none', 'causal', 'causal', 'padding'])
        self.offset, self.padding = None, 0
        if self.mask == 'causal':
            self.offset = rng.choice([0, 0, 1, -1])
            self.mask += f':{self.offset}'
        elif self.mask == 'padding':
            self.padding = rng.randint(0, self.n)
            self.mask += f':{self.padding}'
        if self.mask != 'none':
            self.items.append('mask=' + self.mask)
        self.wrong = rng.random() < 0.2
        if self.wrong:
            self.items.append('wrong=1')
        self.wrong = self.wrong and self.mask != 'none' and self.mask != 'padding:0'

    def extras(self, rng):
        some = ['sec=blend', 'rd=128', 'rseed=77', 'b=0.7', 'code=c', 'big=1', 'qs=9', 'qq=3',
                'layer=0', 'head=7', 'mrow=2', 'ab=1', 'b.scale=none', 'b.T=2', 'proj=V',
                'view=map', 'later=unknown%20item', 'x.y=1,2;3']
        self.items += rng.sample(some, rng.randint(0, 4))

    def seen(self, row):
        if self.offset is not None:
            return max(0, min(self.n, row + self.offset + 1))
        return self.n - self.padding

    def expected(self):
        """score, scaled, weight, out, each row after row."""
        result = {'score': [], 'scaled': [], 'weight': [], 'out': []}
        for i in range(self.n):
            score = [math.fsum(a * b for a, b in zip(self.q[i], key)) for key in self.k]
            scaled = [s * self.scale for s in score]
            counted = range(self.n if self.wrong else self.seen(i))
            top = max((scaled[j] for j in counted), default=0.0)
            power = [math.exp(scaled[j] - top) for j in counted]
            total = math.fsum(power)
            weight = [power[j] / total if j < self.seen(i) else 0.0 for j in range(self.n)]
            result['score'].append(score)
            result['scaled'].append(scaled)
            result['weight'].append(weight)
            result['out'].append([math.fsum(w * row[c] for w, row in zip(weight, self.v))
                                  for c in range(self.d_v)])
        return result


def states(seed, count, most=64):
    rng = random.Random(seed)
    return [State(rng, most) for _ in range(count)]


ok, done = kit.ok, kit.done
