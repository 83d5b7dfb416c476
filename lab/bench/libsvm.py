"""Training and prediction against svm-train and svm-predict, and the solver alone against scikit-learn's SVC.

svm-train -t 2 reads the square roots of relative word frequencies; gram reads the text. Both train one-vs-one with the
same C and tolerance, gram also with the diffusion kernel. "solve" measures the solver on a precomputed matrix. The
comparison fails if the dual objective of a pair of classes differs by more than 1e-5, or over 0.1% of the predictions.
If several classes have the most votes, svm-predict predicts the first of them, and gram the class with the largest sum
of decision values. The comparison applies the rule of svm-predict to the decision values of gram.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from typing import Any

from measure import MEASURED, Bench, Contender, Corpus, Failure, Run, installed, measured, read_lines, table, timed

C = 10
GAUSSIAN, DIFFUSION = "rbf:gamma=1", "diffusion:t=0.5"


CORPORA = [Corpus("Go standard library"),
           Corpus("20 Newsgroups", ("20news-bydate/train.tsv.gz", "20news-bydate/test.tsv.gz"))]


def fit_svc(matrix: str, vectors: str) -> None:
    import numpy
    from sklearn.svm import SVC

    values = numpy.load(matrix).astype(numpy.float64)  # which fit would convert
    labels = [float(line.split(" ", 1)[0]) for line in open(vectors)]
    timed(lambda: SVC(kernel="precomputed", C=C, tol=1e-3).fit(values, labels))


def program(variable: str, name: str) -> str | None:
    """Returns the path of one of LIBSVM's programs."""
    found = shutil.which(os.environ.get(variable, name))
    if found is None:
        print(f"left out: no {name} ({variable} names it; on Debian: apt-get install libsvm-tools)", file=sys.stderr)
    return found


def objectives(text: str) -> list[float]:
    """Returns the dual objective of each problem from the output of svm-train."""
    found = [float(value) for value in re.findall(r"^obj = (\S+), rho = ", text, re.MULTILINE)]
    if not found:
        raise Failure("svm-train printed no objective")
    return found


def same_label(a: str, b: str) -> bool:
    """Reports whether labels are equal as text or as numbers, because svm-predict writes +1 as 1."""
    try:
        return a == b or float(a) == float(b)
    except ValueError:
        return False


def first_of_most_votes(pairs: list[tuple[str, str]], decisions: list[str]) -> str:
    """Returns the class that svm-predict predicts. decisions has a value for each pair of classes."""
    votes = {name: 0 for pair in pairs for name in pair}  # in the order of the classes
    for pair, value in zip(pairs, decisions, strict=True):
        votes[pair[0] if float(value) > 0 else pair[1]] += 1
    return max(votes, key=votes.get)


def disagreements(bench: Bench, ours: dict[str, Any], output: str, classes: dict[str, str]) -> list[str]:
    """Compares objectives and predictions with LIBSVM's. Returns the differences that exceed the limits."""
    wrong, theirs, own = [], objectives(output), [row["objective"] for row in ours["rows"]]
    worst = max(abs(a - b) / abs(b) for a, b in zip(own, theirs, strict=True))
    print(f"\n{len(own)} pairs of classes: dual objectives within {worst:.1e} of svm-train's, allowed 1e-5")
    if not worst <= 1e-5:
        wrong.append("objectives")
    if (bench.folder / "libsvm.out").exists():
        pairs = [(row["class"], row["against"]) for row in ours["rows"]]
        _, *decisions = read_lines(bench.folder / "decisions.out")
        voted = [first_of_most_votes(pairs, line.split()[-len(pairs):]) for line in decisions]
        same = [same_label(classes.get(a, a), b)
                for a, b in zip(read_lines(bench.folder / "libsvm.out"), voted, strict=True)]
        ties = sum(a != b for a, b in zip(voted, read_lines(bench.folder / f"{GAUSSIAN}.out"), strict=True))
        print(f"{sum(same)} of {len(same)} predictions are svm-predict's, allowed 99.9 %; "
              f"the rule for ties changes {ties} predictions of gram")
        if sum(same) < 0.999 * len(same):
            wrong.append("predictions")
    return wrong


def compare(bench: Bench, corpus: Corpus) -> list[str]:
    folder, (train, *test) = bench.folder, bench.sources(corpus)
    said = bench.run_gram("corpus", "-in", train, "-embed", "tf-l1-sqrt", "-o", folder / "train.svm").result
    classes = dict(re.findall(r"^gram: label (\d+) stands for class (.*)$", said["messages"], re.MULTILINE))
    if test:
        bench.vectors(test[0], "tf-l1-sqrt", "test.svm", "-like", train)
    svm_train, svm_predict = program("SVM_TRAIN", "svm-train"), program("SVM_PREDICT", "svm-predict")

    def ours(kernel: str) -> Run:
        embedded = kernel + ",embed=tf-l1-sqrt" if kernel == GAUSSIAN else kernel
        return bench.run_gram("train", "-in", train, "-kernel", embedded, "-c", C, "-o", folder / f"{kernel}.model")

    def predict(kernel: str) -> Run:
        return bench.run_gram("predict", "-in", test[0], "-model", folder / f"{kernel}.model",
                              "-o", folder / f"{kernel}.out")

    def solve() -> Run:
        run = ours(DIFFUSION)
        return run._replace(seconds=run.result["seconds_solve"])

    training, predicting = [[Contender(f"gram, {kernel}", functools.partial(run, kernel))
                             for kernel in (GAUSSIAN, DIFFUSION)] for run in (ours, predict)]
    solving = [Contender(f"gram, {DIFFUSION}", solve)]
    if svm_train:
        training.append(Contender(f"svm-train, {GAUSSIAN}", lambda: bench.execute(
            svm_train, "-t", 2, "-g", 1, "-c", C, "-m", 4000, folder / "train.svm", folder / "libsvm.model"), 1))
    if svm_train and svm_predict:
        predicting.append(Contender(f"svm-predict, {GAUSSIAN}", lambda: bench.execute(
            svm_predict, folder / "test.svm", folder / "libsvm.model", folder / "libsvm.out"), 1))
    if installed("numpy", "sklearn"):
        bench.execute(bench.gram, "matrix", "-q", "-in", train, "-kernel", DIFFUSION, "-o", folder / "gram.npy")
        solving.append(Contender(f"scikit-learn's SVC, {DIFFUSION}", lambda: bench.call(
            fit_svc, matrix=folder / "gram.npy", vectors=folder / "train.svm")))
    stages = {"train": training, "predict": predicting if test else [], "solve": solving}
    bench.interleave([c for contenders in stages.values() for c in contenders])
    if test:
        bench.run_gram("predict", "-in", test[0], "-model", folder / f"{GAUSSIAN}.model", "-output", "decisions",
                       "-o", folder / "decisions.out")
    rows = []
    for stage, contenders in stages.items():
        for c in contenders:
            result = c.runs[-1].result
            accuracy = result.get("accuracy") if isinstance(result, dict) else None
            if c.name.startswith("svm-predict"):
                accuracy = float(re.search(r"Accuracy = ([\d.]+)%", result[0])[1]) / 100
            rows.append([stage, c.name, *measured(c, contenders[0]), f"{100 * accuracy:.2f} %" if accuracy else ""])
    table(f"{corpus.name}: {said['documents']:,} documents, {said['classes']} classes, C = {C}",
          ["what", "program, kernel", *MEASURED, "accuracy"], rows)
    return disagreements(bench, training[0].runs[0].result, training[2].runs[0].result[0], classes) if svm_train else []


def main(bench: Bench) -> None:
    wrong = [f"{corpus.name}: {what}" for corpus in bench.chosen(CORPORA) for what in compare(bench, corpus)]
    if wrong:
        raise Failure(f"not the same as LIBSVM's: {', '.join(wrong)}")
