#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the coefficients of 2^f on [-1/2, 1/2] that docs/numerics.md lists and contract.h holds.

Remez exchange in 60-digit decimals for the smallest largest *relative* error, with the constant
term fixed at 1 (so 2^0 is exactly 1); then each coefficient is rounded to the type. No library.
"""
import decimal
import struct

decimal.getcontext().prec = 60
D = decimal.Decimal
LN2 = D(2).ln()


def exp2(x):
    return (x * LN2).exp()


def solve(rows, right):
    """Gaussian elimination with partial pivoting."""
    n = len(right)
    m = [r[:] + [right[i]] for i, r in enumerate(rows)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(n):
            if r != i and m[r][i]:
                k = m[r][i] / m[i][i]
                m[r] = [a - k * b for a, b in zip(m[r], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def error(c, x):
    p = D(0)
    for k in reversed(c):
        p = p * x + k
    return (p * x + 1) / exp2(x) - 1


def remez(degree):
    """Coefficients c1 ... c_degree of 1 + c1 f + ...; the error alternates at degree + 1 points
    apart from f = 0, where it is 0 by construction."""
    n = degree + 1
    pi = D("3.14159265358979323846264338327950288419716939937510582")
    cos = lambda t: sum((-1) ** k * t ** (2 * k) / D(_factorial(2 * k)) for k in range(40))
    points = sorted(cos(pi * (2 * i + 1) / (2 * n)) / 2 for i in range(n))
    # 0 separates the two sides: the sign does not flip across it, because the error vanishes there
    for _ in range(12):
        rows, right, sign = [], [], D(1)
        for i, x in enumerate(points):
            if i and not (points[i - 1] < 0 < x):
                sign = -sign
            rows.append([x ** k / exp2(x) for k in range(1, degree + 1)] + [sign])
            right.append(1 - 1 / exp2(x))
        *c, level = solve(rows, right)
        grid = [D(i) / 1000 - D(1) / 2 for i in range(1001)]
        values = [error(c, x) for x in grid]
        extremes = []
        for i, x in enumerate(grid):
            left = values[i - 1] if i else None
            rightv = values[i + 1] if i + 1 < len(grid) else None
            if (left is None or abs(values[i]) >= abs(left)) and (
                rightv is None or abs(values[i]) >= abs(rightv)) and x != 0:
                extremes.append((abs(values[i]), x))
        chosen = sorted(x for _, x in sorted(extremes, reverse=True)[:n])
        if len(chosen) < n or chosen == points:
            break
        points = chosen
    return c, max(abs(v) for v in values)


def _factorial(n):
    return 1 if n < 2 else n * _factorial(n - 1)


def main():
    for name, degree, fmt in (("float32", 5, "f"), ("float64", 11, "d")):
        c, worst = remez(degree)
        print(f"{name}, degree {degree}, largest relative error before rounding {float(worst):.3g}")
        for k, x in enumerate(c, 1):
            print(f"  c{k} = {struct.unpack(fmt, struct.pack(fmt, float(x)))[0].hex()}")


if __name__ == "__main__":
    main()
