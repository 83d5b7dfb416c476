"""Runs each comparison on a few made-up documents, with the peers that are installed."""

from __future__ import annotations

import gzip
import os
import struct
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
GRAM = FOLDER.parents[1] / "bin" / "gram"
sys.path.insert(0, str(FOLDER))

import duplicates  # noqa: E402
import go_random  # noqa: E402
import large  # noqa: E402
import libsvm  # noqa: E402
import measure  # noqa: E402
import pca  # noqa: E402
import run  # noqa: E402
import text  # noqa: E402


def lines(documents: int) -> list[str]:
    words = ["apple pear plum", "engine wheel brake", "sun moon star"]
    return [f"class{i % 3}\t{words[i % 3]} w{i % 7} w{i % 11} w{i % 5} common" for i in range(documents)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder, files in {"trec": ("train", "test"), "20news-bydate": ("train", "test"), "webkb": ("all",)}.items():
        (tmp_path / folder).mkdir()
        for name in files:
            content = "".join(f"{line}\n" for line in lines(60 if name == "train" else 45))
            (tmp_path / folder / f"{name}.tsv.gz").write_bytes(gzip.compress(content.encode()))
    (tmp_path / "mnist").mkdir()
    pixels = bytes((i * j + j) % 251 for i in range(20) for j in range(784))
    digits = struct.pack(">4I", 0x803, 20, 28, 28) + pixels
    (tmp_path / "mnist/t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(digits))
    (tmp_path / "mnist/t10k-labels-idx1-ubyte.gz").write_bytes(
        gzip.compress(struct.pack(">2I", 0x801, 20) + bytes(i % 10 for i in range(20))))
    return tmp_path


def compare(capsys: pytest.CaptureFixture, data: Path, *args: str) -> str:
    status = run.main([*args, "--data", str(data), "--gram", str(GRAM), "--rounds", "1", "--threads", "1"])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return captured.out


def rows(printed: str) -> dict[str, list[str]]:
    """Returns the rows of the printed tables, as a map from their first cell."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if line[:2] == "| "]
    return {row[0]: row[1:] for row in found}


def test_text(capsys, data):
    printed = compare(capsys, data, "text", "--only", "TREC")
    perfect = [line.split("|")[2].strip() for line in printed.splitlines() if "| 100.00 % | 1.0000 | 1.0000 |" in line]
    assert perfect == ["gram train", "gram grid", *text.PEERS]
    assert rows(printed)["TREC questions"][1] == "0.00"  # the regret


def test_text_of_folds(capsys, data):
    printed = compare(capsys, data, "text", "--only", "4 classes", "--skip", "grid", "--skip", "searched")
    assert rows(printed)["WebKB, 4 classes"][1] == "–"


def test_libsvm(capsys, data, tmp_path, monkeypatch):
    monkeypatch.setenv("SVM_TRAIN", "none")
    printed = rows(compare(capsys, data, "libsvm", "--only", "20"))
    assert printed["predict"][-1] == "100.00 %" and printed["solve"][0].startswith("scikit-learn's SVC")
    svm_train = tmp_path / "svm-train"
    svm_train.write_text("#!/bin/sh\nprintf 'obj = -1, rho = 0\\nobj = -1, rho = 0\\nobj = -1, rho = 0\\n'\n")
    svm_train.chmod(0o700)
    monkeypatch.setenv("SVM_TRAIN", str(svm_train))
    assert run.main(["libsvm", "--only", "20", "--data", str(data), "--gram", str(GRAM), "--rounds", "1"]) == 1
    assert "not the same as LIBSVM's: 20 Newsgroups: objectives" in capsys.readouterr().err


def test_peers(capsys, data):
    printed = rows(compare(capsys, data, "peers", "--only", "20"))
    assert printed["gram neighbours"][-1] == "" and printed["scikit-learn"][-2:] == ["60", "100.0 %"]


def test_duplicates(capsys, data):
    assert rows(compare(capsys, data, "duplicates", "--only", "20"))["gram duplicates"][-2:] == ["0.0 %", "0"]
    assert duplicates.company_names(2) == ["contanbornal chemicals co", "alen oltalser steel llc"]


def test_large(capsys, data, monkeypatch):
    monkeypatch.setattr(large, "LANDMARKS", (8,))
    printed = rows(compare(capsys, data, "large", "--only", "20"))
    ours, theirs = (float(printed[name][-1]) for name in ("gram, linear", "LinearSVC"))
    assert ours == pytest.approx(theirs, rel=1e-3) and printed["gram, 8 landmarks"][-1] == ""


def test_pca(capsys, data, monkeypatch):
    monkeypatch.setattr(pca, "COMPONENTS", 3)
    printed = rows(compare(capsys, data, "pca"))
    assert float(printed["gram pca"][-1]) <= 1e-5 and printed["scikit-learn, dense"][-1] == "0.0e+00"


@pytest.mark.skipif("GRAMENGINE_LIBRARY" not in os.environ, reason="make libgram builds the library")
def test_python(capsys, data):
    printed = compare(capsys, data, "python", "--only", "fit")
    assert printed.count("Coefficients have the same bits") == 2


@pytest.mark.parametrize("args, message", [
    (["text", "--only", "TREC"], "missing data: none/trec/train.tsv.gz, none/trec/test.tsv.gz; --data names"),
    (["text", "--only", "x"], "--only x: no such corpus; there are TREC questions, "),
    (["pca"], "missing data: none/mnist/t10k-images-idx3-ubyte.gz"),
    (["pca", "--gram", "none"], "no program none; make build builds it"),
])
def test_refusals(capsys, args, message):
    assert run.main(["--data", "none", "--gram", str(GRAM), *args][2:] + ["--data", "none"]) == 1
    assert message in capsys.readouterr().err


def test_parse():
    assert measure.parse('{"seconds": 1}') == {"seconds": 1}
    for printed in ("", "nonsense", "[1]"):
        with pytest.raises(measure.Failure, match="expected one JSON object"):
            measure.parse(printed)


def test_folds_are_those_of_gram():
    classes = [str(i * i % 7 % 3) for i in range(40)]
    assert "".join(map(str, go_random.folds(classes, 5))) == "2332442042131010144400201332331031441202"


def test_scores():
    found = text.scores([["a"], ["b", "c"], [], ["a"]], [["a"], ["b"], [], ["d"]])
    assert found == pytest.approx({"accuracy": 2 / 4, "micro": 4 / 7, "macro": (2 / 3 + 1) / 4})


def test_most_frequent_labels():
    train = ["a\t1", "a\t2", "b\t3", "c\t4", "c\t5", "c\t6", "a,b\t7", "-\t8", "d\t9"]
    test = ["b\t10", "a\t11", "d\t12", "a,c\t13"]
    assert text.of_most_frequent(2, train, test) == [train[:3], test[:2]]


def test_objectives():
    assert libsvm.objectives("nu = 0.1\nobj = -12.5, rho = 0.5\nobj = -1e-3, rho = -1\n") == [-12.5, -1e-3]
    with pytest.raises(measure.Failure):
        libsvm.objectives("nothing")
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert libsvm.first_of_most_votes(pairs, ["0.1", "-2", "3"]) == "a"  # a tie
    assert libsvm.first_of_most_votes(pairs, ["-1", "1", "1"]) == "b"
    assert libsvm.same_label("1", "+1") and not libsvm.same_label("a", "1")
