"""Public names with their signatures, as text; ``python -m tests.public_names`` writes the golden file."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import propkernels as pk

GOLDEN = Path(__file__).parent / "golden" / "public_names.txt"


def public() -> dict[str, Any]:
    """Names of the top level, and of its modules where the top level does not have them."""
    things = {name: getattr(pk, name) for name in pk.__all__ if not name.startswith("_")}
    modules = {name: thing for name, thing in things.items() if inspect.ismodule(thing)}
    inner = {
        f"{name}.{part}": getattr(module, part)
        for name, module in modules.items()
        for part in module.__all__
        if part not in things
    }
    return {name: thing for name, thing in things.items() if name not in modules} | inner


def signature(thing: Any) -> str:
    """Names and defaults of the parameters, without types; nothing for what has no signature of its own."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return ""
    found = inspect.signature(thing)
    bare = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def listing() -> str:
    """One line per public name, sorted."""
    return "".join(f"{name}{signature(thing)}\n" for name, thing in sorted(public().items()))


if __name__ == "__main__":
    GOLDEN.write_text(listing(), encoding="utf-8")
