"""gramengine against MKL, SuiteSparse:GraphBLAS, SciPy, scikit-learn-intelex and the command.

Contenders are calls in this process unless they name a new process. Peak memory is the increase during the call. --only
selects gram, fit, svc or neighbours.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple

from measure import MEASURED, Bench, Contender, Run, installed, kilobytes, measured, read_lines
from measure import table, timed, without_files

if "MKL_RT" not in os.environ:  # where the package mkl puts it, which sparse_dot_mkl doesn't search
    os.environ.update({"MKL_RT": str(p) for p in Path(sys.prefix, "lib").glob("libmkl_rt.so*")})
sys.path.append(str(Path(__file__).parents[2] / "python"))  # if gramengine isn't installed
SPEC, C = "diffusion:t=0.5", 10.0


def here(function: Callable[[], Any]) -> Run:
    """Measures a call in this process."""
    import numpy

    # A virtual machine takes up to a second to provide 500 MB of new pages. This leaves free pages for all contenders.
    numpy.ones(1 << 30, numpy.uint8)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before, wall, cpu = kilobytes("VmHWM"), time.perf_counter(), time.process_time()
    function()
    return Run(time.perf_counter() - wall, time.process_time() - cpu, (kilobytes("VmHWM") - before) << 10)


def call(name: str, function: Callable[[], Any], rounds: int = 10**9) -> Contender:
    return Contender(name, lambda: here(function), rounds)


def compare(bench: Bench, title: str, contenders: list[Contender]) -> None:
    bench.interleave(contenders)
    table(title, ["program", *MEASURED, "rounds"],
          [[c.name, *measured(c, contenders[0]), len(c.runs)] for c in contenders])


class News:
    """20 Newsgroups as counts and classes, in memory and in files."""

    def __init__(self, bench: Bench):
        import gramengine
        import numpy
        import scipy.sparse
        from sklearn.datasets import dump_svmlight_file

        names, texts = zip(*(t.split("\t", 1) for t in read_lines(bench.find("20news-bydate/train.tsv.gz")[0])))
        self.counts, self.classes = gramengine.Corpus(texts).matrix, numpy.unique(names, return_inverse=True)[1]
        self.npz, self.svm, self.labels = (bench.folder / name for name in ("news.npz", "news.svm", "labels.npy"))
        scipy.sparse.save_npz(self.npz, self.counts, compressed=False)
        dump_svmlight_file(self.counts, self.classes, str(self.svm), zero_based=False)
        numpy.save(self.labels, self.classes)


def mirror(matrix: Any, block: int = 512) -> None:
    """Copies the upper triangle of a symmetric matrix to the lower triangle."""
    import numpy

    n = len(matrix)
    for i in range(0, n, block):
        for j in range(i + block, n, block):
            matrix[j:j + block, i:i + block] = matrix[i:i + block, j:j + block].T
        square = matrix[i:i + block, i:i + block]
        below = numpy.tril_indices(len(square), -1)
        square[below] = square.T[below]


def compare_products(bench: Bench) -> None:
    """Compares K = A·Aᵀ, where A contains square roots of term frequencies."""
    import gramengine
    import numpy

    a = News(bench).counts.copy()
    a.data = numpy.sqrt(a.data / numpy.repeat(numpy.asarray(a.sum(axis=1)).ravel(), numpy.diff(a.indptr)))
    out, first = numpy.zeros((a.shape[0], a.shape[0]), numpy.float32), a[:500].astype(numpy.float64)
    exact = numpy.triu((first @ first.T).toarray())
    errors = {"gramengine": abs(numpy.triu(gramengine.gram(a, kernel="linear", out=out)[:500, :500]) - exact).max()}
    contenders = [call("gramengine, into an array", lambda: gramengine.gram(a, kernel="linear", out=out)),
                  call("gramengine, a new array", lambda: gramengine.gram(a, kernel="linear"))]
    if installed("sparse_dot_mkl"):
        from sparse_dot_mkl import dot_product_mkl, gram_matrix_mkl

        transposed = a.T.tocsr()

        def mkl(**options: Any) -> Any:
            return gram_matrix_mkl(a, transpose=True, dense=True, **options)

        def both() -> None:
            mkl(out=out, out_scalar=0.0)
            mirror(out)

        contenders += [call("MKL, one triangle, into an array", lambda: mkl(out=out, out_scalar=0.0)),
                       call("MKL, one triangle, a new array", mkl),
                       call("MKL, one triangle, mirrored by NumPy", both),
                       call("MKL, both triangles, into an array",
                            lambda: dot_product_mkl(a, transposed, dense=True, out=out, out_scalar=0.0))]
        errors["MKL"] = abs(numpy.triu(mkl()[:500, :500]) - exact).max()
    if installed("graphblas"):
        import graphblas

        g = graphblas.io.from_scipy_sparse(a)
        contenders.append(call("SuiteSparse:GraphBLAS, sparse result", lambda: g.mxm(g.T, "plus_times").new(), 5))
    contenders.append(call("SciPy, sparse result", lambda: a @ a.T, 2))
    compare(bench, f"K = A·Aᵀ of 20 Newsgroups, {a.shape[0]:,} documents, {a.nnz:,} values, float32", contenders)
    found = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
    print(f"\nLargest errors of the first 500 documents' products: {found}")


def fit(npz: str, labels: str, scheme: str) -> None:
    import gramengine
    import numpy
    import scipy.sparse

    x, y = scipy.sparse.load_npz(npz), numpy.load(labels)
    timed(lambda: gramengine.KernelSVC(kernel=SPEC, C=C, scheme=scheme).fit(x, y))


def compare_fit(bench: Bench) -> None:
    """Compares KernelSVC with the command, without the time for reading and writing files."""
    import gramengine
    import numpy

    news, model = News(bench), bench.folder / "news.model"
    for scheme in ("one-vs-rest", "one-vs-one"):
        def command() -> Run:
            run = bench.run_gram("train", "-in", news.svm, "-o", model, "-choose-time", 0, "-scheme", scheme,
                                 "-kernel", SPEC, "-c", C)
            return run._replace(seconds=without_files(run.result))

        svc = gramengine.KernelSVC(kernel=SPEC, C=C, scheme=scheme)
        compare(bench, f"Fit on 20 Newsgroups from a matrix, {SPEC}, C = {C:g}, {scheme}", [
            Contender("gram train", command), call("KernelSVC.fit", lambda: svc.fit(news.counts, news.classes)),
            Contender("KernelSVC.fit, a new process", lambda: bench.call(
                fit, npz=news.npz, labels=news.labels, scheme=scheme))])
        loaded = gramengine.KernelSVC.load(model)
        same = all(numpy.array_equal(getattr(svc, name), getattr(loaded, name))
                   for name in ("support_", "dual_coef_", "offsets_"))
        print(f"\nCoefficients {'have the same bits' if same else 'DIFFER'}")


def compare_svc(bench: Bench) -> None:
    """Compares KernelSVC with scikit-learn-intelex's SVC on tf-idf."""
    if not installed("sklearnex"):
        return
    import gramengine
    import numpy
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearnex.svm import SVC

    news = News(bench)
    x = TfidfTransformer().fit_transform(news.counts).astype(numpy.float32)
    for kernel, spec, options in (("rbf", "rbf:gamma=1,embed=tf", {"gamma": 1.0}), ("linear", "linear:embed=tf", {})):
        ours, theirs = gramengine.KernelSVC(spec, C=C, scheme="one-vs-one"), SVC(kernel=kernel, C=C, **options)
        compare(bench, f"Fit on 20 Newsgroups, tf-idf, {kernel}, C = {C:g}, one-vs-one", [
            call("KernelSVC", lambda: ours.fit(x, news.classes)),
            call("scikit-learn-intelex's SVC", lambda: theirs.fit(x, news.classes), 3)])
        same = numpy.mean(ours.predict(x[::10]) == theirs.predict(x[::10]))
        print(f"\nBoth predict the same class for {same:.2%} of a tenth of the documents")


def find_neighbours(npz: str) -> str:
    import gramengine
    import scipy.sparse

    x = scipy.sparse.load_npz(npz)
    indices, distances, _ = timed(lambda: gramengine.precomputed_knn(x, 11))
    return hashlib.sha256(indices.tobytes() + distances.tobytes()).hexdigest()


def compare_neighbours(bench: Bench) -> None:
    """Compares searches for ten Hellinger neighbours, as input for UMAP."""
    import gramengine

    news = News(bench)
    new = Contender("precomputed_knn, a new process", lambda: bench.call(find_neighbours, npz=news.npz))
    compare(bench, "Ten Hellinger neighbours of 20 Newsgroups for UMAP", [
        call("precomputed_knn", lambda: gramengine.precomputed_knn(news.counts, 11)), new])
    print(f"\nNew processes found {'the same bits' if len({r.result for r in new.runs}) == 1 else 'DIFFERENT bits'}")


class Comparison(NamedTuple):
    name: str
    run: Callable[[Bench], None]


def main(bench: Bench) -> None:
    bench.find("20news-bydate/train.tsv.gz")
    for comparison in bench.chosen([
            Comparison("gram", compare_products), Comparison("fit", compare_fit), Comparison("svc", compare_svc),
            Comparison("neighbours", compare_neighbours)]):
        comparison.run(bench)
