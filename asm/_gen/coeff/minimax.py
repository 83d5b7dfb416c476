"""Minimax coefficients of the polynomials in package asm, rounded to float32 one after the other.

    pip install mpmath && python3 minimax.py

For each function f the script looks for the p with the least max |p/f - 1| over the interval, by Lawson's iteration (least squares, each
point weighted anew by the error it was left with) in 40 digits. Coefficients given beforehand stay (1 at the constant term of an
exponential, so that exp(0) is exactly 1; 2 in arccos). Of the others the lowest is rounded to float32 and the rest is fitted again, so that
later coefficients take up the rounding of earlier ones. The polynomial of Mills' ratio alone is an interpolation, each coefficient rounded by itself.
"""

import struct

from mpmath import asin, cos, erfc, exp, fabs, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 40


def round32(x):
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def horner(p, x):
    s = mpf(0)
    for a in reversed(p):
        s = s * x + a
    return s


def lawson(values, grid, fixed, n, rounds=40):
    """The n coefficients that follow those in fixed."""
    k = len(fixed)
    rows = [[t ** (k + j) / v for j in range(n)] for t, v in zip(grid, values)]
    want = [1 - horner(fixed, t) / v for t, v in zip(grid, values)]
    weight = [mpf(1) / len(grid)] * len(grid)
    best, least = None, mp.inf
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for w, r, y in zip(weight, rows, want):
            for i in range(n):
                b[i] += w * r[i] * y
                for j in range(i + 1):
                    a[i, j] += w * r[i] * r[j]
        for i in range(n):
            for j in range(i):
                a[j, i] = a[i, j]
        p = list(lu_solve(a, b))
        err = [fabs(sum(q * v for q, v in zip(p, r)) - y) for r, y in zip(rows, want)]
        if max(err) < least:
            best, least = p, max(err)
        weight = [w * e for w, e in zip(weight, err)]
        total = sum(weight)
        weight = [w / total for w in weight]
    return best


def fit(name, f, a, b, fixed, degree):
    a, b = mpf(a), mpf(b)
    grid = [(a + b) / 2 - (b - a) / 2 * cos(pi * (i + mpf("0.5")) / 120) for i in range(120)]
    values = [f(t) for t in grid]
    p = [mpf(v) for v in fixed]
    while len(p) <= degree:
        p.append(round32(lawson(values, grid, p, degree + 1 - len(p))[0]))
    worst = max(fabs(horner(p, t) / f(t) - 1) for t in (a + (b - a) * (i + mpf("0.5")) / 2000 for i in range(2000)))
    report(name, p, a, b, worst)


def report(name, p, a, b, worst):
    print(f"{name}: degree {len(p) - 1} on [{float(a)}, {float(b)}], relative error 2^{float(log(worst, 2)):.2f}")
    for i, v in enumerate(p):
        print(f"\t{i}: {float(v).hex()}  {float(v)!r}")


def theta(c):
    return 2 * asin(sqrt(c / 2))


def arc1(c):
    t = theta(c)
    return (sin(t) - t * cos(t)) / (c * sqrt(c)) / pi


def arc2(c):
    t = theta(c)
    return (t * (1 + 2 * cos(t) ** 2) - 3 * sin(t) * cos(t)) / (c**2 * sqrt(c)) / pi


def mills(u):
    """exp(z²/2) Q(z) / t, t = 1/(1+z/4) = (1+u)/2, Q the upper tail of the normal distribution."""
    t = (1 + u) / 2
    z = 4 * (1 / t - 1)
    return exp(z * z / 2) * erfc(z / sqrt(mpf(2))) / 2 / t


def interpolate(name, f, n):
    """The polynomial through f at n Chebyshev nodes of [-1, 1]."""
    nodes = [cos(pi * (i + mpf("0.5")) / n) for i in range(n)]
    rows = matrix(n, n)
    for i, u in enumerate(nodes):
        for j in range(n):
            rows[i, j] = u**j
    p = [round32(c) for c in lu_solve(rows, matrix([f(u) for u in nodes]))]
    check = [mpf(i) / 1000 for i in range(-999, 1001)]
    report(name, p, -1, 1, max(fabs(horner(p, u) / f(u) - 1) for u in check))


def entropy(r):
    """What is left of half the binary entropy of r/(1+r), divided by its share r/(1+r) and the sum 1+r, once -log2(r)/2 is taken out."""
    return (1 + r) * log(1 + r, 2) / r / 2


if __name__ == "__main__":
    fit("arccos²(1-c)/c", lambda c: theta(c) ** 2 / c, 0, 1, [2], 8)
    fit("exp(r)", exp, "-0.35", "0.35", [1, 1], 6)
    fit("2^f", lambda f: exp(f * log(mpf(2))), "-0.505", "0.505", [1], 6)
    fit("(sin θ - θ cos θ) / (π c^(3/2))", arc1, 0, 1, [], 6)
    fit("(θ (1 + 2 cos² θ) - 3 sin θ cos θ) / (π c^(5/2))", arc2, 0, 1, [], 6)
    fit("(1+r) log2(1+r) / 2r", entropy, 0, 1, [], 7)
    fit("log2(1+z) / 2z", lambda z: log(1 + z, 2) / z / 2, sqrt(mpf(2)) / 2 - 1, sqrt(mpf(2)) - 1, [], 7)
    interpolate("exp(z²/2) Q(z) / t", mills, 10)
