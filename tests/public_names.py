"""Public names, signatures and members, as text; ``python -m tests.public_names`` writes the golden file."""

import inspect
import re
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


def members(thing: Any) -> list[str]:
    """Public methods, properties and fields of a class that this package defines."""
    if not inspect.isclass(thing):
        return []
    ours = [vars(cls) for cls in thing.__mro__ if cls.__module__.startswith("propkernels")]
    return sorted({name for found in ours for name in found if not re.match("_|set_.*_request", name)})


def lines(name: str, thing: Any) -> list[str]:
    """A name with its signature, and the members of a class."""
    inner = members(thing)
    return [f"{name}{signature(thing)}", *([f"    .{' .'.join(inner)}"] if inner else [])]


def listing() -> str:
    """Public names, sorted: a line with the signature each, and a line of members for classes."""
    return "".join(f"{line}\n" for name, thing in sorted(public().items()) for line in lines(name, thing))


if __name__ == "__main__":
    GOLDEN.write_text(listing(), encoding="utf-8")
