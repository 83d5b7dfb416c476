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
    """Reports whether documents are a table with a column that isn't numeric."""
    return is_table(x) and (isinstance(x, (dict, list, tuple)) or any(
        np.asarray(values).dtype.kind not in "iufb" for values in _columns(x)[1]))


def parse_kinds(columns: Any) -> dict[str, str]:
    """Returns kinds by column, from a dict or from text such as ``"zip=category, notes=ignore"``."""
    if columns is None:
        return {}
    if isinstance(columns, str):
        parts = [part.rpartition("=") for part in columns.split(",")]
        columns = {name.strip(): kind.strip() for name, _, kind in parts}
    for name, kind in columns.items():
        if not name:
            raise ValueError(f"columns: {kind!r} has no column name; write name=kind")
        if kind not in KINDS:
            raise ValueError(f"columns: unknown kind {kind!r} for {name!r}; valid kinds are {', '.join(KINDS)}")
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
                raise ValueError(f"column {name!r} must be a list of values, got {type(values).__name__}; "
                                 "put the dict of a single row into a list")
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
            raise ValueError(f"column names must be str, got {name!r} of type {type(name).__name__}")
        if names.count(name) > 1:
            raise ValueError(f"column names must be unique, got several columns {name!r}")
    return names, columns


def strings_of(encoded: list[bytes]) -> tuple[Strings, Any]:
    """Returns bytes as ``gram_strings``, and the objects that own their memory."""
    pointers = (ctypes.c_char_p * len(encoded))(*encoded)
    sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return Strings(ctypes.cast(pointers, ctypes.c_void_p), sizes.ctypes.data, len(encoded)), (pointers, encoded, sizes)


class Column:
    """A column with texts or numbers. If its kind is "", the library infers it."""

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
                raise ValueError(f"column {self.name!r}: row {row} must be a str, a number or a bool, got "
                                 f"{type(v).__name__}; convert it, or set columns={{{self.name!r}: 'ignore'}}")
        logical = bool(some) and all(isinstance(v, (bool, np.bool_)) for v in some)
        if logical and not self.kind:
            self.kind = "category"
        if self.kind == "number" or not logical and self.kind != "text" and not any(isinstance(v, str) for v in some):
            try:
                self.numbers = np.array([np.nan if missing(v) else float(v) for v in values], np.float64)
                return
            except ValueError:  # the library reports the value
                pass
        self.texts, self._keep = strings_of([b"" if missing(v) else _field(v) for v in values])

    def __len__(self) -> int:
        return len(self.numbers) if self.numbers is not None else self.texts.count


def _vector(values: Any) -> bool:
    """Reports whether the first value that isn't None is a list or an array."""
    if getattr(values, "ndim", 1) == 2:
        return True
    first = next((v for v in values if v is not None), None)
    return isinstance(first, (list, tuple)) or hasattr(first, "__array__") and np.ndim(first) == 1


def _list(value: Any) -> bytes:
    """Returns a vector as a JSON list. Other values become text, for which the library reports an error."""
    return str(np.asarray(value).tolist()).encode()


def _field(value: Any) -> bytes:
    """Returns a value as text. Numbers and bools are written as in JSON."""
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
        Kinds by column name; missing kinds are inferred from dtypes and values.
    names : sequence of str, optional
        Names of the columns in training. The table must have the same columns, in any order.
    """

    def __init__(self, x: Any, kinds: dict[str, str], names: Iterable[str] | None = None):
        found, columns = _columns(x)
        if names is None:
            if other := _other(kinds, found):
                raise ValueError(f"columns: unknown column {other!r}; the table has {', '.join(found)}")
            if not found:
                raise ValueError("the table has no columns; at least one is required")
            names = found
        else:
            names = list(names)
            if other := _other(names, found):
                raise ValueError(f"column {other!r} is missing; the table has {', '.join(found)}")
            if other := _other(found, names):
                raise ValueError(f"column {other!r} wasn't in training; the model has {', '.join(names)}")
        by_name = dict(zip(found, columns))
        self.names = list(names)
        self.columns = [Column(name, by_name[name], kinds.get(name, "")) for name in self.names
                        if kinds.get(name) != "ignore"]
        lengths = {c.name: len(c) for c in self.columns}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must have the same length, got {lengths}")
        self.shape = (next(iter(lengths.values()), 0), len(self.names))
        if not self.shape[0]:
            raise ValueError("the table has no rows, but a minimum of 1 is required")

    def __len__(self) -> int:
        return self.shape[0]

    def text(self) -> Column | None:
        """Returns the column of kind text, or None if there isn't exactly one."""
        own = [c for c in self.columns if c.kind == "text"]
        return own[0] if len(own) == 1 else None

    def struct(self) -> tuple[Table, Any]:
        """Returns the table as ``gram_table``, and the objects that own its memory."""
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
    """Returns the first name that isn't in ``known``, or None."""
    return next((name for name in names if name not in known), None)
