"""scikit-learn's own classes, run by the engine where it can.

A class here derives from scikit-learn's and overrides the step that computes: parameters, checks, attributes and errors
are scikit-learn's. What the engine doesn't take, or refuses, scikit-learn computes as ever. The logger ``gramengine``
says at level INFO which of them ran, and why it wasn't the engine.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Callable, Iterable

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition, neighbors, svm
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from ._kernels import gram, neighbours
from ._library import GramError
from ._machines import KernelSVC, KernelSVR, OneClass, pairs

try:
    from sklearn.utils._sparse import _align_api_if_sparse
except ImportError:  # before scikit-learn 1.9, which has matrices alone
    _align_api_if_sparse = sp.csr_matrix


_log = logging.getLogger("gramengine")


def _by_engine(self: Any, method: str, refusal: str | None, work: Callable[[], Any]) -> Any:
    """What the engine makes of ``work``; None where scikit-learn must do it, for the reason ``refusal`` or the engine's."""
    name = f"{type(self).__name__}.{method}"
    if refusal is None:
        try:
            made = work()
        except (ValueError, GramError) as error:
            refusal = str(error).partition("\n")[0]
        else:
            _log.info("%s: running by gramengine", name)
            return made
    _log.info("%s: running by scikit-learn: %s", name, refusal)
    return None


def _specification(kernel: Any, gamma: float, coef0: float, degree: float) -> str:
    """The engine's name of a kernel of scikit-learn."""
    gamma, coef0 = float(gamma), float(coef0)
    return {"linear": "linear", "rbf": f"rbf:gamma={gamma!r}", "sigmoid": f"sigmoid:gamma={gamma!r},r={coef0!r}",
            "poly": f"polynomial:gamma={gamma!r},r={coef0!r},degree={degree}"}[kernel]


_SMALL = 1024  # documents, up to which the kernel matrix is computed in float64
_SLACK = 4e-6  # of the engine's cosine, 2.7e-6, and of values that are rounded to float32
_INFINITE = 1e300  # what stands for an infinite C


class _Machine:
    """A support vector machine: LIBSVM's part of it by the engine."""

    def _refusal(self) -> str | None:
        if getattr(self, "_effective_probability", self.probability) not in (False, "deprecated"):  # before 1.9 the latter
            return "probabilities are those of LIBSVM's folds"
        return None if self.max_iter == -1 else "max_iter counts LIBSVM's iterations"

    def _fit_by(self, scikit_learn: Callable, X: Any, y: np.ndarray, sample_weight: np.ndarray, *more: Any) -> None:
        self._engine, self._handed = None, "it was fitted by scikit-learn"
        if _by_engine(self, "fit", self._refusal(), lambda: self._train(X, y, sample_weight)) is None:
            scikit_learn(X, y, sample_weight, *more)

    def _dense_fit(self, X: Any, y: Any, sample_weight: Any, solver_type: int, kernel: Any, random_seed: int) -> None:
        self._fit_by(super()._dense_fit, X, y, sample_weight, solver_type, kernel, random_seed)

    def _sparse_fit(self, X: Any, y: Any, sample_weight: Any, solver_type: int, kernel: Any, random_seed: int) -> None:
        self._fit_by(super()._sparse_fit, X, y, sample_weight, solver_type, kernel, random_seed)

    def _matrix(self, X: Any) -> np.ndarray | None:
        """The kernel matrix, where the engine is to solve with it: its own kernels are of float32."""
        if callable(self.kernel):
            self._BaseLibSVM__Xfit = X  # which predictions of scikit-learn's compare with
            return self._compute_kernel(X)
        if self.kernel == "precomputed":
            return X
        if X.shape[0] > _SMALL:
            self._check_spread(X)
            return None
        return pairwise_kernels(X, metric=self.kernel, filter_params=True, gamma=self._gamma, coef0=self.coef0,
                                degree=self.degree)

    def _check_spread(self, X: Any) -> None:
        """Refuses documents so far from the origin that the engine's error of ‖x‖² is above 1/1000 of their distances."""
        norms = row_norms(X, squared=True)
        if self.kernel == "rbf":
            spread = 1 / self._gamma if self._gamma else np.inf
        else:
            spread = norms.mean() - np.square(np.asarray(X.mean(axis=0))).sum()
        if not _SLACK * norms.max() <= 1e-3 * spread:
            raise ValueError("documents are too far from the origin, for their distances, to compare in float32")

    def _train(self, X: Any, y: np.ndarray, sample_weight: np.ndarray) -> Any:
        vectors, matrix = X, self._matrix(X)
        if matrix is not None:
            X, how = matrix, {"kernel": "precomputed", "tol": self.tol}
        else:
            how = {"kernel": _specification(self.kernel, self._gamma, self.coef0, self.degree), "tol": self.tol}
        weights, targets, rows = sample_weight if len(sample_weight) else None, y, None
        if matrix is not None and weights is not None and not weights.all():  # the engine takes no such rows of a matrix
            rows = np.flatnonzero(weights)
            X, targets, weights = X[np.ix_(rows, rows)], y[rows], weights[rows]
        price = min(self.C, _INFINITE)
        if self._impl == "one_class":
            engine = OneClass(nu=self.nu, **how).fit(X, sample_weight=weights)
        elif self._impl.endswith("svr"):
            kind = {"nu": self.nu} if self._impl == "nu_svr" else {"epsilon": self.epsilon}
            engine = KernelSVR(C=price, **kind, **how).fit(X, targets, weights)
        else:
            kind = {"nu": self.nu} if self._impl == "nu_svc" else {"C": price}
            classes = targets.astype(np.int64)
            if weights is not None and len(np.unique(classes[weights > 0])) < len(self.classes_):
                raise ValueError("a class has no document of a weight above 0")
            if self._impl == "c_svc" and (self.class_weight_ != 1).any():
                weights = self.class_weight_[classes] * (1 if weights is None else weights)
            engine = KernelSVC(scheme="one-vs-one", **kind, **how).fit(X, classes, weights)
        self._adopt(engine, vectors, y, engine.support_ if rows is None else rows[engine.support_])
        self._engine_dual = self.dual_coef_
        if matrix is None:
            self._engine, self._handed = engine, None
        else:
            self._handed = "its kernel matrix is of float64"
        return self

    def _adopt(self, engine: Any, X: Any, y: np.ndarray, support: np.ndarray) -> None:
        """Sets what LIBSVM's fit would, in its order: support vectors by class, then as the documents come."""
        values, offsets = engine._model.array("coefficients"), engine._model.array("offsets")
        if hasattr(self, "classes_"):
            self._pairs = pairs(engine._places)
            order = np.lexsort((support, y[support]))
            dual, offsets = _dual_by_class(values[self._pairs[0]] * self._pairs[1][:, None], y[support].astype(int),
                                           len(self.classes_)), offsets[self._pairs[0]] * self._pairs[1]
            self._n_support = np.bincount(y[support].astype(int), minlength=len(self.classes_)).astype(np.int32)
        else:
            order, dual = np.argsort(support), values
            self._n_support = np.array([len(support), 0], np.int32)
        self.support_, dual = support[order].astype(np.int32), np.ascontiguousarray(dual[:, order])
        listed = self.kernel != "precomputed" and not callable(self.kernel)
        self.support_vectors_ = X[self.support_] if listed else np.empty((0, 0))
        self.dual_coef_ = _align_api_if_sparse(_full_csr(dual)) if self._sparse else dual
        self.intercept_ = -offsets
        self._probA = self._probB = np.empty(0)
        self.fit_status_ = int(not engine.about_["converged"])
        self._num_iter = np.ones(len(offsets), np.int32)  # the engine solves the machines together, and counts none of each

    def _values_by(self, method: str, X: Any) -> Any:
        """Decision values as LIBSVM has them, or None: of a model that the engine didn't make, or that was changed."""
        changed = self._engine is not None and self._dual_coef_ is not self._engine_dual
        return _by_engine(self, method, "coefficients were changed" if changed else self._handed, lambda: self._values(X))

    def _values(self, X: Any) -> np.ndarray:
        found = self._engine._predict(X)
        if self._impl.endswith("svr"):
            return found.array("values")[:, None]
        scores = found.array("scores")
        return scores if self._impl == "one_class" else scores[:, self._pairs[0]] * self._pairs[1]

    def _predict_by(self, scikit_learn: Callable, X: Any) -> np.ndarray:
        values = self._values_by("predict", X)
        if values is None:
            return scikit_learn(X)
        if self._impl.endswith("svr"):
            return values[:, 0]
        if self._impl == "one_class":
            return np.where(values[:, 0] > 0, 1.0, -1.0)
        k = len(self.classes_)
        first, second = np.triu_indices(k, 1)
        votes = np.zeros((len(values), k))
        for m, (i, j) in enumerate(zip(first, second)):
            votes[np.arange(len(values)), np.where(values[:, m] > 0, i, j)] += 1
        return votes.argmax(axis=1)

    def _decide_by(self, scikit_learn: Callable, X: Any) -> np.ndarray:
        values = self._values_by("decision_function", X)
        return scikit_learn(X) if values is None else values

    def _dense_predict(self, X: Any) -> np.ndarray:
        return self._predict_by(super()._dense_predict, X)

    def _sparse_predict(self, X: Any) -> np.ndarray:
        return self._predict_by(super()._sparse_predict, X)

    def _dense_decision_function(self, X: Any) -> np.ndarray:
        return self._decide_by(super()._dense_decision_function, X)

    def _sparse_decision_function(self, X: Any) -> np.ndarray:
        return self._decide_by(super()._sparse_decision_function, X)


def _dual_by_class(machines: np.ndarray, classes: np.ndarray, k: int) -> np.ndarray:
    """LIBSVM's layout: of a support vector of class i the coefficients against the k-1 other classes, in their order."""
    dual = np.zeros((k - 1, len(classes)))
    for m, (i, j) in enumerate(zip(*np.triu_indices(k, 1))):
        dual[j - 1, classes == i] = machines[m, classes == i]
        dual[i, classes == j] = machines[m, classes == j]
    return dual


def _full_csr(dense: np.ndarray) -> Any:
    """A sparse array that stores zeros, too, as LIBSVM's coefficients are."""
    rows, columns = dense.shape
    return sp.csr_array((dense.ravel(), np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns), dense.shape)


class SVC(_Machine, svm.SVC):
    __doc__ = svm.SVC.__doc__


class NuSVC(_Machine, svm.NuSVC):
    __doc__ = svm.NuSVC.__doc__


class SVR(_Machine, svm.SVR):
    __doc__ = svm.SVR.__doc__


class NuSVR(_Machine, svm.NuSVR):
    __doc__ = svm.NuSVR.__doc__


class OneClassSVM(_Machine, svm.OneClassSVM):
    __doc__ = svm.OneClassSVM.__doc__


class KernelPCA(decomposition.KernelPCA):
    __doc__ = decomposition.KernelPCA.__doc__

    def _get_kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        def matrix() -> np.ndarray:
            return gram(X, Y, kernel=_specification(self.kernel, self.gamma_, self.coef0, self.degree)).astype(np.float64)

        refusal = None
        if self.kernel not in ("linear", "rbf", "poly", "sigmoid"):
            refusal = f"the kernel is {'a function' if callable(self.kernel) else self.kernel}"
        elif not sp.issparse(X) or not (Y is None or sp.issparse(Y)):
            refusal = "the data are dense"
        elif self.n_components is None or self.remove_zero_eig:
            refusal = "it is asked which eigenvalues are 0, which float32 doesn't tell"
        made = _by_engine(self, "kernel matrix", refusal, matrix)
        return super()._get_kernel(X, Y) if made is None else made


_ROWS = 1024  # of which distances are computed at a time
_METRICS = {"cosine": "linear:embed=tf-l2", "euclidean": "ned:beta=2", "l2": "ned:beta=2"}


class _Neighbours:
    """Neighbours of sparse vectors: the engine finds candidates, float64 orders them.

    What isn't among the candidates of a document has at most the engine's value of the last, and its error. Documents
    whose k-th distance isn't below that by then are searched anew by scikit-learn, so the result is exact.
    """

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        refusal = self._refusal(X, k)
        made = _by_engine(self, "kneighbors", refusal, lambda: self._nearest(X, k))
        if made is None:
            return super().kneighbors(X, n_neighbors, return_distance)
        return made if return_distance else made[1]

    kneighbors.__doc__ = neighbors.NearestNeighbors.kneighbors.__doc__

    def _refusal(self, X: Any, k: Any) -> str | None:
        own = X is None
        if not sp.issparse(self._fit_X) or not (own or sp.issparse(X)):
            return "the data are dense"
        if self.effective_metric_ not in _METRICS or self.effective_metric_params_:
            return f"the metric is {self.effective_metric_}"
        if not isinstance(k, (int, np.integer)) or not 0 < k <= self.n_samples_fit_ - own:
            return f"n_neighbors is {k}"
        return None

    def _nearest(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        own, of, metric = X is None, self._fit_X, self.effective_metric_
        X = of if own else validate_data(self, X, accept_sparse="csr", reset=False)
        most = self.n_samples_fit_ - own
        found = neighbours(X, None if own else of, k=min(most, 2 * k + 8), kernel=_METRICS[metric], n_jobs=self.n_jobs)
        missing = found.indices < 0
        apart, slack = _apart(X, of, np.where(missing, 0, found.indices), metric)
        apart[missing] = np.inf
        order = np.lexsort((found.indices, apart))[:, :k]
        apart, indices = np.take_along_axis(apart, order, 1), np.take_along_axis(found.indices, order, 1)
        distances = apart if metric == "cosine" else np.sqrt(apart)
        beyond = (metric == "cosine") - found.values[:, -1].astype(np.float64) - slack
        rows = np.flatnonzero((missing.any(axis=1) | ~(apart[:, -1] < beyond)) & (missing.shape[1] < most))
        if len(rows):
            distances[rows], indices[rows] = self._anew(X, rows, k, own)
        return distances, indices

    def _anew(self, X: Any, rows: np.ndarray, k: int, own: bool) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours of some rows by scikit-learn, of each among others where they are its own documents."""
        distances, indices = super().kneighbors(X[rows], k + own)
        keep = indices != (rows[:, None] if own else -1)
        keep[keep.all(axis=1) & own, -1] = False
        return distances[keep].reshape(-1, k), indices[keep].reshape(-1, k)


def _apart(X: Any, Y: Any, indices: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """1 - cosine, or the squared distance, of each row of X from the rows ``indices`` of Y, and the engine's error of it."""
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if metric == "cosine":
        X, Y = normalize(X), normalize(Y)
    n, k = indices.shape
    out = np.empty((n, k))
    for a in range(0, n, _ROWS):
        part = np.arange(a, min(a + _ROWS, n))
        left, right = X[np.repeat(part, k)], Y[indices[part].ravel()]
        sums = (left.multiply(right) if metric == "cosine" else (left - right).power(2)).sum(axis=1)
        out[part] = np.asarray(sums).reshape(-1, k)
    if metric == "cosine":
        return np.clip(1 - out, 0, 2), np.full(n, _SLACK)
    return out, _SLACK * (row_norms(X) + row_norms(Y).max()) ** 2


class NearestNeighbors(_Neighbours, neighbors.NearestNeighbors):
    __doc__ = neighbors.NearestNeighbors.__doc__


class KNeighborsClassifier(_Neighbours, neighbors.KNeighborsClassifier):
    __doc__ = neighbors.KNeighborsClassifier.__doc__


class KNeighborsRegressor(_Neighbours, neighbors.KNeighborsRegressor):
    __doc__ = neighbors.KNeighborsRegressor.__doc__


class KNeighborsTransformer(_Neighbours, neighbors.KNeighborsTransformer):
    __doc__ = neighbors.KNeighborsTransformer.__doc__


_PATCHES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM, NearestNeighbors, KNeighborsClassifier, KNeighborsRegressor,
            KNeighborsTransformer, KernelPCA)


def patch_sklearn(names: str | Iterable[str] | None = None) -> None:
    """Puts classes that the engine runs in the place of scikit-learn's.

    ``from sklearn.svm import SVC`` then gives ours: call this before such imports. Ours derive from scikit-learn's and
    hand on what the engine doesn't take; the logger ``gramengine`` says at level INFO what ran.

    Parameters
    ----------
    names : str or iterable of str, optional
        Of SVC, NuSVC, SVR, NuSVR, OneClassSVM, NearestNeighbors, KNeighborsClassifier, KNeighborsRegressor,
        KNeighborsTransformer and KernelPCA; default all.

    Examples
    --------
    >>> from gramengine import patch_sklearn, unpatch_sklearn
    >>> patch_sklearn("SVC")
    >>> from sklearn.svm import SVC
    >>> SVC.__module__
    'gramengine._patch'
    >>> unpatch_sklearn()
    """
    ours = {c.__name__: c for c in _PATCHES}
    wanted = list(ours) if names is None else [names] if isinstance(names, str) else list(names)
    unknown = [n for n in wanted if n not in ours]
    if unknown:
        raise ValueError(f"found {unknown[0]!r}, expected names of {', '.join(ours)}")
    for name in wanted:
        _replace(_theirs(ours[name]), ours[name])


def unpatch_sklearn() -> None:
    """Puts scikit-learn's classes back; what was imported before keeps the class that it has."""
    for own in _PATCHES:
        _replace(own, _theirs(own))


def _theirs(own: type) -> type:
    """The class of scikit-learn that one of ours derives from."""
    return next(c for c in own.__mro__[1:] if c.__name__ == own.__name__)


def _replace(old: type, new: type) -> None:
    """Puts one class in the place of another in the modules of scikit-learn."""
    for module in [m for n, m in sys.modules.items() if n.partition(".")[0] == "sklearn" and m is not None]:
        for name in [n for n, value in vars(module).items() if value is old]:
            setattr(module, name, new)
