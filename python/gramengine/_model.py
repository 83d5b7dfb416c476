"""Base class of estimators with a model, and explanations of predictions."""

from __future__ import annotations

import html
import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from . import _library
from ._documents import Held, count, documents, is_text
from ._kernels import workers
from ._library import Object, options
from ._table import Rows

VALUES = [np.float32, np.float64]


def checked(self: Any, X: Any, y: Any = "no_validation", reset: bool = False, **checks: Any) -> Any:
    """Checks documents and targets as scikit-learn does, and returns them."""
    found = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=VALUES, accept_large_sparse=True,
                          **checks)
    if get_tags(self).input_tags.positive_only:
        check_non_negative(found[0] if isinstance(found, tuple) else found, type(self).__name__)
    return found


def kind(about: dict[str, Any]) -> str:
    """Returns the kind of a file's contents, for messages."""
    if about["kind"] != "model":
        return about["kind"]
    what = "regression" if about["numbers"] else "one-class model" if about["one_class"] else "classifier"
    return f"{what} of {'texts' if about['text'] else 'vectors'}"


def parameters(cls: type, train: dict[str, Any]) -> dict[str, Any]:
    """Converts training options of the library to parameters of an estimator."""
    name, _, rest = (train.get("type") or "c_svc").partition(":")
    own = dict(part.split("=", 1) for part in rest.split(",") if part)
    found = {_library.PARAMETERS.get(k, k): v for k, v in train.items()}
    if "loss" in own:
        found["loss"] = own["loss"]
    if train.get("balanced"):
        found["class_weight"] = "balanced"
    if name == "logistic":
        found["loss"] = name
    if "m" in own or name == "landmark":
        found["landmarks"] = int(own.get("m", 4096))
    return {k: found[k] for k in cls._get_param_names() if found.get(k) not in (None, "")}


class Engine(BaseEstimator):
    """Base class of estimators with a model. ``_model`` is pickled in its file format."""

    _model: Object
    _kind = "classifier of vectors"  # kind of files that the estimator loads

    def _checked(self, X: Any, reset: bool = False, **checks: Any) -> Any:
        """Checks documents as scikit-learn does, and returns them."""
        if not reset:
            check_is_fitted(self)
        return checked(self, X, reset=reset, **checks)

    def _train(self, x: Held, **settings: Any) -> None:
        self._model = Object("gram_train", x.pointer, *options(
            workers=workers(self.n_jobs), memory_bytes=self.memory_bytes, **settings), progress=self.verbose or None)
        self.__dict__.pop("_about_model", None)

    def _predict(self, X: Any, **how: Any) -> Object:
        return Object("gram_predict", self._model, documents(X).pointer, *options(
            workers=workers(self.n_jobs), memory_bytes=self.memory_bytes, **how), progress=self.verbose or None)

    def _array(self, name: str) -> np.ndarray:
        """Returns an array of the model."""
        check_is_fitted(self)
        return self._model.array(name)

    @property
    def about_(self) -> dict[str, Any]:
        """Description of the model: type, kernel, C, classes, number of support vectors, and training report."""
        check_is_fitted(self)
        if "_about_model" not in self.__dict__:
            self._about_model = self._model.about()
        return self._about_model

    @property
    def n_support_vectors_(self) -> int:
        """Number of support vectors; 0 if the model isn't a support vector machine."""
        return self.about_["support"] or 0

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file atomically. This class and the program gram can load it.

        The file stores classes as str, and :meth:`load` returns them as str. Pickle preserves their type.
        """
        check_is_fitted(self)
        _library.save(self._model, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> "Engine":
        """Loads a model that this class or ``gram train`` wrote.

        Classes are loaded as str in sorted order: 2 and 10 become "10" and "2". ``kernel``, ``C``, ``scheme``, ``type``
        and ``terms`` are set from the file. It doesn't contain ``nu``, ``epsilon``, ``min_df``, ``class_weight``,
        ``reject`` and ``tol``. ``parameters`` override the file.
        """
        self = cls(**parameters)
        self._model = _library.load(path)
        self._adopt(parameters)
        return self

    def _adopt(self, given: Any = ()) -> None:
        """Sets fitted attributes, and parameters that aren't in ``given``, from a loaded model."""
        about = self.about_
        if kind(about) != self._kind:
            raise ValueError(f"{type(self).__name__} requires a file of kind {self._kind!r}, got {kind(about)!r}")
        if about.get("columns") and "vectors" in self._kind:
            self.n_features_in_ = about["columns"]
        if hasattr(self, "_names"):
            self._names(about)
        known = {k: about[k] for k in ("type", "c", "scheme", "kernel", "probabilities") if k in about}
        known |= {"terms": about["tokenizer"], "choose_work": -1} if about["text"] else {}
        known |= {} if about["kernel"] else {"embedding": about["embedding"]}
        self.set_params(**{k: v for k, v in parameters(type(self), known).items() if k not in given})

    def to_bytes(self) -> bytes:
        """Returns the model in its file format."""
        check_is_fitted(self)
        return self._model.bytes()

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_about_model", None)
        if "_model" in state:
            state = {**state, "_model": self.to_bytes()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(state.get("_model"), bytes):
            self._model = _library.Stored(state["_model"])

    def explain(self, x: Any = None, terms: int = 10, feature_names: Any = None) -> "Explanation":
        """Explains the prediction of one document, or lists the strongest terms of each class.

        Parameters
        ----------
        x : document, optional
            A text, or a row of a matrix with one or two dimensions. Without it, the result has the terms with the
            largest weights by class or, for kernels that aren't linear, with the largest mean effects.
        terms : int
            Number of terms.
        feature_names : sequence of str, optional
            Names of the matrix's columns; default the column names of the frame in training.
        """
        check_is_fitted(self)
        if isinstance(x, str):
            x = [x]
        elif getattr(x, "ndim", 2) == 1 and not is_text(x):
            x = (x if sp.issparse(x) else np.asarray(x)).reshape(1, -1)
        if hasattr(x, "shape") and hasattr(self, "n_features_in_") and not isinstance(x, Rows):
            validate_data(self, x, reset=False, skip_check_array=True)
        if x is not None and count(x) != 1:
            raise ValueError(f"explain requires one document, got {count(x)}")
        if feature_names is None and not self.about_["text"]:
            feature_names = getattr(self, "feature_names_in_", None)
        given = None if x is None else documents(x)
        found = Object("gram_explain", self._model, given and given.pointer, 0, terms)
        return Explanation(found.about(), feature_names, self.about_["numbers"])


class Explanation:
    """An explanation of a prediction or a model, displayed as a table.

    ``rows`` is a list of dicts, one per term, or per column of a table. ``terms`` has the terms of a document.
    """

    def __init__(self, about: dict[str, Any], names: Any = None, numbers: bool = False):
        self.about, self._numbers = about, numbers
        self.rows: list[dict[str, Any]] = []
        if "rows" in about:
            for machine in about["rows"]:
                for side in ("terms_for", "terms_against"):
                    for t in machine.get(side) or []:
                        self.rows.append({"class": machine.get("class", ""), "against": machine.get("against", ""),
                                          "term": _named(t["term"], names), "weight": t["weight"]})
        else:
            self.terms = [{**t, "term": _named(t["term"], names)} for t in about.get("terms") or []]
            self.rows = about.get("columns") or self.terms

    @property
    def title(self) -> str:
        a = self.about
        if "rows" in a:
            return "terms with the largest effects for and against each class"
        if self._numbers:
            return f"estimate {a.get('value'):.4g}"
        against = f" against {a['against']}" if a.get("against") else ""
        return f"{a.get('label')}{against}: decision value {a.get('value'):.4g}"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        columns = [c for c in (self.rows[0] if self.rows else {}) if any(r.get(c) not in (None, "") for r in self.rows)]
        return columns, [[f"{v:.4g}" if isinstance(v, float) else str(v) for v in (r.get(c) for c in columns)]
                         for r in self.rows]

    def __str__(self) -> str:
        columns, rows = self._table()
        widths = [max(len(r[i]) for r in [columns, *rows]) for i in range(len(columns))]
        lines = ["  ".join(v.ljust(w) for v, w in zip(r, widths)).rstrip() for r in [columns, *rows]]
        return "\n".join([self.title, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns, rows = self._table()
        cells = lambda tag, row: "".join(f"<{tag}>{html.escape(v)}</{tag}>" for v in row)
        body = "".join(f"<tr>{cells('td', r)}</tr>" for r in rows)
        return (f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{cells('th', columns)}</tr></thead>"
                f"<tbody>{body}</tbody></table>")

    def plot(self, ax: Any = None) -> Any:
        """Draws the rows as bars with matplotlib."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        rows = self.rows[::-1]
        values = [r.get("effect", r.get("weight", 0)) for r in rows]
        ax.barh(range(len(rows)), values, color=["C0" if v >= 0 else "C3" for v in values])
        names = [r["term"] if "term" in r else f"{r['column']} = {r['value']:.30}" for r in rows]
        ax.set_yticks(range(len(rows)), names)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_title(self.title)
        ax.set_xlabel("change of the decision value" if "rows" not in self.about else "weight")
        return ax


def _named(term: Any, names: Any) -> str:
    if names is None:
        return str(term)
    try:
        return str(names[int(str(term).rsplit(" ", 1)[-1])])
    except (ValueError, IndexError):
        return str(term)
