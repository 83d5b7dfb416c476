"""Gram matrices, neighbours and duplicates: equal to the command to the bit, and to SciPy."""

import subprocess

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import gramengine as g


def hellinger(x):
    """Cosines of the square roots of rows, in float64."""
    x = np.asarray(x.todense() if sp.issparse(x) else x, np.float64)
    root = np.sqrt(x / x.sum(axis=1, keepdims=True))
    return root @ root.T


def test_gram_is_the_commands_to_the_bit(counts, gram, tmp_path):
    x, y = counts
    dump_svmlight_file(x, np.unique(y, return_inverse=True)[1], str(tmp_path / "x.svm"), zero_based=False)
    for spec in ("diffusion:t=0.5", "arccos:n=1", "linear:embed=tfidf-l2"):
        subprocess.run([gram, "matrix", "-q", "-in", tmp_path / "x.svm", "-kernel", spec, "-o", tmp_path / "k.npy"], check=True)
        assert np.array_equal(g.gram(x, kernel=spec), np.load(tmp_path / "k.npy"))


def test_gram_of_every_form(counts):
    x, _ = counts
    k = g.gram(x, kernel="bhattacharyya")
    assert not np.abs(k - hellinger(x)).max() > 1e-6
    for form in (x.astype(np.float64), x.tocsc(), x.toarray(), x.toarray().astype(np.float64), x.tocoo(), sp.csr_array(x),
                 x.toarray().astype(int), np.asfortranarray(x.toarray())):
        assert np.array_equal(g.gram(form, kernel="bhattacharyya"), k)
    wide = x.copy()
    wide.indices, wide.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    assert np.array_equal(g.gram(wide, kernel="bhattacharyya"), k)
    unsorted = sp.csr_matrix((x.data.copy(), x.indices.copy(), x.indptr.copy()), x.shape)
    for i in range(x.shape[0]):
        row = slice(*unsorted.indptr[i:i + 2])
        unsorted.indices[row], unsorted.data[row] = unsorted.indices[row][::-1], unsorted.data[row][::-1]
    unsorted.has_sorted_indices = False
    assert np.array_equal(g.gram(unsorted, kernel="bhattacharyya"), k)


def test_gram_of_two_sets_and_out(counts):
    x, _ = counts
    k, out = g.gram(x), np.empty((300, 300), np.float32)
    assert g.gram(x, out=out) is out and np.array_equal(out, k)
    assert np.array_equal(g.gram(x[:10], x), g.gram(x, x)[:10])
    with pytest.raises(ValueError, match="shape"):
        g.gram(x, out=np.empty((3, 3), np.float32))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_do_not_depend_on_workers(counts, n_jobs):
    x, _ = counts
    assert np.array_equal(g.gram(x, n_jobs=n_jobs), g.gram(x))


def test_neighbours(counts):
    x, _ = counts
    found, c = g.neighbours(x, k=5), hellinger(x)
    np.fill_diagonal(c, -1)
    assert not np.abs(np.sort(c, axis=1)[:, :-6:-1] - found.values).max() > 1e-6
    assert not np.abs(np.take_along_axis(c, found.indices, 1) - found.values).max() > 1e-6
    assert not np.abs(found.distances - np.sqrt(2 - 2 * found.values)).max() > 1e-6
    few = g.neighbours(x[:3], k=5)
    assert (few.indices[:, 2:] == -1).all() and np.isinf(few.distances[:, 2:]).all()
    indices, distances, search = g.precomputed_knn(x, 6)
    assert search is None and (indices[:, 0] == np.arange(300)).all() and (distances[:, 0] == 0).all()
    assert np.array_equal(indices[:, 1:], found.indices)
    assert not np.abs(distances[:, 1:] - np.sqrt(np.maximum(0, 1 - found.values))).max() > 1e-6


def test_duplicates(counts):
    x, _ = counts
    groups = g.duplicates(sp.vstack([x, 2 * x[4:6], x[4]]))
    assert [list(group) for group in groups] == [[4, 300, 302], [5, 301]]
    assert g.duplicates(x) == []


def test_bad_input():
    ok = sp.csr_matrix(np.eye(3, dtype=np.float32))
    for bad in (np.nan, np.inf, -np.inf):
        x = ok.copy()
        x.data[1] = bad
        with pytest.raises(ValueError, match="row 1, column 1"):
            g.gram(x)
    with pytest.raises(ValueError, match="nonnegative"):
        g.gram(-ok)
    with pytest.raises(ValueError, match="kernel"):
        g.gram(ok, kernel="nonsense")
    with pytest.raises(ValueError, match=r"2 dimensions \(documents × columns\), got 1\. Reshape"):
        g.gram(np.ones(3))
    with pytest.raises(ValueError, match="got a single text"):
        g.gram("a text")
    with pytest.raises(ValueError, match="got 0"):
        g.neighbours(ok, k=0)
    broken = sp.csr_matrix((3, 3), dtype=np.float32)
    broken.indptr = np.array([0, 2, 1, 0], np.int32)
    broken.has_canonical_format = True
    with pytest.raises(ValueError):
        g.gram(broken)
    with pytest.raises(g.GramMemoryError):
        g.gram(ok, memory_bytes=10)
    with pytest.raises(MemoryError):
        g.gram(sp.csr_matrix((10**6, 10), dtype=np.float32), memory_bytes=10**9)


@pytest.mark.parametrize("form, name, change", [
    ("csr", "indptr", lambda a: np.where(a == a[1], 10**8, a)), ("csr", "indptr", lambda a: a[:10]),
    ("csr", "indptr", lambda a: a[::-1]), ("csr", "indices", lambda a: a - 10**8), ("csr", "data", lambda a: a[:10]),
    ("csr", "indices", lambda a: a[:10]), ("csc", "indices", lambda a: a + 10**8), ("csc", "indptr", lambda a: a[:10]),
    ("bsr", "indices", lambda a: a + 10**8), ("coo", "row", lambda a: a + 10**8), ("coo", "col", lambda a: a - 10**8),
])
def test_broken_matrices(counts, form, name, change):
    """What SciPy's compiled functions, and the library, would read beyond is an error."""
    for canonical in (False, True):
        broken = counts[0].asformat(form, copy=True)
        setattr(broken, name, change(getattr(broken, name)))
        broken.has_canonical_format = canonical
        with pytest.raises(ValueError, match=f"invalid sparse matrix in {form} format: "):
            g.gram(broken)


def test_flags_of_matrices_are_found_again(counts):
    x = counts[0]
    turned = x.copy()
    for i, j in zip(x.indptr[:-1], x.indptr[1:]):
        turned.indices[i:j], turned.data[i:j] = x.indices[i:j][::-1], x.data[i:j][::-1]
    turned.has_canonical_format = True
    turned.indices, turned.data = np.append(turned.indices, 1), np.append(turned.data, np.float32(5))  # not pruned
    stored = turned.nnz, len(turned.data)
    assert np.array_equal(g.gram(turned), g.gram(x)) and stored == (turned.nnz, len(turned.data))
    with pytest.raises(ValueError, match="2 dimensions .*, got 1$"):
        g.gram(sp.coo_array(np.ones(5)))


def test_numbers_beyond_64_bits():
    x, index = np.eye(3), g.Index(["red green", "green blue"])
    model = g.TextClassifier("linear", C=1, min_df=1).fit(["red", "blue", "red", "blue"], [0, 1, 0, 1])
    for call in (lambda n: g.neighbours(x, k=n), lambda n: index.query(["red"], k=n), lambda n: g.gram(x, n_jobs=n),
                 lambda n: model.explain(["red"], n), lambda n: index.remove([n])):
        with pytest.raises(ValueError, match="number|64 bits|integer"):
            call(2**70)


def test_empty_sets():
    x = sp.csr_matrix((0, 4), dtype=np.float32)
    assert g.gram(x).shape == (0, 0)
    assert g.neighbours(x, k=2).indices.shape == (0, 2)


def test_corpus_is_read_by_the_command_too(gram, tmp_path):
    (tmp_path / "a.tsv").write_text("x\tone two three\ny\ttwo three four\n", encoding="utf-8")
    c = g.Corpus.read(tmp_path / "a.tsv", min_df=1)
    assert len(c) == 2 and list(c.labels) == ["x", "y"] and c.vocabulary == ["four", "one", "three", "two"]
    assert c.matrix.toarray().sum() == 6
    with pytest.raises((ValueError, OSError), match="missing"):
        g.Corpus.read(tmp_path / "missing.tsv")
    said = subprocess.run([gram, "corpus", "-in", tmp_path / "a.tsv", "-min-df", "1"], check=True, capture_output=True, text=True)
    assert "2 documents" in said.stdout + said.stderr


def test_frames_are_their_values(counts):
    x, y = counts
    x = x.toarray()[:, :30]
    frame = pytest.importorskip("pandas").DataFrame(x, columns=[f"column {i}" for i in range(30)])
    assert np.array_equal(g.gram(frame, kernel="arccos"), g.gram(x, kernel="arccos"))
    assert np.array_equal(g.neighbours(frame, frame, k=2).indices, g.neighbours(x, x, k=2).indices)
    assert np.array_equal(g.precomputed_knn(frame, 3)[0], g.precomputed_knn(x, 3)[0])
    assert [d.tolist() for d in g.duplicates(frame)] == [d.tolist() for d in g.duplicates(x)]
    assert np.array_equal(g.Corpus(frame).matrix.toarray(), x)
    how = {"kernel": "arccos", "folds": 2}
    assert g.cross_validate(frame, y, **how)["fold_scores"] == g.cross_validate(x, y, **how)["fold_scores"]
    found, want = (g.search(form, y, {"C": [1]}, **how).best_estimator_ for form in (frame, x))
    assert np.array_equal(found.decision_function(frame), want.decision_function(x))
    assert found.explain(frame[:1]).rows == want.explain(x[:1], feature_names=frame.columns).rows != []


def test_out_must_be_writable():
    out = np.zeros((2, 2), np.float32)
    out.setflags(write=False)
    with pytest.raises(ValueError, match=r"array of shape \(2, 2\), got float32 of shape \(2, 2\), read-only$"):
        g.gram(np.eye(2), kernel="linear", out=out)
    assert not out.any()


def test_out_must_be_an_array():
    for out in ([], sp.eye(2, dtype=np.float32)):
        with pytest.raises(ValueError, match=r"out must be a float32 array of shape \(2, 2\), got"):
            g.gram(np.eye(2), out=out)


def test_knn_among_other_documents(counts):
    x, _ = counts
    indices, distances, _ = g.precomputed_knn(x[:20], 4, of=x)
    found = g.neighbours(x[:20], x, k=4)
    assert np.array_equal(indices, found.indices)
    assert np.array_equal(distances, found.distances / np.float32(np.sqrt(2)))


def test_progress_by_a_number(counts, capfd):
    x, _ = counts
    for one in (1, np.True_):
        g.gram(x, progress=one)
        assert capfd.readouterr().err
    g.gram(x, progress=0)
    assert not capfd.readouterr().err
