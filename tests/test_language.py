"""American spelling of identifiers, and no paths of the developers' machines."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [
    "src",
    "tests",
    "docs",
    "benchmarks",
    "reproduction",
    "examples",
    "paper",
    "conda",
    ".github",
]
TEXTS = (".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".cff", ".csv", ".json")
FILES = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
BUILT = {ROOT / "docs" / name for name in ("_build", "gallery", "api/generated")}  # by make docs
TEXT_FILES = sorted(
    path
    for path in FILES
    if path.is_file() and path.suffix in TEXTS and path != Path(__file__) and not BUILT & set(path.parents)
)

MACHINE = re.compile(r"(?<![\w.])/(work|root|farm|home|dev/shm)/\w")
PRIVATE = re.compile(r"\(design, section|the issue named|\.\./shared\b")
KEPT = {"centre"}  # a field of saved models
BRITISH = re.compile(
    r"neighbour|colour|(?<!un)labelled|unlabelled|favour|behaviour|centre(?!d)|grey"
    r"|(normal|standard|quant|regular|equal|initial|optim|summar|general|recogn|random|parametr|penal)is(e|ed|es|ing|ation|er)\b"
)


def lines_with(pattern, paths):
    """Lines in which a pattern occurs, as file:line."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"


def identifiers(path):
    """Names that a file defines: functions, classes, arguments and variables."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


@pytest.mark.parametrize("pattern", [MACHINE, PRIVATE], ids=["paths", "documents"])
def test_nothing_of_the_developers_machines(pattern):
    found = list(lines_with(pattern, TEXT_FILES))
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["src", "benchmarks", "reproduction"])
def test_american_identifiers(folder):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, name in identifiers(path)
        if BRITISH.search(name.lower()) and name not in KEPT
    ]
    assert not found, "\n".join(found)
