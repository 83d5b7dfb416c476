"""Finds the nearest rows of a sparse matrix: peers.py VECTORS.svm NEAR.npz K THREADS PEER. NEAR.npz is what gram
neighbours wrote for the same documents. Prints as JSON the seconds of the search alone, how many rows have the same
neighbours, cosines that differ by no more than rounding may stand for each other, and the share of all neighbours that
were found."""
import json
import sys
import time

import numpy
import scipy.sparse
from sklearn.datasets import load_svmlight_file

k, threads, peer = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
near = scipy.sparse.load_npz(sys.argv[2])
x, _ = load_svmlight_file(sys.argv[1], dtype=numpy.float32, multilabel=True)
x = x.tocsr()


def dot_topn(threads):
    import sparse_dot_topn

    y = x.T.tocsr()

    def search():
        found = sparse_dot_topn.sp_matmul_topn(x, y, top_n=k + 1, n_threads=threads, sort=True)  # and itself
        return found.indptr, found.indices, found.data

    return sparse_dot_topn.__version__, search


def scikit_learn():
    import sklearn.neighbors

    def search():
        m = sklearn.neighbors.NearestNeighbors(n_neighbors=k + 1, metric="cosine", algorithm="brute", n_jobs=threads)
        distance, found = m.fit(x).kneighbors(x)
        return numpy.arange(0, found.size + 1, k + 1), found.ravel(), 1 - distance.ravel()

    return sklearn.__version__, search


def pynndescent():
    import pynndescent

    def search(x=x):
        index = pynndescent.NNDescent(x, metric="cosine", n_neighbors=k + 1, n_jobs=threads, random_state=1)
        found, distance = index.neighbor_graph
        return numpy.arange(0, found.size + 1, k + 1), found.ravel(), 1 - distance.ravel()

    search(x[:500])  # compiles
    return pynndescent.__version__, search


version, search = {
    "sparse_dot_topn": lambda: dot_topn(threads),
    "sparse_dot_topn, its default": lambda: dot_topn(None),
    "scikit-learn": scikit_learn,
    "pynndescent": pynndescent,
}[peer]()
wall, cpu = time.perf_counter(), time.process_time()
starts, indices, cosines = search()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu

same = hits = 0
for i in range(x.shape[0]):
    row = slice(starts[i], starts[i + 1])
    theirs = {j: v for j, v in zip(indices[row], cosines[row]) if j != i}
    theirs = dict(sorted(theirs.items(), key=lambda e: -e[1])[:k])
    row = slice(near.indptr[i], near.indptr[i + 1])
    ours = dict(zip(near.indices[row], near.data[row]))
    least = min(ours.values(), default=0)
    # Those that only one side has must be at the end, where values are the same up to rounding or 0.
    others = [v for j, v in ours.items() if j not in theirs] + [v for j, v in theirs.items() if j not in ours]
    same += all(abs(v - least) <= 1e-4 for v in others) and all(abs(v - ours[j]) <= 1e-4 for j, v in theirs.items() if j in ours)
    near_enough = sum(v >= least - 1e-4 for v in theirs.values())
    hits += len(ours) if least <= 1e-4 else min(near_enough, len(ours))  # those of 0 may be any
print(json.dumps({"seconds": wall, "cores": cpu / wall, "version": version, "rows": x.shape[0], "same": int(same),
                  "recall": hits / max(near.nnz, 1)}))
