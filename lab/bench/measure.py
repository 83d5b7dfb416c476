"""Runs programs and functions in new processes, measures them in turn, and prints tables in Markdown."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterable, NamedTuple


class Failure(Exception):
    """An error that is reported without traceback."""


class Run(NamedTuple):
    """A measured run: wall-clock seconds, CPU seconds, peak memory in bytes, and the result."""

    seconds: float
    cpu: float
    peak: int
    result: Any = None


@dataclass
class Contender:
    """A program to measure, in all rounds or only in the first ones."""

    name: str
    run: Callable[[], Run]
    rounds: int = 10**9
    runs: list[Run] = field(default_factory=list)

    def median(self) -> Run:
        """Returns the medians of the measured values, with the result of the last run."""
        seconds, cpu, peak, results = zip(*self.runs)
        return Run(statistics.median(seconds), statistics.median(cpu), int(statistics.median(peak)), results[-1])


class Corpus(NamedTuple):
    """The files of a corpus in the data folder: training documents and, optionally, test documents."""

    name: str
    files: tuple[str, ...] = ()  # without files: the sources of the Go standard library


@dataclass
class Bench:
    """The settings of a comparison."""

    gram: str
    data: Path
    folder: Path  # for temporary files
    threads: int
    rounds: int
    only: str

    def chosen(self, corpora: Iterable[Any]) -> list[Any]:
        """Returns the corpora whose names contain ``only``."""
        found = [c for c in corpora if self.only.lower() in c.name.lower()]
        if not found:
            raise Failure(f"--only {self.only}: no such corpus; there are {', '.join(c.name for c in corpora)}")
        return found

    def find(self, *names: str) -> list[Path]:
        """Returns the paths of files in the data folder, all of which must exist."""
        paths = [self.data / name for name in names]
        missing = [str(p) for p in paths if not p.exists()]
        if missing:
            raise Failure(f"missing data: {', '.join(missing)}; --data names the folder, --only chooses a corpus")
        return paths

    def sources(self, corpus: Corpus) -> list[object]:
        """Returns the values of -in for gram."""
        return self.find(*corpus.files) or ["goroot"]

    def execute(self, *argv: object) -> Run:
        """Runs a program. The result is its standard output and standard error."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(self.threads))
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
            start = time.perf_counter()
            process = subprocess.Popen([str(a) for a in argv], stdout=out, stderr=errors, env=os.environ | threads)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), errors.seek(0)
            texts = out.read(), errors.read()
        if process.returncode != 0:
            said = (texts[1] or texts[0])[-2000:]
            raise Failure(f"{argv[0]} {argv[1]}: exit status {process.returncode}: {said}")
        return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, texts)

    def run_gram(self, *args: object) -> Run:
        """Runs a gram command. The result is its JSON output, with standard error as messages."""
        run = self.execute(self.gram, *args, "-workers", self.threads, "-json")
        said = parse(run.result[0]) | {"messages": run.result[1]}
        return run._replace(peak=said.get("peak_bytes", run.peak), result=said)

    def call(self, function: Callable[..., Any], **arguments: Any) -> Run:
        """Calls a function of this folder in a new Python process.

        Times are those of its call of `timed` or, without such a call, of the whole process.
        """
        arguments = {name: str(v) if isinstance(v, Path) else v for name, v in arguments.items()}
        run = self.execute(sys.executable, Path(__file__).with_name("run.py"), "--call",
                           f"{function.__module__}:{function.__name__}", json.dumps(arguments))
        said = parse(run.result[0].splitlines()[-1])
        return Run(*(said["times"] or (run.seconds, run.cpu)), said["peak"], said["result"])

    def vectors(self, source: object, embedding: str, file: str, *flags: object) -> Path:
        """Writes the embedded documents of a source as LIBSVM vectors, not scaled to length 1."""
        self.execute(self.gram, "corpus", "-q", "-in", source, "-embed", embedding, "-o", self.folder / file, *flags)
        return self.folder / file

    def interleave(self, contenders: list[Contender]) -> None:
        """Runs the contenders in turn, round after round."""
        for number in range(self.rounds):
            for c in contenders:
                if number < c.rounds:
                    print(f"round {number + 1}: {c.name}", file=sys.stderr)
                    c.runs.append(c.run())


def parse(text: str) -> dict[str, Any]:
    """Parses a program's JSON output."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Failure(f"expected one JSON object, found {text[:200]!r}")
    return found


def without_files(said: dict[str, Any]) -> float:
    """Returns the time of gram train without reading and writing files."""
    return said["seconds"] - said["seconds_read"] - said["seconds_write"]


def installed(*modules: str) -> bool:
    """Reports whether all modules are installed. Prints the missing ones to standard error."""
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    for m in missing:
        print(f"left out: {m} isn't installed; pip install -r lab/bench/requirements.txt", file=sys.stderr)
    return not missing


def kilobytes(name: str) -> int:
    """Returns a value of /proc/self/status, such as VmHWM, the peak memory."""
    return next(int(s.split()[1]) for s in Path("/proc/self/status").read_text().splitlines() if s.startswith(name))


_times: tuple[float, float] | None = None


def timed(function: Callable[[], Any]) -> Any:
    """Calls a function and records its time."""
    global _times
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    _times = time.perf_counter() - wall, time.process_time() - cpu
    return result


def answer(name: str, arguments: str) -> None:
    """Calls a function for `Bench.call` and prints the measurement."""
    module, function = name.split(":")
    result = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    print(json.dumps({"times": _times, "peak": kilobytes("VmHWM") << 10, "result": result}))


def read_lines(path: Path) -> list[str]:
    """Reads the lines of a text file, compressed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def write_lines(path: Path, lines: Iterable[object]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def spread(values: list[float]) -> str:
    """Formats the median, with the minimum and the maximum."""
    middle = f"{statistics.median(values):.3g}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.3g}–{max(values):.3g})"


MEASURED = ["seconds", "CPU seconds", "peak memory", "times as long"]


def measured(c: Contender, first: Contender) -> list[str]:
    """Returns the columns of MEASURED. Ratios compare with the first contender in the same round."""
    ratios = [own.seconds / other.seconds for own, other in zip(c.runs, first.runs)]
    return [spread([r.seconds for r in c.runs]), f"{c.median().cpu:.3g}", mebibytes(c.median().peak), spread(ratios)]


def mebibytes(size: float) -> str:
    return f"{size / (1 << 20):,.0f} MiB"


def table(title: str, columns: list[str], rows: Iterable[Iterable[object]]) -> None:
    """Prints a Markdown table."""
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    sys.stdout.flush()
