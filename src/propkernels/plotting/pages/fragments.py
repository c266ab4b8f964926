"""HTML of results for notebooks: a title, then tables, drawings and remarks, with all texts escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from propkernels.plotting.pages.render import render_fragment


@dataclass(frozen=True)
class Table:
    """A table; numbers are right-aligned, and cells may be drawings.

    Attributes
    ----------
    head : sequence of str
    rows : sequence of sequences
    caption : str
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Drawing:
    """An SVG element, inserted without escaping: its texts must be escaped by its creator.

    Attributes
    ----------
    svg : str
    caption : str
    """

    svg: str
    caption: str = ""
    kind: str = "drawing"

    def __html__(self) -> str:
        """Return the markup that templates insert without escaping."""
        return self.svg


@dataclass(frozen=True)
class Drawings:
    """Drawings side by side."""

    items: Sequence[Drawing]
    kind: str = "drawings"


@dataclass(frozen=True)
class Remark:
    """A sentence in a soft color."""

    text: str
    kind: str = "remark"


def show_result(title: str, *parts: Table | Drawing | Drawings | Remark) -> str:
    """Return self-contained HTML without scripts, for ``_repr_html_``.

    Parameters
    ----------
    title : str
        One line, as in ``repr``.
    *parts : Table, Drawing, Drawings or Remark
        Shown one below the other.

    Examples
    --------
    >>> html = show_result("a <result>", Table(["node", "label"], [[1, "<b>"]]))
    >>> "a &lt;result&gt;" in html, "&lt;b&gt;" in html, "<b>" in html
    (True, True, False)
    """
    return render_fragment("plotting/result.html.j2", title=title, parts=parts)
