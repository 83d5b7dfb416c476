"""Runs scikit-learn's own tests of its tools with our estimators in the place of its support vector machines.

    python peers.py [--write docs/python-peers.md] [--only SUITE] [--isa generic|avx2|avx512]

Suites are those of the installed scikit-learn, each in a process of its own. Before its tests are imported, the classes
below take the names of scikit-learn's in ``sklearn.svm``. A test function passes if it does with all its parameters. The
exit status is 1 if one fails that has no reason in REASONS, or if one with a reason passes.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import sklearn.svm

import gramengine
from gramengine import _model

SUITES = [
    "sklearn.ensemble.tests.test_bagging", "sklearn.ensemble.tests.test_common", "sklearn.ensemble.tests.test_stacking",
    "sklearn.ensemble.tests.test_voting", "sklearn.ensemble.tests.test_weight_boosting",
    "sklearn.feature_selection.tests.test_from_model", "sklearn.feature_selection.tests.test_rfe",
    "sklearn.metrics._plot.tests.test_confusion_matrix_display", "sklearn.metrics.tests.test_score_objects",
    "sklearn.model_selection.tests.test_search", "sklearn.model_selection.tests.test_successive_halving",
    "sklearn.model_selection.tests.test_validation",
    "sklearn.semi_supervised.tests.test_self_training", "sklearn.tests.test_base", "sklearn.tests.test_calibration",
    "sklearn.tests.test_multiclass", "sklearn.tests.test_multioutput", "sklearn.tests.test_pipeline",
]
REASONS = {
    "test_rfe_min_step": "`KernelSVR` has no `coef_`, which the test uses to rank features",
    "test_multi_output_delegate_predict_proba":
        "without `predict_proba`, the error has the message of `available_if`; the test expects the message of `SVC`",
    "test_cross_val_score_precomputed": "`KernelSVC` doesn't accept a function as a kernel",
    "test_cross_val_predict_decision_function_shape":
        "the decision function always has a value per class, because there is no `decision_function_shape`",
}


class SVC(gramengine.KernelSVC):
    """KernelSVC with the parameters of scikit-learn's SVC."""

    def __init__(self, *, C: Any = 1.0, kernel: Any = "rbf", degree: Any = 3, gamma: Any = "scale", coef0: Any = 0.0,
                 probability: Any = False, tol: Any = 1e-3, class_weight: Any = None, max_iter: Any = -1,
                 decision_function_shape: Any = "ovr", random_state: Any = None):
        super().__init__(kernel, C, probability=probability, tol=tol, class_weight=class_weight, random_state=random_state)
        self.degree, self.gamma, self.coef0, self.max_iter = degree, gamma, coef0, max_iter
        self.decision_function_shape = decision_function_shape

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._scale = X
        return super().fit(X, y, sample_weight)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "kernel": _specification(self, self.__dict__.pop("_scale"))}


class LinearSVC(gramengine.LinearClassifier):
    """LinearClassifier with the parameters of scikit-learn's LinearSVC."""

    def __init__(self, penalty: Any = "l2", loss: Any = "squared_hinge", *, dual: Any = "auto", tol: Any = 1e-4, C: Any = 1.0,
                 class_weight: Any = None, random_state: Any = None, max_iter: Any = 1000):
        super().__init__(C, loss=loss, embedding="tf", class_weight=class_weight, tol=tol, random_state=random_state)
        self.penalty, self.dual, self.max_iter = penalty, dual, max_iter

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "type": f"linear:loss={self.loss.replace('_', '-')}"}


class SVR(gramengine.KernelSVR):
    """KernelSVR with the parameters of scikit-learn's SVR."""

    def __init__(self, *, kernel: Any = "rbf", degree: Any = 3, gamma: Any = "scale", coef0: Any = 0.0, tol: Any = 1e-3,
                 C: Any = 1.0, epsilon: Any = 0.1, max_iter: Any = -1):
        super().__init__(kernel, C, epsilon, tol=tol)
        self.degree, self.gamma, self.coef0, self.max_iter = degree, gamma, coef0, max_iter

    def _train(self, x: Any, **settings: Any) -> None:
        super()._train(x, **{**settings, "kernel": _specification(self, self.__dict__.pop("_scale"))})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self._scale = X
        return super().fit(X, y, sample_weight)


def _specification(self: Any, X: Any) -> str:
    """The kernel of scikit-learn's parameters, as the engine names it."""
    if callable(self.kernel):
        raise ValueError("kernel must be a name, got a function")
    gamma = self.gamma
    if self.kernel not in ("linear", "precomputed") and isinstance(gamma, str):
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X, float)
        gamma = 1 / X.shape[1] / (X.var() or 1 if gamma == "scale" else 1)
    return {"rbf": f"rbf:gamma={gamma}", "poly": f"polynomial:gamma={gamma},r={self.coef0},degree={self.degree}",
            "sigmoid": f"sigmoid:gamma={gamma},r={self.coef0}"}.get(self.kernel, self.kernel)


class Recorder:
    """A plug-in of pytest that notes outcomes by function, and in which functions our estimators were fitted."""

    def __init__(self) -> None:
        self.outcomes: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
        self.errors: dict[str, str] = {}
        self.ours: set[str] = set()
        self._now = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._now = _function(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            name = _function(report.nodeid)
            self.outcomes[name][report.outcome] += 1
            if report.failed and name not in self.errors:
                crash = getattr(report.longrepr, "reprcrash", None)
                self.errors[name] = " ".join(str(crash.message if crash else report.longrepr).split())[:300]

    def watch(self) -> None:
        """Notes the test of each estimator that is made."""
        for cls in (SVC, LinearSVC, SVR):
            def made(estimator: Any, *args: Any, _init: Any = cls.__init__, **kwargs: Any) -> None:
                self.ours.add(self._now)
                _init(estimator, *args, **kwargs)

            made.__wrapped__ = cls.__init__  # whose signature scikit-learn reads
            cls.__init__ = made


def _function(nodeid: str) -> str:
    return nodeid.partition("::")[2].partition("[")[0]


def run_here(suite: str, isa: str | None) -> dict[str, Any]:
    """Runs a suite in this process."""
    import pytest

    _model.options = functools.partial(_model.options, isa=isa)

    recorder = Recorder()
    recorder.watch()
    for cls in (SVC, LinearSVC, SVR):
        setattr(sklearn.svm, cls.__name__, cls)
    status = pytest.main(["--pyargs", suite, "-q", "-p", "no:cacheprovider", "--tb=short", "-W", "ignore"], plugins=[recorder])
    if status not in (0, 1):
        raise SystemExit(f"pytest ended with status {status} on {suite}")
    return {"outcomes": {f: o for f, o in recorder.outcomes.items() if f in recorder.ours}, "errors": recorder.errors}


def run(suite: str, isa: str | None) -> dict[str, Any]:
    """Runs a suite in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        subprocess.run([sys.executable, __file__, "--run", suite, isa or "", str(result)], check=True, cwd=folder,
                       env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path}, stdout=sys.stderr)
        return json.loads(result.read_text())


def _outcome(outcomes: dict[str, int]) -> str:
    return "failed" if outcomes.get("failed") else "passed" if outcomes.get("passed") else "skipped"


_PAGE = """# scikit-learn's own tests

`make python-peers` runs scikit-learn's tests of pipelines, ensembles, model selection and other tools, with
`KernelSVC`, `LinearClassifier` and `KernelSVR` instead of `SVC`, `LinearSVC` and `SVR`, and writes this page. Only
test functions that create one of these estimators are included. A parametrised test function passes if all its cases
pass. `python/peers.py` lists the reasons for known failures. The command fails if another test function fails, or if a
listed test function passes. `python/peers.py --isa generic` runs the tests on another instruction set.

With scikit-learn {sklearn}, {passed} of {functions} test functions pass.

## Failures

| function | reason |
| --- | --- |
{failures}
"""


def page(suites: list[str], isa: str | None) -> tuple[str, list[str]]:
    """The page, and what has no reason or needs none."""
    failures, wrong, total = [], [], collections.Counter()
    for suite in suites:
        found = run(suite, isa)
        outcomes = {f: _outcome(o) for f, o in sorted(found["outcomes"].items())}
        total.update(outcomes.values())
        for function, outcome in outcomes.items():
            if outcome == "failed":
                failures.append(f"| `{suite}.{function}` | {REASONS.get(function)} |")
                if function not in REASONS:
                    wrong.append(f"{function} fails for no known reason: {found['errors'].get(function)}")
            elif outcome == "passed" and function in REASONS:
                wrong.append(f"{function} has a reason and passes")
    functions = total["passed"] + total["failed"]
    return _PAGE.format(sklearn=sklearn.__version__, passed=total["passed"], functions=functions,
                        failures="\n".join(failures) or "| none | |"), wrong


def main() -> int:
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("--write", type=Path, help="write the page to this file")
    flags.add_argument("--only", choices=SUITES, help="run one suite")
    flags.add_argument("--isa", choices=["generic", "avx2", "avx512"], help="instruction set (default: the best)")
    flags.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = flags.parse_args()
    if given.run:
        suite, isa, result = given.run
        Path(result).write_text(json.dumps(run_here(suite, isa or None)))
        return 0
    text, wrong = page([given.only] if given.only else SUITES, given.isa)
    if given.write:
        given.write.write_text(text)
    else:
        print(text)
    for line in wrong:
        print(f"peers: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
