"""Methods that our estimators inherit from scikit-learn refer to its own pages: keep the words only."""

from __future__ import annotations

import re
from typing import Any

THEIRS = re.compile(r":(?:ref|term):`([^`<]+?)\s*(?:<[^`>]+>)?`")
EXAMPLE = re.compile(r"[Rr]efer to the (:ref:`[^`]+`) for more details\s+and :ref:`sphx_glr[^`]*`[^.]*\.")
PLUMBING = re.compile(r"set_\w+_request|get_metadata_routing")


def in_words(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Replace references that only scikit-learn's site can resolve."""
    text = EXAMPLE.sub("Refer to scikit-learn's user guide for more details.", "\n".join(lines))
    lines[:] = THEIRS.sub(r"\1", text).split("\n")


def skip(app: Any, what: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what meta-estimators of scikit-learn call, and nobody else."""
    return True if PLUMBING.fullmatch(name) else None


def setup(app: Any) -> dict[str, bool]:
    """Ask for every docstring and member."""
    app.connect("autodoc-process-docstring", in_words, priority=900)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
