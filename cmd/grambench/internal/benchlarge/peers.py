"""Times scikit-learn's LinearSVC, behind Nystroem where landmarks are asked for: TRAIN TEST C LANDMARKS GAMMA."""
import json
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")
train, test, c, m, gamma = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])


def read(path):
    x, y = load_svmlight_file(path)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # as liblinear wants them
    return x, y


(x, y), (z, truth) = read(train), read(test)
begin = time.perf_counter()
found = {}
if m:
    features = Nystroem(kernel="rbf", gamma=gamma, n_components=m, random_state=1)
    machine = LinearSVC(C=c / 2)  # whose loss isn't halved
    a = features.fit_transform(x)
    machine.fit(a, y)
    seconds = time.perf_counter() - begin
    right = np.concatenate([machine.predict(features.transform(z[i:i + 1000])) == truth[i:i + 1000]
                            for i in range(0, z.shape[0], 1000)]).mean()
else:
    machine = LinearSVC(C=c)
    machine.fit(x, y)
    seconds = time.perf_counter() - begin
    right = machine.score(z, truth)
    sign = np.where(y[:, None] == machine.classes_[None, :], 1.0, -1.0)
    loss = np.maximum(0, 1 - sign * machine.decision_function(x)) ** 2
    found["objective"] = float((machine.coef_ ** 2).sum() / 2 + (machine.intercept_ ** 2).sum() / 2 + c * loss.sum())
print(json.dumps({"seconds": seconds, "accuracy": float(right), "version": sklearn.__version__, **found}))
