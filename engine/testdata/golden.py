#!/usr/bin/env python3
"""Kernel values of small.tsv to 30 digits, straight from the definitions: the oracle behind golden.txt.

    python3 testdata/golden.py > testdata/golden.txt        (needs mpmath)
"""
import collections, pathlib, re
from mpmath import mp, mpf, sqrt, acos, exp, log, pi, tanh, sin, cos

mp.dps = 60
docs = [collections.Counter(re.findall("[a-z]+", line.split("\t")[1].lower()))
        for line in pathlib.Path(__file__).with_name("small.tsv").read_text().splitlines()]
df = collections.Counter(t for d in docs for t in d)

def vector(d, weighting, norm, root):
    v = {t: mpf(n) * (log(mpf(len(docs)) / df[t]) if weighting == "tfidf" else 1) for t, n in d.items()}
    total = {"": mpf(1), "l1": sum(v.values()), "l2": sqrt(sum(x * x for x in v.values()))}[norm]
    return {t: sqrt(x / total) if root else x / total for t, x in v.items()}

def dot(x, y): return sum((x[t] * y[t] for t in sorted(x) if t in y), mpf(0))
def cosine(x, y): return min(dot(x, y) / sqrt(dot(x, x) * dot(y, y)), mpf(1))
def angle(x, y): return mpf(0) if x == y else acos(cosine(x, y))
def distance2(x, y): return sum((x.get(t, 0) - y.get(t, 0)) ** 2 for t in set(x) | set(y))

def arccos(n):
    j = {0: lambda a: pi - a, 1: lambda a: sin(a) + (pi - a) * cos(a),
         2: lambda a: 3 * sin(a) * cos(a) + (pi - a) * (1 + 2 * cos(a) ** 2)}[n]
    return lambda x, y: sqrt(dot(x, x) * dot(y, y)) ** n * j(angle(x, y)) / pi

sphere, raw = ("tf", "l1", True), ("tf", "", False)
kernels = {
    "c": (sphere, lambda x, y: 1 - cosine(x, y)),
    "diffusion:t=0.5": (sphere, lambda x, y: exp(-angle(x, y) ** 2 / mpf("0.5"))),
    "ngd": (sphere, lambda x, y: -2 * angle(x, y)),
    "ngd:shift=pi": (sphere, lambda x, y: pi - 2 * angle(x, y)),
    "ngd-exp:t=2": (sphere, lambda x, y: exp(-angle(x, y) / 2)),
    "bhattacharyya:embed=tfidf-l1-sqrt": (("tfidf", "l1", True), cosine),
    "linear": (raw, dot),
    "polynomial:gamma=0.5,r=1,degree=3": (raw, lambda x, y: (dot(x, y) / 2 + 1) ** 3),
    "rbf:gamma=0.25": (raw, lambda x, y: exp(-distance2(x, y) / 4)),
    "rbf:gamma=1,embed=tfidf-l2": (("tfidf", "l2", False), lambda x, y: exp(-distance2(x, y))),
    "sigmoid:gamma=0.125,r=-1": (raw, lambda x, y: tanh(dot(x, y) / 8 - 1)),
    "arccos:n=0": (raw, arccos(0)), "arccos:n=1": (raw, arccos(1)), "arccos:n=2": (raw, arccos(2)),
}
print("# kernel, documents i and j, value; written by golden.py")
for name, (embedding, k) in kernels.items():
    x = [vector(d, *embedding) for d in docs]
    for i in range(len(docs)):
        for j in range(i, len(docs)):
            print(name, i, j, mp.nstr(k(x[i], x[j]), 30))
