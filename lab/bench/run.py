"""Compares gram with other programs on the same documents in one run, and prints tables in Markdown.

    python lab/bench/run.py text|libsvm|peers|duplicates|large|pca|python|tables [--only CORPUS] [--data DIR]

Programs run in turn, round after round; a figure is the median over the rounds, with the minimum and the maximum. CPU
seconds are those of the timed part, for gram of the whole process. Peers that aren't installed are named on standard
error and left out; requirements.txt lists all. Missing data is an error.
"""

import argparse
import datetime
import importlib
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from measure import Bench, Failure, answer

COMPARISONS = {  # rounds
    "text": (1, "accuracy, time and memory on raw text against LinearSVC (an hour)"),
    "libsvm": (3, "train and predict against LIBSVM and scikit-learn's SVC, with the same optima (minutes)"),
    "peers": (3, "neighbours against sparse_dot_topn, scikit-learn and pynndescent (minutes)"),
    "duplicates": (3, "duplicates against MinHash and products of sparse matrices (minutes)"),
    "large": (3, "linear models and landmarks against scikit-learn (an hour)"),
    "pca": (3, "pca against scikit-learn's KernelPCA (minutes)"),
    "python": (10, "the package gramengine against MKL, GraphBLAS, SciPy, scikit-learn-intelex and gram (minutes)"),
    "tables": (10, "accuracy on tables of numbers and categories against a searched SVM of scikit-learn (minutes)"),
}


def main(args: list[str]) -> int:
    if args[:1] == ["--call"]:
        answer(*args[1:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparison", choices=COMPARISONS,
                        help="; ".join(f"{name}: {about}" for name, (_, about) in COMPARISONS.items()))
    parser.add_argument("--only", default="", metavar="CORPUS", help="measure corpora with CORPUS in their names")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DATA") or "data"), metavar="DIR",
                        help="the folder of the corpora, such as 20news-bydate/train.tsv.gz (default: $DATA, or data)")
    parser.add_argument("--gram", default="bin/gram", metavar="FILE", help="the program to measure (default: bin/gram)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), metavar="N", help="threads of every program")
    parser.add_argument("--rounds", type=int, metavar="N", help="runs of each program")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME",
                        help="text: leave out programs that end in NAME, such as grid or searched")
    options = parser.parse_args(args)
    rounds = COMPARISONS[options.comparison][0] if options.rounds is None else options.rounds
    if options.threads < 1 or rounds < 1:
        parser.error("--threads and --rounds must be at least 1")
    try:
        gram = shutil.which(options.gram)
        if gram is None:
            raise Failure(f"no program {options.gram}; make build builds it")
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(os.path.abspath(gram), options.data, Path(folder), options.threads, rounds, options.only)
            print(f"{datetime.date.today()}, {processor()}, {options.threads} threads, load {os.getloadavg()[0]:.1f}, "
                  f"Python {platform.python_version()}; {rounds} rounds")
            module = importlib.import_module("python_package" if options.comparison == "python" else options.comparison)
            module.main(bench, options.skip) if options.comparison == "text" else module.main(bench)
    except Failure as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        return 1
    return 0


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
