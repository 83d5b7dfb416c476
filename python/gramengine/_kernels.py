"""Gram matrices, neighbours and duplicates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._documents import count, documents
from ._library import Progress, call, options


def gram(X: Any, Y: Any = None, *, kernel: str | None = None, out: np.ndarray | None = None, n_jobs: int | None = None,
         memory_bytes: int | None = None, isa: str | None = None, progress: Progress | None = None) -> np.ndarray:
    """Returns the Gram matrix ``K[i, j] = k(x_i, y_j)``.

    Parameters
    ----------
    X, Y : documents
        A SciPy CSR matrix (float32 with int32 indices is read in place), another matrix, a list of texts, an Arrow
        column, lists of terms, a table, or a :class:`Corpus`. ``Y`` is ``X`` by default. Embeddings learn weights such
        as idf from ``Y``. Terms that occur only in X, or only in Y, contribute to the norms of their documents. X and Y
        must have the same number of columns. Texts are tokenised into lower-case words. Words of a single text
        (of ``Y`` if it is set) are dropped; ``Corpus(texts, min_df=1)`` keeps them.
    kernel : str, default "diffusion:t=0.5"
        Kernel specification, such as ``"diffusion:t=2"``, ``"arccos:n=1"``, ``"rbf:gamma=0.1"`` or
        ``"linear:embed=tfidf-l2"``; ``gram kernels`` lists them.
    out : array of float32, optional
        Receives the matrix. It must have the matrix's shape, and be writable and C-contiguous.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per CPU. Results don't depend on it.
    memory_bytes : int, optional
        Memory limit of the call. If it is too small, the call raises :class:`GramMemoryError` at once.
    isa : str, optional
        Instruction set: ``"generic"``, ``"avx2"`` or ``"avx512"``; default the fastest that the CPU supports.
    progress : bool, int or callable, optional
        True or 1 shows a progress bar. A function is called with stage, done and total.

    Returns
    -------
    array of float32, shape (n, m)
        The absolute error of c = 1 - cosine is at most 2.7e-6.

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
        raise ValueError(f"out must be a float32 array of shape {shape}, got {type(out).__name__}")
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.carray:
        found = f"{out.dtype} of shape {out.shape}{'' if out.flags.writeable else ', read-only'}"
        raise ValueError(f"out must be a writable, aligned, C-contiguous float32 array of shape {shape}, got {found}")
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
        raise ValueError("n_jobs must be positive, or -1 for all CPUs, got 0")
    return None if n_jobs is None or n_jobs < 0 else n_jobs


class Neighbours(NamedTuple):
    """The nearest documents of each document, nearest first. A missing neighbour has index -1 and value 0."""

    indices: np.ndarray  # (n, k) of int64
    values: np.ndarray  # (n, k) of float32: kernel values

    @property
    def distances(self) -> np.ndarray:
        """Distances in feature space, √(2 - 2k), for kernels with k(x, x) = 1.

        A missing neighbour has distance infinity. For the default kernel, distances are √2 times Hellinger distances.
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
        As for :func:`gram`, but words of a single text are kept; ``Corpus(texts, min_df=2)`` drops them.
    of : documents, optional
        Documents among which to search; default the other documents of ``X``. Terms that occur only in ``X``, or only
        in ``of``, contribute to the norms of their documents.
    k : int
        Number of neighbours per document.
    kernel : str, default "bhattacharyya"
        Kernel specification. The default is the cosine of square-rooted term frequencies, which is 1 minus the squared
        Hellinger distance.
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
    UMAP disconnects documents at distance 1, which is the maximum. Keyword arguments are the same as for
    :func:`neighbours`. If ``of`` is set, all neighbours are from that set.

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
    """Finds near duplicates.

    Documents are compared in order. A document is a duplicate of an earlier document that isn't itself a duplicate, if
    their distance c = 1 - cosine is at most ``within``. Equal texts are always duplicates.

    Parameters
    ----------
    X : documents
        As for :func:`gram`, but words of a single text and words with digits are kept, except in a :class:`Corpus`.
    within : float, default 0.02
        Maximum distance. The default corresponds to about two different words in a hundred.
    embedding : str, default "tf-l1-sqrt"
        Embedding of the documents.
    n_jobs, memory_bytes, progress
        As for :func:`gram`.

    Returns
    -------
    list of arrays
        One group per document that has duplicates: its index, then the indices of its duplicates.
    """
    x, groups = documents(X), np.empty(count(X), np.int64)
    how = options(within=within, embedding=embedding, workers=workers(n_jobs), memory_bytes=memory_bytes)
    call("gram_duplicates", x.pointer, *how, groups.ctypes.data, len(groups), progress=progress)
    order = np.argsort(groups, kind="stable")
    order = order[groups[order] >= 0]
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else []
