"""Ten nearest neighbours of each document by the cosine of √θ, against sparse_dot_topn, scikit-learn and pynndescent.

Times are search times with the documents in memory; pynndescent, which is approximate, is compiled before.
The comparison fails if an exact peer has other neighbours. Cosines that differ by at most 1e-4, the rounding error of
such sums in float32, count as equal.
"""

from __future__ import annotations

from typing import Any

from measure import MEASURED, Bench, Contender, Corpus, Failure, Run, installed, measured, table, timed

K = 10


CORPORA = [Corpus("Go standard library"), Corpus("20 Newsgroups", ("20news-bydate/train.tsv.gz",))]
PEERS = {"sparse_dot_topn": "sparse_dot_topn", "sparse_dot_topn, one thread": "sparse_dot_topn",
         "scikit-learn": "sklearn", "pynndescent": "pynndescent"}


def search(vectors: str, near: str, peer: str, threads: int) -> dict[str, Any]:
    """Searches with a peer and compares the result with gram's neighbours."""
    import numpy
    import scipy.sparse
    from sklearn.datasets import load_svmlight_file

    x, _ = load_svmlight_file(vectors, dtype=numpy.float32, multilabel=True)
    x = x.tocsr()
    if peer.startswith("sparse_dot_topn"):
        import sparse_dot_topn

        y, threads = x.T.tocsr(), threads if peer == "sparse_dot_topn" else None
        found = timed(lambda: sparse_dot_topn.sp_matmul_topn(x, y, top_n=K + 1, n_threads=threads, sort=True))
        starts, indices, cosines = found.indptr, found.indices, found.data
    else:
        if peer == "scikit-learn":
            from sklearn.neighbors import NearestNeighbors

            nearest = NearestNeighbors(n_neighbors=K + 1, metric="cosine", algorithm="brute", n_jobs=threads)
            distances, indices = timed(lambda: nearest.fit(x).kneighbors(x))
        else:
            from pynndescent import NNDescent

            def descend(rows: Any) -> Any:
                options = {"metric": "cosine", "n_neighbors": K + 1, "n_jobs": threads, "random_state": 1}
                return NNDescent(rows, **options).neighbor_graph

            descend(x[:500])  # compiles
            indices, distances = timed(lambda: descend(x))
        starts, indices, cosines = range(0, indices.size + 1, K + 1), indices.ravel(), 1 - distances.ravel()
    return agreement(scipy.sparse.load_npz(near), starts, indices, cosines)


def agreement(near: Any, starts: Any, indices: Any, cosines: Any) -> dict[str, Any]:
    """Returns the number of rows with the same neighbours as near, and the recall of all neighbours."""
    same = hits = 0
    for i in range(near.shape[0]):
        row = slice(starts[i], starts[i + 1])
        theirs = sorted(((v, j) for j, v in zip(indices[row], cosines[row]) if j != i), reverse=True)[:K]
        theirs = {j: v for v, j in theirs}
        row = slice(near.indptr[i], near.indptr[i + 1])
        ours = dict(zip(near.indices[row], near.data[row]))
        smallest = min(ours.values(), default=0)
        others = [ours[j] for j in ours.keys() - theirs.keys()] + [theirs[j] for j in theirs.keys() - ours.keys()]
        same += all(abs(v - smallest) <= 1e-4 for v in others) and all(
            abs(theirs[j] - ours[j]) <= 1e-4 for j in theirs.keys() & ours.keys())
        hits += len(ours) if smallest <= 1e-4 else min(sum(v >= smallest - 1e-4 for v in theirs.values()), len(ours))
    return {"rows": near.shape[0], "same": int(same), "recall": hits / max(near.nnz, 1)}


def main(bench: Bench) -> None:
    wrong = []
    for corpus in bench.chosen(CORPORA):
        source, near = bench.sources(corpus)[0], bench.folder / "near.npz"
        vectors = bench.vectors(source, "tf-l1-sqrt", "vectors.svm", "-min-df", 2)  # other terms match nothing

        def ours() -> Run:
            run = bench.run_gram("neighbours", "-in", source, "-min-df", 2, "-k", K, "-o", near)
            return run._replace(seconds=run.result["seconds_search"])

        contenders = [Contender("gram neighbours", ours)]
        for name, module in PEERS.items():
            if installed(module, "sklearn"):
                contenders.append(Contender(name, lambda name=name: bench.call(
                    search, vectors=vectors, near=near, peer=name, threads=bench.threads)))
        bench.interleave(contenders)
        rows = [[contenders[0].name, *measured(contenders[0], contenders[0]), "", ""]]
        for c in contenders[1:]:
            found = c.runs[-1].result
            rows.append([c.name, *measured(c, contenders[0]), f"{found['same']:,}", f"{100 * found['recall']:.1f} %"])
            if found["same"] < found["rows"] and c.name != "pynndescent":
                wrong.append(f"{corpus.name}, {c.name}: {found['rows'] - found['same']} documents")
        documents = contenders[0].runs[-1].result["corpus"]["documents"]
        table(f"{corpus.name}: {documents:,} documents, the {K} nearest of each",
              ["program", *MEASURED, "the same", "found"], rows)
    if wrong:
        raise Failure(f"other neighbours: {'; '.join(wrong)}")
