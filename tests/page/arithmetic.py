# SPDX-License-Identifier: MIT
"""arithmetic.py - works out what a worked line says, from its printed operands, as a reader would.

A line holds statements "expression = number"; everything else in it is words. Expressions know
+ − · × ÷ √ e^x, parentheses, numbers with an exponent, and a number times a vector. A statement is
wrong when its left side is more than one unit of the right side's last printed digit away from it.
"""
import decimal
import math
import re
from fractions import Fraction

decimal.getcontext().prec = 60
decimal.getcontext().Emax, decimal.getcontext().Emin = 999999, -999999
NUMBER = r'\d+(?:\.\d+)?(?:e[−-]?\d+)?'
TOKEN = re.compile(rf'\s*(e\^|√|[-+−·×÷()\[\],]|{NUMBER})')


class NoExpression(Exception):
    """The text is words, not arithmetic."""


class Reader:
    """A recursive descent over the tokens of one expression."""

    def __init__(self, text):
        self.tokens = []
        at = 0
        text = text.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if not found:
                raise NoExpression(text)
            self.tokens.append(found[1].replace('-', '−') if len(found[1]) == 1 else found[1])
            at = found.end()
        self.at = 0
        self.operations = 0

    def look(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ''

    def take(self, *wanted):
        if wanted and self.look() not in wanted:
            raise NoExpression(' '.join(self.tokens))
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self):
        got = self.sum()
        if self.at != len(self.tokens):
            raise NoExpression(' '.join(self.tokens))
        return got

    def sum(self):
        got = self.term()
        while self.look() in ('+', '−'):
            sign = 1 if self.take() == '+' else -1
            self.operations += 1
            more = self.term()
            if isinstance(got, list):
                got = [a + sign * b for a, b in zip(got, more)]
            else:
                got = got + sign * more
        return got

    def term(self):
        got = self.factor()
        while self.look() in ('·', '×', '÷'):
            divide = self.take() == '÷'
            self.operations += 1
            more = self.factor()
            if isinstance(more, list):
                got = [got * x for x in more]
            elif divide:
                if more == 0:
                    raise NoExpression('a division by 0')
                got = got / more
            else:
                got = got * more
        return got

    def factor(self):
        token = self.look()
        if token == '√':
            self.take()
            self.operations += 1
            return root(self.factor())
        if token == 'e^':
            self.take()
            self.operations += 1
            return power_of_e(self.factor())
        if token == '−':
            self.take()
            return -self.factor()
        if token == '(':
            self.take()
            got = self.sum()
            self.take(')')
            return got
        if token == '[':
            self.take()
            got = [self.sum()]
            while self.look() == ',':
                self.take()
                got.append(self.sum())
            self.take(']')
            return got
        if not re.fullmatch(NUMBER, token):
            raise NoExpression(' '.join(self.tokens))
        return Fraction(decimal.Decimal(self.take().replace('−', '-')))


def root(x):
    return Fraction((decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).sqrt())


def power_of_e(x):
    return Fraction((decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).exp())


def evaluate(text):
    """(value, number of operations); NoExpression where it is words."""
    reader = Reader(text)
    return reader.whole(), reader.operations


def unit(text):
    """One unit of the last printed digit."""
    mantissa, _, power = text.partition('e')
    places = len(mantissa.partition('.')[2])
    return Fraction(10) ** (int(power.replace('−', '-') or 0) - places)


def statements(line):
    """Pairs (expression, result text): the longest expression before each '='."""
    found = []
    for at in (x.start() for x in re.finditer('=', line)):
        right = re.match(rf'\s*≈?\s*(\[[^\]]*\]|−?{NUMBER})', line[at + 1:])
        if not right:
            continue
        left = line[:at].rstrip()
        start = max(left.rfind(x) for x in '=;:') + 1
        left = left[start:]
        while left.strip():
            try:
                _, operations = evaluate(left)
                if operations:
                    found.append((left.strip(), right[1]))
                break
            except NoExpression:  # drop the first word or sign, and try again
                left = re.sub(r'^\s*(\S)[^\s(√]*', '', left, count=1)
    return found


def wrong(line):
    """The statements of a line that do not hold, and how many there were."""
    bad, count = [], 0
    for left, right in statements(line):
        count += 1
        got, _ = evaluate(left)
        wanted, _ = evaluate(right)
        texts = re.findall(NUMBER, right) if isinstance(wanted, list) else [right.lstrip('−')]
        pairs = zip(got, wanted, texts) if isinstance(wanted, list) else [(got, wanted, texts[0])]
        for a, b, text in pairs:
            # sums and products of whole numbers leave nothing to round
            exact = isinstance(a, Fraction) and a.denominator == 1 and '.' not in left + text
            if not isinstance(a, Fraction) or abs(a - b) > (0 if exact else unit(text)):
                bad.append(f'{left} is {show(a)}, not {right}')
    return bad, count


def show(x):
    return f'{float(x):.6g}' if isinstance(x, Fraction) and math.isfinite(float(x)) else repr(x)


def try_out():
    """What this module must see, and must not; a list of surprises."""
    right = ['cat: 1·0 + 2·2 = 4', '4 ÷ √2 = 2.83',
             'e^2.8284 = 16.92; all four e’s sum to 31.40; 16.92 ÷ 31.40 = 0.54',
             'first: 0.06·1 + 0.54·3 + 0.13·0 + 0.27·0 = 1.68', '2·(−3) + 1 = −5',
             'subtract the largest, 30.5, first: e^(28.25 − 30.5) = 0.11',
             '0.54·[3, 0] + 0.27·[0, 1] = [1.62, 0.27]', '3e20·2 = 6.00e20']
    false = ['cat: 1·0 + 2·2 = 5', '4 ÷ √2 = 2.85', 'e^2.8284 = 16.90', '2·(−3) + 1 = 5',
             '0.54·[3, 0] + 0.27·[0, 1] = [1.62, 0.29]', '16.92 ÷ 31.40 = 0.52', '3e20·2 = 6.02e20']
    words = ['sat looks most at cat', 'dₖ = 2', 'query = [1, 2]']
    faults = [f'{x!r} is called wrong' for x in right if wrong(x)[0] or not wrong(x)[1]]
    faults += [f'{x!r} is not called wrong' for x in false if not wrong(x)[0]]
    return faults + [f'{x!r} is taken for arithmetic' for x in words if wrong(x)[1]]


if __name__ == '__main__':
    print('\n'.join(try_out()) or 'all as expected')
