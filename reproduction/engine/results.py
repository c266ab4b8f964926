"""The report: a Markdown document, its tables as CSV and its figures as PNG."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from reproduction.engine.cells import write_text
from reproduction.engine.earlier import figure_links, split_document, with_better_rows
from reproduction.engine.published import BETTER, FEW_REPEATS, MATCHES, WORSE, read_package_file
from reproduction.engine.sections import Chapter, Section

VERDICTS = (MATCHES, BETTER, WORSE)
DOTS_PER_INCH = 130


def write_results(chapters: Sequence[Chapter], document: Path, update: bool = False) -> None:
    """Write the document, and its figures and tables beside it.

    Parameters
    ----------
    chapters : sequence of Chapter
    document : path
        The Markdown file; figures go into the folder "pictures" beside it, tables into "results".
    update : bool
        Keep what an earlier version of the document has with more repeats; see :mod:`~.earlier`.
    """
    pictures, tables = document.parent / "pictures", document.parent / "results"
    earlier = split_document(document) if update else {}
    merged = [with_better_rows(one, tables) if update else one for one in chapters]
    texts = [str(read_package_file("about.toml")["introduction"]["about"]), count_verdicts(merged)]
    for new, one in zip(chapters, merged, strict=True):
        if new.is_empty and not new.has_accuracies and new.experiment.name in earlier:
            texts.append(earlier[new.experiment.name])
            continue
        texts.append(chapter_text(one, pictures.name, figure_links(earlier.get(new.experiment.name, ""))))
        save_tables(one, tables)
        if one.sections == new.sections:
            save_figures(new, pictures)
    write_text(document, "\n\n".join(texts) + "\n")


def chapter_text(one: Chapter, pictures: str, earlier: Mapping[str, list[str]] = MappingProxyType({})) -> str:
    """Return the Markdown of an experiment; sections that draw nothing keep their earlier figures."""
    parts = [f"## {one.experiment.title}", f"`python -m reproduction {one.experiment.name}`"]
    parts += [one.experiment.about] if one.experiment.about else []
    for section in one.sections:
        parts += [part for part in _section(section, pictures) if part]
        parts += [] if section.figures else earlier.get(section.title, [])
    return "\n\n".join(parts)


def _section(section: Section, pictures: str) -> Iterator[str]:
    yield f"### {section.title}"
    yield markdown_table(section)
    yield "\n".join(f"- {note}" for note in section.notes)
    for name in section.figures:
        yield f"![{section.title}]({pictures}/{name}.png)"


def markdown_table(section: Section) -> str:
    """Return a table, without columns that are empty throughout."""
    if not section.rows:
        return ""
    kept = [i for i in range(len(section.columns)) if any(row[i] for row in section.rows)]
    lines = [[section.columns[i] for i in kept], ["---"] * len(kept)]
    lines += [[row[i].replace("|", "\\|") for i in kept] for row in section.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def count_verdicts(chapters: Sequence[Chapter]) -> str:
    """Say how many accuracies match the paper, on its data and on stand-ins."""
    sections = [section for one in chapters for section in one.sections]
    lines = [
        _count(title, [section for section in sections if section.is_stand_in == flag])
        for title, flag in (("On the paper's data", False), ("On stand-ins", True))
    ]
    return "\n".join(["## In short", "", *filter(None, lines)])


def _count(title: str, sections: Sequence[Section]) -> str:
    """One line; nothing where no accuracy is compared with the paper's."""
    rows = [
        (dict(zip(section.columns, row, strict=True)), section.repeats(row))
        for section in sections
        if section.has_repeats
        for row in section.rows
    ]
    compared = [(row["verdict"], repeats) for row, repeats in rows if row["verdict"] in VERDICTS]
    if not compared:
        return ""
    verdicts = Counter(verdict for verdict, _ in compared)
    good = verdicts[MATCHES] + verdicts[BETTER]
    details = ", ".join(f"{verdicts[kind]} {kind}" for kind in VERDICTS)
    share = f"{good} of {len(compared)} accuracies ({100 * good / len(compared):.0f} %)"
    repeated = sum(repeats >= FEW_REPEATS for _, repeats in compared)
    text = (
        f"- **{title}**: {share} match or beat the paper ({details}); {repeated} have three repeats or more."
    )
    return text + _gaps([row["why"] for row, repeats in rows if not repeats and "±" in row["paper"]])


def _gaps(gaps: Sequence[str]) -> str:
    """Say how many cells are missing, and why."""
    absent = sum(gap.startswith("absent") for gap in gaps)
    others = len(gaps) - absent
    text = f" {absent} more are of data sets that are absent." if absent else ""
    return text + (f" {others} more were not run; the tables say why." if others else "")


def save_tables(one: Chapter, folder: Path) -> list[Path]:
    """Write each table as CSV."""
    paths = []
    for section in one.sections:
        if section.rows:
            paths.append(folder / section.file_name)
            write_text(paths[-1], csv_text(section))
    return paths


def csv_text(section: Section) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([section.columns, *section.rows])
    return text.getvalue()


def save_figures(one: Chapter, folder: Path) -> list[Path]:
    """Write each figure as PNG."""
    paths = []
    for section in one.sections:
        for name, draw in section.figures.items():
            folder.mkdir(parents=True, exist_ok=True)
            paths.append(folder / f"{name}.png")
            draw().savefig(paths[-1], dpi=DOTS_PER_INCH)
    return paths
