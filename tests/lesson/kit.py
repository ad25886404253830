# SPDX-License-Identifier: MIT
"""kit.py - what the tests of `qkv explain` share: TAP, the command, .npy files, and an oracle.

The oracle is attention in plain Python floats, written from the definition: it shares nothing with
the library, not even its order of operations.
"""
import json
import math
import os
import struct
import subprocess

COUNT = 0
FAILED = 0


def ok(good, what, why=''):
    """One TAP line; returns whether it was good."""
    global COUNT, FAILED
    COUNT += 1
    FAILED += not good
    print(f'{"" if good else "not "}ok {COUNT} - {what}')
    if not good:
        for line in str(why).splitlines()[:20]:
            print(f'# {line}')
    return bool(good)


def done():
    print(f'1..{COUNT}')
    return 1 if FAILED or not COUNT else 0


class Command:
    """The command qkv, with an environment in which nothing but the locale speaks."""

    def __init__(self, path):
        self.path = path

    def run(self, *args, locale='C.UTF-8', stdin=b''):
        env = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb'}
        env.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
        if locale is not None:
            env['LC_ALL'] = locale
        return subprocess.run([self.path, *args], env=env, input=stdin, capture_output=True,
                              timeout=120)

    def explain(self, *args, locale='C.UTF-8'):
        """stdout of a run that must succeed without a word on stderr, as text."""
        result = self.run('explain', *args, locale=locale)
        if result.returncode or result.stderr:
            raise AssertionError(f'explain {args}: exit {result.returncode}: {result.stderr[:300]}')
        return result.stdout.decode('utf-8')

    def json(self, *args, locale='C.UTF-8'):
        return json.loads(self.explain('--format', 'json', *args, locale=locale))


# ---- .npy --------------------------------------------------------------------------------------------

CODES = {'<f2': 'e', '<f4': 'f', '<f8': 'd'}


def flatten(x):
    return [y for part in x for y in flatten(part)] if isinstance(x, list) else [x]


def shape_of(x):
    return (len(x), *(shape_of(x[0]) if x else ())) if isinstance(x, list) else ()


def write_npy(path, x, dtype, shape=None):
    """Nested lists of numbers; the shape only where a list is empty."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape or shape_of(x)}, }}"
    text += ' ' * (-(len(text) + 11) % 64) + '\n'
    flat = flatten(x)
    path.write_bytes(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() +
                     struct.pack(f'<{len(flat)}{CODES[dtype]}', *flat))


def read_npy(path):
    """(shape, flat list); little-endian, C order."""
    data = path.read_bytes()
    n = struct.unpack('<H', data[8:10])[0]
    head = data[10:10 + n].decode()
    dtype = head.split("'descr': '")[1].split("'")[0]
    shape = tuple(int(t) for t in head.split('(')[1].split(')')[0].split(',') if t.strip())
    body = data[10 + n:]
    code = CODES[dtype]
    return shape, list(struct.unpack(f'<{len(body) // struct.calcsize(code)}{code}', body))


def rounded_to(x, dtype):
    """The number that a file of that type holds for x."""
    code = CODES[dtype]
    return struct.unpack(code, struct.pack(code, x))[0]


# ---- the oracle --------------------------------------------------------------------------------------

def attention(q, k, v, scale, offset=None):
    """Rows of score, scaled, weight, lse, out; offset None: no mask, else key <= row + offset."""
    result = {'score': [], 'scaled': [], 'weight': [], 'lse': [], 'out': []}
    for i, row in enumerate(q):
        score = [math.fsum(a * b for a, b in zip(row, key)) for key in k]
        scaled = [s * scale for s in score]
        seen = [j for j in range(len(k)) if offset is None or j <= i + offset]
        top = max((scaled[j] for j in seen), default=0.0)
        power = {j: math.exp(scaled[j] - top) for j in seen}
        total = math.fsum(power.values())
        weight = [power[j] / total if j in power else 0.0 for j in range(len(k))]
        result['score'].append(score)
        result['scaled'].append(scaled)
        result['weight'].append(weight)
        result['lse'].append(top + math.log(total) if seen else -math.inf)
        result['out'].append([math.fsum(weight[j] * v[j][c] for j in seen)
                              for c in range(len(v[0]) if v else 0)])
    return result


def product(x, w):
    return [[math.fsum(a * w[c][o] for c, a in enumerate(row)) for o in range(len(w[0]))]
            for row in x]


def number(x):
    """A number of the JSON: the three words stand for what they say."""
    words = {'NaN': math.nan, 'Infinity': math.inf, '-Infinity': -math.inf}
    return words[x] if isinstance(x, str) else x


def far(got, want, tolerance):
    """The largest difference over nested lists, relative above 1; inf where shapes differ."""
    got, want = flatten(got), flatten(want)
    if len(got) != len(want):
        return math.inf
    worst = 0.0
    for a, b in zip(map(number, got), want):
        if a == b or (a != a and b != b):
            continue
        worst = max(worst, abs(a - b) / max(1.0, abs(b)) if math.isfinite(a - b) else math.inf)
    return worst if worst > tolerance else 0.0
