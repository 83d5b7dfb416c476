"""What someone new to the package comes upon: copies, orders of classes, names of parameters, messages."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import gramengine as g

PLAIN = {"choose_work": -1, "min_df": 1}


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_corpus_is_not_copied(counts, copied):
    corpus = g.Corpus(counts[0])
    with pytest.raises(TypeError, match="a Corpus can't be pickled"):
        copied(corpus)
    with pytest.raises(TypeError, match="an object of the library"):
        copied(corpus._object)


def test_joblib_is_refused_a_corpus(counts):
    from joblib import Parallel, delayed

    with pytest.raises(Exception) as found:
        Parallel(n_jobs=2)(delayed(len)(c) for c in [g.Corpus(counts[0][:5]), g.Corpus(counts[0][:7])])
    assert "a Corpus can't be pickled" in str(found.value) + str(found.value.__cause__)


@pytest.mark.parametrize("estimator", [
    g.LinearClassifier(embedding="tf"), g.LinearClassifier(loss="logistic", embedding="tf"), g.KernelSVC("linear"),
    g.KernelSVC("linear", scheme="one-vs-one")], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_in_the_order_of_classes(counts, estimator, classes):
    x, y = counts
    rows = np.flatnonzero(y != "red") if classes == 2 else np.arange(len(y))
    for last in np.unique(y[rows]):  # whichever class comes first
        order = rows[np.argsort(y[rows] == last, kind="stable")]
        made = clone(estimator).fit(x[order], y[order])
        f, values = made.decision_function(x), x @ made.coef_.T + made.intercept_
        one = getattr(estimator, "scheme", None) == "one-vs-one"
        assert values.shape[1] == (1 if one and classes == 2 else classes)
        if one and classes == 3:
            first, second = np.triu_indices(3, 1)
            votes = np.stack([(values > 0)[:, first == c].sum(1) + (values < 0)[:, second == c].sum(1) for c in range(3)])
            f, values = np.sort(f, axis=1)[:, -1], f[np.arange(300), votes.argmax(0)]
            assert (f - values < 1).all()  # the class of most votes, or one of as many
        else:
            values = values[:, 0] if one else values[:, 1] - values[:, 0] if classes == 2 else values
            assert not np.abs(values - f).max() > 1e-3


def test_weights_of_terms(texts):
    x, y = texts
    made = g.TextClassifier(type="linear", **PLAIN).fit(x, y)
    assert made.coef_.shape == (3, len(made.get_feature_names_out()))
    best = made.get_feature_names_out()[made.coef_.argmax(axis=1)]
    assert best[0] in "bread soup salt cook taste oven butter".split() and made.intercept_.shape == (3,)


@pytest.mark.parametrize("name", ["support_", "coef_", "dual_coef_", "offsets_", "intercept_"])
def test_unfitted_attributes(name):
    with pytest.raises(NotFittedError):
        getattr(g.KernelSVC(), name)


def test_complex_values_are_refused(counts):
    x, _ = counts
    for of in (x.astype(complex), x.toarray().astype(np.complex64)):
        with pytest.raises(ValueError, match="Complex data not supported, got complex"):
            g.gram(of)


def test_what_does_not_suit_one_class_per_document(counts, texts):
    x, y = counts
    for learn in (lambda: g.KernelSVC(scheme="labels").fit(x, y), lambda: g.TextClassifier(scheme="labels").fit(*texts),
                  lambda: g.search(x, y, {"C": [1]}, scheme="labels"), lambda: g.search(x, y, {"scheme": ["labels"]})):
        with pytest.raises(ValueError, match="'one-vs-rest' or 'one-vs-one'"):
            learn()
    for learner in ("one_class", "epsilon_svr", "nu_svr"):
        with pytest.raises(ValueError, match="type must be a classifier.*OneClass"):
            g.TextClassifier(type=learner).fit(*texts)


def test_search_of_a_regression(counts, texts):
    x, y = counts[0], np.asarray(counts[0].sum(axis=1)).ravel()
    found = g.search(x, y, {"C": [1, 10], "epsilon": [0.1, 1]}, type="epsilon_svr", kernel="arccos", folds=3)
    best = found.best_estimator_
    assert isinstance(best, g.KernelSVR) and found.best_params_["C"] == best.C
    assert np.array_equal(clone(best).fit(x, y).predict(x), best.predict(x))
    shown = [found.cv_results_["mean_test_score"][i] for i in found._order()]
    assert shown == sorted(shown) and f"<tr><td>{shown[0]:.4f} ±" in found._repr_html_().split("</tr>")[1]
    one = g.cross_validate(x, y, folds=3, type="epsilon_svr", **found.best_params_)
    assert one["mean"] == pytest.approx(found.best_score_, rel=1e-4)  # the solver starts elsewhere
    with pytest.raises(ValueError, match="requires texts, a table or a matrix, got a Corpus"):
        g.search(g.Corpus(texts[0]), range(240), type="epsilon_svr")


def test_refusals_are_wrong_whatever_the_type_of_classes(texts):
    x, y = texts
    numbers = np.unique(y, return_inverse=True)[1]
    made = g.TextClassifier(reject="coverage=50%", **PLAIN)
    score = made.fit(x, numbers).score(x, numbers)
    assert score == np.mean([a == b for a, b in zip(made.predict(x), numbers)]) < 1
    assert made.score(x, numbers.tolist(), np.ones(len(x))) == score
    assert not np.isnan(cross_val_score(made, x, numbers, cv=2, error_score="raise")).any()


@pytest.mark.parametrize("kernel", [f"linear:embed={e}" for e in (
    "tf", "tf-l2", "tf-l1", "tfidf", "tfidf-l2", "standard", "tf-sqrt", "tf-l1-sqrt", "tf-l1-pow0.75", "logtf", "tf-l1-js",
    "logtfidf-l2")] + ["diffusion", "chi2", "js", "arcsine", "arccos", "rbf", "diffusion:embed=tf", "hellinger", "ngd-log"])
def test_the_tag_of_negative_values_is_what_the_engine_takes(kernel):
    x = np.array([[1, -2, 3], [2, 1, -1], [-1, 1, 2], [1, 2, 2]], np.float32)
    try:
        g.gram(x, kernel=kernel)
        taken = True
    except ValueError:
        taken = False
    assert get_tags(g.KernelSVC(kernel)).input_tags.positive_only == (not taken)
    if taken:
        g.KernelSVC(kernel).fit(x, ["a", "b", "a", "b"]).predict(x)


@pytest.mark.parametrize("fixed, grid, cls", [
    ({"class_weight": "balanced", "kernel": "diffusion"}, {"C": [1, 10]}, g.KernelSVC),
    ({"class_weight": {0: 2.0}, "kernel": "diffusion", "tol": 1e-5}, {"C": [1, 10], "t": [0.5, 1]}, g.KernelSVC),
    ({"kernel": "arccos", "probability": True}, {"nu": [0.1, 0.2]}, g.KernelSVC),
    ({"kernel": "linear"}, {"embedding": ["tf-l2", "tfidf-l2"]}, g.KernelSVC),
    ({"type": "linear:loss=hinge"}, {"C": [1, 10]}, g.LinearClassifier),
    ({"type": "logistic", "embedding": "tf-l2"}, {"C": [1, 10]}, g.LinearClassifier),
    ({"type": "landmark:m=50", "kernel": "diffusion:t=0.5"}, {"C": [1, 10]}, g.LandmarkClassifier)], ids=str)
def test_the_best_of_a_search_is_trained_again_by_its_parameters(counts, fixed, grid, cls):
    x, y = counts[0], np.unique(counts[1], return_inverse=True)[1]
    found = g.search(x, y, grid, folds=3, **fixed)
    best = found.best_estimator_
    assert type(best) is cls
    again = clone(best).fit(x, y)
    assert np.array_equal(again.decision_function(x), best.decision_function(x))
    assert set(found.best_params_) <= set(best.get_params())
    clone(best).set_params(**found.best_params_)
    if cls is g.KernelSVC:
        assert g.cross_validate(x, y, folds=3, **found.best_params_)["mean"] == found.best_score_


def test_the_best_of_a_search_of_texts(texts):
    x, y = texts
    best = g.search(x, y, {"C": [1, 10]}, kernel="diffusion", class_weight="balanced", folds=3).best_estimator_
    assert best.class_weight == "balanced"
    assert np.array_equal(clone(best).fit(x, y).decision_function(x), best.decision_function(x))


def test_a_loaded_model_has_its_parameters(counts, texts, tmp_path):
    x, y = counts
    for made in (g.KernelSVC("diffusion:t=0.5", 3, scheme="one-vs-one"), g.LinearClassifier(2, loss="logistic", embedding="tf-l2"),
                 g.LandmarkClassifier("diffusion", 30, loss="logistic")):
        made.fit(x, y).save(tmp_path / "a.model")
        again = g.load(tmp_path / "a.model")
        assert type(again) is type(made) and again.C == made.C and again.predict(x[:3]).shape == (3,)
        if not isinstance(made, g.LandmarkClassifier):
            assert np.array_equal(clone(again).fit(x, y).decision_function(x), made.decision_function(x))
    assert g.KernelSVC.load(tmp_path / "a.model", C=7).C == 7
    made = g.TextClassifier("diffusion:t=0.5", 3, terms="words:1..2", choose_work=-1).fit(*texts)
    made.save(tmp_path / "a.model")
    again = clone(g.load(tmp_path / "a.model")).fit(*texts)
    assert np.array_equal(again.decision_function(texts[0]), made.decision_function(texts[0]))


def test_random_states(counts):
    x, y = counts
    for state in (np.random.RandomState(1), np.random.default_rng(1), None, np.int64(3)):
        g.search(x, y, {"C": [1]}, random_state=state)
        g.cross_validate(x, y, random_state=state)
        g.LinearClassifier(random_state=state).fit(x, y)
    made = g.KernelPCA(kernel="arccos", random_state=np.random.RandomState(1)).fit(x)
    assert np.array_equal(pickle.loads(pickle.dumps(made)).transform(x), made.transform(x))


def test_nulls_name_their_row():
    pa, pl, pd = (pytest.importorskip(n) for n in ("pyarrow", "polars", "pandas"))
    parts = [["a", "b", "c"], ["d", None]]
    for column in (pa.chunked_array(parts), pa.chunked_array(parts).dictionary_encode(),
                   pl.concat([pl.Series(p) for p in parts], rechunk=False), pd.Series(sum(parts, []), dtype="str")):
        with pytest.raises(ValueError, match="row 4 of the texts is null"):
            g.Corpus(column)
    for missing in (None, float("nan"), pd.NA):
        for take in (g.Corpus, lambda x: g.TextClassifier().fit(x, ["x", "y"])):
            with pytest.raises(ValueError, match="document 0 must be a str, got"):
                take([missing, "a text"])


def test_tables_of_one_column(texts):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    x, y = texts
    want = g.TextClassifier(**PLAIN).fit(x, y).decision_function(x)
    coded = pa.array(x).dictionary_encode()
    for column in (pa.table({"text": x}), pl.DataFrame({"text": x}), pa.table({"text": pa.chunked_array([x[:9], x[9:]])}),
                   pa.record_batch({"text": x}), coded, pa.chunked_array([coded[:9], coded[9:]]), pl.Series(x, dtype=pl.Categorical),
                   pa.array(["other", *x]).dictionary_encode()[1:]):
        assert np.array_equal(g.TextClassifier(**PLAIN).fit(column, y).decision_function(column), want), type(column)
    with pytest.raises(ValueError, match="2 columns"):
        g.TextVectorizer().fit(pa.table({"text": x, "other": x}))


def test_index_by_all_processors():
    index = g.Index(["a cat", "a dog"], n_jobs=-1)
    assert repr(index) == "Index(2 documents)" and index.query(["cat"], k=1)[0][0].document == 0
    assert repr(g.Corpus(["a cat", "a dog"], min_df=1)) == "Corpus(2 documents, 3 terms)"


def test_explanations_of_one_document(counts, texts):
    x, y = counts
    made = g.KernelSVC("diffusion:t=0.5").fit(x, y)
    with pytest.raises(ValueError, match="one document, got 2"):
        made.explain(x[:2])
    frame = pytest.importorskip("pandas").DataFrame(x.toarray(), columns=[f"word{i}" for i in range(400)])
    rows = g.KernelSVC("diffusion:t=0.5").fit(frame, y).explain(frame[:1]).rows
    assert rows and all(r["term"].startswith("word") for r in rows)
    made = g.TextClassifier(terms="words:1..2 + chars:2..3", choose_work=-1).fit(*texts)
    with pytest.raises(ValueError, match="one document, got 240"):
        made.explain(texts[0])
    assert {"goal", "oal"} <= set(made.get_feature_names_out()) and all(t.isprintable() for t in made.get_feature_names_out())


def test_warnings_name_the_users_line(counts):
    for call in (lambda: g.Corpus(["one text", "another"]), lambda: g.gram(["one text", "another"]),
                 lambda: g.TextClassifier(choose_work=-1).fit(["one text", "text two", "another"], [1, 2, 1]), lambda: g.KernelSVC("sigmoid").fit(*counts)):
        with pytest.warns(g.GramWarning) as found:
            call()
        assert {w.filename for w in found} == {__file__}


def test_missing_files():
    for read in (g.load, g.KernelSVC.load, g.Index.load, g.Corpus.read):
        with pytest.raises(FileNotFoundError) as found:
            read("/no/such/file")
        assert isinstance(found.value, g.GramFileError) and found.value.errno == 2 and found.value.filename == "/no/such/file"
    with pytest.raises(FileNotFoundError, match="/no/such"):
        g.Index(["a"]).save("/no/such/a.index")


@pytest.mark.parametrize("call, match", [
    (lambda: g.Corpus(["a", "a"], min_df=0), "min_df must be positive, got 0"),
    (lambda: g.Corpus(["a", "a"], max_df=0), "max_df must be positive, got 0"),
    (lambda: g.gram(["a", "a"], n_jobs=0), "n_jobs must be positive"),
    (lambda: g.Index(["a"], n_jobs=0), "n_jobs must be positive"),
    (lambda: g.duplicates([]), "no documents"), (lambda: g.gram([]), "no documents"), (lambda: g.neighbours([]), "no documents"),
    (lambda: g.Corpus({"a": "a text"}), "column 'a' must be a list of values, got str"),
    (lambda: g.Index({"a": "a text"}), "documents must be a list, got a dict")])
def test_arguments_that_mean_nothing(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_docstrings_name_shared_parameters():
    for function in (g.gram, g.neighbours, g.duplicates, g.search, g.Index, g.KernelSVC, g.LinearClassifier, g.TextClassifier,
                     g.KernelPCA, g.NeighboursTransformer, g.LandmarkClassifier, g.KernelSVR, g.OneClass):
        names = inspect.signature(function).parameters
        assert all(name in function.__doc__ for name in ("n_jobs", "memory_bytes") if name in names), function


def test_words_of_a_single_text():
    """As the docstrings of gram, Corpus, neighbours and duplicates say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert g.Corpus(["a b", "a c"]).vocabulary == ["a"] and g.Corpus(["a b", "a c"], min_df=1).vocabulary == ["a", "b", "c"]
        assert g.gram(["a b", "a c"], kernel="bhattacharyya")[0, 1] == 1
    assert 0 < g.neighbours(["a b", "a c"], k=1).values[0, 0] < 1 and g.duplicates(["a b", "a c"]) == []
    kept = g.gram(g.Corpus(["a b", "a c"], min_df=1), kernel="bhattacharyya")
    assert kept[0, 1] == g.neighbours(["a b", "a c"], k=1).values[0, 0]
    for function in (g.gram, g.neighbours, g.duplicates, g.Corpus):
        assert "single text" in function.__doc__, function
