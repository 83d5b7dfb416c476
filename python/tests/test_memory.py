"""Memory that calls leave behind."""

import os
import subprocess
import sys
from pathlib import Path

import gramengine

CODE = """
import re
import numpy as np, scipy.sparse as sp
import gramengine as g

n = 6000  # their matrix takes 144 MB
rng = np.random.default_rng(1)
y = rng.integers(0, 2, n)
x = sp.csr_matrix((np.ones(20 * n, np.float32), (np.repeat(np.arange(n), 20), (rng.integers(0, 60, (n, 20)) + 40 * y[:, None]).ravel())))
peaks = []
for _ in range(4):
    g.KernelSVC("diffusion:t=0.5").fit(x, y)
    peaks.append(1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]))
print(peaks[0], peaks[-1], 4 * n * n)
"""


def test_trainings_one_after_the_other_hold_one_matrix():
    path = os.pathsep.join([str(Path(gramengine.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    said = subprocess.run([sys.executable, "-c", CODE], check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": path}).stdout
    first, last, matrix = map(int, said.split())
    assert last - first < matrix / 2, f"the peak grew from {first:,} to {last:,} bytes; a matrix has {matrix:,}"
