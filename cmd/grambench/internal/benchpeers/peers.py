"""Finds the nearest rows of a sparse matrix with sparse_dot_topn: peers.py VECTORS.svm NEAR.npz K THREADS. NEAR.npz is what
grambench neighbours wrote for the same documents. Prints as JSON the seconds of the product alone, and how many rows have
the same neighbours: cosines that differ by no more than rounding may stand for each other."""
import json
import sys
import time

import numpy
import scipy.sparse
import sparse_dot_topn
from sklearn.datasets import load_svmlight_file

k, threads = int(sys.argv[3]), int(sys.argv[4])
near = scipy.sparse.load_npz(sys.argv[2])
x, _ = load_svmlight_file(sys.argv[1], dtype=numpy.float32, multilabel=True)
x = x.tocsr()
y = x.T.tocsr()
wall, cpu = time.perf_counter(), time.process_time()
found = sparse_dot_topn.sp_matmul_topn(x, y, top_n=k + 1, n_threads=threads, sort=True)  # and itself
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu

same = 0
for i in range(x.shape[0]):
    row = slice(found.indptr[i], found.indptr[i + 1])
    theirs = {j: v for j, v in zip(found.indices[row], found.data[row]) if j != i}
    theirs = dict(sorted(theirs.items(), key=lambda e: -e[1])[:k])
    row = slice(near.indptr[i], near.indptr[i + 1])
    ours = dict(zip(near.indices[row], near.data[row]))
    least = min(ours.values(), default=0)
    # Those that only one side has must be at the end, where values are the same up to rounding or 0.
    others = [v for j, v in ours.items() if j not in theirs] + [v for j, v in theirs.items() if j not in ours]
    same += all(abs(v - least) <= 1e-4 for v in others) and all(abs(v - ours[j]) <= 1e-4 for j, v in theirs.items() if j in ours)
print(json.dumps({"seconds": wall, "cores": cpu / wall, "version": sparse_dot_topn.__version__, "rows": x.shape[0], "same": same}))
