"""Search and cross-validation on shared tiles."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from sklearn.utils.validation import validate_data

from ._documents import Corpus, classes_of, documents, is_terms, is_text
from ._kernels import workers
from ._library import PARAMETERS, Object, Progress, options
from ._machines import KernelSVR, _class_weights, _seed, one_class_each
from ._model import parameters
from ._table import is_mixed
from ._text import TextClassifier, TextRegressor, kept, read_table, vector_classifier


class SearchResult:
    """The result of a search: ``best_params_``, ``best_score_``, ``cv_results_`` and ``best_estimator_``.

    ``best_params_`` are parameters of the estimator; ``about["train"]`` has the engine's options. ``best_score_`` is
    the mean of the measure ``about["measure"]``. For regression this is an error, and smaller is better.
    """

    def __init__(self, about: dict[str, Any], told: Any, estimator: Any):
        self.about = about
        points = about["points"] or []
        self.best_index_ = about["best"]
        self.best_params_: dict[str, Any] = told(about["train"] or {})
        self.best_score_ = points[self.best_index_]["mean"] if self.best_index_ >= 0 else float("nan")
        self.cv_results_: dict[str, Any] = {
            "params": [told(p["options"]) for p in points], "mean_test_score": np.array([p["mean"] for p in points]),
            "std_test_score": np.array([p["sd"] for p in points]),
            "documents": np.array([p["documents"] for p in points]),
        }
        self.best_estimator_ = estimator

    def _order(self) -> np.ndarray:
        """Returns the order of the points, best first."""
        sign = 1 if self.about["measure"] == "mean_squared_error" else -1
        return np.argsort(sign * self.cv_results_["mean_test_score"], kind="stable")

    def __repr__(self) -> str:
        return f"SearchResult({self.about['measure']} {self.best_score_:.4f}, {self.best_params_})"

    def _repr_html_(self) -> str:
        import html

        mean, sd, params = (self.cv_results_[k] for k in ("mean_test_score", "std_test_score", "params"))
        rows = "".join(f"<tr><td>{mean[i]:.4f} ± {sd[i]:.4f}</td><td>{html.escape(str(params[i]))}</td></tr>"
                       for i in self._order()[:20])
        head = f"<tr><th>{html.escape(self.about['measure'])}</th><th>parameters</th></tr>"
        return f"<table><thead>{head}</thead>{rows}</table>"

    def plot(self, ax: Any = None) -> Any:
        """Draws the mean and standard deviation of each point with matplotlib, best first."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        order = self._order()
        mean, sd = self.cv_results_["mean_test_score"][order], self.cv_results_["std_test_score"][order]
        ax.errorbar(range(len(order)), mean, sd, fmt="o", capsize=3)
        ax.set_xlabel("points, best first")
        ax.set_ylabel(self.about["measure"])
        return ax


def _problem(
    X: Any, y: Any, given: dict[str, Any], groups: Any,
) -> tuple[Any, np.ndarray | None, bool, dict[str, str] | None]:
    """Returns documents with classes or targets, the classes (None for regression), True if documents have terms, and
    the kinds of the columns of a table. Removes ``columns`` from ``given``."""
    learner, columns, kinds = given.get("type"), given.pop("columns", None), None
    classes = None
    if learner not in ("epsilon_svr", "nu_svr"):
        classes, names, labels = classes_of(y)
        learnt = {"classes": names, "labels": labels}
    elif isinstance(X, Corpus):
        raise ValueError(f"type {learner!r} requires texts, a table or a matrix, got a Corpus")
    else:
        learnt = {"targets": y}
    if columns is not None or is_mixed(X):
        X, kinds = read_table(X, columns, **learnt)
    elif not isinstance(X, Corpus) and is_text(X):
        X = kept(X, **learnt)
    terms = is_terms(X) or isinstance(X, Corpus) and X.about["text"]
    if isinstance(X, Corpus) and classes is None:
        learnt = {}
    return documents(X, groups=groups, **learnt), classes, terms, kinds


def _options(given: dict[str, Any], classes: np.ndarray | None, grid: dict[str, Any] | None = None) -> dict[str, Any]:
    """Converts parameters of estimators to training options of the library."""
    one_class_each(given.get("scheme"))
    out = {_OPTIONS.get(k, k): v for k, v in given.items() if k != "class_weight"}
    if given.get("class_weight") is not None and classes is not None:
        out["balanced"], out["weights"] = _class_weights(given["class_weight"], classes)
    if "nu" in {**given, **(grid or {})}:
        out.setdefault("type", "nu_svc")
    return out


_OPTIONS = {parameter: option for option, parameter in PARAMETERS.items()}


def search(X: Any, y: Any, grid: dict[str, Sequence[Any]] | None = None, *, folds: int = 5, groups: Any = None,
           refit: bool = True, n_jobs: int | None = None, memory_bytes: int | None = None, random_state: Any = 1,
           progress: Progress | None = None, **fixed: Any) -> SearchResult:
    """Searches for the best kernel and parameters by cross-validation.

    Each dot product is computed once for all kernels, folds and values of C.

    Parameters
    ----------
    X : documents
        As for :func:`gram`.
    y : array
        Classes, or numbers for regression. Classes must equal the labels of a :class:`Corpus` that has labels.
    grid : dict of lists, optional
        Values of ``C``, ``nu``, ``epsilon``, ``kernel``, ``embedding``, ``scheme`` and of the kernel's parameters, such
        as ``t`` or ``gamma``. By default, terms, kernel, C and scheme are searched for on growing samples.
    folds : int
        Number of folds.
    groups : array of shape (n,), optional
        Documents with the same value are in the same fold.
    refit : bool
        Fit ``best_estimator_`` on all documents.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per CPU. Results don't depend on it.
    memory_bytes : int, optional
        Memory limit of the call; default none.
    random_state : int, RandomState, Generator or None
        Seed for folds and samples.
    progress : bool, int or callable, optional
        True or 1 shows a progress bar. A function is called with stage, done and total.
    **fixed
        Other parameters: ``kernel``, such as ``"diffusion"``, ``C``, ``nu``, ``epsilon``, ``embedding``, ``scheme``,
        ``class_weight``, ``probability``, ``reject``, ``tol``, ``terms``, ``columns``, ``choose_work``, and ``type``,
        the learner, such as ``"nu_svc"``, ``"linear"`` or, for regression, ``"epsilon_svr"``.

    Returns
    -------
    SearchResult
        ``best_estimator_`` is a :class:`TextClassifier` or :class:`TextRegressor` for texts, lists of terms, and tables
        with columns that aren't numeric. Otherwise it depends on ``type``: :class:`KernelSVC`,
        :class:`LinearClassifier`, :class:`LandmarkClassifier` or :class:`KernelSVR`; other learners are in a
        :class:`KernelSVC`. A clone of it trains the same model. The exceptions are settings that aren't parameters: the
        tokenizer of a :class:`Corpus`, ``nu`` and ``tol`` of texts, and other learners.
    """
    columns = fixed.get("columns")
    x, classes, text, kinds = _problem(X, y, fixed, groups)
    if grid is not None:
        for scheme in grid.get("scheme", ()):
            one_class_each(scheme)
        grid = {{"embedding": "embed"}.get(k, k): [str(v) for v in values] for k, values in grid.items()}
    about = Object("gram_search", x.pointer, *options(
        grid=grid, folds=folds, workers=workers(n_jobs), memory_bytes=memory_bytes, seed=_seed(random_state),
        **_options(fixed, classes, grid)), progress=progress).about()
    train = about["train"] or {}
    learner = train.get("type") or "c_svc"
    if classes is None:
        cls = TextRegressor if text else KernelSVR
    else:
        cls = TextClassifier if text else vector_classifier(learner)
    if learner.startswith("nu_"):
        train.setdefault("nu", 0.5)

    def told(train: dict[str, Any], *omit: str) -> dict[str, Any]:
        found = parameters(cls, {k: v for k, v in train.items() if k not in omit})
        if "weights" in train:
            weights = train["weights"]
            found["class_weight"] = {c: weights[str(c)] for c in classes.tolist() if str(c) in weights}
        return found

    short = lambda train: told(train, "choose_work", "seed")
    if not refit or about["best"] < 0:
        return SearchResult(about, short, None)
    estimator = cls(n_jobs=n_jobs, memory_bytes=memory_bytes)
    estimator._train(x, **{**train, "choose_work": -1})
    if classes is not None:
        estimator._classes(classes)
    if kinds is not None:
        estimator.columns = columns
        estimator._named(kinds)
    if not text and hasattr(X, "shape"):
        validate_data(estimator, X, skip_check_array=True)  # sets the number and names of columns
    estimator.set_params(**told({"scheme": estimator.about_["scheme"], **train, "choose_work": -1}))
    return SearchResult(about, short, estimator)


def cross_validate(X: Any, y: Any, *, folds: int = 5, groups: Any = None, n_jobs: int | None = None,
                   memory_bytes: int | None = None, random_state: Any = 1, progress: Progress | None = None,
                   **train: Any) -> dict[str, Any]:
    """Cross-validates one set of parameters. Returns a dict with ``measure``, ``mean``, ``sd``, ``fold_scores``, …

    Parameters are the same as for :func:`search`; ``**train`` corresponds to ``**fixed``.
    """
    x, classes, _, _ = _problem(X, y, train, groups)
    return Object("gram_cross_validate", x.pointer, *options(
        folds=folds, workers=workers(n_jobs), memory_bytes=memory_bytes, seed=_seed(random_state),
        **_options(train, classes)), progress=progress).about()
