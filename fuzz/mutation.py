"""Mutation tests of the core stations: ``python -m fuzz.mutation --sample 40 --seed 0``.

A mutant (:mod:`fuzz.mutants`) is one small mistake in one module. A failing test kills it; a mutant that all
tests let through shows what no test looks at. One process collects the tests and notes which functions each
of them calls. Every mutant runs in a fork of this process, where the code of one function is replaced, on the
tests that call the function, those of its module first. No file changes, nothing is imported again (but for
mutants outside of functions), and many mutants run at once. Compiled loops run as Python
(``NUMBA_DISABLE_JIT=1``), on the tests that are fast enough for that.

Tools that rewrite files do not fit: mutmut leaves out decorated functions, which all compiled loops are, and
cosmic-ray needs one copy of the tree, with its caches, per worker.
"""

from __future__ import annotations

import argparse
import gc
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest

from fuzz.mutants import MODULE, SOURCE, UNCHANGED, Mutant, is_compiled, mutants_of, mutated

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "measured" / "mutation.json"
STATIONS = ("hashing", "counting", "gram", "propagation", "decisions")
NEIGHBORS: dict[str, list[str]] = {  # tests of other stations that call a station most
    "hashing": ["kernels/test_graph_hopper.py"],
    "counting": ["decisions/test_members.py", "explain/test_edit_engine.py"],
    "gram": ["kernels/test_tiles.py"],
    "propagation": [],
    "decisions": ["models/test_classifier.py", "models/test_regressor.py", "explain/test_edit_engine.py"],
}
SLOW_TEST = 5  # seconds of processor time; tests that take longer while calls are noted are left out
ENOUGH = 6  # seconds of tests that a mutant meets, as they took while calls were noted
SLOWEST = 30  # seconds of processor time after which a mutant counts as killed: it does not end
STUCK = 900  # seconds after which a mutant counts as killed: it waits for ever
MEMORY = 6 << 30  # bytes that a mutant may use
OPTIONS = [
    "-q",
    "-s",
    "-p",
    "no:faulthandler",
    "-p",
    "no:randomly",
    "-p",
    "no:xdist",
    "-p",
    "no:cov",
    "-W",
    "ignore",
]


class Mutation(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = f"propkernels.{mutant.station}.{mutant.module}"
        self.path, self.tree = mutant.path, mutated(mutant)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return the specification of the mutated module; None for all others."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def create_module(self, spec: Any) -> None:
        """Return None: modules are made as usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module or function, and of all functions inside."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def replace_code(mutant: Mutant) -> None:
    """Give all live functions of a module the code that a mutant has."""
    changed = compile(mutated(mutant), str(mutant.path), "exec")
    codes = {(code.co_qualname, code.co_firstlineno): code for code in codes_in(changed)}
    gc.unfreeze()
    for function in [found for found in gc.get_objects() if type(found) is FunctionType]:  # not proxies
        old = function.__code__
        if old.co_filename == str(mutant.path):
            function.__code__ = codes.get((old.co_qualname, old.co_firstlineno), old)


def import_anew(mutant: Mutant) -> None:
    """Forget the package and its tests, so that they are imported again, with a mutant."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("propkernels", "tests", "conftest")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Mutation(mutant))


class Harness:
    """A plugin of pytest: collects tests once, and runs some of them in a fork per mutant.

    Parameters
    ----------
    mutants : sequence of Mutant
    jobs : int
        Number of mutants at a time.
    deadline : float
        Moment of the monotonic clock after which no mutant is started.
    """

    def __init__(self, mutants: Sequence[Mutant], jobs: int, deadline: float) -> None:
        self.mutants, self.jobs, self.deadline = mutants, jobs, deadline
        self.results: list[tuple[Mutant, str]] = []
        self.items: list[pytest.Item] = []
        self.seconds: dict[int, float] = {}
        self.calls: dict[int, set[tuple[str, int]]] = {}
        self.failed = False
        self.ends_at_failure = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed; a mutant is killed then."""
        self.failed |= report.failed
        if report.failed and self.ends_at_failure:
            os._exit(1)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all mutants instead of the tests."""
        if session.testsfailed:
            raise pytest.UsageError("some tests cannot be imported without a mutant")
        self.items = session.items
        self.note_calls()
        self.check_unchanged()
        self.results = run_all(self.mutants, self.run_tests, self.jobs, self.deadline)
        return True

    def check_unchanged(self) -> None:
        """Raise if tests fail without a mutant when they run in the order, and by the ways, of mutants."""
        everything = Mutant("", "", 1, UNCHANGED, 0, "", "")
        outside = [m for m in self.mutants if m.function == MODULE][:1]
        unchanged = [everything, *(replace(mutant, node=UNCHANGED) for mutant in outside)]
        for mutant, what in run_all(unchanged, self.run_tests, self.jobs, self.deadline):
            if what == "killed":
                raise pytest.UsageError(f"tests fail without a mutant: {mutant.place}")

    def note_calls(self) -> None:
        """Run all tests in a fork, and keep which functions of the stations each of them calls."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "calls.json"
            process = os.fork()
            if process == 0:
                _silence()
                file.write_text(json.dumps(self.traced()))
                os._exit(0)
            if os.waitpid(process, 0)[1]:
                raise pytest.UsageError("the tests cannot be run without a mutant")
            noted = json.loads(file.read_text())
        self.seconds = {number: seconds for number, seconds, _ in noted}
        self.calls = {number: {(path, line) for path, line in calls} for number, _, calls in noted}
        print(f"{len(noted)} of {len(self.items)} tests pass within {SLOW_TEST} s", file=sys.stderr)

    def traced(self) -> list[tuple[int, float, list[tuple[str, int]]]]:
        """Return number, seconds and called functions of each test that passes."""
        folders, noted = tuple(str(SOURCE / name) + os.sep for name in STATIONS), []
        called: set[tuple[str, int]] = set()

        def note(frame: FrameType, event: str, argument: Any) -> None:
            code = frame.f_code
            if code.co_filename.startswith(folders):
                called.add((code.co_filename, code.co_firstlineno))

        threading.settrace(note)
        for number, item in enumerate(self.items):
            called.clear()
            self.failed, start = False, time.process_time()
            sys.settrace(note)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=_next(self.items, number))
            sys.settrace(None)
            seconds = time.process_time() - start
            if not self.failed and seconds < SLOW_TEST:
                noted.append((number, seconds, sorted(called)))
        return noted

    def tests_of(self, mutant: Mutant) -> list[int]:
        """Return numbers of the tests that a mutant meets: of its module, its station, others; fast first."""
        if mutant.node == UNCHANGED and mutant.function != MODULE:
            return sorted(self.seconds, key=self.seconds.__getitem__)
        path = str(mutant.path)

        def nearness(number: int) -> tuple[bool, bool, float]:
            file = self.items[number].path
            is_near = file.parent.name == mutant.station
            is_own = is_near and file.stem.startswith(f"test_{mutant.module}")
            return not is_own, not is_near, self.seconds[number]

        def meets(number: int) -> bool:
            if mutant.function != MODULE:
                return (path, mutant.function) in self.calls[number]
            return not nearness(number)[0] or any(call[0] == path for call in self.calls[number])

        callers = filter(meets, self.calls)
        chosen, seconds = [], 0.0
        for number in sorted(callers, key=nearness):
            chosen.append(number)
            seconds += self.seconds[number]
            if seconds > ENOUGH:
                break
        return chosen

    def run_tests(self, mutant: Mutant) -> int:
        """Return 0 if all tests that a mutant meets pass; for a forked process, which may end here."""
        self.ends_at_failure, numbers = True, self.tests_of(mutant)
        if mutant.function == MODULE:
            import_anew(mutant)
            names = [str(ROOT / self.items[number].nodeid) for number in numbers]
            return int(pytest.main([*OPTIONS, "-x", *names])) if names else 0
        if mutant.node != UNCHANGED:
            replace_code(mutant)
        chosen = [self.items[number] for number in numbers]
        for position, item in enumerate(chosen):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=_next(chosen, position))
        return 0


def _next(items: Sequence[pytest.Item], position: int) -> pytest.Item | None:
    return items[position + 1] if position + 1 < len(items) else None


def _silence() -> None:
    """Send what this process prints to the file that MUTATION_LOG names, or nowhere."""
    quiet = os.open(os.environ.get("MUTATION_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


def child(mutant: Mutant, run: Any) -> None:
    """Run the tests on a mutant and leave the process: 0 if all pass."""
    _silence()
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SLOWEST, SLOWEST))
    try:
        code = run(mutant)
    except BaseException:
        code = 1
    os._exit(code)


def run_all(mutants: Sequence[Mutant], run: Any, jobs: int, deadline: float) -> list[tuple[Mutant, str]]:
    """Return what became of the mutants: killed or survived; those after the deadline are left out."""
    pending, running = list(mutants)[::-1], dict[int, tuple[Mutant, float]]()
    found: list[tuple[Mutant, str]] = []
    while pending or running:
        while pending and len(running) < jobs and time.monotonic() < deadline:
            mutant = pending.pop()
            process = os.fork()
            if process == 0:
                child(mutant, run)
            running[process] = mutant, time.monotonic()
        if not running:
            break
        process, status = os.waitpid(-1, os.WNOHANG)
        if process in running:
            mutant, _ = running.pop(process)
            found.append((mutant, "killed" if status else "survived"))
            continue
        for process, (mutant, start) in list(running.items()):
            late = time.monotonic() > deadline + STUCK
            if time.monotonic() - start > STUCK or late:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                del running[process]
                if not late:
                    found.append((mutant, "killed"))
        time.sleep(0.005)
    return found


def drawn(stations: Sequence[str], modules: Sequence[str] | None, sample: int, seed: int) -> list[Mutant]:
    """Return a random sample of the mutants of each station."""
    chosen: list[Mutant] = []
    for station in stations:
        paths = sorted((SOURCE / station).glob("*.py"))
        every = [m for path in paths if modules is None or path.stem in modules for m in mutants_of(path)]
        chosen += random.Random(f"{seed} {station}").sample(every, min(sample, len(every)))
    return chosen


def run_half(sample: Sequence[Mutant], half: str, options: argparse.Namespace) -> list[tuple[Mutant, str]]:
    """Run the mutants of modules that are all compiled, or all not."""
    harness = Harness(sample, options.jobs, time.monotonic() + options.seconds)
    stations = sorted({mutant.station for mutant in sample})
    names = [*stations, *(name for station in stations for name in NEIGHBORS[station])]
    tests = [str(ROOT / "tests" / name) for name in names]
    pytest.main([*OPTIONS, "-m", "compiled or not slow", *tests], plugins=[harness])
    print(f"{half}: {len(harness.results)} of {len(sample)} mutants", file=sys.stderr)
    return harness.results


def run_in_halves(sample: Sequence[Mutant], options: argparse.Namespace) -> list[tuple[Mutant, str]]:
    """Run mutants of Python in one process, and those of compiled loops, as Python, in another."""
    ends: list[tuple[Mutant, str]] = []
    for half, disabled in (("python", "0"), ("compiled", "1")):
        mine = [asdict(mutant) for mutant in sample if is_compiled(mutant.path) == (half == "compiled")]
        command = [sys.executable, "-m", "fuzz.mutation", "--half", half]
        settings = {"NUMBA_DISABLE_JIT": disabled, "OMP_NUM_THREADS": "1", "HYPOTHESIS_PROFILE": "ci"}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mutants.json"
            file.write_text(json.dumps(mine))
            words = ["--jobs", str(options.jobs), "--seconds", str(options.seconds), "--output", str(file)]
            if mine:
                subprocess.run([*command, *words], check=True, env={**os.environ, **settings})
                ends += [(Mutant(**mutant), what) for mutant, what in json.loads(file.read_text())]
    return ends


def main(words: Sequence[str] | None = None) -> None:
    """Draw a sample of mutants, run those that were not killed before, and write what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stations", nargs="+", default=list(STATIONS))
    parser.add_argument("--modules", nargs="+", help="Only modules of these names.")
    parser.add_argument("--sample", type=int, default=40, help="Number of mutants per station.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--seconds", type=float, default=3600, help="Start no mutant of a half after this time."
    )
    parser.add_argument("--half", choices=["compiled", "python"], help=argparse.SUPPRESS)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("mutation.json"), help="What it lists as killed is not run."
    )
    options = parser.parse_args(words)
    if options.half is not None:
        mine = [Mutant(**mutant) for mutant in json.loads(options.output.read_text())]
        ends = run_half(mine, options.half, options)
        options.output.write_text(json.dumps([(asdict(mutant), what) for mutant, what in ends]))
        return
    known = read_results(options.output)
    sample = drawn(options.stations, options.modules, options.sample, options.seed)
    known |= run_in_halves([m for m in sample if known.get(m) != "killed"], options)
    chosen = [m for m in known if m.station not in options.stations] + [m for m in sample if m in known]
    rows = [{**asdict(mutant), "end": known[mutant]} for mutant in chosen]
    drawn_by = {
        "seed": options.seed,
        "sample": options.sample,
    }
    text = json.dumps({**drawn_by, "mutants": rows}, indent=1)
    options.output.write_text(text + "\n", encoding="utf-8")
    survivors = [mutant for mutant in sample if known.get(mutant) == "survived"]
    print("\n".join(f"survived: line {mutant.line} of {mutant.place}" for mutant in survivors))
    print(f"{len(sample) - len(survivors)} of {len(sample)} mutants killed: {options.output}")


def read_results(path: Path) -> dict[Mutant, str]:
    """Return what became of the mutants of earlier runs, by mutant; empty without a file."""
    if not path.is_file():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))["mutants"]
    return {Mutant(**{name: row[name] for name in row if name != "end"}): row["end"] for row in rows}


if __name__ == "__main__":
    main()
