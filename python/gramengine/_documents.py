"""Converts documents to structures of the C library."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Sequence

import numpy as np
import scipy.sparse as sp

from . import _arrow, _table
from ._library import Documents, Matrix, Object, Strings, options


class Held:
    """A structure of the C library, and the Python objects that own its memory."""

    def __init__(self, struct: Any, *keep: Any):
        self.struct, self.keep = struct, list(keep)

    @property
    def pointer(self) -> Any:
        """A pointer to the structure, which keeps its memory alive."""
        to = ctypes.pointer(self.struct)
        to.held = self
        return to


def _address(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data


def strings(texts: Any) -> Held:
    """Returns texts as ``gram_strings``. Arrow columns aren't copied; other texts are encoded as UTF-8."""
    found = _arrow.texts(listed(texts))
    if found is None:
        if getattr(texts, "ndim", 1) != 1:  # iterating over a frame yields column names
            raise ValueError(f"texts must be one-dimensional, got {texts.ndim} dimensions; select a column")
        encoded = [_encoded(i, t) for i, t in enumerate(texts)]
        return Held(*_table.strings_of(encoded))
    addresses, sizes = np.ascontiguousarray(found.addresses), np.ascontiguousarray(found.sizes)
    return Held(Strings(_address(addresses), _address(sizes), len(sizes)), addresses, sizes, found.keep)


def _encoded(i: int, text: Any) -> bytes:
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise ValueError(f"document {i} must be a str, got {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")


def listed(x: Any, what: str = "documents") -> Any:
    """Returns x. Raises ValueError for a single text or a dict, which would be iterated by letters or keys."""
    if isinstance(x, dict):
        raise ValueError(f"{what} must be a list, got a dict; use list(d.values())")
    if isinstance(x, (str, bytes)):
        raise ValueError(f"{what} must be a list, got a single text; put it into a list")
    return x


def is_text(x: Any) -> bool:
    """Reports whether documents are texts: a list, array or series of str, or an Arrow column."""
    if sp.issparse(listed(x)) or getattr(x, "ndim", 1) != 1 or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub"):
        return False
    if not hasattr(x, "__iter__"):
        return False
    return isinstance(next((t for t in x if not _table.missing(t)), None), (str, bytes)) or _arrow.texts(x) is not None


def is_terms(x: Any) -> bool:
    return (isinstance(x, (list, tuple)) and len(x) > 0
            and all(isinstance(d, (list, tuple)) and all(isinstance(t, str) for t in d) for d in x)
            and any(len(d) for d in x))


def documents(x: Any, *, classes: Sequence[str] | None = None, labels: np.ndarray | None = None,
              label_offsets: np.ndarray | None = None, targets: Any = None, weights: Any = None,
              groups: Any = None) -> Held:
    """Returns documents as ``gram_documents``, with classes or targets.

    ``x`` is a SciPy sparse matrix or array, a dense matrix, texts, lists of terms, a table, or a :class:`Corpus`. A CSR
    matrix of float32 with sorted indices is read in place; others are converted. A frame whose columns are all numeric
    is read as a matrix.
    """
    struct, keep = Documents(), []
    if not isinstance(x, _table.Rows) and _table.is_mixed(x):
        x = _table.Rows(x, {})
    if isinstance(x, Corpus):
        x = x if classes is None else x._with(classes, labels)
        struct.corpus, keep = x._object.handle, [x]
    elif isinstance(x, _table.Rows):
        table, own = x.struct()
        struct.table, keep = ctypes.pointer(table), [table, own]
    elif isinstance(x, _table.Column):
        struct.texts, keep = ctypes.pointer(x.texts), [x]
    elif not sp.issparse(x) and is_text(x):
        own = strings(x)
        struct.texts, keep = ctypes.pointer(own.struct), [own]
    elif is_terms(x):
        own = strings([t for d in x for t in d])
        offsets = np.cumsum([0] + [len(d) for d in x], dtype=np.int64)
        struct.terms, struct.term_offsets, struct.documents = ctypes.pointer(own.struct), _address(offsets), len(x)
        keep = [own, offsets]
    else:
        own = matrix(x)
        struct.matrix, keep = ctypes.pointer(own.struct), [own]
    held = Held(struct, *keep)
    if classes is not None:
        names = strings(classes)
        labels = np.ascontiguousarray(labels, np.int32)
        struct.classes, struct.labels, struct.label_count = ctypes.pointer(names.struct), _address(labels), len(labels)
        if label_offsets is not None:
            label_offsets = np.ascontiguousarray(label_offsets, np.int64)
            struct.label_offsets = _address(label_offsets)
        held.keep += [names, labels, label_offsets]
    if targets is not None:
        targets = np.ascontiguousarray(targets, np.float64)
        struct.targets, struct.target_count = _address(targets), len(targets)
        held.keep.append(targets)
    if weights is not None:
        weights = np.ascontiguousarray(weights, np.float64)
        struct.weights, struct.weight_count = _address(weights), len(weights)
        held.keep.append(weights)
    if groups is not None:
        groups = np.ascontiguousarray(np.unique(np.asarray(groups), return_inverse=True)[1], np.int64)
        struct.groups, struct.group_count = _address(groups), len(groups)
        held.keep.append(groups)
    return held


def matrix(x: Any) -> Held:
    """Returns a matrix as ``gram_matrix``."""
    if not sp.issparse(x):
        if isinstance(x, (list, tuple)) and not x:
            raise ValueError("got no documents, but a minimum of 1 is required")
        x = np.ascontiguousarray(x)
        _real(x)
        if x.dtype not in (np.float32, np.float64):
            x = x.astype(np.float64)
        if x.ndim != 2:
            raise ValueError(f"X must have 2 dimensions (documents × columns), got {x.ndim}. "
                             "Reshape your data, or pass a list of texts")
        bits = 8 * x.dtype.itemsize
        return Held(Matrix(*x.shape, None, None, _address(x), x.size, 0, 0, bits), x)
    x = _checked(x).tocsr()
    _real(x)
    if x.data.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    offsets, indices, data = (np.ascontiguousarray(a) for a in (x.indptr, x.indices, x.data))
    bits = [8 * a.dtype.itemsize for a in (offsets, indices, data)]
    struct = Matrix(*x.shape, _address(offsets), _address(indices), _address(data), len(data), *bits)
    return Held(struct, offsets, indices, data)


def _real(x: Any) -> None:
    """Raises ValueError for complex values. NumPy would drop their imaginary parts."""
    if x.dtype.kind == "c":
        raise ValueError(f"Complex data not supported, got {x.dtype}")


def _checked(x: Any) -> Any:
    """Returns a sparse matrix with the same arrays, checked by SciPy, whose compiled functions don't check indices.
    Flags such as ``has_canonical_format`` are computed again."""
    if x.ndim != 2:
        raise ValueError(f"a sparse array must have 2 dimensions (documents × columns), got {x.ndim}")
    try:
        if x.format in ("csr", "csc", "bsr"):
            x = type(x)((x.data, x.indices, x.indptr), shape=x.shape)
            if np.any(np.diff(x.indptr) < 0):  # SciPy checks this only if there are values
                raise ValueError("indptr must be a non-decreasing sequence")
            x.check_format(full_check=True)
        elif x.format == "coo":
            x = type(x)((x.data, (x.row, x.col)), shape=x.shape)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"invalid sparse matrix in {x.format} format: {error}") from None
    return x


def count(x: Any) -> int:
    """Returns the number of documents."""
    if isinstance(x, dict):
        return len(next(iter(x.values()), ()))
    return x.shape[0] if getattr(x, "shape", None) else len(x)


class Corpus:
    """Documents in the engine's memory, tokenised once for several calls.

    Parameters
    ----------
    documents : texts, lists of terms, a sparse or dense matrix, a table
        As for :func:`gramengine.gram`.
    columns : dict or str, optional
        Kinds of the columns of a table, as in :class:`TextClassifier`.
    labels : array of shape (n,), optional
        Classes. If they are set, ``y`` must equal them in training. Otherwise any ``y`` is allowed, and ``documents``
        are tokenised again for each ``y``.
    tokenizer : str, optional
        For example ``"words:1..2"`` or ``"chars:2..5"``; default lower-case words of letters.
    min_df, max_df : int, optional
        Minimum and maximum document frequency of terms. For texts, ``min_df`` is 2 by default, which drops words that
        occur in a single text.
    vocabulary : list of str, optional
        Terms to count; default all terms.
    keep_texts : bool
        Keep the texts, so that training can choose other terms.

    Attributes
    ----------
    about : dict
        Source, classes, and numbers of documents, columns and stored values.
    """

    def __init__(self, documents: Any, labels: Any = None, *, tokenizer: str | None = None,
                 min_df: int | None = None, max_df: int | None = None, vocabulary: Sequence[str] | None = None,
                 keep_texts: bool | None = None, columns: Any = None):
        if columns is not None:
            documents = _table.Rows(documents, _table.parse_kinds(columns))
        x = documents_with_classes(documents, labels)
        how = options(tokenizer=tokenizer, min_df=min_df, max_df=max_df, keep_texts=keep_texts,
                      vocabulary=list(listed(vocabulary, "terms")) if vocabulary is not None else None)
        self._object = Object("gram_corpus", x.pointer, *how)
        self._made_of = (documents, how) if labels is None else None
        self.about: dict[str, Any] = self._object.about()

    @classmethod
    def read(cls, source: str | os.PathLike[str], **read: Any) -> "Corpus":
        """Reads a file or folder in a format that gram supports, such as text, CSV, JSON lines, svmlight or NumPy.

        Options are ``format``, ``min_df``, ``max_df``, ``tokenizer``, ``encoding``, ``label_column``, ``columns`` and
        others, which ``gram.h`` lists. The kinds of a table's columns are inferred, or set by
        ``columns="zip=category, notes=ignore"``; ``about["table"]`` lists them.
        """
        name = str(source).encode()
        return cls._of(Object("gram_read", name, len(name), *options(**read)))

    @classmethod
    def _of(cls, made: Object) -> "Corpus":
        self = cls.__new__(cls)
        self._object, self.about, self._made_of = made, made.about(), None
        return self

    def _with(self, names: list[str], numbers: np.ndarray) -> "Corpus":
        """Returns the corpus with classes. If it has no labels, it is created again."""
        given = np.array(names, dtype=object)[numbers]
        if len(given) != len(self):
            raise ValueError(f"got {len(given)} values of y for the {len(self)} documents of the corpus")
        if not self.about["labelled"]:
            if self._made_of is None:
                raise ValueError("the corpus was read from a file without labels, so y cannot be set")
            x, how = documents(self._made_of[0], classes=names, labels=numbers), self._made_of[1]
            return Corpus._of(Object("gram_corpus", x.pointer, *how, silent=True))
        own = self.labels
        for i in np.flatnonzero(own != given)[:1]:
            raise ValueError(f"document {i} has class {given[i]!r} in y, but {own[i]!r} in the corpus")
        return self

    def __len__(self) -> int:
        return self.about["documents"]

    def __repr__(self) -> str:
        what = "terms" if self.about["text"] else "columns"
        return f"Corpus({len(self):,} documents, {self.about['columns']:,} {what})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Corpus can't be pickled or copied; pickle its documents, an Index or a model")

    @property
    def matrix(self) -> sp.csr_matrix:
        """The counts or values, as a copy."""
        o = self._object
        return sp.csr_matrix((o.array("values"), o.array("indices"), o.array("offsets")),
                             shape=(len(self), self.about["columns"]))

    @property
    def vocabulary(self) -> list[str]:
        """The term of each column; empty if documents aren't texts."""
        return self._object.texts("vocabulary") if self.about.get("text") else []

    @property
    def labels(self) -> np.ndarray:
        """The first class of each document, or None."""
        classes = np.array([*self.about["classes"], None], dtype=object)
        return classes[self._object.array("labels")]


def documents_with_classes(x: Any, y: Any) -> Held:
    if y is None:
        return documents(x)
    _, names, labels = classes_of(y)
    return documents(x, classes=names, labels=labels)


def classes_of(y: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Returns the sorted classes, their names in order of first occurrence, and each document's index into the names.
    ``gram train`` has the same order, so that models are equal bit for bit."""
    try:
        y = np.asarray(y if hasattr(y, "dtype") else list(y))
        classes, first, labels = np.unique(y, return_index=True, return_inverse=True)
    except TypeError:
        kinds = sorted({type(c).__name__ for c in y})
        raise ValueError(f"y has classes of several types ({', '.join(kinds)}); use one type") from None
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    names = [str(c) for c in classes]
    if len(set(names)) < len(names):
        raise ValueError(f"classes must be different as str, got {sorted(names)}")
    return classes, [names[i] for i in order], place[labels]
