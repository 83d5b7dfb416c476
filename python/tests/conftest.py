"""What the tests share: the command, a corpus, and the package from the source tree where it isn't installed."""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]
try:
    import gramengine  # noqa: F401
except ImportError:
    sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture(scope="session")
def gram():
    """The command that `make build` makes."""
    found = os.environ.get("GRAMBENCH") or ROOT / "bin" / "gram"
    if not Path(found).exists():
        if os.environ.get("CI"):
            pytest.fail(f"no command at {found}: run make build first")
        pytest.skip(f"no command at {found}: run make build first")
    return str(shutil.which(str(found)) or found)


@pytest.fixture(scope="session")
def counts():
    """Counts of 300 documents of three classes, CSR of float32, and the classes."""
    rng = np.random.default_rng(7)
    rates = rng.gamma(0.3, size=(3, 400))
    y = rng.integers(0, 3, 300)
    return sp.csr_matrix(rng.poisson(rates[y]).astype(np.float32)), np.array(["red", "green", "blue"])[y]


WORDS = {"sport": "goal match team player score win league cup".split(),
         "food": "bread soup salt cook taste oven butter cup".split(),
         "science": "energy atom cell theory data model score field".split()}


@pytest.fixture(scope="session")
def texts():
    """Texts of three classes, and the classes."""
    rng = np.random.default_rng(3)
    y = [list(WORDS)[i] for i in rng.integers(0, 3, 240)]
    every = sorted({w for words in WORDS.values() for w in words})
    made = [" ".join(rng.choice(WORDS[c] if rng.random() < 0.8 else every) for _ in range(12)) for c in y]
    return made, np.array(y)
