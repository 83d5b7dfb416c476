"""Texts: classifiers, vectorizer, index, Arrow columns."""

import pickle
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import gramengine as g


def test_classifier(texts, gram, tmp_path):
    x, y = texts
    made = g.TextClassifier().fit(x[:160], y[:160])
    assert made.score(x[160:], y[160:]) > 0.9
    assert "kernel" in made.report() and set(made.get_feature_names_out()) >= {"goal", "bread"}
    made.save(tmp_path / "a.model")
    (tmp_path / "x.txt").write_text("\n".join(x), encoding="utf-8")
    said = subprocess.run([gram, "predict", "-q", "-format", "lines", "-in", tmp_path / "x.txt", "-model",
                           tmp_path / "a.model", "-o", "-"], check=True, capture_output=True, text=True)
    assert [line.split()[0] for line in said.stdout.splitlines()] == made.predict(x).tolist()
    assert isinstance(g.load(tmp_path / "a.model"), g.TextClassifier)
    assert np.array_equal(pickle.loads(pickle.dumps(made)).decision_function(x), made.decision_function(x))


def test_the_commands_choice(texts, gram, tmp_path):
    x, y = texts
    (tmp_path / "x.tsv").write_text("".join(f"{c}\t{t}\n" for t, c in zip(x, y)), encoding="utf-8")
    subprocess.run([gram, "train", "-q", "-in", tmp_path / "x.tsv", "-o", tmp_path / "a.model"], check=True)
    other, own = g.load(tmp_path / "a.model"), g.TextClassifier().fit(x, y)
    for key in ("type", "kernel", "c", "scheme", "tokenizer", "support"):
        assert own.about_[key] == other.about_[key]
    assert np.array_equal(own.decision_function(x), other.decision_function(x))


def test_settings(texts):
    x, y = texts
    views = g.TextClassifier("diffusion:t=0.5", 10, terms="words:1..2 + chars:2..4", choose_work=-1).fit(x, y)
    assert views.score(x, y) > 0.9
    linear = g.TextClassifier(type="linear", min_df=1, choose_work=-1).fit(x, y)
    assert linear.score(x, y) > 0.9 and len(linear.explain(terms=3).rows) == 18
    sure = g.TextClassifier(reject="coverage=50%").fit(x, y)
    assert "?" in sure.predict(x)
    assert not np.isnan(linear.known(["goal unseen"])).any() and np.isnan(linear.known([""])).all()


def test_min_df_holds_for_any_terms(texts):
    x, y = [f"{t} {'q' * (i // 4 + 1)}" for i, t in enumerate(texts[0])], texts[1]
    for how in ({}, {"terms": "words:1..2"}, {"choose_work": -1}, {"terms": "words:1..2", "choose_work": -1, "type": "linear"}):
        few, many = (g.TextClassifier(min_df=n, **how).fit(x, y) for n in (1, 5))
        assert few.about_["vocabulary"] > many.about_["vocabulary"]
        counted = g.TextVectorizer(many.about_["tokenizer"], min_df=5).fit(x)
        assert list(many.get_feature_names_out()) == list(counted.get_feature_names_out())
    with pytest.raises(ValueError, match="min_df must be positive, got 0"):
        g.TextClassifier(min_df=0).fit(x, y)
    with pytest.raises(ValueError, match='option "terms"'):
        g.TextClassifier(min_df=2).fit(g.Corpus(x, y, min_df=1), y)


def test_warnings_are_about_the_terms_of_training():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for how in ({"terms": "words:1..2"}, {}):  # words of a single text count
            g.TextClassifier(min_df=1, choose_work=-1, **how).fit(["ab cd", "ef gh", "ij", "kl"], [0, 1, 0, 1])


def test_texts_without_a_known_term():
    for how in ({}, {"choose_work": -1}, {"min_df": 9}):
        with pytest.raises(ValueError, match="no terms to learn from; min_df 1"), pytest.warns(g.GramWarning):
            g.TextClassifier(**how).fit(["one text", "another"], ["a", "b"])


def test_lists_of_terms(tmp_path):
    x, y = [["A b", "c"], ["A b", "d"], ["e", "c"], ["e", "d"]] * 5, [0, 0, 1, 1] * 5
    best = g.search(x, y, {"C": [1, 10]}, kernel="diffusion", folds=2).best_estimator_
    made = g.TextClassifier("diffusion:t=0.5", 1, choose_work=-1).fit(x, y)
    made.save(tmp_path / "a.model")
    for m in (best, made, clone(best).fit(x, y), g.load(tmp_path / "a.model")):
        assert m.predict([["A b"], ["e", "e"]]).astype(int).tolist() == [0, 1]


def test_explanations(texts):
    x, y = texts
    found = g.TextClassifier("diffusion:t=0.5", 1, choose_work=-1).fit(x, y).explain("goal goal soup", 3)
    assert {r["term"] for r in found.rows} <= {"goal", "soup"} and "goal" in str(found)
    assert "<table>" in found._repr_html_() and "&lt;" in g.Explanation({"label": "<a>", "value": 1.0})._repr_html_()
    row = g.Explanation({"label": "a", "value": 1.0, "terms": [{"term": "<b>", "effect": 1.0}]})
    assert "<b>" not in row._repr_html_() and "&lt;b&gt;" in row._repr_html_()
    pytest.importorskip("matplotlib").use("Agg")
    assert found.plot().get_title() == found.title


def test_columns(texts):
    x, y = texts
    want = g.TextClassifier(choose_work=-1).fit(x, y).decision_function(x)
    made = []
    pa, pl, pd = (pytest.importorskip(n) for n in ("pyarrow", "polars", "pandas"))
    made += [pa.array(x), pa.array(x, pa.large_string()), pa.chunked_array([x[:50], x[50:]]), pa.array(["other", *x])[1:]]
    made += [pl.Series(x), pl.DataFrame({"t": x})["t"], pl.Series(["skipped", *x])[1:]]
    made += [pd.Series(x), pd.Series(x, dtype=object), pd.DataFrame({"t": x}), np.array(x), np.array(x, dtype=object)[:, None]]
    if hasattr(pa, "string_view"):
        made += [pa.array(x, pa.string_view())]
    for column in made:
        fitted = g.TextClassifier(choose_work=-1).fit(column, y)
        assert np.array_equal(fitted.decision_function(column), want), type(column)
    lengths = ["z" * n for n in range(10, 16)]  # texts of up to 12 bytes lie within a view
    for column in (pl.Series(lengths), *([pa.array(lengths, pa.string_view())] if hasattr(pa, "string_view") else [])):
        assert g.Corpus(column, min_df=1).vocabulary == lengths
    with pytest.raises(ValueError, match="null"):
        g.TextClassifier().fit(pa.array([*x[:-1], None]), y)


def test_scikit_learns_tools(texts):
    x, y = texts
    assert cross_val_score(g.TextClassifier("diffusion:t=0.5", 1, choose_work=-1), x, y, cv=3).mean() > 0.9
    pipe = make_pipeline(g.TextVectorizer("words:1..2", min_df=1), g.KernelSVC("diffusion:t=0.5"))
    assert pipe.fit(x, y).score(x, y) > 0.9


def test_vectorizer():
    v = g.TextVectorizer(min_df=1)
    counts = v.fit_transform(["b a b", "c", "a ß 漢字"])
    assert list(v.get_feature_names_out()) == sorted(v.vocabulary_) and counts.shape[0] == 3
    column = v.vocabulary_["b"]
    assert counts[0, column] == 2 and v.transform(["b b b x"])[0, column] == 3
    assert {"漢", "漢字"} <= set(v.vocabulary_)


def test_bad_texts():
    for bad, match in (([1, 2], "list of str"), (["a", None], "document 1 must be a str"),
                       ("a b", "a single text"), ([], "no texts")):
        with pytest.raises(ValueError, match=match):
            g.TextClassifier().fit(bad, ["x", "y"])
    with pytest.raises(ValueError, match="inconsistent"):
        g.TextClassifier().fit(["a", "b"], ["x"])


def test_few_texts_warn():
    with pytest.warns(g.GramWarning):
        g.Corpus(["one text", "another text", "nothing in common"])


def test_index(tmp_path):
    index = g.Index(["the cat sat", "the dog ran", "a cat and a dog"])
    assert [m.document for m in index.query(["cat sat"], k=2)[0]][0] == 0
    assert list(index.add(["cat sat cat"])) == [3] and len(index) == 4
    index.remove([0])
    assert [m.document for m in index.query(["cat sat"], k=1)[0]] == [3]
    with pytest.raises(ValueError, match="0"):
        index.remove([0])
    index.refit()
    index.save(tmp_path / "i")
    for other in (g.Index.load(tmp_path / "i"), pickle.loads(pickle.dumps(index))):
        assert other.query(["dog"], within=0.99) == index.query(["dog"], within=0.99)
    with pytest.raises(ValueError, match="unless within is set"):
        index.query(["x"])


def test_y_beside_a_corpus(texts, tmp_path):
    x, y = texts
    other = np.roll(y, 1)
    want = g.TextClassifier("diffusion:t=0.5", 1, choose_work=-1).fit(x, other).decision_function(x)
    for corpus in (g.Corpus(x), g.Corpus(x, other)):
        made = g.TextClassifier("diffusion:t=0.5", 1, choose_work=-1).fit(corpus, other)
        assert np.array_equal(made.decision_function(x), want)
        found = g.search(corpus, other, {"C": [1]}, kernel="diffusion", folds=2)
        assert found.best_estimator_.predict(x).shape == other.shape
        assert g.cross_validate(corpus, other, kernel="diffusion", folds=2)["mean"] == found.best_score_
    first = np.flatnonzero(y != other)[0]
    for learn in (g.TextClassifier(choose_work=-1).fit, g.search, g.cross_validate):
        with pytest.raises(ValueError, match=f"document {first} has class '{other[first]}' in y, but '{y[first]}'"):
            learn(g.Corpus(x, y), other)
    (tmp_path / "x.txt").write_text("\n".join(x), encoding="utf-8")
    with pytest.raises(ValueError, match="without labels"):
        g.TextClassifier().fit(g.Corpus.read(tmp_path / "x.txt", format="lines"), y)


def test_one_text_is_not_a_list_of_letters():
    index = g.Index(["a cat", "a dog"])
    for take in (g.Index, index.add, index.query, lambda x: g.Corpus(["a cat"], vocabulary=x)):
        for one in ("a cat", b"a cat"):
            with pytest.raises(ValueError, match="a single text"):
                take(one)
    with pytest.raises(ValueError, match="2 dimensions"):
        g.Index(pytest.importorskip("pandas").DataFrame({"text": ["a cat", "a dog"]}))
    for bad in ([0.5], [True, False], ["0"]):
        with pytest.raises(ValueError, match="integers"):
            index.remove(bad)
    index.remove([])
    assert len(index) == 2


def test_decisions_where_the_class_is_refused(texts):
    x, y = texts
    made = g.TextClassifier("diffusion:t=0.5", 1, scheme="one-vs-one", choose_work=-1, reject="coverage=50%").fit(x, y)
    f, predicted = made.decision_function(x), made.predict(x)
    sure = predicted != "?"
    assert 0 < sure.sum() < len(x) and f.shape == (len(x), 3)
    assert (made.classes_[f.argmax(axis=1)][sure] == predicted[sure]).all()
