"""What notebooks show of results: a title, and below it tables, drawings and remarks, all of them escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from propkernels._pages.render import render_fragment


@dataclass(frozen=True)
class Table:
    """A table; numbers stand to the right. Cells may be drawings.

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
    """An SVG element, which is printed as it is: whoever makes one escapes the texts in it.

    Attributes
    ----------
    svg : str
    caption : str
    """

    svg: str
    caption: str = ""
    kind: str = "drawing"

    def __html__(self) -> str:
        """Templates print this without escaping it."""
        return self.svg


@dataclass(frozen=True)
class Drawings:
    """Drawings side by side."""

    items: Sequence[Drawing]
    kind: str = "drawings"


@dataclass(frozen=True)
class Remark:
    """A sentence below the rest."""

    text: str
    kind: str = "remark"


def show_result(title: str, *parts: Table | Drawing | Drawings | Remark) -> str:
    """Return what ``_repr_html_`` gives a notebook: HTML without scripts that needs nothing else.

    Parameters
    ----------
    title : str
        One line, as ``repr`` says it.
    *parts : Table, Drawing, Drawings or Remark
        Shown one below the other.

    Examples
    --------
    >>> html = show_result("a <result>", Table(["node", "label"], [[1, "<b>"]]))
    >>> "a &lt;result&gt;" in html, "&lt;b&gt;" in html, "<b>" in html
    (True, True, False)
    """
    return render_fragment("_pages/result.html.j2", title=title, parts=parts)
