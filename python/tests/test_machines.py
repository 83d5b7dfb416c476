"""Classifiers, regression, one class and components."""

import gzip
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import gramengine as g
from conftest import ROOT


def labelled(counts, tmp_path):
    x, y = counts
    path = tmp_path / "x.svm"
    dump_svmlight_file(x, np.unique(y, return_inverse=True)[1] + 1, str(path), zero_based=False)
    return x, y, path


def test_models_are_the_commands(counts, gram, tmp_path):
    x, y, path = labelled(counts, tmp_path)
    numbers = np.unique(y, return_inverse=True)[1] + 1
    subprocess.run([gram, "train", "-q", "-kernel", "diffusion:t=0.5", "-c", "2", "-in", path, "-o",
                    tmp_path / "a.model"], check=True)
    own = g.KernelSVC("diffusion:t=0.5", 2).fit(x, numbers)
    other = g.load(tmp_path / "a.model")
    assert np.array_equal(own.predict(x), other.predict(x).astype(int))
    assert np.array_equal(own.decision_function(x), other.decision_function(x))
    own.save(tmp_path / "b.model")
    said = subprocess.run([gram, "predict", "-q", "-in", path, "-model", tmp_path / "b.model", "-o", "-"], check=True,
                          capture_output=True, text=True)
    assert [int(line.split()[0]) for line in said.stdout.splitlines()] == own.predict(x).tolist()


@pytest.mark.parametrize("estimator", [
    g.KernelSVC("diffusion:t=0.5", 5), g.KernelSVC("arccos:n=0", scheme="one-vs-one"), g.KernelSVC(nu=0.2),
    g.LinearClassifier(embedding="tfidf-l2"), g.LinearClassifier(loss="logistic", embedding="tf-l1-sqrt"),
    g.LandmarkClassifier("diffusion:t=0.5", landmarks=100)], ids=str)
def test_classifiers(counts, estimator):
    x, y = counts
    made = estimator.fit(x[:200], y[:200])
    assert made.score(x[200:], y[200:]) > 0.9
    f = made.decision_function(x)
    assert f.shape == (300, 3) and (made.classes_[f.argmax(axis=1)] == made.predict(x)).all()
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.decision_function(x), f) and np.array_equal(again.predict(x), made.predict(x))
    assert np.array_equal(clone(made).fit(x[:200], y[:200]).decision_function(x), f)


@pytest.mark.parametrize("scheme", ["one-vs-rest", "one-vs-one"])
def test_binary_decisions_have_scikit_learns_sign(counts, scheme):
    x, y = counts
    x, y = x[y != "red"], y[y != "red"]
    for classes in (["green", "blue"], [0, 1]):
        labels = np.where(y == "green", classes[0], classes[1])
        for first in (0, 1):  # whichever class the first document has
            order = np.roll(np.argsort(labels != labels[0], kind="stable"), first * len(y) // 2)
            made = g.KernelSVC("diffusion", scheme=scheme).fit(x[order], labels[order])
            f = made.decision_function(x)
            assert f.shape == (len(y),) and ((f > 0) == (made.predict(x) == made.classes_[1])).all()


def test_weights(counts):
    x, y = counts
    w = np.random.default_rng(1).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), w)
    for make in (lambda: g.KernelSVC("diffusion:t=0.5", tol=1e-8), lambda: g.LinearClassifier(embedding="tf-l2", tol=1e-8)):
        weighted, repeated = make().fit(x, y, sample_weight=w), make().fit(x[rows], y[rows])
        assert not np.abs(weighted.decision_function(x) - repeated.decision_function(x)).max() > 1e-4
    with pytest.raises(ValueError, match="one class"):
        g.KernelSVC().fit(x, y, sample_weight=(y == "red").astype(float))


def test_probabilities(counts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5", probability=True).fit(x, y)
    p = made.predict_proba(x)
    assert p.shape == (300, 3) and not np.abs(p.sum(axis=1) - 1).max() > 1e-9
    assert not hasattr(g.KernelSVC().fit(x, y), "predict_proba")
    made = CalibratedClassifierCV(g.KernelSVC("diffusion:t=0.5"), cv=3).fit(x, y)
    assert made.predict_proba(x).shape == (300, 3)


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
def test_the_class_is_the_most_probable(counts, scheme):
    x, y = counts
    y = np.where(np.arange(len(y)) % 3 == 0, np.roll(y, 1), y)  # labels that are hard to predict
    made = g.KernelSVC("diffusion:t=0.5", scheme=scheme, probability=True).fit(x, y)
    best = made.classes_[made.predict_proba(x).argmax(axis=1)]
    assert (made.predict(x) == best).all() and made.score(x, y) == (best == y).mean()
    assert all(made.explain(x[i]).about["label"] == best[i] for i in range(0, 300, 10))


def test_scikit_learns_tools(counts):
    x, y = counts
    found = GridSearchCV(make_pipeline(Normalizer("l1"), g.KernelSVC("diffusion:t=0.5")),
                         {"kernelsvc__C": [0.1, 1, 10]}, cv=3).fit(x, y)
    assert found.best_score_ > 0.9
    assert cross_val_score(g.KernelSVC("diffusion:t=0.5"), x, y, cv=3).mean() > 0.9


def test_ties_of_votes_go_with_the_prediction(counts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5", scheme="one-vs-one").fit(x, y)
    cycle = np.array([[1.0, -2.0, 3.0]])  # each class wins once
    for label in range(3):
        assert made._votes(cycle, np.array([label])).argmax() == made._places[label]


def test_search_in_one_pass(counts):
    x, y = counts
    y = np.where(np.arange(len(y)) % 5 == 0, np.roll(y, 1), y)  # hard enough that folds differ
    found = g.search(x, y, {"C": [0.1, 1, 10], "t": [0.5, 2]}, kernel="diffusion", folds=3)
    assert len(found.cv_results_["params"]) == 6 and found.best_score_ == max(found.cv_results_["mean_test_score"])
    assert found.best_estimator_.score(x, y) > 0.8 and "<table>" in found._repr_html_()
    one = g.cross_validate(x, y, folds=3, **{k: v for k, v in found.best_params_.items() if k != "seed"})
    assert one["mean"] == found.best_score_ and one["fold_scores"] == found.about["points"][found.best_index_]["fold_scores"]


def test_attributes_make_the_decisions(counts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5", scheme="one-vs-one").fit(x, y)
    k = g.gram(x, kernel="diffusion:t=0.5")[:, made.support_].astype(np.float64)
    f = k @ made.dual_coef_.T - made.offsets_
    assert not np.abs(f - made._predict(x).array("scores")).max() > 1e-4
    linear = g.LinearClassifier(embedding="tf-l2").fit(x, y)
    assert linear.coef_.shape == (3, 400)
    with pytest.raises(AttributeError):
        made.coef_


def test_regression():
    x = np.linspace(0, 6, 120)[:, None].astype(np.float32)
    y = np.sin(x[:, 0])
    made = g.KernelSVR("rbf:gamma=1", C=10, epsilon=0.01).fit(x, y)
    assert not np.abs(made.predict(x) - y).max() > 0.05
    assert np.array_equal(pickle.loads(pickle.dumps(made)).predict(x), made.predict(x))
    few = g.KernelSVR("rbf:gamma=1", nu=0.3).fit(x, y)
    assert few.score(x, y) > 0.9


def test_one_class(counts):
    x, y = counts
    made = g.OneClass("diffusion:t=0.5", nu=0.1).fit(x[y == "red"])
    assert (made.predict(x[y == "red"]) == 1).mean() > 0.7 and (made.predict(x[y != "red"]) == -1).mean() > 0.7
    assert np.allclose(made.score_samples(x) - made.offset_, made.decision_function(x))


def test_components(counts):
    x, _ = counts
    made = g.KernelPCA(4, kernel="diffusion:t=0.5", tol=1e-8).fit(x)
    k = g.gram(x, kernel="diffusion:t=0.5").astype(np.float64)
    centre = np.eye(300) - 1 / 300
    values, vectors = np.linalg.eigh(centre @ k @ centre)
    want = (vectors * np.sqrt(np.maximum(values, 0)))[:, :-5:-1]
    got = made.transform(x)
    assert not np.abs(made.eigenvalues_ / values[:-5:-1] - 1).max() > 1e-4
    assert not np.abs(np.abs(got) - np.abs(want)).max() > 1e-3
    assert list(made.get_feature_names_out()) == [f"kernelpca{i}" for i in range(4)]
    assert np.array_equal(pickle.loads(pickle.dumps(made)).transform(x), got)


def test_graph_of_neighbours(counts):
    x, y = counts
    graph = g.NeighboursTransformer(n_neighbors=7).fit(x[:200])
    train = graph.transform(x[:200])
    assert (train.diagonal() == 0).all() and train.getnnz(axis=1).tolist() == [8] * 200
    made = KNeighborsClassifier(7, metric="precomputed").fit(train, y[:200])
    assert made.score(graph.transform(x[200:]), y[200:]) > 0.8
    copies = g.NeighboursTransformer(n_neighbors=2).fit_transform(sp.vstack([x[:1]] * 5 + [x[1:9]]))
    assert all(i in copies[i].indices for i in range(5))  # each copy is its own neighbour
    ones = g.NeighboursTransformer(mode="connectivity", n_neighbors=3).fit_transform(x)
    assert set(ones.data) == {1.0} and sp.issparse(ones)


def test_messages_name_the_value(counts):
    x, y = counts
    with pytest.raises(ValueError, match="balanced"):
        g.KernelSVC(class_weight="equal").fit(x, y)
    with pytest.raises(ValueError, match="purple"):
        g.KernelSVC(class_weight={"purple": 2}).fit(x, y)
    with pytest.raises(ValueError, match="int, str"):
        g.search(x[:4], np.array([1, "1", 1, "1"], dtype=object))
    with pytest.raises(ValueError, match="C"):
        g.KernelSVC(C=-1).fit(x, y)
    with pytest.raises((ValueError, g.GramFileError)):
        g.load("/does/not/exist.model")


def test_landmarks_weigh_classes(counts):
    x, y = counts
    own = g.LandmarkClassifier(landmarks=50, class_weight={y[0]: 3.0}).fit(x, y).decision_function(x)
    same = g.LandmarkClassifier(landmarks=50).fit(x, y, sample_weight=np.where(y == y[0], 3.0, 1.0)).decision_function(x)
    assert (own == same).all() and (own != g.LandmarkClassifier(landmarks=50).fit(x, y).decision_function(x)).any()


def test_support_with_weights_of_zero(counts):
    x, y = counts
    weights = (np.arange(len(y)) % 2).astype(float)
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y, weights)
    assert len(made.support_) and (weights[made.support_] > 0).all()
    with pytest.raises(ValueError, match="remove its row and its column"):
        g.KernelSVC("precomputed").fit(g.gram(x), y, weights)


def test_epsilon_of_0_is_not_the_default():
    x = np.random.default_rng(0).normal(size=(200, 2))
    y = x[:, 0] + x[:, 1] ** 2
    want = sklearn.svm.SVR(gamma=0.5, epsilon=0, tol=1e-6).fit(x, y).predict(x)
    assert np.abs(g.KernelSVR("rbf:gamma=0.5", epsilon=0, tol=1e-6).fit(x, y).predict(x) - want).max() <= 1e-3


@pytest.mark.parametrize("estimator, named", [
    (g.KernelSVC(C=0), "C must be positive, got 0"), (g.KernelSVC(nu=0), "nu must be positive, got 0"),
    (g.KernelPCA(n_components=0), "n_components must be positive, got 0"),
    (g.OneClass(nu=0.0), "nu must be positive, got 0.0"), (g.LinearClassifier(C=0), "C must be positive, got 0"),
    (g.KernelSVC(tol=0), "tol must be positive, got 0"), (g.KernelSVC(C=np.nan), "C must be finite, got nan"),
    (g.KernelSVC(C=np.float32("inf")), "C must be finite, got inf"),
    (g.KernelSVR(epsilon=np.nan), "epsilon must be finite, got nan"),
    (g.KernelSVC(class_weight={"red": np.nan}), "class_weight must be finite, got nan")], ids=str)
def test_numbers_that_the_library_cannot_be_told(counts, estimator, named):
    x, y = counts
    with pytest.raises(ValueError, match=named):
        estimator.fit(x, np.arange(len(y)) if isinstance(estimator, g.KernelSVR) else y)
    if named.startswith("C must be positive"):
        with pytest.raises(ValueError, match=named):
            g.TextClassifier(C=0).fit(["a", "b"], ["a", "b"])


def test_files_of_each_kind(counts, tmp_path):
    x, y = counts
    made = {"classifier of vectors": g.KernelSVC().fit(x, y), "one-class model of vectors": g.OneClass().fit(x),
            "regression of vectors": g.KernelSVR().fit(x, np.arange(300)), "index": g.Index(["a b"]),
            "classifier of texts": g.TextClassifier(min_df=1, choose_work=-1).fit(["a b", "c d"], ["x", "y"])}
    for name, own in made.items():
        own.save(tmp_path / name)
    classes = (g.KernelSVC, g.LinearClassifier, g.KernelSVR, g.OneClass, g.TextClassifier, g.Index)
    for name, own in made.items():
        for cls in classes:
            if cls is type(own) or (name, cls) == ("classifier of vectors", g.LinearClassifier):
                assert isinstance(cls.load(tmp_path / name), cls)
            else:
                match = "contains a model, not an index" if cls is g.Index else f"got '{name}'"
                with pytest.raises(ValueError, match=match):
                    cls.load(tmp_path / name)
        if name != "index":
            assert type(g.load(tmp_path / name)) is type(own)
    with pytest.raises(ValueError, match="'index'"):
        g.load(tmp_path / "index")
    for name in ("regression of vectors", "classifier of vectors"):
        assert (g.load(tmp_path / name).predict(x) == made[name].predict(x)).all()
    one = made["one-class model of vectors"]
    assert np.array_equal(g.load(tmp_path / "one-class model of vectors").score_samples(x), one.score_samples(x))


def test_explanations_of_a_row(counts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y)
    want = made.explain(x[:1]).rows
    assert want and made.explain(x.toarray()[0]).rows == made.explain(sp.csr_array(x)[0]).rows == want
    with pytest.raises(ValueError, match="5 features, but KernelSVC is expecting 400"):
        made.explain(x[:1, :5])


def test_order_within_rows_does_not_matter(counts):
    x, y = counts
    mixed = x.copy()
    rng = np.random.default_rng(0)
    for a, b in zip(x.indptr[:-1], x.indptr[1:]):
        order = rng.permutation(b - a)
        mixed.indices[a:b], mixed.data[a:b] = x.indices[a:b][order], x.data[a:b][order]
    mixed.has_sorted_indices = mixed.has_canonical_format = False
    before = mixed.indices.copy()
    made = make_pipeline(TfidfTransformer(), g.KernelSVC("linear"))
    want = made.fit(x, y).decision_function(x)
    assert np.array_equal(made.fit(mixed, y).decision_function(x), want)
    assert np.array_equal(made.decision_function(mixed), want) and np.array_equal(mixed.indices, before)
    theirs = make_pipeline(TfidfTransformer(), sklearn.svm.SVC(kernel="linear")).fit(x, y)
    assert (made.predict(x) == theirs.predict(x)).mean() > 0.995


def test_one_default_scheme(counts, texts):
    x, y = counts
    assert g.KernelSVC().scheme == g.KernelSVC().fit(x, y).about_["scheme"] == "one-vs-one"
    assert g.search(x, y, {"C": [1]}, kernel="diffusion", folds=2).best_estimator_.scheme == "one-vs-one"
    assert g.TextClassifier(choose_work=-1).fit(*texts).about_["scheme"] == "one-vs-one"


def test_precomputed_matrices_are_split_by_row_and_column(counts):
    x, y = counts
    k = g.gram(x, kernel="diffusion:t=0.5")
    found = cross_val_score(g.KernelSVC("precomputed"), k, y, cv=3)
    assert np.allclose(found, cross_val_score(g.KernelSVC("diffusion:t=0.5"), x, y, cv=3), atol=0.011)


@pytest.mark.parametrize("classes", [[0.0, 1.0], [False, True], ["a", "b"]])
def test_keys_of_class_weights_are_classes(counts, classes):
    x, y = counts
    y = np.where(y == "red", *classes)
    keys = [0, 1] if classes[1] == 1 else np.array(classes).tolist()
    made = g.KernelSVC("diffusion:t=0.5", class_weight={keys[0]: 3.0}).fit(x, y)
    weights = np.where(y == classes[0], 3.0, 1.0)
    assert np.array_equal(made.decision_function(x),
                          g.KernelSVC("diffusion:t=0.5").fit(x, y, weights).decision_function(x))
    found = g.search(x, y, {"C": [1]}, kernel="diffusion:t=0.5", class_weight={keys[0]: 3.0}, folds=2)
    assert list(found.best_params_["class_weight"].values()) == [3.0]
    clone(found.best_estimator_).fit(x, y)


def test_figures_that_were_not_computed_are_none(counts):
    x, y = counts
    found = g.cross_validate(x, y, kernel="diffusion:t=0.5", folds=2)
    of_numbers = {"mean_squared_error", "r2", "squared_correlation", "regression"}
    of_classes = {"accuracy", "micro_f1", "macro_f1"}
    others = {"hamming_loss", "log_loss", "ece"}
    assert found["score"]["accuracy"] > 0.8
    assert {k for k, v in found["score"].items() if v is None} - {"confusion", "classes"} == of_numbers | others
    found = g.cross_validate(x, y, kernel="diffusion:t=0.5", folds=2, probability=True)
    assert found["score"]["log_loss"] > found["score"]["ece"] > 0
    found = g.cross_validate(x, np.arange(300.0), type="epsilon_svr", kernel="diffusion:t=0.5", folds=2)
    assert {k for k, v in found["score"].items() if v is None} - {"confusion", "classes"} == of_classes | others


def test_groups_are_in_one_fold(counts):
    x, y = sp.vstack([counts[0][:60]] * 5), np.tile(np.random.default_rng(1).integers(0, 2, 60), 5)
    how = dict(kernel="linear", C=100.0)
    assert g.cross_validate(x, y, **how)["mean"] == 1
    assert g.cross_validate(x, y, groups=np.tile(np.arange(60), 5).astype(str), **how)["mean"] < 0.8
    found = g.search(x, y, {"C": [100]}, kernel="linear", groups=np.tile(np.arange(60), 5), refit=False)
    assert found.best_score_ < 0.8
    with pytest.raises(ValueError, match="groups must have length 300, got 60"):
        g.cross_validate(x, y, groups=np.arange(60), **how)


@pytest.mark.parametrize("made", [
    g.KernelSVC("linear"), g.LinearClassifier(), g.LinearClassifier(loss="logistic"), g.LandmarkClassifier(landmarks=20),
    g.KernelSVR(), g.OneClass()], ids=str)
def test_a_loaded_model_knows_its_columns(counts, made, tmp_path):
    x = sp.csr_matrix(counts[0][:, :9])
    x.resize(300, 12)  # the last columns are empty
    made.fit(x, np.arange(300) % 2).save(tmp_path / "a.model")
    again = g.load(tmp_path / "a.model")
    assert again.n_features_in_ == 12 and again.predict(x).shape == (300,)
    for other in (x[:, :9], counts[0]):
        with pytest.raises(ValueError, match="is expecting 12 features"):
            again.predict(other)


def test_two_classes_one_against_the_rest_have_twice_the_margin(counts):
    x, y = counts
    x, y = x[y != "red"], y[y != "red"]
    rest, one = (g.KernelSVC("diffusion", scheme=scheme, tol=1e-6).fit(x, y).decision_function(x)
                 for scheme in ("one-vs-rest", "one-vs-one"))
    assert not np.abs(rest - 2 * one).max() > 1e-4


def test_default_kernel_of_weights_of_terms():
    path = ROOT.parent / "shared" / "data" / "20news-bydate" / "train.tsv.gz"
    if not path.exists():
        pytest.skip(f"20 Newsgroups isn't at {path}")
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        y, texts = zip(*(line.split("\t", 1) for line in lines))
    at = np.arange(2000) * len(y) // 2000  # of all classes, which follow each other
    make, y = TfidfVectorizer(min_df=2), np.array(y)
    train, test = make.fit_transform([texts[i] for i in at]), make.transform([texts[i + 1] for i in at])
    assert len(set(y[at])) == 20
    with pytest.warns(UserWarning, match="term weights such as tf-idf"):
        own = g.KernelSVC().fit(train, y[at]).score(test, y[at + 1])
    linear = g.KernelSVC("linear").fit(train, y[at]).score(test, y[at + 1])
    print(f"KernelSVC(): {own:.4f}, linear {linear:.4f}")
    assert own >= linear - 0.02
