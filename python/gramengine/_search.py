"""Search and cross-validation on shared tiles: each dot product is computed once for all kernels, folds and C."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils.validation import validate_data

from ._documents import Corpus, classes_of, documents, is_text
from ._kernels import workers
from ._library import Object, Progress, options
from ._machines import KernelSVC
from ._text import TextClassifier, with_labels


class SearchResult:
    """What a search found: ``best_params_``, ``best_score_``, ``cv_results_`` and, fitted on all, ``best_estimator_``."""

    def __init__(self, about: dict[str, Any], estimator: Any):
        self.about = about
        points = about["points"] or []
        self.best_index_ = about["best"]
        self.best_params_: dict[str, Any] = about["train"] or {}
        self.best_score_ = points[self.best_index_]["mean"] if self.best_index_ >= 0 else float("nan")
        self.cv_results_ = {
            "params": [p["options"] for p in points], "mean_test_score": np.array([p["mean"] for p in points]),
            "std_test_score": np.array([p["sd"] for p in points]), "documents": np.array([p["documents"] for p in points]),
        }
        self.best_estimator_ = estimator

    def __repr__(self) -> str:
        return f"SearchResult({self.about['measure']} {self.best_score_:.4f}, {self.best_params_})"

    def _repr_html_(self) -> str:
        import html

        order = np.argsort(-self.cv_results_["mean_test_score"], kind="stable")[:20]
        rows = "".join(f"<tr><td>{self.cv_results_['mean_test_score'][i]:.4f} ± {self.cv_results_['std_test_score'][i]:.4f}"
                       f"</td><td>{html.escape(str(self.cv_results_['params'][i]))}</td></tr>" for i in order)
        return f"<table><thead><tr><th>{html.escape(self.about['measure'])}</th><th>parameters</th></tr></thead>{rows}</table>"

    def plot(self, ax: Any = None) -> Any:
        """Draws the mean of each point with its deviation, best first, by matplotlib."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        order = np.argsort(-self.cv_results_["mean_test_score"], kind="stable")
        ax.errorbar(range(len(order)), self.cv_results_["mean_test_score"][order], self.cv_results_["std_test_score"][order],
                    fmt="o", capsize=3)
        ax.set_xlabel("points, best first")
        ax.set_ylabel(self.about["measure"])
        return ax


def _problem(X: Any, y: Any) -> tuple[Any, np.ndarray, bool]:
    classes, names, labels = classes_of(y)
    text = not isinstance(X, Corpus) and is_text(X)
    if text:
        return documents(with_labels(X, names, labels)), classes, True
    return documents(X, classes=names, labels=labels), classes, isinstance(X, Corpus) and X.about["text"]


def search(X: Any, y: Any, grid: dict[str, Sequence] | None = None, *, folds: int = 5, refit: bool = True,
           n_jobs: int | None = None, memory_bytes: int | None = None, random_state: int = 1,
           progress: Progress | None = None, **fixed: Any) -> SearchResult:
    """Searches for the best kernel and parameters by cross-validation, in one pass over shared tiles.

    It does what ``GridSearchCV`` does, with each dot product computed once for all kernels, folds and values of C.

    Parameters
    ----------
    X : documents
        As for :func:`gram`; texts may be cut in several ways.
    y : array
        Classes; where a :class:`Corpus` has labels, the same.
    grid : dict of lists, optional
        Values of ``C``, ``nu``, ``kernel``, ``embed``, ``scheme`` and of the kernel's parameters, such as ``t``. Default:
        a search for terms, kernel, C and scheme on samples that grow.
    folds : int
        Parts.
    refit : bool
        Whether to fit the best on all documents: ``best_estimator_``.
    **fixed
        Options of training that stay, such as ``kernel="diffusion"``.

    Returns
    -------
    SearchResult
    """
    x, classes, text = _problem(X, y)
    if grid is not None:
        grid = {k: [str(v) for v in values] for k, values in grid.items()}
    about = Object("gram_search", x.pointer, *options(
        grid=grid, folds=folds, workers=workers(n_jobs), memory_bytes=memory_bytes, seed=random_state, **fixed),
        progress=progress).about()
    if not refit or about["best"] < 0:
        return SearchResult(about, None)
    estimator = (TextClassifier if text else KernelSVC)(n_jobs=n_jobs, memory_bytes=memory_bytes, random_state=random_state)
    estimator._train(x, **{**about["train"], "choose_work": -1})
    estimator._classes(classes)
    if not text and hasattr(X, "shape"):
        validate_data(estimator, X, skip_check_array=True)  # sets the number of columns, and their names
    for name, option in (("kernel", "kernel"), ("C", "c"), ("embedding", "embedding"), ("scheme", "scheme"), ("terms", "terms")):
        if option in about["train"] and hasattr(estimator, name):
            setattr(estimator, name, about["train"][option])
    return SearchResult(about, estimator)


def cross_validate(X: Any, y: Any, *, folds: int = 5, n_jobs: int | None = None, memory_bytes: int | None = None,
                   random_state: int = 1, progress: Progress | None = None, **train: Any) -> dict[str, Any]:
    """Cross-validates one set of options, as ``grambench cv``: a dict with ``measure``, ``mean``, ``sd`` and ``figures``."""
    x, _, _ = _problem(X, y)
    return Object("gram_cross_validate", x.pointer, *options(
        folds=folds, workers=workers(n_jobs), memory_bytes=memory_bytes, seed=random_state, **train), progress=progress).about()
