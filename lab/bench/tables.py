"""Tables of numbers and categories: gram from CSV and from .npy, and a searched SVM of scikit-learn.

A round is a random split into 75% for training and 25% for testing; its number from 0 is the seed. gram chooses
everything. scikit-learn's SVM has an rbf kernel on standardised columns, and C and gamma from GridSearchCV; categories
are one-hot columns, and missing numbers are means with an indicator. Figures are R² or accuracies in percent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, NamedTuple

from measure import Bench, Failure, installed, table


class Table(NamedTuple):
    """A data set: a function that returns a data frame, whose last column is the target."""

    name: str
    load: Callable[[], Any]
    regression: bool = False


def bundled(loader: str) -> Callable[[], Any]:
    def load() -> Any:
        from sklearn import datasets

        found = getattr(datasets, loader)(as_frame=True).frame
        return found if loader == "load_diabetes" else found.assign(target="c" + found["target"].astype(str))
    return load


def friedman() -> Any:
    """Returns 500 rows of Friedman's first function, with noise."""
    import pandas
    from sklearn.datasets import make_friedman1

    x, y = make_friedman1(500, noise=1.0, random_state=0)
    return pandas.DataFrame(x, columns=[f"x{i}" for i in range(10)]).assign(target=y)


def mixed() -> Any:
    """Returns 600 rows with two categories and missing numbers."""
    import numpy
    import pandas

    r, n = numpy.random.default_rng(0), 600
    age, income, hours = r.normal(40, 12, n).round(1), numpy.exp(r.normal(10, 0.6, n)).round(), r.integers(5, 60, n)
    job = r.choice(["clerk", "nurse", "farmer", "engineer", "retired"], n, p=[0.3, 0.2, 0.1, 0.25, 0.15])
    region = r.choice(["north", "south", "east"], n)
    score = ((age - 40) / 12 + 1.2 * (job == "engineer") - 1.5 * (job == "retired") + 0.03 * (hours - 30)
             + 0.8 * (numpy.log(income) - 10) * numpy.where(region == "south", -1, 1) + r.normal(0, 0.7, n))
    age[r.random(n) < 0.1] = income[r.random(n) < 0.15] = numpy.nan
    return pandas.DataFrame({"age": age, "income": income, "hours": hours, "job": job, "region": region,
                             "target": numpy.where(score > 0, "yes", "no")})


TABLES = [Table("diabetes", bundled("load_diabetes"), True), Table("breast cancer", bundled("load_breast_cancer")),
          Table("wine", bundled("load_wine")), Table("iris", bundled("load_iris")), Table("friedman", friedman, True),
          Table("mixed", mixed), Table("digits", bundled("load_digits"))]


def searched(train: Any, test: Any, regression: bool) -> Any:
    """Returns the predictions of scikit-learn's searched SVM."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC, SVR

    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")), sparse_threshold=0)
    grid = {"svm__C": [0.1, 1, 10, 100], "svm__gamma": ["scale", 0.001, 0.003, 0.01, 0.03, 0.1]}
    model = make_pipeline(columns)
    model.steps.append(("svm", SVR() if regression else SVC()))
    if regression:  # in the unit of the targets
        scale = train.iloc[:, -1].std()
        grid["svm__C"], grid["svm__epsilon"] = [scale * c for c in grid["svm__C"]], [scale * 0.1]
    search = GridSearchCV(model, grid, cv=5).fit(train.iloc[:, :-1], train.iloc[:, -1])
    return search.predict(test.iloc[:, :-1])


def gram(bench: Bench, train: Any, test: Any, regression: bool, form: str) -> list[str]:
    """Returns the predictions of gram for one form of the table."""
    import numpy

    files, flags = [], []
    for name, part in ("train", train), ("test", test):
        file, labels = bench.folder / f"{name}.{form}", bench.folder / f"{name}.labels"
        if form == "csv":
            part.to_csv(file, index=False)
        else:
            numpy.save(file, part.iloc[:, :-1].to_numpy(numpy.float32))
            part.iloc[:, -1].to_csv(labels, index=False, header=False)
        files.append(file)
        flags.append(["-labels", labels] if form == "npy" else ["-label-column", "target"])
    model, answers = bench.folder / "table.model", bench.folder / "table.out"
    kind = ["-type", "epsilon_svr"] if regression else []
    bench.execute(bench.gram, "train", "-q", *kind, *flags[0], "-in", files[0], "-o", model)
    bench.execute(bench.gram, "predict", "-q", *flags[1], files[1], model, answers)
    return Path(answers).read_text().split("\n")[:len(test)]


def main(bench: Bench) -> None:
    if not installed("sklearn", "pandas"):
        raise Failure("the tables are from scikit-learn and pandas")
    import numpy
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.model_selection import train_test_split

    def mean(values: Any) -> str:
        error = numpy.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
        return f"{numpy.mean(values):.3f} ± {error:.3f}"

    rows = []
    for of in bench.chosen(TABLES):
        frame, figures = of.load(), {"csv": [], "npy": [], "scikit-learn": []}
        numbers = frame.iloc[:, :-1].select_dtypes("number").shape[1] == frame.shape[1] - 1
        for seed in range(bench.rounds):
            strata = None if of.regression else frame.iloc[:, -1]
            train, test = train_test_split(frame, test_size=0.25, random_state=seed, stratify=strata)
            truth = test.iloc[:, -1]
            for name in figures:
                if name == "npy" and not numbers:
                    continue
                found = (searched(train, test, of.regression) if name == "scikit-learn"
                         else gram(bench, train, test, of.regression, name))
                figures[name].append(r2_score(truth, numpy.asarray(found, float)) if of.regression
                                     else 100 * accuracy_score(truth, found))
        csv, npy, peer = (numpy.array(v) for v in figures.values())
        rows.append([of.name, mean(csv), mean(npy) if numbers else "", mean(peer),
                     mean(csv - npy) if numbers else "", mean(csv - peer)])
    table(f"R² or accuracy in %, mean ± standard error of {bench.rounds} splits",
          ["table", "gram, CSV", "gram, .npy", "scikit-learn", "CSV − .npy", "CSV − scikit-learn"], rows)
