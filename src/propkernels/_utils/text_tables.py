"""Numbers and tables as text."""

from __future__ import annotations

from collections.abc import Sequence


def format_number(value: float) -> str:
    """Return a number as text, with a sign and four digits.

    Examples
    --------
    >>> format_number(-0.0123456), format_number(0.0)
    ('-0.01235', '0')
    """
    return f"{value:+.4g}" if value else "0"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str] = ()) -> str:
    """Return an aligned text table with a header; columns in ``left`` are left-aligned, others right-aligned.

    Examples
    --------
    >>> print(format_table(["node", "label"], [["12", "C"], ["3", "Cl"]], left=["label"]))
    node  label
      12  C
       3  Cl
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ).rstrip()
        for row in (head, *rows)
    ]
    return "\n".join(lines)
