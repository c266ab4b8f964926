"""Data sets: the table of statistics, computed from the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.engine.cells import Cell, Store, Value
from reproduction.engine.data import STAND_INS
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.published import Measured, read_package_file, rows_and_columns
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import Summary, with_error

NAME = "datasets"
CHANCE = 2.0  # points
PROPERTIES = {
    "graphs": "graphs",
    "median_nodes": "median nodes",
    "max_nodes": "max nodes",
    "total_nodes": "nodes",
    "node_labels": "node labels",
    "classes": "classes",
    "attributes": "attributes",
}


def jobs(scope: Scope) -> list[Job]:
    """One cell per data set."""
    names = [row for row, _ in rows_and_columns(NAME)]
    return [Job((cell(name),), name, work) for name in names]


def cell(name: str) -> Cell:
    """Return the cell of a data set."""
    return Cell.of(NAME, name, "statistics")


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Count graphs, nodes, labels and attributes."""
    for one in cells:
        yield one, statistics(data)


def statistics(data: Any) -> Value:
    """Return what the paper's table says about a data set; None where there is nothing to say.

    Examples
    --------
    >>> import propkernels as pk
    >>> statistics(pk.datasets.make_molecules(10, random_state=0))["graphs"]
    10
    """
    graphs = data.graphs
    sizes = np.diff(graphs.graph_ptr)
    attributes = getattr(graphs, "node_attributes", None)
    column = graphs.label_column
    return {
        "graphs": len(graphs),
        "median_nodes": float(np.median(sizes)),
        "max_nodes": int(sizes.max()),
        "total_nodes": int(sizes.sum()),
        "node_labels": None if column is None else len(column.present),
        "largest_label": None if column is None else _largest(column.values),
        "classes": data.n_classes,
        "attributes": None if attributes is None else attributes.shape[1],
        "largest_class": round(
            100 * float(np.unique(data.target, return_counts=True)[1].max() / len(graphs)), 2
        ),
    }


def _largest(values: Any) -> int | None:
    """Return the largest label, where labels are numbers."""
    try:
        return max(int(str(value)) for value in values)
    except ValueError:
        return None


def known_facts(store: Store) -> dict[str, Value]:
    """Statistics of the data sets that the store has."""
    cells = [cell(name) for name, _ in rows_and_columns(NAME)]
    return {one.row: store[one] for one in cells if one in store}


def reasons(store: Store, found: Iterable[Summary]) -> dict[tuple[str, str, str], str]:
    """Say where the paper has about the share of the largest class, the other variant, or raw attributes."""
    facts, cells = known_facts(store), {(one.table, one.row, one.column): one for one in found}
    told: dict[tuple[str, str, str], str] = {}
    for (table, row, column), one in cells.items():
        share = facts.get(one.dataset, {}).get("largest_class")
        raw = cells.get((table, f"{row} raw", column))
        if share is not None and one.paper.error == 0 and abs(one.published_mean - share) <= CHANCE:
            told[table, row, column] = (
                f"The largest class has {share:.1f} % of the graphs; the paper's kernel learned little more."
            )
        elif raw is not None and raw.folds and _is_nearer(raw.measured, one):
            told[table, row, column] = (
                f"Attributes are standardized, as the text says; with raw ones: {with_error(raw.measured)}."
            )
        elif one.as_printed is not None and _is_nearer(one.as_printed, one):
            other = "normalized" if one.variant == "plain" else "plain"
            told[table, row, column] = (
                f"The paper has the {other} kernel, with which it is {with_error(one.as_printed)} here; the "
                f"{one.variant} one is better."
            )
    return told


def _is_nearer(other: Measured, one: Summary) -> bool:
    """Whether less than half of the difference to the paper is left."""
    return 2 * abs(other.mean - one.published_mean) < abs(one.mean - one.published_mean)


AS_PRINTED = "as in the paper"


def sections(state: State) -> list[Section]:
    """Return the table: ours, and the paper's where it differs."""
    rows = [_row(job.cells[0], state) for job in state.jobs]
    return [
        Section(
            "Dataset statistics and properties",
            ("data set", *PROPERTIES.values(), "verdict"),
            rows,
            [
                f"{sum(row[-1] == AS_PRINTED for row in rows)} of {len(rows)} data sets have the numbers of "
                "the paper's table.",
                *(f"{row[0]}: {row[-1]}." for row in rows if row[-1] != AS_PRINTED),
            ],
            only_file=True,
        )
    ]


def _row(one: Cell, state: State) -> tuple[str, ...]:
    if one not in state.store:
        return (one.row, *[""] * len(PROPERTIES), state.reason(one))
    ours, paper = state.store[one], _printed(one.row)
    cells = [_beside(ours[name], paper.get(name)) for name in PROPERTIES]
    differs = [title for (name, title) in PROPERTIES.items() if ours[name] != paper.get(name)]
    verdict = f"differs: {', '.join(differs)}" if differs else AS_PRINTED
    return (one.row, *cells, f"stand-in: {STAND_INS[one.row]}" if one.row in STAND_INS else verdict)


def _beside(ours: Any, paper: Any) -> str:
    return _number(ours) if ours == paper else f"{_number(ours)} ({_number(paper)})"


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}".removesuffix(".0") if isinstance(value, float) else f"{value:,}"


def _printed(name: str) -> dict[str, Any]:
    row: dict[str, Any] = read_package_file("published.toml")["tables"][NAME]["rows"][name]["statistics"]
    return row
