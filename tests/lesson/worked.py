# SPDX-License-Identifier: MIT
"""worked.py - reads what `qkv explain` prints as a reader would: the table's cells, and the worked line
evaluated from its printed operands with exact fractions (e^x in double).
"""
import decimal
import math
import re
from fractions import Fraction

decimal.getcontext().prec = 400
NUMBER = r'\(?−?\d[\d.]*(?:e−?\d+)?\)?'


def value(text):
    """A printed number, with or without parentheses."""
    return Fraction(decimal.Decimal(text.strip('()').replace('−', '-')))


def shown(x, digits):
    """How a double has to be printed: half to even on the exact value, U+2212, never −0.00."""
    if abs(x) >= 1e9:
        exact = decimal.Decimal(x)
        q = round(exact.scaleb(-exact.adjusted()), digits)
        power = exact.adjusted()
        if abs(q) >= 10:
            power += 1
            q = round(exact.scaleb(-power), digits)
        return f'{q:f}e{power}'.replace('-', '−')
    unit = decimal.Decimal(1).scaleb(-digits)
    text = f'{decimal.Decimal(x).quantize(unit, rounding=decimal.ROUND_HALF_EVEN):f}'
    if not float(text):
        text = text.lstrip('-')
    return text.replace('-', '−')


def is_shown(text, x, digits):
    """Does the printed text stand for the double x? Whole numbers may be bare."""
    if text == shown(x, digits):
        return True
    return x == int(x) and text == shown(x, 0)


def products(text):
    """The value of "a·b + c·d + (the other 3: e)"."""
    total = Fraction(0)
    for term in split_sum(text):
        rest = re.fullmatch(r'\(the other \d+: (.*)\)', term)
        factors = [value(rest[1])] if rest else [value(f) for f in term.split('·')]
        total += math.prod(factors)
    return total


def split_sum(text):
    """Terms between " + ", none inside brackets."""
    return re.split(r' \+ ', text)


def close(got, result, digits):
    """Within one unit of the printed result's last digit."""
    unit = Fraction(1, 10 ** digits)
    power = re.search(r'e(−?\d+)$', result)
    if power:
        unit *= Fraction(10) ** int(power[1].replace('−', '-'))
    return abs(Fraction(got) - value(result)) <= unit


def vector(text):
    """(numbers as text, whether an ellipsis ends it)"""
    parts = text.strip('[]').split(',')
    cut = parts[-1] == '…'
    return parts[:-1] if cut else [p for p in parts if p], cut


def check_score(line, digits):
    left, _, result = line.rpartition(' = ')
    return close(products(left), result, digits)


def check_scaled(line, digits):
    left, _, result = line.rpartition(' = ')
    words = left.split(' ')
    x = value(words[0])
    for sign, operand in zip(words[1::2], words[2::2]):
        if operand.startswith('√'):
            x = Fraction(float(x) / math.sqrt(value(operand[1:])))
        else:
            x = x * value(operand) if sign == '×' else x / value(operand)
    return close(x, result, digits)


WEIGHT = re.compile(rf'(?:subtract the largest, ({NUMBER}), first: )?e\^(\(.*?\)|{NUMBER}) = '
                    rf'({NUMBER}); (.*?) ({NUMBER}); ({NUMBER}) ÷ ({NUMBER}) = ({NUMBER})')


def check_weight(line, digits):
    found = WEIGHT.fullmatch(line)
    if not found:
        return False
    largest, power, own, _, total, own2, total2, result = found.groups()
    if own != own2 or total != total2:
        return False
    if largest:
        a, b = power[1:-1].split(' − ')
        x = float(value(a) - value(b))
    else:
        x = float(value(power))
    places = len(own.partition('.')[2])
    return close(math.exp(x), own, places) and close(value(own) / value(total), result, digits)


def check_blend(line, digits):
    """The blend of vectors, or of the first channel only."""
    left, _, result = line.rpartition(' = ')
    if not result.startswith('['):
        return close(products(left.removeprefix('first number of the output: ')), result, digits)
    total = None
    for term in split_sum(left):
        weight, numbers = term.split('·')
        part = [value(weight) * value(x) for x in vector(numbers)[0]]
        total = part if total is None else [a + b for a, b in zip(total, part)]
    return all(close(a, b, digits) for a, b in zip(total, vector(result)[0]))


class Page:
    """One text output, taken apart."""

    def __init__(self, text):
        self.text = text
        lines = text.split('\n')
        first = next(i for i, line in enumerate(lines) if line.startswith('token '))
        self.caption = ' '.join(lines[:first])
        self.head = lines[first]
        self.rows = {}
        last = first + 1
        while last < len(lines) and re.match(r'\d+ more |\S+( {2,}|$)', lines[last]):
            cells = lines[last].replace(' more ', '_more ').split()
            self.rows[cells[0]] = cells[1:]
            last += 1
        # a continued line is indented
        self.after = '\n'.join(lines[last:]).replace('\n  ', ' ').strip().split('\n')

    def worked(self):
        """The worked line, its label cut off."""
        for line in self.after:
            if ' = ' in line and not line.startswith('output = '):
                return line if line.startswith('first') else line.partition(': ')[2] or line
        return None
