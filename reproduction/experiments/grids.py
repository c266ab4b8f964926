"""Grid graphs: PK, LABELS and co-occurrence features on textures and leaf regions, both stand-ins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.images.gray_levels import Scale
from propkernels.kernels import PropagationKernel
from propkernels.propagation import Convolution
from reproduction.data.cooccurrence import gray_cooccurrence, label_cooccurrence
from reproduction.engine.cells import Cell, Value
from reproduction.engine.data import BRODATZ_VERSIONS, STAND_INS, machine_of
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import accuracy_section, runtime_section, summaries
from reproduction.protocols.nested import INNER_FOLDS, cross_validate, folds_of, split

NAME = "grids"
REPEATS = 10
ROWS = ("PK", "LABELS", "GLCM-gray", "GLCM-quant")
COLUMNS = ("PLANTS", "BRODATZ-O-R", "BRODATZ-O-R-S-RS")
T_MAX, STEPS = 10, (0, 1, 2, 3, 5, 8, 10)
COSTS = (1.0, 10.0, 100.0, 1000.0)
WIDTHS = (0.3, 1.0, 3.0)
OTHER_SPLIT = 1000  # added to the number of the repeat: seed of the split whose first fifth is chosen on
Array = NDArray[Any]


@dataclass(frozen=True)
class Pictures:
    """Grids to classify, and the pictures behind them for the baselines.

    Attributes
    ----------
    grids : GridDatabase
    images : list of ndarray
        The pictures behind the grids.
    target, groups : ndarray
        Classes, and numbers that pictures share which must stay in one fold.
    scheme : Convolution
    scale : {"full", "equalize"}
        Scale of the gray levels of GLCM-gray.
    choose_once : bool
        Choose on a fifth of the groups, once, instead of on each training part.
    """

    grids: Any
    images: list[Array]
    target: Array
    groups: Array
    scheme: Any
    scale: Scale
    choose_once: bool


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats; those of one data set share the kernels."""
    repeats = scope.repeats_or(REPEATS)
    cells = {
        column: tuple(cell(row, column, repeat) for repeat in range(repeats) for row in ROWS)
        for column in COLUMNS
    }
    return [Job(found, column, work) for column, found in cells.items() if scope.wants(column)]


def cell(row: str, column: str, repeat: int) -> Cell:
    """Return one cell of the table, in one repeat."""
    candidates: Mapping[str, Any] = {"PK": STEPS, "LABELS": [0]}
    return Cell.of(
        NAME,
        row,
        column,
        repeat,
        costs=list(COSTS),
        candidates=list(candidates.get(row, WIDTHS)),
        stand_in=STAND_INS[column.partition("-")[0]],
        selection="exact",
    )


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Compute the kernels of each repeat once, and cross-validate each row."""
    pictures = prepare(data)
    fixed: dict[str, tuple[dict[str, Array], float]] = {}
    drawn: tuple[int, dict[str, Array], float] | None = None
    for one in cells:
        if one.row in ("PK", "LABELS"):
            if drawn is None or drawn[0] != one.repeat:
                drawn = (one.repeat, *propagation_kernels(pictures, one.repeat, context))
            kernels, seconds = drawn[1], drawn[2]
            kernels = kernels if one.row == "PK" else {"0": kernels["0"]}
        else:
            if one.row not in fixed:
                fixed[one.row] = cooccurrence_kernels(pictures, one.row)
            kernels, seconds = fixed[one.row]
        judged = judge(pictures, kernels, one.repeat, context.n_jobs)
        yield one, {"normalized": judged, "kernel_seconds": seconds, "machine": machine_of(context.n_jobs)}


def judge(
    pictures: Pictures, kernels: dict[str, Array], repeat: int, n_jobs: int | None = None
) -> dict[str, Any]:
    """Cross-validate; versions of a picture stay together."""
    target, groups = pictures.target, pictures.groups
    once = []
    if pictures.choose_once:
        part = split(np.arange(len(target)), target, 5, OTHER_SPLIT + repeat, groups)[0][1]
        once = split(part, target, INNER_FOLDS, repeat, groups)
    return cross_validate(kernels, target, folds_of(target, repeat, groups=groups), COSTS, n_jobs, once)


def prepare(data: Any) -> Pictures:
    """Quantize the pictures as the paper does."""
    from propkernels.images import KMeansColors

    images, target = data.extras["images"], np.unique(data.target, return_inverse=True)[1]
    if data.name in BRODATZ_VERSIONS:
        groups = data.extras["groups"]
        return Pictures(
            data.graphs, images, target, groups, Convolution((1, 8)), "equalize", choose_once=True
        )
    grids = KMeansColors(5, random_state=0).fit_transform(images)
    groups = np.arange(len(target))
    return Pictures(grids, images, target, groups, Convolution((1, 4)), "full", choose_once=False)


def propagation_kernels(pictures: Pictures, repeat: int, context: Context) -> tuple[dict[str, Array], float]:
    """Return normalized kernels by t_max, and the processor seconds of one pass."""
    kernel = PropagationKernel(
        propagation=pictures.scheme, t_max=T_MAX, normalize=True, random_state=repeat, n_jobs=context.n_jobs
    )
    kernel.fit_transform_cumulative(pictures.grids[np.arange(2)])
    start = process_time()
    stack = kernel.fit_transform_cumulative(pictures.grids)
    seconds = process_time() - start
    return {str(t): stack[t] for t in STEPS}, round(seconds, 4)


def cooccurrence_kernels(pictures: Pictures, row: str) -> tuple[dict[str, Array], float]:
    """Return RBF kernels of co-occurrence features for a few widths, and the processor seconds of all."""
    start = process_time()
    if row == "GLCM-gray":
        features = gray_cooccurrence(pictures.images, scale=pictures.scale)
    else:
        features = label_cooccurrence(pictures.grids)
    kernels = rbf_kernels(features)
    return kernels, round(process_time() - start, 4)


def rbf_kernels(features: Array) -> dict[str, Array]:
    """RBF kernels of a few widths on standardized features."""
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(features)
    squares = (scaled**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0) / scaled.shape[1]
    return {f"{width:g}": np.exp(-width * distances) for width in WIDTHS}


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes on the stand-ins, beside the paper's; LABELS comes from the pass of PK."""
    found = summaries(state)
    return [
        accuracy_section("Grid Graphs: accuracies on stand-ins", found, is_stand_in=True),
        runtime_section("Grid Graphs: runtimes on stand-ins", [one for one in found if one.row != "LABELS"]),
    ]
