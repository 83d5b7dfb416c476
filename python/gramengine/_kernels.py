"""Gram matrices, neighbours and duplicates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._documents import count, documents
from ._library import Progress, call, options


def gram(X: Any, Y: Any = None, *, kernel: str | None = None, out: np.ndarray | None = None, n_jobs: int | None = None,
         memory_bytes: int | None = None, isa: str | None = None, progress: Progress | None = None) -> np.ndarray:
    """The Gram matrix of documents, ``K[i, j] = k(x_i, y_j)``.

    Parameters
    ----------
    X, Y : documents
        A SciPy CSR matrix (float32 with int32 indices is read in place), another matrix, a list of texts, an Arrow
        column, lists of terms, a table, or a :class:`Corpus`. ``Y`` is ``X`` by default. Embeddings learn weights such
        as idf from ``Y``. Terms that occur only in X, or only in Y, count in the norms of their documents. X and Y must
        have the same number of columns. Texts are divided into words in lower case, and words of a single text (of
        ``Y`` if given) are dropped: ``Corpus(texts, min_df=1)`` keeps them.
    kernel : str, default "diffusion:t=0.5"
        A specification, such as ``"diffusion:t=2"``, ``"arccos:n=1"``, ``"rbf:gamma=0.1"`` or
        ``"linear:embed=tfidf-l2"``; ``gram kernels`` lists them.
    out : array of float32, optional
        Receives the matrix. It must have the right shape, be writable and in C order.
    n_jobs : int, optional
        Number of threads; default, and for -1, one per CPU. Results don't depend on it.
    memory_bytes : int, optional
        Memory limit of the call. If it is too small, the call raises :class:`GramMemoryError` before it starts.
    isa : str, optional
        ``"generic"``, ``"avx2"`` or ``"avx512"``; default the fastest that the CPU supports.
    progress : bool, int or callable, optional
        True, or 1, for a bar, or a function of stage, done and total.

    Returns
    -------
    array of float32, shape (n, m)
        The absolute error of c = 1 - cosine is at most 2.7e-6. Each run returns the same bits.

    Examples
    --------
    >>> from gramengine import gram
    >>> gram([[1.0, 0.0], [0.0, 1.0]], kernel="bhattacharyya")
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    x = documents(X)
    y = None if Y is None else documents(Y)
    shape = (count(X), count(X if Y is None else Y))
    if out is None:
        out = np.empty(shape, np.float32)
    elif not isinstance(out, np.ndarray):
        raise ValueError(f"out is of type {type(out).__name__}, expected an array of {shape} and float32")
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.carray:
        found = f"shape {out.shape} and type {out.dtype}{'' if out.flags.writeable else ', read-only'}"
        raise ValueError(f"out has {found}, expected {shape} and float32, writable, aligned and in C order")
    call("gram_gram", x.pointer, y and y.pointer, *_how(kernel, n_jobs, memory_bytes, isa), out.ctypes.data, out.size,
         progress=progress)
    return out


def _how(
    kernel: str | None, n_jobs: int | None, memory_bytes: int | None, isa: str | None, **more: Any,
) -> tuple[bytes, int]:
    return options(kernel=kernel, workers=workers(n_jobs), memory_bytes=memory_bytes, isa=isa, **more)


def workers(n_jobs: int | None) -> int | None:
    """Returns the number of threads for ``n_jobs``, or None for one per CPU."""
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, expected a number above 0, or -1 for all processors")
    return None if n_jobs is None or n_jobs < 0 else n_jobs


class Neighbours(NamedTuple):
    """The nearest documents of each document, nearest first. Missing neighbours are -1 and 0."""

    indices: np.ndarray  # (n, k) of int64
    values: np.ndarray  # (n, k) of float32: kernel values

    @property
    def distances(self) -> np.ndarray:
        """Distances in feature space, √(2 - 2k), for kernels with k(x, x) = 1. Missing neighbours are at infinity.

        For the default kernel they are √2 times Hellinger distances.
        """
        d = np.sqrt(np.maximum(0, 2 - 2 * self.values.astype(np.float64))).astype(np.float32)
        d[self.indices < 0] = np.inf
        return d


def neighbours(X: Any, of: Any = None, *, k: int = 10, kernel: str | None = None, min_value: float | None = None,
               n_jobs: int | None = None, memory_bytes: int | None = None, isa: str | None = None,
               progress: Progress | None = None) -> Neighbours:
    """Returns, for each document, the k documents with the largest kernel values. All pairs are compared.

    Parameters
    ----------
    X : documents
        As for :func:`gram`, but words of a single text count: ``Corpus(texts, min_df=2)`` drops them.
    of : documents, optional
        Neighbours are documents of this set; default the other documents of ``X``. Terms of only one of the sets count.
    k : int
        Number of neighbours per document.
    kernel : str, default "bhattacharyya"
        By default the cosine of the square roots of term frequencies: 1 minus the squared Hellinger distance.
    min_value : float, optional
        Minimum kernel value of a neighbour.
    n_jobs, memory_bytes, isa, progress
        As for :func:`gram`.

    Returns
    -------
    Neighbours
        ``indices`` and ``values``, both (n, k), and ``distances``.
    """
    if not 1 <= k < 2**31:
        raise ValueError(f"k must be an integer in [1, 2**31), got {k}")
    x, y, n = documents(X), None if of is None else documents(of), count(X)
    found = Neighbours(np.empty((n, k), np.int64), np.empty((n, k), np.float32))
    call("gram_neighbours", x.pointer, y and y.pointer, *_how(kernel, n_jobs, memory_bytes, isa, min=min_value), k,
         found.indices.ctypes.data, found.values.ctypes.data, n * k, progress=progress)
    return found


def precomputed_knn(X: Any, n_neighbors: int = 15, **how: Any) -> tuple[np.ndarray, np.ndarray, None]:
    """Returns exact neighbours in the form of UMAP's ``precomputed_knn``: indices, distances, and None.

    The first neighbour of a document is itself, at distance 0. Distances are √(1 - k), by default Hellinger distances.
    They are at most 1, at which UMAP disconnects documents. Keyword arguments are the same as for :func:`neighbours`.
    With ``of=``, all neighbours are documents of that set.

    Examples
    --------
    >>> umap.UMAP(precomputed_knn=precomputed_knn(X), metric="hellinger").fit(X)  # doctest: +SKIP
    """
    others = how.get("of") is not None
    found = neighbours(X, k=n_neighbors - (not others), **how)
    own = np.arange(len(found.indices), dtype=np.int64)[:, None]
    distances = found.distances / np.float32(np.sqrt(2))
    if others:
        return found.indices, distances, None
    return np.hstack([own, found.indices]), np.hstack([np.zeros_like(own, np.float32), distances]), None


def duplicates(X: Any, *, within: float | None = None, embedding: str | None = None, n_jobs: int | None = None,
               memory_bytes: int | None = None, progress: Progress | None = None) -> list[np.ndarray]:
    """Finds near copies. In the order of documents, each document whose distance c = 1 - cosine from an earlier
    document that isn't a duplicate is at most ``within`` is a duplicate of it. Equal texts are always duplicates.

    Parameters
    ----------
    X : documents
        As for :func:`gram`, but words of a single text and words with digits count, except in a :class:`Corpus`.
    within : float, default 0.02
        Maximum distance; the default is about two words in a hundred.
    embedding : str, default "tf-l1-sqrt"
        Embedding of the documents.
    n_jobs, memory_bytes, progress
        As for :func:`gram`.

    Returns
    -------
    list of arrays
        A group for each document with duplicates: its index, then the indices of its duplicates.
    """
    x, groups = documents(X), np.empty(count(X), np.int64)
    how = options(within=within, embedding=embedding, workers=workers(n_jobs), memory_bytes=memory_bytes)
    call("gram_duplicates", x.pointer, *how, groups.ctypes.data, len(groups), progress=progress)
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else []
