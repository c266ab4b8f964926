"""The report: a Markdown document, its tables as CSV and its figures as PNG."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reproduction.engine.cells import Store, measured_on, write_text
from reproduction.engine.published import (
    BETTER,
    FEW_REPEATS,
    MATCHES,
    PUBLISHED_REPEATS,
    WORSE,
    read_package_file,
)
from reproduction.engine.questions import answers
from reproduction.engine.sections import Experiment, Section
from reproduction.engine.tables import Summary, compared_section, differing_section, summaries
from reproduction.experiments import sensitivity, statistics

TABLES = ("labelled", "partially_labelled", "attributed", "point_clouds", "grids")
VERDICTS = (MATCHES, BETTER, WORSE)
DOTS_PER_INCH, CORES = 130, 16


def write_results(known: Mapping[str, Experiment], store: Store, document: Path) -> None:
    """Write the document from what the store holds, and its folders "pictures" and "results" (tables)."""
    found = {name: summaries(known[name].state(store)) for name in TABLES}
    parts = [str(read_package_file("about.toml")["introduction"]["about"])]
    lead = lead_sections(known, store, found)
    maps, facts = sensitivity.maps_of(known["sensitivity"].state(store)), statistics.known_facts(store)
    (seconds,) = known["runtimes"].sections(known["runtimes"].state(store))
    questions = answers(found, maps, facts, seconds)
    head = "The paper's four questions, answered by these measurements"
    chapters: list[tuple[str, Sequence[Section]]] = [("", lead), (f"## {head}", questions)]
    others = [one for one in known.values() if one.name != "runtimes"]  # its table answers a question
    chapters += [(_heading(one), one.sections(one.state(store))) for one in others]
    for heading, sections in chapters:
        save(sections, document.parent / "results", document.parent / "pictures")
        shown = [one for one in sections if one.figures or (one.notes if one.only_file else one.rows)]
        parts += [heading] if heading and shown else []
        for section in shown:
            title = "## " if section in lead else "### " if len(shown) > 1 else ""
            parts += filter(None, _section(section, title and title + section.title))
    write_text(document, "\n\n".join(parts) + "\n")


def lead_sections(
    known: Mapping[str, Experiment], store: Store, found: Mapping[str, Sequence[Summary]]
) -> list[Section]:
    """Return the counts, PK and P2K, and the baselines."""
    cells = [one for each in found.values() for one in each if one.paper.accuracy is not None]
    ours = [one for one in cells if one.is_ours and not one.is_stand_in]
    others = [one for one in cells if not one.is_ours and not one.is_stand_in]
    kinds = {
        "**PK and P2K**": ours,
        "baselines": others,
        "all on stand-ins": [one for one in cells if one.is_stand_in],
    }
    seconds = [value.get("seconds", 0.0) for name in known for value in store.values(name)]
    reasons = statistics.reasons(store, (one for each in found.values() for one in each))
    compared = [
        compared_section("PK and P2K against the paper", ours, reasons),
        compared_section("Baselines against the paper", others, reasons),
    ]
    return [
        Section(
            "In short",
            (
                "accuracies",
                "cells",
                *VERDICTS,
                "within 1 point",
                "ten repeats",
                "3 to 9",
                "fewer",
            ),
            [(name, *_counts(part)) for name, part in kinds.items()],
            [
                headline(ours),
                f"All {len(seconds):,} cells took {sum(seconds) / 3600:.1f} processor hours, kernels and "
                f"cross-validation together, the longest {max(seconds) / 60:.1f} minutes: shared evenly by "
                f"{CORES} cores, {sum(seconds) / 60 / CORES:.0f} minutes (computed, not measured).",
                f"Measured {measured_on(store.folder, *(store.path(name).name for name in known))}.",
            ],
        ),
        *compared,
        differing_section("Cells that differ from the paper", compared),
    ]


def headline(found: Sequence[Summary]) -> str:
    """Say how many accuracies of PK and P2K agree with the paper: the sentence of the README."""
    total, matches, better, worse, near, *_ = _counts(found)
    return (
        f"Of the paper's {total} accuracies of PK and P2K, {matches} match within two standard errors, "
        f"{better} are "
        f"better and {worse} worse; {near} are within one point."
    )


def _counts(found: Sequence[Summary]) -> tuple[str, ...]:
    compared = [known for one in found if (known := one.comparison) is not None]
    verdicts = Counter(one.verdict for one in compared)
    repeats = [one.repeats for one in found if one.folds]
    ten, few = (sum(number >= least for number in repeats) for least in (PUBLISHED_REPEATS, FEW_REPEATS))
    near = sum(abs(one.difference) <= 1 for one in compared)
    numbers = (near, ten, few - ten, len(repeats) - few)
    return (*map(str, (len(found), *(verdicts[kind] for kind in VERDICTS), *numbers)),)


def _heading(one: Experiment) -> str:
    return "\n\n".join(filter(None, [f"## {one.title}", f"`python -m reproduction {one.name}`", one.about]))


def _section(section: Section, title: str) -> Iterator[str]:
    yield title
    yield section.about
    yield "" if section.only_file else section.markdown()
    yield "\n".join(f"- {note}" for note in section.notes)
    for name in section.figures:
        yield f"![{section.title}](pictures/{name}.png)"


def save(sections: Sequence[Section], tables: Path, pictures: Path) -> None:
    """Write tables as CSV, and figures as PNG."""
    for section in sections:
        if section.rows:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([section.columns, *section.rows])
            write_text(tables / section.file_name, text.getvalue())
        for name, draw in section.figures.items():
            pictures.mkdir(parents=True, exist_ok=True)
            draw().savefig(pictures / f"{name}.png", dpi=DOTS_PER_INCH)
