"""Processes and threads: fork, ^C, progress, memory."""

import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import gramengine as g
from gramengine import _model


def python(*arguments):
    """What a process of its own prints."""
    path = os.pathsep.join([os.path.dirname(os.path.dirname(g.__file__)), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path}).stdout


def test_fork_is_refused(counts):
    x, _ = counts
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            g.gram(x[:3])
            said = b"no error"
        except RuntimeError as error:
            said = str(error).encode()
        os.write(write, said)
        os._exit(0)
    os.close(write)
    said = os.read(read, 10000).decode()
    os.waitpid(pid, 0)
    assert "spawn" in said


def predict(model, x):
    return model.predict(x) if hasattr(model, "predict") else model.transform(x) if hasattr(model, "transform") else len(model)


def test_fork_is_refused_in_the_task(counts):
    """Not where arguments are unpickled: the pool would wait for ever."""
    import multiprocessing

    x, y = counts
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for made in (g.KernelSVC("diffusion:t=0.5").fit(x, y), g.KernelPCA(kernel="arccos").fit(x), g.Index(["a cat"])):
            with pytest.raises(g.ForkError):
                pool.apply_async(predict, (made, x[:3])).get(timeout=300)


def test_unpickled_estimators_load_at_first_use(counts):
    x, y = counts
    made = pickle.loads(pickle.dumps(g.KernelPCA(3, kernel="arccos").fit(x))).set_params(n_components=5)
    assert made.transform(x).shape == (300, 3)
    twice = pickle.dumps(pickle.loads(pickle.dumps(g.KernelSVC("diffusion:t=0.5").fit(x, y))))  # not loaded in between
    assert (pickle.loads(twice).predict(x) == y).mean() > 0.9


def test_refit_while_predicting(counts, monkeypatch):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y)
    want, documents = made.predict(x), _model.documents

    def refit(given):  # between the first look at the model and the call
        monkeypatch.setattr(_model, "documents", documents)
        made.fit(x, y)
        return documents(given)

    monkeypatch.setattr(_model, "documents", refit)
    assert (made.predict(x) == want).all()


@pytest.mark.parametrize("method", ["spawn", "loky"])
def test_other_processes(counts, method):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y)
    if method == "loky":
        from joblib import Parallel, delayed

        found = Parallel(2, backend="loky")(delayed(made.predict)(part) for part in (x[:100], x[100:]))
        assert np.array_equal(np.concatenate(found), made.predict(x))
        return
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert np.array_equal(np.concatenate(pool.map(made.predict, [x[:100], x[100:]])), made.predict(x))


def test_threads(counts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y)
    want, k = made.decision_function(x), g.gram(x)
    with ThreadPoolExecutor(8) as pool:
        for same in pool.map(lambda i: np.array_equal(made.decision_function(x), want) if i % 2
                             else np.array_equal(g.gram(x), k), range(64)):
            assert same


def large():
    """Documents whose matrix takes minutes, on an instruction set that is slow."""
    rng = np.random.default_rng(0)
    return sp.random(60000, 5000, 0.02, format="csr", dtype=np.float32, rng=rng) if hasattr(sp, "random_array") else sp.random(
        60000, 5000, 0.02, format="csr", dtype=np.float32, random_state=0)


def test_interrupt_ends_a_call():
    x, begun = large(), threading.Event()

    def press():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        g.neighbours(x, k=2, isa="generic", progress=lambda *_: begun.set())
    assert g.gram(x[:2]).shape == (2, 2)


def test_progress(counts, capsys):
    x, y = counts
    seen = []
    g.neighbours(large()[:8000], k=2, isa="generic", progress=lambda *a: seen.append(a))
    stages = {stage for stage, _, _ in seen}
    assert stages and all(0 <= done <= total for _, done, total in seen if total)
    g.KernelSVC("diffusion:t=0.5", verbose=True).fit(x, y)

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        g.neighbours(large()[:8000], k=2, isa="generic", progress=fail)


def test_memory_does_not_grow(counts):
    x, y = counts
    small, labels = x[:40], y[:40]

    def work():
        made = g.KernelSVC("diffusion:t=0.5").fit(small, labels)
        made.predict(small), made.about_, g.gram(small), g.neighbours(small, k=3), g.duplicates(small)

    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * resource.getpagesize()

    for _ in range(150):
        work()
    before = resident()
    for _ in range(1000):
        work()
    assert resident() - before < 64 << 20  # 1,000 of the smallest objects would be 40 MiB a KiB each of their parts


def test_values_are_not_copied():
    """A corpus of 256 MiB of values in float32 and int32 is checked in place: the peak grows by its offsets alone."""
    code = """
import numpy as np, scipy.sparse as sp, resource, sys
import gramengine as g
n, per = 65536, 512
x = sp.csr_matrix((np.ones(n * per, np.float32), np.tile(np.arange(per, dtype=np.int32), n),
                   np.arange(0, n * per + 1, per, dtype=np.int32)), shape=(n, per))
x.has_canonical_format = True
g.gram(x[:2])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
try:
    g.gram(x, kernel="nonsense")
except ValueError:
    pass
from gramengine._documents import documents
held = documents(x)
assert held.struct.matrix.contents.values == x.data.ctypes.data
assert held.struct.matrix.contents.indices == x.indices.ctypes.data
print(peak() - before, x.data.nbytes + x.indices.nbytes)
"""
    grown, size = map(int, python("-c", code).split())
    assert grown < size / 8


def test_views_of_freed_objects_are_no_pointers():
    assert python("-W", "ignore", os.path.join(os.path.dirname(__file__), "stale.py")) == "whole\n"


def test_musl_is_named(monkeypatch):
    from gramengine import _library

    monkeypatch.setattr(_library, "_musl", lambda: True)
    with pytest.raises(ImportError, match="musl"):
        _library._load()
