"""Classifiers, regression and one-class models."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from ._documents import classes_of, documents
from ._model import Engine, checked


def _class_weights(weights: Any, classes: np.ndarray) -> tuple[bool | None, dict[str, float] | None]:
    """Converts ``class_weight`` to the options ``balanced`` and ``weights``."""
    if weights is None:
        return None, None
    if isinstance(weights, str):
        if weights != "balanced":
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {weights!r}")
        return True, None
    names = dict(zip(classes.tolist(), map(str, classes)))
    unknown = [c for c in weights if c not in names]
    if unknown:
        raise ValueError(f"class_weight: unknown class {unknown[0]!r}; the classes are {classes.tolist()}")
    return None, {names[c]: float(w) for c, w in weights.items()}


def _weights_of_documents(self: Any, X: Any, weights: Any) -> np.ndarray | None:
    """Checks ``sample_weight``, and stores the indices of documents with positive weights."""
    self._weighted = None
    if weights is not None:
        weights = _check_sample_weight(weights, X, dtype=np.float64, ensure_non_negative=True)
        self._weighted = np.flatnonzero(weights > 0)
    return weights


def _support(self: Any) -> np.ndarray:
    """Returns the indices of the support vectors."""
    found, weighted = self._array("support"), getattr(self, "_weighted", None)
    return found if weighted is None or self.kernel == "precomputed" else weighted[found].astype(found.dtype)


def _has_probabilities(self: Any) -> bool:
    if hasattr(self, "_model"):
        return bool(self.about_["probabilities"])
    return self._wants_probabilities()


class Classifier(ClassifierMixin, Engine):
    """Base class of classifiers."""

    def _settings(self) -> dict[str, Any]:
        raise NotImplementedError

    def _wants_probabilities(self) -> bool:
        return False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Classifier":
        """Trains the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, columns)
            Counts or values. A CSR matrix of float32 is read in place.
        y : array of shape (n,)
            Classes.
        sample_weight : array of shape (n,), optional
            Weights of documents, which multiply C.
        """
        X, y = checked(self, X, y, reset=True)
        check_classification_targets(y)
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> None:
        one_class_each(getattr(self, "scheme", None))
        classes, names, labels = classes_of(y)
        if len(classes) < 2:
            raise ValueError(f"y has only one class, {classes[0]!r}; at least two are required")
        sample_weight = _weights_of_documents(self, X, sample_weight)
        if sample_weight is not None and len(np.unique(labels[sample_weight > 0])) < 2:
            raise ValueError("documents with positive weights have only one class; at least two are required")
        balanced, weights = _class_weights(getattr(self, "class_weight", None), classes)
        x = documents(X, classes=names, labels=labels, weights=sample_weight)
        self._train(x, balanced=balanced, weights=weights, **self._settings(), **more)
        self._classes(classes)

    def _classes(self, classes: np.ndarray) -> None:
        """Sets the classes, and the index of each of the model's classes in them."""
        self.classes_ = classes
        place = {str(c): i for i, c in enumerate(classes)}
        self._places = np.array([place[n] for n in self.about_["classes"]])

    def _names(self, about: dict[str, Any]) -> None:
        self._classes(np.array(sorted(about["classes"])))

    def predict(self, X: Any) -> np.ndarray:
        """Predicts the class of each document. If the model has probabilities, this is the most probable class."""
        found = self._predict(self._checked(X))
        return self._labels(found)

    def _labels(self, found: Any) -> np.ndarray:
        names, numbers = found.about()["classes"], found.array("labels")
        by_name = {str(c): c for c in self.classes_}
        values = [by_name.get(n, n) for n in names]
        if all(n in by_name for n in names):
            return np.array(values, dtype=self.classes_.dtype)[numbers]
        return np.array(values, dtype=object)[numbers]  # the classes and "?"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Returns the accuracy. "?" counts as wrong."""
        found = self.predict(X)
        if found.dtype != object:
            return float(accuracy_score(y, found, sample_weight=sample_weight))
        return float(np.average(found == column_or_1d(y).astype(object), weights=sample_weight))

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns decision values by class. For two classes it returns one value, positive for the second class.

        The predicted class has the largest value. If the model has probabilities, the most probable class may have a
        smaller value.

        For two classes, one-vs-rest returns the difference of two decision functions, which is twice the value of
        one-vs-one and of scikit-learn's ``SVC``. For more classes, one-vs-one returns the number of votes, plus 2/3 for
        the predicted class (unless it is "?"), plus less than 1/3 from the sum of decision values.
        """
        found = self._predict(self._checked(X))
        return self._decisions(found)

    def _decisions(self, found: Any) -> np.ndarray:
        scores, classes = found.array("scores"), len(self.classes_)
        if scores.shape[1] == 1 and classes == 2:
            return scores[:, 0] * (1 if self._places[0] == 1 else -1)
        if classes == 2 and scores.shape[1] == 2:
            by = self._in_order(scores)
            return by[:, 1] - by[:, 0]
        if scores.shape[1] == classes and self.about_["scheme"] != "one-vs-one":
            return self._in_order(scores, np.min(scores, initial=0) - 1)
        return self._votes(scores, found.array("labels"))

    def _in_order(self, columns: np.ndarray, missing: float = 0.0) -> np.ndarray:
        out = np.full((len(columns), len(self.classes_)), missing)
        out[:, self._places] = columns
        return out

    def _votes(self, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        n, k = len(scores), len(self._places)
        votes, sums, at = np.zeros((n, k)), np.zeros((n, k)), 0
        for i in range(k):
            for j in range(i + 1, k):
                won = scores[:, at] > 0
                votes[:, i] += won
                votes[:, j] += ~won
                sums[:, i] += scores[:, at]
                sums[:, j] -= scores[:, at]
                at += 1
        sure = np.flatnonzero(labels < k)  # other documents are predicted as "?"
        votes[sure, labels[sure]] += 2 / 3
        return self._in_order(votes + sums / (3 * (np.abs(sums) + 1)))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns probabilities by class, calibrated by cross-validation on the training documents."""
        return self._in_order(self._predict(self._checked(X)).array("probabilities"))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Returns logarithms of the probabilities."""
        return np.log(self.predict_proba(X))

    @property
    def coef_(self) -> np.ndarray:
        """Weights by decision function and column, for models that are linear in the embedded documents.

        One-vs-rest has one row per class, in the order of ``classes_``, also for two classes. One-vs-one has a row per
        pair, in the order (0, 1), (0, 2), …, (1, 2), …, positive for the first class. For two classes it has a single
        row, positive for the second class, as :meth:`decision_function`.
        """
        weights = self._array("weights")
        if weights.size == 0:
            raise AttributeError("coef_ requires a model that is linear in the embedded documents")
        out = np.zeros((weights.shape[0], self.about_["vocabulary"] or self.n_features_in_))
        out[:, self._array("columns")] = weights
        return self._by_classes(out)

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the decision functions, in the order of ``coef_``."""
        offsets, rows = self._array("offsets"), self.about_["rows"]
        if offsets.size == 0 and not all("bias" in row for row in rows):
            raise AttributeError("intercept_ requires a model with intercepts")
        return self._by_classes(-offsets if offsets.size else np.array([row["bias"] for row in rows]))

    def _by_classes(self, machines: np.ndarray) -> np.ndarray:
        """Returns rows of the decision functions in the order of classes, with the sign of decision values."""
        if self.about_["scheme"] != "one-vs-one":
            return machines[np.argsort(self._places)]
        order, sign = pairs(self._places)
        return (machines[order].T * sign * (-1 if len(order) == 1 else 1)).T


def one_class_each(scheme: Any) -> None:
    """Raises ValueError for the scheme "labels", which requires documents with several classes."""
    if scheme == "labels":
        raise ValueError("scheme 'labels' requires documents with several classes; use 'one-vs-rest' or 'one-vs-one'")


def pairs(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the decision function's index for each pair of sorted classes, and its sign.

    The sign is -1 if the decision function has the second class first. ``places`` has the index of each of the model's
    classes in the sorted classes.
    """
    first, second = (places[i] for i in np.triu_indices(len(places), 1))
    order = np.lexsort((np.maximum(first, second), np.minimum(first, second)))
    return order, np.where(first < second, 1, -1)[order]


_SHARED = """n_jobs : int, optional
        Number of threads; None and -1 mean one per CPU. Results don't depend on it.
    memory_bytes : int, optional
        Memory limit of training and prediction; default none.
    verbose : bool, int or callable
        True or 1 shows a progress bar. A function is called with stage, done and total."""


def _shared(cls: type) -> type:
    cls.__doc__ = cls.__doc__.replace("{shared}", _SHARED)
    return cls


@_shared
class KernelSVC(Classifier):
    """A support vector machine with one of the engine's kernels.

    Like all estimators of matrices in this package, it ignores columns that are empty in training.

    Parameters
    ----------
    kernel : str, optional
        Kernel specification, such as ``"diffusion:t=2"``, ``"arccos"``, ``"chi2:gamma=0.5"`` or ``"rbf:gamma=0.1"``.
        The default is ``"diffusion:t=0.5"`` for counts, ``"bhattacharyya"`` with a warning for term weights such as
        tf-idf (wide, sparse, non-negative fractions), and ``"rbf:embed=standard"`` for other values.
    C : float
        Regularization parameter; larger fits the training data more closely.
    embedding : str, optional
        Embedding of the documents, such as ``"tfidf-l2"``; the default depends on ``kernel``.
    scheme : {"one-vs-one", "one-vs-rest"}
        Decomposition for more than two classes.
    nu : float, optional
        If set, ν-SVC is trained instead of C-SVC. ν is an upper bound on the fraction of margin errors.
    probability : bool
        Enables :meth:`predict_proba`. :meth:`predict` then returns the most probable class. Calibration ignores class
        weights.
    class_weight : dict, "balanced" or None
        Factors of C by class.
    tol : float
        Maximum violation of the optimality conditions.
    random_state : int, RandomState, Generator or None
        Has no effect, because training isn't random.
    {shared}

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    about_ : dict
        Description of the model and its training.
    support_ : array
        Indices of the support vectors in the training documents.
    dual_coef_ : array of shape (decision functions, support vectors)
    offsets_ : array of shape (decision functions,)
        f(x) = Σ dual_coef_·k(support, x) - offset, in the order of ``about_["decision_functions"]``.
    coef_ : array of shape (decision functions, columns)
        Weights of linear kernels; see :attr:`coef_`.
    intercept_ : array of shape (decision functions,)
        Intercepts, in the order of ``coef_``.

    Examples
    --------
    >>> from gramengine import KernelSVC
    >>> KernelSVC(C=10).fit([[3, 0, 1], [2, 0, 2], [0, 4, 1], [0, 1, 3]], ["a", "a", "b", "b"]).predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    def __init__(self, kernel: str | None = None, C: float = 1.0, *, embedding: str | None = None,
                 scheme: str = "one-vs-one", nu: float | None = None, probability: bool = False,
                 class_weight: Any = None, tol: float = 1e-3, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.C, self.embedding, self.scheme, self.nu = kernel, C, embedding, scheme, nu
        self.probability, self.class_weight, self.tol, self.random_state = probability, class_weight, tol, random_state
        self.n_jobs, self.memory_bytes, self.verbose = n_jobs, memory_bytes, verbose

    def _wants_probabilities(self) -> bool:
        return self.probability

    def _settings(self) -> dict[str, Any]:
        kind = {"type": "nu_svc", "nu": self.nu} if self.nu is not None else {"type": "c_svc", "c": self.C}
        return {**kind, "kernel": self.kernel, "embedding": self.embedding, "scheme": self.scheme,
                "probabilities": self.probability or None, "tolerance": self.tol, "seed": _seed(self.random_state),
                "choose_work": -1}

    support_ = property(_support, doc="Indices of the support vectors in the training documents.")
    dual_coef_ = property(lambda self: self._array("coefficients"), doc="Coefficients by decision function.")
    offsets_ = property(lambda self: self._array("offsets"), doc="Offsets by decision function.")

    def __sklearn_tags__(self) -> Any:
        return _tagged(self, super().__sklearn_tags__())


def _seed(state: Any) -> int:
    """Returns a positive seed for ``random_state``. None becomes 1."""
    if isinstance(state, np.random.Generator):
        return int(state.integers(1, 2**31))
    if isinstance(state, np.random.RandomState) or state is np.random:
        return int(check_random_state(state).randint(1, 2**31))
    return 1 if state is None else max(int(state), 1)


def _tagged(self: Any, tags: Any) -> Any:
    """Sets the input tags. Embeddings with roots, logarithms or histograms require nonnegative values."""
    tags.input_tags.sparse = True
    tags.input_tags.pairwise = getattr(self, "kernel", None) == "precomputed"
    kernel, own = getattr(self, "kernel", None) or "", getattr(self, "embedding", None)
    if embeddings := re.findall(r"embed=([^,:()]+)", kernel) or ([own] if own else []):
        tags.input_tags.positive_only = any(part in e for e in embeddings for part in _ABOVE)
    else:
        tags.input_tags.positive_only = kernel.split(":")[0] in _DISTRIBUTIONS
    return tags


_ABOVE = ("-sqrt", "-pow", "logtf", "-chi2", "-js")  # substrings of the names of such embeddings
_DISTRIBUTIONS = {"diffusion", "ngd", "ngd-exp", "ngd-power", "ngd-log", "hellinger", "bhattacharyya", "cosine-power",
                  "chi2", "js"}  # kernels with such embeddings by default


@_shared
class LinearClassifier(Classifier):
    """Linear support vector machines by dual coordinate descent, or logistic regression.

    Parameters
    ----------
    C : float, default 1
        Regularization parameter; larger fits the training data more closely.
    loss : {"squared-hinge", "hinge", "logistic"}
        ``"logistic"`` provides probabilities. For more than two classes it trains one-vs-rest models and normalizes
        their probabilities, while scikit-learn's ``LogisticRegression`` trains one multinomial model.
    embedding : str, optional
        Embedding of the documents, such as ``"tfidf-l2"`` or ``"tf-l1-sqrt"``; the default depends on X.
    class_weight : dict, "balanced" or None
        Factors of C by class, for hinge losses.
    tol : float, optional
        Stopping tolerance; the default depends on ``loss``.
    random_state : int, RandomState, Generator or None
        Seed for the order of documents.
    {shared}

    Attributes
    ----------
    coef_ : array of shape (classes, columns)
        Weights of the columns of embedded documents, by class in the order of ``classes_``, also for two classes.
    intercept_ : array of shape (classes,)
        Intercepts, in the same order.
    """

    def __init__(self, C: float = 1.0, *, loss: str = "squared-hinge", embedding: str | None = None,
                 class_weight: Any = None, tol: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.C, self.loss, self.embedding, self.class_weight = C, loss, embedding, class_weight
        self.tol, self.random_state, self.n_jobs = tol, random_state, n_jobs
        self.memory_bytes, self.verbose = memory_bytes, verbose

    def _wants_probabilities(self) -> bool:
        return self.loss == "logistic"

    def _settings(self) -> dict[str, Any]:
        kind = "logistic" if self.loss == "logistic" else f"linear:loss={self.loss}"
        return {"type": kind, "c": self.C, "embedding": self.embedding, "tolerance": self.tol,
                "seed": _seed(self.random_state), "choose_work": -1}

    def __sklearn_tags__(self) -> Any:
        return _tagged(self, super().__sklearn_tags__())


@_shared
class LandmarkClassifier(Classifier):
    """A kernel machine on landmarks (Nyström), for up to millions of documents.

    Parameters
    ----------
    kernel : str, optional
        As in :class:`KernelSVC`.
    landmarks : int, default 4096
        Number of training documents that are used as landmarks.
    C : float, default 1
        Regularization parameter; larger fits the training data more closely.
    loss : {"square", "logistic", "hinge2"}
        ``"logistic"`` provides probabilities.
    class_weight : dict, "balanced" or None
        Weights of documents by class.
    random_state : int, RandomState, Generator or None
        Seed for the selection of landmarks.
    {shared}
    """

    def __init__(self, kernel: str | None = None, landmarks: int = 4096, C: float = 1.0, *, loss: str = "square",
                 class_weight: Any = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.landmarks, self.C, self.loss = kernel, landmarks, C, loss
        self.class_weight, self.random_state, self.n_jobs = class_weight, random_state, n_jobs
        self.memory_bytes, self.verbose = memory_bytes, verbose

    def _wants_probabilities(self) -> bool:
        return self.loss == "logistic"

    def _settings(self) -> dict[str, Any]:
        return {"type": f"landmark:m={self.landmarks},loss={self.loss}", "kernel": self.kernel,
                "c": self.C, "seed": _seed(self.random_state), "choose_work": -1}

    def __sklearn_tags__(self) -> Any:
        return _tagged(self, super().__sklearn_tags__())


@_shared
class KernelSVR(RegressorMixin, Engine):
    """Support vector regression.

    Parameters
    ----------
    kernel : str, optional
        As in :class:`KernelSVC`.
    C : float
        Regularization parameter; larger fits the training data more closely.
    epsilon : float
        Width of the zone without loss.
    nu : float, optional
        If set, ν-SVR is trained, which determines epsilon. ν is an upper bound on the fraction of documents outside the
        zone without loss.
    embedding : str, optional
        Embedding of the documents.
    tol : float
        Maximum violation of the optimality conditions.
    {shared}
    """

    _kind = "regression of vectors"

    def __init__(self, kernel: str | None = None, C: float = 1.0, epsilon: float = 0.1, *, nu: float | None = None,
                 embedding: str | None = None, tol: float = 1e-3, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.C, self.epsilon, self.nu, self.embedding, self.tol = kernel, C, epsilon, nu, embedding, tol
        self.n_jobs, self.memory_bytes, self.verbose = n_jobs, memory_bytes, verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelSVR":
        """Trains the model on targets y."""
        X, y = checked(self, X, y, reset=True, y_numeric=True)
        sample_weight = _weights_of_documents(self, X, sample_weight)
        kind = {"type": "epsilon_svr", "epsilon": self.epsilon}
        if self.nu is not None:
            kind = {"type": "nu_svr", "nu": self.nu}
        self._train(documents(X, targets=y, weights=sample_weight), **kind, c=self.C, kernel=self.kernel,
                    embedding=self.embedding, tolerance=self.tol, choose_work=-1)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicts targets."""
        return self._predict(self._checked(X)).array("values")

    support_, dual_coef_, offsets_ = KernelSVC.support_, KernelSVC.dual_coef_, KernelSVC.offsets_

    def __sklearn_tags__(self) -> Any:
        return _tagged(self, super().__sklearn_tags__())


@_shared
class OneClass(OutlierMixin, Engine):
    """A one-class support vector machine, which separates documents like the training documents from others.

    Parameters
    ----------
    kernel : str, optional
        As in :class:`KernelSVC`.
    nu : float
        Upper bound on the fraction of training documents that are classified as outliers.
    embedding : str, optional
        Embedding of the documents.
    tol : float
        Maximum violation of the optimality conditions.
    {shared}
    """

    _kind = "one-class model of vectors"

    def __init__(self, kernel: str | None = None, nu: float = 0.5, *, embedding: str | None = None, tol: float = 1e-3,
                 n_jobs: int | None = None, memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.nu, self.embedding, self.tol = kernel, nu, embedding, tol
        self.n_jobs, self.memory_bytes, self.verbose = n_jobs, memory_bytes, verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "OneClass":
        """Trains the model. y is ignored."""
        X = self._checked(X, reset=True)
        sample_weight = _weights_of_documents(self, X, sample_weight)
        self._train(documents(X, weights=sample_weight), type="one_class", nu=self.nu, kernel=self.kernel,
                    embedding=self.embedding, tolerance=self.tol, choose_work=-1)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Returns decision values, which are positive for documents like the training documents."""
        return self._predict(self._checked(X)).array("scores")[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Returns decision values without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Predicts 1 for documents like the training documents, -1 for others."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    support_, dual_coef_ = KernelSVC.support_, KernelSVC.dual_coef_
    offset_ = property(lambda self: float(self._array("offsets")[0]), doc="Offset of the decision values.")

    def __sklearn_tags__(self) -> Any:
        return _tagged(self, super().__sklearn_tags__())
