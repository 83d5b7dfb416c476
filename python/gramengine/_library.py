"""Structures of the C library, and interruptible calls of its functions."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import sys
import threading
import warnings
import weakref
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_void_p,
)
from pathlib import Path
from typing import Any, Callable, Union

import numpy as np

Progress = Union[bool, int, Callable[[str, int, int], None]]
"""True or 1 for a progress bar, or a function that is called with stage, done and total (0 if unknown)."""


class GramError(Exception):
    """Base class of the errors of a call."""


class GramMemoryError(GramError, MemoryError):
    """A call needs more memory than ``memory_bytes``, or than is available."""


class GramFileError(GramError, OSError):
    """Reading or writing a file failed."""


class GramFileNotFoundError(GramFileError, FileNotFoundError):
    """The file or folder doesn't exist."""


class GramWarning(UserWarning):
    """A warning of the engine."""


class ForkError(GramError, RuntimeError):
    """The process was forked after the engine was loaded."""


_ERRORS = {1: ValueError, 2: GramMemoryError, 4: GramFileError, 6: ForkError}
_CANCELLED = 3
_MISSING = "no such file or directory"  # end of the library's message for ENOENT
_PACKAGE = os.path.dirname(__file__) + os.sep

_PROGRESS = CFUNCTYPE(None, c_void_p, c_char_p, c_int64, c_int64)
_WARN = CFUNCTYPE(None, c_void_p, c_char_p)


class _Call(Structure):
    _fields_ = [("cancel", POINTER(c_int32)), ("progress", _PROGRESS), ("warn", _WARN), ("user", c_void_p),
                ("error", c_void_p), ("error_size", c_int64)]


class Strings(Structure):
    """``gram_strings``."""

    _fields_ = [("data", c_void_p), ("sizes", c_void_p), ("count", c_int64)]


class Matrix(Structure):
    """``gram_matrix``."""

    _fields_ = [("rows", c_int64), ("columns", c_int64), ("offsets", c_void_p), ("indices", c_void_p),
                ("values", c_void_p), ("stored", c_int64), ("offset_bits", c_int32), ("index_bits", c_int32),
                ("value_bits", c_int32)]


class Table(Structure):
    """``gram_table``."""

    _fields_ = [("columns", POINTER(Strings)), ("kinds", POINTER(Strings)), ("texts", POINTER(POINTER(Strings))),
                ("numbers", POINTER(c_void_p)), ("rows", c_int64)]


class Documents(Structure):
    """``gram_documents``."""

    _fields_ = [("corpus", c_size_t), ("matrix", POINTER(Matrix)), ("texts", POINTER(Strings)),
                ("table", POINTER(Table)), ("terms", POINTER(Strings)),
                ("term_offsets", c_void_p), ("documents", c_int64),
                ("classes", POINTER(Strings)), ("labels", c_void_p), ("label_offsets", c_void_p),
                ("label_count", c_int64), ("targets", c_void_p), ("target_count", c_int64),
                ("weights", c_void_p), ("weight_count", c_int64), ("groups", c_void_p), ("group_count", c_int64)]


class _View(Structure):
    _fields_ = [("data", c_void_p), ("rows", c_int64), ("columns", c_int64), ("type", c_int32)]


_TYPES = {0: np.uint8, 1: np.int32, 2: np.int64, 3: np.float32, 4: np.float64}

_text = [c_char_p, c_int64]
_object = [POINTER(c_size_t)]
_documents = [POINTER(Documents)]
_SIGNATURES: dict[str, list[Any]] = {
    "gram_free": [c_size_t],
    "gram_read": _text + _text + _object,
    "gram_corpus": _documents + _text + _object,
    "gram_gram": _documents * 2 + _text + [c_void_p, c_int64],
    "gram_neighbours": _documents * 2 + _text + [c_int64, c_void_p, c_void_p, c_int64],
    "gram_duplicates": _documents + _text + [c_void_p, c_int64],
    "gram_train": _documents + _text + _object,
    "gram_cross_validate": _documents + _text + _object,
    "gram_search": _documents + _text + _object,
    "gram_predict": [c_size_t] + _documents + _text + _object,
    "gram_explain": [c_size_t] + _documents + [c_int64, c_int64] + _object,
    "gram_pca": _documents + _text + _object,
    "gram_project": [c_size_t] + _documents + _text + [c_void_p, c_int64],
    "gram_index": [POINTER(Strings)] + _text + _object,
    "gram_index_add": [c_size_t, POINTER(Strings), c_void_p, c_int64],
    "gram_index_remove": [c_size_t, c_void_p, c_int64],
    "gram_index_query": [c_size_t, POINTER(Strings)] + _text + _object,
    "gram_index_refit": [c_size_t],
    "gram_load": _text + _object,
    "gram_load_bytes": [c_char_p, c_int64] + _object,
    "gram_save": [c_size_t] + _text,
    "gram_array": [c_size_t] + _text + [POINTER(_View)],
}


def _load() -> ctypes.CDLL:
    path = Path(os.environ.get("GRAMENGINE_LIBRARY") or Path(__file__).with_name("_lib") / "libgram.so")
    if sys.platform != "linux":
        raise ImportError(f"gramengine supports only Linux, not {sys.platform}; use the program gram instead")
    if _musl():
        raise ImportError("gramengine requires glibc, but this system uses musl, which can't load the Go runtime as a "
                          "library (golang/go issue 54805); use an image of Debian, Ubuntu or Fedora")
    if not path.exists():
        raise ImportError(f"{path} doesn't exist; install a wheel for this platform, or run 'make libgram'")
    library = ctypes.CDLL(str(path))
    library.gram_version.restype, library.gram_version.argtypes = c_char_p, []
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_int32, [*arguments, POINTER(_Call)]
    return library


def _musl() -> bool:
    """Reports whether the process runs on musl, from its mapped libraries."""
    try:
        return "/ld-musl-" in Path("/proc/self/maps").read_text()
    except OSError:
        return False


_library = _load()
_loaded_by = os.getpid()
version: str = _library.gram_version().decode()


def _check_process() -> None:
    if os.getpid() != _loaded_by:
        raise ForkError(
            "gramengine can't be used in this process, because it was forked after gramengine was imported; use the "
            "start method spawn (multiprocessing.set_start_method('spawn')) or joblib's loky, or import gramengine "
            "after the fork")


class _Running:
    """State of a call: its cancel flag, messages, and the exception of a callback."""

    def __init__(self, progress: Progress | None, silent: bool):
        self.silent, self.flag = silent, c_int32(0)
        self.message = ctypes.create_string_buffer(8192)
        self.warnings: list[str] = []
        self.raised: BaseException | None = None
        self.bar = _bar() if progress and not callable(progress) else None
        self.listener: Any = self.bar.update if self.bar else progress or None
        # ctypes callbacks must be referenced during the call.
        self._progress = _PROGRESS(self._tell) if self.listener else _PROGRESS()
        self._warn = _WARN(lambda _, text: self.warnings.append(text.decode(errors="replace")))
        self.struct = _Call(ctypes.pointer(self.flag), self._progress, self._warn, None,
                            ctypes.addressof(self.message), len(self.message))

    def _tell(self, _: Any, stage: bytes, done: int, total: int) -> None:
        try:
            if self.raised is None:
                self.listener(stage.decode(errors="replace"), done, total)
        except BaseException as error:  # cancels the call; finish raises the error
            self.raised, self.flag.value = error, 1

    def finish(self, code: int) -> None:
        if self.bar:
            self.bar.close()
        for text in () if self.silent else self.warnings:
            warnings.warn(text, GramWarning, stacklevel=_level())
        if self.raised is not None:
            raise self.raised
        if code == _CANCELLED:
            raise KeyboardInterrupt
        if code:
            text = self.message.value.decode(errors="replace")
            kind = _ERRORS.get(code, GramError)
            raise _missing(text) if kind is GramFileError and text.endswith(_MISSING) else kind(text)


def _level() -> int:
    """Returns the ``stacklevel`` of the first caller outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def _missing(text: str) -> GramFileNotFoundError:
    named = re.search(rf"(?:open|stat|lstat) (.+): {_MISSING}$", text)
    if named is None:
        return GramFileNotFoundError(errno.ENOENT, text)
    return GramFileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), named[1])


def call(name: str, *arguments: Any, progress: Progress | None = None, long: bool = True, silent: bool = False) -> None:
    """Calls a function of the library without the GIL. If ``silent`` is set, warnings are dropped.

    An Object in the arguments isn't freed during the call. If ``long`` is set, a call from the main thread runs on
    another thread, because Python handles Ctrl-C only between calls.
    """
    _check_process()
    handles = [a.handle if isinstance(a, Object) else a for a in arguments]
    for value, kind in zip(handles, _SIGNATURES[name]):
        if kind is c_int64 and not -2**63 <= value < 2**63:  # ctypes would truncate it to 64 bits
            raise ValueError(f"integers must fit into 64 bits, got {value}")
    running, function = _Running(progress, silent), getattr(_library, name)
    if not long or threading.current_thread() is not threading.main_thread():
        running.finish(function(*handles, byref(running.struct)))
        return
    done, codes = threading.Event(), []

    def work() -> None:
        try:
            codes.append(function(*handles, byref(running.struct)))
        except BaseException as error:
            running.raised = error
            codes.append(0)
        done.set()

    threading.Thread(target=work, name=name, daemon=True).start()
    interrupted = None
    while not done.is_set():
        try:
            done.wait()
        except BaseException as error:  # KeyboardInterrupt, or the exception of another signal handler
            interrupted, running.flag.value = error, 1
    if interrupted is not None:
        raise interrupted
    running.finish(codes[0])


# Parameters of estimators by option of the library, if the names differ.
PARAMETERS = {"c": "C", "components": "n_components", "min": "min_value", "probabilities": "probability",
              "seed": "random_state", "tolerance": "tol", "weights": "class_weight"}
_ABOVE_0 = {"c", "components", "max_df", "min_df", "nu", "tolerance"}


def options(**values: Any) -> tuple[bytes, int]:
    """Returns the options that aren't None as JSON, and the length of the JSON.

    Numbers must be finite, because JSON has no infinity and no NaN. For options in ``_ABOVE_0``, 0 raises ValueError,
    because the library would use the default.
    """
    values = {k: v for k, v in values.items() if v is not None}
    for key, value in values.items():
        name = PARAMETERS.get(key, key)
        for number in value.values() if isinstance(value, dict) else [value]:
            if isinstance(number, (float, np.floating)) and not np.isfinite(number):
                raise ValueError(f"{name} must be finite, got {number}")
        if key in _ABOVE_0 and value == 0:
            raise ValueError(f"{name} must be positive, got {value}")
    if values.get("epsilon") == 0:
        values["epsilon"] = sys.float_info.min  # 0 means the default; the optimum is the same
    text = json.dumps(values, default=_plain).encode()
    return text, len(text)


def _plain(value: Any) -> Any:
    """Returns a NumPy number as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an option must be a number, str, list or dict, got {type(value).__name__}")


def _free(handle: int, pid: int) -> None:
    if os.getpid() == pid:
        _library.gram_free(handle, None)


class Object:
    """An object of the library. It is freed when it is garbage-collected."""

    def __init__(self, name: str, *arguments: Any, progress: Progress | None = None, silent: bool = False):
        handle = c_size_t(0)
        call(name, *arguments, byref(handle), progress=progress, silent=silent)
        self._handle: int = handle.value
        self._finalizer = weakref.finalize(self, _free, self._handle, _loaded_by)
        self._finalizer.atexit = False

    @property
    def handle(self) -> int:
        """The handle of the object."""
        return self._handle

    def __reduce_ex__(self, protocol: Any) -> Any:
        # In another process, the handle is invalid or belongs to another object.
        raise TypeError("an object of the library can't be pickled or copied; pickle its documents or estimator")

    def view(self, name: str) -> np.ndarray:
        """Returns an array in the library's memory. It keeps the object alive."""
        out = _View()
        call("gram_array", self, name.encode(), len(name), byref(out), long=False)
        kind = np.dtype(_TYPES[out.type])
        shape = (out.rows, out.columns)
        if out.rows == 0 or out.columns == 0 or not out.data:
            return np.empty(shape, kind)
        size = out.rows * out.columns * kind.itemsize
        raw = (ctypes.c_char * size).from_address(out.data)
        raw._object = self  # the array references the buffer, and the buffer the object
        return np.frombuffer(raw, kind).reshape(shape)

    def array(self, name: str) -> np.ndarray:
        """Returns a copy of an array. With a single column it is one-dimensional, except for ``_TABLES``."""
        found = self.view(name)
        return found[:, 0].copy() if found.shape[1] == 1 and name not in _TABLES else found.copy()

    def bytes(self) -> bytes:
        """Returns the object in its file format."""
        return self.view("bytes").tobytes()

    def about(self) -> dict[str, Any]:
        """Returns the description of the object."""
        return json.loads(self.view("json").tobytes())

    def texts(self, name: str) -> list[str]:
        """Returns texts that are stored as concatenated bytes with offsets."""
        raw, offsets = self.view(name).tobytes(), self.array(name + "_offsets")
        return [raw[a:b].decode() for a, b in zip(offsets[:-1], offsets[1:])]


_TABLES = {"scores", "probabilities", "coefficients", "coordinates", "weights"}


def load(path: str | os.PathLike[str]) -> Object:
    """Loads a model or an index from a file."""
    name = os.fspath(path).encode()
    return Object("gram_load", name, len(name))


class Stored(Object):
    """An object that is loaded from its bytes at first use, so that unpickling can't fail.

    If unpickling failed in a forked pool, the worker would exit and the pool would hang.
    """

    def __init__(self, data: bytes):
        self._bytes, self._lock = data, threading.Lock()

    @property
    def handle(self) -> int:
        with self._lock:
            if not hasattr(self, "_handle"):
                super().__init__("gram_load_bytes", self._bytes, len(self._bytes))
                self._bytes = b""
        return self._handle

    def bytes(self) -> bytes:
        with self._lock:
            if not hasattr(self, "_handle"):
                return self._bytes
        return super().bytes()


def save(made: Object, path: str | os.PathLike[str]) -> None:
    """Saves a model or an index atomically: on failure the file is unchanged."""
    name = os.fspath(path).encode()
    call("gram_save", made, name, len(name))


def _bar() -> Any:
    """Returns a progress bar: tqdm's if it is installed, else a line on standard error."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Tqdm(tqdm)


class _Tqdm:
    def __init__(self, make: Any):
        self._make, self._stage = make, ""
        self._bar: Any = None

    def update(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar, self._stage = self._make(total=total or None, desc=stage, unit_scale=True), stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Lines:
    def update(self, stage: str, done: int, total: int) -> None:
        share = f" {100 * done / total:.0f}%" if total else f" {done:,}"
        print(f"\r{stage}{share}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


__all__ = ["Documents", "ForkError", "GramError", "GramFileError", "GramFileNotFoundError", "GramMemoryError",
           "GramWarning", "Matrix", "Object", "PARAMETERS", "Progress", "Stored", "Strings", "Table", "call", "load",
           "options", "save", "version", "c_double", "c_float"]
