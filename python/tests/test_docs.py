"""Runs the code of docs/python.md, in order and in one namespace, and the notebook beside it."""

import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE, NOTEBOOK = ROOT / "docs" / "python.md", ROOT / "docs" / "python.ipynb"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
OPTIONAL = {"umap"}
BUILDS = ("pip ", "make ")  # what installs and builds has tests of its own


def blocks(page):
    """The blocks of code of a page, with language and line; indented blocks too."""
    for m in re.finditer(r"^( *)```(\w+)\n(.*?)^ *```$", page, re.M | re.S):
        code = re.sub(rf"^{m[1]}", "", m[3], flags=re.M)
        yield m[2], page.count("\n", 0, m.start()) + 1, code


def missing(code):
    """The optional packages that code imports and that aren't there."""
    named = set(re.findall(r"^(?:import|from) (\w+)", code, re.M))
    return sorted(name for name in named & OPTIONAL if importlib.util.find_spec(name) is None)


def run(language, line, code, names, gram):
    """Runs a block. A failure names its line in the page."""
    if language == "sh":
        for command in re.findall(r"^\$ (.*)", code, re.M):
            environment = {**os.environ, "PATH": f"{Path(gram).parent}:{os.environ['PATH']}"}
            subprocess.run(command, shell=True, check=True, env=environment, stdout=subprocess.PIPE, timeout=600)
    elif ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, names, PAGE.name, str(PAGE), line)
        said = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
        assert not said, "".join(said)
        names.update(test.globs)
    else:
        exec(compile("\n" * line + code, str(PAGE), "exec"), names)


def test_page(tmp_path, monkeypatch, gram):
    monkeypatch.chdir(tmp_path)
    names, ran, left = {"__name__": "__main__"}, 0, []
    for language, line, code in blocks(PAGE.read_text()):
        if language == "sh" and code.startswith(BUILDS):
            continue
        assert language in ("python", "sh"), f"line {line}: a block of {language}"
        if missing(code):
            left += missing(code)
            continue
        run(language, line, code, names, gram)
        ran += 1
    assert ran >= 17 - len(left)
    print("not installed:", *left)


def test_readme(tmp_path, monkeypatch, capsys, gram):
    monkeypatch.chdir(tmp_path)
    found = [(line, code) for language, line, code in blocks((ROOT / "README.md").read_text()) if language == "python"]
    for line, code in found:
        run("python", line, code, {}, gram)
    assert len(found) == 1 and "billing" in capsys.readouterr().out
    assert (tmp_path / "tickets.model").exists()


def test_runner_finds_what_is_wrong(gram):
    for language, code in (("python", ">>> 1 + 1\n3\n"), ("python", "assert False\n"), ("sh", "$ false\n")):
        with pytest.raises((AssertionError, subprocess.CalledProcessError)):
            run(language, 1, code, {}, gram)


def test_page_lists_what_there_is():
    import gramengine

    page = PAGE.read_text()
    table = page[page.index("## Overview"):page.index("## Speed")]
    for name in gramengine.__all__:
        value = getattr(gramengine, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, (Exception, tuple))) \
                and name not in ("Explanation", "SearchResult"):
            assert f"`{name}" in table, f"{name} isn't in the table"


def executed(tmp_path, data):
    """The notebook after a run, with data in the folder."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, 4)
    environment = {**os.environ, "DATA": str(data),
                   "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])}
    environment.pop("MPLBACKEND", None)  # the kernel's own puts figures into the notebook
    nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
                            ).execute(env=environment)
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def figures(outputs):
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_notebook(tmp_path):
    outputs = executed(tmp_path, tmp_path)
    said = "".join(output.get("text", "") for output in outputs)
    assert "a small corpus made here" in said
    assert figures(outputs) == (2 if importlib.util.find_spec("umap") else 1)


def test_notebook_on_newsgroups(tmp_path):
    data = Path(os.environ.get("DATA", ROOT.parent / "shared" / "data"))
    if not (data / "20news-bydate").exists():
        pytest.skip(f"no folder 20news-bydate in {data}: DATA names another")
    said = "".join(output.get("text", "") for output in executed(tmp_path, data))
    share = re.search(r"([\d.]+) % of (\d+) test documents", said)
    assert share and int(share[2]) == 7532 and float(share[1]) > 80, said


def test_notebook_is_stripped_and_short():
    cells = [c for c in json.loads(NOTEBOOK.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells)
    lines = [line for c in cells for line in "".join(c["source"]).splitlines() if line.strip()]
    searched = next(i for i, line in enumerate(lines) if "print(" in line and "test documents" in line)
    assert searched < 15, f"the model is there after {searched} lines"
    assert sys.version_info >= (3, 10)
