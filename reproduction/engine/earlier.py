"""Bringing a document up to date: what an earlier run has measured better stays as it is.

A full run takes many hours, so that results usually come in parts. ``report --update`` replaces a row of a
table of accuracies, and the runtime that belongs to it, only where the store has at least as many repeats.
Experiments without such tables, of which the store has nothing, stay word for word, as do links to figures
that the store cannot draw.
"""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

from reproduction.engine.sections import Chapter, Row, Section

Key = tuple[str, ...]


def split_document(document: Path) -> dict[str, str]:
    r"""Return the chapters of an earlier document by the name of their experiment; none without a document.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.md"
    >>> _ = path.write_text("# Results\n\n## Labels\n\n`python -m reproduction labels`\n\nText.\n")
    >>> split_document(path)
    {'labels': '## Labels\n\n`python -m reproduction labels`\n\nText.'}
    """
    if not document.is_file():
        return {}
    parts = re.split(r"(?m)^(?=## )", document.read_text(encoding="utf-8"))
    named = [(re.search(r"(?m)^`python -m reproduction (\w+)`$", part), part) for part in parts]
    return {found.group(1): part.strip() for found, part in named if found}


def figure_links(text: str) -> dict[str, list[str]]:
    r"""Return the lines of a chapter that show a figure, by the title of their section.

    Examples
    --------
    >>> figure_links("### Runtimes\n\n![Runtimes](pictures/runtimes.png)")
    {'Runtimes': ['![Runtimes](pictures/runtimes.png)']}
    """
    links: dict[str, list[str]] = {}
    for line, title in re.findall(r"(?m)^(!\[(.*?)\]\(.*\))$", text):
        links.setdefault(title, []).append(line)
    return links


def with_better_rows(chapter: Chapter, tables: Path) -> Chapter:
    """Return a chapter with those rows of its earlier tables that have more repeats than the new ones.

    Parameters
    ----------
    chapter : Chapter
        Its tables of accuracies have a column "repeats"; the table of runtimes follows that of accuracies.
    tables : path
        Folder of the earlier tables, as CSV.
    """
    sections: list[Section] = []
    order: list[Key] = []
    kept: set[Key] = set()
    for section in chapter.sections:
        earlier = _read(tables / section.file_name, section.columns)
        if section.has_repeats:
            ours = {row[:2]: section.repeats(row) for row in section.rows}
            order = list(ours)
            kept = {key for key in order if key in earlier and section.repeats(earlier[key]) > ours[key]}
        sections.append(_merge(section, earlier, order, kept) if kept and section.columns else section)
    return replace(chapter, sections=sections)


def _merge(section: Section, earlier: dict[Key, Row], order: list[Key], kept: set[Key]) -> Section:
    """Take the rows that are kept from the earlier table, and the others from the new one."""
    ours = {row[:2]: row for row in section.rows}
    rows = [found for key in order if (found := (earlier if key in kept else ours).get(key)) is not None]
    n_kept = sum(key in earlier for key in kept)
    note = f"{n_kept} of {len(rows)} rows come from an earlier run, with more repeats than the latest."
    return replace(section, rows=rows, notes=[*section.notes, note])


def _read(path: Path, columns: tuple[str, ...]) -> dict[Key, Row]:
    """Return the rows of an earlier table by their first two cells; none where it has other columns."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = map(tuple, csv.reader(file))
    return {row[:2]: row for row in rows} if head == columns else {}
