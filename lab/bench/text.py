"""Accuracy, time and memory from raw text to predicted labels, against TfidfVectorizer with LinearSVC.

Programs run with default options: `gram train`, `gram grid`, and LinearSVC with its defaults, with words 1..2 and
characters 2..5, and with a search over C, n-grams and sublinear_tf. The regret of train is the best cross-validated
result of grid minus the cross-validated result of train's choice, with 5 folds of the training documents of a corpus'
first part.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

from go_random import folds
from measure import Bench, Contender, Run, installed, mebibytes, read_lines, spread, table, write_lines

FOLDS = 5
PEERS = {"LinearSVC": "default", "LinearSVC, words and characters": "views", "LinearSVC, searched": "searched"}


@dataclass
class Corpus:
    name: str
    train: str
    test: str = ""  # without test documents the corpus is divided into folds
    short_labels: bool = False  # cut labels at |, which in WebKB separates class and university
    most_frequent: int = 0  # keep documents with one label, of so many labels


def split(name: str, folder: str, **more: Any) -> Corpus:
    return Corpus(name, f"{folder}/train.tsv.gz", f"{folder}/test.tsv.gz", **more)


CORPORA = [
    split("TREC questions", "trec"), split("News in Somali", "masakhane-som"),
    split("Take-away reviews, Chinese", "zh-waimai"), split("Reuters, R8", "reuters-modapte", most_frequent=8),
    split("Reuters, R52", "reuters-modapte", most_frequent=52),
    Corpus("WebKB, 4 classes", "webkb/all.tsv.gz", short_labels=True), Corpus("WebKB, 20 classes", "webkb/all.tsv.gz"),
    split("MR, sentences of film reviews", "mr"), split("CLINC150, questions", "clinc150"),
    split("Ohsumed, medical abstracts", "ohsumed"), split("Reuters-21578, ModApte", "reuters-modapte"),
    split("20 Newsgroups, by date", "20news-bydate"),
]


@dataclass
class Part:
    """Files of training documents, test documents and folds, and the test labels."""

    train: Path
    test: Path
    folds: Path
    truth: list[list[str]]


def labels_of(line: str) -> list[str]:
    """Returns the labels of a line of text, of a vector or of a prediction."""
    label = line.split("\t")[0].split(" ")[0]
    return [] if label in ("", "-") else label.split(",")


def first_labels(lines: list[str]) -> list[str]:
    return [(labels_of(line) or [""])[0] for line in lines]


def of_most_frequent(count: int, train: list[str], test: list[str]) -> list[list[str]]:
    """Keeps documents with a single label that is among the most frequent labels of both parts."""
    single = [[line for line in lines if len(labels_of(line)) == 1] for lines in (train, test)]
    counts = [Counter(first_labels(lines)) for lines in single]
    both = sorted(counts[0].keys() & counts[1].keys(), key=lambda name: (-counts[0][name] - counts[1][name], name))
    return [[line for line in lines if labels_of(line)[0] in both[:count]] for lines in single]


def parts(bench: Bench, corpus: Corpus) -> list[Part]:
    """Writes the documents that the programs read."""
    lines = [read_lines(path) for path in bench.find(*filter(None, (corpus.train, corpus.test)))]
    if corpus.short_labels:
        lines[0] = ["\t".join((t.split("\t")[0].split("|")[0], t.split("\t")[1])) for t in lines[0]]
    if not corpus.test:
        fold = folds(first_labels(lines[0]), FOLDS)
        pairs = [[[t for t, f in zip(lines[0], fold) if (f == k) == held] for held in (False, True)]
                 for k in range(FOLDS)]
    else:
        pairs = [of_most_frequent(corpus.most_frequent, *lines) if corpus.most_frequent else lines]
    return [Part(write_lines(bench.folder / f"train{k}.tsv", train), write_lines(bench.folder / f"test{k}.tsv", test),
                 write_lines(bench.folder / f"folds{k}", folds(first_labels(train), FOLDS)),
                 [labels_of(line) for line in test]) for k, (train, test) in enumerate(pairs)]


def scores(predicted: list[list[str]], truth: list[list[str]]) -> dict[str, float]:
    """Returns accuracy of whole label sets, micro F1, and macro F1 over all labels that are true or predicted."""
    right, sizes = Counter(), Counter()
    for found, expected in zip(predicted, truth, strict=True):
        right.update(set(found) & set(expected))
        sizes.update(found + expected)
    return {"accuracy": mean(set(p) == set(e) for p, e in zip(predicted, truth)),
            "micro": 2 * right.total() / sizes.total(), "macro": mean(2 * right[name] / sizes[name] for name in sizes)}


def combined(runs: list[Run]) -> Run:
    """Combines runs on the parts of a corpus: sums of times, means of scores, and maximum memory."""
    results = [r.result for r in runs]
    total = {name: mean(r[name] for r in results) for name in ("accuracy", "micro", "macro")}
    total |= {"settings": [r["settings"] for r in results], "first": results[0]}
    return Run(sum(r.seconds for r in runs), sum(r.cpu for r in runs), max(r.peak for r in runs), total)


def trained(bench: Bench, command: str, part: Part) -> Run:
    """Runs gram train or grid, then predict."""
    model, out = bench.folder / "model", bench.folder / "predicted"
    runs = [bench.run_gram(command, "-in", part.train, "-o", model),
            bench.run_gram("predict", "-in", part.test, "-model", model, "-o", out)]
    said = runs[0].result
    best = said.get("best", said)
    choice = (said.get("choice") or {}).get("train", "")  # the command that repeats the training without choosing
    terms = choice.partition(" -views ")[2].partition(" -o ")[0] or best.get("terms", "words")
    result = scores([labels_of(line) for line in read_lines(out)], part.truth) | {
        "settings": f"{best['kernel']}, C={best['c']:g}, {best['scheme']}, {terms}", "terms": terms,
        "mean": best.get("mean"), "flags": choice.partition(" -kernel ")[2].partition(" -o ")[0]}
    return Run(sum(r.seconds for r in runs), sum(r.cpu for r in runs), max(r.peak for r in runs), result)


def linear_svc(train: str, test: str, folds: str, way: str, out: str) -> str:
    """Trains LinearSVC (way: default, views or searched) and writes predictions. Returns the settings."""
    import numpy
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.model_selection import GridSearchCV, PredefinedSplit
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import MultiLabelBinarizer
    from sklearn.svm import LinearSVC

    lines = read_lines(Path(train))
    x, z = ([line.split("\t", 1)[1] for line in texts] for texts in (lines, read_lines(Path(test))))
    labels = [labels_of(line) for line in lines]
    several, names = any(len(s) != 1 for s in labels), MultiLabelBinarizer()
    y = names.fit_transform(labels) if several else numpy.array([s[0] for s in labels])
    features = TfidfVectorizer()
    if way == "views":
        features = make_union(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
                              TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True))
    learner = make_pipeline(features, OneVsRestClassifier(LinearSVC()) if several else LinearSVC())
    if way == "searched":
        embedding, machine = learner.named_steps
        grid = {f"{machine}__estimator__C" if several else f"{machine}__C": [0.1, 0.3, 1.0, 3.0, 10.0],
                f"{embedding}__ngram_range": [(1, 1), (1, 2)], f"{embedding}__sublinear_tf": [False, True]}
        learner = GridSearchCV(learner, grid, cv=PredefinedSplit(numpy.loadtxt(folds, dtype=int)),
                               scoring="f1_micro" if several else "accuracy")
    predicted = learner.fit(x, y).predict(z)
    rows = [",".join(row) or "-" for row in names.inverse_transform(predicted)] if several else predicted
    write_lines(Path(out), rows)
    return ", ".join(f"{k.split('__')[-1]}={v}" for k, v in getattr(learner, "best_params_", {"C": 1}).items())


def linear(bench: Bench, way: str, part: Part) -> Run:
    out = bench.folder / "predicted"
    run = bench.call(linear_svc, train=part.train, test=part.test, folds=part.folds, way=way, out=out)
    result = scores([labels_of(line) for line in read_lines(out)], part.truth) | {"settings": run.result}
    return run._replace(result=result)


def regret(bench: Bench, part: Part, train: dict[str, Any], grid: dict[str, Any]) -> str:
    """Returns the regret of train's choice in percentage points, or – if train chose nothing."""
    if not train["flags"] or grid["mean"] is None:
        return "–"
    said = bench.run_gram("cv", "-folds", FOLDS, "-in", part.train, *shlex.split(f"-kernel {train['flags']}")).result
    return f"{100 * max(grid['mean'] - said.get('best', said)['mean'], 0):.2f}"


def main(bench: Bench, skip: list[str]) -> None:
    peers = PEERS if installed("sklearn") else {}
    summary, names = [], ["gram train", "gram grid", *peers]
    names = [name for name in names if not any(name.endswith(s) for s in skip)]
    for corpus in bench.chosen(CORPORA):
        divided = parts(bench, corpus)
        several = any(len(labels) != 1 for part in divided for labels in part.truth)
        contenders = []
        for name in names:
            def run(name: str = name) -> Run:
                way = peers.get(name)
                return combined([linear(bench, way, p) if way else trained(bench, name[5:], p) for p in divided])

            contenders.append(Contender(name, run))
        bench.interleave(contenders)
        found, rows, cells = {c.name: c.median() for c in contenders}, [], []
        for c in contenders:
            m = found[c.name]
            r = m.result
            others = len(set(r["settings"])) - 1
            rows.append([corpus.name, c.name, f"{100 * r['accuracy']:.2f} %", f"{r['micro']:.4f}", f"{r['macro']:.4f}",
                         spread([one.seconds for one in c.runs]), f"{m.cpu:.1f}", mebibytes(m.peak),
                         r["settings"][0] + (f"; {others} others on other folds" if others else "")])
        table(corpus.name, ["corpus", "program", "accuracy", "micro F1", "macro F1", "seconds", "CPU seconds",
                            "peak memory", "settings"], rows)
        for m in found.values():
            accuracy, micro, macro = (m.result[name] for name in ("accuracy", "micro", "macro"))
            score = f"{micro:.4f}, {macro:.4f}" if several else f"{100 * accuracy:.2f} %"
            cells.append(f"{score}, {m.cpu:.1f} s, {mebibytes(m.peak)}")
        first, grid = found["gram train"].result["first"], found.get("gram grid")
        lost = regret(bench, divided[0], first, grid.result["first"]) if grid else "–"
        summary.append([corpus.name, first["terms"], lost, *cells])
    table("Accuracy, or micro and macro F1 if documents have several labels; CPU seconds; peak memory",
          ["corpus", "terms of train", "its regret", *names], summary)
