"""A nearest-neighbour index to which texts can be added, and from which they can be removed."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _library
from ._documents import strings
from ._kernels import workers
from ._library import Object, call, options


class Match(NamedTuple):
    """A document of an index, and its distance c = 1 - cosine."""

    document: int
    distance: float


class Index:
    """An exact nearest-neighbour index of texts. Documents can be added and removed.

    Documents are numbered from 0 in the order of addition; numbers of removed documents aren't reused. When half of all
    documents are removed, their memory is freed. Threads may use an index concurrently.

    Parameters
    ----------
    documents : texts
        Initial documents; may be empty.
    tokenizer : str, optional
        For example ``"words:1..2"``; default lower-case words, which may contain digits.
    embedding : str, default "tf-l1-sqrt"
        Embedding of the documents.
    n_jobs : int, optional
        Number of threads, also for queries; None and -1 mean one per CPU.
    memory_bytes : int, optional
        Memory limit of the index; default none.

    Examples
    --------
    >>> from gramengine import Index
    >>> index = Index(["the cat sat", "the dog ran", "a cat and a dog"])
    >>> [m.document for m in index.query(["cat sat"], k=1)[0]]
    [0]
    """

    def __init__(self, documents: Any = (), *, tokenizer: str | None = None, embedding: str | None = None,
                 n_jobs: int | None = None, memory_bytes: int | None = None):
        texts = strings(documents)
        self._object = Object("gram_index", texts.pointer, *options(
            tokenizer=tokenizer, embedding=embedding, workers=workers(n_jobs), memory_bytes=memory_bytes))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Index":
        """Loads an index that :meth:`save` wrote."""
        self = cls.__new__(cls)
        self._object = _library.load(path)
        if (found := self._object.about()["kind"]) != "index":
            raise ValueError(f"{os.fspath(path)} contains a {found}, not an index; use gramengine.load")
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index atomically: on failure the file is unchanged."""
        _library.save(self._object, path)

    def add(self, documents: Any) -> np.ndarray:
        """Adds documents and returns their numbers."""
        texts = strings(documents)
        numbers = np.empty(texts.struct.count, np.int64)
        call("gram_index_add", self._object, texts.pointer, numbers.ctypes.data, len(numbers))
        return numbers

    def remove(self, numbers: Sequence[int] | np.ndarray) -> None:
        """Removes documents by number. If a number doesn't exist, it raises ValueError and removes no document."""
        found = np.ascontiguousarray(numbers)
        if found.size and found.dtype.kind not in "iu":
            raise ValueError(f"document numbers must be integers, got {found.dtype}")
        found = found.astype(np.int64)
        call("gram_index_remove", self._object, found.ctypes.data, len(found))

    def query(self, texts: Any, k: int | None = None, within: float | None = None) -> list[list[Match]]:
        """Returns the documents nearest to each text, in order of distance.

        ``k`` is the maximum number of documents, ``within`` the maximum distance c. At least one must be set.
        """
        own = strings(texts)
        found = Object("gram_index_query", self._object, own.pointer, *options(k=k, within=within))
        offsets, documents, distances = (found.array(n) for n in ("offsets", "documents", "distances"))
        return [[Match(int(d), float(c)) for d, c in zip(documents[a:b], distances[a:b])]
                for a, b in zip(offsets[:-1], offsets[1:])]

    def refit(self) -> None:
        """Recomputes the term weights from the current documents, and drops terms that no document contains."""
        call("gram_index_refit", self._object)

    @property
    def about(self) -> dict[str, Any]:
        """Number of documents, and numbers of additions, removals and new terms since the index was built."""
        return self._object.about()

    def __len__(self) -> int:
        return self.about["documents"]

    def __repr__(self) -> str:
        return f"Index({len(self):,} documents)"

    def __getstate__(self) -> bytes:
        return self._object.bytes()

    def __setstate__(self, state: bytes) -> None:
        self._object = _library.Stored(state)
