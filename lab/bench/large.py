"""Linear SVMs and kernel SVMs with landmarks, against scikit-learn's LinearSVC and Nystroem.

Texts are tfidf vectors and images are scaled to length 1. Kernel SVMs use exp(-γ‖x-y‖²); the exact SVM is shown for
comparison. Times are training times, which for gram include embedding the documents. Objectives are sums over the
binary classifiers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from measure import MEASURED, Bench, Contender, Run, installed, measured, table, timed, without_files

C = 10  # of linear machines 1
LANDMARKS = (256, 1024, 4096)


class Corpus(NamedTuple):
    name: str
    files: tuple[str, ...]
    embedding: str
    gamma: float


CORPORA = [
    Corpus("20 Newsgroups", ("20news-bydate/train.tsv.gz", "20news-bydate/test.tsv.gz"), "tfidf-l2", 0.5),
    Corpus("MNIST", ("mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz"), "tf-l2", 5),
]


def learn(train: str, test: str, landmarks: int, gamma: float) -> dict[str, Any]:
    """Trains LinearSVC, with Nystroem if landmarks is set. Returns the accuracy and, without landmarks, the objective."""
    import numpy
    from sklearn.datasets import load_svmlight_files
    from sklearn.kernel_approximation import Nystroem
    from sklearn.preprocessing import normalize
    from sklearn.svm import LinearSVC

    x, y, z, truth = load_svmlight_files([train, test])
    x, z = normalize(x), normalize(z)
    for a in (x, z):  # liblinear needs indices of 32 bits
        a.indices, a.indptr = a.indices.astype(numpy.int32), a.indptr.astype(numpy.int32)
    machine = LinearSVC(C=C / 2 if landmarks else 1)  # gram halves the loss on landmarks
    features = Nystroem(kernel="rbf", gamma=gamma, n_components=landmarks or 1, random_state=1)
    timed(lambda: machine.fit(features.fit_transform(x) if landmarks else x, y))
    blocks = [z[i:i + 1000] for i in range(0, z.shape[0], 1000)]
    predicted = numpy.concatenate([machine.predict(features.transform(b) if landmarks else b) for b in blocks])
    result = {"accuracy": float((predicted == truth).mean())}
    if not landmarks:
        sign = numpy.where(y[:, None] == machine.classes_[None, :], 1.0, -1.0)
        loss = (numpy.maximum(0, 1 - sign * machine.decision_function(x)) ** 2).sum()
        result["objective"] = float((machine.coef_ ** 2).sum() / 2 + (machine.intercept_ ** 2).sum() / 2 + loss)
    return result


def compare(bench: Bench, corpus: Corpus) -> None:
    (train, test), folder, contenders = bench.find(*corpus.files), bench.folder, []

    def add_gram(name: str, *flags: object) -> None:
        def run() -> Run:
            trained = bench.run_gram("train", "-in", train, "-o", folder / "model", "-embed", corpus.embedding, *flags)
            said = trained.result
            predicted = bench.run_gram("predict", "-in", test, "-model", folder / "model", "-o", folder / "predicted")
            result = {"accuracy": predicted.result["accuracy"]}
            if "linear" in flags:
                result["objective"] = sum(row["objective"] for row in said["rows"])
            return trained._replace(seconds=without_files(said), result=result)

        contenders.append(Contender(f"gram, {name}", run))

    def add_peer(name: str, landmarks: int = 0) -> None:
        if installed("sklearn"):
            contenders.append(Contender(name, lambda: bench.call(
                learn, train=folder / "train.svm", test=folder / "test.svm", landmarks=landmarks, gamma=corpus.gamma)))

    bench.vectors(train, corpus.embedding, "train.svm")
    bench.vectors(test, corpus.embedding, "test.svm", "-like", train)
    kernel = ("-kernel", f"rbf:gamma={corpus.gamma}", "-c", C)
    add_gram("linear", "-type", "linear")
    add_peer("LinearSVC")
    for m in LANDMARKS:
        add_gram(f"{m} landmarks", "-type", f"landmark:m={m},loss=hinge2", *kernel)
        add_peer(f"Nystroem, {m}, and LinearSVC", m)
    add_gram("exact", "-scheme", "one-vs-rest", *kernel)
    bench.interleave(contenders)
    rows = []
    for c in contenders:
        result = c.runs[-1].result
        objective = f"{result['objective']:.2f}" if "objective" in result else ""
        rows.append([c.name, *measured(c, contenders[0]), f"{100 * result['accuracy']:.2f} %", objective])
    table(f"{corpus.name}, {corpus.embedding}, exp(-{corpus.gamma} ‖x-y‖²); C = {C}, of linear machines 1",
          ["program", *MEASURED, "accuracy", "objective"], rows)


def main(bench: Bench) -> None:
    for corpus in bench.chosen(CORPORA):
        compare(bench, corpus)
