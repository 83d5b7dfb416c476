#!/usr/bin/env python3
"""Values of kernels made of others, and 1 - cosine in their feature spaces, as functions of c = 1 - cosine and two norms, straight from the
definitions in 120 digits: the oracle behind algebra.txt.

    python3 testdata/algebra.py > testdata/algebra.txt        (needs mpmath)
"""
from mpmath import mp, mpf, sqrt, acos, exp, log, pi, tanh, sin, cos

mp.dps = 120
theta = lambda c: acos(1 - c)

def arccos(n):
    j = {0: lambda a: pi - a, 1: lambda a: sin(a) + (pi - a) * cos(a),
         2: lambda a: 3 * sin(a) * cos(a) + (pi - a) * (1 + 2 * cos(a) ** 2)}[n]
    return lambda c, x, y: (x * y) ** n * j(theta(c)) / pi

def feature(k):
    return lambda c, x, y: (1 - k(c, x, y) / sqrt(k(0, x, x) * k(0, y, y)), sqrt(k(0, x, x)), sqrt(k(0, y, y)))

def compose(*layers):  # from the bottom up
    def k(c, x, y):
        for l in layers[:-1]:
            c, x, y = feature(l)(c, x, y)
        return layers[-1](c, x, y)
    return k

def product(*of):
    def k(c, x, y):
        v = mpf(1)
        for p in of:
            v *= p(c, x, y)
        return v
    return k

def weighted(*of): return lambda c, x, y: sum((mpf(w) * p(c, x, y) for w, p in of), mpf(0))
def power(k, p): return lambda c, x, y: k(c, x, y) ** mpf(p)
def exponential(k): return lambda c, x, y: exp(k(c, x, y))
def normalise(k): return lambda c, x, y: k(c, x, y) / sqrt(k(0, x, x) * k(0, y, y))
def centred(k): return lambda c, x, y: k(c, x, y) - k(1, x, 0) - k(1, 0, y) + k(0, 0, 0)

linear = lambda c, x, y: x * y * (1 - c)
bhattacharyya = lambda c, x, y: 1 - c
def diffusion(t): return lambda c, x, y: exp(-theta(c) ** 2 / mpf(t))
def ngd(shift): return lambda c, x, y: mpf(shift) - 2 * theta(c)
def ngdexp(t): return lambda c, x, y: exp(-theta(c) / mpf(t))
def polynomial(gamma, r, degree): return lambda c, x, y: (mpf(gamma) * linear(c, x, y) + mpf(r)) ** degree
def square(c, x, y): return (x - y) ** 2 + 2 * x * y * c
def rbf(gamma): return lambda c, x, y: exp(-mpf(gamma) * square(c, x, y))
def ned(beta): return lambda c, x, y: -square(c, x, y) ** (mpf(beta) / 2)

kernels = {
    "linear": linear, "bhattacharyya": bhattacharyya, "diffusion:t=0.5": diffusion("0.5"), "ngd-exp:t=2": ngdexp(2), "ngd:shift=7": ngd(7),
    "arccos:n=0": arccos(0), "arccos:n=1": arccos(1), "arccos:n=2": arccos(2),
    "polynomial:gamma=0.5,r=1,degree=3": polynomial("0.5", 1, 3), "polynomial:gamma=0.5,r=0,degree=2": polynomial("0.5", 0, 2),
    "polynomial:gamma=0.25,r=2,degree=20": polynomial("0.25", 2, 20), "rbf:gamma=0.125": rbf("0.125"),
    "arccos:n=0,layers=3": compose(arccos(0), arccos(0), arccos(0)),
    "arccos:n=1,layers=3": compose(arccos(1), arccos(1), arccos(1)),
    "arccos:n=2,layers=2": compose(arccos(2), arccos(2)),
    "compose(arccos:n=1,arccos:n=0):layers=3": compose(arccos(1), arccos(0), arccos(0)),
    "compose(arccos:n=2,arccos:n=0,arccos:n=1)": compose(arccos(2), arccos(0), arccos(1)),
    "compose(arccos:n=0,rbf:gamma=1)": compose(arccos(0), rbf(1)),
    "compose(arccos:n=1,rbf:gamma=0.125)": compose(arccos(1), rbf("0.125")),
    "compose(polynomial:gamma=0.5,r=1,degree=2,arccos:n=1)": compose(polynomial("0.5", 1, 2), arccos(1)),
    "compose(rbf:gamma=0.125,ngd)": compose(rbf("0.125"), ngd(0)),
    "compose(ngd:shift=7,linear)": compose(ngd(7), linear),
    "product(arccos:n=1,arccos:n=0,arccos:n=0)": product(arccos(1), arccos(0), arccos(0)),
    "product(rbf:gamma=0.125,linear)": product(rbf("0.125"), linear),
    "0.5*diffusion:t=0.5 + 0.5*linear": weighted(("0.5", diffusion("0.5")), ("0.5", linear)),
    "2*arccos:n=1 + 0.25*rbf:gamma=0.125 + linear": weighted((2, arccos(1)), ("0.25", rbf("0.125")), (1, linear)),
    "linear + -0.5*arccos:n=1": weighted((1, linear), ("-0.5", arccos(1))),
    "power(arccos:n=1):p=2.5": power(arccos(1), "2.5"),
    "power(linear + rbf:gamma=0.125):p=3": power(weighted((1, linear), (1, rbf("0.125"))), 3),
    "exp(2*bhattacharyya)": exponential(weighted((2, bhattacharyya))),
    "exp(0.125*linear)": exponential(weighted(("0.125", linear))),
    "exp(0.5*ngd)": exponential(weighted(("0.5", ngd(0)))),
    "normalise(polynomial:gamma=0.5,r=1,degree=3)": normalise(polynomial("0.5", 1, 3)),
    "normalise(arccos:n=2)": normalise(arccos(2)),
    "normalise(exp(0.125*linear))": normalise(exponential(weighted(("0.125", linear)))),
    "centred(ngd)": centred(ngd(0)), "centred(ned)": centred(ned(1)), "centred(rbf:gamma=0.125)": centred(rbf("0.125")),
    "ngd-power:beta=0.75": lambda c, x, y: -(2 * theta(c)) ** mpf("0.75"),
    "ngd-log": lambda c, x, y: -log(1 + 2 * theta(c)),
    "hellinger:gamma=2": lambda c, x, y: exp(-2 * c),
    "ned": ned(1), "ned:beta=0.5": ned("0.5"), "ned:beta=2": ned(2),
    "ned-log": lambda c, x, y: -log(1 + sqrt(square(c, x, y))),
}
cs = [0.0, 2.0 ** -149, 1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.5, 0.9, 0.999, 1.0, 1.001, 1.3, 1.7, 1.99, 2 - 2.0 ** -23, 2.0]
norms = [(1.0, 1.0), (2.0, 3.0), (3.14159, 3.14158), (0.015625, 7.5)]
print("# kernel, c, x, y, value, c2 (- where k(x, x) isn't above 0); written by algebra.py")
for name, k in kernels.items():
    for c in cs:
        for x, y in norms:
            c, x, y = mpf(c), mpf(x), mpf(y)
            v = k(c, x, y)
            c2 = mp.nstr(feature(k)(c, x, y)[0], 25) if k(mpf(0), x, x) > 0 and k(mpf(0), y, y) > 0 else "-"
            print(name, repr(float(c)), repr(float(x)), repr(float(y)), mp.nstr(v, 25), c2, sep="\t")
