"""Tables: frames of pandas and polars, tables of pyarrow, lists of dicts, and dicts of columns."""

import datetime
import pickle
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import gramengine as g

WORDS = {"bill": "invoice pay money card", "bug": "crash error screen login", "other": "hello thanks question time"}
KINDS = {"subject": "text", "product": "category", "priority": "number", "paid": "category"}


@pytest.fixture(scope="module")
def frame():
    """300 rows with a text, a category, a number and a logical column, some of them missing."""
    rng = np.random.default_rng(0)
    y = np.array(list(WORDS))[rng.integers(0, 3, 300)]
    own = np.array([{"bill": "A1", "bug": "B2", "other": "C3"}[c] for c in y])
    df = pd.DataFrame({"subject": [" ".join(rng.choice((WORDS[c] + " the a of and").split(), 5)) for c in y],
                       "product": np.where(rng.random(300) < 0.7, own, "D4"),
                       "priority": rng.integers(0, 5, 300) + (y == "bug") + 0.5, "paid": rng.random(300) < 0.5})
    df.loc[3, "priority"], df.loc[4, "product"], df.loc[5, "subject"] = np.nan, None, None
    return df


@pytest.fixture(scope="module")
def classes(frame):
    codes = frame["product"].map({"A1": "bill", "B2": "bug", "C3": "other"})
    return codes.fillna("other").to_numpy(dtype=str)


@pytest.fixture(scope="module")
def model(frame, classes):
    return plain().fit(frame, classes)


def plain(**how):
    return g.TextClassifier(choose_work=-1, **how)


FORMS = {
    "reversed": lambda df: df[df.columns[::-1]], "polars": pl.from_pandas, "arrow": pa.Table.from_pandas,
    "dicts": lambda df: df.to_dict("records"), "columns": lambda df: {c: df[c].tolist() for c in df},
    "polars dicts": lambda df: pl.from_pandas(df).to_dicts(),
    "objects": lambda df: df.astype(object), "nullable": lambda df: df.convert_dtypes(),
    "categorical": lambda df: df.astype({"product": "category", "paid": "category"}),
    "polars categorical": lambda df: pl.from_pandas(df).with_columns(pl.col("product").cast(pl.Categorical)),
    "record batch": lambda df: pa.RecordBatch.from_pandas(df),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_a_table(frame, classes, model, form):
    x = form(frame)
    assert np.array_equal(model.decision_function(x), model.decision_function(frame))
    if list(getattr(x, "columns", KINDS))[0] != "paid":
        made = plain().fit(x, classes)
        assert made.columns_ == KINDS
        assert np.array_equal(made.decision_function(frame), model.decision_function(frame))


def test_the_command_trains_the_same_model(frame, classes, gram, tmp_path):
    table = frame.assign(paid=frame["paid"].map({True: "true", False: "false"}), label=classes)
    table.to_csv(tmp_path / "a.csv", index=False)
    subprocess.run([gram, "train", "-q", "-kernel", "diffusion:t=0.5", "-c", "2", "-in", tmp_path / "a.csv", "-o",
                    tmp_path / "a.model"], check=True)
    own, other = plain(kernel="diffusion:t=0.5", C=2).fit(frame, classes), g.load(tmp_path / "a.model")
    assert isinstance(other, g.TextClassifier) and other.columns_ == KINDS
    assert list(other.feature_names_in_) == ["subject", "product", "paid", "priority"]
    assert np.array_equal(own.decision_function(frame), other.decision_function(frame))
    own.save(tmp_path / "b.model")
    said = subprocess.run([gram, "predict", "-q", "-in", tmp_path / "a.csv", "-model", tmp_path / "b.model", "-o", "-"],
                          check=True, capture_output=True, text=True)
    assert [line.split()[0] for line in said.stdout.splitlines()] == own.predict(frame).tolist()


def test_attributes(frame, classes, model):
    assert model.columns_ == KINDS and list(model.feature_names_in_) == list(KINDS) and model.n_features_in_ == 4
    names = model.get_feature_names_out()
    assert {"invoice", "product=A1", "paid=true", "priority[0]"} <= set(names)
    again = pickle.loads(pickle.dumps(model))
    assert again.columns_ == KINDS and np.array_equal(again.predict(frame), model.predict(frame))
    assert clone(plain(columns={"paid": "ignore"})).columns == {"paid": "ignore"}
    of_texts = clone(model).fit(frame["subject"].fillna(""), classes)
    refitted = pickle.loads(pickle.dumps(model)).fit(frame["subject"].fillna(""), classes)
    for made in (of_texts, refitted):
        assert not hasattr(made, "columns_") and not hasattr(made, "feature_names_in_")


@pytest.mark.parametrize("columns", [
    {"priority": "category", "paid": "ignore"}, "priority=category, paid = ignore"], ids=str)
def test_kinds_that_are_given(frame, classes, columns):
    made = plain(columns=columns).fit(frame, classes)
    assert made.columns_ == {**KINDS, "priority": "category", "paid": "ignore"}
    assert "priority=0.5" in made.get_feature_names_out()
    assert np.array_equal(made.predict(frame.assign(paid=None)), made.predict(frame))
    assert np.array_equal(made.predict(frame.assign(priority=frame["priority"].astype(str))), made.predict(frame))


def test_kinds_by_dtype(classes):
    codes = np.arange(300) % 7
    df = pd.DataFrame({"zip": pd.Categorical(codes + 12345678), "flag": codes > 3, "n": codes.astype(np.int8)})
    made = plain().fit(df, classes)
    assert made.columns_ == {"zip": "category", "flag": "category", "n": "number"}
    assert "zip=12345678" in made.get_feature_names_out()
    for other in (df.astype({"zip": int}), df.astype({"zip": str}), df.astype({"zip": float, "flag": "boolean"})):
        assert np.array_equal(made.decision_function(other), made.decision_function(df))
    assert plain(columns="flag=number").fit(df, classes).columns_["flag"] == "number"


def test_missing_values_are_not_zeros(frame, model):
    row = {"subject": "hello", "product": "B2", "priority": 5.5, "paid": True}
    for name in ("priority", "product", "paid"):
        values = [model.decision_function([row, {**row, name: m}])[1].tolist() for m in (None, float("nan"))]
        assert values[0] == values[1] != model.decision_function([row])[0].tolist()
    assert model.predict([row, {"subject": None}]).shape == (2,)
    empty = {"subject": "", "product": None, "priority": None, "paid": None}
    assert np.array_equal(*(model.decision_function([{**empty, "subject": s}]) for s in ("", None)))


@pytest.mark.parametrize("change, message", [
    (lambda df: df.drop(columns="paid"), "column 'paid' is missing; the table has subject, product, priority"),
    (lambda df: df.assign(size=1), "column 'size' wasn't in training; the model has subject, product, priority, paid"),
    (lambda df: df.rename(columns={"paid": "payed"}), "column 'paid' is missing"),
    (lambda df: [*df.to_dict("records"), {"colour": "red"}], "column 'colour' wasn't in training"),
    (lambda df: df["subject"], "documents must be a frame.* with the columns subject, product, priority, paid"),
    (lambda df: df.assign(priority="high"), '"high" in the column priority, expected a finite number'),
    (lambda df: df.assign(priority=np.inf), "priority, expected a finite number"),
    (lambda df: df[:0], "no rows"), (lambda df: pd.concat([df, df["paid"]], axis=1), "several columns 'paid'"),
    (lambda df: df.assign(priority=datetime.date.today()),
     "column 'priority': row 0 must be a str, a number or a bool, got date"),
    (lambda df: {"subject": "hello"}, "column 'subject' must be a list of values, got str"),
    (lambda df: {**df.to_dict("list"), "paid": [True]}, "columns must have the same length, got"),
    (lambda df: df.rename(columns={"paid": 3}), "column names must be str, got 3 of type int")])
def test_what_is_refused(frame, model, change, message):
    with pytest.raises(ValueError, match=message):
        model.predict(change(frame))


@pytest.mark.parametrize("columns, message", [
    ({"colour": "text"}, "columns: unknown column 'colour'; the table has subject"),
    ("paid=logical", "unknown kind 'logical' for 'paid'"),
    ("paid", "columns: 'paid' has no column name"), ({"paid": "label"}, "unknown kind 'label'")])
def test_kinds_that_are_refused(frame, classes, columns, message):
    with pytest.raises(ValueError, match=message):
        plain(columns=columns).fit(frame, classes)
    with pytest.raises(ValueError, match="columns must be None for documents that aren't a table"):
        plain(columns=columns).fit(frame["subject"].fillna(""), classes)


def test_decimal_commas_are_numbers(frame, classes):
    point = frame.assign(price=1000 + np.arange(300) / 4)
    comma = point.assign(price=[f"{p:,.2f}".translate(str.maketrans(",.", ".,")) for p in point["price"]])
    made = plain().fit(comma, classes)
    assert made.columns_["price"] == "number"
    want = plain().fit(point, classes).decision_function(point)
    assert np.array_equal(made.decision_function(comma), want)
    assert np.array_equal(made.decision_function(point), want)
    assert np.array_equal(made.decision_function(comma[:1]), want[:1])
    with pytest.raises(ValueError, match='"1,234" in the column price, expected a finite number'):
        made.predict(comma[:1].assign(price="1,234"))


VECTORS = {"array": lambda v: v, "lists": lambda v: v.tolist(), "float64": lambda v: v.astype(float),
           "objects": lambda v: pd.Series(list(v)), "polars": lambda v: pl.Series(v.tolist()),
           "polars arrays": lambda v: pl.Series(v.tolist(), dtype=pl.Array(pl.Float32, 5)),
           "arrow": lambda v: pa.array(v.tolist(), pa.list_(pa.float32()))}


@pytest.mark.parametrize("form", VECTORS.values(), ids=VECTORS)
def test_vectors(frame, classes, form):
    rng = np.random.default_rng(1)
    v = (rng.normal(size=(300, 5)) + 3 * np.eye(3, 5)[[list(WORDS).index(c) for c in classes]]).astype(np.float32)
    table = {"product": frame["product"].tolist(), "embedding": form(v)}
    made = plain(kernel="bhattacharyya").fit(table, classes)
    assert made.columns_ == {"product": "category", "embedding": "vector"}
    assert made.score(table, classes) > 0.9
    rows = [{"product": p, "embedding": row} for p, row in zip(table["product"], list(v))]
    assert np.array_equal(made.decision_function(rows), made.decision_function(table))
    one = {r["column"]: r for r in made.explain(rows[0]).rows}
    assert set(one) == set(table) and one["embedding"]["value"] == ""
    with pytest.raises(ValueError, match="4 numbers in the column embedding, expected 5"):
        made.predict([{"product": "A1", "embedding": [1, 2, 3, 4]}])
    assert made.predict([{"product": "A1", "embedding": None}]).shape == (1,)
    unit, product = v[9:] / np.linalg.norm(v[9:], axis=1)[:, None], frame["product"][9:].to_numpy(str)
    K = g.gram(pd.DataFrame({"product": product, "embedding": list(v[9:])}), kernel="bhattacharyya")
    assert np.allclose(K, ((product[:, None] == product) + unit @ unit.T) / 2, atol=1e-6)


def test_explanations_have_a_line_per_column(frame, model):
    one = model.explain(frame.iloc[7])
    assert {r["column"] for r in one.rows} == set(KINDS)
    by_name = {r["column"]: r for r in one.rows}
    assert by_name["product"]["value"] == frame["product"][7]
    assert by_name["priority"]["value"] == f"{frame['priority'][7]:g}"
    assert any(t["term"].startswith("product: ") for t in one.terms)
    for row in (frame[7:8], frame.to_dict("records")[7], pl.from_pandas(frame)[7], {c: [frame[c][7]] for c in frame}):
        assert model.explain(row).rows == one.rows
    assert "product" in str(one) and "<td>product</td>" in one._repr_html_()
    assert "product: A1" in str(model.explain())
    with pytest.raises(ValueError, match="one document, got 2"):
        model.explain(frame[:2])
    with pytest.raises(ValueError, match="column 'paid' is missing"):
        model.explain(frame.drop(columns="paid").iloc[0])


def test_scikit_learns_tools_on_frames(frame, classes):
    y = classes
    forms = frame, pl.from_pandas(frame), frame.to_dict("records")
    scores = [cross_val_score(plain(), x, y, cv=3).tolist() for x in forms]
    assert scores[0] == scores[1] == scores[2] and min(scores[0]) > 0.9
    pipeline = make_pipeline(FunctionTransformer(lambda df: df.assign(long=df["subject"].str.len())), plain())
    grid = {"textclassifier__C": [0.1, 1], "textclassifier__columns": [None, "paid=ignore"]}
    found = GridSearchCV(pipeline, grid, cv=3)
    best = found.fit(frame, y).best_estimator_[-1]
    assert list(best.feature_names_in_) == [*KINDS, "long"] and found.predict(frame).shape == (300,)
    words = ColumnTransformer([("words", g.TextVectorizer(), "subject")]).fit_transform(frame.fillna(""))
    assert words.shape[0] == 300 and words.shape[1] > 10


def test_sample_weights(frame, classes):
    keep = np.arange(300) % 2 == 0
    made = plain(kernel="linear").fit(frame, classes, keep.astype(float))
    assert made.n_support_vectors_ < plain(kernel="linear").fit(frame, classes).n_support_vectors_
    with pytest.raises(ValueError, match="one class"):
        plain().fit(frame, classes, (classes == "bug").astype(float))


def test_search(frame, classes):
    found = g.search(frame, classes, {"C": [1, 10]}, kernel="diffusion", columns={"paid": "ignore"}, folds=3)
    best = found.best_estimator_
    assert isinstance(best, g.TextClassifier) and best.columns_ == {**KINDS, "paid": "ignore"}
    assert np.array_equal(clone(best).fit(frame, classes).decision_function(frame), best.decision_function(frame))
    one = g.cross_validate(frame, classes, folds=3, columns={"paid": "ignore"}, **found.best_params_)
    assert one["mean"] == found.best_score_


def test_regression(frame, tmp_path):
    y = frame["priority"].fillna(2) + (frame["product"] == "A1")
    made = g.TextRegressor(choose_work=-1, C=10).fit(frame, y)
    assert made.columns_ == KINDS and made.score(frame, y) > 0.9
    assert str(made.explain(frame.iloc[7])).startswith(f"estimate {made.predict(frame[7:8])[0]:.4g}\n")
    made.save(tmp_path / "a.model")
    again = g.load(tmp_path / "a.model")
    assert isinstance(again, g.TextRegressor)
    assert np.array_equal(again.predict(frame[list(again.columns_)]), made.predict(frame))
    assert cross_val_score(g.TextRegressor(choose_work=-1, C=10), frame, y, cv=3).min() > 0.8
    best = g.search(frame, y, {"C": [1, 10]}, type="epsilon_svr", kernel="linear", folds=3).best_estimator_
    assert isinstance(best, g.TextRegressor)
    assert np.array_equal(clone(best).fit(frame, y).predict(frame), best.predict(frame))
    with pytest.raises(ValueError, match="got a Corpus"):
        g.TextRegressor().fit(g.Corpus(frame), y)


def test_regression_of_texts():
    texts = [" ".join(["up"] * (i % 7) + ["down"] * (i % 5)) for i in range(200)]
    y = np.array([i % 7 - i % 5 for i in range(200)], float)
    made = g.TextRegressor("linear:embed=tf", C=10, epsilon=0.1, choose_work=-1, min_df=1).fit(texts, y)
    assert not np.abs(made.predict(texts) - y).max() > 0.2
    with pytest.raises(ValueError, match="inconsistent"):
        made.fit(texts, y[1:])


def test_other_functions_take_tables(frame):
    c = g.Corpus(frame, columns="paid=ignore")
    assert {t["name"]: t["kind"] for t in c.about["table"]} == {k: v for k, v in KINDS.items() if k != "paid"}
    assert np.array_equal(g.gram(frame), g.gram(frame.to_dict("records")))
    assert g.neighbours(frame, k=2).indices.shape == (300, 2)
    assert [d.tolist() for d in g.duplicates(pd.concat([frame[8:12], frame[9:10]]))] == [[1, 4]]


def test_a_table_with_one_column_of_text(frame, classes):
    x = frame[["subject"]].fillna("")
    made = plain().fit(x, classes)
    assert made.columns_ == {"subject": "text"} and not made.about_["table"]
    want = plain().fit(x["subject"], classes).decision_function(x["subject"])
    for documents in (x, x["subject"], x.to_dict("records"), frame[["subject"]]):
        assert np.array_equal(made.decision_function(documents), want)
    with pytest.raises(ValueError, match="column 'subject' is missing"):
        made.predict(x.rename(columns={"subject": "text"}))
    with_others = x.assign(id=range(300), notes="none")  # missing values
    made = plain().fit(with_others, classes)
    assert made.columns_ == {"subject": "text", "id": "id", "notes": "ignore"}
    assert np.array_equal(made.decision_function(with_others), want)


def test_columns_without_values(frame, classes):
    nulls = pl.lit(None).alias("empty"), pl.lit(None, dtype=pl.String).alias("blank")
    pl_frame = pl.from_pandas(frame).with_columns(*nulls)
    made = plain().fit(pl_frame, classes)
    assert made.columns_ == {**KINDS, "empty": "ignore", "blank": "ignore"}
    assert np.array_equal(made.predict(frame.assign(empty=None, blank=np.nan)), made.predict(pl_frame))
    dictionary = frame.assign(product=pd.Categorical([None] * 300, categories=["A1"]))
    assert made.predict(dictionary.assign(empty=None, blank=None)).shape == (300,)
