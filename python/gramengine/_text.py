"""Estimators that take texts as they are."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _library
from ._documents import Corpus, documents, is_terms, is_text
from ._library import Object, options
from ._machines import (
    Classifier, KernelSVC, KernelSVR, LandmarkClassifier, LinearClassifier, OneClass, _seed, _shared,
)
from ._model import Engine, kind


def texts(X: Any) -> Any:
    """Texts, from a list, an array, a series, a column of Arrow, a frame or table with one column; or lists of terms."""
    if isinstance(X, Corpus) or is_terms(X):
        return X
    if len(getattr(X, "shape", ())) == 2 and not sp.issparse(X):
        if X.shape[1] != 1:
            raise ValueError(f"found {X.shape[1]} columns, expected one of texts: Reshape your data, or name the column")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X.column(0) if hasattr(X, "column") else X[:, 0]
    if sp.issparse(X) or not hasattr(X, "__len__") or (len(X) and not is_text(X)):
        raise ValueError("found documents that aren't texts, expected a list of str, or lists of terms; KernelSVC takes "
                         "matrices")
    if not len(X):
        raise ValueError("found no texts (0 documents), expected one or more")
    return X


_VIEW = re.compile(r"^[\x01-\x1f]")  # tells terms of several views apart


@_shared
class TextClassifier(Classifier):
    """Classifies raw texts. What isn't given is chosen by cross-validation on the training texts.

    Terms (words, pairs of words, characters within words, or both), kernel, C and scheme are chosen as by ``gram
    train``; ``about_["report"]`` says what was found.

    Parameters
    ----------
    kernel, embedding, scheme : str, optional
        As of :class:`KernelSVC`; default chosen.
    C : float, optional
        Price of a violated margin; default chosen.
    terms : str, optional
        What texts are cut into, such as ``"words:1..2 + chars:2..5"``; default chosen, or words where ``min_df`` is given.
    type : str, default "c_svc"
        The learner, such as ``"nu_svc"``, ``"linear"``, ``"logistic"`` or ``"landmark"``.
    min_df : int, optional
        Least number of texts that have a term; default 2, or chosen with ``terms``. 1 keeps terms of a single text.
    probability : bool
        Whether to train for :meth:`predict_proba`.
    reject : str, optional
        ``"error=2%"`` or ``"coverage=90%"``: the class is "?" below a probability that is learnt on folds. To
        :meth:`score` it is wrong.
    class_weight : dict, "balanced" or None
        Multiples of C by class.
    choose_work : float, default 1
        What the choice may cost, as a multiple of the training; below 0 nothing is chosen.
    random_state : int, RandomState, Generator or None
        Seed of folds and samples.
    {shared}

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
                 scheme: str | None = None, terms: str | None = None, type: str | None = None, min_df: int | None = None,
                 probability: bool = False, reject: str | None = None, class_weight: Any = None,
                 choose_work: float | None = None, random_state: Any = 1, n_jobs: int | None = None,
                 memory_bytes: int | None = None, verbose: Any = False):
        self.kernel, self.C, self.embedding, self.scheme, self.terms, self.type = kernel, C, embedding, scheme, terms, type
        self.min_df, self.probability, self.reject, self.class_weight = min_df, probability, reject, class_weight
        self.choose_work, self.random_state, self.n_jobs = choose_work, random_state, n_jobs
        self.memory_bytes, self.verbose = memory_bytes, verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TextClassifier":
        """Trains the model on texts and their classes.

        ``X`` is a list of str, a series, an array, a column of Arrow (read in place), lists of terms, or a
        :class:`Corpus`. Where that has labels, ``y`` must equal them. ``terms`` and ``min_df`` are of texts alone.
        """
        X, y = texts(X), column_or_1d(y, warn=True)
        if len(X) != len(y):
            raise ValueError(f"found {len(X)} texts and {len(y)} classes, expected the same number: inconsistent numbers of samples")
        check_classification_targets(y)
        if str(self.type).split(":")[0] in ("one_class", "epsilon_svr", "nu_svr"):
            raise ValueError(f"type is {self.type!r}, which is no classifier, expected such as 'c_svc', 'nu_svc', 'linear', "
                             "'logistic' or 'landmark'; OneClass and KernelSVR take matrices")
        terms = self.terms
        if self.min_df is not None:
            if self.min_df < 1:
                raise ValueError(f"min_df is {self.min_df}, expected at least 1")
            terms = f"{terms or ''}, min-df {self.min_df}"
        self._fit(X, y, sample_weight, terms=terms)
        return self

    def _wants_probabilities(self) -> bool:
        return self.probability

    def _settings(self) -> dict[str, Any]:
        return {"type": self.type, "kernel": self.kernel, "c": self.C, "embedding": self.embedding, "scheme": self.scheme,
                "probabilities": self.probability or None, "reject": self.reject, "choose_work": self.choose_work,
                "seed": _seed(self.random_state)}

    def _checked(self, X: Any, reset: bool = False, **_: Any) -> Any:
        check_is_fitted(self)
        return texts(X)

    def report(self) -> str:
        """What was chosen and what training found, in lines."""
        a = self.about_
        chosen = [f"terms {a['tokenizer']}: {a['terms']:,} of them", f"{a['type']}, kernel {a['kernel'] or 'none'}, C {a['c']}"]
        return "\n".join([*chosen, *(a["report"] or []), *(a["notes"] or [])])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms that the model knows; one that several views have, such as words and characters, is there for each."""
        check_is_fitted(self)
        return np.array([_VIEW.sub("", t) for t in self._model.texts("vocabulary")], dtype=object)

    def known(self, X: Any) -> np.ndarray:
        """The share of each text's different words that the model knows; NaN of a text without words."""
        found = self._predict(self._checked(X))
        words = found.array("words").astype(float)
        return np.divide(found.array("known"), words, out=np.full(len(words), np.nan), where=words > 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags


def with_labels(X: Any, names: list[str], labels: np.ndarray, **cut: Any) -> Corpus:
    """A corpus of texts that keeps them, for training to cut otherwise."""
    x = documents(X, classes=names, labels=labels)
    return Corpus._of(Object("gram_corpus", x.pointer, *options(keep_texts=True, **cut)))


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Counts the terms of texts, cut as the engine cuts them: scripts without spaces included.

    Parameters
    ----------
    tokenizer : str, optional
        Such as ``"words:1..2"`` or ``"chars:2..5"``; default words of letters in lower case, and characters and pairs of
        them in scripts without spaces.
    min_df, max_df : int, optional
        Bounds on the number of documents that have a term; ``min_df`` is 2 by default.

    Attributes
    ----------
    vocabulary_ : dict
        Columns by term.
    """

    def __init__(self, tokenizer: str | None = None, *, min_df: int | None = None, max_df: int | None = None):
        self.tokenizer, self.min_df, self.max_df = tokenizer, min_df, max_df

    def fit(self, X: Any, y: Any = None) -> "TextVectorizer":
        """Learns the terms."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Learns the terms and counts them."""
        c = Corpus(texts(X), tokenizer=self.tokenizer, min_df=self.min_df, max_df=self.max_df)
        self._terms = c.vocabulary
        return c.matrix

    def transform(self, X: Any) -> sp.csr_matrix:
        """Counts the terms of texts: float32, documents × terms."""
        check_is_fitted(self)
        x = documents(texts(X))
        c = Corpus._of(Object("gram_corpus", x.pointer, *options(tokenizer=self.tokenizer, vocabulary=self._terms, min_df=1),
                              silent=True))  # other words are nothing unusual
        return c.matrix

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_terms")

    @property
    def vocabulary_(self) -> dict[str, int]:
        return {t: i for i, t in enumerate(self._terms)}

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms, by column."""
        check_is_fitted(self)
        return np.array(self._terms, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False, True
        return tags


def vector_classifier(learner: str) -> type:
    """The classifier of vectors that trains with a learner."""
    by_name = {"linear": LinearClassifier, "logistic": LinearClassifier, "landmark": LandmarkClassifier}
    return by_name.get(learner.split(":")[0], KernelSVC)


def load_model(path: str | os.PathLike[str]) -> Engine:
    """An estimator with the model of a file.

    Of texts that is a :class:`TextClassifier`, of vectors a :class:`KernelSVC`, :class:`LinearClassifier`,
    :class:`LandmarkClassifier`, :class:`KernelSVR` or :class:`OneClass`. Classes are str, sorted as such, and parameters
    those that the file has: see :meth:`TextClassifier.load`.
    """
    made = _library.load(path)
    about = made.about()
    found, by_kind = kind(about), {c._kind: c for c in (TextClassifier, KernelSVC, KernelSVR, OneClass)}
    if found not in by_kind:
        raise ValueError(f"found a file of kind {found!r}, expected {' or '.join(by_kind)}; Index.load reads indexes")
    self = (by_kind[found] if found != KernelSVC._kind else vector_classifier(about["type"]))()
    self._model = made
    self._adopt()
    return self
