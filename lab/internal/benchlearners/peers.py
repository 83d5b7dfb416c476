"""Times a learner of scikit-learn: TRAIN TEST LEARNER C LANDMARKS GAMMA THREADS. The files have vectors."""
import json
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_files
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")
train, test, learner, c, m, gamma, threads = sys.argv[1:]
c, m, threads = float(c), int(m), int(threads)
x, y, z, truth = load_svmlight_files([train, test])
x, z = normalize(x), normalize(z)
for a in (x, z):
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)  # as liblinear wants them

features = Nystroem(kernel="rbf", gamma=float(gamma), n_components=m, random_state=1) if m else None
machine = {
    "LinearSVC": lambda: LinearSVC(C=c),
    "Nystroem": lambda: LinearSVC(C=c / 2),  # whose loss isn't halved
    "LogisticRegression, lbfgs": lambda: OneVsRestClassifier(
        LogisticRegression(C=c, solver="lbfgs", tol=1e-4, max_iter=1000), n_jobs=threads),
    "LogisticRegression, liblinear": lambda: OneVsRestClassifier(  # to about the same objective
        LogisticRegression(C=c, solver="liblinear", tol=1e-3, max_iter=1000), n_jobs=threads),
}[learner]()
if learner.startswith("LogisticRegression"):
    machine.fit(x, y)  # starts its processes
begin = time.perf_counter()
machine.fit(features.fit_transform(x) if m else x, y)
found = {"seconds": time.perf_counter() - begin, "version": sklearn.__version__}
found["accuracy"] = float(np.concatenate([
    machine.predict(features.transform(z[i:i + 1000]) if m else z[i:i + 1000]) == truth[i:i + 1000]
    for i in range(0, z.shape[0], 1000)]).mean())
sign = np.where(y[:, None] == machine.classes_[None, :], 1.0, -1.0)
if learner == "LinearSVC":
    loss = np.maximum(0, 1 - sign * machine.decision_function(x)) ** 2
    found["objective"] = float((machine.coef_ ** 2).sum() / 2 + (machine.intercept_ ** 2).sum() / 2 + c * loss.sum())
elif not m:
    f = np.column_stack([x @ one.coef_[0] + one.intercept_[0] for one in machine.estimators_])
    found["objective"] = float(np.logaddexp(0, -sign * f).sum() + sum((one.coef_ ** 2).sum() for one in machine.estimators_) / (2 * c))
print(json.dumps(found))
