"""KernelPCA of scikit-learn: seconds and cores of its fit, and the eigenvalues."""

import gzip
import json
import sys
import time

import numpy as np
import sklearn
from sklearn.decomposition import KernelPCA

path, gamma, components, solver = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with gzip.open(path) as file:
    data = file.read()
x = np.frombuffer(data, np.uint8, offset=16).reshape(-1, 784) / 255.0
machine = KernelPCA(components, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=1)
wall, cpu = time.perf_counter(), time.process_time()
machine.fit(x)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
json.dump({"seconds": wall, "cores": cpu / wall, "version": sklearn.__version__, "eigenvalues": machine.eigenvalues_.tolist()}, sys.stdout)
