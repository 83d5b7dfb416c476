"""Solves the problems of two classes on standard input by LIBSVM and prints their dual objectives."""
import json
import sys
import warnings

import numpy
from sklearn.svm import SVC

warnings.simplefilter("ignore")
answers = []
for p in json.load(sys.stdin):
    K, y = numpy.array(p["K"]), numpy.array(p["Y"])
    most = 10**6
    s = SVC(kernel="precomputed", C=p["C"], tol=1e-7, max_iter=most, cache_size=100).fit(K, y)
    coef = s.dual_coef_[0]
    part = K[numpy.ix_(s.support_, s.support_)]
    answers.append({"Objective": coef @ part @ coef / 2 - abs(coef).sum(), "Ended": int(s.n_iter_.max()) < most})
json.dump(answers, sys.stdout)
