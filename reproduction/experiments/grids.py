"""Grid graphs: PK, LABELS and co-occurrence features on textures and leaf regions, both stand-ins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.images.quantizers import Scale
from reproduction.data.cooccurrence import gray_cooccurrence, label_cooccurrence
from reproduction.engine.cells import Cell, Value
from reproduction.engine.data import BRODATZ_VERSIONS, STAND_INS
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.sections import Section, State
from reproduction.engine.tables import matrix_section, runtime_section, summaries
from reproduction.protocols.accuracy import REPEATS
from reproduction.protocols.nested import COSTS, cross_validate, fold_of, folds_of, partition
from reproduction.protocols.recipes import Settings, build, pk

NAME = "grids"
ROWS = ("PK", "LABELS", "GLCM-gray", "GLCM-quant")
COLUMNS = ("PLANTS", "BRODATZ-O-R", "BRODATZ-O-R-S-RS")
STEPS = (0, 3, 5, 8, 10, 15, 20)
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
    scale : {"full", "equalize"}
        Scale of the gray levels of GLCM-gray.
    choose_once : bool
        Choose on a fifth of the groups, once, instead of on each training part.
    """

    grids: Any
    images: list[Array]
    target: Array
    groups: Array
    scale: Scale
    choose_once: bool


def scheme_of(column: str) -> Settings:
    """N_{1,8} on BRODATZ, N_{1,4} on PLANTS."""
    taps = 4 if column == "PLANTS" else 8
    return {"is": "Convolution", "neighborhood": (1, taps), "boundary": "renormalize", "clamp": None}


def jobs(scope: Scope) -> list[Job]:
    """All cells in so many repeats; those of one data set share the kernels."""
    repeats = range(scope.repeats or REPEATS)
    wanted = [row for row in ROWS if not scope.methods or row in scope.methods]
    cells = {c: tuple(cell(row, c, repeat) for repeat in repeats for row in wanted) for c in COLUMNS}
    return [Job(found, column, work) for column, found in cells.items()]


def cell(row: str, column: str, repeat: int) -> Cell:
    """Return one cell of the table, in one repeat."""
    settings: dict[str, Any] = {
        "C": COSTS["paper"]["normalized"],
        "stand_in": STAND_INS[column.partition("-")[0]],
    }
    if row in ("PK", "LABELS"):
        settings |= {"kernel": pk(propagation=scheme_of(column)), "steps": STEPS if row == "PK" else [0]}
    else:
        settings |= {"widths": WIDTHS}
    return Cell.of(NAME, row, column, repeat, **settings)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Compute the kernels of each repeat once, and cross-validate each row."""
    pictures = prepare(data)
    fixed: dict[str, tuple[dict[str, Array], float]] = {}
    drawn: tuple[int, dict[str, Array], float] | None = None
    for one in cells:
        if one.row in ("PK", "LABELS"):
            if drawn is None or drawn[0] != one.repeat:
                drawn = (one.repeat, *propagation_kernels(pictures, one.column, one.repeat, context))
            kernels, seconds = drawn[1], drawn[2]
            kernels = kernels if one.row == "PK" else {"0": kernels["0"]}
        else:
            if one.row not in fixed:
                fixed[one.row] = cooccurrence_kernels(pictures, one.row)
            kernels, seconds = fixed[one.row]
        judged = judge(pictures, kernels, one.repeat, context.n_jobs)
        yield one, {"normalized": judged, "kernel_seconds": float(f"{seconds:.3g}")}


def judge(
    pictures: Pictures, kernels: dict[str, Array], repeat: int, n_jobs: int | None = None
) -> dict[str, Any]:
    """Cross-validate; versions of a picture stay together."""
    target, groups = pictures.target, pictures.groups
    once = None
    if pictures.choose_once:
        part = np.flatnonzero(partition(np.arange(len(target)), target, 5, OTHER_SPLIT + repeat, groups) == 0)
        once = fold_of(part, part[:0], target, repeat, groups)
    folds = folds_of(target, repeat, groups=groups)
    return cross_validate(kernels, target, folds, "normalized", ("paper",), n_jobs, once)


def prepare(data: Any) -> Pictures:
    """Quantize the pictures as the paper does."""
    from propkernels.images import KMeansColors

    images, target = data.extras["images"], np.unique(data.target, return_inverse=True)[1]
    if data.name in BRODATZ_VERSIONS:
        groups = data.extras["groups"]
        return Pictures(data.graphs, images, target, groups, "equalize", choose_once=True)
    grids = KMeansColors(5, random_state=0).fit_transform(images)
    groups = np.arange(len(target))
    return Pictures(grids, images, target, groups, "full", choose_once=False)


def propagation_kernels(
    pictures: Pictures, column: str, repeat: int, context: Context
) -> tuple[dict[str, Array], float]:
    """Return kernels by t_max, and the processor seconds of one pass."""
    more: dict[str, Any] = {"t_max": STEPS[-1], "random_state": repeat, "n_jobs": context.n_jobs}
    kernel = build(pk(propagation=scheme_of(column)), **more)
    kernel.fit_transform_cumulative(pictures.grids[np.arange(2)])
    start = process_time()
    stack = kernel.fit_transform_cumulative(pictures.grids)
    return {str(t): stack[t] for t in STEPS}, process_time() - start


def cooccurrence_kernels(pictures: Pictures, row: str) -> tuple[dict[str, Array], float]:
    """Return RBF kernels of co-occurrence features for a few widths, and the processor seconds of all."""
    start = process_time()
    if row == "GLCM-gray":
        features = gray_cooccurrence(pictures.images, scale=pictures.scale)
    else:
        features = label_cooccurrence(pictures.grids)
    kernels = rbf_kernels(features)
    return kernels, process_time() - start


def rbf_kernels(features: Array) -> dict[str, Array]:
    """RBF kernels of a few widths on standardized features."""
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(features)
    squares = (scaled**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * scaled @ scaled.T, 0) / scaled.shape[1]
    return {f"{width:g}": np.exp(-width * distances) for width in WIDTHS}


def sections(state: State) -> list[Section]:
    """Accuracies and runtimes on the stand-ins vs. the paper's; LABELS comes from the pass of PK."""
    found = summaries(state)
    return [
        matrix_section("Grid Graphs: accuracies on stand-ins", found),
        runtime_section("Grid Graphs: runtimes on stand-ins", [one for one in found if one.row != "LABELS"]),
    ]
