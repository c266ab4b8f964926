"""A report as Markdown: sentences and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from propkernels.auditing.rendering.outline import Section, Table, outline

if TYPE_CHECKING:
    from propkernels.auditing.result import Audit

_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\`*_{}[]<>#|"})


def markdown(found: Audit) -> str:
    """Return a report as Markdown."""
    parts = [f"# Audit of {plain(found.name)}", about(found)]
    for section in outline(found):
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def about(found: Audit) -> str:
    """How the numbers were made."""
    looked = "all graphs" if found.sample is None else f"a sample of {len(found.sample):,} graphs"
    return (
        f"Scores are those of nested cross-validation on {looked} with `{found.kernel}`, normalized, and "
        f"kernel ridge; everything is chosen inside the training parts. Seed {found.random_state}."
    )


def _section(section: Section) -> list[str]:
    said = "\n".join(f"- {plain(sentence.text)}" for sentence in section.sentences)
    return [f"## {section.title}", *([said] if said else []), *(_table(table) for table in section.tables)]


def _table(table: Table) -> str:
    lines = [
        f"**{plain(table.title)}**",
        "",
        _row(table.head),
        "|" + "---|" * len(table.head),
        *(_row(row) for row in table.rows),
    ]
    return "\n".join(lines)


def _row(cells: tuple[Any, ...]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return plain(str(value))


def plain(text: str) -> str:
    r"""Text whose signs mean nothing in Markdown.

    Examples
    --------
    >>> print(plain("<b>*C*\n"))
    \<b\>\*C\*
    """
    return " ".join(text.split()).translate(_MARKS)
