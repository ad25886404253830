#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random_inputs.py QKV - 500 random inputs with random options through `qkv explain`.

Every value of the JSON is compared with an oracle in plain Python floats (kit.attention) to 1e-12;
every number of the text is the rounding of the JSON's, the worked line holds when it is evaluated
from its printed operands, and no line is wider than the terminal. SEED changes them. Prints TAP.
"""
import concurrent.futures
import math
import os
import pathlib
import random
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
import kit  # noqa: E402
import worked  # noqa: E402
from kit import ok  # noqa: E402

SANITIZED = b'__asan_init' in pathlib.Path(sys.argv[1]).read_bytes()
CASES = int(os.environ.get('CASES', '150' if SANITIZED else '500'))
STAGE_KEYS = [('score',), ('scaled',), ('weight', 'lse'), ('out',)]


class Case:
    """One random input: files, options, and what must come out."""

    def __init__(self, seed, folder):
        self.r = random.Random(seed)
        self.folder = folder
        self.args = []
        self.dtype = self.r.choice(['<f4', '<f4', '<f8', '<f2'])
        self.n, self.m = self.r.randint(1, 8), self.r.randint(1, 8)
        self.d, self.d_v = self.r.randint(1, 5), self.r.randint(1, 5)
        if self.r.random() < 0.5:
            self.m = self.n
        if self.r.random() < 0.25:
            self.projected()
        else:
            self.vectors()
        self.names()
        self.options()

    def value(self):
        kind = self.r.random()
        x = self.r.randint(-3, 3) if kind < 0.4 else self.r.gauss(0, 1.5)
        if 0.95 < kind:
            x *= 20
        return kit.rounded_to(float(x), self.dtype)

    def matrix(self, rows, columns):
        whole = self.r.random() < 0.2
        return [[float(self.r.randint(-4, 4)) if whole else self.value() for _ in range(columns)]
                for _ in range(rows)]

    def file(self, name, x):
        path = self.folder / f'{name}.npy'
        kit.write_npy(path, x, self.dtype)
        self.args += [f'--{name}', str(path)]

    def projected(self):
        width = self.r.randint(1, 5)
        self.m = self.n
        x = self.matrix(self.n, width)
        w = {name: self.matrix(width, columns)
             for name, columns in (('wq', self.d), ('wk', self.d), ('wv', self.d_v))}
        self.file('x', x)
        for name in w:
            self.file(name, w[name])
        self.q, self.k, self.v = (kit.product(x, w[name]) for name in ('wq', 'wk', 'wv'))

    def vectors(self):
        rank = self.r.choice([2, 2, 3, 4])
        batch, kv_heads = self.r.randint(1, 2), self.r.randint(1, 2)
        heads = kv_heads * self.r.randint(1, 3)
        head, entry = self.r.randrange(heads), self.r.randrange(batch)
        sizes = {'q': (heads, self.n, self.d), 'k': (kv_heads, self.m, self.d),
                 'v': (kv_heads, self.m, self.d_v)}
        for name, (count, rows, columns) in sizes.items():
            x = [[self.matrix(rows, columns) for _ in range(count)] for _ in range(batch)]
            at = head if name == 'q' else head // (heads // kv_heads)
            if rank < 4:
                x, entry = x[:1], 0
            if rank < 3:
                x[0], at = x[0][:1], 0
            setattr(self, name, x[entry][at])
            self.file(name, x if rank == 4 else x[0] if rank == 3 else x[0][0])
        if rank >= 3:
            self.args += ['--head', str(head)]
        if rank == 4:
            self.args += ['--batch', str(entry)]

    def names(self):
        self.tokens = [f't{j}' for j in range(self.m)]
        if self.r.random() < 0.3:
            self.tokens = [f'w{chr(97 + j)}' for j in range(self.m)]
            self.args += ['--tokens', ','.join(self.tokens)]

    def options(self):
        r = self.r
        self.token = r.randrange(self.n)
        if self.n == self.m and r.random() < 0.5:
            self.args += ['--token', self.tokens[self.token]]
        else:
            self.args += ['--token', f'@{self.token}']
        self.stage = r.choice([0, 1, 2, 3, 4, 4])
        self.args += ['--stage', str(self.stage)]
        self.digits = r.choice([2, 2, 2, 0, 1, 3, 4, 6])
        self.args += ['--digits', str(self.digits)]
        self.offset = None
        kind = r.random()
        if kind < 0.2:
            self.offset = r.randint(-3, 4)
            self.args += [f'--causal={self.offset}']
        elif kind < 0.3:
            self.offset = self.m - self.n
            self.args += ['--causal=bottom-right']
        elif kind < 0.4 and self.n == self.m:
            self.offset = 0
            self.args += ['--causal']
        scale, kind = 1 / math.sqrt(self.d), r.choice(['', 'sqrt', 'none', 'dk', 'x'])
        if kind == 'x':
            kind = repr(scale := round(r.uniform(-2, 2), 3) or 1.0)
        elif kind in ('none', 'dk'):
            scale = 1.0 if kind == 'none' else 1 / self.d
        if kind:
            self.args += ['--scale', kind]
        if r.random() < 0.3:
            t = r.choice([0.25, 0.5, 0.7, 2.0, 3.3, 100.0])
            self.args += ['--temperature', repr(t)]
            scale /= t
        self.scale = scale
        if r.random() < 0.25:
            query = [round(r.uniform(-3, 3), r.choice([0, 1, 3])) for _ in range(self.d)]
            self.q = [row if i != self.token else query for i, row in enumerate(self.q)]
            self.args += ['--set-query=' + ','.join(map(repr, query))]
        self.rows, self.keys = (0, self.n), (0, self.m)
        if r.random() < 0.15:
            self.rows = (r.randint(0, self.token), r.randint(self.token + 1, self.n))
            self.args += ['--rows', f'{self.rows[0]}:{self.rows[1]}']
        if r.random() < 0.15:
            begin = r.randrange(self.m)
            self.keys = (begin, r.randint(begin + 1, self.m))
            self.args += ['--keys', f'{self.keys[0]}:{self.keys[1]}']

    def wanted(self):
        whole = kit.attention(self.q, self.k, self.v, self.scale, self.offset)
        rows, keys = slice(*self.rows), slice(*self.keys)
        part = {'q': self.q[rows], 'k': self.k[keys], 'v': self.v[keys], 'lse': whole['lse'][rows],
                'out': whole['out'][rows]}
        for name in ('score', 'scaled', 'weight'):
            part[name] = [row[keys] for row in whole[name][rows]]
        return part


def check_json(case, j):
    """What is wrong with the JSON, or nothing."""
    want = case.wanted()
    if j['tokens'] != case.tokens[slice(*case.keys)] or j['token'] != case.token or \
            (j['d_k'], j['d_v']) != (case.d, case.d_v):
        return 'what is explained'
    if abs(j['scale'] - case.scale) > 1e-15 * abs(case.scale):
        return 'scale'
    if j['mask'] != ('none' if case.offset is None else f'causal:{case.offset}'):
        return 'mask'
    names = ['q', 'k', 'v'] + [n for s in range(case.stage) for n in STAGE_KEYS[s]]
    for name in names:
        if far := kit.far(j[name], want[name], 1e-12):
            return f'{name} is off by {far}'
    later = [n for s in range(case.stage, 4) for n in STAGE_KEYS[s] if n in j]
    if later:
        return f'later stages: {later}'
    return check_engine(case, j, want)


def check_engine(case, j, want):
    if (case.stage >= 3) != ('engine' in j):
        return 'engine, or its absence'
    if case.stage < 3:
        return ''
    # products of size s carry an error of a few s / 2^24 into the exponent
    largest = max([1.0] + [abs(case.scale) * math.fsum(abs(a * b) for a, b in zip(row, key))
                           for row in want['q'] for key in case.k])
    tolerance = largest * (1e-14 if case.dtype == '<f8' else 1e-6)
    engine = j['engine']
    worst = kit.far(engine['weight'], want['weight'], tolerance)
    if case.stage == 4:
        top = max([1.0] + [abs(x) for x in kit.flatten(want['v'])])
        worst = worst or kit.far(engine['out'], want['out'], tolerance * top * 4)
    if ('out' in engine) != (case.stage == 4) or worst:
        return f'engine is off by {worst}'
    pairs = [(a, b) for n in ('weight', 'out') if n in engine
             for a, b in zip(kit.flatten(engine[n]), kit.flatten(j[n]))]
    # engine values are shortest float32 digits: their own rounding stands between
    exact = max((abs((a if case.dtype == '<f8' else kit.rounded_to(a, '<f4')) - b)
                 for a, b in pairs), default=0.0)
    return '' if abs(exact - engine['max_difference']) <= 1e-15 else 'max_difference'


def check_vector(text, x, digits):
    parts, cut = worked.vector(text)
    return (len(parts) == len(x) or (cut and len(parts) < len(x))) and \
        all(worked.is_shown(p, y, digits) for p, y in zip(parts, x))


def check_rows(case, page, full):
    """Each cell of the table beside the value of the JSON."""
    i, digits = case.token, case.digits
    for j in range(*case.keys):
        if case.tokens[j] not in page.rows:
            return f'row {j} is missing'
        cells = list(page.rows[case.tokens[j]])
        for head, name in (('Key K', 'k'), ('Value V', 'v')):
            # a column without room is left out, and that is said
            if head not in page.head:
                if 'Left out: ' not in page.text:
                    return f'{head} is missing'
            elif not check_vector(cells.pop(0), full[name][j], digits):
                return f'{head} of row {j}'
        want = [full[n][i - case.rows[0]][j] for n in ('score', 'scaled', 'weight')[:case.stage]]
        got = cells[:len(want)]
        rest = [c for c in cells[len(want):] if c != 'hidden' and set(c) - set('▏▎▍▌▋▊▉█')]
        if len(got) != len(want) or rest or \
                not all(worked.is_shown(a, b, digits) for a, b in zip(got, want)):
            return f'row {j}: {cells}, not {want}'
    return ''


def check_sums(case, page, weight):
    """The sum of all weights, and of those that are not shown."""
    begin, end = case.keys
    hidden = weight[:begin] + weight[end:]
    sums = [('sum', weight)] + ([(f'{len(hidden)}_more', hidden)] if hidden else [])
    for name, weights in sums:
        total = 0.0
        for w in weights:
            total += w
        if page.rows.get(name) != [worked.shown(total, case.digits)]:
            return f'{name}: {page.rows.get(name)}, not {total}'
    return ''


def check_text(case, text, full):
    """full: the JSON's values for all keys (a range of keys would hide some of the sum)."""
    if max(map(len, text.splitlines())) > 80:
        return 'a line is wider than 80 columns'
    page = worked.Page(text)
    who = f'@{case.token}' if case.n != case.m else case.tokens[case.token]
    query = text.partition(f'Query for {who} = ')[2].partition(']')[0] + ']'
    if not check_vector(query, full['q'][case.token - case.rows[0]], case.digits):
        return f'query: {query}'
    why = check_rows(case, page, full)
    if why:
        return why
    weight = full['weight'][case.token - case.rows[0]] if case.stage >= 3 else []
    if case.stage >= 3 and (why := check_sums(case, page, weight)):
        return why
    line = page.worked()
    blind = case.offset is not None and case.token + case.offset < 0
    if case.stage >= 3 and blind:
        return '' if 'may look at no key' in text else 'nothing says that the row is empty'
    check = [None, worked.check_score, worked.check_scaled, worked.check_weight,
             worked.check_blend][case.stage]
    if check is None:
        return ''
    if line is None:
        seen = [j for j in range(*case.keys)
                if case.offset is None or j <= case.token + case.offset]
        return 'no worked line' if seen else ''
    if not check(line, case.digits):
        return f'the worked line does not hold: {line}'
    if case.stage == 4 and line.endswith(']'):
        out = full['out'][case.token - case.rows[0]]
        if [worked.shown(x, case.digits) for x in out] != \
                worked.vector(line.rpartition(' = ')[2])[0]:
            return 'the output'
    return ''


def one(qkv, seed, folder):
    """Why the case of this seed is wrong: (json, text), empty when it is right."""
    path = pathlib.Path(folder) / str(seed)
    path.mkdir()
    try:
        case = Case(seed, path)
        j = qkv.json(*case.args)
        full = j
        if case.keys != (0, case.m):
            at = case.args.index('--keys')
            full = qkv.json(*case.args[:at], *case.args[at + 2:])
        why = check_json(case, j)
        text = check_text(case, qkv.explain(*case.args), full)
    except Exception:  # a crash of the checker is a failure of the case
        return traceback.format_exc(), ''
    command = 'qkv explain ' + ' '.join(case.args)
    return why and f'{why}\n{command}', text and f'{text}\n{command}'


def main():
    qkv = kit.Command(sys.argv[1])
    first = int(os.environ.get('SEED', '1')) * 100000
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda n: one(qkv, first + n, folder), range(CASES)))
    for what, at in (('json is the oracle to 1e-12', 0), ('text is the rounding of json', 1)):
        bad = [(n, f[at]) for n, f in enumerate(found) if f[at]]
        ok(not bad, f'{CASES} inputs: {what}',
           f'{len(bad)} are wrong\n' + '\n'.join(f'{n}: {why}' for n, why in bad[:3]))
    return kit.done()


sys.exit(main())
