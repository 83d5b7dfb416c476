"""scikit-learn's classes with the patch in force: the same results, the same attributes, and who computed them."""

import logging
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import NuSVC, NuSVR, OneClassSVM, SVC, SVR

import gramengine
from gramengine import _patch, patch_sklearn, unpatch_sklearn

KERNELS = ["linear", "rbf", "poly", "sigmoid"]
TOL = 1e-5


@pytest.fixture(autouse=True)
def restored():
    yield
    unpatch_sklearn()


@pytest.fixture(params=["matrix in float64", "own kernels"])
def way(request, monkeypatch):
    """Small problems are solved with a matrix in float64, others with the engine's kernels."""
    monkeypatch.setattr(_patch, "_SMALL", 10**6 if request.param == "matrix in float64" else 0)
    return request.param


def data(classes=3, n=150):
    X, y = make_classification(n, 8, n_informative=5, n_classes=classes, random_state=classes)
    X[np.abs(X) < 0.5] = 0
    return X, np.array(["c", "a", "b", "d"])[y]


def ran(caplog):
    found = [r.getMessage() for r in caplog.records if r.name == "gramengine"]
    caplog.clear()
    return found


def values(a):
    return a.toarray() if sp.issparse(a) else np.asarray(a)


def check_same(ours, theirs, X):
    """Two solutions to TOL of one problem: coefficients aren't unique to it, decision values are within it."""
    decide = (lambda m: m.decision_function(X)) if hasattr(theirs, "decision_function") else (lambda m: m.predict(X))
    scale = 1 + np.abs(decide(theirs)).max()
    np.testing.assert_allclose(decide(ours), decide(theirs), atol=1e-3 * scale, rtol=0)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3 * scale)
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_", "intercept_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert type(a) is type(b), name
        assert a.ndim == b.ndim and a.dtype == b.dtype, name
    assert ours.dual_coef_.shape == (theirs.dual_coef_.shape[0], len(ours.support_))
    assert ours.n_support_.sum() == len(ours.support_) and ours.shape_fit_ == theirs.shape_fit_
    assert ours.n_support_.shape == theirs.n_support_.shape and np.shape(ours.n_iter_) == np.shape(theirs.n_iter_)
    np.testing.assert_array_equal(values(ours.support_vectors_), values(X)[ours.support_])


def check_own_arithmetic(ours, X):
    """scikit-learn's predictions from the attributes are those of the engine."""
    given = ours.decision_function(X) if hasattr(ours, "decision_function") else ours.predict(X)
    again = pickle.loads(pickle.dumps(ours))
    again._engine, again._handed = None, "a test"
    alone = again.decision_function(X) if hasattr(again, "decision_function") else again.predict(X)
    np.testing.assert_allclose(given, alone, atol=1e-4 * (1 + np.abs(alone).max()), rtol=0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 4])
def test_classifier(kernel, sparse, classes, way, caplog):
    caplog.set_level(logging.INFO, "gramengine")
    X, y = data(classes)
    X = sp.csr_matrix(X) if sparse else X
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    how = {"kernel": kernel, "tol": TOL, "class_weight": {"a": 2.0}, "gamma": 0.002 if kernel == "sigmoid" else 0.05}
    ours, theirs = _patch.SVC(**how).fit(X, y, weights), SVC(**how).fit(X, y, weights)
    assert ran(caplog) == ["SVC.fit: running by gramengine"]
    check_same(ours, theirs, X)
    check_own_arithmetic(ours, X)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.98
    by = "gramengine" if way == "own kernels" else "scikit-learn: its kernel matrix is of float64"
    assert ran(caplog)[-1] == f"SVC.predict: running by {by}"
    assert (ours.classes_ == theirs.classes_).all() and (ours.class_weight_ == theirs.class_weight_).all()
    assert ours.fit_status_ == 0
    if kernel == "linear":
        np.testing.assert_allclose(values(ours.coef_), values(theirs.coef_), atol=2e-3)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ours, how", [
    (_patch.NuSVC, {"nu": 0.2}), (_patch.SVR, {"C": 2.0, "epsilon": 0.05}), (_patch.NuSVR, {"nu": 0.3}),
    (_patch.OneClassSVM, {"nu": 0.3}),
])
def test_other_machines(ours, how, sparse, way, caplog):
    caplog.set_level(logging.INFO, "gramengine")
    X, y = data(2)
    if issubclass(ours, (SVR, NuSVR)):
        y = X[:, 0] - X[:, 1] ** 2
    X = sp.csr_matrix(X) if sparse else X
    theirs = _patch._theirs(ours)(tol=TOL, **how).fit(X, y)
    own = ours(tol=TOL, **how).fit(X, y)
    assert ran(caplog) == [f"{ours.__name__}.fit: running by gramengine"]
    check_same(own, theirs, X)
    check_own_arithmetic(own, X)


def test_weights_of_zero(way):
    X, y = data(3)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    m = _patch.SVC(tol=TOL).fit(X, y, weights)
    assert (weights[m.support_] > 0).all()
    kept = SVC(tol=TOL, gamma=m._gamma).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(m.decision_function(X), kept.decision_function(X), atol=1e-3)
    weights = np.where(y == "a", 0.0, 1.0)
    assert (_patch.SVC().fit(X, y, weights).predict(X) == SVC().fit(X, y, weights).predict(X)).all()


def test_support_of_kernel_svc_with_weights_of_zero():
    X, y = data(2)
    weights = (np.arange(len(y)) % 2).astype(float)
    m = gramengine.KernelSVC("rbf:gamma=0.1").fit(X, y, weights)
    assert len(m.support_) and (weights[m.support_] > 0).all()
    with pytest.raises(ValueError, match="leave out its row and its column"):
        gramengine.KernelSVC("precomputed").fit(X @ X.T, y, weights)


@pytest.mark.parametrize("how, reason", [
    ({"max_iter": 10**6}, "max_iter counts"), ({"probability": True}, "probabilities are those"),
    ({"kernel": "rbf", "degree": 3}, None), ({"kernel": lambda a, b: a @ b.T}, None),
])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_who_computes(how, reason, caplog):
    caplog.set_level(logging.INFO, "gramengine")
    X, y = data(2)
    m = _patch.SVC(**how).fit(X, y)
    (said,) = ran(caplog)
    assert said.startswith("SVC.fit: running by " + (f"scikit-learn: {reason}" if reason else "gramengine"))
    np.testing.assert_allclose(m.decision_function(X), SVC(**how).fit(X, y).decision_function(X), atol=5e-3)


def test_values_that_float32_cannot_tell_apart(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "gramengine")
    monkeypatch.setattr(_patch, "_SMALL", 0)
    X, y = data(2)
    for kernel in ("rbf", "linear"):
        ran(caplog)
        m = _patch.SVC(kernel=kernel).fit(X + 1000, y)
        assert "too far from the origin" in ran(caplog)[0]
        assert (m.predict(X + 1000) == SVC(kernel=kernel).fit(X + 1000, y).predict(X + 1000)).all()


def test_infinite_C_and_changed_coefficients(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "gramengine")
    monkeypatch.setattr(_patch, "_SMALL", 0)
    X, y = [[-1.0, -1], [1, 1]], [0, 1]
    m, other = (c(kernel="linear", C=np.inf).fit(X, y) for c in (_patch.SVC, SVC))
    np.testing.assert_allclose(m.dual_coef_, [[-0.25, 0.25]], atol=1e-6)
    m._dual_coef_ = other._dual_coef_ = np.array([[0.0, 1.0]])
    ran(caplog)
    assert (m.predict([[-0.1, -0.1], [0.5, 0.5]]) == other.predict([[-0.1, -0.1], [0.5, 0.5]])).all()
    assert ran(caplog) == ["SVC.predict: running by scikit-learn: coefficients were changed"]


def test_patch_and_unpatch():
    theirs = sklearn.svm.SVC
    patch_sklearn("SVC")
    assert sklearn.svm.SVC is _patch.SVC and sklearn.svm.SVR is SVR
    patch_sklearn()
    from sklearn.neighbors import NearestNeighbors as ours

    assert ours is _patch.NearestNeighbors and ours is not NearestNeighbors
    m = clone(sklearn.svm.SVC(C=3)).fit(*data(2))
    unpatch_sklearn()
    assert sklearn.svm.SVC is theirs
    again = pickle.loads(pickle.dumps(m))
    assert again.C == 3 and (again.predict(data(2)[0]) == m.predict(data(2)[0])).all()
    with pytest.raises(ValueError, match="expected names of SVC"):
        patch_sklearn("Perceptron")


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("own", [True, False])
def test_neighbours(metric, own, caplog):
    caplog.set_level(logging.INFO, "gramengine")
    X = sp.random(300, 60, 0.2, format="lil", random_state=0)
    X[7] = X[3]
    X[40:70] = X[40]  # more copies than candidates: rows that scikit-learn searches anew
    X[100] = 0
    X = X.tocsr()
    Y = None if own else sp.random(50, 60, 0.2, format="csr", random_state=1)
    how = {"n_neighbors": 4, "metric": metric, "algorithm": "brute"}
    ours, theirs = (c(**how).fit(X) for c in (_patch.NearestNeighbors, NearestNeighbors))
    d, i = ours.kneighbors(Y)
    assert ran(caplog) == ["NearestNeighbors.kneighbors: running by gramengine"]
    want, at = theirs.kneighbors(Y)
    np.testing.assert_allclose(d, want, atol=1e-7)
    apart = np.abs(np.diff(want, axis=1)).min(axis=1) > 1e-6  # of ties any order is right
    assert apart.sum() > 20 and (i[apart, :-1] == at[apart, :-1]).all()
    assert not own or (i != np.arange(300)[:, None]).all()
    assert (ours.kneighbors(Y, return_distance=False) == i).all()
    ours.kneighbors(X.toarray()[:3])
    assert ran(caplog)[-1].endswith("by scikit-learn: the data are dense")


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_pca(kernel, caplog):
    caplog.set_level(logging.INFO, "gramengine")
    X = sp.random(80, 30, 0.3, format="csr", random_state=0)
    how = {"n_components": 3, "kernel": kernel, "gamma": 0.5, "eigen_solver": "dense"}
    ours, theirs = _patch.KernelPCA(**how), KernelPCA(**how)
    np.testing.assert_allclose(np.abs(ours.fit_transform(X)), np.abs(theirs.fit_transform(X)), atol=1e-4)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-4)
    assert ran(caplog) == ["KernelPCA.kernel matrix: running by gramengine"] * 2
    _patch.KernelPCA(2, kernel="cosine").fit(X)
    assert ran(caplog)[-1].endswith("the kernel is cosine")
