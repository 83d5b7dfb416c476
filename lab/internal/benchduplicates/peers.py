"""Finds near-duplicates: peers.py VECTORS.svm TEXTS THREADS WITHIN PEER. Prints as JSON the seconds from vectors in memory to
pairs, how many pairs were found, how many of these have a cosine of at least 1 - WITHIN, and the peak memory."""
import importlib.metadata
import json
import resource
import sys
import time

import numpy
import scipy.sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

path, texts, threads, within, peer = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
x, _ = load_svmlight_file(path, multilabel=True)
x = normalize(x.tocsr())
peer, _, permutations = peer.partition(", ")
jaccard = (1 - within) / (1 + within)


def dot_topn():
    import sparse_dot_topn

    ours, theirs = x.astype(numpy.float32), x.T.tocsr().astype(numpy.float32)

    def search():  # as many of a row as there may be: what it leaves out it would miss
        return sparse_dot_topn.sp_matmul_topn(ours, theirs, top_n=1000, threshold=1 - within, n_threads=threads).tocoo()

    found = timed(search)
    return numpy.column_stack([found.row, found.col])


def grouper():
    import pandas
    import string_grouper

    with open(texts, encoding="utf-8") as lines:
        names = pandas.Series([line.rstrip("\n") for line in lines])
    found = timed(lambda: string_grouper.match_strings(
        names, min_similarity=1 - within, max_n_matches=1000, number_of_processes=threads))
    return found[["left_index", "right_index"]].to_numpy()


def sets():
    return [x.indices[x.indptr[i]:x.indptr[i + 1]].tolist() for i in range(x.shape[0])]


def datasketch():
    import datasketch

    documents = [[b"%d" % t for t in s] for s in sets()]
    n = int(permutations)

    def search():
        index, pairs = datasketch.MinHashLSH(threshold=jaccard, num_perm=n), []
        hashes = datasketch.MinHash.bulk(documents, num_perm=n)
        for i, h in enumerate(hashes):
            pairs += [(j, i) for j in index.query(h) if h.jaccard(hashes[j]) >= jaccard]
            index.insert(i, h, check_duplication=False)
        return pairs

    return timed(search)


def rensa():
    import rensa

    documents = [[str(t) for t in s] for s in sets()]
    n = int(permutations)
    bands = bands_of(n)

    def search():
        index, pairs = rensa.RMinHashLSH(threshold=jaccard, num_perm=n, num_bands=bands), []
        hashes = rensa.RMinHash.from_token_sets(documents, num_perm=n, seed=1)
        for i, h in enumerate(hashes):
            pairs += [(j, i) for j in index.query(h) if h.jaccard(hashes[j]) >= jaccard]
            index.insert(i, h)
        return pairs

    return timed(search)


def bands_of(n):
    """The number of bands, a divisor of n, whose threshold (1/bands)^(bands/n) is nearest to the one asked for."""
    bands = [b for b in range(1, n + 1) if n % b == 0]
    return min(bands, key=lambda b: abs((1 / b) ** (b / n) - jaccard))


def timed(search):
    begin = time.perf_counter()
    found = search()
    global seconds
    seconds = time.perf_counter() - begin
    return found


pairs = {"sparse_dot_topn": dot_topn, "string_grouper": grouper, "datasketch": datasketch, "rensa": rensa}[peer]()
pairs = numpy.asarray(pairs, dtype=numpy.int64).reshape(-1, 2)
pairs = numpy.unique(numpy.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
right = 0
for at in range(0, len(pairs), 1 << 16):
    left, other = pairs[at:at + (1 << 16)].T
    cosines = numpy.asarray(x[left].multiply(x[other]).sum(axis=1)).ravel()
    right += int((cosines >= 1 - within - 1e-8).sum())
print(json.dumps({"seconds": seconds, "version": importlib.metadata.version(peer), "found": len(pairs), "right": right,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
