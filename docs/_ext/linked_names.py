"""Names in code style, such as ``PropagationKernel(t_max=3)`` or ``pk.evaluate``, lead to the reference."""

from __future__ import annotations

import re
from functools import cache
from inspect import ismodule
from typing import Any

from docutils import nodes
from sphinx import addnodes

NAME = re.compile(r"(?:pk\.|propkernels\.)?((?:[a-z]+\.)?\w+)(?:\(.*\))?", re.DOTALL)


@cache
def public() -> dict[str, str]:
    """Return full names by what a page may call them."""
    import propkernels as pk

    names = {name: f"propkernels.{name}" for name in pk.__all__ if not name.startswith("_")}
    for module in [name for name in names if ismodule(getattr(pk, name))]:
        names.pop(module)
        for name in getattr(pk, module).__all__:
            full = f"propkernels.{name}" if name in names else f"propkernels.{module}.{name}"
            names |= {f"{module}.{name}": full}
            if name[0].isupper() or name.startswith(("plot_", "draw_")):
                names[name] = full
    return names


def link(app: Any, doctree: nodes.document) -> None:
    """Turn names into references, except in headings and inside links."""
    if app.env.docname.startswith(("api/", "gallery/")):
        return
    for literal in list(doctree.findall(nodes.literal)):
        found = NAME.fullmatch(literal.astext())
        target = public().get(found.group(1)) if found else None
        around = literal.parent
        if target is None or isinstance(around, nodes.title | nodes.reference | addnodes.pending_xref):
            continue
        reference = addnodes.pending_xref(
            "",
            refdomain="py",
            reftype="obj",
            reftarget=target,
            refexplicit=True,
            refdoc=app.env.docname,
            refwarn=True,
        )
        around.replace(literal, reference)
        reference += literal


def setup(app: Any) -> dict[str, bool]:
    """Ask for every page that was read."""
    app.connect("doctree-read", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
