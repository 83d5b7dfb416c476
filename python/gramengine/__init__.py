"""Fast kernels of information geometry on sparse documents.

    >>> from gramengine import TextClassifier
    >>> model = TextClassifier().fit(texts, classes)           # doctest: +SKIP
    >>> model.predict(["client hello"])                        # doctest: +SKIP

Functions: :func:`gram`, :func:`neighbours`, :func:`precomputed_knn`, :func:`duplicates`, :func:`search`,
:func:`cross_validate`, :func:`load`. Estimators: :class:`TextClassifier`, :class:`TextRegressor`, :class:`KernelSVC`,
:class:`KernelSVR`, :class:`OneClass`, :class:`LinearClassifier`, :class:`LandmarkClassifier`, :class:`KernelPCA`,
:class:`NeighboursTransformer`, :class:`TextVectorizer`. Others: :class:`Index`, :class:`Corpus`.

Results don't depend on the number of threads. On the same instruction set they are equal bit for bit. Calls release
the GIL. Ctrl-C interrupts them within a second.
"""

from ._documents import Corpus
from ._index import Index, Match
from ._kernels import Neighbours, duplicates, gram, neighbours, precomputed_knn
from ._library import (
    ForkError, GramError, GramFileError, GramFileNotFoundError, GramMemoryError, GramWarning,
)
from ._library import version as __version__
from ._machines import KernelSVC, KernelSVR, LandmarkClassifier, LinearClassifier, OneClass
from ._model import Explanation
from ._search import SearchResult, cross_validate, search
from ._text import TextClassifier, TextRegressor, TextVectorizer
from ._text import load_model as load
from ._transform import KernelPCA, NeighboursTransformer

__all__ = [
    "Corpus", "Explanation", "ForkError", "GramError", "GramFileError", "GramFileNotFoundError", "GramMemoryError",
    "GramWarning", "Index", "KernelPCA", "KernelSVC", "KernelSVR", "LandmarkClassifier", "LinearClassifier", "Match",
    "Neighbours", "NeighboursTransformer", "OneClass", "SearchResult", "TextClassifier", "TextRegressor",
    "TextVectorizer", "__version__",
    "cross_validate", "duplicates", "gram", "load", "neighbours", "precomputed_knn", "search",
]
