# SPDX-License-Identifier: MIT
"""numpy.py - stands in for NumPy where the lesson's programs are tested: just what those use, for
matrices of floats, written from NumPy's documentation, so that the test needs no packages.
"""
import math

inf = math.inf
nan = math.nan


class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]

    @property
    def shape(self):
        return (len(self.rows), len(self.rows[0]))

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __getitem__(self, i):
        return self.rows[i]

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)]
                       for row in self.rows])

    def max(self, axis, keepdims):
        assert axis == -1 and keepdims
        return Matrix([[max(row)] for row in self.rows])

    def sum(self, axis, keepdims):
        assert axis == -1 and keepdims
        return Matrix([[sum(row)] for row in self.rows])

    def __sub__(self, other):
        return pairwise(lambda a, b: a - b, self, other)

    def __mul__(self, other):
        return pairwise(lambda a, b: a * b, self, other)

    def __truediv__(self, other):
        return pairwise(lambda a, b: a / b, self, other)

    def __add__(self, other):
        return pairwise(lambda a, b: a + b, self, other)

    __radd__ = __add__

    def __le__(self, other):
        return pairwise(lambda a, b: a <= b, self, other)

    def __lt__(self, other):
        return pairwise(lambda a, b: a < b, self, other)

    def __gt__(self, other):
        return pairwise(lambda a, b: a > b, self, other)


def spread(x, shape):
    rows = x.rows if isinstance(x, Matrix) else [[x]]
    return [[rows[i if len(rows) > 1 else 0][j if len(rows[0]) > 1 else 0] for j in range(shape[1])]
            for i in range(shape[0])]


def pairwise(f, *parts):
    shapes = [p.shape for p in parts if isinstance(p, Matrix)]
    shape = (max(s[0] for s in shapes), max(s[1] for s in shapes))
    return Matrix([[f(*cell) for cell in zip(*rows)]
                   for rows in zip(*(spread(p, shape) for p in parts))])


def array(rows):
    return Matrix(rows)


def sqrt(x):
    return math.sqrt(x)


def exp(x):
    return pairwise(math.exp, x)


def isfinite(x):
    return pairwise(math.isfinite, x)


def where(condition, a, b):
    return pairwise(lambda c, x, y: x if c else y, condition, a, b)


def indices(shape):
    return (Matrix([[i] * shape[1] for i in range(shape[0])]),
            Matrix([list(range(shape[1]))] * shape[0]))
