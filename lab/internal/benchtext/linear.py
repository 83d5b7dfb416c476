"""Trains scikit-learn's LinearSVC and predicts: linear.py TRAIN TEST FOLDS OUT. TRAIN and TEST are lines label[,label...]<TAB>text, gzipped or not,
or vectors where the names end in .svm. FOLDS has the fold of each training document and means a search; - means all defaults; views means
words 1..2 and characters 2..5 within words, sublinear. OUT gets the
predicted labels, one line per document. Prints seconds, peak memory and what was found as JSON."""
import gzip
import json
import resource
import sys
import time
import warnings

import numpy
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import MaxAbsScaler, MultiLabelBinarizer
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")


def read(path):
    if path.endswith(".svm"):
        x, y = load_svmlight_file(path, n_features=784)
        return x, [[str(int(v))] for v in y]
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [text for _, text in pairs], [label.split(",") if label != "-" else [] for label, _ in pairs]


def vectors(train, others, ngrams, sublinear):
    """Embeds texts; counts are kept from one call to the next with the same texts and n-grams."""
    if not isinstance(train, list):  # vectors
        scale = MaxAbsScaler().fit(train)
        return [scale.transform(x) for x in [train, *others]]
    key = (id(train), ngrams)
    if key not in counted:
        counted.clear()
        counter = CountVectorizer(ngram_range=(1, ngrams))
        counted[key] = [counter.fit_transform(train)] + [counter.transform(x) for x in others]
    weights = TfidfTransformer(sublinear_tf=sublinear).fit(counted[key][0])
    return [weights.transform(x) for x in counted[key]]


def machine(c):
    one = LinearSVC(C=c)
    return OneVsRestClassifier(one) if several else one


def pick(x, rows):
    return [x[i] for i in rows] if isinstance(x, list) else x[rows]


def figure(truth, predicted):
    return f1_score(truth, predicted, average="micro") if several else accuracy_score(truth, predicted)


begin = time.perf_counter()
train_path, test_path, folds_path, out = sys.argv[1:]
texts, labels = read(train_path)
tests, _ = read(test_path)
several = any(len(l) != 1 for l in labels)
counted = {}
names = MultiLabelBinarizer()
y = names.fit_transform(labels) if several else numpy.array([l[0] for l in labels])
best = (0.0, 1.0, 1, False)
if folds_path not in ("-", "views"):
    fold = numpy.loadtxt(folds_path, dtype=int)
    space = [(c, n, s) for n in ((1, 2) if isinstance(texts, list) else (1,))
             for s in ((False, True) if isinstance(texts, list) else (False,)) for c in (0.1, 0.3, 1.0, 3.0, 10.0)]
    figures = {p: [] for p in space}
    for n in sorted({p[1] for p in space}):
        for f in range(fold.max() + 1):
            inside, held = numpy.flatnonzero(fold != f), numpy.flatnonzero(fold == f)
            some, other = pick(texts, inside), pick(texts, held)
            for p in [p for p in space if p[1] == n]:
                a, b = vectors(some, [other], n, p[2])
                figures[p].append(figure(y[held], machine(p[0]).fit(a, y[inside]).predict(b)))
    best = max((float(numpy.mean(v)), *p) for p, v in figures.items())
if folds_path == "views":
    both = FeatureUnion([("words", TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)),
                         ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True))])
    a, b = both.fit_transform(texts), both.transform(tests)
else:
    a, b = vectors(texts, [tests], best[2], best[3])
predicted = machine(best[1]).fit(a, y).predict(b)
seconds = time.perf_counter() - begin
with open(out, "w", encoding="utf-8") as lines:
    for p in names.inverse_transform(predicted) if several else predicted:
        print((",".join(p) or "-") if several else p, file=lines)
print(json.dumps({"seconds": seconds, "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                  "found": ("words 1..2 and characters 2..5, sublinear, " if folds_path == "views" else "") + f"C={best[1]:g}" + (f", 1..{best[2]}-grams" if best[2] > 1 else "") + (", sublinear" if best[3] else ""),
                  "version": sklearn.__version__}))
