"""Transformers: kernel principal components and neighbour graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._documents import count, documents
from ._kernels import neighbours, workers
from ._library import Object, call, options
from ._machines import _seed, _shared, _tagged
from ._model import checked


@_shared
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal components.

    Parameters
    ----------
    n_components : int, default 2
        Maximum number of components; the rank of the matrix may be smaller.
    kernel : str, default "diffusion:t=0.5"
        Kernel specification.
    landmarks : int, optional
        Number of landmarks (Nyström); default all documents.
    tol : float, default 1e-4
        Maximum residual, relative to each eigenvalue.
    random_state : int, RandomState, Generator or None
        Seed for the initial vectors and the selection of landmarks.
    {shared}

    Attributes
    ----------
    eigenvalues_ : array
        Eigenvalues of the centred Gram matrix, in descending order.
    """

    def __init__(self, n_components: int = 2, *, kernel: str | None = None, landmarks: int | None = None,
                 tol: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.n_components, self.kernel, self.landmarks, self.tol = n_components, kernel, landmarks, tol
        self.random_state, self.n_jobs = random_state, n_jobs
        self.memory_bytes, self.verbose = memory_bytes, verbose

    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Computes the components of X. y is ignored."""
        X = checked(self, X, reset=True, ensure_min_samples=2)
        self._data = X.copy()
        self._components: Object | None = None
        self._how = options(kernel=self.kernel, components=self.n_components, landmarks=self.landmarks,
                            tolerance=self.tol, seed=_seed(self.random_state), workers=workers(self.n_jobs),
                            memory_bytes=self.memory_bytes)
        self.eigenvalues_ = self._fitted().array("eigenvalues")
        self._n_features_out = len(self.eigenvalues_)
        return self

    def _fitted(self) -> Object:
        """Returns the components. An unpickled estimator computes them again at first use."""
        found = self._components
        if found is None:
            found = self._components = Object("gram_pca", documents(self._data).pointer, *self._how,
                                              progress=self.verbose or None)
        return found

    def transform(self, X: Any) -> np.ndarray:
        """Returns coordinates: documents × components."""
        check_is_fitted(self)
        X = checked(self, X)
        out = np.empty((X.shape[0], self._n_features_out))
        call("gram_project", self._fitted(), documents(X).pointer, *options(), out.ctypes.data, out.size)
        return out

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_components")

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "_components": None} if "_components" in state else state

    def __sklearn_tags__(self) -> Any:
        tags = _tagged(self, super().__sklearn_tags__())
        tags.input_tags.positive_only = tags.input_tags.positive_only or self.kernel is None
        tags.transformer_tags.preserves_dtype = []
        return tags


@_shared
class NeighboursTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Computes a sparse graph of exact neighbours, like scikit-learn's ``KNeighborsTransformer``.

    Estimators with ``metric="precomputed"`` accept it: ``KNeighborsClassifier``, ``DBSCAN``, ``TSNE``, UMAP.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        Values of the graph: distances √(2 - 2k), or 1.
    n_neighbors : int
        Number of neighbours per document. As in scikit-learn, a graph of distances has one more neighbour, which for
        training documents is the document itself.
    kernel : str, default "bhattacharyya"
        Specification of a kernel with k(x, x) = 1.
    {shared}
    """

    def __init__(self, *, mode: str = "distance", n_neighbors: int = 5, kernel: str | None = None,
                 n_jobs: int | None = None, memory_bytes: int | None = None, verbose: Any = False):
        self.mode, self.n_neighbors, self.kernel = mode, n_neighbors, kernel
        self.n_jobs, self.memory_bytes, self.verbose = n_jobs, memory_bytes, verbose

    def fit(self, X: Any, y: Any = None) -> "NeighboursTransformer":
        """Stores the documents. y is ignored."""
        if self.mode not in ("distance", "connectivity"):
            raise ValueError(f"mode must be 'distance' or 'connectivity', got {self.mode!r}")
        X = checked(self, X, reset=True)
        self._data = X.copy()
        self.n_samples_fit_ = self._n_features_out = X.shape[0]
        return self

    def _graph(self, X: Any, own: bool) -> sp.csr_matrix:
        k = min(self.n_neighbors + (self.mode == "distance"), self.n_samples_fit_)
        found = neighbours(X, self._data, k=k, kernel=self.kernel, n_jobs=self.n_jobs, memory_bytes=self.memory_bytes,
                           progress=self.verbose or None)
        n, indices, distances = count(X), found.indices, found.distances.astype(np.float64)
        if own:  # a document is its own first neighbour, even if others are equal
            indices, distances = _first(indices, distances, np.arange(n))
        keep = (indices >= 0).ravel()
        values = distances.ravel()[keep] if self.mode == "distance" else np.ones(keep.sum())
        offsets = np.concatenate([[0], np.cumsum((indices >= 0).sum(axis=1))])
        return sp.csr_matrix((values, indices.ravel()[keep], offsets), shape=(n, self.n_samples_fit_))

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Returns the graph of X."""
        self.fit(X)
        return self._graph(self._data, True)

    def transform(self, X: Any) -> sp.csr_matrix:
        """Returns the graph from X to the training documents."""
        check_is_fitted(self)
        X = checked(self, X)
        same = X.shape == self._data.shape and (
            (X != self._data).nnz == 0 if sp.issparse(X) and sp.issparse(self._data)
            else not sp.issparse(X) and not sp.issparse(self._data) and np.array_equal(X, self._data))
        return self._graph(X, same)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_data")

    def __sklearn_tags__(self) -> Any:
        tags = _tagged(self, super().__sklearn_tags__())
        tags.input_tags.positive_only = tags.input_tags.positive_only or self.kernel is None
        return tags


def _first(indices: np.ndarray, distances: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Puts each document first in its own list. If it isn't in the list, it replaces the last neighbour."""
    n, k = indices.shape
    is_own = indices == own[:, None]
    place = np.where(is_own.any(axis=1), is_own.argmax(axis=1), k - 1)
    rest = np.arange(k)[None, :] != place[:, None]
    return (np.hstack([own[:, None], indices[rest].reshape(n, k - 1)]),
            np.hstack([np.zeros((n, 1)), distances[rest].reshape(n, k - 1)]))
