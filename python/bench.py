"""Measures gramengine beside others in one run, and prints tables in Markdown.

    python python/bench.py --data FOLDER --gram bin/gram [--rounds 10] [--only gram,fit,svc,neighbours,call,memory]

FOLDER has 20news-bydate/train.tsv.gz, one line "newsgroup<TAB>text" per message. Rounds go through all contenders in
turn; a figure is the median over the rounds, with the least and the most. What isn't installed is named as missing.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np
import scipy.sparse as sp

if "MKL_RT" not in os.environ:  # where the package mkl puts it, which sparse_dot_mkl doesn't look
    os.environ.update({"MKL_RT": str(p) for p in Path(sys.prefix, "lib").glob("libmkl_rt.so*")})
try:
    import gramengine as ge
except ImportError:
    sys.path.insert(0, str(Path(__file__).parent))
    import gramengine as ge
from gramengine._documents import documents
from gramengine._library import _library, call, options


class Timing(NamedTuple):
    """Seconds that passed, and seconds of processors in user code."""

    wall: float
    user: float


class Contender(NamedTuple):
    """What is measured: ``run`` returns None to be timed from outside, or a Timing of its own."""

    name: str
    run: Callable[[], Any]
    rounds: int = 10**9


def timed(run: Callable[[], Any]) -> Timing:
    """The time of a call; its result is freed within, as it makes room for the next."""
    user, start = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
    found = run()
    taken = Timing(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime - user)
    return found if isinstance(found, Timing) else taken


def touch() -> None:
    """Takes pages from the operating system and frees them, so that each contender finds such as are at hand.

    A virtual machine may have given free pages back to its host; to get 500 MB of them anew takes up to a second, which
    else the one who comes first would pay.
    """
    np.ones(1 << 30, np.uint8)


def compare(title: str, contenders: list[Contender], rounds: int) -> None:
    """Runs the contenders in turn and prints a table; ratios are to the first, within rounds."""
    times: dict[str, list[Timing]] = {c.name: [] for c in contenders}
    for r in range(rounds):
        for c in contenders:
            if r < c.rounds:
                touch()
                times[c.name].append(timed(c.run))
    print(f"\n### {title}\n\n| | seconds | user seconds | ratio | rounds |\n| --- | --- | --- | --- | --- |")
    first = times[contenders[0].name]
    for name, own in times.items():
        ratio = [t.wall / f.wall for t, f in zip(own, first)]
        print(f"| {name} | {spread([t.wall for t in own])} | {np.median([t.user for t in own]):.2f} "
              f"| {spread(ratio)} | {len(own)} |", flush=True)


def spread(values: list[float]) -> str:
    """The median, with the least and the most."""
    return f"{np.median(values):.3g} ({min(values):.3g}–{max(values):.3g})"


def missing(name: str, error: Exception) -> None:
    print(f"\nNot measured: {name} ({type(error).__name__}: {str(error).splitlines()[0][:80]})")


def child(*arguments: Any) -> dict[str, Any]:
    """Runs one job of this script in a new process, and returns what it prints."""
    done = subprocess.run([sys.executable, __file__, "--job", *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


# ---- What is measured ---------------------------------------------------------------------------------------------


class News:
    """20 Newsgroups as counts and classes, also in files."""

    def __init__(self, data: Path, folder: Path):
        path = data / "20news-bydate" / "train.tsv.gz"
        if not path.exists():
            sys.exit(f"bench: no {path}: --data names a folder with 20news-bydate/train.tsv.gz")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            names, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in file))
        self.counts, self.classes = ge.Corpus(texts).matrix, np.unique(names, return_inverse=True)[1]
        self.npz, self.svm, self.model = folder / "news.npz", folder / "news.svm", folder / "news.model"
        sp.save_npz(self.npz, self.counts, compressed=False)
        from sklearn.datasets import dump_svmlight_file

        dump_svmlight_file(self.counts, self.classes, str(self.svm), zero_based=False)
        np.save(folder / "classes.npy", self.classes)


def bench_gram(news: News, rounds: int) -> None:
    """K = A·Aᵀ, A the square roots of term frequencies."""
    a = news.counts.copy()
    a.data = np.sqrt(a.data / np.repeat(np.asarray(a.sum(axis=1)).ravel(), np.diff(a.indptr)))
    out = np.zeros((a.shape[0], a.shape[0]), np.float32)
    own = ge.gram(a, kernel="linear", out=out)[:500, :500].copy()
    exact = (a[:500].astype(np.float64) @ a[:500].T.astype(np.float64)).toarray()
    print(f"\nGreatest error of the first 500 documents' products: ours {abs(own - exact).max():.1e}", end="")
    contenders = [Contender("gramengine, into an array", lambda: ge.gram(a, kernel="linear", out=out)),
                  Contender("gramengine, a new array", lambda: ge.gram(a, kernel="linear"))]
    try:
        from sparse_dot_mkl import gram_matrix_mkl

        contenders += [Contender("MKL, one triangle, into an array", lambda: gram_matrix_mkl(
            a, transpose=True, dense=True, out=out, out_scalar=0.0)),
            Contender("MKL, one triangle, a new array", lambda: gram_matrix_mkl(a, transpose=True, dense=True))]
        found = np.triu(gram_matrix_mkl(a, transpose=True, dense=True)[:500, :500])
        print(f", MKL's {abs(found - np.triu(exact)).max():.1e}")
    except Exception as error:
        missing("MKL", error)
    try:
        import graphblas

        g = graphblas.io.from_scipy_sparse(a)
        contenders.append(Contender("SuiteSparse:GraphBLAS, sparse result", lambda: g.mxm(g.T, "plus_times").new(), 5))
    except Exception as error:
        missing("SuiteSparse:GraphBLAS", error)
    contenders.append(Contender("SciPy, sparse result", lambda: a @ a.T, 2))
    compare(f"K = A·Aᵀ of 20 Newsgroups, {a.shape[0]:,} documents, {a.nnz:,} values, float32", contenders, rounds)


SETTINGS = {"kernel": "diffusion:t=0.5", "C": 10.0}


def command(news: News, gram: str, scheme: str) -> Timing:
    """The command on the same matrix: its time without reading and writing; user time is of all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([gram, "train", "-in", news.svm, "-o", news.model, "-json", "-choose-time", "0", "-scheme",
                           scheme, "-kernel", SETTINGS["kernel"], "-c", str(SETTINGS["C"])], capture_output=True, check=True)
    said = json.loads(done.stdout)
    return Timing(said["seconds"] - said["seconds_read"] - said["seconds_write"],
                  resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def bench_fit(news: News, gram: str, rounds: int) -> None:
    """KernelSVC beside the command."""
    for scheme in ("one-vs-rest", "one-vs-one"):
        svc = ge.KernelSVC(scheme=scheme, **SETTINGS).fit(news.counts, news.classes)
        command(news, gram, scheme)
        theirs = ge.KernelSVC.load(news.model)
        same = all(np.array_equal(getattr(svc, a), getattr(theirs, a)) for a in ("support_", "dual_coef_", "offsets_"))
        print(f"\n{scheme}: coefficients {'the same bits' if same else 'DIFFER'}", flush=True)
        compare(f"Fit on 20 Newsgroups from a matrix, {SETTINGS['kernel']}, C = 10, {scheme}", [
            Contender("gram train, without reading and writing", lambda: command(news, gram, scheme)),
            Contender("KernelSVC.fit, again in one process", lambda: svc.fit(news.counts, news.classes) and None),
            Contender("KernelSVC.fit, in a new process", lambda: Timing(*child("fit", news.npz, scheme)["timing"]))], rounds)


def bench_svc(news: News, rounds: int) -> None:
    """KernelSVC beside scikit-learn-intelex's SVC on tf-idf."""
    try:
        from sklearnex.svm import SVC
    except Exception as error:
        return missing("scikit-learn-intelex", error)
    from sklearn.feature_extraction.text import TfidfTransformer

    x = TfidfTransformer().fit_transform(news.counts).astype(np.float32)
    for kernel, spec, more in (("rbf", "rbf:gamma=1,embed=tf", {"gamma": 1.0}), ("linear", "linear:embed=tf", {})):
        ours, theirs = ge.KernelSVC(spec, C=10, scheme="one-vs-one"), SVC(kernel=kernel, C=10, **more)
        compare(f"Fit on 20 Newsgroups, tf-idf, {kernel}, C = 10, one-vs-one", [
            Contender("KernelSVC", lambda: ours.fit(x, news.classes) and None),
            Contender("scikit-learn-intelex's SVC", lambda: theirs.fit(x, news.classes) and None, 3)], rounds)
        some = x[::10]
        print(f"\nBoth predict the same class of {np.mean(ours.predict(some) == theirs.predict(some)):.2%} of {some.shape[0]} documents")


def bench_neighbours(news: News, rounds: int) -> None:
    """Ten Hellinger neighbours for UMAP."""
    compare("Ten Hellinger neighbours of 20 Newsgroups for UMAP", [
        Contender("precomputed_knn", lambda: ge.precomputed_knn(news.counts, 11))], rounds)
    runs = [child("neighbours", news.npz) for _ in range(2)]
    print(f"\nTwo new processes: peak memory {runs[0]['peak_mb']:.0f} and {runs[1]['peak_mb']:.0f} MB, of which "
          f"{runs[0]['before_mb']:.0f} MB before the call; results {'the same bits' if runs[0]['sha'] == runs[1]['sha'] else 'DIFFER'}")


def bench_call(rounds: int) -> None:
    """What a call costs: the Gram matrix of two documents."""
    x, out, calls = np.eye(2, dtype=np.float32), np.empty((2, 2), np.float32), 200
    arguments = (documents(x).pointer, None, *options(kernel="bhattacharyya"), out.ctypes.data, 4)

    def thread() -> None:
        done = threading.Event()
        threading.Thread(target=done.set, daemon=True).start()
        done.wait()

    parts = {"gram(X), X of 2×2": lambda: ge.gram(x, kernel="bhattacharyya"),
             "arguments: gram_documents and options": lambda: (documents(x).pointer, options(kernel="bhattacharyya")),
             "a thread, so that ^C ends the call": thread,
             "ctypes and the door to Go: gram_free(0)": lambda: _library.gram_free(0, None),
             "gram_gram in C, all of it": lambda: _library.gram_gram(*arguments, None),
             "gram(X) without that thread": lambda: call("gram_gram", *arguments, long=False)}
    times: dict[str, list[float]] = {name: [] for name in parts}
    for _ in range(rounds):
        for name, run in parts.items():
            each = []
            for _ in range(calls):
                start = time.perf_counter()
                run()
                each.append(1e6 * (time.perf_counter() - start))
            times[name].append(float(np.median(each)))
    print(f"\n### A call, medians of {calls}\n\n| | µs |\n| --- | --- |")
    for name, own in times.items():
        print(f"| {name} | {spread(own)} |", flush=True)


MEMORY = {"arguments": "the library reads the arguments, and finds no such kernel", "linear": "`LinearClassifier.predict`",
          "svc": "`KernelSVC.predict`", "corpus": "`Corpus(X)`, which holds a copy", "fit": "`LinearClassifier.fit`",
          "neighbours": "`neighbours(S, X)`, S of 200 documents"}


def bench_memory() -> None:
    """What calls hold besides a matrix of 1 GB."""
    print("\n### Memory beside a CSR matrix of 200,000 documents and 134,200,000 values, 1,025 MiB\n\n"
          "| | peak memory above that before the call | seconds |\n| --- | --- | --- |")
    for job, name in MEMORY.items():
        found = child("memory", job)
        print(f"| {name} | {found['mib']:.0f} MiB | {found['seconds']:.1f} |", flush=True)


# ---- Jobs in processes of their own -------------------------------------------------------------------------------


def kilobytes(name: str) -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))


def job_fit(npz: str, scheme: str) -> dict[str, Any]:
    x, y = sp.load_npz(npz), np.load(Path(npz).with_name("classes.npy"))
    return {"timing": timed(lambda: ge.KernelSVC(scheme=scheme, **SETTINGS).fit(x, y) and None)}


def job_neighbours(npz: str) -> dict[str, Any]:
    x = sp.load_npz(npz)
    before = kilobytes("VmHWM")
    indices, distances, _ = ge.precomputed_knn(x, 11)
    return {"before_mb": before * 1.024e-3, "peak_mb": kilobytes("VmHWM") * 1.024e-3,
            "sha": hashlib.sha256(indices.tobytes() + distances.tobytes()).hexdigest()}


def great(rows: int, length: int, columns: int) -> sp.csr_matrix:
    """A matrix of counts, rows of equal length, in float32 and int32."""
    step, rng = columns // length, np.random.default_rng(1)
    indices = rng.integers(0, step, (rows, length), dtype=np.int32)
    indices += np.arange(length, dtype=np.int32) * step
    return sp.csr_matrix((np.ones(rows * length, np.float32), indices.ravel(), np.arange(0, rows * length + 1, length, dtype=np.int32)),
                         shape=(rows, columns))


def job_memory(what: str) -> dict[str, Any]:
    x, y = great(200_000, 671, 200_000), np.arange(200_000) % 3
    few, linear, svc = x[:200], ge.LinearClassifier(embedding="tf-l2"), ge.KernelSVC("diffusion:t=0.5")
    for estimator in (linear, svc):
        estimator.fit(few, y[:200])
    x.has_canonical_format  # SciPy looks through the indices once
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, start = kilobytes("VmHWM"), time.perf_counter()
    if what == "arguments":
        try:
            ge.neighbours(x, k=1, kernel="none")
        except ValueError:
            pass
    else:
        {"linear": lambda: linear.predict(x), "svc": lambda: svc.predict(x), "corpus": lambda: ge.Corpus(x),
         "fit": lambda: ge.LinearClassifier(embedding="tf-l2").fit(x, y), "neighbours": lambda: ge.neighbours(few, x)}[what]()
    return {"mib": (kilobytes("VmHWM") - before) / 1024, "seconds": time.perf_counter() - start}


# ---- The run ------------------------------------------------------------------------------------------------------


def about() -> str:
    """Date, processor, load and versions."""
    info = Path("/proc/cpuinfo").read_text()
    model = next((line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name")), platform.machine())
    features = [f for f in ("avx2", "avx512f", "amx_tile") if f in info]
    found = []
    for name in ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "mkl", "sparse_dot_mkl", "suitesparse-graphblas"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return (f"{datetime.date.today()}, {model} ({', '.join(features)}), {os.cpu_count()} processors, load "
            f"{os.getloadavg()[0]:.0f}; gramengine {ge.__version__}, Python {platform.python_version()}, {', '.join(found)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--gram", default="bin/gram")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", default="gram,fit,svc,neighbours,call,memory")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(globals()["job_" + given.job[0]](*given.job[1:])))
        return
    only = given.only.split(",")
    print(about())
    with tempfile.TemporaryDirectory() as folder:
        news = News(given.data, Path(folder)) if set(only) & {"gram", "fit", "svc", "neighbours"} else None
        for name, run in {"gram": lambda: bench_gram(news, given.rounds),
                          "fit": lambda: bench_fit(news, given.gram, given.rounds),
                          "svc": lambda: bench_svc(news, given.rounds),
                          "neighbours": lambda: bench_neighbours(news, given.rounds),
                          "call": lambda: bench_call(given.rounds), "memory": bench_memory}.items():
            if name in only:
                run()


if __name__ == "__main__":
    main()
