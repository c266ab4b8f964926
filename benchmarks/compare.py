"""Compare the speed of this tree with that of a Git revision: ``make bench-compare BASE=v0.1.0``.

    python -m benchmarks.compare BASE [--rounds 5] [--only NAME ...] [-o FILE]

The revision is checked out into a folder of its own. Processes of both trees alternate, so that noise on the
machine meets both alike; each process warms up, and then reports the least processor time of several calls.
The table shows the least of all rounds and the ratio; the exit code is 1 if a row is more than 10 % slower.
A job that the revision cannot run is listed as new.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUMMARY = "Compare the speed of this tree with that of a Git revision."
LIMIT = 1.10  # a row with a larger ratio of processor times is a regression
CALLS = 3  # per process; the least counts
Times = dict[str, float]


@cache
def molecules() -> Any:
    """Return generated molecules, so that no data set is needed."""
    import propkernels as pk

    return pk.datasets.make_molecules(2000, random_state=0)


@cache
def trained(is_default: bool) -> Any:
    """Return a classifier of 200 molecules, with default kernels or with one."""
    import propkernels as pk

    kernel = None if is_default else pk.PropagationKernel(t_max=5, random_state=0)
    options = {} if kernel is None else {"kernel": kernel}
    return pk.PropagationClassifier(random_state=0, **options).fit(*few())


def few() -> tuple[Any, Any]:
    """Return 200 molecules and their classes."""
    return molecules().graphs[:200], molecules().target[:200]


@cache
def index() -> Any:
    """Return an index of all molecules."""
    import propkernels as pk

    return pk.GraphIndex(random_state=0).fit(molecules().graphs)


def jobs() -> dict[str, Callable[[], Any]]:
    """Return the jobs by name."""
    import propkernels as pk

    def kernel(**parameters: Any) -> Any:
        return pk.PropagationKernel(random_state=0, **parameters).fit_transform(molecules().graphs)

    return {
        "kernel": lambda: kernel(t_max=10),
        "intersection": lambda: kernel(t_max=5, base_kernel="intersection"),
        "label propagation": lambda: kernel(propagation="label_propagation"),
        "weisfeiler-lehman": lambda: pk.WeisfeilerLehman().fit_transform(molecules().graphs),
        "shortest paths": lambda: pk.ShortestPath().fit_transform(molecules().graphs[:1000]),
        "hashed features": lambda: pk.PropagationFeatures(n_features=2**20, random_state=0).fit_transform(
            molecules().graphs
        ),
        "fit": lambda: pk.PropagationClassifier(random_state=0).fit(*few()),
        "predict": lambda: trained(True).predict(molecules().graphs),
        "explain": lambda: trained(True).explain(few()[0]),
        "counterfactuals": lambda: trained(False).counterfactuals(few()[0][0], max_edits=1),
        "index": lambda: pk.GraphIndex(random_state=0).fit(molecules().graphs),
        "query": lambda: index().query(few()[0], k=10),
    }


def measure(only: Sequence[str]) -> Times:
    """Return the least processor time of each job in this process, in seconds; NaN if it cannot run."""
    from benchmarks.machine import fastest

    found = {}
    for name, call in jobs().items():
        if only and name not in only:
            continue
        try:
            call()  # loads compiled code, fills caches
            found[name] = fastest(call, 0, CALLS)[1]
        except (AttributeError, TypeError, ValueError, ImportError):
            found[name] = float("nan")
    return found


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Yield a folder with the files of a revision, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        command = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*command, "add", "--detach", "--quiet", str(tree), revision], check=True)
        try:
            build_core(tree)
            yield tree
        finally:
            subprocess.run([*command, "remove", "--force", str(tree)], check=True)


def build_core(tree: Path) -> None:
    """Build the compiled loops of a tree among its Python files, if it has any."""
    if (tree / "CMakeLists.txt").exists():
        built = tree / "build" / "installed"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(built)]
        subprocess.run([*command, str(tree)], check=True)
        for path in (built / "propkernels").glob("_core.*"):
            shutil.copy(path, tree / "src" / "propkernels")


def times_of(tree: Path, only: Sequence[str]) -> Times:
    """Return the times of one process with the package of a tree."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks.compare", "--measure", *only]
    with tempfile.TemporaryDirectory() as empty:  # the current folder comes first among modules
        done = subprocess.run(command, cwd=empty, env=variables, stdout=subprocess.PIPE, check=True)
    times: Times = json.loads(done.stdout)
    return times


def least(rounds: Sequence[Times]) -> Times:
    """Return the least time of each job over all rounds."""
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def table(base: Times, head: Times) -> list[tuple[str, str, str, str]]:
    """Return rows of name, milliseconds before, milliseconds now, ratio."""
    rows = []
    for name, now in head.items():
        before = base.get(name, float("nan"))
        is_new = before != before  # NaN
        ratio = "new" if is_new else f"{now / before:.2f}"
        rows.append((name, "" if is_new else f"{1e3 * before:.1f}", f"{1e3 * now:.1f}", ratio))
    return rows


def slower(base: Times, head: Times) -> list[str]:
    """Return the jobs that are slower than the limit allows."""
    return [name for name, now in head.items() if now > LIMIT * base.get(name, float("nan"))]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both trees in turn, print the table, and return 1 if a job became slower."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("base", nargs="?", help="a tag, branch or commit")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("-o", "--output", type=Path, help="a JSON file for the times")
    parser.add_argument("--measure", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure is not None:
        print(json.dumps(measure(options.measure)))
        return 0
    if options.base is None:
        parser.error("give the revision to compare with, such as v0.1.0")
    with checked_out(options.base) as tree:
        pairs = [(times_of(tree, options.only), times_of(ROOT, options.only)) for _ in range(options.rounds)]
    base, head = least([before for before, _ in pairs]), least([now for _, now in pairs])
    for row in [("job", "ms before", "ms now", "ratio"), *table(base, head)]:
        print(f"{row[0]:<22}{row[1]:>12}{row[2]:>12}{row[3]:>8}")
    if options.output:
        options.output.write_text(json.dumps({"base": base, "head": head}, indent=1) + "\n", encoding="utf-8")
    worse = slower(base, head)
    print(f"slower than {options.base} by more than 10 %: {', '.join(worse) or 'nothing'}")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
