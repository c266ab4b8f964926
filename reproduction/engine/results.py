"""RESULTS.md, tables as CSV and figures as PNG and SVG, from what the store holds."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from propkernels.utils.files import atomic_write
from reproduction.engine.cells import plain_name, write_text
from reproduction.engine.published import BETTER, MATCHES, WORSE, read_package_file
from reproduction.engine.sections import Chapter, Section


def write_results(chapters: Sequence[Chapter], document: Path) -> None:
    """Write the document, and its figures and tables beside it.

    Parameters
    ----------
    chapters : sequence of Chapter
    document : path
        The Markdown file; figures go into the folder "pictures" beside it, tables into "results".
    """
    pictures, tables = document.parent / "pictures", document.parent / "results"
    for one in chapters:
        save_tables(one, tables)
        save_figures(one, pictures)
    write_text(document, markdown(chapters, pictures.name))


def markdown(chapters: Sequence[Chapter], pictures: str) -> str:
    """Return the document."""
    parts = [str(read_package_file("about.toml")["introduction"]["about"]), count_verdicts(chapters)]
    for one in chapters:
        parts += [f"## {one.experiment.title}", f"`propkernels reproduce {one.experiment.name}`"]
        parts += [one.experiment.about] if one.experiment.about else []
        for section in one.sections:
            parts += [part for part in _section(section, pictures) if part]
    return "\n\n".join(parts) + "\n"


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
    verdicts = Counter(verdict for section in sections for verdict in section.verdicts)
    total = sum(verdicts.values())
    if not total:
        return ""
    gaps = [gap for section in sections for gap in section.gaps]
    good = verdicts[MATCHES] + verdicts[BETTER]
    details = ", ".join(f"{verdicts[kind]} {kind}" for kind in (MATCHES, BETTER, WORSE))
    share = f"{good} of {total} accuracies ({100 * good / total:.0f} %)"
    repeated = sum(section.n_repeated for section in sections)
    text = (
        f"- **{title}**: {share} match or beat the paper ({details}); {repeated} have three repeats or more."
    )
    return text + _gaps(gaps)


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
            paths.append(folder / f"{plain_name(section.title.replace(':', '')).lower()}.csv")
            write_text(paths[-1], csv_text(section))
    return paths


def csv_text(section: Section) -> str:
    """Return a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([section.columns, *section.rows])
    return text.getvalue()


def save_figures(one: Chapter, folder: Path) -> list[Path]:
    """Write each figure as PNG and as SVG."""
    paths = []
    for section in one.sections:
        for name, draw in section.figures.items():
            folder.mkdir(parents=True, exist_ok=True)
            figure = draw()
            for suffix in ("png", "svg"):
                paths.append(folder / f"{name}.{suffix}")
                save_reproducibly(figure, paths[-1])
    return paths


def save_reproducibly(figure: Any, path: Path) -> None:
    """Save a figure so that the same drawing gives the same file."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "propkernels", "svg.fonttype": "none"}):
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with atomic_write(path) as stream:
            figure.savefig(stream, format=path.suffix[1:], dpi=130, metadata=metadata)
