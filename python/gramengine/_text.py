"""Estimators of texts and tables."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _library
from ._documents import Corpus, classes_of, count, documents, is_terms, is_text
from ._library import Object, options
from ._machines import (
    Classifier, KernelSVC, KernelSVR, LandmarkClassifier, LinearClassifier, OneClass, _seed, _shared,
    _weights_of_documents,
)
from ._model import Engine, Explanation, kind
from ._table import Rows, is_table, parse_kinds


def texts(X: Any) -> Any:
    """Returns texts as one column, or lists of terms. Raises ValueError for other documents."""
    if isinstance(X, Corpus) or is_terms(X):
        return X
    if len(getattr(X, "shape", ())) == 2 and not sp.issparse(X):
        if X.shape[1] != 1:
            raise ValueError(f"texts must be in one column, got {X.shape[1]} columns. Reshape your data, or select "
                             "a column")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X.column(0) if hasattr(X, "column") else X[:, 0]
    if sp.issparse(X) or not hasattr(X, "__len__") or (len(X) and not is_text(X)):
        raise ValueError("documents must be a list of str, lists of terms or a table; KernelSVC supports matrices")
    if not len(X):
        raise ValueError("got no texts, but a minimum of 1 is required")
    return X


_VIEW = re.compile(r"^[\x01-\x1f]")  # prefix of terms if there are several views


class Reader:
    """Base class of estimators of texts and tables."""

    columns: Any
    columns_: dict[str, str]

    def _read(self, X: Any, **learnt: Any) -> Any:
        """Returns training documents. A table is converted to a corpus with classes or targets."""
        for name in ("columns_", "feature_names_in_", "n_features_in_"):
            self.__dict__.pop(name, None)
        if not is_table(X):
            if self.columns is not None:
                raise ValueError(f"columns must be None for documents that aren't a table, got {self.columns!r}")
            return X
        corpus, kinds = read_table(X, self.columns, **learnt)
        self._named(kinds)
        return corpus

    def _named(self, columns: dict[str, str]) -> None:
        self.columns_, self.feature_names_in_ = columns, np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)

    def _checked(self, X: Any, reset: bool = False, **_: Any) -> Any:
        check_is_fitted(self)
        columns = getattr(self, "columns_", None)
        if columns is None or not is_table(X):
            if self.about_["table"]:
                raise ValueError("documents must be a frame, a list of dicts or a dict of columns, with the columns "
                                 f"{', '.join(columns)}")
            return texts(X)
        rows = Rows(X, columns, columns)
        return rows if self.about_["table"] else rows.text()

    def _adopt(self, given: Any = ()) -> None:
        super()._adopt(given)
        if table := self.about_["table"]:
            self._named({column["name"]: column["kind"] for column in table})

    def explain(self, x: Any = None, terms: int = 10, feature_names: Any = None) -> Explanation:
        """Explains the prediction of one document, or lists the strongest terms of each class.

        Parameters
        ----------
        x : document, optional
            A text, or a row of a table: a dict, a pandas Series, or a table with one row. Without it, the result has
            the terms with the largest weights by class or, for kernels that aren't linear, the largest mean effects.
        terms : int
            Number of terms.
        feature_names : None
            Ignored.

        Returns
        -------
        Explanation
            For a row of a table, ``rows`` has the value and effect of each column.
        """
        if x is not None and hasattr(self, "columns_") and not isinstance(x, str):
            x = x.to_dict() if hasattr(x, "to_dict") and getattr(x, "ndim", 2) == 1 else x
            if isinstance(x, dict) and not all(isinstance(v, (list, tuple, np.ndarray)) for v in x.values()):
                x = [x]
            x = self._checked(x)
        return super().explain(x, terms)


@_shared
class TextClassifier(Reader, Classifier):
    """Classifies texts, or rows of a table with columns of text, numbers and categories.

    Parameters that aren't set are chosen by cross-validation on the training documents, as in ``gram train``: terms
    (words, pairs of words, characters within words, or words and characters), kernel, C and scheme. :meth:`report`
    describes the choice.

    Parameters
    ----------
    kernel, embedding, scheme : str, optional
        As in :class:`KernelSVC`; chosen by default.
    C : float, optional
        Regularization parameter; chosen by default.
    terms : str, optional
        Terms of texts, such as ``"words:1..2 + chars:2..5"``; chosen by default. If only
        ``min_df`` is set, terms are words.
    type : str, default "c_svc"
        The learner, such as ``"nu_svc"``, ``"linear"``, ``"logistic"`` or ``"landmark"``.
    min_df : int, optional
        Minimum document frequency of terms; default 2, or chosen with ``terms``.
    columns : dict or str, optional
        Kinds of columns of a table, such as ``{"zip": "category", "notes": "ignore"}`` or ``"zip=category,
        notes=ignore"``: text, number, category, vector, id or ignore. By default, bools and categorical dtypes are
        categories, and other kinds are inferred from the values, as in ``gram train``.
    probability : bool
        Enables :meth:`predict_proba`.
    reject : str, optional
        ``"error=2%"`` or ``"coverage=90%"``: predict "?" if the largest probability is below a threshold. The threshold
        is tuned by cross-validation. :meth:`score` counts "?" as wrong.
    class_weight : dict, "balanced" or None
        Factors of C by class.
    choose_work : float, default 1
        Time budget of the choice as a multiple of one training run. If it is negative, nothing is chosen.
    random_state : int, RandomState, Generator or None
        Seed for folds and samples.
    {shared}

    Attributes
    ----------
    columns_ : dict
        Kinds of the columns of the table in training.
    feature_names_in_ : array of str
        Names of these columns. Predictions require the same columns, in any order.

    Examples
    --------
    >>> from gramengine import TextClassifier
    >>> spam = TextClassifier(min_df=1, choose_work=-1).fit(["buy now", "buy pills now", "see you at lunch",
    ...                                                      "lunch at noon"], ["spam", "spam", "ham", "ham"])
    >>> spam.predict(["now buy", "lunch"])
    array(['spam', 'ham'], dtype='<U4')
    """

    _kind = "classifier of texts"

    def __init__(self, kernel: str | None = None, C: float | None = None, *, embedding: str | None = None,
                 scheme: str | None = None, terms: str | None = None, type: str | None = None,
                 min_df: int | None = None, columns: Any = None, probability: bool = False, reject: str | None = None,
                 class_weight: Any = None,
                 choose_work: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.C, self.embedding, self.scheme = kernel, C, embedding, scheme
        self.terms, self.type, self.columns = terms, type, columns
        self.min_df, self.probability, self.reject, self.class_weight = min_df, probability, reject, class_weight
        self.choose_work, self.random_state, self.n_jobs = choose_work, random_state, n_jobs
        self.memory_bytes, self.verbose = memory_bytes, verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TextClassifier":
        """Trains the model on texts or rows, and their classes.

        ``X`` is a list, series or array of str, an Arrow column (read in place), lists of terms, or a table: a frame of
        pandas or polars, a table of pyarrow, a list of dicts, or a dict of columns, in which None and NaN are missing
        values. It may also be a :class:`Corpus`; if that has labels, ``y`` must equal them.
        """
        X, y = _pair(X, column_or_1d(y, warn=True))
        _, names, labels = classes_of(y)
        X = self._read(X, classes=names, labels=labels)
        check_classification_targets(y)
        if str(self.type).split(":")[0] in ("one_class", "epsilon_svr", "nu_svr"):
            raise ValueError(f"type must be a classifier, such as 'c_svc', 'nu_svc', 'linear', 'logistic' or "
                             f"'landmark', got {self.type!r}; see TextRegressor and OneClass")
        self._fit(X, y, sample_weight, terms=_terms(self))
        return self

    def _wants_probabilities(self) -> bool:
        return self.probability

    def _settings(self) -> dict[str, Any]:
        return {"type": self.type, "kernel": self.kernel, "c": self.C, "embedding": self.embedding,
                "scheme": self.scheme, "probabilities": self.probability or None,
                "reject": self.reject, "choose_work": self.choose_work,
                "seed": _seed(self.random_state)}

    def report(self) -> str:
        """Returns the settings and the training report as text."""
        a = self.about_
        chosen = [f"{a['terms']:,} terms, tokenizer {a['tokenizer']}",
                  f"{a['type']}, kernel {a['kernel'] or 'none'}, C {a['c']}"]
        return "\n".join([*chosen, *(a["report"] or []), *(a["notes"] or [])])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Returns the terms of the model. A term of several views, such as words and characters, is repeated."""
        check_is_fitted(self)
        return np.array([self._term(_VIEW.sub("", t)) for t in self._model.texts("vocabulary")], dtype=object)

    def _term(self, term: str) -> str:
        """Returns the name of a term: column=value for categories, column[bin] for numbers."""
        column, of_column, value = term.partition("\0")
        kind = getattr(self, "columns_", {}).get(column)
        return term if not of_column else f"{column}[{value}]" if kind == "number" else f"{column}={value}"

    def known(self, X: Any) -> np.ndarray:
        """Returns the fraction of each text's distinct words that the model knows; NaN for a text without words."""
        found = self._predict(self._checked(X))
        words = found.array("words").astype(float)
        return np.divide(found.array("known"), words, out=np.full(len(words), np.nan), where=words > 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags


def _terms(self: Any) -> str | None:
    """Returns the option ``terms``, with ``min_df`` if it is set."""
    if self.min_df is None:
        return self.terms
    if self.min_df < 1:
        raise ValueError(f"min_df must be positive, got {self.min_df}")
    return f"{self.terms or ''}, min-df {self.min_df}"


def _pair(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
    """Returns X and y after checking that X is texts or a table of the same length as y."""
    X = X if is_table(X) else texts(X)
    if count(X) != len(y):
        raise ValueError(f"X and y have inconsistent numbers of samples: {count(X)} and {len(y)}")
    return X, y


def kept(X: Any, **learnt: Any) -> Corpus:
    """Returns a corpus that keeps its texts or rows, so that training can choose terms."""
    return Corpus._of(Object("gram_corpus", documents(X, **learnt).pointer, *options(keep_texts=True)))


def read_table(X: Any, columns: Any, **learnt: Any) -> tuple[Corpus, dict[str, str]]:
    """Returns a table as a corpus that keeps its rows, and the kinds of its columns."""
    rows = Rows(X, parse_kinds(columns))
    corpus = kept(rows, **learnt)
    found = {column["name"]: column for column in corpus.about["table"]}
    return corpus, {name: found[name]["kind"] if name in found else "ignore" for name in rows.names}


@_shared
class TextRegressor(Reader, RegressorMixin, Engine):
    """Predicts numbers from texts, or from rows of a table with columns of text, numbers and categories.

    Parameters that aren't set are chosen by cross-validation on the training documents.

    Parameters
    ----------
    kernel, embedding : str, optional
        As in :class:`KernelSVC`; chosen by default.
    C, epsilon : float, optional
        As in :class:`KernelSVR`; chosen by default.
    terms, min_df, columns, choose_work : optional
        As in :class:`TextClassifier`.
    random_state : int, RandomState, Generator or None
        Seed for folds and samples.
    {shared}

    Attributes
    ----------
    columns_, feature_names_in_
        As in :class:`TextClassifier`.
    """

    _kind = "regression of texts"

    def __init__(self, kernel: str | None = None, C: float | None = None, epsilon: float | None = None, *,
                 embedding: str | None = None, terms: str | None = None, min_df: int | None = None, columns: Any = None,
                 choose_work: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.C, self.epsilon, self.embedding = kernel, C, epsilon, embedding
        self.terms, self.min_df, self.columns, self.choose_work = terms, min_df, columns, choose_work
        self.random_state, self.n_jobs, self.memory_bytes, self.verbose = random_state, n_jobs, memory_bytes, verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TextRegressor":
        """Trains the model on texts, lists of terms or a table, and numbers y."""
        X, y = _pair(X, column_or_1d(y, dtype=np.float64, warn=True))
        if isinstance(X, Corpus):
            raise ValueError("X must be texts, lists of terms or a table, got a Corpus")
        X = self._read(X, targets=y)
        weights = _weights_of_documents(self, X, sample_weight)
        learnt = {} if isinstance(X, Corpus) else {"targets": y}
        self._train(documents(X, weights=weights, **learnt), type="epsilon_svr", kernel=self.kernel, c=self.C,
                    epsilon=self.epsilon, embedding=self.embedding, terms=_terms(self), choose_work=self.choose_work,
                    seed=_seed(self.random_state))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicts targets."""
        return self._predict(self._checked(X)).array("values")

    report, _term = TextClassifier.report, TextClassifier._term
    get_feature_names_out = TextClassifier.get_feature_names_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Counts the terms of texts with the engine's tokenizer, which supports scripts without spaces.

    Parameters
    ----------
    tokenizer : str, optional
        For example ``"words:1..2"`` or ``"chars:2..5"``; default lower-case words of letters, and characters and pairs
        of characters in scripts without spaces.
    min_df, max_df : int, optional
        Minimum and maximum document frequency of terms; ``min_df`` is 2 by default.

    Attributes
    ----------
    vocabulary_ : dict
        Column of each term.
    """

    def __init__(self, tokenizer: str | None = None, *, min_df: int | None = None, max_df: int | None = None):
        self.tokenizer, self.min_df, self.max_df = tokenizer, min_df, max_df

    def fit(self, X: Any, y: Any = None) -> "TextVectorizer":
        """Learns the terms."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learns the terms, and counts them."""
        c = Corpus(texts(X), tokenizer=self.tokenizer, min_df=self.min_df, max_df=self.max_df)
        self._terms = c.vocabulary
        return c.matrix

    def transform(self, X: Any) -> sp.csr_matrix:
        """Counts the terms of texts: documents × terms, float32."""
        check_is_fitted(self)
        x = documents(texts(X))
        how = options(tokenizer=self.tokenizer, vocabulary=self._terms, min_df=1)
        # Unknown words are expected, so there is no warning.
        return Corpus._of(Object("gram_corpus", x.pointer, *how, silent=True)).matrix

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_terms")

    @property
    def vocabulary_(self) -> dict[str, int]:
        return {t: i for i, t in enumerate(self._terms)}

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Returns the term of each column."""
        check_is_fitted(self)
        return np.array(self._terms, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags


def vector_classifier(learner: str) -> type:
    """Returns the classifier of matrices for a learner."""
    by_name = {"linear": LinearClassifier, "logistic": LinearClassifier, "landmark": LandmarkClassifier}
    return by_name.get(learner.split(":")[0], KernelSVC)


def load_model(path: str | os.PathLike[str]) -> Engine:
    """Loads a model file as an estimator.

    It returns a :class:`TextClassifier` or :class:`TextRegressor` for texts and tables. For vectors it returns a
    :class:`KernelSVC`, :class:`LinearClassifier`, :class:`LandmarkClassifier`, :class:`KernelSVR` or :class:`OneClass`.
    Classes and parameters are set as by :meth:`TextClassifier.load`.
    """
    made = _library.load(path)
    about = made.about()
    found, by_kind = kind(about), {c._kind: c for c in (TextClassifier, TextRegressor, KernelSVC, KernelSVR, OneClass)}
    if found not in by_kind:
        raise ValueError(f"load doesn't support files of kind {found!r}; use Index.load for an index")
    self = (by_kind[found] if found != KernelSVC._kind else vector_classifier(about["type"]))()
    self._model = made
    self._adopt()
    return self
