"""Solves the two-class problems of a JSON file by LIBSVM and prints their dual objectives: solver.py FILE"""
import json
import sys
import warnings

import numpy
from sklearn.svm import SVC

warnings.simplefilter("ignore")
LIMIT = 10**6  # iterations
answers = []
for p in json.load(open(sys.argv[1])):
    K, y = numpy.array(p["K"]), numpy.array(p["Y"])
    s = SVC(kernel="precomputed", C=p["C"], tol=1e-7, max_iter=LIMIT, cache_size=100).fit(K, y)
    coef = s.dual_coef_[0]
    part = K[numpy.ix_(s.support_, s.support_)]
    answers.append({"Objective": coef @ part @ coef / 2 - abs(coef).sum(), "Ended": int(s.n_iter_.max()) < LIMIT})
json.dump(answers, sys.stdout)
