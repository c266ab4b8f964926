"""Kernel matrices computed in tiles: in threads, within a time limit, and resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import one_blas_thread, thread_count, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.stored import NOT_FINITE, Offsets
from propkernels._utils.thread_pool import ThreadPool

NODES_IN_TILE = 384
SAVE_EVERY = 30.0  # seconds between checkpoints
Tile = tuple[slice, slice]
Compute = Callable[[slice, slice], NDArray[np.float64]]
Save = Callable[["TiledMatrix"], None]


@dataclass
class TiledMatrix:
    """Kernel matrix with some tiles computed; the others are NaN.

    Attributes
    ----------
    values : ndarray of shape (depth, m, n)
    rows, columns : ndarray of int64
        Boundaries of the tiles.
    symmetric : bool
        Whether only tiles on and above the diagonal are computed, and the others mirrored.
    done : ndarray of bool
        Whether each tile is computed, in the order of ``tiles``.
    """

    values: Annotated[NDArray[np.float64], NOT_FINITE]
    rows: Annotated[NDArray[np.int64], Offsets("values.shape.1")]
    columns: Annotated[NDArray[np.int64], Offsets("values.shape.2")]
    symmetric: bool
    done: NDArray[np.bool_]

    @classmethod
    def square(cls, graph_ptr: NDArray[np.int64], depth: int) -> TiledMatrix:
        """Return the empty matrix of all graphs against all."""
        return cls._empty(graph_ptr, graph_ptr, depth, True)

    @classmethod
    def rectangle(cls, left_ptr: NDArray[np.int64], right_ptr: NDArray[np.int64], depth: int) -> TiledMatrix:
        """Return the empty matrix of graphs against other graphs."""
        return cls._empty(left_ptr, right_ptr, depth, False)

    @classmethod
    def _empty(
        cls, left_ptr: NDArray[np.int64], right_ptr: NDArray[np.int64], depth: int, symmetric: bool
    ) -> TiledMatrix:
        values = np.full((depth, len(left_ptr) - 1, len(right_ptr) - 1), np.nan)
        rows, columns = (whole_runs(ptr, NODES_IN_TILE) for ptr in (left_ptr, right_ptr))
        matrix = cls(values, rows, columns, symmetric, np.empty(0, dtype=bool))
        matrix.done = np.zeros(len(matrix.tiles), dtype=bool)
        return matrix

    @property
    def tiles(self) -> list[Tile]:
        """Tiles to compute, tiles on the diagonal first, so that self-similarities are available early."""
        a, b = ([slice(int(x), int(y)) for x, y in pairwise(cuts)] for cuts in (self.rows, self.columns))
        places = [(i, j) for i in range(len(a)) for j in range(i if self.symmetric else 0, len(b))]
        return [(a[i], b[j]) for i, j in sorted(places, key=lambda place: place[1] - place[0])]

    @property
    def completed(self) -> float:
        """Share of computed tiles."""
        return float(self.done.mean()) if len(self.done) else 1.0

    def put(self, number: int, tile: Tile, values: NDArray[np.float64]) -> None:
        """Write a tile and its mirror image."""
        rows, columns = tile
        if self.symmetric and rows == columns:
            values = np.triu(values) + np.swapaxes(np.triu(values, 1), 1, 2)
        self.values[:, rows, columns] = values
        if self.symmetric:
            self.values[:, columns, rows] = np.swapaxes(values, 1, 2)
        self.done[number] = True

    def add(self, values: NDArray[np.float64], done: NDArray[np.bool_]) -> None:
        """Copy missing tiles from values of the same matrix."""
        for number, (rows, columns) in enumerate(self.tiles):
            if done[number] and not self.done[number]:
                self.values[:, rows, columns] = values[:, rows, columns]
                if self.symmetric:
                    self.values[:, columns, rows] = values[:, columns, rows]
                self.done[number] = True

    def compute(
        self, compute: Compute, n_jobs: int | None, time_limit: float | None, save: Save | None, text: str
    ) -> None:
        """Compute the missing tiles until the time limit; tiles in progress are finished.

        ``save`` is called every ``SAVE_EVERY`` seconds, and at the end, also after an error.
        """
        deadline = np.inf if time_limit is None else monotonic() + time_limit
        missing = [(k, tile) for k, tile in enumerate(self.tiles) if not self.done[k]]
        workers = max(min(thread_count(n_jobs), len(missing)), 1)
        saved = [monotonic()]
        with ProgressBar(text, len(self.done), int(self.done.sum())) as bar:

            def one_tile(item: tuple[int, Tile]) -> None:
                number, tile = item
                if monotonic() >= deadline:
                    return
                self.put(number, tile, check_finite(compute(*tile)))
                bar.step()
                if save is not None and monotonic() - saved[0] > SAVE_EVERY:
                    saved[0] = monotonic()
                    save(self)

            try:
                with one_blas_thread():
                    _each(one_tile, missing, workers)
            finally:
                if save is not None and missing:
                    save(self)


def check_finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kernel values; raise if any is infinite or NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum())
    if suspect and not np.isfinite(values).all():
        raise ValueError(
            "the kernel of two graphs is larger than a float can hold: set standardize=True, "
            "or divide the attributes by a constant"
        )
    return values


def _each(function: Callable[[tuple[int, Tile]], None], items: list[tuple[int, Tile]], workers: int) -> None:
    """Apply a function to items in threads; an error or interrupt cancels the remaining items."""
    if workers == 1:
        for item in items:
            function(item)
        return
    pool = ThreadPool(workers)
    try:
        for future in [pool.submit(function, item) for item in items]:
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
