"""Attributed graphs: PK, P2K, WL, SP, GH, CSM and A with labels, attributes and both."""

from __future__ import annotations

from itertools import product

import numpy as np

from reproduction.drawings import draw_runtime_and_accuracy
from reproduction.engine.jobs import Job, Scope
from reproduction.engine.published import published
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import Summary, matrix_section, runtime_section, summaries
from reproduction.protocols.accuracy import REPEATS, Accuracy
from reproduction.protocols.recipes import Recipe, attribute_kernel, csm, gh, p2k, pk, sp, wl

NAME = "attributed"
DATASETS = ("SYNTHETIC", "BZR", "COX2", "ENZYMES", "DHFR", "PROTEINS", "PROTEINS_full")
TRUNCATED = ("ENZYMES", "SYNTHETIC")
DRAWN = ("SYNTHETIC", "ENZYMES", "BZR", "PROTEINS_full")
NOTE = "Bars are standard deviations over folds, as in the paper."
RAW = ("GH attr raw", "GH labels+attr raw", "A attr raw")  # on ENZYMES, attributes as they are
ROWS = (
    "PK labels",
    "WL labels",
    "SP labels",
    "GH labels",
    "CSM labels",
    "PK attr",
    "SP attr",
    "GH attr",
    "CSM attr",
    "PK labels+attr",
    "P2K labels+attr",
    "SP labels+attr",
    "GH labels+attr",
    "CSM labels+attr",
    "A attr",
)


def recipe_of(row: str, dataset: str) -> Recipe:
    """Kernels of a row on a data set; SYNTHETIC has degrees for labels, and so has PK in the ATTR rows."""
    method, information, *raw = row.split()
    labels = "degree" if dataset == "SYNTHETIC" else "node"
    attributes = None if information == "labels" else "gaussian"
    if method == "PK":
        own = "degree" if information == "attr" else labels
        return Recipe(pk(own, attributes=attributes and "sum"), is_random=True)
    if method == "P2K":
        return Recipe(p2k(labels), is_random=True)
    if method == "WL":
        return Recipe(wl(labels))
    if method == "A":
        return Recipe({**attribute_kernel(), "standardize": not raw}, (), is_slow=True)
    own_labels = None if information == "attr" else labels
    if method == "CSM":
        kind, size = (
            (None, 7) if attributes is None else ("truncated", 5) if dataset in TRUNCATED else (attributes, 3)
        )
        return Recipe(csm(own_labels, kind, size), (), is_slow=True)
    settings = (sp if method == "SP" else gh)(own_labels, attributes)
    return Recipe({**settings, "standardize": not raw}, (), is_slow=True)


def task(row: str, dataset: str) -> Accuracy:
    """One cell of the table."""
    return Accuracy(NAME, row, dataset, dataset, recipe_of(row, dataset))


def jobs(scope: Scope) -> list[Job]:
    """All cells for which the paper has a number, in so many repeats."""
    places = [(row, dataset) for dataset in DATASETS for row in ROWS]
    known = [place for place in places if published(NAME, *place).accuracy is not None]
    return [task(*place).job(scope.repeats or REPEATS) for place in [*known, *product(RAW, DATASETS[3:4])]]


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes vs. the paper's, and the figure of one against the other."""
    found = summaries(state)
    panels = {name: points for name in DRAWN if (points := _points(found, name))}
    figures = {"runtime_accuracy": lambda: draw_runtime_and_accuracy(panels)} if panels else {}
    return [
        matrix_section("Attributed Graphs: accuracies", found),
        runtime_section("Attributed Graphs: runtimes", found),
        Section("Attributed Graphs: log runtime against accuracy", notes=[NOTE], figures=figures),
    ]


def _points(found: list[Summary], dataset: str) -> list[tuple[str, str, float, float, float]]:
    """Method, information, seconds, accuracy and standard deviation of what is known of a data set."""
    points = []
    for one in found:
        if one.column == dataset and one.row in ROWS and one.folds and one.kernel_seconds:
            method, information = one.row.split()
            deviation = float(np.std(list(one.folds.values())))
            points.append((method, information, one.kernel_seconds, one.mean, deviation))
    return points
