"""Reads arrays into a view that still has the address of a freed object's, while garbage is collected; prints "whole"."""

import threading
from ctypes import byref

import numpy as np

import gramengine as g
from gramengine import _library

stop = threading.Event()


def collect() -> None:
    x = np.ones((1500, 50), np.float32)
    while not stop.is_set():
        g.Corpus(x)
        g.gram(x[:400])


def array(of: g.Corpus, view: _library._View) -> None:
    _library.call("gram_array", of._object.handle, b"values", 6, byref(view), long=False)


threads = [threading.Thread(target=collect, daemon=True) for _ in range(2)]
for t in threads:
    t.start()
view, small = _library._View(), g.Corpus(np.ones((3, 3), np.float32))
for _ in range(12):
    freed = g.Corpus(np.ones((20000, 10), np.float32))
    array(freed, view)
    stale = view.data
    del freed
    for _ in range(2000):
        view.data = stale
        array(small, view)
stop.set()
for t in threads:
    t.join()
print("whole")
