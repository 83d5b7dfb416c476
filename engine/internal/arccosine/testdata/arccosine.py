#!/usr/bin/env python3
"""J_n of the arc-cosine kernels and 1 - J_n(θ)/J_n(0) as functions of c = 1 - cos θ, in 75 digits from the integral

    J_n = Γ(n+1) ∫₀^φ (cos ψ - cos φ)ⁿ dψ,   φ = π - θ

in the variable u = φ - ψ, by tanh-sinh quadrature between points that follow its scales: the oracle behind arccosine.txt.

    python3 testdata/arccosine.py > testdata/arccosine.txt        (needs mpmath)
"""
from mpmath import mp, mpf, sqrt, asin, sin, cos, gamma, pi, quad, nstr

mp.dps = 75

def diagonal(n): return sqrt(pi) * 2 ** n * gamma(n + mpf(1) / 2)

def j(n, c):
    if c == 0:
        return diagonal(n)
    theta = 2 * asin(sqrt(c / 2))
    phi = 2 * asin(sqrt((2 - c) / 2))
    if phi == 0:
        return mpf(0)
    points = [mpf(0)]
    scale = min(theta, phi)
    while scale < phi:
        points.append(scale)
        scale *= 8
    if points[-1] != phi:
        points.append(phi)
    # cos ψ - cos φ = 2 sin(u/2) sin(φ - u/2), and sin(φ - u/2) = sin(θ + u/2); scaled, since quad looks at absolute errors
    f = lambda u: (2 * sin(u / 2) * sin(theta + u / 2 if c < 1 else phi - u / 2) / (2 - c)) ** n / phi
    return gamma(n + 1) * quad(f, points) * (2 - c) ** n * phi

degrees = ["0", "1", "2", "3", "4", "5", "6", "9", "15", "28", "0.5", "1.5", "2.5", "7.5", "0.25", "0.75", "0.3", "0.4999999", "0.5000001", "1.500000000000001",
           "0.2499", "-0.25", "-0.4", "-0.49", "1.000001", "2.9999999", "3.1", "10.7", "0.0000001", "-0.0001"]
cs = [0.0, 2.0 ** -149, 1e-12, 1e-4, 0.03, 0.2, 0.5, 0.8, 1.0, 1.0 + 2.0 ** -20, 1.4, 1.9, 2 - 2.0 ** -23, 2.0]
print("# degree, c, J, 1 - J/J(0); written by arccosine.py")
for text in degrees:
    n = mpf(float(text))
    for value in cs:
        c = mpf(value)
        v = j(n, c)
        lost = 1 - v / diagonal(n)
        print(text, repr(value), nstr(v, 20), nstr(lost, 20), sep="\t")
