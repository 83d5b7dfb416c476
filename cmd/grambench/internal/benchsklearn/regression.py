"""Times scikit-learn's LogisticRegression on a file of documents, for benchsklearn."""
import json
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

x, y = load_svmlight_file(sys.argv[1])
x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # as liblinear wants them
c, threads = float(sys.argv[2]), int(sys.argv[3])
found = []
for solver, tolerance in (("lbfgs", 1e-4), ("liblinear", 1e-3)):
    def machine():
        one = LogisticRegression(C=c, solver=solver, tol=tolerance, max_iter=1000)
        return OneVsRestClassifier(one, n_jobs=threads)

    begin = time.time()
    machine().fit(x, y)
    seconds = time.time() - begin
    m = machine().fit(x[::2], y[::2])
    value = 0.0
    for k, one in enumerate(m.estimators_):
        f = x[::2] @ one.coef_[0] + one.intercept_[0]
        sign = np.where(y[::2] == m.classes_[k], 1, -1)
        value += np.logaddexp(0, -sign * f).sum() + (one.coef_**2).sum() / (2 * c)
    right = float((m.predict(x[1::2]) == y[1::2]).mean())
    found.append({"program": "scikit-learn, " + solver, "seconds": seconds, "right": right, "objective": value})
print(json.dumps(found))
