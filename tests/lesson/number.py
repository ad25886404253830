#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""number.py TOOL - lesson/number.h against Python's own repr(), float() and decimal, value by value.

More than 100,000 requests through number_tool, every answer compared as text (or as bits, for what
is read). The values are the edges of the format (each power of two with its neighbours, subnormals,
halves of the last place) and seeded random ones; SEED in the environment changes them. Prints TAP.
"""
import collections
import decimal
import fractions
import os
import random
import struct
import subprocess
import sys

RANDOM = random.Random(int(os.environ.get('SEED', '1')))
decimal.getcontext().prec = 1300
Fraction = fractions.Fraction


def bits(x):
    return struct.unpack('<Q', struct.pack('<d', x))[0]


def double(b):
    return struct.unpack('<d', struct.pack('<Q', b))[0]


def single(b):
    return struct.unpack('<f', struct.pack('<I', b))[0]


def doubles():
    values = []
    for field in range(2047):
        for low in (0, 1, 2, (1 << 52) - 1):
            values.append(double(field << 52 | low))
    for _ in range(9000):
        values.append(double(RANDOM.getrandbits(63) % (2047 << 52)))
        values.append(RANDOM.gauss(0, 1))
        values.append(round(RANDOM.uniform(-1000, 1000), RANDOM.randrange(6)))
        values.append(RANDOM.randrange(-10**6, 10**6) / 1024)
        values.append(float(RANDOM.randrange(10**RANDOM.randrange(1, 20))))
    values += [0.0, -0.0, 0.005, -0.004, 0.125, 0.375, 1e16, 1e15, 1e-5, 1e-4, 9.5, 0.5, 1.5, 2.5,
               -0.5, 0.995, 9.995, 99.5, 123456789012345680.0]
    return values


def fixed(x, digits):
    q = decimal.Decimal(x).quantize(decimal.Decimal(1).scaleb(-digits),
                                    rounding=decimal.ROUND_HALF_EVEN)
    text = f'{q:f}'
    return text[1:] if q == 0 and text[0] == '-' else text


def scientific(x, digits):
    if x == 0:
        return fixed(0.0, digits)
    exact = decimal.Decimal(x)
    power = exact.adjusted()
    unit = decimal.Decimal(1).scaleb(-digits)
    q = exact.scaleb(-power).quantize(unit, rounding=decimal.ROUND_HALF_EVEN)
    if abs(q) >= 10:
        power += 1
        q = exact.scaleb(-power).quantize(unit, rounding=decimal.ROUND_HALF_EVEN)
    return f'{q:f}e{power}'


def faced(text, x, form):
    """What the flags make of it: whole numbers bare, U+2212 for the minus."""
    if x == 0 or (form == 'F' and x == int(x)):
        text = fixed(x, 0)
    return text.replace('-', '\u2212')


def shortest_single(b):
    """The nearest of the shortest decimals that round to this float32, ties to an even digit."""
    x = single(b)
    exact = Fraction(x)
    below = Fraction(single(b - 1))
    above = Fraction(single(b + 1)) if b + 1 < 0x7F800000 else exact + (exact - below)
    low, high = (below + exact) / 2, (exact + above) / 2
    for digits in range(1, 10):
        best = None
        power = decimal.Decimal(x).adjusted()
        for top in (power, power + 1):
            unit = Fraction(10) ** (top - digits + 1)
            floor = exact // unit
            for n in (floor, floor + 1):
                inside = low < n * unit < high or (b % 2 == 0 and n * unit in (low, high))
                rank = (abs(n * unit - exact), n % 2)
                if inside and (best is None or rank < best[0]):
                    best = rank, n * unit
        if best:
            return best[1]
    raise AssertionError(hex(b))


class Checks:
    """Requests with what they must give, by the name of the test case."""

    def __init__(self):
        self.requests, self.wants = [], []

    def add(self, case, request, good, want):
        """good(answer) decides; want is for the message."""
        self.requests.append(request)
        self.wants.append((case, good, want))

    def text(self, case, request, want):
        self.add(case, request, lambda got: got == want, want)

    def read(self, case, text):
        try:
            x = float(text.replace('\u2212', '-'))
        except OverflowError:
            x = float('inf')
        n = len(text.encode())
        if abs(x) == float('inf'):
            self.add(case, f'p {text}', lambda got: got.startswith('4 '), 'too large')
        else:
            self.text(case, f'p {text}', f'0 {bits(x):016x} {n}')

    def run(self, tool):
        done = subprocess.run([tool], input='\n'.join(self.requests) + '\n', capture_output=True,
                              text=True, encoding='utf-8')
        answers = done.stdout.split('\n')[:-1]
        if done.returncode or len(answers) != len(self.requests):
            print(f'Bail out! {tool}: exit {done.returncode}, {len(answers)} answers\n'
                  f'# {done.stderr[:500]}')
            return 1
        count, bad = collections.Counter(), collections.defaultdict(list)
        for request, (case, good, want), got in zip(self.requests, self.wants, answers):
            count[case] += 1
            if not good(got):
                bad[case].append(f'{request[:120]}: {got!r}, not {want!r}')
        print(f'1..{len(count) + 1}')
        for case in count:
            print(f'{"not " if bad[case] else ""}ok - {case} ({count[case]} values)')
            for line in bad[case][:5]:
                print(f'# {line}')
        enough = sum(count.values()) >= 100000
        print(f'{"" if enough else "not "}ok - {sum(count.values())} values in all')
        return 1 if any(bad.values()) or not enough else 0


def halves(checks):
    """Decimals that lie exactly between two doubles, and a hair beside it."""
    for _ in range(6000):
        b = RANDOM.getrandbits(63) % (2046 << 52)
        middle = (decimal.Decimal(double(b)) + decimal.Decimal(double(b + 1))) / 2
        mantissa, _, exponent = f'{middle:E}'.partition('E')
        point = '' if '.' in mantissa else '.'
        for tail in ('', '0' * RANDOM.randrange(900) + '1'):
            checks.read('halfway between two doubles', f'{mantissa}{point}{tail}E{exponent}')


def refusals(checks):
    case = 'what is no number is refused'
    for text, status in [('1,5', 2), ('12,75', 2), ('1,x', 3), ('', 1), (' ', 1), ('1e400', 4),
                         ('-1e400', 4), ('1.7976931348623159e308', 4), ('1e99999999999999999999', 4),
                         ('1' * 400, 4), ('1.5x', 3), ('nan', 3), ('inf', 3), ('NaN', 3), ('1e', 3),
                         ('1e+', 3), ('.', 3), ('-', 3), ('+', 3), ('--3', 3), ('0x10', 3),
                         ('1_0', 3), ('1 ', 3), (' 1', 3), ('1.2.3', 3), ('\u221e', 3), ('\u0661', 3)]:
        checks.add(case, f'p {text}', lambda got, s=status: got.startswith(f'{s} '), status)
    checks.text(case, 'p 1.5x', f'3 {0:016x} 3')
    checks.text(case, 'p 1,5', f'2 {0:016x} 1')
    for text in ['.5', '5.', '+3', '\u22122.5', '1e-400', '0e999999999999', '-0', '1e-99999999999999',
                 '1.7976931348623158e308', '1.797693134862315807e308', '2.47e-324', '2.48e-324',
                 '0' * 1000 + '1', '0.' + '0' * 400 + '1', '1' * 309, '9' * 308 + '.5']:
        checks.read('unusual spellings', text)
    for text, want in [('12', '0 12'), ('-9223372036854775808', '0 -9223372036854775808'),
                       ('9223372036854775807', '0 9223372036854775807'), ('+7', '0 7'),
                       ('9223372036854775808', '4 0'), ('1.0', '3 0'), ('-', '3 0'), ('', '1 0'),
                       ('1e3', '3 0')]:
        checks.text('whole numbers', f'i {text}', want)


def main():
    checks = Checks()
    values = doubles()
    for x in values:
        checks.text('shortest digits of a double', f's {bits(x):x}', repr(x))
    for x in RANDOM.sample(values, 12000) + values[-19:]:
        digits = RANDOM.choice([0, 1, 2, 2, 3, 4, 6, 17, 40])
        checks.text('fixed decimals', f'f {bits(x):x} {digits}', fixed(x, digits))
        checks.text('scientific', f'e {bits(x):x} {digits}', scientific(x, digits))
        form = RANDOM.choice('FE')
        plain = fixed(x, digits) if form == 'F' else scientific(x, digits)
        checks.text('flags', f'{form} {bits(x):x} {digits}', faced(plain, x, form))
    for x in RANDOM.sample(values, 9000):
        checks.read('reading', RANDOM.choice([repr(x), f'{x:.{RANDOM.randrange(25)}e}']))
    for x in RANDOM.sample(values, 1000):
        checks.read('reading', f'{decimal.Decimal(x):f}')
    for n in range(6000):
        b = (n // 8) << 23 | [0, 1, 2, 0x7FFFFF, 0x400000, 3, 5, 7][n % 8] if n < 2040 \
            else RANDOM.getrandbits(31)
        if 0 < b < 0x7F800000:
            want = shortest_single(b)
            checks.add('shortest digits of a float', f'g {b:x}',
                       lambda got, w=want: Fraction(decimal.Decimal(got)) == w, want)
    for x, text in [('7ff0000000000000', 'Infinity'), ('fff0000000000000', '-Infinity'),
                    ('7ff8000000000001', 'NaN')]:
        checks.text('not finite', f's {x}', text)
        checks.text('not finite', f'f {x} 2', text.replace('Infinity', 'inf'))
        checks.text('not finite', f'F {x} 2',
                    text.replace('Infinity', '\u221e').replace('-', '\u2212'))
    halves(checks)
    refusals(checks)
    return checks.run(sys.argv[1])


sys.exit(main())
