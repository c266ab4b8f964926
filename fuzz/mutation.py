"""Mutation tests of the core stations: ``python -m fuzz.mutation --sample 1000 --jobs 16``.

A mutant is one small mistake in one module: ``<`` for ``<=``, ``+`` for ``-``, 1 for 0, a call left out. A
failing test kills it; a mutant that all tests let through shows what no test looks at. Modules are mutated as
syntax trees while they are imported, in a forked process per mutant, so that no file changes and many run at
once. Compiled loops run as Python (``NUMBA_DISABLE_JIT=1``) on the tests marked "compiled".

Tools that rewrite files do not fit: mutmut leaves out decorated functions, which all compiled loops are, and
cosmic-ray needs one copy of the tree, with its caches, per worker.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "propkernels"
STATIONS = ("hashing", "counting", "gram", "propagation", "decisions")
SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
UNCHANGED = -1  # the position of a node that no mutant changes
SLOWEST = 120  # seconds after which a mutant counts as killed: it hangs


@dataclass(frozen=True)
class Mutant:
    """One changed place: module, position of the node among all nodes of the tree, line, and what it says."""

    station: str
    module: str
    node: int
    line: int
    before: str
    after: str

    @property
    def path(self) -> Path:
        """The file of the module."""
        return SOURCE / self.station / f"{self.module}.py"


def is_compiled(path: Path) -> bool:
    """Return whether a module has compiled loops."""
    return "@compiled" in path.read_text(encoding="utf-8")


def nodes_of(tree: ast.Module) -> list[tuple[ast.AST, bool]]:
    """Return all nodes in a fixed order, and whether a change of each can matter.

    Types, decorators, docstrings, messages of errors and assertions do not count.
    """
    found: list[tuple[ast.AST, bool]] = []

    def visit(node: ast.AST, counts: bool) -> None:
        found.append((node, counts))
        for name, value in ast.iter_fields(node):
            inner = counts and name not in ("annotation", "returns", "decorator_list", "type_comment")
            inner = inner and not isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom))
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, inner and not _is_for_types(child))

    visit(tree, True)
    return found


def _is_for_types(node: ast.AST) -> bool:
    """Whether a node is a docstring, or a block for the type checker."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")


def change(node: Any) -> bool:
    """Change a node in place; return whether there is a change for this kind of node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        node.ops[0] = SWAPPED[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(node.op) in SWAPPED:
        node.op = SWAPPED[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        node.value = node.value + 1
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node.value = ast.Constant(None)
    else:
        return False
    return True


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    line, statement = 1, ""
    for number, (node, counts) in enumerate(nodes_of(tree)):
        if isinstance(node, ast.stmt):
            line, statement = node.lineno, ast.unparse(node).splitlines()[0]
        line = getattr(node, "lineno", line)
        changed = copy.deepcopy(node)
        if counts and change(changed):
            before, after = _shown(node, statement), _shown(changed, "")
            yield Mutant(path.parent.name, path.stem, number, line, before, after)


def _shown(node: ast.AST, around: str) -> str:
    """Return a node as code, with the line that it is in where that is known."""
    text = ast.unparse(node).splitlines()[0]
    return f"{text}  in  {around}" if around and around != text else text


def mutated(mutant: Mutant) -> ast.Module:
    """Return the tree of a module with the change of a mutant."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    change(nodes_of(tree)[mutant.node][0])
    return ast.fix_missing_locations(tree)


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


def stages(station: str, module: str, compiled: bool) -> list[list[str]]:
    """Return arguments of pytest by stage: tests of the module, of the station, of kernels or models."""
    tests = ROOT / "tests"
    files = sorted(map(str, (tests / station).glob(f"test_{module}*.py")))
    first = [*files, "-m", "compiled" if compiled else "not slow"]
    users = ["decisions/test_members.py"] if compiled else ["models" if station == "decisions" else "kernels"]
    later = [[str(tests / name), "-m", "not slow"] for name in [station, *users]]
    return [first, *later] if files else later


def run_stages(station: str, module: str, compiled: bool) -> int:
    """Return 0 if the tests of all stages pass; used in a forked process."""
    import pytest

    outcome = 5
    for arguments in stages(station, module, compiled):
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
        code = int(pytest.main([*options, *arguments]))
        if code not in (0, 5):
            return code
        outcome = min(outcome, code)
    return outcome


def child(mutant: Mutant) -> None:
    """Run the tests on a mutant and leave the process: 0 if all pass."""
    quiet = os.open(os.environ.get("MUTATION_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.setpgid(0, 0)
    try:
        if mutant.node != UNCHANGED:
            sys.meta_path.insert(0, Mutation(mutant))
        code = run_stages(mutant.station, mutant.module, is_compiled(mutant.path))
    except BaseException:
        code = 1
    os._exit(code)


def run_all(mutants: Sequence[Mutant], jobs: int, deadline: float) -> list[tuple[Mutant, str]]:
    """Return what became of the mutants: killed, survived or slow; those after the deadline are left out."""
    pending, running = list(mutants)[::-1], dict[int, tuple[Mutant, float]]()
    found: list[tuple[Mutant, str]] = []
    while pending or running:
        while pending and len(running) < jobs and time.monotonic() < deadline:
            mutant = pending.pop()
            process = os.fork()
            if process == 0:
                child(mutant)
            running[process] = mutant, time.monotonic()
        if not running:
            break
        process, status = os.waitpid(-1, os.WNOHANG)
        if process in running:
            mutant, _ = running.pop(process)
            found.append((mutant, "killed" if status else "survived"))
            continue
        for process, (mutant, start) in list(running.items()):
            late = time.monotonic() > deadline + SLOWEST
            if time.monotonic() - start > SLOWEST or late:
                os.killpg(process, signal.SIGKILL)
                os.waitpid(process, 0)
                del running[process]
                if not late:
                    found.append((mutant, "slow"))
        time.sleep(0.02)
    return found


def warm_up() -> None:
    """Import what all tests need, but nothing of the package, before processes are forked."""
    import numba
    import pytest
    import scipy.sparse.linalg
    import sklearn.linear_model
    import sklearn.svm

    assert all((numba, pytest, scipy, sklearn))
    assert not any(name.startswith("propkernels.") for name in sys.modules)


def check_unchanged(modules: Sequence[Mutant], jobs: int) -> None:
    """Raise if the tests of a module fail, or there are none, without any change."""
    for mutant, what in run_all(modules, jobs, time.monotonic() + SLOWEST):
        if what != "survived":
            raise SystemExit(f"the tests of {mutant.station}.{mutant.module} fail without a mutant")


def run_half(sample: Sequence[Mutant], jobs: int, seconds: float, check: bool) -> list[tuple[Mutant, str]]:
    """Run the mutants of modules that are all compiled, or all not."""
    warm_up()
    if check:
        modules = sorted({(m.station, m.module) for m in sample})
        check_unchanged([Mutant(*names, UNCHANGED, 0, "", "") for names in modules], jobs)
    return run_all(sample, jobs, time.monotonic() + seconds)


def table(results: Sequence[tuple[Mutant, str]]) -> str:
    """Return a table of stations, and the list of survivors, as Markdown."""
    lines = ["| station | mutants | killed | survived | killed, % |", "|---|--:|--:|--:|--:|"]
    for name in (*STATIONS, "all"):
        counts = Counter(what for mutant, what in results if name in (mutant.station, "all"))
        total, survived = sum(counts.values()), counts["survived"]
        if total:
            share = 100 * (total - survived) / total
            lines.append(f"| {name} | {total} | {total - survived} | {survived} | {share:.1f} |")
    lines.append("")
    for mutant, what in sorted(results, key=lambda pair: (str(pair[0].path), pair[0].line)):
        if what == "survived":
            place = f"{mutant.station}/{mutant.module}.py:{mutant.line}"
            lines.append(f"- `{place}`: `{mutant.before}` -> `{mutant.after}`")
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> None:
    """Draw a sample of mutants, run it in two halves, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stations", nargs="+", default=list(STATIONS))
    parser.add_argument("--modules", nargs="+", help="Only modules of these names.")
    parser.add_argument("--sample", type=int, default=1000, help="Number of mutants.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3600, help="Start no mutant after this time.")
    parser.add_argument("--no-check", action="store_true", help="Do not run tests without a mutant first.")
    parser.add_argument("--half", choices=["compiled", "python"], help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, default=Path("mutation.json"))
    options = parser.parse_args(words)
    if options.half is None:
        halves = []
        for half, disabled in (("python", "0"), ("compiled", "1")):
            file = options.output.with_suffix(f".{half}.json")
            command = [sys.executable, "-m", "fuzz.mutation", *(words or sys.argv[1:]), "--half", half]
            environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "OMP_NUM_THREADS": "1"}
            subprocess.run([*command, "-o", str(file)], check=True, env=environment)
            halves += json.loads(file.read_text())
            file.unlink()
        options.output.write_text(json.dumps(halves, indent=1))
        print(table([(Mutant(**mutant), what) for mutant, what in halves]))
        return
    paths = [path for s in options.stations for path in sorted((SOURCE / s).glob("*.py"))]
    everything = [m for path in paths for m in mutants_of(path)]
    chosen = [m for m in everything if options.modules is None or m.module in options.modules]
    sample = random.Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    mine = [m for m in sample if is_compiled(m.path) == (options.half == "compiled")]
    share = options.seconds * len(mine) / max(len(sample), 1)
    results = run_half(mine, options.jobs, share, not options.no_check)
    options.output.write_text(json.dumps([(asdict(mutant), what) for mutant, what in results]))
    print(
        f"{options.half}: {len(results)} of {len(mine)} mutants ({len(everything)} in all)", file=sys.stderr
    )


if __name__ == "__main__":
    main()
