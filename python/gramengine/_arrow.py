"""Reads Arrow text columns of pyarrow, polars and pandas without a copy, by the Arrow PyCapsule interface.

The Arrow C data interface is stable: arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p, py_object
from typing import Any, Iterator, NamedTuple

import numpy as np


class _Schema(Structure):
    pass


_Schema._fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
                    ("n_children", c_int64), ("children", c_void_p), ("dictionary", c_void_p),
                    ("release", CFUNCTYPE(None, POINTER(_Schema))), ("private_data", c_void_p)]


class _Array(Structure):
    pass


_Array._fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
                   ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", c_void_p),
                   ("dictionary", c_void_p), ("release", CFUNCTYPE(None, POINTER(_Array))), ("private_data", c_void_p)]


class _Stream(Structure):
    pass


_Stream._fields_ = [("get_schema", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
                    ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
                    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))),
                    ("release", CFUNCTYPE(None, POINTER(_Stream))), ("private_data", c_void_p)]

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [py_object, c_char_p]


class Texts(NamedTuple):
    """Addresses and lengths of texts. ``keep`` references the owners of their memory."""

    addresses: np.ndarray  # of uint64
    sizes: np.ndarray  # of int64
    keep: Any


class _Chunk:
    """An array of a stream. It is released when it is garbage-collected."""

    def __init__(self) -> None:
        self.array = _Array()

    def __del__(self) -> None:
        if self.array.release:
            self.array.release(ctypes.byref(self.array))


def texts(column: Any, nulls: bool = False) -> Texts | None:
    """Returns the texts of an Arrow column, or None if ``column`` isn't an Arrow column of texts.

    A null raises ValueError. If ``nulls`` is set, it becomes an empty text.
    """
    if hasattr(column, "__arrow_c_array__"):
        return _one(*column.__arrow_c_array__(), nulls)
    if not hasattr(column, "__arrow_c_stream__"):
        return None
    try:
        capsule = column.__arrow_c_stream__()
    except Exception:  # a series of objects, or pyarrow isn't installed
        return None
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), POINTER(_Stream))
    schema = _Schema()
    _check(stream, stream.contents.get_schema(stream, ctypes.byref(schema)))
    kind = _kind(schema)
    if schema.release:
        schema.release(ctypes.byref(schema))
    if kind is None:
        return None
    parts, row = [], 0
    for chunk in _chunks(stream):
        parts.append((chunk, *_places(chunk.array, kind, nulls, row)))
        row += chunk.array.length
    if not parts:
        return Texts(np.empty(0, np.uint64), np.empty(0, np.int64), None)
    keep, addresses, sizes = zip(*parts)
    return Texts(np.concatenate(addresses), np.concatenate(sizes), (capsule, keep))


_TEXT = (b"u", b"U", b"vu")  # 32-bit offsets, 64-bit offsets, string views
_INDEX = {b"c": np.int8, b"C": np.uint8, b"s": np.int16, b"S": np.uint16, b"i": np.int32, b"I": np.uint32,
          b"l": np.int64, b"L": np.uint64}  # types of dictionary indices


def _kind(schema: _Schema) -> tuple[bytes, Any] | None:
    """Returns the text format and, for a dictionary, the index type. Returns None for other types."""
    if not schema.dictionary:
        return (schema.format, None) if schema.format in _TEXT else None
    values = ctypes.cast(schema.dictionary, POINTER(_Schema)).contents.format
    return (values, _INDEX[schema.format]) if values in _TEXT else None


def _one(schema: Any, array: Any, nulls: bool) -> Texts | None:
    """Returns the texts of a single array. Its capsule releases it."""
    kind = _kind(ctypes.cast(_pointer(schema, b"arrow_schema"), POINTER(_Schema)).contents)
    if kind is None:
        return None
    held = ctypes.cast(_pointer(array, b"arrow_array"), POINTER(_Array)).contents
    return Texts(*_places(held, kind, nulls), (schema, array))


def _check(stream: Any, code: int) -> None:
    if code:
        why = stream.contents.get_last_error(stream)
        raise ValueError(f"cannot read the Arrow stream: {why.decode(errors='replace') if why else f'error {code}'}")


def _chunks(stream: Any) -> Iterator[_Chunk]:
    while True:
        chunk = _Chunk()
        _check(stream, stream.contents.get_next(stream, ctypes.byref(chunk.array)))
        if not chunk.array.release:
            return
        yield chunk


def _at(address: int | None, count: int, kind: Any) -> np.ndarray:
    """Returns ``count`` numbers at an address."""
    kind = np.dtype(kind)
    if count == 0 or not address:
        return np.empty(0, kind)
    return np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(address), kind)


def _valid(array: _Array) -> np.ndarray:
    """Returns 1 for each element that isn't null, else 0."""
    first, end = array.offset, array.offset + array.length
    if array.null_count == 0 or not array.buffers[0]:
        return np.ones(array.length, np.uint8)
    return np.unpackbits(_at(array.buffers[0], (end + 7) // 8, np.uint8), bitorder="little")[first:end]


def _places(array: _Array, how: tuple[bytes, Any], nulls: bool, row: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns addresses and lengths of an array's texts. The array starts at ``row`` of the column.

    A null raises ValueError with its row. If ``nulls`` is set, it becomes an empty text.
    """
    (kind, index), first, end, valid = how, array.offset, array.offset + array.length, _valid(array)
    if index is not None:
        known = ctypes.cast(array.dictionary, POINTER(_Array)).contents
        numbers = np.where(valid, _at(array.buffers[1], end, index)[first:], 0).astype(np.int64)
        if valid.any():
            valid = valid & _valid(known)[numbers]
    if not nulls and not valid.all():
        raise ValueError(f"row {row + int(np.argmin(valid))} of the texts is null; fill nulls first")
    if not valid.any():
        return np.zeros(array.length, np.uint64), np.zeros(array.length, np.int64)
    if index is not None:
        addresses, sizes = _texts(known, kind)
        addresses, sizes = addresses[numbers], sizes[numbers]
    else:
        addresses, sizes = _texts(array, kind)
    return addresses, np.where(valid, sizes, 0)


def _texts(array: _Array, kind: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Returns addresses and lengths of an array's texts, including nulls."""
    first, end = array.offset, array.offset + array.length
    if kind == b"vu":
        return _views(array, first, end)
    offsets = _at(array.buffers[1], end + 1, np.int32 if kind == b"u" else np.int64)[first:].astype(np.int64)
    return np.uint64(array.buffers[2] or 0) + offsets[:-1].astype(np.uint64), np.diff(offsets)


def _views(array: _Array, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns addresses and lengths of string views. A view has 16 bytes and contains a text of up to 12 bytes."""
    words = _at(array.buffers[1], 4 * end, np.int32).reshape(-1, 4)[first:end]
    sizes = words[:, 0].astype(np.int64)
    within = np.uint64(array.buffers[1] or 0) + np.uint64(16) * np.arange(first, end, dtype=np.uint64) + np.uint64(4)
    buffers = np.array([array.buffers[i] or 0 for i in range(2, array.n_buffers - 1)] or [0], np.uint64)
    long = sizes > 12
    beyond = buffers[np.where(long, words[:, 2], 0)] + words[:, 3].astype(np.uint64)
    return np.where(long, beyond, within), sizes
