"""Tables of text, numbers and categories: frames, lists of dicts, and dicts of columns."""

from __future__ import annotations

import ctypes
import numbers
from typing import Any, Iterable, Sequence

import numpy as np

from . import _arrow
from ._library import Strings, Table

KINDS = ("text", "number", "category", "vector", "id", "ignore")
_CATEGORICAL = ("category", "categorical", "enum", "dictionary")  # dtypes of pandas, polars and pyarrow


def is_table(x: Any) -> bool:
    """Reports whether documents are a frame, a list of dicts, or a dict."""
    if isinstance(x, dict):
        return True
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(isinstance(row, dict) for row in x)
    return len(getattr(x, "shape", ())) == 2 and hasattr(x, "columns")


def is_mixed(x: Any) -> bool:
    """Reports whether documents are a table with a column that isn't numbers."""
    return is_table(x) and (isinstance(x, (dict, list, tuple)) or any(
        np.asarray(values).dtype.kind not in "iufb" for values in _columns(x)[1]))


def parse_kinds(columns: Any) -> dict[str, str]:
    """Returns the kinds of ``columns="zip=category, notes=ignore"``, or of a dict, by column."""
    if columns is None:
        return {}
    if isinstance(columns, str):
        parts = [part.rpartition("=") for part in columns.split(",")]
        columns = {name.strip(): kind.strip() for name, _, kind in parts}
    for name, kind in columns.items():
        if not name or kind not in KINDS:
            raise ValueError(f"columns: found {name!r} with the kind {kind!r}, expected one of {', '.join(KINDS)}")
    return dict(columns)


def missing(value: Any) -> bool:
    """Reports whether a value is None, NaN, or NA of pandas."""
    return (value is None or (isinstance(value, numbers.Real) and value != value)
            or type(value).__name__ in ("NAType", "NaTType"))


def _columns(x: Any) -> tuple[list[str], list[Any]]:
    """Returns the names of the columns, and their values."""
    if isinstance(x, dict):
        for name, values in x.items():
            if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
                raise ValueError(f"found a dict whose key {name!r} has one value, expected a list of values: "
                                 "put the dict of one row into a list")
        names, columns = list(x), list(x.values())
    elif isinstance(x, (list, tuple)):
        names = list(dict.fromkeys(name for row in x for name in row))
        columns = [[row.get(name) for row in x] for name in names]
    else:
        if hasattr(x, "num_columns"):  # pyarrow
            names, at = list(x.schema.names), x.column
        else:
            names, at = list(x.columns), (lambda i: x.iloc[:, i]) if hasattr(x, "iloc") else x.to_series
        columns = [at(i) for i in range(len(names))]
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"found a column name {name!r} of type {type(name).__name__}, expected str: rename the "
                             "columns")
        if names.count(name) > 1:
            raise ValueError(f"found two columns called {name!r}, expected different names")
    return names, columns


def strings_of(encoded: list[bytes]) -> tuple[Strings, Any]:
    """Returns bytes as ``gram_strings``, and the objects that hold their memory."""
    pointers = (ctypes.c_char_p * len(encoded))(*encoded)
    sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return Strings(ctypes.cast(pointers, ctypes.c_void_p), sizes.ctypes.data, len(encoded)), (pointers, encoded, sizes)


class Column:
    """A column with its kind ("" if it is to be inferred), and its values: texts or numbers."""

    def __init__(self, name: str, values: Any, kind: str = ""):
        self.name, self.kind = name, kind
        self.texts: Strings | None = None
        self.numbers: np.ndarray | None = None
        dtype = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
        if not kind and dtype.startswith(_CATEGORICAL):
            self.kind = "category"
        found = None if isinstance(values, (list, tuple)) else _arrow.texts(values, nulls=True)
        if found is not None:
            addresses, sizes = np.ascontiguousarray(found.addresses), np.ascontiguousarray(found.sizes)
            self.texts = Strings(addresses.ctypes.data, sizes.ctypes.data, len(sizes))
            self._keep: Any = (addresses, sizes, found.keep)
            return
        if "list" in dtype and hasattr(values, "to_pylist"):  # pyarrow
            values = values.to_pylist()
        if _vector(values):
            self.kind = kind or "vector"
            self.texts, self._keep = strings_of([b"" if missing(v) else _list(v) for v in values])
            return
        array = None if isinstance(values, (list, tuple)) else np.asarray(values)
        if array is not None and array.ndim == 1 and array.dtype.kind in "iuf" and kind != "text":
            self.numbers = np.ascontiguousarray(array, np.float64)
        else:
            self._elements(list(values if array is None else array.tolist() if array.dtype.kind == "b" else array))

    def _elements(self, values: list[Any]) -> None:
        some = [v for v in values if not missing(v)]
        for v in some:
            if not isinstance(v, (str, bool, np.bool_, numbers.Real)):
                row = next(i for i, w in enumerate(values) if w is v)
                raise ValueError(f"column {self.name!r}: row {row} is of type {type(v).__name__}, expected text, a "
                                 f"number, True or False: convert it, or set columns={{{self.name!r}: 'ignore'}}")
        logical = bool(some) and all(isinstance(v, (bool, np.bool_)) for v in some)
        if logical and not self.kind:
            self.kind = "category"
        if self.kind == "number" or not logical and self.kind != "text" and not any(isinstance(v, str) for v in some):
            try:
                self.numbers = np.array([np.nan if missing(v) else float(v) for v in values], np.float64)
                return
            except ValueError:  # the library names the value
                pass
        self.texts, self._keep = strings_of([b"" if missing(v) else _field(v) for v in values])

    def __len__(self) -> int:
        return len(self.numbers) if self.numbers is not None else self.texts.count


def _vector(values: Any) -> bool:
    """Reports whether the first value that isn't missing is a list or an array of numbers."""
    if getattr(values, "ndim", 1) == 2:
        return True
    first = next((v for v in values if v is not None), None)
    return isinstance(first, (list, tuple)) or hasattr(first, "__array__") and np.ndim(first) == 1


def _list(value: Any) -> bytes:
    """Returns a vector as a list in JSON; other values become text that the library refuses."""
    return str(np.asarray(value).tolist()).encode()


def _field(value: Any) -> bytes:
    """Returns a value as text: numbers and logical values as in JSON."""
    if isinstance(value, (bool, np.bool_)):
        return b"true" if value else b"false"
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return str(int(value) if value == int(value) else float(value)).encode()


class Rows:
    """A table for the library.

    Parameters
    ----------
    x : frame, list of dicts, or dict of columns
    kinds : dict
        Kinds of columns by name; others are inferred from dtypes and values.
    names : sequence of str, optional
        Names of the columns in training. The table must have the same columns, in any order.
    """

    def __init__(self, x: Any, kinds: dict[str, str], names: Iterable[str] | None = None):
        found, columns = _columns(x)
        if names is None:
            if other := _other(kinds, found):
                raise ValueError(f"columns: found {other!r}, expected one of {', '.join(found)}")
            if not found:
                raise ValueError("found a table without columns, expected one or more")
            names = found
        else:
            names = list(names)
            if other := _other(names, found):
                raise ValueError(f"column {other!r} is missing: found {', '.join(found)}")
            if other := _other(found, names):
                raise ValueError(f"column {other!r} wasn't in training: expected {', '.join(names)}")
        by_name = dict(zip(found, columns))
        self.names = list(names)
        self.columns = [Column(name, by_name[name], kinds.get(name, "")) for name in self.names
                        if kinds.get(name) != "ignore"]
        lengths = {c.name: len(c) for c in self.columns}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"found columns of different lengths: {lengths}")
        self.shape = (next(iter(lengths.values()), 0), len(self.names))
        if not self.shape[0]:
            raise ValueError("found no rows (0 documents), expected one or more")

    def __len__(self) -> int:
        return self.shape[0]

    def text(self) -> Column | None:
        """Returns the only column of the kind text, or None."""
        own = [c for c in self.columns if c.kind == "text"]
        return own[0] if len(own) == 1 else None

    def struct(self) -> tuple[Table, Any]:
        """Returns the table as ``gram_table``, and the objects that hold its memory."""
        names, keep = strings_of([c.name.encode() for c in self.columns])
        kinds, more = strings_of([c.kind.encode() for c in self.columns])
        texts = (ctypes.POINTER(Strings) * len(self.columns))()
        values = (ctypes.c_void_p * len(self.columns))()
        for i, c in enumerate(self.columns):
            if c.texts is not None:
                texts[i] = ctypes.pointer(c.texts)
            else:
                values[i] = c.numbers.ctypes.data
        return (Table(ctypes.pointer(names), ctypes.pointer(kinds), texts, values, len(self)),
                (self, names, keep, kinds, more, texts, values))


def _other(names: Iterable[str], known: Sequence[str]) -> str | None:
    """Returns the first name that isn't known, or None."""
    return next((name for name in names if name not in known), None)
