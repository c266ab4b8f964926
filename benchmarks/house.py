"""The size and shape of the code: ``python -m benchmarks.house [TREE ...]``.

For each source tree (a folder that contains ``src/propkernels``; by default this one) it prints modules,
lines and ratios, and follows a few calls through the package: how many files a reader has to open, and how
deep the calls are nested. Each walk is a second, warm call in a fresh process, watched by
``sys.setprofile``; other threads and compiled functions are not seen. ``--files`` lists the files of each
walk, with their lines and the functions that are called in them.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
SUMMARY = "The size and shape of the code."
TREES = "folders that contain src/propkernels"
FIGURES = "{files} files, depth {depth}, {functions} functions"
COMPILED = "_compiled.py"  # functions that run as Python until there is machine code
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class Walk:
    """Count the package's files and functions that a call goes through."""

    def __init__(self, package: Path) -> None:
        self.package = str(package) + os.sep
        self.files: set[str] = set()
        self.functions: set[tuple[str, str]] = set()
        self.edges: set[tuple[str, str]] = set()
        self.stack: list[str] = []
        self.depth = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Follow one event of the interpreter."""
        name = frame.f_code.co_filename
        if event not in ("call", "return") or not name.startswith(self.package):
            return
        if name.endswith(COMPILED):
            return
        if event == "return":
            if self.stack:
                self.stack.pop()
            return
        if self.stack and self.stack[-1] != name:
            self.edges.add((self.stack[-1], name))
        self.files.add(name)
        self.functions.add((name, frame.f_code.co_qualname))
        self.stack.append(name)
        self.depth = max(self.depth, len(self.stack))


def walks() -> dict[str, Callable[[], Any]]:
    """The calls that are followed; each does the same work whenever it is called."""
    import numpy as np
    from sklearn.base import clone

    import propkernels as pk

    data = pk.datasets.make_molecules(60, random_state=0)
    attributes = np.random.default_rng(0).normal(size=(data.graphs.n_nodes, 2))
    arguments = (data.graphs.adjacency, data.graphs.graph_ptr, data.graphs.node_labels, attributes)
    attributed = pk.GraphDatabase(*arguments)
    grids = pk.GridDatabase([np.random.default_rng(i).integers(0, 3, (12, 12)) for i in range(8)])
    model = pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    plain = pk.PropagationClassifier(kernel=pk.PropagationKernel(), random_state=0)
    fitted = clone(plain).fit(data.graphs, data.target)
    return {
        "PropagationKernel().fit_transform": lambda: pk.PropagationKernel().fit_transform(data.graphs),
        "PropagationClassifier().fit()": lambda: pk.PropagationClassifier(random_state=0).fit(
            data.graphs, data.target
        ),
        "PropagationClassifier().fit().explain()": lambda: (
            pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target).explain(data.graphs)
        ),
        ".explain() alone": lambda: model.explain(data.graphs),
        ".predict() alone": lambda: model.predict(data.graphs),
        "the same with kernel=PropagationKernel()": lambda: plain.fit(data.graphs, data.target).explain(
            data.graphs
        ),
        "its .explain() alone": lambda: fitted.explain(data.graphs),
        "PropagationKernel on a GridDatabase": lambda: pk.PropagationKernel().fit_transform(grids),
        "P2K().fit_transform": lambda: pk.P2K(random_state=0).fit_transform(attributed),
        "propkernels evaluate MUTAG": _evaluate,
    }


def _evaluate() -> None:
    from propkernels.cli.app import app

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            app(["evaluate", "MUTAG", "--folds", "3", "--t-max", "2"], prog_name="propkernels")
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"propkernels evaluate MUTAG ended with {end.code}") from end


def follow(package: Path) -> dict[str, dict[str, Any]]:
    """Files, functions, edges between files, depth, and functions by file, of every walk."""
    figures: dict[str, dict[str, Any]] = {}
    for name, call in walks().items():
        if "MUTAG" in name and not os.environ.get("PROPKERNELS_DATA"):
            continue
        call()
        walk = Walk(package)
        sys.setprofile(walk)
        try:
            call()
        finally:
            sys.setprofile(None)
        counts = (walk.files, walk.functions, walk.edges)
        figures[name] = dict(zip(("files", "functions", "edges"), map(len, counts), strict=True))
        figures[name]["depth"] = walk.depth
        by_file: dict[str, list[str]] = {}
        for file, function in sorted(walk.functions):
            by_file.setdefault(str(Path(file).relative_to(package)), []).append(function)
        figures[name]["by_file"] = by_file
    return figures


def follow_tree(tree: Path) -> dict[str, dict[str, Any]]:
    """The walks through another source tree, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)])}
    command = [sys.executable, "-P", str(Path(__file__)), "--follow", str(tree / "src" / "propkernels")]
    done = subprocess.run(command, env=environment, cwd=tree, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def count_lines(text: str) -> Counter[str]:
    """Lines of code, docstrings, comments and nothing; a comment behind code counts as code."""
    documented = {line for node in ast.walk(ast.parse(text)) for line in _docstring_lines(node)}
    code, comments = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    code -= documented
    n_lines = len(text.splitlines())
    kinds = {"code": len(code), "docstring": len(documented), "comment": len(comments - code)}
    return Counter(kinds | {"lines": n_lines, "blank": n_lines - sum(kinds.values())})


def _docstring_lines(node: ast.AST) -> range:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(node, kinds) or ast.get_docstring(node) is None:
        return range(0)
    text = node.body[0]
    return range(text.lineno, (text.end_lineno or text.lineno) + 1)


def measure_tree(tree: Path) -> dict[str, Any]:
    """Modules, lines and ratios of a source tree."""
    package = tree / "src" / "propkernels"
    files = sorted(package.rglob("*.py"))
    counts = [count_lines(file.read_text(encoding="utf-8")) for file in files]
    total = sum(counts, Counter[str]())
    folders = Counter(file.parent for file in files)
    largest, n_files = folders.most_common(1)[0]
    return {
        "modules": len(files),
        "lines": total["lines"],
        "lines of code": total["code"],
        "median module (lines)": int(median(count["lines"] for count in counts)),
        "modules under 60 lines": sum(count["lines"] < 60 for count in counts),
        "largest module (lines)": max(count["lines"] for count in counts),
        "folders": len(folders),
        "largest folder (files)": f"{n_files} ({largest.relative_to(package.parent)})",
        "docstring lines per line of code": round(total["docstring"] / total["code"], 3),
        "comment lines": total["comment"],
        "comment lines per line of code": round(total["comment"] / total["code"], 4),
    }


def list_files(tree: Path, walks: dict[str, dict[str, Any]]) -> None:
    """Print which files of a tree each walk goes through, how long they are, and what is called in them."""
    for name, figures in walks.items():
        print(f"\n{name}: {FIGURES.format(**figures)}")
        for file, functions in figures["by_file"].items():
            n_lines = len((tree / "src" / "propkernels" / file).read_text(encoding="utf-8").splitlines())
            shown = [function for function in functions if "<" not in function]
            print(f"  {file} ({n_lines} lines): {', '.join(shown)}")


def show(trees: Sequence[Path], files: bool = False) -> None:
    """Print one column per tree; where asked for, the files of each walk as well."""
    sizes = [measure_tree(tree) for tree in trees]
    paths = [follow_tree(tree) for tree in trees]
    rows = [["", *map(str, trees)]]
    rows += [[key, *(str(size[key]) for size in sizes)] for key in sizes[0]]
    for name in paths[0]:
        figures = [path[name] for path in paths]
        rows.append([name, *(FIGURES.format(**each) for each in figures)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for tree, path in zip(trees, paths, strict=True) if files else ():
        list_files(tree, path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description=SUMMARY)
    parser.add_argument("trees", nargs="*", type=Path, default=[ROOT], help=TREES)
    parser.add_argument("--files", action="store_true", help="list the files that each walk goes through")
    parser.add_argument("--follow", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.follow is not None:
        print(json.dumps(follow(options.follow)))
        return
    show([tree.resolve() for tree in options.trees], options.files)


if __name__ == "__main__":
    main()
