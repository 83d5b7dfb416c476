"""Fits scikit-learn's SVC on a ready Gram matrix: fit.py MATRIX.npy LABELLED.svm C. Prints the seconds of the fit alone as JSON."""
import json
import sys
import time

import numpy
import sklearn
from sklearn.svm import SVC

matrix = numpy.load(sys.argv[1]).astype(numpy.float64)  # converted here, so that fit needn't
with open(sys.argv[2]) as lines:
    labels = numpy.array([float(line.split(None, 1)[0]) for line in lines])
machine = SVC(kernel="precomputed", C=float(sys.argv[3]), tol=1e-3)
wall, cpu = time.perf_counter(), time.process_time()
machine.fit(matrix, labels)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps({"seconds": wall, "cores": cpu / wall, "version": sklearn.__version__}))
