"""Mutants of a module: copies with one mistake, ``<`` for ``<=``, ``+`` for ``-``, 1 for 0, or no call."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src" / "propkernels"
MODULE = 0  # the function of a mutant outside of functions: it takes effect when the module is imported
UNCHANGED = -1  # the position of a node that no mutant changes
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


@dataclass(frozen=True)
class Mutant:
    """One changed place: module, first line of the function, position of the node in the tree, line, text."""

    station: str
    module: str
    function: int
    node: int
    line: int
    before: str
    after: str

    @property
    def path(self) -> Path:
        """The file of the module."""
        return SOURCE / self.station / f"{self.module}.py"

    @property
    def place(self) -> str:
        """What the mutant changes, without the number of its line, which moves."""
        return f"{self.station}/{self.module}.py: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Place:
    """A node of a tree, the first line of the function that it is in, and whether a change can matter."""

    node: ast.AST
    function: int
    counts: bool


def is_compiled(path: Path) -> bool:
    """Return whether a module has compiled loops."""
    return "@compiled" in path.read_text(encoding="utf-8")


def places_of(tree: ast.Module) -> list[Place]:
    """Return all nodes in a fixed order.

    A change of types, decorators, docstrings, messages of errors and assertions does not matter. Defaults of
    parameters are part of what surrounds their function.
    """
    found: list[Place] = []

    def visit(node: ast.AST, function: int, counts: bool) -> None:
        found.append(Place(node, function, counts))
        for name, value in ast.iter_fields(node):
            inner = counts and name not in ("annotation", "returns", "decorator_list", "type_comment")
            inner = inner and not isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom))
            is_body = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and name == "body"
            around = _first_line(node) if is_body else function
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    visit(child, around, inner and not _is_for_types(child))

    visit(tree, MODULE, True)
    return found


def _first_line(function: Any) -> int:
    """Return the line where the code of a function begins: that of its first decorator."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


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
    line, statement = 1, ""
    for number, place in enumerate(places_of(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(place.node, ast.stmt):
            statement = ast.unparse(place.node).splitlines()[0]
        line = getattr(place.node, "lineno", line)
        changed = copy.deepcopy(place.node)
        if place.counts and change(changed):
            before, after = _shown(place.node, statement), _shown(changed, "")
            yield Mutant(path.parent.name, path.stem, place.function, number, line, before, after)


def _shown(node: ast.AST, around: str) -> str:
    """Return a node as code, with the line that it is in where that is known."""
    text = ast.unparse(node).splitlines()[0]
    return f"{text}  in  {around}" if around and around != text else text


def mutated(mutant: Mutant) -> ast.Module:
    """Return the tree of a module with the change of a mutant."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    if mutant.node != UNCHANGED:
        change(places_of(tree)[mutant.node].node)
    return ast.fix_missing_locations(tree)
