"""Runs peers' own test suites with gramengine in the place of their classes, and writes the table of what passes.

    python peers.py [--write docs/python-peers.md] [--only NAME]

Each suite is that of the installed scikit-learn. It runs in a process of its own, where patch_sklearn() is in force
before its tests are imported. A test function passes if it does with all its parameters. The exit status is 1 if one
fails that has no reason below, or a reason has no failure.
"""

from __future__ import annotations

import argparse
import collections
import json
import logging
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_SKLEARN = {
    "svm": "sklearn.svm.tests",
    "neighbors": "sklearn.neighbors.tests.test_neighbors",
    "kernel_pca": "sklearn.decomposition.tests.test_kernel_pca",
    "kernel_approximation": "sklearn.tests.test_kernel_approximation",
}
_EVERY = "every kernel"  # the mode in which small problems, too, have the engine's kernels
_FLOAT = "kernel values are float32, the test asks for float64"
_SOLVED = "two solutions within tol, of a matrix in float64 and of the engine's kernel, are compared to more digits than tol"
REASONS: dict[tuple[str, str], str] = {
    **{(_EVERY, f"test_svm.py::{name}"): _FLOAT for name in (
        "test_custom_kernel_not_array_input", "test_decision_function", "test_libsvm_parameters", "test_svr_predict",
        "test_tweak_params")},
    (_EVERY, "test_sparse.py::test_sparse_decision_function"): _FLOAT,
    (_EVERY, "test_svm.py::test_precomputed"): _SOLVED,
    (_EVERY, "test_svm.py::test_svc_clone_with_callable_kernel"): _SOLVED,
}


class Recorder:
    """A plug-in of pytest that notes outcomes by function, and a handler's view of what ran where."""

    def __init__(self) -> None:
        self.outcomes: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
        self.errors: dict[str, str] = {}
        self.engine: collections.Counter = collections.Counter()
        self.handed: collections.Counter = collections.Counter()
        self.by_engine: set[str] = set()
        self._now = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._now = _function(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            name = _function(report.nodeid)
            self.outcomes[name][report.outcome] += 1
            if report.failed and name not in self.errors:
                crash = getattr(report.longrepr, "reprcrash", None)
                self.errors[name] = " ".join(str(crash.message if crash else report.longrepr).split())[:160]

    def heard(self, record: logging.LogRecord) -> bool:
        what, _, how = record.getMessage().partition(": running by ")
        if how == "gramengine":
            self.engine[what] += 1
            self.by_engine.add(self._now)
        else:
            self.handed[re.sub(r"\d+", "N", how.partition(": ")[2])[:100]] += 1
        return False


def _function(nodeid: str) -> str:
    path, _, name = nodeid.partition("::")
    return f"{Path(path).name}::{name.partition('[')[0]}" if path else name.partition("[")[0]


def run_here(suite: str, mode: str) -> dict[str, Any]:
    """Runs a suite in this process."""
    import pytest

    recorder = Recorder()
    if mode != "scikit-learn":
        import gramengine
        from gramengine import _patch

        if mode == _EVERY:
            _patch._SMALL = 0
        logger = logging.getLogger("gramengine")
        logger.setLevel(logging.INFO)
        logger.addFilter(recorder.heard)
        gramengine.patch_sklearn()
    status = pytest.main(["--pyargs", _SKLEARN[suite], "-q", "-p", "no:cacheprovider", "--tb=short", "-W", "ignore"],
                         plugins=[recorder])
    if status not in (0, 1):
        raise SystemExit(f"pytest ended with status {status} on {suite}")
    return {"outcomes": recorder.outcomes, "errors": recorder.errors, "engine": recorder.engine,
            "handed": recorder.handed, "by_engine": sorted(recorder.by_engine)}


def run(suite: str, mode: str) -> dict[str, Any]:
    """Runs a suite in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        subprocess.run([sys.executable, __file__, "--run", suite, mode, str(result)], check=True, cwd=folder,
                       env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path}, stdout=sys.stderr)
        return json.loads(result.read_text())


class Table:
    """The table, and whether each failure has its reason."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.exceptions: list[str] = []
        self.ran: list[str] = []
        self.wrong: list[str] = []

    def add(self, suite: str, mode: str, found: dict[str, Any], alone: set[str]) -> None:
        counts = collections.Counter(_outcome(o) for o in found["outcomes"].values())
        cases = sum((collections.Counter(o) for o in found["outcomes"].values()), collections.Counter())
        ran = counts["passed"] + counts["failed"]
        name = _SKLEARN[suite] + (f", {mode}" if mode == _EVERY else "")
        self.rows.append(f"| `{name}` | {ran} | {counts['passed']} | {counts['failed']} | "
                         f"{100 * counts['passed'] / max(ran, 1):.1f} % | {cases['passed']} of "
                         f"{cases['passed'] + cases['failed']} | {len(found['by_engine'])} | "
                         f"{sum(found['engine'].values()):,} | {sum(found['handed'].values()):,} |")
        for function in failing(found):
            reason = "fails without the patch, too" if function in alone else REASONS.get((mode, function))
            if reason is None:
                self.wrong.append(f"{function} ({mode}) fails for no known reason: {found['errors'].get(function)}")
            self.exceptions.append(f"| `{function}` | {mode} | {reason} |")
        for (own, function), _ in REASONS.items():
            if own == mode and function in found["outcomes"] and _outcome(found["outcomes"][function]) != "failed":
                self.wrong.append(f"{function} ({mode}) has a reason and passes")
        why = "; ".join(f"{n:,} × {reason}" for reason, n in collections.Counter(found["handed"]).most_common())
        what = ", ".join(f"{n:,} × {call}" for call, n in sorted(found["engine"].items()))
        self.ran.append(f"- `{name}`: by gramengine {what or 'nothing'}. By scikit-learn: {why or 'nothing'}.")


def failing(found: dict[str, Any]) -> list[str]:
    """The functions of a suite that fail."""
    return sorted(f for f, o in found["outcomes"].items() if _outcome(o) == "failed")


def _outcome(outcomes: dict[str, int]) -> str:
    return "failed" if outcomes.get("failed") else "passed" if outcomes.get("passed") else "skipped"


_PAGE = """# Peers' own test suites

scikit-learn ships its tests. `make python-peers` runs them with `gramengine.patch_sklearn()` in force and writes this page;
a function counts as passed if it does with all its parameters. Skipped ones, mostly those of other dtypes, aren't counted.
It fails if a test fails that has no reason here, or if a reason is out of date.

scikit-learn {sklearn}, NumPy {numpy}, Python {python}.

| suite | functions | passed | failed | | cases passed | functions that the engine ran in | calls by the engine | by scikit-learn |
| --- | --: | --: | --: | --: | --- | --: | --: | --: |
{rows}

In the rows "{every}" problems of any size have the engine's own kernels, in float32. Users have those above 1,024 documents:
below, the kernel matrix is computed in float64, the engine solves with it, and LIBSVM predicts, which then is as fast.

## What doesn't pass

| function | mode | reason |
| --- | --- | --- |
{exceptions}

## What ran where

Of the classes that are patched; the reasons are those that the logger `gramengine` gives. Other classes, such as `LinearSVC`
and the approximations of kernels, are scikit-learn's own.

{ran}
"""


def sklearn_page(only: str | None) -> tuple[str, list[str]]:
    import numpy
    import sklearn

    table = Table()
    for suite in [s for s in _SKLEARN if only in (None, s)]:
        for mode in ["patched", *([_EVERY] if suite == "svm" else [])]:
            found = run(suite, mode)
            unexplained = [f for f in failing(found) if (mode, f) not in REASONS]
            table.add(suite, mode, found, set(failing(run(suite, "scikit-learn"))) if unexplained else set())
    page = _PAGE.format(sklearn=sklearn.__version__, numpy=numpy.__version__, python=platform.python_version(), every=_EVERY,
                        rows="\n".join(table.rows), exceptions="\n".join(table.exceptions) or "| none | | |",
                        ran="\n".join(table.ran))
    return page, table.wrong


def main() -> int:
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--write", type=Path, help="write the page to this file")
    flags.add_argument("--only", choices=_SKLEARN, help="run one suite")
    flags.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = flags.parse_args()
    if given.run:
        suite, mode, result = given.run
        Path(result).write_text(json.dumps(run_here(suite, mode)))
        return 0
    page, wrong = sklearn_page(given.only)
    if given.write:
        given.write.write_text(page)
    else:
        print(page)
    for line in wrong:
        print(f"peers: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
